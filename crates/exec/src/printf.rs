//! Device-side `printf`: format string and argument buffer to text.
//!
//! The compiler stores the arguments of a call one after another, each aligned to its size: 4 bytes for
//! integers, 8 for `l`, `ll`, `z`, `j` and `t` integers, pointers and floating-point numbers.

use raddle_ptx::num::{fit, low8, low32};
use std::iter::Peekable;
use std::slice::Iter;

/// Widths and precisions beyond this are cut: they come from the program under test.
const MAX_WIDTH: usize = 4096;

/// What is kept of what a launch prints, in bytes: devices have a buffer of this size unless told otherwise (CUDA C++
/// Programming Guide, section on formatted output).
pub const MAX_KEPT: usize = 1 << 20;
/// Follows the output that is kept, if there was more.
pub const DROPPED: &str = "\n[the launch printed more than 1048576 bytes; the rest is dropped]\n";

/// Adds `text` to what a launch has printed, as far as there is room.
pub fn keep(printed: &mut String, text: &str) {
    if printed.len() > MAX_KEPT {
        return;
    }
    let room = MAX_KEPT - printed.len();
    if text.len() <= room {
        printed.push_str(text);
        return;
    }
    printed.push_str(&text[..text.floor_char_boundary(room)]);
    // Longer than the limit from now on, which says that nothing more is wanted.
    printed.push_str(DROPPED);
}

/// A conversion in a format string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: Option<Amount>,
    precision: Option<Amount>,
    length: Length,
    conversion: u8,
}

/// A width or precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Amount {
    Given(usize),
    /// `*`: an argument.
    Argument,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Length {
    Char,
    Short,
    #[default]
    Int,
    Long,
}

/// A piece of a format string.
enum Piece<'f> {
    Text(&'f [u8]),
    Conversion(Spec),
}

impl Spec {
    fn is_wide(&self) -> bool {
        match self.conversion {
            b's' | b'p' | b'n' => true,
            b'c' => false,
            _ => self.is_float() || self.length == Length::Long,
        }
    }

    fn is_float(&self) -> bool {
        matches!(self.conversion, b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A')
    }
}

/// Splits a format string.
fn pieces(format: &[u8]) -> Vec<Piece<'_>> {
    let mut list = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.iter().position(|b| *b == b'%') {
        if at > 0 {
            list.push(Piece::Text(&rest[..at]));
        }
        let mut chars = rest[at + 1..].iter().peekable();
        match conversion(&mut chars) {
            Some(spec) => {
                let used = rest.len() - chars.len();
                match spec.conversion {
                    b'%' => list.push(Piece::Text(b"%")),
                    _ => list.push(Piece::Conversion(spec)),
                }
                rest = &rest[used..];
            }
            // Not a conversion: the percent sign stands for itself.
            None => {
                list.push(Piece::Text(&rest[at..=at]));
                rest = &rest[at + 1..];
            }
        }
    }
    if !rest.is_empty() {
        list.push(Piece::Text(rest));
    }
    list
}

fn conversion(chars: &mut Peekable<Iter<'_, u8>>) -> Option<Spec> {
    let mut spec = Spec::default();
    while let Some(flag) = chars.next_if(|b| b"-+ #0".contains(b)) {
        match flag {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'#' => spec.alternate = true,
            _ => spec.zero = true,
        }
    }
    spec.width = amount(chars);
    if chars.next_if_eq(&&b'.').is_some() {
        spec.precision = Some(amount(chars).unwrap_or(Amount::Given(0)));
    }
    while let Some(length) = chars.next_if(|b| b"hlzjt".contains(b)) {
        spec.length = match (length, spec.length) {
            (b'h', Length::Short) => Length::Char,
            (b'h', _) => Length::Short,
            _ => Length::Long,
        };
    }
    spec.conversion = *chars.next()?;
    b"diuxXocsfFeEgGaApn%".contains(&spec.conversion).then_some(spec)
}

fn amount(chars: &mut Peekable<Iter<'_, u8>>) -> Option<Amount> {
    if chars.next_if_eq(&&b'*').is_some() {
        return Some(Amount::Argument);
    }
    let mut value = None;
    while let Some(digit) = chars.next_if(|b| b.is_ascii_digit()) {
        let digit = usize::from(digit - b'0');
        value = Some((value.unwrap_or(0) * 10 + digit).min(MAX_WIDTH));
    }
    value.map(Amount::Given)
}

