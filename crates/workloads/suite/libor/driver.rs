//! Swaptions by Monte Carlo, with and without Greeks. The kernels differentiate backwards, the reference forwards.

use crate::prelude::*;
use raddle_runtime::device::Arg;

const BLOCK: usize = 64;
const DELTA: f32 = 0.25;
const NOTIONAL: f64 = 100.0;

/// What all paths have in common.
struct Model {
    steps: usize,
    rates: Vec<f32>,
    volatilities: Vec<f32>,
    maturities: Vec<i32>,
    swap_rates: Vec<f32>,
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (paths, rates, steps) = (run.size("paths")?, run.size("rates")?, run.size("steps")?);
    let options = run.size("options")?;
    let model = Model {
        steps,
        rates: run.rng.floats(rates, 0.045, 0.055),
        volatilities: run.rng.floats(rates, 0.15, 0.25),
        maturities: (0..options).map(|_| 1 + run.rng.index(rates - steps) as i32).collect(),
        swap_rates: run.rng.floats(options, 0.045, 0.055),
    };
    let mut noise = vec![0.0; steps * paths];
    let mut want_values = Vec::with_capacity(paths);
    let mut want_greeks = vec![0.0; rates * paths];
    for path in 0..paths {
        // A path that ends at the price of an option, where the derivative jumps, is drawn again.
        let (own, (value, greeks)) = loop {
            let own: Vec<f32> = (0..steps).map(|_| normal(&mut run.rng)).collect();
            if let Some(result) = model.follow(&own) {
                break (own, result);
            }
        };
        own.iter().enumerate().for_each(|(step, z)| noise[step * paths + path] = *z);
        want_values.push(value as f32);
        greeks.iter().enumerate().for_each(|(i, greek)| want_greeks[i * paths + path] = *greek as f32);
    }

    run.set_variable("initial_rates", &model.rates)?;
    run.set_variable("volatilities", &model.volatilities)?;
    run.set_variable("maturities", &model.maturities)?;
    run.set_variable("swap_rates", &model.swap_rates)?;
    let noise = run.upload("noise", &noise)?;
    let values = run.zeros::<f32>("values", paths)?;
    let greek_values = run.zeros::<f32>("greek_values", paths)?;
    let greeks = run.zeros::<f32>("greeks", rates * paths)?;
    let counts = || [paths, steps, rates, options].map(|n| Arg::from(n as i32));
    let args: Vec<Arg> = [noise.into(), values.into()].into_iter().chain(counts()).chain([DELTA.into()]).collect();
    run.launch("path_values", paths / BLOCK, BLOCK, &args)?;
    let outputs = [noise.into(), greek_values.into(), greeks.into()];
    let args: Vec<Arg> = outputs.into_iter().chain(counts()).chain([DELTA.into()]).collect();
    run.launch("path_greeks", paths / BLOCK, BLOCK, &args)?;
    run.check("values", values, &want_values)?;
    run.check("greek_values", greek_values, &want_values)?;
    run.check("greeks", greeks, &want_greeks)
}

/// Close to a normal distribution: the sum of twelve numbers from 0 to 1.
fn normal(rng: &mut Rng) -> f32 {
    ((0..12).map(|_| rng.unit()).sum::<f64>() - 6.0) as f32
}

impl Model {
    /// The payoff and its derivatives by the initial rates; nothing if an option is too close to its price.
    fn follow(&self, noise: &[f32]) -> Option<(f64, Vec<f64>)> {
        let delta = f64::from(DELTA);
        let count = self.rates.len();
        let mut rates: Vec<f64> = self.rates.iter().map(|r| f64::from(*r)).collect();
        // tangents[i][j]: how rate i changes with initial rate j, up to i.
        let mut tangents: Vec<Vec<f64>> =
            (0..count).map(|i| (0..=i).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        for (step, z) in noise.iter().enumerate() {
            let shock = delta.sqrt() * f64::from(*z);
            let (mut drift, mut drift_tangent) = (0.0, vec![0.0; count]);
            for i in step + 1..count {
                let volatility = f64::from(self.volatilities[i - step - 1]);
                let growth = 1.0 + delta * rates[i];
                let weight = delta * volatility / growth;
                drift += weight * rates[i];
                let factor = (delta * volatility * drift + volatility * (shock - 0.5 * delta * volatility)).exp();
                let by_drift = rates[i] * factor * delta * volatility;
                for (tangent, of_drift) in tangents[i].iter_mut().zip(&mut drift_tangent) {
                    *of_drift += weight / growth * *tangent;
                    *tangent = factor * *tangent + by_drift * *of_drift;
                }
                rates[i] *= factor;
            }
        }

        let discount: f64 = rates[..self.steps].iter().map(|r| 1.0 / (1.0 + delta * r)).product();
        // The payoff's derivatives by the last rates.
        let mut gradient = vec![0.0; count];
        let mut payoff = 0.0;
        for (maturity, swap_rate) in self.maturities.iter().zip(&self.swap_rates) {
            let swap_rate = f64::from(*swap_rate);
            let range = self.steps..self.steps + *maturity as usize;
            let mut bonds = Vec::new();
            rates[range.clone()].iter().fold(1.0, |bond, rate| {
                bonds.push(bond / (1.0 + delta * rate));
                bonds[bonds.len() - 1]
            });
            let last = bonds[bonds.len() - 1];
            let worth = last + swap_rate * delta * bonds.iter().sum::<f64>() - 1.0;
            if worth.abs() < 1e-5 {
                return None;
            }
            if worth < 0.0 {
                payoff -= NOTIONAL * worth;
                // A rate divides all bonds from its own on.
                for (at, i) in range.enumerate() {
                    let divided = last + swap_rate * delta * bonds[at..].iter().sum::<f64>();
                    gradient[i] += NOTIONAL * divided * delta / (1.0 + delta * rates[i]);
                }
            }
        }
        gradient.iter_mut().for_each(|g| *g *= discount);
        let value = payoff * discount;
        for i in 0..self.steps {
            gradient[i] = -value * delta / (1.0 + delta * rates[i]);
        }
        let mut greeks = vec![0.0; count];
        for (tangent, by_rate) in tangents.iter().zip(&gradient) {
            greeks.iter_mut().zip(tangent).for_each(|(greek, t)| *greek += by_rate * t);
        }
        Some((value, greeks))
    }
}
