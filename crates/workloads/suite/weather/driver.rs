//! Some steps of a small weather model, and the same on the CPU.

use crate::prelude::*;

const BLOCK: usize = 8;
const FIELDS: usize = 5;
const CONDENSE: f32 = 2500.0;
const FREEZE: f32 = 330.0;
/// Time over the height of a level.
const STEP: f32 = 0.4;

struct World {
    width: usize,
    height: usize,
    levels: usize,
    /// Parts of a cell that the wind crosses in a step.
    wind: Vec<[f32; 2]>,
    pressure: Vec<f32>,
    /// Temperature, vapour, cloud, rain and snow.
    state: Vec<f32>,
    ground: Vec<f32>,
}

impl World {
    /// Some waves, long enough for neighbours to be alike, and a little noise.
    fn new(rng: &mut Rng, width: usize, height: usize, levels: usize) -> Self {
        let cells = width * height;
        let wave = |rng: &mut Rng| {
            let [a, b] = [(); 2].map(|()| (1 + rng.index(2)) as f64 * std::f64::consts::TAU);
            let (phase_x, phase_y) = (rng.unit() * 6.0, rng.unit() * 6.0);
            let at = |cell: usize| {
                let (x, y) = ((cell % width) as f64 / width as f64, (cell / width) as f64 / height as f64);
                ((a * x + phase_x).sin() * (b * y + phase_y).cos()) as f32
            };
            (0..cells).map(at).collect::<Vec<f32>>()
        };
        let (u, v, warm, wet) = (wave(rng), wave(rng), wave(rng), wave(rng));
        let wind = u.iter().zip(&v).map(|(u, v)| [u * 0.4, v * 0.4]).collect();
        let pressure: Vec<f32> = (0..levels).map(|k| 250.0 + 750.0 * (k + 1) as f32 / levels as f32).collect();
        let mut state = vec![0.0; FIELDS * levels * cells];
        for (level, pressure) in pressure.iter().enumerate() {
            let t = -50.0 + 70.0 * (level + 1) as f32 / levels as f32;
            for cell in 0..cells {
                let at = level * cells + cell;
                state[at] = t + 8.0 * warm[cell] + rng.between(-0.2, 0.2);
                let most = 0.622 * saturated(state[at]) / pressure;
                state[levels * cells + at] = most * (0.95 + 0.3 * wet[cell] + rng.between(-0.01, 0.01));
                for field in 2..FIELDS {
                    let some = (wet[cell] - 0.4).max(0.0) * 2e-3;
                    state[field * levels * cells + at] = some;
                }
            }
        }
        Self { width, height, levels, wind, pressure, state, ground: vec![0.0; cells] }
    }

    fn advect(&mut self) {
        let (width, height, cells) = (self.width, self.height, self.width * self.height);
        let mut to = vec![0.0; self.state.len()];
        for (from, to) in self.state.chunks_exact(cells).zip(to.chunks_exact_mut(cells)) {
            for cell in 0..cells {
                let ([u, v], x, y) = (self.wind[cell], cell % width, cell / width);
                let before = |at: usize, size: usize, speed: f32| {
                    if speed > 0.0 { (at + size - 1) % size } else { (at + 1) % size }
                };
                let beside = y * width + before(x, width, u);
                let above = before(y, height, v) * width + x;
                let here = from[cell];
                to[cell] = here - u.abs().mul_add(here - from[beside], v.abs() * (here - from[above]));
            }
        }
        self.state = to;
    }

    fn change_state(&mut self) {
        let (cells, levels) = (self.width * self.height, self.levels);
        for cell in 0..cells {
            let mut fastest = 0.0f32;
            for level in 0..levels {
                let at = |field: usize| (field * levels + level) * cells + cell;
                let mut air = Air {
                    t: self.state[at(0)],
                    vapour: self.state[at(1)],
                    cloud: self.state[at(2)],
                    rain: self.state[at(3)],
                    snow: self.state[at(4)],
                };
                air.change(self.pressure[level]);
                let Air { t, vapour, cloud, rain, snow } = air;
                [t, vapour, cloud, rain, snow].into_iter().enumerate().for_each(|(f, v)| self.state[at(f)] = v);
                if rain > 1e-6 {
                    fastest = fastest.max(fall(rain));
                }
            }
            if fastest == 0.0 {
                continue;
            }
            let steps = 1 + (fastest * STEP) as i32;
            let part = STEP / steps as f32;
            for _ in 0..steps {
                let mut coming = 0.0;
                for level in 0..levels {
                    let at = &mut self.state[(3 * levels + level) * cells + cell];
                    let rain = *at;
                    let going = if rain > 1e-6 { rain.min(rain * fall(rain) * part) } else { 0.0 };
                    *at = rain - going + coming;
                    coming = going;
                }
                self.ground[cell] += coming;
            }
        }
    }
}

