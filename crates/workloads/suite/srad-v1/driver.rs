//! Speckle reducing anisotropic diffusion: sums over the image, then two kernels, in every iteration.

use crate::prelude::*;
use raddle_runtime::device::{Arg, Buffer};

const BLOCK: usize = 512;
const LAMBDA: f32 = 0.5;

pub fn run(run: &mut Run<'_>) -> Result {
    let (rows, columns, iterations) = (run.size("rows")?, run.size("columns")?, run.size("iterations")?);
    let count = rows * columns;
    let picture = picture(&mut run.rng, rows, columns);
    // Neighbours of rows and of columns; those at the border are their own.
    let before = |n: usize| (0..n).map(|i| i.saturating_sub(1) as i32).collect::<Vec<_>>();
    let after = |n: usize| (0..n).map(|i| (i + 1).min(n - 1) as i32).collect::<Vec<_>>();

    let image = run.upload("image", &picture)?;
    let above = run.upload("row_above", &before(rows))?;
    let below = run.upload("row_below", &after(rows))?;
    let left = run.upload("column_left", &before(columns))?;
    let right = run.upload("column_right", &after(columns))?;
    let north = run.zeros::<f32>("north", count)?;
    let south = run.zeros::<f32>("south", count)?;
    let west = run.zeros::<f32>("west", count)?;
    let east = run.zeros::<f32>("east", count)?;
    let coefficient = run.zeros::<f32>("coefficient", count)?;
    let values = run.zeros::<f32>("values", count)?;
    let squares = run.zeros::<f32>("squares", count)?;
    let sums = Sums::new(run, [values, squares], count)?;
    let (blocks, n, height) = (count.div_ceil(BLOCK), count as i32, rows as i32);

    run.launch("extract", blocks, BLOCK, &[image.into(), n.into()])?;
    for _ in 0..iterations {
        run.launch("prepare", blocks, BLOCK, &[image.into(), values.into(), squares.into(), n.into()])?;
        let [sum, square] = sums.reduce(run)?;
        let planes = [north, south, west, east, coefficient].map(Arg::from);
        let args =
            [&[image.into()][..], &[above, below, left, right].map(Arg::from), &planes, &[height.into(), n.into()]];
        let speckle = speckle(f64::from(sum), f64::from(square), count) as f32;
        run.launch("srad", blocks, BLOCK, &[&args.concat()[..], &[speckle.into()]].concat())?;
        let args = [&[image.into()][..], &[below, right].map(Arg::from), &planes, &[height.into(), n.into()]];
        run.launch("srad2", blocks, BLOCK, &[&args.concat()[..], &[LAMBDA.into()]].concat())?;
    }
    run.launch("compress", blocks, BLOCK, &[image.into(), n.into()])?;

    let mut want: Vec<f64> = picture.iter().map(|p| (f64::from(*p) / 255.0).exp()).collect();
    let mut want_totals = [0.0; 2];
    let mut want_coefficient = Vec::new();
    for _ in 0..iterations {
        want_totals = [want.iter().sum(), want.iter().map(|v| v * v).sum()];
        let speckle = speckle(want_totals[0], want_totals[1], count);
        (want, want_coefficient) = diffuse(&want, rows, columns, speckle);
    }
    let to_f32 = |values: &[f64]| values.iter().map(|v| *v as f32).collect::<Vec<_>>();
    for (total, want) in sums.totals().into_iter().zip(want_totals) {
        run.check("total", total, &[want as f32])?;
    }
    run.check("coefficient", coefficient, &to_f32(&want_coefficient))?;
    let compressed: Vec<f64> = want.iter().map(|v| v.ln() * 255.0).collect();
    run.check("image", image, &to_f32(&compressed))
}

