//! Arguments as text: the notation of `raddle run --arg`, part of which launch files share.
//!
//! ```text
//!  ARG     = NUMBER                          takes the type of the parameter
//!          | TYPE:VALUE                      u32:5   f32:1.5   b32:0xff
//!          | bytes:HEX                       a structure passed by value
//!          | NAME                            a buffer given before, again
//!          | [NAME=]buf:TYPE:CONTENT[,OPTION]...
//!  CONTENT = LEN                             zero bytes that count as never written
//!          | LEN=FILL                        see `fill`; [V,V,...] gives values, the rest is zero
//!          | @FILE | [V,V,...]               as long as what they hold
//!  OPTION  = out=FILE | expect=FILE | ulp=N | tolerance=X
//! ```
//!
//! Files that end in `.npy` are read and written as such, others as raw bytes.

use crate::data::DataFile;
use crate::element::{Element, integer};
use crate::error::Problem;
use crate::fill::Fill;
use crate::plan::{ArgValue, Buffer, Expect, Output, Plan, Want, Within};
use raddle_ptx::diag::closest;

/// Reads an argument of the command line. A buffer is added to `plan`, with what it is compared
/// with and where it is written to.
///
/// # Errors
/// When the text is not an argument.
pub fn parse(text: &str, position: usize, plan: &mut Plan) -> Result<ArgValue, Problem> {
    let (name, rest) = match text.split_once('=') {
        Some((name, rest)) if is_name(name) => (Some(name), rest),
        _ => (None, text),
    };
    let Some(spec) = rest.strip_prefix("buf:") else {
        return match name {
            Some(_) => Err(Problem::new(format!("`{text}`: only buffers have names"))
                .help(format!("write `{rest}`, or `{text}` with buf:TYPE:LEN after the `=`"))),
            None => value(text, plan),
        };
    };
    let name = name.map_or_else(|| format!("arg{position}"), str::to_owned);
    if plan.buffers.iter().any(|b| b.name == name) {
        return Err(Problem::new(format!("two buffers are named `{name}`")));
    }
    let index = plan.buffers.len();
    buffer(name, spec, plan).map_err(|p| Problem { message: format!("`{text}`: {}", p.message), ..p })?;
    Ok(ArgValue::Buffer(index))
}

/// Reads an argument that is no new buffer: a number, a typed scalar, bytes, or the name of a
/// buffer of `plan`.
///
/// # Errors
/// When the text is none of these.
pub fn value(text: &str, plan: &Plan) -> Result<ArgValue, Problem> {
    if let Some((ty, value)) = text.split_once(':') {
        if ty == "bytes" {
            return hex(value).map(ArgValue::Bytes);
        }
        let ty = Element::from_name(ty).map_err(|e| {
            let types = Element::ALL.map(Element::name).join(" ");
            Problem::new(format!("`{text}`: {e}")).help(format!("types are {types}, and `buf` and `bytes`"))
        })?;
        return Ok(ArgValue::Scalar(ty, ty.parse(value).map_err(|e| Problem::new(e.to_string()))?));
    }
    if integer(text).is_some() || (text.parse::<f64>().is_ok() && plan.buffer(text).is_err()) {
        return Ok(ArgValue::Number(text.to_owned()));
    }
    if is_name(text) {
        return plan.buffer(text).map(ArgValue::Buffer);
    }
    Err(Problem::new(format!("`{text}` is not an argument"))
        .help("arguments look like 5, u32:5, f32:1.5, buf:f32:1024=iota, or the name of a buffer"))
}

/// Whether a buffer can have this name.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn hex(text: &str) -> Result<Vec<u8>, Problem> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    match digits {
        Some(digits) if !digits.is_empty() && digits.len().is_multiple_of(2) => {
            Ok(digits.chunks_exact(2).map(|d| d[0] << 4 | d[1]).collect())
        }
        _ => Err(Problem::new(format!("`bytes:{text}` should have two hexadecimal digits per byte"))),
    }
}

