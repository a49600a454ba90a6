//! Numbers as people read them.

/// A number with a comma every three digits.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A part of a whole; 0 of nothing.
#[must_use]
pub fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// A share of one in percent.
#[must_use]
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// `1 error`, `2 errors`.
#[must_use]
pub fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!([1, 12, 123, 1234, 1_234_567].map(grouped), ["1", "12", "123", "1,234", "1,234,567"]);
        assert_eq!(percent(0.125), "12.5 %");
        assert_eq!([0, 1, 2].map(|n| count(n, "error")), ["0 errors", "1 error", "2 errors"]);
    }
}
