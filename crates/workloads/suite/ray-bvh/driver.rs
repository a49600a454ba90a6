//! Rays through a room full of chairs: those of a picture, and those that leave what they met in any direction.

use crate::prelude::*;

const WARPS: usize = 6;
/// The most triangles of a leaf.
const LEAF: usize = 4;
const NEAREST: f32 = 1e-3;
const FURTHEST: f32 = 1e4;

type Vector = [f32; 3];

/// Three corners.
type Triangle = [Vector; 3];

#[derive(Clone, Copy)]
struct Ray {
    from: Vector,
    direction: Vector,
}

fn minus(a: Vector, b: Vector) -> Vector {
    [0, 1, 2].map(|i| a[i] - b[i])
}

/// With sums fused as in the kernel.
fn dot(a: Vector, b: Vector) -> f32 {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

fn cross(a: Vector, b: Vector) -> Vector {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| a[i].mul_add(b[j], -(a[j] * b[i])))
}

/// The two triangles of a parallelogram.
fn sheet(corner: Vector, a: Vector, b: Vector) -> [Triangle; 2] {
    let plus = |v: Vector, w: Vector| [0, 1, 2].map(|i| v[i] + w[i]);
    let far = plus(plus(corner, a), b);
    [[corner, plus(corner, a), far], [corner, far, plus(corner, b)]]
}

/// A box, turned around the vertical.
fn block(triangles: &mut Vec<Triangle>, low: Vector, size: Vector, turned: f32, around: Vector) {
    let (sin, cos) = turned.sin_cos();
    let turn = |[x, y, z]: Vector| [x * cos - z * sin, y, x * sin + z * cos];
    let axes = [[size[0], 0.0, 0.0], [0.0, size[1], 0.0], [0.0, 0.0, size[2]]].map(turn);
    let at = |v: Vector| {
        let v = turn(v);
        [0, 1, 2].map(|i| v[i] + around[i])
    };
    for (a, b, c) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
        triangles.extend(sheet(at(low), axes[a], axes[b]));
        let mut other = low;
        other[c] += size[c];
        triangles.extend(sheet(at(other), axes[a], axes[b]));
    }
}

/// A room with rows of chairs, tables between them, and round lamps.
fn room(chairs: usize, rng: &mut Rng) -> Vec<Triangle> {
    let mut triangles = Vec::new();
    let (width, depth) = (chairs as f32 * 0.9 + 2.0, chairs as f32 * 1.2 + 3.0);
    block(&mut triangles, [0.0; 3], [width, 3.0, depth], 0.0, [0.0; 3]);
    for row in 0..chairs {
        let z = 1.5 + row as f32 * 1.2;
        block(&mut triangles, [0.8, 0.7, z + 0.55], [width - 1.6, 0.04, 0.4], 0.0, [0.0; 3]);
        for seat in 0..chairs {
            let place = [1.4 + seat as f32 * 0.9 + rng.between(-0.1, 0.1), 0.0, z + rng.between(-0.1, 0.1)];
            let turned = rng.between(-0.5, 0.5);
            block(&mut triangles, [-0.2, 0.45, -0.2], [0.4, 0.04, 0.4], turned, place);
            block(&mut triangles, [-0.2, 0.55, 0.18], [0.4, 0.45, 0.03], turned, place);
            for (x, z) in [(-0.2, -0.2), (0.17, -0.2), (-0.2, 0.17), (0.17, 0.17)] {
                block(&mut triangles, [x, 0.0, z], [0.03, 0.45, 0.03], turned, place);
            }
        }
        lamp(&mut triangles, [width * rng.between(0.2, 0.8), 2.6, z], 0.25);
    }
    triangles
}

/// A ball of triangles.
fn lamp(triangles: &mut Vec<Triangle>, centre: Vector, radius: f32) {
    let (around, down) = (16, 8);
    let point = |i: usize, j: usize| {
        let (sin, cos) = (i as f32 / around as f32 * std::f32::consts::TAU).sin_cos();
        let (ring, height) = (j as f32 / down as f32 * std::f32::consts::PI).sin_cos();
        [centre[0] + radius * ring * cos, centre[1] + radius * height, centre[2] + radius * ring * sin]
    };
    for (i, j) in (0..down).flat_map(|j| (0..around).map(move |i| (i, j))) {
        let [a, b, c, d] = [point(i, j), point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)];
        triangles.extend([[a, b, c], [a, c, d]].into_iter().filter(|[a, b, c]| a != b && b != c));
    }
}

