//! Other words, other opcodes, instructions of the table put in.

use super::{Draft, operand};
use crate::rng::Rng;
use raddle_ptx::ir::Function;
use raddle_ptx::isa::{Form, OperandSpec, Shape, Type, TypeRef, Word, forms, forms_of};

/// Other modifier words, among those of the table.
pub(super) fn other_words(draft: &Draft, rng: &mut Rng) -> Option<String> {
    let at = draft.any_inst(rng)?;
    let all: Vec<&Form> = forms_of(at.inst.opcode).collect();
    let form = if rng.one_in(3) { *rng.pick(&all) } else { at.inst.form() };
    let mut words = words_of(form, rng);
    // Often only one of them, so that the operands fit.
    if form.id == at.inst.form && words.len() == at.inst.words.len() && !words.is_empty() && !rng.one_in(4) {
        let kept = rng.below(words.len() as u32) as usize;
        words = at.inst.words.iter().enumerate().map(|(n, w)| if n == kept { words[n] } else { *w }).collect();
    }
    let (head, _, rest) = parts(draft.statement(at))?;
    Some(draft.with(at, &format!("{head}{}{rest}", mnemonic(form, &words))))
}

/// Another opcode with as many operands, with the same words if it has them.
pub(super) fn other_opcode(draft: &Draft, rng: &mut Rng) -> Option<String> {
    let at = draft.any_inst(rng)?;
    let count = at.inst.operands.len();
    let alike: Vec<&Form> = forms().iter().filter(|f| f.operands.len() == count && is_plain(f)).collect();
    if alike.is_empty() {
        return None;
    }
    let form = *rng.pick(&alike);
    let words = match form.match_words(&at.inst.words) {
        Ok(()) if !rng.one_in(4) => at.inst.words.clone(),
        _ => words_of(form, rng),
    };
    let (head, _, rest) = parts(draft.statement(at))?;
    Some(draft.with(at, &format!("{head}{}{rest}", mnemonic(form, &words))))
}

/// An instruction of the table, with registers of the function, before another one.
pub(super) fn insert(draft: &Draft, rng: &mut Rng) -> Option<String> {
    let at = draft.any_inst(rng)?;
    let form = rng.pick(forms());
    if !is_plain(form) {
        return None;
    }
    let words = words_of(form, rng);
    let types: Vec<Type> = words.iter().filter_map(|w| Type::from_word(*w)).collect();
    let mut operands = Vec::new();
    for spec in form.operands.iter().filter(|spec| !spec.optional) {
        operands.push(operand_text(spec, &types, at.function, rng)?);
    }
    let statement = format!("{} {};", mnemonic(form, &words), operands.join(", "));
    Some(draft.with(at, &format!("{statement}\n    {}", draft.statement(at))))
}

/// Whether all operands are values: no memory, labels, tables, textures or calls.
fn is_plain(form: &Form) -> bool {
    form.operands.iter().all(|o| matches!(o.shape, Shape::Value | Shape::Any | Shape::Constant))
}

fn words_of(form: &Form, rng: &mut Rng) -> Vec<Word> {
    let mut words = Vec::new();
    for slot in &form.slots {
        if !slot.optional || rng.one_in(3) {
            words.push(*rng.pick(&slot.words));
        }
    }
    words
}

fn mnemonic(form: &Form, words: &[Word]) -> String {
    words.iter().fold(form.opcode.as_str().to_owned(), |text, word| format!("{text}.{}", word.as_str()))
}

/// What stands before the mnemonic, the mnemonic, and what stands behind it.
fn parts(statement: &str) -> Option<(&str, &str, &str)> {
    let start = if statement.starts_with('@') { statement.find(char::is_whitespace)? + 1 } else { 0 };
    let start = start + statement[start..].find(|c: char| !c.is_whitespace())?;
    let end = start + statement[start..].find(|c: char| c.is_whitespace() || c == ';')?;
    Some((&statement[..start], &statement[start..end], &statement[end..]))
}

fn operand_text(spec: &OperandSpec, types: &[Type], function: &Function, rng: &mut Rng) -> Option<String> {
    let ty = match spec.ty {
        Some(TypeRef::Nth(n)) => *types.get(usize::from(n))?,
        Some(TypeRef::Wide) if types.first()?.bits() == 16 => Type::U32,
        Some(TypeRef::Wide | TypeRef::AddressSized) => Type::U64,
        Some(TypeRef::Fixed(ty)) => ty,
        None => Type::U32,
    };
    if spec.shape == Shape::Constant || !spec.written && rng.one_in(4) {
        return Some(operand::special(rng, ty));
    }
    let fits = |of: Type| (of == Type::Pred) == (ty == Type::Pred) && of.bits() == ty.bits();
    let names: Vec<&str> = function.regs.iter().filter(|r| fits(r.ty)).map(|r| r.name.as_str()).collect();
    let name = if names.is_empty() { return None } else { *rng.pick(&names) };
    let second: Vec<&str> = function.regs.iter().filter(|r| r.ty == Type::Pred).map(|r| r.name.as_str()).collect();
    match spec.second {
        Some(true) if second.is_empty() => None,
        Some(true) => Some(format!("{name}|{}", rng.pick(&second))),
        Some(false) if !second.is_empty() && rng.one_in(2) => Some(format!("{name}|{}", rng.pick(&second))),
        _ => Some(name.to_owned()),
    }
}
