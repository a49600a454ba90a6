//! Random machines with random mechanisms.

use crate::rng::Rng;
use crate::timing;
use raddle_sim::config::{self, Choice, IdealConfig, MachineConfig, PRESETS, Value, validate};
use raddle_sim::seam::{Mechanism, Registry, Seam};
use std::collections::BTreeMap;

/// A valid machine whose mechanisms work together.
pub(super) fn random(rng: &mut Rng) -> MachineConfig {
    let plain = config::random(rng.next_u64());
    with_mechanisms(plain, rng)
}

/// A preset with one or two SMs, if it can have so few, whose mechanisms work together.
pub(super) fn preset(rng: &mut Rng) -> MachineConfig {
    let preset = timing::machine(rng.pick(PRESETS).name, &[""; 0]);
    let mut small = preset.clone();
    small.gpu.sms = rng.between(1, 2);
    with_mechanisms(if is_valid(&small) { small } else { preset }, rng)
}

/// A machine with random mechanisms, or as it is if none that were tried work together.
fn with_mechanisms(plain: MachineConfig, rng: &mut Rng) -> MachineConfig {
    let registry = raddle_mech::registry();
    for _ in 0..20 {
        let mut config = plain.clone();
        if rng.one_in(4) {
            slice(&mut config, rng);
        }
        if rng.one_in(4) {
            let mut is = || rng.one_in(3);
            config.sm.ideal = IdealConfig { coalescing: is(), banks: is(), memory: is(), local: is(), atomics: is() };
        }
        let mechanisms = &mut config.mechanism;
        mechanisms.issue = choose(&registry, Seam::Issue, rng);
        mechanisms.fetch = choose(&registry, Seam::Fetch, rng);
        mechanisms.divergence = choose(&registry, Seam::Divergence, rng);
        mechanisms.dispatch = choose(&registry, Seam::Dispatch, rng);
        mechanisms.gating = choose(&registry, Seam::Gating, rng);
        if is_valid(&config) {
            return config;
        }
    }
    plain
}

/// Whether a machine can be, with its mechanisms.
pub(super) fn is_valid(config: &MachineConfig) -> bool {
    validate(config).is_ok() && raddle_mech::registry().check(config).is_ok()
}

/// Slices of the datapath, often with gangs.
fn slice(config: &mut MachineConfig, rng: &mut Rng) {
    let sm = &mut config.sm;
    sm.slices = 32 / sm.warp_width;
    sm.units.unified = false;
    sm.issue.schedulers = rng.between(1, 2);
    sm.fetch.l0_bytes = *rng.pick(&[0, 64, 256]);
    if rng.one_in(3) {
        return;
    }
    let text = |text: &str| Value::Text(text.to_owned());
    let mut pick = |words: &[&'static str]| *rng.pick(words);
    let parameters = [
        ("name", text("vws")),
        ("order", text(pick(&["gto", "lrr", "lpc", "lgto"]))),
        ("split", text(pick(&["none", "group", "impatient"]))),
        ("reform", text(pick(&["none", "opportunistic", "sync"]))),
    ];
    config.mechanism.ganging = Choice::Table(parameters.into_iter().map(|(key, v)| (key.to_owned(), v)).collect());
}

/// A mechanism of a seam, sometimes with parameters other than the defaults.
fn choose(registry: &Registry, seam: Seam, rng: &mut Rng) -> Choice {
    let all: Vec<&Mechanism> = registry.iter().filter(|m| m.info.seam == seam).collect();
    let mechanism = *rng.pick(&all);
    let mut table = BTreeMap::from([("name".to_owned(), Value::Text(mechanism.info.name.to_owned()))]);
    for parameter in &mechanism.parameters {
        let default = parameter.default.as_str();
        if !rng.one_in(4) {
            continue;
        }
        let value = match (default.parse::<bool>(), default.parse::<i64>()) {
            (Ok(flag), _) => Value::Bool(!flag),
            (_, Ok(number)) => {
                let [low, high] = parameter.bounds.map(|bound| bound.map(|b| b as i64));
                let near = [0, 1, 2, number / 2, number + 1, 2 * number];
                Value::Int((*rng.pick(&near)).clamp(low.unwrap_or(0), high.unwrap_or(i64::MAX)))
            }
            _ => continue,
        };
        table.insert(parameter.name.clone(), value);
    }
    Choice::Table(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(make: fn(&mut Rng) -> MachineConfig) {
        let registry = raddle_mech::registry();
        let machines: Vec<MachineConfig> = (0..600).map(|seed| make(&mut Rng::new(seed))).collect();
        for machine in &machines {
            assert!(validate(machine).is_ok() && registry.check(machine).is_ok(), "{machine:?}");
        }
        for mechanism in registry.iter() {
            let (seam, name) = (mechanism.info.seam, mechanism.info.name);
            assert!(machines.iter().any(|m| seam.choice(&m.mechanism).name() == name), "no machine has {name}");
        }
    }

    #[test]
    fn machines_are_valid_and_have_every_mechanism() {
        check(random);
    }

    #[test]
    fn presets_are_valid_and_have_every_mechanism() {
        check(preset);
    }
}
