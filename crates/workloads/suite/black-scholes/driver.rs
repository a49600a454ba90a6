//! Prices of random options.

use crate::prelude::*;

const BLOCK: usize = 128;
const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.3;

/// The normal distribution, by a long sum.
fn normal(d: f64) -> f64 {
    // Simpson's rule between 0 and |d|.
    let steps = 40;
    let width = d.abs() / f64::from(steps);
    let density = |i: i32| (-0.5 * (f64::from(i) * width).powi(2)).exp() / std::f64::consts::TAU.sqrt();
    let weight = |i: i32| if i == 0 || i == steps { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
    let area: f64 = (0..=steps).map(|i| weight(i) * density(i)).sum::<f64>() * width / 3.0;
    0.5 + area.copysign(d)
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (count, blocks) = (run.size("options")?, run.size("blocks")?);
    let stock = run.rng.floats(count, 5.0, 30.0);
    let strike = run.rng.floats(count, 1.0, 100.0);
    let years = run.rng.floats(count, 0.25, 10.0);
    let stock_buffer = run.upload("stock", &stock)?;
    let strike_buffer = run.upload("strike", &strike)?;
    let year_buffer = run.upload("years", &years)?;
    let call = run.zeros::<f32>("call", count)?;
    let put = run.zeros::<f32>("put", count)?;
    let args = [
        stock_buffer.into(),
        strike_buffer.into(),
        year_buffer.into(),
        (count as i32).into(),
        RATE.into(),
        VOLATILITY.into(),
        call.into(),
        put.into(),
    ];
    run.launch("prices", blocks, BLOCK, &args)?;

    let (rate, volatility) = (f64::from(RATE), f64::from(VOLATILITY));
    let (mut want_call, mut want_put) = (Vec::new(), Vec::new());
    for ((stock, strike), years) in stock.iter().zip(&strike).zip(&years) {
        let [stock, strike, years] = [stock, strike, years].map(|v| f64::from(*v));
        let spread = volatility * years.sqrt();
        let d1 = ((stock / strike).ln() + (rate + 0.5 * volatility * volatility) * years) / spread;
        let discounted = strike * (-rate * years).exp();
        let price = stock * normal(d1) - discounted * normal(d1 - spread);
        want_call.push(price as f32);
        // What a put costs follows from what a call costs.
        want_put.push((price - stock + discounted) as f32);
    }
    run.check("call", call, &want_call)?;
    run.check("put", put, &want_put)
}
