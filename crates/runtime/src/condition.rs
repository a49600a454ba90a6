//! Conditions of loops and launches: an element of a buffer compared with a number, such as `flag != 0` or
//! `error[3] > 0.001`.

use crate::element::Element;
use crate::error::{At, Problem};
use crate::plan::Plan;
use std::cmp::Ordering;

/// A comparison of an element with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// As written.
    pub text: String,
    /// Index into [`Plan::buffers`].
    pub buffer: usize,
    /// Which element.
    pub element: u64,
    /// How it is compared.
    pub relation: Relation,
    /// With which number, as bits of the buffer's type.
    pub value: u64,
    /// Place in the launch file.
    pub at: At,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// Every comparison as it is written.
const RELATIONS: [(&str, Relation); 6] = [
    ("==", Relation::Equal),
    ("!=", Relation::NotEqual),
    ("<", Relation::Less),
    ("<=", Relation::LessOrEqual),
    (">", Relation::Greater),
    (">=", Relation::GreaterOrEqual),
];

const EXAMPLE: &str = "a condition compares an element of a buffer with a number, as in `flag != 0` or `flag[3] < 10`";

impl Relation {
    /// Whether it is true of numbers in this order; a NaN has none.
    fn is_true(self, order: Option<Ordering>) -> bool {
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::NotEqual => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrEqual => order.is_some_and(Ordering::is_le),
            Self::Greater => order == Some(Ordering::Greater),
            Self::GreaterOrEqual => order.is_some_and(Ordering::is_ge),
        }
    }
}

impl Condition {
    /// Reads a condition on a buffer of `plan`.
    ///
    /// # Errors
    /// When the text is not a condition, or names no buffer.
    pub fn parse(text: &str, plan: &Plan) -> Result<Self, Problem> {
        let is_sign = |c: char| "=!<>".contains(c);
        let malformed = || Problem::new(format!("`{text}` is not a condition")).help(EXAMPLE);
        let (left, rest) = text.find(is_sign).map(|at| text.split_at(at)).ok_or_else(malformed)?;
        let (sign, value) = rest.split_at(rest.find(|c| !is_sign(c)).unwrap_or(rest.len()));
        let Some((_, relation)) = RELATIONS.into_iter().find(|(written, _)| *written == sign) else {
            let signs = RELATIONS.map(|(written, _)| written).join(" ");
            return Err(Problem::new(format!("`{sign}` is not a comparison")).help(format!("comparisons are {signs}")));
        };
        let (name, element) = match left.trim().split_once('[') {
            None => (left.trim(), 0),
            Some((name, index)) => {
                let index = index.strip_suffix(']').and_then(|index| index.trim().parse().ok());
                (name.trim_end(), index.ok_or_else(malformed)?)
            }
        };
        let buffer = plan.buffer(name)?;
        let value = plan.buffers[buffer].ty.parse(value.trim());
        let value = value.map_err(|error| Problem::new(error.to_string()).help(EXAMPLE))?;
        Ok(Self { text: text.to_owned(), buffer, element, relation, value, at: None })
    }

    /// Whether it is true when the element of type `ty` has these bits.
    #[must_use]
    pub fn holds(&self, ty: Element, bits: u64) -> bool {
        let order = match (ty.float(bits), ty.float(self.value)) {
            (Some(got), Some(value)) => got.partial_cmp(&value),
            _ => Some(ty.int(bits).cmp(&ty.int(self.value))),
        };
        self.relation.is_true(order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fill::Fill;
    use crate::plan::Buffer;

    fn plan() -> Plan {
        let buffer = |name: &str, ty: &str| Buffer {
            name: name.to_owned(),
            ty: Element::from_name(ty).unwrap(),
            len: Some(4),
            fill: Fill::Zero,
            at: None,
        };
        Plan { buffers: vec![buffer("flag", "u32"), buffer("error", "f32"), buffer("n", "s8")], ..Plan::default() }
    }

    fn message(text: &str) -> String {
        let problem = Condition::parse(text, &plan()).unwrap_err();
        format!("{} [{}]", problem.message, problem.help.unwrap_or_default())
    }

    #[test]
    fn values_are_compared_in_the_type_of_the_buffer() {
        let holds = |text: &str, value: &str| {
            let plan = plan();
            let condition = Condition::parse(text, &plan).unwrap();
            let ty = plan.buffers[condition.buffer].ty;
            condition.holds(ty, ty.parse(value).unwrap())
        };
        assert!(holds("flag != 0", "1") && !holds("flag != 0", "0"));
        assert!(holds("flag==0x10", "16") && !holds(" flag[ 3 ] > 7 ", "7"));
        assert!(holds("flag >= 4294967295", "4294967295"), "unsigned");
        assert!(holds("n < 0", "-1") && !holds("n <= -2", "-1"), "signed");
        assert!(holds("error > 1e-3", "0.5") && !holds("error >= 0.5", "0.25"));
        assert!(holds("error != 1", "nan") && !holds("error == nan", "nan") && !holds("error <= 1", "nan"));
        assert_eq!(Condition::parse("flag[3] < 1", &plan()).unwrap().element, 3);
    }

    #[test]
    fn mistakes_say_what_is_wrong() {
        assert_eq!(message("flag"), format!("`flag` is not a condition [{EXAMPLE}]"));
        assert_eq!(message("flag[x] != 0"), format!("`flag[x] != 0` is not a condition [{EXAMPLE}]"));
        assert_eq!(message("flag[1 != 0"), format!("`flag[1 != 0` is not a condition [{EXAMPLE}]"));
        assert_eq!(message("flag = 0"), "`=` is not a comparison [comparisons are == != < <= > >=]");
        assert_eq!(message("flog != 0"), "there is no buffer `flog` [did you mean `flag`?]");
        assert_eq!(message("!= 0"), "there is no buffer `` [the buffers are flag, error, n]");
        assert!(message("flag != 1.5").starts_with("`1.5` is not a value of type u32: it is not an integer"));
        assert!(message("n < 300").starts_with("`300` is not a value of type s8: the range is -128 to 127"));
        assert!(message("flag !=").starts_with("`` is not a value of type u32"));
    }
}
