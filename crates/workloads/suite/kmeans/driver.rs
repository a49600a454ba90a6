//! K-means: nearest centres on the device, new centres on the host, until few points change their cluster.

use crate::prelude::*;

const BLOCK: usize = 256;

pub fn run(run: &mut Run<'_>) -> Result {
    let (count, dimensions, clusters) = (run.size("points")?, run.size("features")?, run.size("clusters")?);
    let iterations = run.size("iterations")?;
    let places = run.rng.floats(clusters * dimensions, -1.0, 1.0);
    let mut points = Vec::with_capacity(count * dimensions);
    for _ in 0..count {
        let place = run.rng.index(clusters) * dimensions;
        points.extend((0..dimensions).map(|i| places[place + i] + run.rng.between(-1.0, 1.0)));
    }

    let input = run.upload("points", &points)?;
    let features = run.zeros::<f32>("features", count * dimensions)?;
    let [point_count, dimension_count, cluster_count] = [count, dimensions, clusters].map(|n| n as i32);
    let args = [input.into(), features.into(), point_count.into(), dimension_count.into()];
    run.launch("invert_mapping", count.div_ceil(BLOCK), BLOCK, &args)?;
    let membership = run.upload("membership", &vec![-1; count])?;
    let mut device = Clustering::new(&points, dimensions, clusters);
    for _ in 0..iterations {
        run.set_variable("centres", &device.centres)?;
        let args =
            [features.into(), point_count.into(), dimension_count.into(), cluster_count.into(), membership.into()];
        run.launch("kmeans_point", count.div_ceil(BLOCK), BLOCK, &args)?;
        if device.adopt(run.download(membership)) {
            break;
        }
    }

    let mut host = Clustering::new(&points, dimensions, clusters);
    for _ in 0..iterations {
        let nearest = points.chunks(dimensions).map(|point| host.nearest(point)).collect();
        if host.adopt(nearest) {
            break;
        }
    }
    let want: Vec<f32> = (0..count * dimensions).map(|at| points[at % count * dimensions + at / count]).collect();
    run.check("features", features, &want)?;
    run.check("membership", membership, &host.membership)
}

/// What an iteration begins with.
struct Clustering<'p> {
    points: &'p [f32],
    dimensions: usize,
    centres: Vec<f32>,
    membership: Vec<i32>,
}

impl<'p> Clustering<'p> {
    /// The first points are the first centres.
    fn new(points: &'p [f32], dimensions: usize, clusters: usize) -> Self {
        let centres = points[..clusters * dimensions].to_vec();
        Self { points, dimensions, centres, membership: vec![-1; points.len() / dimensions] }
    }

    /// The cluster of a point, with the same rounding as on the device.
    fn nearest(&self, point: &[f32]) -> i32 {
        let square = |sum: f32, (a, b): (&f32, &f32)| (a - b).mul_add(a - b, sum);
        let distance = |centre: &[f32]| point.iter().zip(centre).fold(0.0, square);
        let distances = self.centres.chunks(self.dimensions).map(distance).enumerate();
        distances.min_by(|(_, a), (_, b)| a.total_cmp(b)).map_or(-1, |(cluster, _)| cluster as i32)
    }

    /// Moves the centres to the means of these clusters; true if fewer than one point in a thousand has changed.
    fn adopt(&mut self, membership: Vec<i32>) -> bool {
        let mut sums = vec![0.0; self.centres.len()];
        let mut sizes = vec![0.0; self.centres.len() / self.dimensions];
        for (point, &cluster) in self.points.chunks(self.dimensions).zip(&membership) {
            let cluster = cluster as usize;
            sizes[cluster] += 1.0;
            let sums = &mut sums[cluster * self.dimensions..];
            sums.iter_mut().zip(point).for_each(|(sum, x)| *sum += f64::from(*x));
        }
        for (at, centre) in self.centres.iter_mut().enumerate() {
            let size = sizes[at / self.dimensions];
            // An empty cluster stays where it is.
            if size > 0.0 {
                *centre = (sums[at] / size) as f32;
            }
        }
        let changed = membership.iter().zip(&self.membership).filter(|(new, old)| new != old).count();
        self.membership = membership;
        changed * 1000 < self.membership.len()
    }
}
