//! A picture of mirroring spheres on a floor, with a limit to how often light is mirrored.

use crate::prelude::*;
use raddle_runtime::device::Arg;

const BLOCK: (usize, usize) = (16, 8);
const NEAR: f32 = 1e-3;
const EYE: [f32; 3] = [0.0, 3.0, 14.0];
const LIGHT: [f32; 3] = [-8.0, 14.0, 10.0];

type Vector = [f32; 3];

/// With sums fused as in the kernel.
fn dot(a: Vector, b: Vector) -> f32 {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

fn along(a: Vector, s: f32, b: Vector) -> Vector {
    [0, 1, 2].map(|i| s.mul_add(b[i], a[i]))
}

fn minus(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|i| a[i] - b[i])
}

struct Sphere {
    centre: Vector,
    radius: f32,
    colour: Vector,
    mirrors: f32,
}

impl Sphere {
    fn meet(&self, from: Vector, direction: Vector) -> Option<f32> {
        let apart = minus(from, self.centre);
        let half = dot(apart, direction);
        let outside = (-self.radius).mul_add(self.radius, dot(apart, apart));
        let rest = half.mul_add(half, -outside);
        let root = Some(rest).filter(|r| *r > 0.0)?.sqrt();
        [-half - root, root - half].into_iter().find(|distance| *distance > NEAR)
    }
}

/// Spheres that lie on the floor and float above it, without touching. Six of ten are mirrors.
fn scene(count: usize, rng: &mut Rng) -> Vec<Sphere> {
    let mut spheres: Vec<Sphere> = Vec::new();
    while spheres.len() < count {
        let radius = rng.between(0.4, 1.3);
        let height = if rng.below(3) == 0 { rng.between(radius, 6.0) } else { radius };
        let centre = [rng.between(-7.0, 7.0), height, rng.between(-8.0, 6.0)];
        let colour = [(); 3].map(|()| rng.between(0.2, 1.0));
        let mirrors = if rng.below(10) < 6 { rng.between(0.5, 0.95) } else { 0.0 };
        let is_free = |s: &Sphere| {
            let apart = minus(s.centre, centre);
            dot(apart, apart).sqrt() > s.radius + radius
        };
        if spheres.iter().all(is_free) {
            spheres.push(Sphere { centre, radius, colour, mirrors });
        }
    }
    spheres
}

/// The light from where a ray comes from, and how often it was mirrored.
fn trace(spheres: &[Sphere], from: Vector, direction: Vector, weight: f32, left: usize) -> (Vec<(f32, Vector)>, u8) {
    let hits = spheres.iter().filter_map(|s| Some((s.meet(from, direction)?, Some(s))));
    let floor = Some(-from[1] / direction[1]).filter(|d| direction[1] < 0.0 && *d > NEAR);
    let hits = hits.chain(floor.map(|d| (d, None)));
    let Some((distance, sphere)) = hits.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return (vec![(0.5f32.mul_add(direction[1], 0.5) * weight, [0.5, 0.7, 1.0])], 0);
    };
    let at = along(from, distance, direction);
    let (normal, colour, mirrors) = match sphere {
        Some(s) => (minus(at, s.centre).map(|c| c * (1.0 / s.radius)), s.colour, s.mirrors),
        None => {
            let is_light = (at[0].floor() as i32 + at[2].floor() as i32) & 1 == 1;
            ([0.0, 1.0, 0.0], [if is_light { 0.9 } else { 0.2 }; 3], 0.0)
        }
    };
    let to_light = minus(LIGHT, at);
    let light2 = dot(to_light, to_light);
    let per_light = 1.0 / light2.sqrt();
    let facing = dot(normal, to_light) * per_light;
    let way = to_light.map(|c| c * per_light);
    let is_hidden = |s: &Sphere| s.meet(at, way).is_some_and(|d| d < light2 * per_light);
    let is_lit = facing > 0.0 && !spheres.iter().any(is_hidden);
    let brightness = if is_lit { 0.9f32.mul_add(facing, 0.1) } else { 0.1 };
    let mut lights = vec![((1.0 - mirrors) * weight * brightness, colour)];
    if mirrors == 0.0 || left == 0 {
        return (lights, 0);
    }
    let mirrored = along(direction, -2.0 * dot(direction, normal), normal);
    let (more, depth) = trace(spheres, at, mirrored, weight * mirrors, left - 1);
    lights.extend(more);
    (lights, depth + 1)
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (side, count, deepest) = (run.size("side")?, run.size("spheres")?, run.size("deepest")?);
    let spheres = scene(count, &mut run.rng);
    let shapes: Vec<[f32; 4]> = spheres.iter().map(|s| [s.centre[0], s.centre[1], s.centre[2], s.radius]).collect();
    let surfaces: Vec<[f32; 4]> = spheres.iter().map(|s| [s.colour[0], s.colour[1], s.colour[2], s.mirrors]).collect();
    run.set_variable("spheres", shapes.as_flattened())?;
    run.set_variable("surfaces", surfaces.as_flattened())?;
    let picture = run.zeros::<u8>("picture", side * side * 4)?;
    let depths = run.zeros::<u8>("depths", side * side)?;
    let vector = |v: Vector| Arg::bytes(v.iter().flat_map(|c| c.to_le_bytes()).collect());
    let [n, count_arg, deepest_arg] = [side, count, deepest].map(|n| Arg::from(n as i32));
    let args = [picture.into(), depths.into(), n.clone(), n, count_arg, deepest_arg, vector(EYE), vector(LIGHT)];
    run.launch("render", (side.div_ceil(BLOCK.0), side.div_ceil(BLOCK.1)), BLOCK, &args)?;

    let (mut want, mut want_depths) = (Vec::new(), Vec::new());
    let (n, scale) = (side as i32, 2.0 / side as f32);
    for (y, x) in (0..n).flat_map(|y| (0..n).map(move |x| (y, x))) {
        let [right, up] = [2 * x + 1 - n, n - 1 - 2 * y].map(|c| c as f32 * 0.5 * scale);
        let direction = [right, up, -2.0];
        let per_length = 1.0 / dot(direction, direction).sqrt();
        let (lights, depth) = trace(&spheres, EYE, direction.map(|c| c * per_length), 1.0, deepest);
        let colour = lights.iter().fold([0.0; 3], |sum, (share, colour)| along(sum, *share, *colour));
        want.extend(colour.map(|c: f32| c.min(1.0).mul_add(255.0, 0.5) as u8));
        want.push(255);
        want_depths.push(depth);
    }
    run.check("picture", picture, &want)?;
    run.check("depths", depths, &want_depths)
}
