//! A scene of spheres under many small lights.

use crate::prelude::*;

const TILE: usize = 16;
const NOTHING: i32 = i32::MAX;

#[derive(Clone, Copy)]
struct Light {
    place: [i32; 3],
    radius: i32,
    colour: [f32; 3],
    kind: i32,
}

struct Scene {
    width: usize,
    /// What is seen at each pixel: how deep it is, where its surface looks and how rough it is.
    depths: Vec<i32>,
    normals: Vec<[f32; 4]>,
    lights: Vec<Light>,
}

impl Scene {
    fn new(rng: &mut Rng, width: usize, height: usize, lights: usize) -> Self {
        let mut depths = vec![NOTHING; width * height];
        let mut normals = vec![[0.0; 4]; width * height];
        for _ in 0..width * height / 1500 + 2 {
            let (x, y) = (rng.between(0.0, width as f32), rng.between(0.0, height as f32));
            let (z, radius) = (rng.between(40.0, 200.0), rng.between(8.0, 50.0));
            for pixel in 0..width * height {
                let (dx, dy) = ((pixel % width) as f32 - x, (pixel / width) as f32 - y);
                let high2 = radius * radius - dx * dx - dy * dy;
                let depth = (z - high2.max(0.0).sqrt()) as i32;
                if high2 > 0.0 && depth < depths[pixel] {
                    depths[pixel] = depth;
                    // The surface has bumps, and is rough in some places.
                    let bump = |rng: &mut Rng, v: f32| v / radius + rng.between(-0.9, 0.9);
                    normals[pixel] = [bump(rng, dx), bump(rng, dy), bump(rng, -high2.sqrt()), rng.below(6) as f32];
                }
            }
        }
        let light = |rng: &mut Rng| {
            let place = [width, height, 220].map(|size| rng.index(size) as i32);
            let colour = [(); 3].map(|()| rng.between(0.1, 1.0));
            Light { place, radius: 12 + rng.below(50) as i32, colour, kind: rng.below(3) as i32 }
        };
        let lights = (0..lights).map(|_| light(rng)).collect();
        Self { width, depths, normals, lights }
    }

    /// The lights that reach a tile.
    fn found(&self, tile_x: usize, tile_y: usize) -> i32 {
        let row = |y: usize| &self.depths[(tile_y * TILE + y) * self.width + tile_x * TILE..][..TILE];
        let depths = || (0..TILE).flat_map(row).copied().filter(|depth| *depth != NOTHING);
        let (Some(near), Some(far)) = (depths().min(), depths().max()) else { return 0 };
        let low = [(tile_x * TILE) as i32, (tile_y * TILE) as i32, near];
        let high = [low[0] + TILE as i32 - 1, low[1] + TILE as i32 - 1, far];
        let reaches = |light: &&Light| {
            let by = [0, 1, 2].map(|i| light.place[i] - light.place[i].clamp(low[i], high[i]));
            by.iter().map(|d| d * d).sum::<i32>() < light.radius * light.radius
        };
        self.lights.iter().filter(reaches).count() as i32
    }

    fn colour(&self, pixel: usize) -> [f32; 4] {
        let depth = self.depths[pixel];
        if depth == NOTHING {
            return [0.1, 0.2, 0.4, 0.0];
        }
        let place = [(pixel % self.width) as i32, (pixel / self.width) as i32, depth];
        let [x, y, z, rough] = self.normals[pixel].map(f64::from);
        let mut sum = [0.02f64, 0.02, 0.02, 1.0];
        for light in &self.lights {
            let [dx, dy, dz] = [0, 1, 2].map(|i| f64::from(light.place[i] - place[i]));
            let (far2, reach2) = (dx * dx + dy * dy + dz * dz, f64::from(light.radius).powi(2));
            if far2 >= reach2 {
                continue;
            }
            let fade = (1.0 - far2 / reach2).powi(2);
            let far = far2.max(1.0).sqrt();
            let facing = (x * dx + y * dy + z * dz) / far;
            let down = if light.kind == 1 { -dy / far } else { 1.0 };
            let amount = match light.kind {
                2 => fade * 0.5,
                _ if facing <= 0.0 || down <= 0.0 => continue,
                _ => facing * fade * down * down + facing.powi(1 << rough as i32) * fade * 0.3,
            };
            sum.iter_mut().zip(light.colour).for_each(|(sum, colour)| *sum += amount * f64::from(colour));
        }
        sum.map(|v| v as f32)
    }
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (width, height, count) = (run.size("width")?, run.size("height")?, run.size("lights")?);
    let scene = Scene::new(&mut run.rng, width, height, count);
    let word = |l: &Light| {
        let [x, y, z] = l.place;
        let [red, green, blue] = l.colour.map(|c| c.to_bits() as i32);
        [x, y, z, l.radius, red, green, blue, l.kind]
    };
    let words: Vec<[i32; 8]> = scene.lights.iter().map(word).collect();
    let depths = run.upload("depths", &scene.depths)?;
    let normals = run.upload("normals", scene.normals.as_flattened())?;
    let lights = run.upload("lights", words.as_flattened())?;
    let picture = run.zeros::<f32>("picture", width * height * 4)?;
    let (columns, rows) = (width / TILE, height / TILE);
    let in_tile = run.zeros::<i32>("in_tile", columns * rows)?;
    let args = [
        depths.into(),
        normals.into(),
        (width as i32).into(),
        lights.into(),
        (count as i32).into(),
        picture.into(),
        in_tile.into(),
    ];
    run.launch("light_tiles", (columns, rows), (TILE, TILE), &args)?;

    let tiles: Vec<i32> = (0..columns * rows).map(|tile| scene.found(tile % columns, tile / columns)).collect();
    run.check_exact("in_tile", in_tile, &tiles)?;
    let want: Vec<[f32; 4]> = (0..width * height).map(|pixel| scene.colour(pixel)).collect();
    run.check("picture", picture, want.as_flattened())
}