/// Adds the buffer written as `spec`, which is what follows `buf:`.
fn buffer(name: String, spec: &str, plan: &mut Plan) -> Result<(), Problem> {
    let shape = "a buffer is written buf:TYPE:LEN[=FILL], buf:TYPE:@FILE or buf:TYPE:[V,V,...]";
    let (ty, rest) = spec.split_once(':').ok_or_else(|| Problem::new("the length is missing").help(shape))?;
    let ty = Element::from_name(ty).map_err(|e| Problem::new(e.to_string()))?;
    let mut parts = split_commas(rest).into_iter();
    let content = parts.next().unwrap_or_default();
    let (len, fill) = contents(content, ty).map_err(|p| if p.help.is_some() { p } else { p.help(shape) })?;
    let index = plan.buffers.len();
    let (mut within, mut want) = (None, None);
    for option in parts {
        let (key, text) = option.split_once('=').unwrap_or((option, ""));
        if text.is_empty() {
            return Err(unknown_option(option));
        }
        let number = |kind| Problem::new(format!("`{option}` should give {kind}"));
        match key {
            "out" => plan.outputs.push(Output { buffer: index, file: DataFile::by_ending(text) }),
            "expect" => want = Some(Want::File(DataFile::by_ending(text))),
            "ulp" => within = Some(Within::Ulp(text.parse().map_err(|_| number("a whole number"))?)),
            "tolerance" => {
                let tolerance = text.parse().ok().filter(|t: &f64| *t >= 0.0);
                within = Some(Within::Tolerance(tolerance.ok_or_else(|| number("a number of at least 0"))?));
            }
            _ => return Err(unknown_option(option)),
        }
    }
    match (want, within) {
        (Some(want), within) => {
            plan.expects.push(Expect { buffer: index, want, within: within.unwrap_or(Within::Ulp(0)), at: None });
        }
        (None, Some(_)) => return Err(Problem::new("`ulp` and `tolerance` need `expect=FILE`")),
        (None, None) => {}
    }
    plan.buffers.push(Buffer { name, ty, len, fill, at: None });
    Ok(())
}

fn unknown_option(option: &str) -> Problem {
    let key = option.split('=').next().unwrap_or_default();
    let problem = Problem::new(format!("`{option}` is not an option of a buffer"));
    match closest(key, ["out", "expect", "ulp", "tolerance"]) {
        Some(close) if close != key => problem.help(format!("did you mean `{close}=`?")),
        _ => problem.help("options are out=FILE, expect=FILE, ulp=N and tolerance=X"),
    }
}

