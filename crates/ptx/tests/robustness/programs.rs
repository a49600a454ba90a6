//! Random valid programs: instructions from the table with registers of the types it asks for, and jumps between them.

use crate::exercise::exercise;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use raddle_ptx::isa::{Form, Shape, Type, TypeRef, Word, forms};
use raddle_ptx::load;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Numbers that decide about one instruction.
type Choice = (usize, Vec<usize>, u8, usize);

/// The forms whose operands are all plain values.
fn plain_forms() -> Vec<&'static Form> {
    let plain = |f: &&Form| {
        !f.operands.is_empty() && f.operands.iter().all(|o| o.shape == Shape::Value && o.second != Some(true))
    };
    forms().iter().filter(plain).collect()
}

/// An instruction of `form`; `picks` choose words and registers, `types` learns which types it needs.
fn instruction(form: &Form, picks: &[usize], types: &mut BTreeSet<Type>) -> String {
    let mut picks = picks.iter().copied().cycle();
    let mut pick = move |bound: usize| picks.next().unwrap_or(0) % bound;
    let required = form.slots.iter().filter(|s| !s.optional);
    let words: Vec<Word> = required.map(|s| s.words[pick(s.words.len())]).collect();
    let nth = |n: u8| words.iter().filter_map(|w| Type::from_word(*w)).nth(usize::from(n)).unwrap_or(Type::B32);
    let mut text = words.iter().fold(form.opcode.to_string(), |text, w| text + "." + w.as_str());
    for (i, operand) in form.operands.iter().filter(|o| !o.optional).enumerate() {
        let ty = match operand.ty {
            Some(TypeRef::Nth(n)) => nth(n),
            Some(TypeRef::Wide) => nth(0).wide().unwrap_or(Type::B64),
            Some(TypeRef::Fixed(ty)) => ty,
            Some(TypeRef::AddressSized) => Type::B64,
            None => nth(0),
        };
        types.insert(ty);
        let comma = if i == 0 { " " } else { ", " };
        write!(text, "{comma}%{}_{}", ty.word().as_str(), pick(4)).expect("a string grows");
    }
    text + ";"
}

fn program(choices: &[Choice]) -> String {
    let forms = plain_forms();
    let mut types = BTreeSet::from([Type::Pred]);
    let mut body = String::new();
    for (i, (form, picks, guard, target)) in choices.iter().enumerate() {
        let target = target % choices.len();
        let guard = match guard % 8 {
            0 => "@%pred_0 ",
            1 => "@!%pred_1 ",
            _ => "",
        };
        let text = match picks[0] % 8 {
            0 => format!("bra L{target};"),
            1 if !guard.is_empty() => "exit;".to_owned(),
            _ => instruction(forms[form % forms.len()], picks, &mut types),
        };
        writeln!(body, "L{i}: {guard}{text}").expect("a string grows");
    }
    let mut text = ".version 8.5\n.target sm_90\n.address_size 64\n.entry k()\n{\n".to_owned();
    for ty in types {
        writeln!(text, ".reg {ty} %{}_<4>;", ty.word().as_str()).expect("a string grows");
    }
    text + &body + "}\n"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn a_random_program_is_accepted(
        choices in vec((any::<usize>(), vec(any::<usize>(), 8), any::<u8>(), any::<usize>()), 1..40)
    ) {
        let text = program(&choices);
        let (module, diagnostics) = load(&text);
        prop_assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
        prop_assert!(module.functions[0].insts.len() >= choices.len());
        exercise(&text);
    }
}