/// From the highest power down.
fn polynomial(factors: [f32; 5], t: f32) -> f32 {
    factors.into_iter().reduce(|sum, factor| sum.mul_add(t, factor)).unwrap_or_default()
}

fn saturated(t: f32) -> f32 {
    if t > 0.0 {
        polynomial([3.03e-6, 2.65e-4, 1.43e-2, 0.444, 6.11], t)
    } else {
        polynomial([2.0e-6, 2.9e-4, 1.85e-2, 0.503, 6.11], t).max(0.05)
    }
}

fn fall(rain: f32) -> f32 {
    36.0 * rain.sqrt().sqrt()
}

/// The air of a cell.
struct Air {
    t: f32,
    vapour: f32,
    cloud: f32,
    rain: f32,
    snow: f32,
}

impl Air {
    /// Every process in the kernel's order.
    fn change(&mut self, pressure: f32) {
        let shift = |m: f32, from: &mut f32, to: &mut f32| {
            *from -= m;
            *to += m;
        };
        let es = saturated(self.t);
        let most = 0.622 * es / (pressure - es);
        let excess = self.vapour - most;
        if excess > 0.0 {
            let m = excess * 0.7;
            self.t = m.mul_add(CONDENSE, self.t);
            shift(m, &mut self.vapour, if self.t > -10.0 { &mut self.cloud } else { &mut self.snow });
        } else if self.cloud > 0.0 {
            let m = self.cloud.min(excess * -0.5);
            shift(m, &mut self.cloud, &mut self.vapour);
            self.t = (-m).mul_add(CONDENSE, self.t);
        }
        if self.t > 0.0 {
            if self.cloud > 5e-4 {
                shift((self.cloud - 5e-4) * 0.1, &mut self.cloud, &mut self.rain);
            }
            if self.cloud > 0.0 && self.rain > 0.0 {
                let m = self.cloud.min(2.0 * self.cloud * self.rain.sqrt());
                shift(m, &mut self.cloud, &mut self.rain);
            }
            if self.snow > 0.0 {
                let m = self.snow.min(1e-4 * self.t);
                shift(m, &mut self.snow, &mut self.rain);
                self.t = (-m).mul_add(FREEZE, self.t);
            }
            if self.rain > 0.0 && self.vapour < most {
                let m = self.rain.min((most - self.vapour) * 0.05 * fall(self.rain));
                shift(m, &mut self.rain, &mut self.vapour);
                self.t = (-m).mul_add(CONDENSE, self.t);
            }
        } else {
            if self.rain > 0.0 {
                let m = if self.t < -15.0 { self.rain } else { self.rain * 0.2 };
                shift(m, &mut self.rain, &mut self.snow);
                self.t = m.mul_add(FREEZE, self.t);
            }
            if self.cloud > 0.0 && self.snow > 0.0 {
                let m = self.cloud.min(1.5 * self.cloud * self.snow.sqrt());
                shift(m, &mut self.cloud, &mut self.snow);
            }
            if self.t < -38.0 && self.cloud > 0.0 {
                let m = self.cloud;
                shift(m, &mut self.cloud, &mut self.snow);
                self.t = m.mul_add(FREEZE, self.t);
            }
        }
    }
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (width, height) = (run.size("width")?, run.size("height")?);
    let (levels, steps) = (run.size("levels")?, run.size("steps")?);
    let mut world = World::new(&mut run.rng, width, height, levels);
    let mut state = run.upload("state", &world.state)?;
    let mut other = run.zeros::<f32>("other", world.state.len())?;
    let wind = run.upload("wind", world.wind.as_flattened())?;
    let pressure = run.upload("pressure", &world.pressure)?;
    let ground = run.zeros::<f32>("ground", width * height)?;
    let grid = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
    let sizes = [width, height, levels].map(|n| (n as i32).into());
    for _ in 0..steps {
        let args = [&[state.into(), wind.into()][..], &sizes, &[other.into()]].concat();
        run.launch("advect", grid, (BLOCK, BLOCK), &args)?;
        std::mem::swap(&mut state, &mut other);
        let args = [&[state.into(), pressure.into()][..], &sizes, &[STEP.into(), ground.into()]].concat();
        run.launch("change_state", grid, (BLOCK, BLOCK), &args)?;
        world.advect();
        world.change_state();
    }
    run.check("state", state, &world.state)?;
    run.check("ground", ground, &world.ground)
}
