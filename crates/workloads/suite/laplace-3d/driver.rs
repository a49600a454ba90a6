//! Laplace's equation in a box whose surface has given values.

use crate::prelude::*;

const WIDTH: usize = 32;
const HEIGHT: usize = 4;

pub fn run(run: &mut Run<'_>) -> Result {
    let (side, iterations) = (run.size("side")?, run.size("iterations")?);
    let cells = side * side * side;
    let is_surface = |at: usize| [at % side, at / side % side, at / side / side].iter().any(|i| i % (side - 1) == 0);
    let start: Vec<f32> = (0..cells).map(|at| if is_surface(at) { 1.0 } else { run.rng.between(0.0, 0.5) }).collect();

    let mut from = run.upload("values", &start)?;
    let mut to = run.zeros::<f32>("next", cells)?;
    let n = side as i32;
    for _ in 0..iterations {
        let grid = (side.div_ceil(WIDTH), side.div_ceil(HEIGHT));
        run.launch("laplace", grid, (WIDTH, HEIGHT), &[from.into(), to.into(), n.into(), n.into(), n.into()])?;
        (from, to) = (to, from);
    }

    // A mean of the six neighbours, in double precision.
    let mut now: Vec<f64> = start.iter().copied().map(f64::from).collect();
    for _ in 0..iterations {
        let steps = [1, side, side * side];
        let mean = |at: usize| steps.iter().map(|step| now[at - step] + now[at + step]).sum::<f64>() / 6.0;
        now = (0..cells).map(|at| if is_surface(at) { now[at] } else { mean(at) }).collect();
    }
    let want: Vec<f32> = now.into_iter().map(|v| v as f32).collect();
    run.check("values", from, &want)
}
