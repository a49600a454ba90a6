//! Lanes to the banks of shared memory.

use super::{BETWEEN, BOX, LEFT, Lanes, TOP, head, legend, small};
use crate::drawing::{Anchor, Drawing, Ink, Shape};
use crate::label::Label;
use raddle_runtime::access_record::{Access, Banked};
use raddle_runtime::numbers::count;
use std::collections::BTreeMap;

/// Colours of a word for one lane, of one for several lanes, and of words of a bank that has several to give.
const ONE: Ink = Ink::Bar(2);
const SEVERAL: Ink = Ink::Bar(0);
const CONFLICT: Ink = Ink::Bar(1);
/// Height of a bank's word.
const WORD: f64 = 16.0;

/// The drawing of an access to shared memory, on a machine with warps of `width` lanes and this many banks.
#[must_use]
pub fn banks(access: &Access, label: &Label, width: u32, banks: u32) -> Drawing {
    let lanes = Lanes::new(access.shared.iter().map(|banked| banked.lane), width);
    let banks = Banks::new(access, lanes.first, banks.clamp(1, 64) as u8);
    let mut shapes = Vec::new();
    head(label, access.pc, &banks.figures(access), &mut shapes);
    for banked in &access.shared {
        let from = [lanes.x(banked.lane) + BOX / 2.0, TOP + BOX];
        let to = [banks.x(banked.bank) + banks.width / 2.0, banks.top];
        shapes.push(Shape::Line { from, to, ink: banks.ink(banked), is_dashed: false });
    }
    let hover = |lane: u8| {
        let banked = access.shared.iter().find(|banked| banked.lane == lane)?;
        let Banked { offset, bank, cycle, .. } = banked;
        let text = format!("lane {}: offset {offset}, bank {bank}, cycle {}", lane - lanes.first, cycle + 1);
        Some((banks.ink(banked), text))
    };
    lanes.draw(hover, &mut shapes);
    banks.draw(&mut shapes);
    let y = banks.bottom() + 20.0;
    let entries = [
        (Some((ONE, true)), "word for one lane, by its number"),
        (Some((SEVERAL, true)), "broadcast to several lanes, ×: how many"),
        (Some((CONFLICT, true)), "conflict: the bank has several words to give"),
    ];
    legend(&entries, y, &mut shapes);
    let title = "What the lanes of a warp ask of the banks of shared memory".to_owned();
    Drawing { width: LEFT + 32.0 * BOX + 30.0, height: y + 26.0, title, shapes }
}

/// A word that a bank gives.
struct Word {
    offset: u32,
    /// How many lanes get it, and the first of them.
    lanes: u32,
    lane: u8,
}

/// The banks, with what each gives in which cycle.
struct Banks {
    count: u8,
    cycles: u16,
    width: f64,
    top: f64,
    /// The lanes of a warp begin with this one.
    first: u8,
    /// What banks give, by bank and cycle.
    words: BTreeMap<(u8, u8), Word>,
}

impl Banks {
    fn new(access: &Access, first: u8, count: u8) -> Self {
        let mut words: BTreeMap<(u8, u8), Word> = BTreeMap::new();
        for banked in &access.shared {
            let new = Word { offset: banked.offset / 4 * 4, lanes: 0, lane: banked.lane };
            words.entry((banked.bank, banked.cycle)).or_insert(new).lanes += 1;
        }
        let width = 32.0 * BOX / f64::from(count.max(32));
        Self { count, cycles: access.bank_cycles, width, top: TOP + BOX + BETWEEN, first, words }
    }

    fn x(&self, bank: u8) -> f64 {
        LEFT + self.width * f64::from(bank)
    }

    fn bottom(&self) -> f64 {
        self.top + WORD * f64::from(self.cycles) + 18.0
    }

    /// Words that a bank gives.
    fn words_of(&self, bank: u8) -> usize {
        self.words.range((bank, 0)..=(bank, u8::MAX)).count()
    }

    fn ink(&self, banked: &Banked) -> Ink {
        self.ink_of(banked.bank, self.words.get(&(banked.bank, banked.cycle)).map_or(0, |word| word.lanes))
    }

    fn ink_of(&self, bank: u8, lanes: u32) -> Ink {
        match lanes {
            _ if self.words_of(bank) > 1 => CONFLICT,
            2.. => SEVERAL,
            _ => ONE,
        }
    }

    fn figures(&self, access: &Access) -> Vec<String> {
        let conflicts = (0..self.count).filter(|bank| self.words_of(*bank) > 1).count();
        let broadcasts = self.words.values().filter(|word| word.lanes > 1).count();
        vec![format!(
            "{}: {} of {} banks; {} with a conflict, {} for several lanes",
            count(access.shared.len(), "lane"),
            count(access.bank_cycles.into(), "cycle"),
            self.count,
            count(conflicts, "bank"),
            count(broadcasts, "word"),
        )]
    }

