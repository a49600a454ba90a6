//! Which machines make sense. What passes here can be simulated.
//!
//! Every number has an upper bound as well, far from anything built: a slip of the keyboard should give a message,
//! not take all memory.

mod footprint;
mod memory;
mod sm;

use super::problem::Problem;
use super::{Choice, MachineConfig, MechanismConfig, SetIndex, Value};

/// The longest time a single thing may take, in cycles.
const MAX_LATENCY: u32 = 100_000;
/// The most entries of a queue.
const MAX_QUEUE: u32 = 65_536;
/// The most accesses that can wait in all misses of a cache.
const MAX_WAITERS: u64 = 1 << 20;
/// The longest line of a cache of an SM, and so the most bytes of a request.
const MAX_LINE: u32 = 128;
/// The shortest line: what one thread may load at once.
const MIN_LINE: u32 = 32;

/// Checks a machine.
///
/// # Errors
/// With every key that has an impossible value or does not go with another, and why.
pub fn validate(config: &MachineConfig) -> Result<(), Vec<Problem>> {
    let mut check = Check::default();
    gpu(&mut check, config);
    sm::check(&mut check, config);
    memory::check(&mut check, config);
    mechanism(&mut check, &config.mechanism);
    if check.problems.is_empty() {
        footprint::check(&mut check, config);
    }
    if check.problems.is_empty() { Ok(()) } else { Err(check.problems) }
}

fn gpu(check: &mut Check, config: &MachineConfig) {
    let clock = &config.clock;
    check.range("gpu.sms", config.gpu.sms, 1, 1024);
    for (name, value) in
        [("core", clock.core), ("interconnect", clock.interconnect), ("l2", clock.l2), ("dram", clock.dram)]
    {
        check.range(&format!("clock.{name}"), value, 1, 100_000);
    }
    check.range("gpu.window", config.gpu.window, 1, MAX_LATENCY);
    if check.problems.is_empty() {
        let latency = u64::from(config.interconnect.latency) * u64::from(clock.core) / u64::from(clock.interconnect);
        check.rule(u64::from(config.gpu.window) <= latency, "gpu.window", || {
            format!(
                "is {}, longer than `interconnect.latency`, which is {latency} cycles of the core clock: a message \
                 would have to arrive before it is exchanged",
                config.gpu.window
            )
        });
    }
}

fn mechanism(check: &mut Check, mechanism: &MechanismConfig) {
    let MechanismConfig { divergence, issue, fetch, dispatch, ganging, gating, logical_blocks } = mechanism;
    for (name, choice) in [
        ("divergence", divergence),
        ("issue", issue),
        ("fetch", fetch),
        ("dispatch", dispatch),
        ("ganging", ganging),
        ("gating", gating),
        ("logical_blocks", logical_blocks),
    ] {
        check.rule(!choice.name().is_empty(), &format!("mechanism.{name}"), || "must name a mechanism".to_owned());
        if let Choice::Table(table) = choice {
            let finite = |value: &Value| !matches!(value, Value::Float(number) if !number.is_finite());
            for (key, _) in table.iter().filter(|(_, value)| !finite(value)) {
                check.refuse(&format!("mechanism.{name}"), format!("has a parameter `{key}` that is not a number"));
            }
        }
    }
}

/// Collects what is wrong.
#[derive(Default)]
struct Check {
    problems: Vec<Problem>,
}

impl Check {
    /// Refuses the value of `path`; `why` continues after the name of the key.
    fn refuse(&mut self, path: &str, why: String) {
        self.problems.push(Problem::new(path, format!("`{path}` {why}")));
    }

    /// Refuses the value of `path` unless `good`; gives `good`.
    fn rule(&mut self, good: bool, path: &str, why: impl FnOnce() -> String) -> bool {
        if !good {
            self.refuse(path, why());
        }
        good
    }

    /// `value` is from `min` to `max`.
    fn range(&mut self, path: &str, value: u32, min: u32, max: u32) -> bool {
        self.rule((min..=max).contains(&value), path, || format!("must be from {min} to {max}, not {value}"))
    }

    /// `value` is a power of two from `min` to `max`.
    fn power(&mut self, path: &str, value: u32, min: u32, max: u32) -> bool {
        self.rule(value.is_power_of_two() && (min..=max).contains(&value), path, || {
            format!("must be a power of two from {min} to {max}, not {value}")
        })
    }

    /// A queue of `value` entries.
    fn queue(&mut self, path: &str, value: u32) -> bool {
        self.range(path, value, 1, MAX_QUEUE)
    }

    /// Misses of a cache, and the accesses that wait for each.
    fn misses(&mut self, cache: &str, entries: u32, merges: u32) {
        self.queue(&format!("{cache}.mshr_entries"), entries);
        let path = format!("{cache}.mshr_merges");
        if self.queue(&path, merges) {
            let waiters = u64::from(entries) * u64::from(merges);
            self.rule(waiters <= MAX_WAITERS, &path, || {
                format!("times `{cache}.mshr_entries` is {waiters}; at most {MAX_WAITERS} accesses can wait")
            });
        }
    }

    /// How the sets of a cache are told from an address, where only some sizes can be.
    fn index(&mut self, path: &str, index: SetIndex, sets: u32, line: u32) {
        self.rule(index != SetIndex::Fermi || (sets, line) == (32, 128), path, || {
            format!("is \"fermi\", which is for 32 sets of 128 bytes, not {sets} of {line}")
        });
        self.rule(index != SetIndex::Polynomial || [32, 64].contains(&sets), path, || {
            format!("is \"polynomial\", which is for 32 or 64 sets, not {sets}")
        });
    }

    /// A time of `value` cycles, which may be none.
    fn latency(&mut self, path: &str, value: u32) -> bool {
        self.range(path, value, 0, MAX_LATENCY)
    }
}

#[cfg(test)]
mod tests;
