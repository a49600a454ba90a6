//! Phases of blocks as a drawing: a line for each warp, with time to the right.

use crate::drawing::{Anchor, Drawing, Ink, Shape, Text};
use crate::font::{Font, WIDER};
use crate::label::Label;
use raddle_runtime::measure::{BlockRecord, Phase, rtru};
use raddle_runtime::numbers::{grouped, percent};
use raddle_sim::packet::Cycle;
use std::collections::BTreeMap;

/// Width of the stretch of time.
const WIDTH: f64 = 900.0;
/// Room for the names of warps.
const LEFT: f64 = 62.0;
/// Height of a warp's line, and of the bar on it.
const LINE: f64 = 15.0;
const BAR: f64 = 12.0;
/// Room above the lines of a block: its name, and the names of phases.
const HEAD: f64 = 42.0;
/// Room between blocks.
const GAP: f64 = 18.0;
/// Room for the legend above all.
const TOP: f64 = 34.0;
/// The colour of warps that have ended.
const ENDED: Ink = Ink::Bar(Ink::BARS - 1);

/// The drawing of these blocks, one below the other; `labels` has what is known of operations.
#[must_use]
pub fn drawing(blocks: &[&BlockRecord], labels: &BTreeMap<u32, Label>) -> Drawing {
    let start = blocks.iter().map(|b| b.start).min().unwrap_or(0);
    let end = blocks.iter().map(|b| last(b)).max().unwrap_or(0).max(start + 1);
    let mut canvas = Canvas { start, scale: WIDTH / (end - start) as f64, labels, shapes: Vec::new() };
    canvas.legend();
    let mut y = TOP;
    for block in blocks {
        y = canvas.block(block, y) + GAP;
    }
    let bottom = y - GAP + 6.0;
    canvas.axis(end, bottom);
    let title = "Phases of the warps of a block, from barrier to barrier".to_owned();
    Drawing { width: LEFT + WIDTH + 30.0, height: bottom + 40.0, title, shapes: canvas.shapes }
}

/// When the last thing known of a block happened.
fn last(block: &BlockRecord) -> Cycle {
    let known = block.warps.iter().flat_map(|w| {
        let waits = w.waits.iter().flat_map(|wait| [Some(wait.arrive), wait.leave]);
        waits.chain([Some(w.start), w.exit])
    });
    known.flatten().chain(block.end).max().unwrap_or(block.start)
}

struct Canvas<'l> {
    start: Cycle,
    /// Width of a cycle.
    scale: f64,
    labels: &'l BTreeMap<u32, Label>,
    shapes: Vec<Shape>,
}

