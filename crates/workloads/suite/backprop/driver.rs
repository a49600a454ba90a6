//! One step of back propagation: the device has the layer with many inputs, the host the small rest.

use crate::prelude::*;

const HIDDEN: usize = 16;
const ROWS: usize = 16;
const RATE: f32 = 0.3;
const MOMENTUM: f32 = 0.3;
const TARGET: f64 = 0.1;

pub fn run(run: &mut Run<'_>) -> Result {
    let inputs = run.size("inputs")?;
    let mut input = run.rng.floats(inputs + 1, 0.0, 1.0);
    input[0] = 1.0;
    // Small enough for the sums not to saturate.
    let scale = 2.0 / (inputs as f32).sqrt();
    let weights = run.rng.floats((inputs + 1) * HIDDEN, -scale, scale);
    let changes = run.rng.floats((inputs + 1) * HIDDEN, -0.01, 0.01);
    // From the hidden layer to the one output; the first is that of the bias.
    let output_weights = run.rng.floats(HIDDEN + 1, -1.0, 1.0);

    let blocks = inputs / ROWS;
    let input_buffer = run.upload("input", &input)?;
    let weights_buffer = run.upload("weights", &weights)?;
    let changes_buffer = run.upload("changes", &changes)?;
    let partial_buffer = run.zeros::<f32>("partial", blocks * HIDDEN)?;
    let args = [input_buffer.into(), weights_buffer.into(), partial_buffer.into()];
    run.launch("layer_forward", (1, blocks), (HIDDEN, ROWS), &args)?;

    let mut sums: Vec<f64> = weights[..HIDDEN].iter().map(|w| f64::from(*w)).collect();
    for row in run.download(partial_buffer).as_chunks::<HIDDEN>().0 {
        sums.iter_mut().zip(row).for_each(|(sum, part)| *sum += f64::from(*part));
    }
    let delta: Vec<f32> = deltas(&sums, &output_weights).iter().map(|d| *d as f32).collect();
    let delta_buffer = run.upload("delta", &delta)?;
    let args = [
        delta_buffer.into(),
        input_buffer.into(),
        weights_buffer.into(),
        changes_buffer.into(),
        RATE.into(),
        MOMENTUM.into(),
    ];
    run.launch("adjust_weights", (1, blocks), (HIDDEN, ROWS), &args)?;

    let add = |sums: &mut [f64], i: usize| {
        let row = &weights[i * HIDDEN..][..HIDDEN];
        sums.iter_mut().zip(row).for_each(|(sum, w)| *sum += f64::from(*w) * f64::from(input[i]));
    };
    let mut totals = [0.0; HIDDEN];
    add(&mut totals, 0);
    let mut want_partial = Vec::with_capacity(blocks * HIDDEN);
    for block in 0..blocks {
        let mut sums = [0.0; HIDDEN];
        (0..ROWS).for_each(|i| add(&mut sums, 1 + block * ROWS + i));
        totals.iter_mut().zip(&sums).for_each(|(total, sum)| *total += sum);
        want_partial.extend(sums.map(|sum| sum as f32));
    }
    let delta = deltas(&totals, &output_weights);
    let change = |at: usize| {
        let gradient = delta[at % HIDDEN] * f64::from(input[at / HIDDEN]);
        f64::from(RATE) * gradient + f64::from(MOMENTUM) * f64::from(changes[at])
    };
    let want_changes: Vec<f32> = (0..changes.len()).map(|at| change(at) as f32).collect();
    let want_weights: Vec<f32> =
        weights.iter().enumerate().map(|(at, w)| (f64::from(*w) + change(at)) as f32).collect();
    run.check("partial", partial_buffer, &want_partial)?;
    run.check("changes", changes_buffer, &want_changes)?;
    run.check("weights", weights_buffer, &want_weights)
}

/// The errors of the hidden units, from the sums of their inputs.
fn deltas(sums: &[f64], weights: &[f32]) -> Vec<f64> {
    let squash = |sum: f64| 1.0 / (1.0 + (-sum).exp());
    let hidden: Vec<f64> = sums.iter().map(|sum| squash(*sum)).collect();
    let sum: f64 = hidden.iter().zip(&weights[1..]).map(|(h, w)| h * f64::from(*w)).sum();
    let output = squash(f64::from(weights[0]) + sum);
    let error = output * (1.0 - output) * (TARGET - output);
    hidden.iter().zip(&weights[1..]).map(|(h, w)| h * (1.0 - h) * f64::from(*w) * error).collect()
}
