//! Colours for a graph, round after round.

use crate::prelude::*;

const BLOCK: usize = 256;

pub fn run(run: &mut Run<'_>) -> Result {
    let (vertices, most) = (run.size("vertices")?, run.size("most_neighbours")?);
    // A few vertices want many neighbours, most want few. Nobody gets more than the most.
    let mut sets = vec![std::collections::BTreeSet::new(); vertices];
    for vertex in 0..vertices {
        let wanted = (most as f64).powf(run.rng.unit()) as usize;
        for _ in 0..wanted {
            let other = run.rng.index(vertices);
            if other != vertex && sets[other].len() < most && sets[vertex].len() < most {
                sets[vertex].insert(other);
                sets[other].insert(vertex);
            }
        }
    }
    let mut weights: Vec<u32> = (0..vertices as u32).collect();
    run.rng.shuffle(&mut weights);
    let neighbours: Vec<i32> = sets.iter().flatten().map(|v| *v as i32).collect();
    let mut first = vec![0];
    sets.iter().for_each(|set| first.push(first[first.len() - 1] + set.len() as i32));

    let first_buffer = run.upload("first", &first)?;
    let neighbour_buffer = run.upload("neighbours", &neighbours)?;
    let weight_buffer = run.upload("weights", &weights)?;
    let mut before = run.upload("colours", &vec![-1; vertices])?;
    let mut after = run.zeros::<i32>("next_colours", vertices)?;
    let left = run.zeros::<i32>("left", 1)?;
    loop {
        run.write(left, &[0]);
        let graph = [first_buffer.into(), neighbour_buffer.into(), weight_buffer.into(), (vertices as i32).into()];
        let args = [&graph[..], &[before.into(), after.into(), left.into()]].concat();
        run.launch("colour_round", vertices.div_ceil(BLOCK), BLOCK, &args)?;
        std::mem::swap(&mut before, &mut after);
        if run.download(left)[0] == 0 {
            break;
        }
    }

    // One vertex at a time, by weight, gives the same colours.
    let mut order: Vec<usize> = (0..vertices).collect();
    order.sort_by_key(|v| std::cmp::Reverse(weights[*v]));
    let mut want = vec![-1; vertices];
    for vertex in order {
        let has = |colour: i32| sets[vertex].iter().any(|other| want[*other] == colour);
        want[vertex] = (0..).find(|colour| !has(*colour)).unwrap_or(-1);
    }
    run.check("colours", before, &want)
}
