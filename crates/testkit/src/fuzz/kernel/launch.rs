//! Other shapes of the launch, and other contents of its buffers.

use super::{Draft, operand};
use crate::rng::Rng;
use raddle_ptx::isa::Type;

const GRIDS: &[&str] = &["1", "2", "3", "5", "2,2", "1,1,2"];
const BLOCKS: &[&str] = &[
    "1", "2", "3", "4", "5", "8", "9", "16", "17", "31", "32", "33", "48", "63", "64", "65", "96", "128", "8,4",
    "4,4,4", "16,3", "5,3,2", "1,33",
];
const SHARED: &[&str] = &["0", "1", "4", "16", "128", "1024", "4096"];

/// Elements of a buffer at most.
const MAX_ELEMENTS: u32 = 2048;

/// Another grid, block or size of shared memory.
pub(super) fn shape(draft: &Draft, rng: &mut Rng) -> Option<String> {
    let (key, choices) = *rng.pick(&[("grid", GRIDS), ("block", BLOCKS), ("block", BLOCKS), ("shared", SHARED)]);
    let value = *rng.pick(choices);
    change_line(draft, rng, "// run:", |line, _| {
        let others = line.split(' ').filter(|word| !word.starts_with(&format!("{key}=")));
        Some(format!("{} {key}={value}", others.collect::<Vec<_>>().join(" ")))
    })
}

/// Another number of elements.
pub(super) fn buffer_size(draft: &Draft, rng: &mut Rng) -> Option<String> {
    change_line(draft, rng, "// arg:", |line, rng| {
        let (name, rest) = line.split_once('[')?;
        let (count, rest) = rest.split_once(']')?;
        let (_, values) = rest.split_once('=')?;
        let count: u32 = count.parse().ok()?;
        let count = match rng.below(4) {
            0 => 1,
            1 => count.saturating_sub(1).max(1),
            2 => count + 1,
            _ => rng.between(1, 2 * count),
        };
        let count = count.min(MAX_ELEMENTS);
        let values: Vec<&str> = values.split_whitespace().collect();
        let is_list = !matches!(values.first(), Some(&("zero" | "iota" | "fill")));
        let values = if is_list { &values[..values.len().min(count as usize)] } else { &values };
        Some(format!("{name}[{count}] = {}", values.join(" ")))
    })
}

/// Another value in a buffer, or other contents of all of it.
pub(super) fn value(draft: &Draft, rng: &mut Rng) -> Option<String> {
    change_line(draft, rng, "// arg:", |line, rng| {
        let (head, values) = line.split_once('=')?;
        let mut words = head.split_whitespace();
        let shape = words.next_back()?;
        let ty = Type::from_name(shape.split('[').next()?)?;
        let mut values: Vec<String> = values.split_whitespace().map(str::to_owned).collect();
        let new = operand::special(rng, ty);
        if shape.contains('[') && rng.one_in(3) {
            let all = [format!("fill {new}"), "iota".to_owned(), "zero".to_owned()];
            return Some(format!("{head}= {}", rng.pick(&all)));
        }
        if values.is_empty() || values[0] == "zero" || values[0] == "iota" {
            values = vec![new];
        } else {
            let at = rng.below(values.len() as u32) as usize;
            values[at] = new;
        }
        Some(format!("{head}= {}", values.join(" ")))
    })
}

/// Changes one of the lines that start with `start`.
fn change_line(
    draft: &Draft,
    rng: &mut Rng,
    start: &str,
    change: impl FnOnce(&str, &mut Rng) -> Option<String>,
) -> Option<String> {
    let mut lines: Vec<&str> = draft.text.lines().collect();
    let places: Vec<usize> = (0..lines.len()).filter(|n| lines[*n].starts_with(start)).collect();
    if places.is_empty() {
        return None;
    }
    let place = *rng.pick(&places);
    let line = change(lines[place], rng)?;
    lines[place] = &line;
    Some(lines.join("\n") + "\n")
}
