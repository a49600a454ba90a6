//! Points of a heart in pictures one after the other, and where they have gone.

use crate::prelude::*;

const BLOCK: usize = 512;

/// A film: a picture of spots that beats, with noise.
struct Film {
    width: usize,
    height: usize,
    spots: Vec<[f32; 4]>,
}

impl Film {
    fn new(rng: &mut Rng, width: usize, height: usize) -> Self {
        let spot = |rng: &mut Rng| {
            let (x, y) = (rng.between(0.0, width as f32), rng.between(0.0, height as f32));
            [x, y, rng.between(2.0, 5.0), rng.between(40.0, 180.0)]
        };
        let spots = (0..width * height / 60).map(|_| spot(rng)).collect();
        Self { width, height, spots }
    }

    fn picture(&self, frame: usize, rng: &mut Rng) -> Vec<u8> {
        let mut light: Vec<f32> = rng.floats(self.width * self.height, 10.0, 30.0);
        for &[x, y, radius, bright] in &self.spots {
            // Beats towards the middle and back.
            let part = 0.03 * [0.0, 0.5, 1.0, 0.5][frame % 4];
            let (x, y) = (x + (self.width as f32 / 2.0 - x) * part, y + (self.height as f32 / 2.0 - y) * part);
            for row in (y - radius).max(0.0) as usize..((y + radius) as usize + 1).min(self.height) {
                for column in (x - radius).max(0.0) as usize..((x + radius) as usize + 1).min(self.width) {
                    let (dx, dy) = (column as f32 - x, row as f32 - y);
                    let near = 1.0 - (dx * dx + dy * dy) / (radius * radius);
                    light[row * self.width + column] += bright * near.max(0.0);
                }
            }
        }
        light.into_iter().map(|v| v.min(255.0) as u8).collect()
    }
}

/// What is tracked.
struct Point {
    place: [i32; 2],
    template: Vec<u8>,
    score: f32,
}

/// Sizes of templates and of the search.
#[derive(Clone, Copy)]
struct Search {
    width: usize,
    height: usize,
    side: usize,
    reach: usize,
}

impl Search {
    /// The square whose corner is here; outside of the picture it is black.
    fn square(&self, picture: &[u8], [x, y]: [i32; 2]) -> Vec<u8> {
        let pixel = |i: usize| {
            let (x, y) = (x + (i % self.side) as i32, y + (i / self.side) as i32);
            let is_inside = (0..self.width as i32).contains(&x) && (0..self.height as i32).contains(&y);
            if is_inside { picture[y as usize * self.width + x as usize] } else { 0 }
        };
        (0..self.side * self.side).map(pixel).collect()
    }

    fn score(template: &[u8], square: &[u8]) -> f32 {
        let pixels = template.len() as i64;
        let sum = |f: &dyn Fn(i64, i64) -> i64| -> i64 {
            template.iter().zip(square).map(|(t, s)| f(i64::from(*t), i64::from(*s))).sum()
        };
        let (t, s) = (sum(&|t, _| t), sum(&|_, s| s));
        let (spread_t, spread_s) = (pixels * sum(&|t, _| t * t) - t * t, pixels * sum(&|_, s| s * s) - s * s);
        if spread_t <= 0 || spread_s <= 0 {
            return -1.0;
        }
        (pixels * sum(&|t, s| t * s) - t * s) as f32 / ((spread_t as f32).sqrt() * (spread_s as f32).sqrt())
    }

    fn follow(&self, picture: &[u8], point: &mut Point) {
        let reach = self.reach as i32;
        let mut best = (-2.0, point.place);
        for y in -reach..=reach {
            for x in -reach..=reach {
                let place = [point.place[0] + x, point.place[1] + y];
                let score = Self::score(&point.template, &self.square(picture, place));
                if score > best.0 {
                    best = (score, place);
                }
            }
        }
        (point.score, point.place) = best;
        if point.score > 0.8 {
            let found = self.square(picture, point.place);
            let mix = |(old, new): (&mut u8, u8)| *old = ((u16::from(*old) * 7 + u16::from(new)) >> 3) as u8;
            point.template.iter_mut().zip(found).for_each(mix);
        }
    }
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (width, height, frames) = (run.size("width")?, run.size("height")?, run.size("frames")?);
    let (side, reach, count) = (run.size("side")?, run.size("reach")?, run.size("points")?);
    let search = Search { width, height, side, reach };
    let film = Film::new(&mut run.rng, width, height);
    let first = film.picture(0, &mut run.rng);
    let mut points = Vec::new();
    for _ in 0..count {
        let place = [width, height].map(|size| run.rng.index(size - side) as i32);
        points.push(Point { place, template: search.square(&first, place), score: 0.0 });
    }

    let all_places = |points: &[Point]| points.iter().flat_map(|p| p.place).collect::<Vec<i32>>();
    let all_templates = |points: &[Point]| points.iter().flat_map(|p| p.template.clone()).collect::<Vec<u8>>();
    let area = side + 2 * reach;
    let picture_buffer = run.zeros::<u8>("picture", width * height)?;
    let places = run.upload("places", &all_places(&points))?;
    let templates = run.upload("templates", &all_templates(&points))?;
    let sums = run.zeros::<i32>("sums", count * 2 * area * area)?;
    let scores = run.zeros::<f32>("scores", count)?;
    for frame in 1..=frames {
        let picture = film.picture(frame, &mut run.rng);
        run.write(picture_buffer, &picture);
        let sizes = [width, height, side, reach].map(|n| (n as i32).into());
        let buffers = [places.into(), templates.into(), sums.into(), scores.into()];
        run.launch("follow", count, BLOCK, &[&[picture_buffer.into()][..], &sizes, &buffers].concat())?;
        points.iter_mut().for_each(|point| search.follow(&picture, point));
    }
    run.check("places", places, &all_places(&points))?;
    run.check("templates", templates, &all_templates(&points))?;
    run.check("scores", scores, &points.iter().map(|p| p.score).collect::<Vec<_>>())
}
