//! Circles and boxes in a field, and how deep they are in each other.

use crate::prelude::*;

const BLOCK: usize = 128;
const CELL: i32 = 128;
/// Pairs that a body may have with those after it.
const MOST: usize = 24;
const CIRCLE: i32 = 0;

#[derive(Clone, Copy)]
struct Body {
    x: i32,
    y: i32,
    reach: i32,
    kind: i32,
    cos: f32,
    sin: f32,
    half: [f32; 2],
}

impl Body {
    fn new(rng: &mut Rng, side: i32) -> Self {
        let [x, y] = [(); 2].map(|()| rng.below(side as u64) as i32);
        let kind = i32::from(rng.below(5) >= 2);
        let (sin, cos) = rng.between(0.0, 6.0).sin_cos();
        let half =
            if kind == CIRCLE { [rng.between(10.0, 55.0), 0.0] } else { [(); 2].map(|()| rng.between(8.0, 42.0)) };
        Self { x, y, reach: half[0].hypot(half[1]) as i32 + 1, kind, cos, sin, half }
    }

    /// Where its parts are, seen along a direction from its middle.
    fn reach_along(&self, [x, y]: [f64; 2]) -> f64 {
        let (cos, sin) = (f64::from(self.cos), f64::from(self.sin));
        f64::from(self.half[0]) * (x * cos + y * sin).abs() + f64::from(self.half[1]) * (y * cos - x * sin).abs()
    }

    fn axes(&self) -> [[f64; 2]; 2] {
        let (cos, sin) = (f64::from(self.cos), f64::from(self.sin));
        [[cos, sin], [-sin, cos]]
    }
}

/// How deep, and the way out for the first.
fn contact(a: &Body, b: &Body) -> (f64, [f64; 2]) {
    let by = [f64::from(a.x - b.x), f64::from(a.y - b.y)];
    let radius = |body: &Body| f64::from(body.half[0]);
    match (a.kind == CIRCLE, b.kind == CIRCLE) {
        (true, true) => {
            let far = by[0].hypot(by[1]);
            let depth = (radius(a) + radius(b) - far).max(0.0);
            (depth, by.map(|v| v / far.max(1.0)))
        }
        (true, false) => {
            let axes = b.axes();
            let at = axes.map(|axis| axis[0] * by[0] + axis[1] * by[1]);
            let half = b.half.map(f64::from);
            let mut out = [0, 1].map(|i| at[i] - at[i].clamp(-half[i], half[i]));
            let far = out[0].hypot(out[1]);
            let depth = if far > 0.0 {
                out = out.map(|v| v / far);
                (radius(a) - far).max(0.0)
            } else {
                let left = [0, 1].map(|i| half[i] - at[i].abs());
                let axis = usize::from(left[0] >= left[1]);
                out[axis] = if at[axis] < 0.0 { -1.0 } else { 1.0 };
                left[axis] + radius(a)
            };
            (depth, [0, 1].map(|i| out[0] * axes[0][i] + out[1] * axes[1][i]))
        }
        (false, true) => {
            let (depth, out) = contact(b, a);
            (depth, out.map(|v| -v))
        }
        (false, false) => {
            let axes = [a.axes(), b.axes()].concat();
            let side = axes.into_iter().map(|axis| {
                let apart = by[0] * axis[0] + by[1] * axis[1];
                let depth = a.reach_along(axis) + b.reach_along(axis) - apart.abs();
                (depth.max(0.0), axis.map(|v| if apart < 0.0 { -v } else { v }))
            });
            side.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
        }
    }
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (count, cells) = (run.size("bodies")?, run.size("cells_on_side")?);
    let mut bodies: Vec<Body> = (0..count).map(|_| Body::new(&mut run.rng, cells as i32 * CELL)).collect();
    let cell = |b: &Body| (b.y / CELL) as usize * cells + (b.x / CELL) as usize;
    bodies.sort_by_key(cell);
    let first: Vec<i32> = (0..=cells * cells).map(|c| bodies.partition_point(|b| cell(b) < c) as i32).collect();
    let words = |b: &Body| {
        let [cos, sin, x, y] = [b.cos, b.sin, b.half[0], b.half[1]].map(|v| v.to_bits() as i32);
        [b.x, b.y, b.reach, b.kind, cos, sin, x, y]
    };
    let body_words: Vec<[i32; 8]> = bodies.iter().map(words).collect();

    let body_buffer = run.upload("bodies", body_words.as_flattened())?;
    let first_buffer = run.upload("first", &first)?;
    let found = run.zeros::<i32>("found", count)?;
    let others = run.zeros::<i32>("others", count * MOST)?;
    let numbers = [count as i32, cells as i32, CELL, MOST as i32].map(Into::into);
    let args = [&[body_buffer.into(), first_buffer.into()][..], &numbers, &[found.into(), others.into()]].concat();
    run.launch("broad_phase", count.div_ceil(BLOCK), BLOCK, &args)?;

    // All pairs that may touch; the device finds them cell by cell.
    let mut want_found = vec![0; count];
    let mut pairs: Vec<[i32; 2]> = Vec::new();
    for (a, body) in bodies.iter().enumerate() {
        let (column, row) = (body.x / CELL, body.y / CELL);
        let rows = bodies.iter().enumerate().skip(a + 1).take_while(|(_, other)| other.y / CELL <= row + 1);
        for (b, other) in rows {
            let is_near = (other.x / CELL - column).abs() <= 1 && (other.y / CELL - row).abs() <= 1;
            let apart = body.reach + other.reach;
            let meets = (body.x - other.x).abs() < apart && (body.y - other.y).abs() < apart;
            if is_near && meets && want_found[a] < MOST as i32 {
                want_found[a] += 1;
                pairs.push([a as i32, b as i32]);
            }
        }
    }
    run.check_exact("found", found, &want_found)?;
    let device_others = run.download(others);
    let of = |a: usize| device_others[a * MOST..][..want_found[a] as usize].iter().map(move |b| [a as i32, *b]);
    let device_pairs: Vec<[i32; 2]> = (0..count).flat_map(of).collect();

    let pair_buffer = run.upload("pairs", device_pairs.as_flattened())?;
    let pushes = run.zeros::<f32>("pushes", pairs.len() * 4)?;
    let args = [body_buffer.into(), pair_buffer.into(), (pairs.len() as i32).into(), pushes.into()];
    run.launch("narrow_phase", pairs.len().div_ceil(BLOCK), BLOCK, &args)?;
    let push = |[a, b]: &[i32; 2]| {
        let (depth, out) = contact(&bodies[*a as usize], &bodies[*b as usize]);
        [depth, depth * out[0], depth * out[1], 0.0].map(|v| v as f32)
    };
    run.check_exact("pairs", pair_buffer, pairs.as_flattened())?;
    run.check("pushes", pushes, pairs.iter().map(push).collect::<Vec<_>>().as_flattened())
}