/// Ellipses of different brightness under speckle, by columns.
fn picture(rng: &mut Rng, rows: usize, columns: usize) -> Vec<f32> {
    let (height, width) = (rows as f32, columns as f32);
    let mut ellipse = || {
        let middle = [rng.between(0.0, height), rng.between(0.0, width)];
        (middle, [rng.between(0.1, 0.3) * height, rng.between(0.1, 0.3) * width], rng.between(40.0, 180.0))
    };
    let ellipses: Vec<_> = (0..6).map(|_| ellipse()).collect();
    let mut pixel = |at: usize| {
        let place = [(at % rows) as f32, (at / rows) as f32];
        let is_inside = |(middle, radius, _): &&([f32; 2], [f32; 2], f32)| {
            (0..2).map(|i| ((place[i] - middle[i]) / radius[i]).powi(2)).sum::<f32>() < 1.0
        };
        let brightness = ellipses.iter().find(is_inside).map_or(80.0, |e| e.2);
        brightness * rng.between(0.6, 1.4)
    };
    (0..rows * columns).map(&mut pixel).collect()
}

/// The square of the coefficient of variation of the whole image.
fn speckle(sum: f64, square: f64, count: usize) -> f64 {
    let mean = sum / count as f64;
    (square / count as f64 - mean * mean) / (mean * mean)
}

/// One step, and its coefficients of diffusion.
fn diffuse(image: &[f64], rows: usize, columns: usize, speckle: f64) -> (Vec<f64>, Vec<f64>) {
    let at = |values: &[f64], row: usize, column: usize| values[row.min(rows - 1) + rows * column.min(columns - 1)];
    let places = || (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)));
    let differences = |row: usize, column: usize| {
        let own = at(image, row, column);
        let neighbours =
            [(row.saturating_sub(1), column), (row + 1, column), (row, column.saturating_sub(1)), (row, column + 1)];
        neighbours.map(|(row, column)| at(image, row, column) - own)
    };
    let coefficient = |(row, column): (usize, usize)| {
        let own = at(image, row, column);
        let differences = differences(row, column);
        let gradient = differences.map(|d| (d / own).powi(2)).iter().sum::<f64>();
        let laplacian = differences.iter().sum::<f64>() / own;
        let variation = (gradient / 2.0 - (laplacian / 4.0).powi(2)) / (1.0 + laplacian / 4.0).powi(2);
        (1.0 / (1.0 + (variation - speckle) / (speckle * (1.0 + speckle)))).clamp(0.0, 1.0)
    };
    let coefficients: Vec<f64> = places().map(coefficient).collect();
    let update = |(row, column): (usize, usize)| {
        let [north, south, west, east] = differences(row, column);
        let own = at(&coefficients, row, column);
        let [below, right] = [(row + 1, column), (row, column + 1)].map(|(r, c)| at(&coefficients, r, c));
        let flow = own * (north + west) + below * south + right * east;
        at(image, row, column) + f64::from(LAMBDA) / 4.0 * flow
    };
    let image = places().map(update).collect();
    (image, coefficients)
}

/// Sums of two arrays at once, in as many launches as it takes.
struct Sums {
    /// Each is the sums of the one before; the last have one element.
    levels: Vec<[Buffer<f32>; 2]>,
    lengths: Vec<usize>,
}

impl Sums {
    fn new(run: &mut Run<'_>, inputs: [Buffer<f32>; 2], count: usize) -> Result<Self> {
        let mut sums = Self { levels: vec![inputs], lengths: vec![count] };
        let mut left = count;
        while left > 1 {
            left = left.div_ceil(BLOCK);
            sums.levels.push([run.zeros("value_sums", left)?, run.zeros("square_sums", left)?]);
            sums.lengths.push(left);
        }
        Ok(sums)
    }

    fn reduce(&self, run: &mut Run<'_>) -> Result<[f32; 2]> {
        for (level, count) in self.levels.windows(2).zip(&self.lengths) {
            let [from, to] = [level[0], level[1]];
            let args = [from[0].into(), from[1].into(), to[0].into(), to[1].into(), (*count as i32).into()];
            run.launch("reduce", count.div_ceil(BLOCK), BLOCK, &args)?;
        }
        Ok(self.totals().map(|total| run.download(total)[0]))
    }

    fn totals(&self) -> [Buffer<f32>; 2] {
        self.levels[self.levels.len() - 1]
    }
}
