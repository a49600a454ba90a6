//! The page that lists every supported instruction, how well it is tested, and what is not supported.

use std::collections::BTreeMap;
use std::fmt::Write;

use raddle_ptx::isa::{Form, Opcode, OperandSpec, Shape, Slot, Type, TypeRef, Word, forms, unsupported};
use raddle_sim::config::{Machine, OpTiming, Source};
use raddle_sim::kernel::UnitKind;
use raddle_sim::op_timing::{self, Numbers, Work};
use raddle_testkit::coverage::Coverage;

use crate::Result;
use crate::files::root;

const INTRODUCTION: &str = "\
<!-- Written by `cargo xtask codegen`; edit crates/ptx/src/isa/table.txt or xtask/src/instructions.rs instead. -->

# Instructions

This page lists every form of an instruction that Raddle reads and executes. It is generated from the table that the
checker uses. Raddle refuses every other form with a message.

**Form.** `{.ftz}` is optional. `.(lo|hi)` is one of these words. `.RND` is one of a list of words, [see
below](#lists-of-words). `d` is the destination. `p`, `q` and `r` are predicates, and `!r` may be negated. `d:u32` is an
operand of this type, if the type does not follow from the words of the instruction. `d:wide` is twice as wide as its type.
`[a]` is an address. In `d[|q]` and `{, c}`, the part in brackets is optional.

**PTX, target.** The first version of the PTX ISA and the first target that have the form. \"any\" means that the form is
older than everything Raddle reads.

**Variants.** The number of combinations of the words that are not optional.

**Kernel files.** The number of files in `tests/ptx` that use the form and check its results. Each file runs on every
engine. A test compares the files with this table: every variant and every optional word must occur in at least one file.
Files in which every run must end in a fault are not counted, so `trap` has none.

";

const UNSUPPORTED: &str = "
## Not supported

Raddle knows these instructions and refuses them by name. The table has the version that introduced each.

| instruction | PTX | what it is |
| --- | --- | --- |
";

const TIMES: &str = "
## Units and times

For each operation on the preset `gtx480`: its unit, its latency, and the cycles before the unit accepts the next operation.
The keys are under `sm.latency`. The time of memory operations is described under [memory](../timing-model.md#memory).

| operations | integers | half precision | single precision | double precision |
| --- | --- | --- | --- | --- |
";

const LISTS: &str = "
## Lists of words

| list | words |
| --- | --- |
";

/// The whole page.
pub fn page() -> Result<String> {
    let coverage = Coverage::of_folder(&root().join("tests/ptx"))?;
    let mut text = INTRODUCTION.to_owned();
    let variants: usize = forms().iter().map(variant_count).sum();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{} forms, {variants} variants, {} kernel files.", forms().len(), coverage.files);
    let mut section = "";
    for form in forms() {
        if form.section != section {
            section = form.section;
            let _ = writeln!(
                text,
                "\n## {section}\n\n| form | PTX | target | variants | kernel files |\n| --- | --- | --- | --: | --: |"
            );
        }
        let _ = writeln!(text, "| {} | {} |", render(form), columns(form, coverage.of(form.id).files));
    }
    text += TIMES;
    times(&mut text)?;
    text += LISTS;
    for (name, words) in lists() {
        let words: Vec<String> = words.iter().map(|w| format!("`.{}`", w.as_str())).collect();
        let _ = writeln!(text, "| `.{}` | {} |", name.to_uppercase(), words.join(" "));
    }
    text += UNSUPPORTED;
    for u in unsupported() {
        let _ = writeln!(text, "| `{}` | {}.{} | {} |", u.opcode, u.since.0, u.since.1, u.what);
    }
    Ok(text)
}

/// A row for each kind of work: its operations, and their unit and time by kind of numbers.
fn times(text: &mut String) -> Result {
    let none: [&str; 0] = [];
    let machine = Machine::load(Source::Preset("gtx480"), &none).map_err(|problems| format!("{problems:?}"))?;
    let sm = &machine.config.sm;
    for work in Work::ALL.into_iter().filter(|work| ![Work::Unsupported, Work::Matrix].contains(work)) {
        let executed = |opcode: &&Opcode| forms().iter().any(|form| form.opcode == **opcode);
        let opcodes = Opcode::ALL.iter().filter(|opcode| op_timing::work(**opcode) == work).filter(executed);
        let opcodes: Vec<String> = opcodes.map(|opcode| format!("`{opcode}`")).collect();
        let cells = Numbers::ALL.map(|numbers| {
            let OpTiming { latency, interval } = op_timing::timing(&sm.latency, work, numbers);
            let exists = match work {
                Work::Mul24 | Work::Mad24 => numbers == Numbers::Int,
                Work::Transcendental | Work::Fma => numbers != Numbers::Int,
                _ => true,
            };
            match op_timing::unit(sm, work, numbers) {
                _ if !exists => "-".to_owned(),
                UnitKind::Mem => "load-store unit".to_owned(),
                UnitKind::Sp => format!("SP, {latency}, {interval}"),
                UnitKind::Sfu => format!("SFU, {latency}, {interval}"),
                UnitKind::Tensor => format!("tensor core, {latency}, {interval}"),
                UnitKind::Dp => format!("DP, {latency}, {interval}"),
                UnitKind::Int => format!("INT, {latency}, {interval}"),
            }
        });
        let _ = writeln!(text, "| {} | {} |", opcodes.join(" "), cells.join(" | "));
    }
    Ok(())
}

fn variant_count(form: &Form) -> usize {
    form.slots.iter().filter(|s| !s.optional).map(|s| s.words.len()).product()
}

fn columns(form: &Form, files: usize) -> String {
    let (major, minor) = form.since;
    let since = if form.since == (1, 0) { "any".to_owned() } else { format!("{major}.{minor}") };
    let target = if form.target == 10 { "any".to_owned() } else { format!("sm_{}", form.target) };
    format!("{since} | {target} | {} | {files}", variant_count(form))
}

/// The lists of words that forms refer to by name.
fn lists() -> BTreeMap<&'static str, &'static [Word]> {
    let slots = forms().iter().flat_map(|f| &f.slots);
    slots.filter_map(|s| s.list.map(|name| (name, s.words.as_slice()))).collect()
}

/// A form as code in a table cell, in which `|` is written `\|`.
fn render(form: &Form) -> String {
    let words: String = form.slots.iter().map(slot).collect();
    let mut operands = String::new();
    let mut sources = ["a", "b", "c", "e", "f"].into_iter();
    for spec in &form.operands {
        let name = operand(spec, &mut sources);
        operands += &match (operands.is_empty(), spec.optional) {
            (true, _) => format!(" {name}"),
            (false, true) => format!("{{, {name}}}"),
            (false, false) => format!(", {name}"),
        };
    }
    format!("`{}{words}{operands}`", form.opcode).replace('|', "\\|")
}

fn slot(slot: &Slot) -> String {
    let text = match (slot.list, slot.words.as_slice()) {
        (Some(list), _) => format!(".{}", list.to_uppercase()),
        (None, [one]) => format!(".{}", one.as_str()),
        (None, words) => {
            let words: Vec<&str> = words.iter().map(|w| w.as_str()).collect();
            format!(".({})", words.join("|"))
        }
    };
    if slot.optional { format!("{{{text}}}") } else { text }
}

fn operand(spec: &OperandSpec, sources: &mut impl Iterator<Item = &'static str>) -> String {
    let predicate = spec.ty == Some(TypeRef::Fixed(Type::Pred));
    let name = match spec.shape {
        Shape::Texture => return "[texture]".to_owned(),
        Shape::Label => return "label".to_owned(),
        Shape::Table => return "labels".to_owned(),
        Shape::Call => return "{(results),} function{, (arguments)}{, prototype}".to_owned(),
        Shape::Constant => return "constant".to_owned(),
        _ if predicate && spec.written => "p",
        _ if predicate => "r",
        _ if spec.written => "d",
        _ => sources.next().unwrap_or("x"),
    };
    let name = match (spec.shape, spec.ty) {
        (Shape::Memory, _) => format!("[{name}]"),
        (_, Some(TypeRef::Fixed(ty))) if !predicate => format!("{name}:{}", ty.name()),
        (_, Some(TypeRef::Wide)) => format!("{name}:wide"),
        (_, Some(TypeRef::AddressSized)) => format!("{name}:address"),
        _ if spec.negatable => format!("!{name}"),
        _ => name.to_owned(),
    };
    match spec.second {
        Some(true) => name + "|q",
        Some(false) => name + "[|q]",
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The form of the table that starts so.
    #[track_caller]
    fn expect(start: &str, rendered: &str) {
        let form = forms().iter().find(|f| f.text.starts_with(start)).unwrap();
        assert_eq!(render(form), format!("`{rendered}`"));
    }

    #[test]
    fn forms_read_like_ptx() {
        expect("add ?.$rnd ?.ftz", r"add{.RND}{.ftz}{.sat}.f32 d, a, b");
        expect("mad .wide", r"mad.wide.(u16\|u32\|s16\|s32) d:wide, a, b, c:wide");
        expect("setp .$fcmp .$bool ?.ftz .f32", r"setp.FCMP.BOOL{.ftz}.f32 p[\|q], a, b, !r");
        expect("bar ?.cta .red .popc", r"bar{.cta}.red.popc.u32 d, a:u32{, b:u32}, !r");
        expect("st .volatile", r"st.volatile{.STSS}{.VEC}.MEM [a], b");
        expect("exit", "exit");
    }
}
