//! Many short signals and their spectra.

use crate::prelude::*;

const POINTS: usize = 512;
const BLOCK: usize = 64;

pub fn run(run: &mut Run<'_>) -> Result {
    let count = run.size("signals")?;
    let signals = run.rng.floats(count * POINTS * 2, -1.0, 1.0);
    let turn = |i: usize| (-std::f64::consts::TAU * i as f64 / POINTS as f64).sin_cos();
    let turns: Vec<(f64, f64)> = (0..POINTS).map(turn).collect();
    let half: Vec<[f32; 2]> = turns[..POINTS / 2].iter().map(|(sin, cos)| [*cos as f32, *sin as f32]).collect();
    let signal_buffer = run.upload("signals", &signals)?;
    let turn_buffer = run.upload("turns", half.as_flattened())?;
    let spectra = run.zeros::<f32>("spectra", signals.len())?;
    run.launch("transform", count, BLOCK, &[signal_buffer.into(), turn_buffer.into(), spectra.into()])?;

    // By the definition.
    let mut want = Vec::with_capacity(signals.len());
    for signal in signals.chunks_exact(POINTS * 2) {
        for frequency in 0..POINTS {
            let (mut real, mut imaginary) = (0.0, 0.0);
            for (i, point) in signal.as_chunks::<2>().0.iter().enumerate() {
                let (sin, cos) = turns[i * frequency % POINTS];
                let [x, y] = point.map(f64::from);
                real += x * cos - y * sin;
                imaginary += x * sin + y * cos;
            }
            want.extend([real as f32, imaginary as f32]);
        }
    }
    run.check("spectra", spectra, &want)
}
