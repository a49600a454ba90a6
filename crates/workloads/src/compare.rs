//! Results against what they should be.

use crate::error::Error;
use raddle_runtime::compare::compare;
use raddle_runtime::plan::Within;
use raddle_runtime::value::Value;

/// Compares all elements of an output called `name`.
///
/// # Errors
/// When one is too far from what it should be; the message names the first.
pub fn elements<T: Value>(name: &str, got: &[T], want: &[T], within: Within) -> Result<(), Error> {
    if got.len() != want.len() {
        return Err(Error::Wrong(format!("{name} has {} elements instead of {}", got.len(), want.len())));
    }
    let ty = T::ELEMENT;
    let comparison = compare(ty, got.iter().map(|v| v.bits()), want.iter().map(|v| v.bits()), within);
    let Some(first) = comparison.first.first() else { return Ok(()) };
    let (got, want) = (ty.show(first.got), ty.show(first.want));
    let wrong = match within {
        Within::Ulp(0) => "wrong".to_owned(),
        Within::Ulp(n) => format!("more than {n} ulp off"),
        Within::Tolerance(t) => format!("off by more than {t:e}"),
    };
    let count = format!("{} of {} elements are {wrong}", comparison.wrong, comparison.compared);
    Err(Error::Wrong(format!("{name}[{}] is {got}, expected {want}; {count}", first.index)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_first_element() {
        let text = |got: &[f32], within| elements("y", got, &[1.0, 2.0], within).map_err(|e| e.to_string());
        assert_eq!(text(&[1.0, 2.0], Within::Ulp(0)), Ok(()));
        assert_eq!(text(&[1.0, 2.001], Within::Tolerance(1e-3)), Ok(()));
        let wrong = text(&[1.0, 2.5], Within::Tolerance(1e-3)).unwrap_err();
        assert_eq!(wrong, "y[1] is 2.5, expected 2; 1 of 2 elements are off by more than 1e-3");
        assert_eq!(text(&[1.0], Within::Ulp(0)).unwrap_err(), "y has 1 elements instead of 2");
    }
}
