//! Lanes to the sectors of global memory.

use super::{BETWEEN, BOX, LEFT, Lanes, TOP, head, legend, outline, small};
use crate::drawing::{Anchor, Drawing, Ink, Shape, Text};
use crate::font::Font;
use crate::label::Label;
use raddle_runtime::access_record::{Access, Request};
use raddle_runtime::numbers::count;
use std::collections::BTreeMap;

/// Width of all segments.
const WIDTH: f64 = 32.0 * BOX;
/// Between segments that follow one another in memory, and between others.
const GAPS: (f64, f64) = (2.0, 8.0);
/// Height of a sector.
const SECTOR: f64 = 26.0;

/// The drawing of an access to global memory. A machine has warps of `width` lanes, sectors and lines of so many bytes.
#[must_use]
pub fn coalescing(access: &Access, label: &Label, width: u32, [sector, line]: [u32; 2]) -> Drawing {
    let lanes = Lanes::new(access.global.iter().map(|(lane, _)| *lane), width);
    let memory = Memory::new(access, u64::from(sector.max(1)), u64::from(line.max(sector).max(1)));
    let mut shapes = Vec::new();
    head(label, access.pc, &figures(access, sector), &mut shapes);
    let request = |lane: u8| access.requests.iter().position(|request| request.lanes >> lane & 1 != 0);
    for (lane, address) in &access.global {
        let ink = Ink::Bar(request(*lane).unwrap_or(0) % Ink::COLOURS);
        let from = [lanes.x(*lane) + BOX / 2.0, TOP + BOX];
        let to = [memory.x(*address + u64::from(access.lane_bytes) / 2), memory.top];
        shapes.push(Shape::Line { from, to, ink, is_dashed: false });
    }
    let hover = |lane: u8| {
        let address = access.global.iter().find(|(one, _)| *one == lane)?.1;
        let ink = Ink::Bar(request(lane)? % Ink::COLOURS);
        Some((ink, format!("lane {}: {} bytes from {address:#x}", lane - lanes.first, access.lane_bytes)))
    };
    lanes.draw(hover, &mut shapes);
    memory.draw(access, &mut shapes);
    let y = memory.top + SECTOR + 44.0;
    let entries = [
        (Some((Ink::Bar(0), false)), "sector that lanes use"),
        (Some((Ink::Bar(0), true)), "comes along, unused"),
        (None, "not asked for"),
    ];
    legend(&entries, y, &mut shapes);
    let colours = "a colour for each request; lines of memory by their first address".to_owned();
    shapes.push(small(LEFT, y + 30.0, colours, Anchor::Start, Ink::Soft));
    let title = "What the lanes of a warp ask of global memory".to_owned();
    Drawing { width: LEFT + WIDTH + 30.0, height: y + 44.0, title, shapes }
}

/// What the access comes to.
fn figures(access: &Access, sector: u32) -> Vec<String> {
    let Access { sectors, least_sectors, .. } = access;
    let asked = count((*sectors).into(), "sector");
    vec![format!(
        "{} of {} bytes each: {}, {asked} of {sector} bytes where {least_sectors} would do",
        count(access.global.len(), "lane"),
        access.lane_bytes,
        count(access.requests.len(), "request"),
    )]
}

/// The lines of memory that are asked for, and where they are in the picture.
struct Memory {
    sector: u64,
    line: u64,
    top: f64,
    /// Width of a byte.
    scale: f64,
    /// The left of each line, by its address.
    lines: BTreeMap<u64, f64>,
}

impl Memory {
    fn new(access: &Access, sector: u64, line: u64) -> Self {
        let mut lines = BTreeMap::new();
        let asked = access.requests.iter().map(|r| (r.address, u64::from(r.bytes)));
        let wanted = access.global.iter().map(|(_, address)| (*address, u64::from(access.lane_bytes)));
        for (address, bytes) in asked.chain(wanted) {
            let mut at = address / line * line;
            while at < address + bytes.max(1) {
                lines.insert(at, 0.0);
                at += line;
            }
        }
        let addresses: Vec<u64> = lines.keys().copied().collect();
        let gap = |pair: &[u64]| if pair[1] == pair[0] + line { GAPS.0 } else { GAPS.1 };
        let gaps: Vec<f64> = addresses.windows(2).map(gap).collect();
        let bytes = line as f64 * lines.len().max(1) as f64;
        let scale = ((WIDTH - gaps.iter().sum::<f64>()) / bytes).min(WIDTH / 128.0);
        let mut x = LEFT;
        for (n, left) in lines.values_mut().enumerate() {
            *left = x;
            x += line as f64 * scale + gaps.get(n).copied().unwrap_or(0.0);
        }
        Self { sector, line, top: TOP + BOX + BETWEEN, scale, lines }
    }

    fn x(&self, address: u64) -> f64 {
        let base = address / self.line * self.line;
        let left = self.lines.get(&base).copied().unwrap_or(LEFT);
        left + (address - base) as f64 * self.scale
    }

