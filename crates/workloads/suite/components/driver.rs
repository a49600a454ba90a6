//! The connected components of a sparse random graph, in rounds of hooking and shortening.

use crate::prelude::*;

const BLOCK: usize = 256;

pub fn run(run: &mut Run<'_>) -> Result {
    let (vertices, most) = (run.size("vertices")?, run.size("most_edges")?);
    // Most vertices have few edges, and most of those are short, so that components are long; vertices are numbered at random.
    let mut number: Vec<usize> = (0..vertices).collect();
    run.rng.shuffle(&mut number);
    let mut neighbours = vec![Vec::new(); vertices];
    for from in 0..vertices {
        for _ in 1..(most as f64).powf(run.rng.unit()) as usize {
            let reach = if run.rng.below(100) == 0 { vertices } else { 20 };
            let to = (from + 1 + run.rng.index(reach)) % vertices;
            neighbours[number[from]].push(number[to]);
            neighbours[number[to]].push(number[from]);
        }
    }
    let mut first = vec![0];
    neighbours.iter().for_each(|list| first.push(first[first.len() - 1] + list.len() as i32));
    let flat: Vec<i32> = neighbours.iter().flatten().map(|v| *v as i32).collect();
    let first_buffer = run.upload("first", &first)?;
    let neighbour_buffer = run.upload("neighbours", &flat)?;
    let labels = run.upload("labels", &(0..vertices as i32).collect::<Vec<_>>())?;
    let changed = run.zeros::<i32>("changed", 1)?;
    let members = run.zeros::<i32>("members", vertices)?;
    loop {
        run.write(changed, &[0]);
        let args =
            [first_buffer.into(), neighbour_buffer.into(), (vertices as i32).into(), labels.into(), changed.into()];
        run.launch("hook", vertices.div_ceil(BLOCK), BLOCK, &args)?;
        run.launch("shorten", vertices.div_ceil(BLOCK), BLOCK, &[labels.into(), (vertices as i32).into()])?;
        if run.download(changed)[0] == 0 {
            break;
        }
    }
    let args = [labels.into(), (vertices as i32).into(), members.into()];
    run.launch("count_members", vertices.div_ceil(BLOCK), BLOCK, &args)?;

    // On the CPU, by walking from every vertex that has no component yet.
    let (mut want, mut want_members) = (vec![-1; vertices], vec![0; vertices]);
    for (start, members) in want_members.iter_mut().enumerate() {
        let mut open = vec![start];
        while let Some(vertex) = open.pop() {
            if want[vertex] < 0 {
                want[vertex] = start as i32;
                *members += 1;
                open.extend(&neighbours[vertex]);
            }
        }
    }
    run.check("labels", labels, &want)?;
    run.check("members", members, &want_members)
}