impl Canvas<'_> {
    fn x(&self, at: Cycle) -> f64 {
        LEFT + (at - self.start) as f64 * self.scale
    }

    fn text(&mut self, x: f64, y: f64, text: String, anchor: Anchor, ink: Ink, is_bold: bool) {
        let text = Text { is_bold, ..Text::small(x, y, text, anchor, ink) };
        self.shapes.push(Shape::Text(text));
    }

    fn line(&mut self, from: [f64; 2], to: [f64; 2], ink: Ink) {
        self.shapes.push(Shape::Line { from, to, ink, is_dashed: false });
    }

    fn bar(&mut self, [from, to]: [Cycle; 2], y: f64, ink: Ink, is_pale: bool, hover: String) {
        if to > from {
            let place = [self.x(from), y, (to - from) as f64 * self.scale, BAR];
            let hover = format!("{hover}, cycles {} to {}", grouped(from), grouped(to));
            self.shapes.push(Shape::Rect { place, ink, is_pale, hover });
        }
    }

    fn legend(&mut self) {
        let font = Font::new(false);
        let mut x = LEFT;
        for (ink, is_pale, name) in [
            (Ink::Bar(0), false, "runs (a colour for each phase)"),
            (Ink::Bar(0), true, "waits at a barrier"),
            (ENDED, true, "has ended, its block has not"),
        ] {
            self.shapes.push(Shape::Rect { place: [x, 10.0, 18.0, BAR], ink, is_pale, hover: String::new() });
            self.text(x + 24.0, 20.0, name.to_owned(), Anchor::Start, Ink::Text, false);
            x += 24.0 + font.width(name, Text::SMALL) * WIDER + 22.0;
        }
        self.line([x, 8.0], [x, 24.0], Ink::Text);
        self.text(x + 8.0, 20.0, "a barrier opens".to_owned(), Anchor::Start, Ink::Text, false);
    }

    /// Draws a block below `y`; says where it ends.
    fn block(&mut self, block: &BlockRecord, y: f64) -> f64 {
        let phases = block.phases();
        let shares: Vec<f64> = phases.iter().map(|phase| rtru(&phase.times)).collect();
        let mean = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        let share = percent(mean);
        let name =
            format!("Block {} on SM {}: warps wait for {share} of a phase on average (RTRU)", block.cta, block.sm);
        self.text(LEFT, y + 14.0, name, Anchor::Start, Ink::Text, true);
        let lines = if self.source_lines(block, &phases, y + HEAD) { Text::SMALL + 3.0 } else { 0.0 };
        let top = y + HEAD + lines;
        let bottom = top + LINE * block.warps.len() as f64;
        self.phase_names(block, &phases, &shares, y + HEAD);
        let until = last(block);
        for (n, warp) in block.warps.iter().enumerate() {
            let y = top + LINE * n as f64;
            self.text(LEFT - 8.0, y + 10.0, format!("warp {n}"), Anchor::End, Ink::Soft, false);
            let y = y + (LINE - BAR) / 2.0;
            let of = |at: Cycle| phases.iter().position(|phase| at < phase.end).unwrap_or(phases.len());
            let mut from = warp.start;
            for wait in &warp.waits {
                // A warp that only announces its arrival goes on.
                let leave = match wait.leave {
                    Some(leave) => leave,
                    None if warp.exit.is_some() => continue,
                    None => until,
                };
                let phase = of(from);
                let ink = Ink::Bar(phase % Ink::COLOURS);
                self.bar([from, wait.arrive], y, ink, false, format!("warp {n}, phase {phase}"));
                let place = self.labels.get(&wait.pc).and_then(|label| label.line.as_ref());
                let place = place.map_or(String::new(), |line| format!(" ({line})"));
                let hover = format!("warp {n} waits at barrier {}{place}", wait.number);
                self.bar([wait.arrive, leave], y, ink, true, hover);
                from = leave;
            }
            let phase = of(from);
            let exit = warp.exit.unwrap_or(until);
            self.bar([from, exit], y, Ink::Bar(phase % Ink::COLOURS), false, format!("warp {n}, phase {phase}"));
            self.bar([exit, until], y, ENDED, true, format!("warp {n} has ended"));
        }
        let ends = phases.iter().map(|phase| phase.end).filter(|end| Some(*end) != block.end);
        for x in ends.map(|end| self.x(end)).collect::<Vec<_>>() {
            self.line([x, top - 3.0], [x, bottom], Ink::Text);
        }
        bottom
    }

    /// Numbers of phases with their RTRU, where there is room.
    fn phase_names(&mut self, block: &BlockRecord, phases: &[Phase], shares: &[f64], top: f64) {
        let mut from = block.start;
        for (n, (phase, share)) in phases.iter().zip(shares).enumerate() {
            let room = (phase.end - from) as f64 * self.scale;
            let middle = self.x(from) + room / 2.0;
            let name = match room {
                room if room > 100.0 => format!("phase {n}: {}", percent(*share)),
                room if room > 58.0 => format!("{n}: {}", percent(*share)),
                room if room > 14.0 => n.to_string(),
                _ => String::new(),
            };
            if !name.is_empty() {
                self.text(middle, top - 8.0, name, Anchor::Middle, Ink::Soft, false);
            }
            from = phase.end;
        }
    }

    /// The source lines of barriers above the lines they end phases with, where there is room; whether there are any.
    fn source_lines(&mut self, block: &BlockRecord, phases: &[Phase], y: f64) -> bool {
        let (font, mut free, mut any) = (Font::new(false), LEFT - 40.0, false);
        for phase in phases {
            let mut waits = block.warps.iter().flat_map(|warp| &warp.waits);
            let Some(wait) = waits.find(|wait| wait.leave == Some(phase.end)) else { continue };
            let Some(line) = self.labels.get(&wait.pc).and_then(Label::line_number) else { continue };
            let (text, x) = (format!("line {line}"), self.x(phase.end));
            let half = font.width(&text, Text::SMALL) / 2.0;
            any = true;
            if x - half > free {
                free = x + half + 6.0;
                self.text(x, y + 4.0, text, Anchor::Middle, Ink::Soft, false);
            }
        }
        any
    }

    fn axis(&mut self, end: Cycle, y: f64) {
        let (left, right) = (self.x(self.start), self.x(end));
        self.line([left, y], [right, y], Ink::Grid);
        let powers = (0..18).map(|n| 10_u64.pow(n));
        let mut steps = powers.flat_map(|power| [1, 2, 5].map(|m| m * power));
        let step = steps.find(|step| (end - self.start) / step <= 10).unwrap_or(1);
        let mut at = self.start.next_multiple_of(step);
        while at <= end {
            let x = self.x(at);
            self.line([x, y], [x, y + 5.0], Ink::Text);
            self.text(x, y + 18.0, grouped(at), Anchor::Middle, Ink::Soft, false);
            at += step;
        }
        self.text(LEFT - 8.0, y + 18.0, "cycle".to_owned(), Anchor::End, Ink::Soft, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_runtime::measure::{Wait, WarpRecord};

    fn warp(arrive: Cycle, exit: Cycle) -> WarpRecord {
        let waits = vec![Wait { number: 0, pc: 5, arrive, leave: Some(140) }];
        WarpRecord { start: 100, exit: Some(exit), waits, ..WarpRecord::default() }
    }

    #[test]
    fn a_warp_is_a_line_of_running_and_waiting() {
        let warps = vec![warp(110, 180), warp(120, 190), warp(130, 200), warp(140, 180)];
        let block = BlockRecord { cta: 3, sm: 1, start: 100, end: Some(200), warps };
        let labels = BTreeMap::from([(5, Label { ptx: String::new(), line: Some("9: __syncthreads();".to_owned()) })]);
        let drawing = drawing(&[&block], &labels);
        let bars = drawing.shapes.iter().filter_map(|shape| match shape {
            Shape::Rect { ink, is_pale, hover, .. } if !hover.is_empty() => Some((*ink, *is_pale, hover.as_str())),
            _ => None,
        });
        let bars: Vec<_> = bars.collect();
        let of_first = [
            (Ink::Bar(0), false, "warp 0, phase 0, cycles 100 to 110"),
            (Ink::Bar(0), true, "warp 0 waits at barrier 0 (9: __syncthreads();), cycles 110 to 140"),
            (Ink::Bar(1), false, "warp 0, phase 1, cycles 140 to 180"),
            (ENDED, true, "warp 0 has ended, cycles 180 to 200"),
        ];
        assert_eq!(bars[..4], of_first);
        assert_eq!(bars.len(), 4 + 4 + 3 + 3, "one ends with the block, one does not wait");
        let texts: Vec<&str> = drawing
            .shapes
            .iter()
            .filter_map(|shape| if let Shape::Text(text) = shape { Some(text.text.as_str()) } else { None })
            .collect();
        // RTRU of 10, 20, 30, 40 and of 40, 50, 60, 40.
        for wanted in [
            "Block 3 on SM 1: warps wait for 29.2 % of a phase on average (RTRU)",
            "phase 0: 37.5 %",
            "phase 1: 20.8 %",
            "warp 3",
            "line 9",
            "cycle",
        ] {
            assert!(texts.contains(&wanted), "{wanted} is not in {texts:?}");
        }
    }

    #[test]
    fn a_block_that_has_not_ended_is_drawn_as_far_as_it_came() {
        let waits = vec![Wait { number: 0, pc: 5, arrive: 130, leave: None }];
        let stuck = WarpRecord { start: 100, waits, ..WarpRecord::default() };
        let block = BlockRecord { start: 100, warps: vec![stuck, warp(140, 160)], ..BlockRecord::default() };
        let drawing = drawing(&[&block], &BTreeMap::new());
        let hovers = drawing.shapes.iter().filter_map(|shape| match shape {
            Shape::Rect { hover, .. } => Some(hover.as_str()),
            _ => None,
        });
        assert!(hovers.clone().any(|h| h == "warp 0 waits at barrier 0, cycles 130 to 160"));
    }
}