/// Splits at commas that are not inside brackets.
fn split_commas(text: &str) -> Vec<&str> {
    let mut depth = 0u32;
    text.split(|c| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

fn contents(text: &str, ty: Element) -> Result<(Option<u64>, Fill), Problem> {
    if let Some(fill) = file_or_list(text, ty) {
        return Ok((None, fill?));
    }
    let (len, fill) = text.split_once('=').map_or((text, None), |(len, fill)| (len, Some(fill)));
    let len = integer(len).and_then(|n| u64::try_from(n).ok());
    let len = len.ok_or_else(|| Problem::new(format!("`{text}` does not start with a number of elements")))?;
    let fill = match fill {
        None => Fill::Unwritten,
        Some(fill) => match file_or_list(fill, ty) {
            Some(fill) => fill?,
            None => Fill::parse(fill, ty).map_err(|e| Problem::new(e.to_string()))?,
        },
    };
    Ok((Some(len), fill))
}

fn file_or_list(text: &str, ty: Element) -> Option<Result<Fill, Problem>> {
    if let Some(path) = text.strip_prefix('@') {
        let file = Fill::File(DataFile::by_ending(path));
        return Some(if path.is_empty() { Err(Problem::new("`@` names no file")) } else { Ok(file) });
    }
    let list = text.strip_prefix('[')?;
    let Some(list) = list.strip_suffix(']') else {
        return Some(Err(Problem::new(format!("`{text}` has no closing bracket"))));
    };
    let values: Result<Vec<u64>, _> =
        list.split(',').map(str::trim).filter(|v| !v.is_empty()).map(|v| ty.parse(v)).collect();
    Some(values.map(Fill::Values).map_err(|e| Problem::new(e.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fill::Lcg;
    use proptest::prelude::*;

    fn parsed(text: &str) -> (ArgValue, Plan) {
        let mut plan = Plan::default();
        let value = parse(text, 0, &mut plan).unwrap_or_else(|p| panic!("{text}: {p}"));
        (value, plan)
    }

    fn only_buffer(text: &str) -> Buffer {
        let (value, mut plan) = parsed(text);
        assert_eq!(value, ArgValue::Buffer(0));
        plan.buffers.remove(0)
    }

    fn message(text: &str) -> String {
        let p = parse(text, 0, &mut Plan::default()).unwrap_err();
        p.help.map_or(p.message.clone(), |help| format!("{} [{help}]", p.message))
    }

    #[test]
    fn scalars() {
        let ty = |n| Element::from_name(n).unwrap();
        assert_eq!(parsed("u32:5").0, ArgValue::Scalar(ty("u32"), 5));
        assert_eq!(parsed("f32:1.5").0, ArgValue::Scalar(ty("f32"), 0x3fc0_0000));
        assert_eq!(parsed("-1e3").0, ArgValue::Number("-1e3".to_owned()));
        assert_eq!(parsed("0x10").0, ArgValue::Number("0x10".to_owned()));
        assert_eq!(parsed("bytes:00ff").0, ArgValue::Bytes(vec![0, 255]));
    }

    #[test]
    fn buffers() {
        let f32 = Element::from_name("f32").unwrap();
        let b = only_buffer("buf:f32:1024");
        assert_eq!(b, Buffer { name: "arg0".to_owned(), ty: f32, len: Some(1024), fill: Fill::Unwritten, at: None });
        let b = only_buffer("a=buf:f32:16=lcg:1:0xf");
        assert_eq!((b.name.as_str(), b.len), ("a", Some(16)));
        assert_eq!(b.fill, Fill::Lcg(Lcg { seed: 1, mask: 15, skip: 0, stride: 1 }));
        assert_eq!(only_buffer("buf:f32:@in.npy").fill, Fill::File(DataFile::npy("in.npy")));
        assert_eq!(only_buffer("buf:f32:4=@in.bin").fill, Fill::File(DataFile::raw("in.bin")));
        assert_eq!(only_buffer("buf:u8:[1, 2,3]").fill, Fill::Values(vec![1, 2, 3]));
        assert_eq!(only_buffer("buf:u8:8=[1,2]").len, Some(8));
    }

    #[test]
    fn options() {
        let (_, plan) = parsed("c=buf:u32:256=zero,out=c.npy,expect=ref.bin,ulp=2");
        assert_eq!(plan.outputs, [Output { buffer: 0, file: DataFile::npy("c.npy") }]);
        let want = Want::File(DataFile::raw("ref.bin"));
        assert_eq!(plan.expects, [Expect { buffer: 0, want, within: Within::Ulp(2), at: None }]);
    }

    #[test]
    fn a_buffer_can_be_passed_twice() {
        let mut plan = Plan::default();
        parse("a=buf:u32:4", 0, &mut plan).unwrap();
        assert_eq!(parse("a", 1, &mut plan), Ok(ArgValue::Buffer(0)));
        assert_eq!(parse("a=buf:u32:4", 2, &mut plan).unwrap_err().message, "two buffers are named `a`");
        assert_eq!(parse("b", 1, &mut plan).unwrap_err().message, "there is no buffer `b`");
    }

    #[test]
    fn mistakes_say_what_to_write() {
        assert_eq!(
            message("u31:5"),
            "`u31:5`: `u31` is not an element type; did you mean `u32`? \
             [types are u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 f16 bf16 f32 f64, and `buf` and `bytes`]"
        );
        assert_eq!(
            message("buf:f32"),
            "`buf:f32`: the length is missing \
             [a buffer is written buf:TYPE:LEN[=FILL], buf:TYPE:@FILE or buf:TYPE:[V,V,...]]"
        );
        assert!(message("buf:f32:ten").starts_with("`buf:f32:ten`: `ten` does not start with a number of elements"));
        assert_eq!(
            message("buf:f32:1,output=x.npy"),
            "`buf:f32:1,output=x.npy`: `output=x.npy` is not an option of a buffer \
             [options are out=FILE, expect=FILE, ulp=N and tolerance=X]"
        );
        assert_eq!(message("buf:f32:1,ulp=3"), "`buf:f32:1,ulp=3`: `ulp` and `tolerance` need `expect=FILE`");
        assert!(message("n=u32:5").starts_with("`n=u32:5`: only buffers have names"));
        assert!(message("buf:u8:[1").contains("has no closing bracket"));
        assert!(message("?").starts_with("`?` is not an argument"));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(([a-c]=)?(buf|u8|f32|bytes):)?[a-z0-9:=,@\\[\\]é.-]{0,20}") {
            let _ = parse(&text, 0, &mut Plan::default());
        }
    }
}