/// The smallest box around these points.
fn bounds(points: impl Iterator<Item = Vector>) -> [Vector; 2] {
    points.fold([[f32::MAX; 3], [f32::MIN; 3]], |[low, high], p| {
        [[0, 1, 2].map(|i| low[i].min(p[i])), [0, 1, 2].map(|i| high[i].max(p[i]))]
    })
}

/// The tree of boxes as the kernel has it.
#[derive(Default)]
struct Tree {
    nodes: Vec<[u32; 16]>,
    leaves: Vec<[u32; 12]>,
}

impl Tree {
    /// Appends what is above some triangles, and gives its place and box. They are halved where they spread most.
    fn build(&mut self, all: &[Triangle], part: &mut [usize]) -> (i32, [Vector; 2]) {
        let [low, high] = bounds(part.iter().flat_map(|i| all[*i]));
        // A little larger, because distances to it are rounded.
        let around = [low.map(|c| c - 1e-3), high.map(|c| c + 1e-3)];
        if part.len() <= LEAF {
            let first = self.leaves.len() as i32;
            for (n, &i) in part.iter().enumerate() {
                let [a, b, c] = all[i];
                let (edges, is_last) = ([minus(b, a), minus(c, a)], u32::from(n + 1 == part.len()));
                let row = |v: Vector, w: u32| [v[0].to_bits(), v[1].to_bits(), v[2].to_bits(), w];
                let rows = [row(a, i as u32), row(edges[0], is_last), row(edges[1], 0)];
                self.leaves.push(std::array::from_fn(|k| rows[k / 4][k % 4]));
            }
            return (!first, around);
        }
        let middle = |i: usize| [0, 1, 2].map(|d| all[i].iter().map(|corner| corner[d]).sum::<f32>());
        let [low, high] = bounds(part.iter().map(|i| middle(*i)));
        let spread = minus(high, low);
        let axis = (0..3).max_by(|a, b| spread[*a].total_cmp(&spread[*b])).unwrap_or(0);
        part.sort_by(|a, b| middle(*a)[axis].total_cmp(&middle(*b)[axis]));
        let place = self.nodes.len();
        self.nodes.push([0; 16]);
        let (left, right) = part.split_at_mut(part.len() / 2);
        let children = [self.build(all, left), self.build(all, right)];
        let [(a, [al, ah]), (b, [bl, bh])] = children;
        let floats =
            [al[0], ah[0], al[1], ah[1], bl[0], bh[0], bl[1], bh[1], al[2], ah[2], bl[2], bh[2]].map(f32::to_bits);
        self.nodes[place][..12].copy_from_slice(&floats);
        self.nodes[place][12..14].copy_from_slice(&[a as u32, b as u32]);
        (place as i32, around)
    }
}

/// Triangles that follow each other, and a box around them.
struct Group<'t> {
    first: usize,
    triangles: &'t [Triangle],
    low: [f64; 3],
    high: [f64; 3],
}

impl<'t> Group<'t> {
    fn all(triangles: &'t [Triangle]) -> Vec<Self> {
        let group = |(n, triangles): (usize, &'t [Triangle])| {
            let [low, high] = bounds(triangles.iter().flatten().copied());
            let (low, high) = (low.map(|c| f64::from(c) - 1e-3), high.map(|c| f64::from(c) + 1e-3));
            Self { first: n * 24, triangles, low, high }
        };
        triangles.chunks(24).enumerate().map(group).collect()
    }

    /// Whether the straight line of a ray goes through the box.
    fn is_met(&self, ray: &Ray) -> bool {
        let (mut enter, mut leave) = (0.0f64, f64::MAX);
        for d in 0..3 {
            let to = |end: f64| (end - f64::from(ray.from[d])) / f64::from(ray.direction[d]);
            let (a, b) = (to(self.low[d]), to(self.high[d]));
            enter = enter.max(a.min(b));
            leave = leave.min(a.max(b));
        }
        enter <= leave
    }
}

/// The distance at which a ray meets a triangle.
fn meet(ray: &Ray, [a, b, c]: &Triangle) -> Option<f32> {
    let (edge1, edge2, to) = (minus(*b, *a), minus(*c, *a), minus(ray.from, *a));
    let p = cross(ray.direction, edge2);
    let q = cross(to, edge1);
    let scale = 1.0 / dot(edge1, p);
    let u = dot(to, p) * scale;
    let v = dot(ray.direction, q) * scale;
    let distance = dot(edge2, q) * scale;
    let is_inside = (0.0..=1.0).contains(&u) && v >= 0.0 && v <= (-dot(to, p)).mul_add(scale, 1.0);
    Some(distance).filter(|d| is_inside && *d > NEAREST && *d < FURTHEST)
}