    fn draw(&self, access: &Access, shapes: &mut Vec<Shape>) {
        let (font, mut free) = (Font::new(false), 0.0);
        shapes.push(small(LEFT - 8.0, self.top + 17.0, "sectors".to_owned(), Anchor::End, Ink::Soft));
        for (base, left) in &self.lines {
            for at in (*base..base + self.line).step_by(self.sector as usize) {
                let place = [self.x(at), self.top, self.sector as f64 * self.scale, SECTOR];
                if let Some((n, request)) = self.asked(access, at) {
                    let is_pale = !self.used(access, request, at);
                    let hover = format!("sector {at:#x}, request {} of {} bytes", n + 1, request.bytes);
                    shapes.push(Shape::Rect { place, ink: Ink::Bar(n % Ink::COLOURS), is_pale, hover });
                }
                outline(place, shapes);
            }
            // Addresses where there is room for them.
            let text = format!("{base:#x}");
            let width = font.width(&text, Text::SMALL);
            if *left >= free && left + width <= LEFT + WIDTH + 24.0 {
                free = left + width + 10.0;
                shapes.push(Shape::Line {
                    from: [*left, self.top + SECTOR],
                    to: [*left, self.top + SECTOR + 5.0],
                    ink: Ink::Soft,
                    is_dashed: false,
                });
                shapes.push(small(*left, self.top + SECTOR + 18.0, text, Anchor::Start, Ink::Soft));
            }
        }
    }

    /// The first request for a sector.
    fn asked<'a>(&self, access: &'a Access, at: u64) -> Option<(usize, &'a Request)> {
        let mut requests = access.requests.iter().enumerate();
        requests.find(|(_, r)| r.address < at + self.sector && at < r.address + u64::from(r.bytes))
    }

    /// Whether a lane that a request is for uses a sector.
    fn used(&self, access: &Access, request: &Request, at: u64) -> bool {
        let bytes = u64::from(access.lane_bytes);
        let mut lanes = access.global.iter().filter(|(lane, _)| request.lanes >> lane & 1 != 0);
        lanes.any(|(_, address)| *address < at + self.sector && at < address + bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accesses::tests::{assert_apart, texts};

    /// Lanes that are so many bytes apart, one request for each line.
    pub(crate) fn access(stride: u64) -> Access {
        let global: Vec<(u8, u64)> = (0..32).map(|lane| (lane, 0x1000_0000 + stride * u64::from(lane))).collect();
        let mut requests: BTreeMap<u64, Request> = BTreeMap::new();
        for (lane, address) in &global {
            let base = address / 128 * 128;
            let new = Request { address: base, bytes: if stride > 64 { 32 } else { 128 }, lanes: 0 };
            requests.entry(base).or_insert(new).lanes |= 1 << lane;
        }
        let requests: Vec<Request> = requests.into_values().collect();
        let sectors = requests.iter().map(|r| r.bytes as u16 / 32).sum();
        Access { lane_bytes: 4, sectors, least_sectors: 4, global, requests, ..Access::default() }
    }

    fn draw(stride: u64) -> Drawing {
        let label = Label { ptx: "ld.global.f32 %f1, [%rd4];".to_owned(), line: Some("7: y[i] = x[i];".to_owned()) };
        coalescing(&access(stride), &label, 32, [32, 128])
    }

    #[test]
    fn sectors_are_those_of_the_requests() {
        for (stride, requests, full, pale, text) in [
            (4, 1, 4, 0, "32 lanes of 4 bytes each: 1 request, 4 sectors of 32 bytes where 4 would do"),
            (64, 16, 32, 32, "32 lanes of 4 bytes each: 16 requests, 64 sectors of 32 bytes where 4 would do"),
            (4096, 32, 32, 0, "32 lanes of 4 bytes each: 32 requests, 32 sectors of 32 bytes where 4 would do"),
        ] {
            let drawing = draw(stride);
            assert!(texts(&drawing).contains(&text), "{:?}", texts(&drawing));
            let sectors = |pale| {
                let is = |shape: &&Shape| matches!(shape, Shape::Rect { is_pale, hover, .. } if hover.starts_with("sector") && *is_pale == pale);
                drawing.shapes.iter().filter(is).count()
            };
            assert_eq!((sectors(false), sectors(true)), (full, pale), "{stride}");
            let inks: std::collections::BTreeSet<usize> = drawing
                .shapes
                .iter()
                .filter_map(|shape| match shape {
                    Shape::Line { ink: Ink::Bar(n), .. } => Some(*n),
                    _ => None,
                })
                .collect();
            assert_eq!(inks.len(), requests.min(Ink::COLOURS));
        }
    }

    #[test]
    fn nothing_is_over_anything_else() {
        for stride in [0, 4, 8, 12, 32, 64, 128, 132, 4096, 1 << 30] {
            assert_apart(&draw(stride));
        }
    }
}
