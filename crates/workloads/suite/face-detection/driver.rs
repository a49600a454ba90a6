//! Windows of a picture and of smaller copies of it against a cascade, whose stages each pass about half of what comes.

use crate::prelude::*;

const BLOCK: (usize, usize) = (32, 6);
const SIDE: usize = 24;
/// Windows from which the cascade is made.
const SAMPLES: usize = 400;
/// Of a hundred windows that come to a stage, those that pass.
const PASS: usize = 55;

#[derive(Clone, Copy)]
struct Rectangle {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    weight: i32,
}

struct Stump {
    rectangles: Vec<Rectangle>,
    threshold: f32,
    below: i32,
    above: i32,
}

struct Stage {
    stumps: Vec<Stump>,
    least: i32,
}

#[derive(Clone)]
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    /// Grey shapes over each other, with some noise.
    fn new(width: usize, height: usize, rng: &mut Rng) -> Self {
        let mut pixels = vec![128u8; width * height];
        for _ in 0..width * height / 100 {
            let (x, y) = (rng.index(width), rng.index(height));
            let (w, h, grey) = (3 + rng.index(30), 3 + rng.index(30), rng.below(216) as u8 + 20);
            for row in pixels.chunks_exact_mut(width).skip(y).take(h) {
                row[x..width.min(x + w)].fill(grey);
            }
        }
        pixels.iter_mut().for_each(|p| *p = *p - 10 + rng.below(21) as u8);
        Self { width, height, pixels }
    }

    /// A copy with four fifths of the rows and columns.
    fn smaller(&self) -> Self {
        let (width, height) = (self.width * 4 / 5, self.height * 4 / 5);
        let at = |i: usize| self.pixels[i / width * 5 / 4 * self.width + i % width * 5 / 4];
        Self { width, height, pixels: (0..width * height).map(at).collect() }
    }

    /// For each corner between pixels, the sum of what is above and to the left.
    fn sums(&self, value: fn(u32) -> u32) -> Vec<u32> {
        let pitch = self.width + 1;
        let mut sums = vec![0u32; pitch * (self.height + 1)];
        for (y, row) in self.pixels.chunks_exact(self.width).enumerate() {
            let mut sum = 0u32;
            for (x, pixel) in row.iter().enumerate() {
                sum = sum.wrapping_add(value(u32::from(*pixel)));
                sums[(y + 1) * pitch + x + 1] = sum.wrapping_add(sums[y * pitch + x + 1]);
            }
        }
        sums
    }

    fn window(&self, x: usize, y: usize) -> Window<'_> {
        let mut window = Window { picture: self, x, y, contrast: 0.0 };
        let [mut sum, mut square] = [0u64; 2];
        for pixel in window.pixels(0, 0, SIDE, SIDE) {
            sum += u64::from(pixel);
            square += u64::from(pixel) * u64::from(pixel);
        }
        window.contrast = ((square * (SIDE * SIDE) as u64 - sum * sum) as f32).sqrt();
        window
    }

    fn columns(&self) -> usize {
        self.width - SIDE + 1
    }

    fn rows(&self) -> usize {
        self.height - SIDE + 1
    }
}

struct Window<'p> {
    picture: &'p Picture,
    x: usize,
    y: usize,
    contrast: f32,
}

impl Window<'_> {
    fn pixels(&self, x: usize, y: usize, width: usize, height: usize) -> impl Iterator<Item = u8> {
        let rows = (self.y + y)..(self.y + y + height);
        let columns = self.x + x;
        rows.flat_map(move |row| &self.picture.pixels[row * self.picture.width + columns..][..width]).copied()
    }

    fn value(&self, rectangles: &[Rectangle]) -> i32 {
        let sum = |r: &Rectangle| self.pixels(r.x, r.y, r.width, r.height).map(i32::from).sum::<i32>() * r.weight;
        rectangles.iter().map(sum).sum()
    }

    fn total(&self, stumps: &[Stump]) -> i32 {
        let is_below = |s: &Stump| (self.value(&s.rectangles) as f32) < s.threshold * self.contrast;
        stumps.iter().map(|s| if is_below(s) { s.below } else { s.above }).sum()
    }

    /// The first stage it does not pass.
    fn stage(&self, cascade: &[Stage]) -> usize {
        cascade.iter().take_while(|stage| self.total(&stage.stumps) >= stage.least).count()
    }
}