    fn draw(&self, shapes: &mut Vec<Shape>) {
        // Numbers of banks and of cycles, as many as there is room for.
        let every = if self.count > 32 { 2 } else { 1 };
        shapes.push(small(LEFT - 8.0, self.bottom() - 4.0, "banks".to_owned(), Anchor::End, Ink::Soft));
        for bank in 0..self.count {
            let x = self.x(bank);
            for cycle in 0..self.cycles {
                let place = [x, self.top + WORD * f64::from(cycle), self.width, WORD];
                let word = u8::try_from(cycle).ok().and_then(|cycle| self.words.get(&(bank, cycle)));
                if let Some(Word { offset, lanes, lane }) = word {
                    let ink = self.ink_of(bank, *lanes);
                    let hover = format!(
                        "bank {bank}, cycle {}: word at {offset} for {}",
                        cycle + 1,
                        count(*lanes as usize, "lane")
                    );
                    shapes.push(Shape::Rect { place, ink, is_pale: true, hover });
                    if self.count <= 32 {
                        let text = if *lanes > 1 { format!("×{lanes}") } else { (lane - self.first).to_string() };
                        let (x, y) = (x + self.width / 2.0, place[1] + 12.0);
                        shapes.push(small(x, y, text, Anchor::Middle, Ink::Text));
                    }
                }
            }
            if bank % every == 0 {
                let middle = x + self.width / 2.0;
                shapes.push(small(middle, self.bottom() - 4.0, bank.to_string(), Anchor::Middle, Ink::Soft));
            }
        }
        let (right, end) = (self.x(self.count), self.bottom() - 18.0);
        let mut line = |from, to| shapes.push(Shape::Line { from, to, ink: Ink::Grid, is_dashed: false });
        (0..=self.count).for_each(|bank| line([self.x(bank), self.top], [self.x(bank), end]));
        let rows = (0..=self.cycles).map(|cycle| self.top + WORD * f64::from(cycle));
        rows.for_each(|y| line([LEFT, y], [right, y]));
        for cycle in 0..self.cycles {
            let y = self.top + WORD * f64::from(cycle) + 12.0;
            shapes.push(small(LEFT - 8.0, y, format!("cycle {}", cycle + 1), Anchor::End, Ink::Soft));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accesses::tests::{assert_apart, texts};

    /// Lanes that are so many words apart.
    fn draw(stride: u32, count: u32) -> Drawing {
        let mut words: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut shared = Vec::new();
        for lane in 0..32 {
            let word = stride * lane;
            let given = words.entry(word % count).or_default();
            let cycle = given.iter().position(|one| *one == word).unwrap_or_else(|| {
                given.push(word);
                given.len() - 1
            });
            shared.push(Banked { lane: lane as u8, offset: word * 4, bank: (word % count) as u8, cycle: cycle as u8 });
        }
        let bank_cycles = words.values().map(Vec::len).max().unwrap_or(1) as u16;
        let access = Access { lane_bytes: 4, bank_cycles, shared, ..Access::default() };
        banks(&access, &Label { ptx: "ld.shared.f32 %f1, [%r1];".to_owned(), line: None }, 32, count)
    }

    #[test]
    fn words_of_a_bank_take_a_cycle_each() {
        for (stride, text, of_ink) in [
            (1, "32 lanes: 1 cycle of 32 banks; 0 banks with a conflict, 0 words for several lanes", [32, 0, 0]),
            (0, "32 lanes: 1 cycle of 32 banks; 0 banks with a conflict, 1 word for several lanes", [0, 1, 0]),
            (8, "32 lanes: 8 cycles of 32 banks; 4 banks with a conflict, 0 words for several lanes", [0, 0, 32]),
            (33, "32 lanes: 1 cycle of 32 banks; 0 banks with a conflict, 0 words for several lanes", [32, 0, 0]),
        ] {
            let drawing = draw(stride, 32);
            assert!(texts(&drawing).contains(&text), "{:?}", texts(&drawing));
            let words = [ONE, SEVERAL, CONFLICT].map(|wanted| {
                let is = |shape: &&Shape| matches!(shape, Shape::Rect { ink, hover, .. } if hover.starts_with("bank") && *ink == wanted);
                drawing.shapes.iter().filter(is).count()
            });
            assert_eq!(words, of_ink, "{stride}");
        }
        assert!(texts(&draw(0, 32)).contains(&"×32"), "the lanes of a broadcast");
    }

    #[test]
    fn nothing_is_over_anything_else() {
        for (stride, count) in [(0, 32), (1, 32), (2, 32), (32, 32), (3, 16), (1, 64), (64, 64)] {
            assert_apart(&draw(stride, count));
        }
    }
}