/// The number of arguments a format string asks for, and the size of their buffer in bytes.
#[must_use]
pub fn arguments(format: &[u8]) -> (usize, usize) {
    let (mut count, mut bytes) = (0, 0usize);
    let mut take = |wide: bool| {
        let size = if wide { 8 } else { 4 };
        bytes = bytes.next_multiple_of(size) + size;
        count += 1;
    };
    for piece in pieces(format) {
        let Piece::Conversion(spec) = piece else { continue };
        for amount in [spec.width, spec.precision] {
            if amount == Some(Amount::Argument) {
                take(false);
            }
        }
        take(spec.is_wide());
    }
    (count, bytes)
}

/// The argument buffer, read from its start.
struct Arguments<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Arguments<'_> {
    /// The next argument; zero when the buffer is too short.
    fn next(&mut self, wide: bool) -> u64 {
        let size = if wide { 8 } else { 4 };
        let at = self.at.next_multiple_of(size);
        self.at = at + size;
        let mut word = [0; 8];
        if let Some(bytes) = self.bytes.get(at..at + size) {
            word[..size].copy_from_slice(bytes);
        }
        u64::from_le_bytes(word)
    }

    fn amount(&mut self, amount: Option<Amount>) -> Option<i64> {
        match amount? {
            Amount::Given(n) => Some(n as i64),
            Amount::Argument => Some(i64::from(low32(self.next(false)).cast_signed())),
        }
    }
}

/// Formats as `printf` does. `args` is the argument buffer, `read_string` reads the string at a device
/// address.
pub fn format(format: &[u8], args: &[u8], mut read_string: impl FnMut(u64) -> Option<Vec<u8>>) -> String {
    let mut arguments = Arguments { bytes: args, at: 0 };
    let mut out = Vec::new();
    for piece in pieces(format) {
        let mut spec = match piece {
            Piece::Text(text) => {
                out.extend_from_slice(text);
                continue;
            }
            Piece::Conversion(spec) => spec,
        };
        let width = arguments.amount(spec.width).unwrap_or(0);
        spec.left |= width < 0;
        let width = usize::try_from(width.unsigned_abs()).unwrap_or(MAX_WIDTH).min(MAX_WIDTH);
        let precision = arguments.amount(spec.precision).and_then(|p| usize::try_from(p).ok());
        let precision = precision.map(|p| p.min(MAX_WIDTH));
        let value = arguments.next(spec.is_wide());
        match spec.conversion {
            b's' => {
                let mut text = read_string(value).unwrap_or_else(|| b"(null)".to_vec());
                text.truncate(precision.unwrap_or(usize::MAX));
                pad(&mut out, &spec, width, b"", &text, false);
            }
            b'c' => pad(&mut out, &spec, width, b"", &[low8(value)], false),
            b'p' => pad(&mut out, &spec, width, b"", format!("{value:#x}").as_bytes(), false),
            // Stores nothing on a device.
            b'n' => {}
            _ if spec.is_float() => {
                let (sign, text) = float(&spec, f64::from_bits(value), precision);
                let finite = f64::from_bits(value).is_finite();
                let (sign, text) = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
                    Some(digits) => (format!("{sign}{}", &text[..2]), digits.to_owned()),
                    None => (sign.to_owned(), text),
                };
                pad(&mut out, &spec, width, sign.as_bytes(), text.as_bytes(), finite);
            }
            _ => {
                let (sign, digits) = integer(&spec, value, precision);
                pad(&mut out, &spec, width, sign.as_bytes(), digits.as_bytes(), precision.is_none());
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Fills up to the width: blanks on one side, or zeros between sign and digits.
fn pad(out: &mut Vec<u8>, spec: &Spec, width: usize, sign: &[u8], text: &[u8], zeros: bool) {
    let missing = width.saturating_sub(sign.len() + text.len());
    let zeros = zeros && spec.zero && !spec.left;
    let fill = |out: &mut Vec<u8>, byte: u8, when: bool| {
        if when {
            out.resize(out.len() + missing, byte);
        }
    };
    fill(out, b' ', !spec.left && !zeros);
    out.extend_from_slice(sign);
    fill(out, b'0', zeros);
    out.extend_from_slice(text);
    fill(out, b' ', spec.left);
}

fn sign(spec: &Spec, negative: bool) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (_, _, true) => " ",
        _ => "",
    }
}

fn integer(spec: &Spec, value: u64, precision: Option<usize>) -> (&'static str, String) {
    let bits = match spec.length {
        Length::Char => 8,
        Length::Short => 16,
        Length::Int => 32,
        Length::Long => 64,
    };
    let unused = 64 - bits;
    let value = value << unused >> unused;
    let (prefix, mut digits) = match spec.conversion {
        b'd' | b'i' => {
            let value = (value << unused).cast_signed() >> unused;
            (sign(spec, value < 0), value.unsigned_abs().to_string())
        }
        b'x' => (if spec.alternate && value != 0 { "0x" } else { "" }, format!("{value:x}")),
        b'X' => (if spec.alternate && value != 0 { "0X" } else { "" }, format!("{value:X}")),
        b'o' => (if spec.alternate && value != 0 { "0" } else { "" }, format!("{value:o}")),
        _ => ("", value.to_string()),
    };
    if precision == Some(0) && value == 0 {
        digits.clear();
    }
    let missing = precision.unwrap_or(0).saturating_sub(digits.len());
    (prefix, "0".repeat(missing) + &digits)
}

fn float(spec: &Spec, value: f64, precision: Option<usize>) -> (&'static str, String) {
    let sign = sign(spec, value.is_sign_negative());
    let upper = spec.conversion.is_ascii_uppercase();
    let magnitude = value.abs();
    let text = if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        "inf".to_owned()
    } else {
        match spec.conversion.to_ascii_lowercase() {
            b'f' => {
                let point = if spec.alternate && precision == Some(0) { "." } else { "" };
                format!("{magnitude:.*}{point}", precision.unwrap_or(6))
            }
            b'e' => exponential(magnitude, precision.unwrap_or(6), spec.alternate),
            b'g' => general(magnitude, precision.unwrap_or(6).max(1), spec.alternate),
            _ => hexadecimal(magnitude, precision),
        }
    };
    (sign, if upper { text.to_uppercase() } else { text })
}

