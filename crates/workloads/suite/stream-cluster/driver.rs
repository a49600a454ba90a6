//! Clusters of points that come in a stream: candidates for centres, one after the other, open where that pays.

use crate::prelude::*;

const BLOCK: usize = 512;
/// What a new centre costs, for each point.
const PRICE: f64 = 0.02;

/// Points around so many middles, in planes.
fn points(rng: &mut Rng, count: usize, dimensions: usize) -> Vec<f32> {
    let middles = rng.floats(20 * dimensions, 0.0, 1.0);
    let mut planes = vec![0.0; count * dimensions];
    for point in 0..count {
        let middle = rng.index(20);
        for d in 0..dimensions {
            planes[d * count + point] = middles[middle * dimensions + d] + rng.between(-0.05, 0.05);
        }
    }
    planes
}

/// What the host knows of the clusters.
struct Clusters {
    /// The centre of each point, and what that costs.
    assigned: Vec<usize>,
    costs: Vec<f32>,
    centres: Vec<usize>,
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (count, dimensions, candidates) = (run.size("points")?, run.size("dimensions")?, run.size("candidates")?);
    let planes = points(&mut run.rng, count, dimensions);
    let weights = run.rng.floats(count, 0.5, 1.5);
    let cost = |point: usize, centre: usize| {
        let d = |d: usize| planes[d * count + point] - planes[d * count + centre];
        (0..dimensions).fold(0.0, |sum: f32, i| d(i).mul_add(d(i), sum)) * weights[point]
    };
    let costs = (0..count).map(|point| cost(point, 0)).collect();
    let mut clusters = Clusters { assigned: vec![0; count], costs, centres: vec![0] };

    let plane_buffer = run.upload("coordinates", &planes)?;
    let weight_buffer = run.upload("weights", &weights)?;
    let cost_buffer = run.zeros::<f32>("costs", count)?;
    let assigned_buffer = run.zeros::<i32>("assigned", count)?;
    let index_buffer = run.zeros::<i32>("centre_index", count)?;
    for _ in 0..candidates {
        let candidate = run.rng.index(count);
        let centres = clusters.centres.len();
        let mut index = vec![0; count];
        clusters.centres.iter().zip(0..).for_each(|(centre, i)| index[*centre] = i);
        run.write(cost_buffer, &clusters.costs);
        run.write(assigned_buffer, &clusters.assigned.iter().map(|c| *c as i32).collect::<Vec<_>>());
        run.write(index_buffer, &index);
        let switches = run.zeros::<u8>("switches", count)?;
        let lower = run.zeros::<f32>("lower", count * centres)?;
        let total = run.zeros::<f32>("total", count)?;
        let numbers = [count, dimensions, candidate, centres].map(|n| (n as i32).into());
        let inputs = [
            plane_buffer.into(),
            weight_buffer.into(),
            cost_buffer.into(),
            assigned_buffer.into(),
            index_buffer.into(),
        ];
        let args = [&numbers[..], &inputs, &[switches.into(), lower.into(), total.into()]].concat();
        run.launch_shared("point_gain", count.div_ceil(BLOCK), BLOCK, 4 * dimensions, &args)?;

        // The same on the CPU.
        let (mut want_switches, mut want_lower) = (vec![0u8; count], vec![0.0f32; count * centres]);
        let mut want_total = vec![0.0f32; count];
        for point in 0..count {
            let (new, old) = (cost(point, candidate), clusters.costs[point]);
            if new < old {
                want_switches[point] = 1;
                want_total[point] = new - old;
            } else {
                want_lower[point * centres + index[clusters.assigned[point]] as usize] = old - new;
            }
        }
        run.check("switches", switches, &want_switches)?;
        run.check("lower", lower, &want_lower)?;
        run.check("total", total, &want_total)?;

        // A centre opens when it saves more than it costs.
        let saved: f64 = run.download(total).iter().map(|t| f64::from(*t)).sum();
        if -saved > PRICE * count as f64 {
            for point in (0..count).filter(|point| want_switches[*point] != 0 || *point == candidate) {
                clusters.assigned[point] = candidate;
                clusters.costs[point] = cost(point, candidate);
            }
            clusters.centres.push(candidate);
        }
    }
    Ok(())
}
