//! White blood cells: scores of all pixels, the best around each, and the field around every cell.

use crate::prelude::*;

const BLOCK: usize = 175;
const POINTS: usize = 30;
/// Radii of the circles.
const CIRCLES: [f64; 5] = [3.0, 4.0, 5.0, 6.0, 7.0];
const MARGIN: usize = 8;
const REACH: i32 = 3;
const HEIGHT: usize = 41;
const WIDTH: usize = 81;
const PIXELS: usize = HEIGHT * WIDTH;
/// Fields are left alone when all their pixels together change less.
const ENOUGH: f32 = 2.0;

/// Bright disks in noise, column by column.
fn picture(rng: &mut Rng, columns: usize, rows: usize) -> Vec<f32> {
    let mut picture = rng.floats(columns * rows, 0.0, 0.1);
    for _ in 0..columns * rows / 400 + 1 {
        let (x, y) = (rng.index(columns) as f32, rng.index(rows) as f32);
        let (radius, light) = (rng.between(3.0, 7.0), rng.between(0.3, 0.9));
        for (at, pixel) in picture.iter_mut().enumerate() {
            let (dx, dy) = ((at / rows) as f32 - x, (at % rows) as f32 - y);
            if dx * dx + dy * dy < radius * radius {
                *pixel += light;
            }
        }
    }
    picture
}

/// The circles as the kernel reads them.
struct Circles {
    sines: [f32; POINTS],
    cosines: [f32; POINTS],
    offsets: Vec<[i32; 2]>,
}

impl Circles {
    fn new() -> Self {
        let angle = |point: usize| std::f64::consts::TAU * point as f64 / POINTS as f64;
        let points: [f64; POINTS] = std::array::from_fn(angle);
        let offset =
            |radius: f64| points.map(|a| [(radius * a.cos()).round() as i32, (radius * a.sin()).round() as i32]);
        let offsets = CIRCLES.into_iter().flat_map(offset).collect();
        Self { sines: points.map(|a| a.sin() as f32), cosines: points.map(|a| a.cos() as f32), offsets }
    }

    fn score(&self, slopes: &[Vec<f32>; 2], place: [usize; 2], rows: usize) -> f32 {
        let mut best = 0.0f32;
        for circle in self.offsets.as_chunks::<POINTS>().0 {
            let (mut sum, mut squares) = (0.0f32, 0.0f32);
            for (point, by) in circle.iter().enumerate() {
                let at = (place[0] as i32 + by[0]) as usize * rows + (place[1] as i32 + by[1]) as usize;
                let outwards = slopes[0][at].mul_add(self.cosines[point], slopes[1][at] * self.sines[point]);
                sum += outwards;
                squares = outwards.mul_add(outwards, squares);
            }
            let mean = sum * (1.0 / POINTS as f32);
            let variance = (-mean).mul_add(sum, squares) * (1.0 / (POINTS as f32 - 1.0));
            best = best.max(mean * mean / variance.max(1e-3));
        }
        best
    }
}

