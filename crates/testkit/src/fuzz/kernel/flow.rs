//! Instructions taken away, doubled and moved; guards, labels and branches.

use super::{At, Draft, operand};
use crate::rng::Rng;
use raddle_ptx::isa::Type;

pub(super) fn delete(draft: &Draft, rng: &mut Rng) -> Option<String> {
    let at = draft.any_inst(rng)?;
    Some(draft.with(at, ""))
}

/// Puts an instruction of the function before another one again.
pub(super) fn duplicate(draft: &Draft, rng: &mut Rng) -> Option<String> {
    let (at, other) = two(draft, rng)?;
    Some(draft.with(at, &format!("{}\n    {}", draft.statement(other), draft.statement(at))))
}

/// Exchanges two instructions of a function.
pub(super) fn exchange(draft: &Draft, rng: &mut Rng) -> Option<String> {
    let (a, b) = two(draft, rng)?;
    let (a, b) = if a.inst.span.start < b.inst.span.start { (a, b) } else { (b, a) };
    let (first, second) = (a.inst.span.range(), b.inst.span.range());
    let text = &draft.text;
    let (head, middle, tail) = (&text[..first.start], text.get(first.end..second.start)?, &text[second.end..]);
    Some(format!("{head}{}{middle}{}{tail}", draft.statement(b), draft.statement(a)))
}

/// Two different instructions of one function.
fn two<'d>(draft: &'d Draft, rng: &mut Rng) -> Option<(At<'d>, At<'d>)> {
    let (a, b) = (draft.any_inst(rng)?, draft.any_inst(rng)?);
    (std::ptr::eq(a.function, b.function) && a.inst.span != b.inst.span).then_some((a, b))
}

/// Another guard, or none.
pub(super) fn guard(draft: &Draft, rng: &mut Rng) -> Option<String> {
    let at = draft.any_inst(rng)?;
    let statement = draft.statement(at);
    let bare = match statement.strip_prefix('@') {
        Some(rest) => rest.split_once(char::is_whitespace)?.1,
        None => statement,
    };
    let guard = predicate(at, rng).unwrap_or_default();
    Some(draft.with(at, &format!("{guard} {bare}")))
}

/// `@%p` or `@!%p` with a predicate of the function.
fn predicate(at: At<'_>, rng: &mut Rng) -> Option<String> {
    let names: Vec<&str> = at.function.regs.iter().filter(|r| r.ty == Type::Pred).map(|r| r.name.as_str()).collect();
    if names.is_empty() || rng.one_in(5) {
        return None;
    }
    Some(format!("@{}{}", if rng.one_in(2) { "!" } else { "" }, rng.pick(&names)))
}

/// A branch to a label that there is, or to a new one.
pub(super) fn branch(draft: &Draft, rng: &mut Rng) -> Option<String> {
    let (from, to) = two(draft, rng)?;
    let guard = predicate(from, rng).unwrap_or_default();
    if !from.function.labels.is_empty() && rng.one_in(2) {
        let label = &rng.pick(&from.function.labels).name;
        return Some(draft.with(from, &format!("{guard} bra {label};\n    {}", draft.statement(from))));
    }
    let label = format!("NEW_{}", draft.text.len());
    let branch = (from.inst.span.start, format!("{guard} bra {label};\n    "));
    let label = (to.inst.span.start, format!("{label}:\n    "));
    let (first, second) = if branch.0 < label.0 { (branch, label) } else { (label, branch) };
    let (a, b) = (first.0 as usize, second.0 as usize);
    let text = &draft.text;
    Some(format!("{}{}{}{}{}", &text[..a], first.1, &text[a..b], second.1, &text[b..]))
}

/// Another label where an instruction names one.
pub(super) fn other_label(draft: &Draft, rng: &mut Rng) -> Option<String> {
    let at = draft.any_inst(rng)?;
    let statement = draft.statement(at);
    let labels = &at.function.labels;
    let range =
        operand::tokens(statement).into_iter().find(|r| labels.iter().any(|l| l.name == statement[r.clone()]))?;
    let label = &rng.pick(labels).name;
    Some(draft.with(at, &format!("{}{label}{}", &statement[..range.start], &statement[range.end..])))
}