/// Two or three bands next to each other, of which the second counts against the others.
fn feature(rng: &mut Rng) -> Vec<Rectangle> {
    let bands = 2 + rng.index(2);
    let (length, across) = (2 + rng.index(SIDE / bands - 2), 4 + rng.index(SIDE - 4));
    let (along, beside) = (rng.index(SIDE - bands * length + 1), rng.index(SIDE - across + 1));
    let is_upright = rng.below(2) == 0;
    let band = |band: usize| {
        let at = along + band * length;
        let weight = if band == 1 { 1 - bands as i32 } else { 1 };
        let (x, y, width, height) =
            if is_upright { (at, beside, length, across) } else { (beside, at, across, length) };
        Rectangle { x, y, width, height, weight }
    };
    (0..bands).map(band).collect()
}

/// A stage has three stumps more than the one before.
fn cascade(stages: usize, rng: &mut Rng) -> Vec<Stage> {
    let picture = Picture::new(160, 120, rng);
    let window = |rng: &mut Rng| picture.window(rng.index(picture.columns()), rng.index(picture.rows()));
    let samples: Vec<Window<'_>> = (0..SAMPLES).map(|_| window(rng)).collect();
    let mut left: Vec<&Window<'_>> = samples.iter().collect();
    let mut cascade = Vec::new();
    for stage in 1..=stages {
        let stumps: Vec<Stump> = (0..3 * stage)
            .map(|_| {
                let rectangles = feature(rng);
                let typical = &samples[rng.index(SAMPLES)];
                let threshold = typical.value(&rectangles) as f32 / typical.contrast.max(1.0);
                let [below, above] = [(); 2].map(|()| rng.below(201) as i32 - 100);
                Stump { rectangles, threshold, below, above }
            })
            .collect();
        let mut totals: Vec<i32> = left.iter().map(|w| w.total(&stumps)).collect();
        totals.sort_unstable();
        let least = totals[totals.len() * (100 - PASS) / 100];
        left.retain(|w| w.total(&stumps) >= least);
        cascade.push(Stage { stumps, least });
    }
    cascade
}

/// What the kernels read: the stumps, nine words each, and the stages.
fn tables(cascade: &[Stage]) -> (Vec<i32>, Vec<i32>) {
    let (mut stumps, mut stages) = (Vec::new(), Vec::new());
    for stage in cascade {
        for stump in &stage.stumps {
            let three = |f: &dyn Fn(&Rectangle) -> i32| [0, 1, 2].map(|i| stump.rectangles.get(i).map_or(0, f));
            stumps.extend(three(&|r| (r.x | r.y << 8 | r.width << 16 | r.height << 24) as i32));
            stumps.extend(three(&|r| r.weight));
            stumps.extend([stump.threshold.to_bits() as i32, stump.below, stump.above]);
        }
        stages.extend([(stumps.len() / 9) as i32, stage.least]);
    }
    (stumps, stages)
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (width, height, levels) = (run.size("width")?, run.size("height")?, run.size("levels")?);
    let (first, all) = (run.size("first_stages")?, run.size("stages")?);
    let cascade = cascade(all, &mut run.rng);
    let (stumps, stages) = tables(&cascade);
    run.set_variable("stumps", &stumps)?;
    run.set_variable("stages", &stages)?;

    let mut picture = Picture::new(width, height, &mut run.rng);
    for _ in 0..levels {
        let (columns, rows) = (picture.columns(), picture.rows());
        let sums = run.upload("sums", &picture.sums(|p| p))?;
        let squares = run.upload("squares", &picture.sums(|p| p * p))?;
        let passed = run.zeros::<u32>("passed", columns * rows)?;
        let list = run.zeros::<u32>("list", columns * rows)?;
        let count = run.zeros::<u32>("count", 1)?;
        let head = [sums.into(), squares.into(), (picture.width as i32).into(), (columns as i32).into()];
        let rest = [(rows as i32).into(), (first as i32).into(), passed.into(), list.into(), count.into()];
        let grid = (columns.div_ceil(BLOCK.0), rows.div_ceil(BLOCK.1));
        run.launch("first_stages", grid, BLOCK, &[&head[..], &rest].concat())?;
        let left = run.download(count)[0];
        let rest = [(first as i32).into(), (all as i32).into(), list.into(), (left as i32).into(), passed.into()];
        let blocks = (left as usize).div_ceil(BLOCK.0 * BLOCK.1).max(1);
        run.launch("other_stages", blocks, BLOCK, &[&head[..], &rest].concat())?;

        let stage = |window: usize| picture.window(window % columns, window / columns).stage(&cascade) as u32;
        let want: Vec<u32> = (0..columns * rows).map(stage).collect();
        let want_left = want.iter().filter(|stage| **stage >= first as u32).count() as u32;
        run.check("count", count, &[want_left])?;
        run.check("passed", passed, &want)?;
        picture = picture.smaller();
    }
    Ok(())
}