/// One cell's field, and the steps it took.
fn spread(edges: &[f32], most_steps: usize) -> (Vec<f32>, i32) {
    let mut field = edges.to_vec();
    let step_up = |v: f32| [v > -0.0001, v > 0.0001].into_iter().filter(|is| *is).count() as f32 * 0.5;
    for step in 1..=most_steps {
        let mut changes = [0.0f32; 256];
        let old = field.clone();
        for pixel in 0..PIXELS {
            let (x, y) = (pixel % WIDTH, pixel / WIDTH);
            let left = if x == 0 { pixel } else { pixel - 1 };
            let right = if x == WIDTH - 1 { pixel } else { pixel + 1 };
            let up = if y == 0 { pixel } else { pixel - WIDTH };
            let down = if y == HEIGHT - 1 { pixel } else { pixel + WIDTH };
            let pull = |sum: f32, other: usize| {
                let d = old[other] - old[pixel];
                step_up(d).mul_add(d, sum)
            };
            let sum = [left, right, up, down].into_iter().fold(0.0, pull);
            let value = 0.2f32.mul_add(sum, old[pixel]);
            let own = edges[pixel];
            field[pixel] = (-0.2 * own).mul_add(value - own, value);
            changes[pixel % BLOCK] += (field[pixel] - old[pixel]).abs();
        }
        let mut half = 128;
        while half > 0 {
            (0..half).for_each(|i| changes[i] += changes[i + half]);
            half /= 2;
        }
        if changes[0] < ENOUGH {
            return (field, step as i32);
        }
    }
    (field, most_steps as i32)
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (columns, rows) = (run.size("columns")?, run.size("rows")?);
    let (cells, most_steps) = (run.size("cells")?, run.size("steps")?);
    let picture = picture(&mut run.rng, columns, rows);
    let at = |x: usize, y: usize| picture[x.min(columns - 1) * rows + y.min(rows - 1)];
    let places = || (0..columns * rows).map(|place| (place / rows, place % rows));
    let slopes = [
        places().map(|(x, y)| at(x.saturating_sub(1), y) - at(x + 1, y)).collect::<Vec<f32>>(),
        places().map(|(x, y)| at(x, y.saturating_sub(1)) - at(x, y + 1)).collect::<Vec<f32>>(),
    ];
    let circles = Circles::new();
    run.set_variable("sines", &circles.sines)?;
    run.set_variable("cosines", &circles.cosines)?;
    run.set_variable("offsets", circles.offsets.as_flattened())?;
    let slope_x = run.upload("slope_x", &slopes[0])?;
    let slope_y = run.upload("slope_y", &slopes[1])?;
    let score = run.zeros::<f32>("score", columns * rows)?;
    let sizes = [columns, rows].map(|n| (n as i32).into());
    let inner = (columns - 2 * MARGIN) * (rows - 2 * MARGIN);
    let args = [&[slope_x.into(), slope_y.into()][..], &sizes, &[score.into()]].concat();
    run.launch("roundness", inner.div_ceil(BLOCK), BLOCK, &args)?;
    let best = run.zeros::<f32>("best", columns * rows)?;
    let args = [&[score.into()][..], &sizes, &[best.into()]].concat();
    run.launch("dilate", (columns * rows).div_ceil(BLOCK), BLOCK, &args)?;

    // Parts of other pictures stand for what is around the cells; some have less in them, and are done earlier.
    let mut edges = Vec::new();
    for cell in 0..cells {
        let dim = if cell % 3 == 0 { 0.2 } else { 1.0 };
        let part = self::picture(&mut run.rng, HEIGHT, WIDTH);
        let slope =
            |i: usize| (part[i] - part[i.saturating_sub(1)]).abs() + (part[i] - part[i.saturating_sub(WIDTH)]).abs();
        edges.extend((0..PIXELS).map(|i| dim * slope(i).min(1.0)));
    }
    let edge_buffer = run.upload("edges", &edges)?;
    let fields = run.zeros::<f32>("fields", edges.len())?;
    let steps = run.zeros::<i32>("steps", cells)?;
    let args = [edge_buffer.into(), fields.into(), (most_steps as i32).into(), ENOUGH.into(), steps.into()];
    run.launch("spread_edges", cells, BLOCK, &args)?;

    let mut want_score = vec![0.0; columns * rows];
    for (place, want) in want_score.iter_mut().enumerate() {
        let [x, y] = [place / rows, place % rows];
        if (MARGIN..columns - MARGIN).contains(&x) && (MARGIN..rows - MARGIN).contains(&y) {
            *want = circles.score(&slopes, [x, y], rows);
        }
    }
    let disk = |(x, y): (usize, usize)| {
        let around = (-REACH..=REACH).flat_map(|dx| (-REACH..=REACH).map(move |dy| (dx, dy)));
        let inside = around.filter(|(dx, dy)| dx * dx + dy * dy <= REACH * REACH + 1);
        let place = |(dx, dy): (i32, i32)| (x.checked_add_signed(dx as isize), y.checked_add_signed(dy as isize));
        let value = |place| match place {
            (Some(x), Some(y)) if x < columns && y < rows => want_score[x * rows + y],
            _ => 0.0,
        };
        inside.map(|by| value(place(by))).fold(0.0, f32::max)
    };
    run.check("score", score, &want_score)?;
    run.check("best", best, &places().map(disk).collect::<Vec<_>>())?;
    let (want_fields, want_steps): (Vec<Vec<f32>>, Vec<i32>) =
        edges.as_chunks::<PIXELS>().0.iter().map(|edges| spread(edges, most_steps)).unzip();
    run.check("fields", fields, &want_fields.concat())?;
    run.check("steps", steps, &want_steps)
}
