//! Instructions of the table: random words, as text.

use crate::rng::Rng;
use raddle_ptx::isa::{Form, Opcode, Word, forms_of};

/// Random words of a random form of an opcode.
pub(super) fn random(opcode: Opcode, rng: &mut Rng) -> Vec<Word> {
    let all: Vec<&Form> = forms_of(opcode).collect();
    let form = all[rng.below(all.len() as u32) as usize];
    of_form(form, rng)
}

/// Random words of a form.
pub(super) fn of_form(form: &Form, rng: &mut Rng) -> Vec<Word> {
    let mut words = Vec::new();
    for slot in &form.slots {
        if !slot.optional || rng.one_in(2) {
            words.push(*rng.pick(&slot.words));
        }
    }
    words
}

/// An opcode with words.
pub(super) fn mnemonic(opcode: Opcode, words: &[Word]) -> String {
    words.iter().fold(opcode.as_str().to_owned(), |text, word| text + "." + word.as_str())
}

/// The bytes that a word such as `b32` says.
pub(super) fn bytes(words: &[Word]) -> u32 {
    let size = |w: &Word| match w {
        Word::B8 => Some(1),
        Word::B16 => Some(2),
        Word::B32 => Some(4),
        Word::B64 => Some(8),
        _ => None,
    };
    words.iter().find_map(size).unwrap_or(4)
}