/// What each ray meets first: the number of the triangle, or -1, and its distance.
fn first_hits(triangles: &[Triangle], rays: &[Ray]) -> Vec<(i32, f32)> {
    let groups = Group::all(triangles);
    let nearest = |ray: &Ray| {
        let near = groups.iter().filter(|group| group.is_met(ray));
        let hits = near.flat_map(|g| g.triangles.iter().enumerate().map(move |(i, t)| (g.first + i, meet(ray, t))));
        let hits = hits.filter_map(|(i, distance)| Some((i as i32, distance?)));
        hits.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((-1, FURTHEST))
    };
    rays.iter().map(nearest).collect()
}

/// A direction of length 1; none of its parts is 0.
fn unit(v: Vector) -> Vector {
    let length = dot(v, v).sqrt();
    v.map(|c| if c.abs() < 1e-6 * length { 1e-6 } else { c / length })
}

/// The rays of a picture, in tiles as large as a warp.
fn camera(width: usize, height: usize, from: Vector) -> Vec<Ray> {
    let ray = |index: usize| {
        let (tile, lane) = (index / 32, index % 32);
        let (x, y) = (tile % (width / 8) * 8 + lane % 8, tile / (width / 8) * 4 + lane / 8);
        let right = (x as f32 + 0.5) / width as f32 * 2.0 - 1.0;
        let down = (y as f32 + 0.5) / height as f32 * 2.0 - 1.0;
        Ray { from, direction: unit([right * 0.9 + 0.35, -0.25 - down * 0.6, 1.0]) }
    };
    (0..width * height).map(ray).collect()
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (width, height) = (run.size("width")?, run.size("height")?);
    let (chairs, blocks) = (run.size("chairs_in_a_row")?, run.size("blocks")?);
    let triangles = room(chairs, &mut run.rng);
    let mut tree = Tree::default();
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    tree.build(&triangles, &mut order);
    let nodes = run.upload("nodes", tree.nodes.as_flattened())?;
    let leaves = run.upload("triangles", tree.leaves.as_flattened())?;

    let mut rays = camera(width, height, [0.5, 1.8, 0.3]);
    for name in ["picture", "scattered"] {
        let count = rays.len();
        let row = |ray: &Ray| {
            let ([x, y, z], [dx, dy, dz]) = (ray.from, ray.direction);
            [x, y, z, NEAREST, dx, dy, dz, FURTHEST]
        };
        let rows: Vec<[f32; 8]> = rays.iter().map(row).collect();
        let ray_buffer = run.upload("rays", rows.as_flattened())?;
        let next = run.zeros::<i32>("next_ray", 1)?;
        let hits = run.zeros::<i32>("hits", count)?;
        let distances = run.zeros::<f32>("distances", count)?;
        let args = [
            nodes.into(),
            leaves.into(),
            ray_buffer.into(),
            (count as i32).into(),
            next.into(),
            hits.into(),
            distances.into(),
        ];
        run.launch("trace", blocks, (32, WARPS), &args)?;

        let want = first_hits(&triangles, &rays);
        let (index, distance): (Vec<i32>, Vec<f32>) = want.iter().copied().unzip();
        run.check(&format!("hits ({name})"), hits, &index)?;
        run.check(&format!("distances ({name})"), distances, &distance)?;
        rays = scatter(&triangles, &rays, &want, &mut run.rng);
    }
    Ok(())
}

/// Rays in random directions from where others met something.
fn scatter(triangles: &[Triangle], rays: &[Ray], hits: &[(i32, f32)], rng: &mut Rng) -> Vec<Ray> {
    let mut scattered = Vec::new();
    for (ray, &(hit, distance)) in rays.iter().zip(hits).filter(|(_, (hit, _))| *hit >= 0) {
        let [a, b, c] = triangles[hit as usize];
        let normal = cross(minus(b, a), minus(c, a));
        let random = unit([(); 3].map(|()| rng.between(-1.0, 1.0)));
        // To the side from which it came.
        let is_behind = dot(random, normal) * dot(ray.direction, normal) > 0.0;
        let direction = if is_behind { random.map(|c| -c) } else { random };
        let from = [0, 1, 2].map(|i| ray.direction[i].mul_add(distance, ray.from[i]));
        scattered.push(Ray { from, direction });
    }
    scattered
}
