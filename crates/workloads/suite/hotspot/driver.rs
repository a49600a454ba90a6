//! The temperature of a chip over time, several steps with each launch.

use crate::prelude::*;

const TILE: usize = 16;
/// Temperature of the surroundings.
const AIR: f64 = 300.0;

/// What a cell gains in a step for each degree that a neighbour or the air is warmer, and for each watt.
struct Flow {
    x: f64,
    y: f64,
    air: f64,
    watt: f64,
}

impl Flow {
    /// Of a chip of silicon, 16 mm by 16 mm by 0.5 mm, in steps that are short enough to be stable.
    fn new(columns: usize, rows: usize) -> Self {
        let (width, height, thickness) = (0.016 / columns as f64, 0.016 / rows as f64, 0.0005);
        let (conductivity, heat) = (100.0, 1.75e6);
        let x = conductivity * thickness * height / width;
        let y = conductivity * thickness * width / height;
        let air = conductivity * width * height / thickness;
        let capacity = heat * thickness * width * height;
        let step = 0.4 * capacity / (2.0 * x + 2.0 * y + air);
        let [x, y, air, watt] = [x, y, air, 1.0].map(|part| part * step / capacity);
        Self { x, y, air, watt }
    }
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (side, steps) = (run.size("side")?, run.size("steps")?);
    let at_once = run.size("steps_at_once")?;
    let flow = Flow::new(side, side);
    // Units of different power, each of some cells.
    let unit = side.div_ceil(8);
    let levels = run.rng.floats(64, 0.0, 2e-4);
    let power: Vec<f32> = (0..side * side)
        .map(|at| levels[at / side / unit * 8 + at % side / unit] * run.rng.between(0.9, 1.1))
        .collect();
    let start = run.rng.floats(side * side, 323.0, 341.0);

    let power_buffer = run.upload("power", &power)?;
    let mut from = run.upload("temperature", &start)?;
    let mut to = run.zeros::<f32>("next", side * side)?;
    let mut left = steps;
    while left > 0 {
        let now = left.min(at_once);
        let tiles = side.div_ceil(TILE - 2 * now);
        let (n, now_arg) = (side as i32, now as i32);
        let factors = [flow.x, flow.y, flow.air, flow.watt, AIR].map(|f| (f as f32).into());
        let [x, y, air, watt, around] = factors;
        let args =
            [power_buffer.into(), from.into(), to.into(), n.into(), n.into(), now_arg.into(), x, y, air, watt, around];
        run.launch("heat", (tiles, tiles), (TILE, TILE), &args)?;
        (from, to) = (to, from);
        left -= now;
    }

    let want: Vec<f32> = temperatures(&start, &power, side, steps, &flow).into_iter().map(|t| t as f32).collect();
    run.check("temperature", from, &want)
}

/// All cells, one step after the other.
fn temperatures(start: &[f32], power: &[f32], side: usize, steps: usize, flow: &Flow) -> Vec<f64> {
    let mut now: Vec<f64> = start.iter().copied().map(f64::from).collect();
    for _ in 0..steps {
        let mut next = now.clone();
        for (at, next) in next.iter_mut().enumerate() {
            let (x, y, here) = (at % side, at / side, now[at]);
            let from = |is_there: bool, other: usize| if is_there { now[other] - here } else { 0.0 };
            *next += flow.x * (from(x > 0, at.wrapping_sub(1)) + from(x + 1 < side, at + 1));
            *next += flow.y * (from(y > 0, at.wrapping_sub(side)) + from(y + 1 < side, at + side));
            *next += flow.air * (AIR - here) + flow.watt * f64::from(power[at]);
        }
        now = next;
    }
    now
}