/// The digits and the decimal exponent of `%e`.
fn scientific(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.precision$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn exponential(value: f64, precision: usize, alternate: bool) -> String {
    let (digits, exponent) = scientific(value, precision);
    let point = if alternate && precision == 0 { "." } else { "" };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}{point}e{sign}{:02}", exponent.abs())
}

fn general(value: f64, precision: usize, alternate: bool) -> String {
    let exponent = scientific(value, precision - 1).1;
    let most: i32 = fit(precision); // No precision is above `MAX_WIDTH`.
    let fixed = (-4..most).contains(&exponent);
    let text = match fixed {
        true => format!("{value:.*}", (most - 1 - exponent) as usize),
        false => exponential(value, precision - 1, false),
    };
    if alternate {
        return text;
    }
    let (digits, rest) = match text.split_once('e') {
        Some((digits, exponent)) => (digits.to_owned(), format!("e{exponent}")),
        None => (text, String::new()),
    };
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned() + &rest,
        false => digits + &rest,
    }
}

/// `%a`: one digit, the fraction in hexadecimal, a binary exponent.
fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let bits = value.to_bits();
    let (mut exponent, mut fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
    let mut lead = u64::from(exponent != 0);
    exponent = match (exponent, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        (e, _) => e - 1023,
    };
    if let Some(p) = precision.filter(|p| *p < 13) {
        // Round to nearest even at the last digit kept.
        let drop = 4 * (13 - p);
        let whole = lead << 52 | fraction;
        let (kept, rest, half) = (whole >> drop, whole & ((1 << drop) - 1), 1u64 << (drop - 1));
        let up = rest > half || rest == half && kept & 1 == 1;
        let rounded = (kept + u64::from(up)) << drop;
        (lead, fraction) = (rounded >> 52, rounded & ((1 << 52) - 1));
    }
    let digits = format!("{fraction:013x}");
    let digits = match precision {
        Some(p) if p <= 13 => digits[..p].to_owned(),
        Some(p) => format!("{digits:0<p$}"),
        None => digits.trim_end_matches('0').to_owned(),
    };
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{lead}{point}{digits}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    enum Arg {
        W(u32),
        D(u64),
        F(f64),
    }
    use Arg::{D, F, W};

    fn buffer(args: &[Arg]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for arg in args {
            match arg {
                W(v) => bytes.extend(v.to_le_bytes()),
                D(v) => {
                    bytes.resize(bytes.len().next_multiple_of(8), 0xaa);
                    bytes.extend(v.to_le_bytes());
                }
                F(v) => {
                    bytes.resize(bytes.len().next_multiple_of(8), 0xaa);
                    bytes.extend(v.to_le_bytes());
                }
            }
        }
        bytes
    }

    fn check(text: &str, args: &[Arg], want: &str) {
        let bytes = buffer(args);
        assert_eq!(arguments(text.as_bytes()).1, bytes.len(), "{text}");
        let got = format(text.as_bytes(), &bytes, |at| (at == 0x10).then(|| b"hello".to_vec()));
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn integers() {
        check("%d %i|%u", &[W(5), W(u32::MAX), W(u32::MAX)], "5 -1|4294967295");
        check("[%5d|%-5d|%05d|%+d|% d]", &[W(42); 5], "[   42|42   |00042|+42| 42]");
        check("%x %X %#x %o %#o", &[W(255); 5], "ff FF 0xff 377 0377");
        check("%08x|%#010x", &[W(0xbeef); 2], "0000beef|0x0000beef");
        check("%.4d %.0d|%8.4d|%-8.4d|", &[W(7), W(0), W(7), W(7)], "0007 |    0007|0007    |");
        check("%lld %llu %ld", &[D(u64::MAX); 3], "-1 18446744073709551615 -1");
        check("%d %lld %d", &[W(1), D(2), W(3)], "1 2 3");
        check("%hd %hhu", &[W(0x1_ffff), W(0x1ff)], "-1 255");
        check("%*d|%-*d|%.*f", &[W(4), W(1), W(4), W(2), W(1), F(0.25)], "   1|2   |0.2");
    }

    #[test]
    fn characters_strings_and_pointers() {
        check("%c%c %5c", &[W(72), W(105), W(33)], "Hi     !");
        check("%s %.2s %8s|%-8s|", &[D(0x10); 4], "hello he    hello|hello   |");
        check("%s", &[D(0)], "(null)");
        check("%p", &[D(0xc000_0000)], "0xc0000000");
        check("100%% %", &[], "100% %");
        check("%y %d", &[W(1)], "%y 1");
    }

    #[test]
    fn floating_point() {
        check("%f %.2f %.0f %#.0f", &[F(1.5), F(2.345), F(2.5), F(3.0)], "1.500000 2.35 2 3.");
        check("%e %.1E %.0e", &[F(12345.678), F(1e-10), F(5.0)], "1.234568e+04 1.0E-10 5e+00");
        check("%g %g %g %g", &[F(0.0001), F(0.000_01), F(100_000.0), F(1e6)], "0.0001 1e-05 100000 1e+06");
        check("%g %.3g %g", &[F(0.5), F(1234.5), F(0.0)], "0.5 1.23e+03 0");
        check("%f %F %5.1f|%-8g|", &[F(f64::NAN), F(f64::NEG_INFINITY), F(1.0), F(2.0)], "nan -INF   1.0|2       |");
        check("%08.2f %+f", &[F(-1.5), F(0.0)], "-0001.50 +0.000000");
        check("%06f", &[F(f64::INFINITY)], "   inf");
        check("%a %a", &[F(1.0), F(0.1)], "0x1p+0 0x1.999999999999ap-4");
        check("%.2a", &[F(1.999)], "0x2.00p+0");
    }

    #[test]
    fn a_launch_prints_no_more_than_there_is_room_for() {
        let mut printed = String::new();
        let line = "äöü\n".repeat(9);
        for _ in 0..MAX_KEPT {
            keep(&mut printed, &line);
        }
        let kept = printed.strip_suffix(DROPPED).unwrap();
        assert!(kept.len() <= MAX_KEPT && kept.len() > MAX_KEPT - 2, "{}", kept.len());
        assert!(DROPPED.contains(&MAX_KEPT.to_string()));

        let mut exact = String::new();
        keep(&mut exact, &"a".repeat(MAX_KEPT));
        keep(&mut exact, "");
        assert_eq!(exact.len(), MAX_KEPT, "it has been printed whole");
        keep(&mut exact, "b");
        assert!(exact.ends_with(DROPPED));
    }

    #[test]
    fn counts_arguments() {
        assert_eq!(arguments(b"%d %f %%"), (2, 16));
        assert_eq!(arguments(b"plain"), (0, 0));
    }
}
