//! Scalar products of many pairs of vectors.

use crate::prelude::*;

const GRID: usize = 128;
const BLOCK: usize = 512;

pub fn run(run: &mut Run<'_>) -> Result {
    let (pairs, elements) = (run.size("pairs")?, run.size("elements")?);
    let [a, b] = [(); 2].map(|()| run.rng.floats(pairs * elements, -1.0, 1.0));
    let a_buffer = run.upload("a", &a)?;
    let b_buffer = run.upload("b", &b)?;
    let products = run.zeros::<f32>("products", pairs)?;
    let args = [a_buffer.into(), b_buffer.into(), products.into(), (pairs as i32).into(), (elements as i32).into()];
    run.launch("scalar_prod", GRID.min(pairs), BLOCK, &args)?;

    let product = |(a, b): (&[f32], &[f32])| {
        let sum: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        sum as f32
    };
    let want: Vec<f32> = a.chunks(elements).zip(b.chunks(elements)).map(product).collect();
    run.check("products", products, &want)
}
