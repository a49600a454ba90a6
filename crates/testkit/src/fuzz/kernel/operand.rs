//! Other registers and other constants.

use super::Draft;
use crate::rng::Rng;
use raddle_ptx::isa::{Special, Type};

const INTEGERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "4",
    "5",
    "7",
    "8",
    "12",
    "15",
    "16",
    "17",
    "24",
    "31",
    "32",
    "33",
    "63",
    "64",
    "65",
    "127",
    "128",
    "255",
    "256",
    "4095",
    "0x7fff",
    "0x8000",
    "0xffff",
    "-32768",
    "0x7fffffff",
    "0x80000000",
    "0xffffffff",
    "-2147483648",
    "0xaaaaaaaa",
    "0x7fffffffffffffff",
    "0x8000000000000000",
    "0xffffffffffffffff",
];

const FLOATS: &[&str] = &[
    "0f00000000",
    "0f80000000",
    "0f3F800000",
    "0fBF800000",
    "0f3F000000",
    "0f40490FDB",
    "0f7F800000",
    "0fFF800000",
    "0f7FC00000",
    "0f7F800001",
    "0fFFC12345",
    "0f00000001",
    "0f007FFFFF",
    "0f00800000",
    "0f7F7FFFFF",
    "0f4F000000",
    "0fCF000000",
    "0f5F000000",
    "0f4B000001",
    "0f33800000",
    "0f477FE000",
];

const DOUBLES: &[&str] = &[
    "0d0000000000000000",
    "0d8000000000000000",
    "0d3FF0000000000000",
    "0dBFF0000000000000",
    "0d3FE0000000000000",
    "0d7FF0000000000000",
    "0dFFF0000000000000",
    "0d7FF8000000000000",
    "0d7FF0000000000001",
    "0d0000000000000001",
    "0d000FFFFFFFFFFFFF",
    "0d0010000000000000",
    "0d7FEFFFFFFFFFFFFF",
    "0d41E0000000000000",
    "0d43E0000000000000",
    "0d47EFFFFFF0000000",
    "0d3690000000000000",
];

/// A constant of a type at the edge of something.
pub(super) fn special(rng: &mut Rng, ty: Type) -> String {
    match ty {
        Type::F32 | Type::F64 => special_float(rng, ty).to_owned(),
        _ => (*rng.pick(INTEGERS)).to_owned(),
    }
}

pub(super) fn special_float(rng: &mut Rng, ty: Type) -> &'static str {
    let all = if ty == Type::F64 { DOUBLES } else { FLOATS };
    all[rng.below(all.len() as u32) as usize]
}

/// Another register or constant in the place of one.
pub(super) fn replace(draft: &Draft, rng: &mut Rng) -> Option<String> {
    let at = draft.any_inst(rng)?;
    let statement = draft.statement(at);
    let tokens = tokens(statement);
    let reg = |token: &str| at.function.regs.iter().find(|r| r.name == token);
    let is_operand = |range: &&std::ops::Range<usize>| {
        let token = &statement[(*range).clone()];
        reg(token).is_some() || token.starts_with(|c: char| c.is_ascii_digit())
    };
    let operands: Vec<_> = tokens.iter().filter(is_operand).collect();
    if operands.is_empty() {
        return None;
    }
    let range = (*rng.pick(&operands)).clone();
    let old = &statement[range.clone()];
    let ty = reg(old).map_or(literal_type(old), |r| r.ty);
    let alike = |r: &&raddle_ptx::ir::Reg| r.ty.bits() == ty.bits() && (r.ty == Type::Pred) == (ty == Type::Pred);
    let names: Vec<&str> = at.function.regs.iter().filter(alike).map(|r| r.name.as_str()).collect();
    let new = match rng.below(8) {
        0 | 1 => special(rng, ty),
        2 => rng.pick(Special::ALL).as_str().to_owned(),
        3 if !at.function.regs.is_empty() => rng.pick(&at.function.regs).name.clone(),
        _ if names.is_empty() || reg(old).is_none() && rng.one_in(2) => special(rng, ty),
        _ => (*rng.pick(&names)).to_owned(),
    };
    let statement = format!("{}{new}{}", &statement[..range.start], &statement[range.end..]);
    Some(draft.with(at, &statement))
}

fn literal_type(text: &str) -> Type {
    match text.get(..2) {
        Some("0f" | "0F") => Type::F32,
        Some("0d" | "0D") => Type::F64,
        _ => Type::U32,
    }
}

/// Where the words of a statement are: names, numbers, registers.
pub(super) fn tokens(statement: &str) -> Vec<std::ops::Range<usize>> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "%_$.".contains(c);
    let mut tokens = Vec::new();
    let mut start = None;
    for (i, c) in statement.char_indices().chain([(statement.len(), ' ')]) {
        match (start, is_part(c)) {
            (None, true) => start = Some(i),
            (Some(from), false) => {
                tokens.push(from..i);
                start = None;
            }
            _ => {}
        }
    }
    tokens
}
