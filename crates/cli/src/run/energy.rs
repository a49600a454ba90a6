//! `--energy`: what a run takes in joules and watts.

use crate::exit::Failure;
use crate::out::{percent, table};
use raddle_energy::{Activity, Breakdown, Component, Table};
use raddle_runtime::outcome::Launched;
use raddle_runtime::{Error, Problem, input};
use raddle_sim::config::Machine;
use serde_json::{Value, json};
use std::path::Path;

/// The energies asked for: the table that comes with Raddle, or with what a file overrides.
pub fn energies(asked: Option<&Option<std::path::PathBuf>>) -> Result<Option<Table>, Failure> {
    match asked {
        None => Ok(None),
        Some(None) => Ok(Some(Table::gtx480())),
        Some(Some(path)) => read(path).map(Some),
    }
}

fn read(path: &Path) -> Result<Table, Failure> {
    let shown = path.display().to_string();
    let text = input::text(path).map_err(|source| Error::Read { path: shown.clone(), source })?;
    let wrong = |error| Problem::new(format!("{shown}: {error}")).help("crates/energy/gtx480.toml has every value");
    Ok(Table::with(&text).map_err(wrong)?)
}

/// All launches of a run together.
pub fn breakdown(energies: &Table, machine: &Machine, launches: &[Launched]) -> Breakdown {
    let mut activity = Activity::default();
    launches.iter().filter_map(|l| l.timed.as_ref()).for_each(|timed| activity.add(&timed.result));
    Breakdown::new(energies, &machine.config, &activity)
}

/// Characters of the longest bar.
const BAR: f64 = 24.0;

/// A table for people: what took most comes first.
pub fn text(energy: &Breakdown) -> String {
    let mut parts = energy.parts.clone();
    parts.sort_by(|a, b| b.total().total_cmp(&a.total()));
    let most = parts.first().map_or(0.0, |p| energy.share(p.component)).max(f64::MIN_POSITIVE);
    let rows = parts.iter().map(|part| {
        let share = energy.share(part.component);
        let leakage = part.leakage / part.total().max(f64::MIN_POSITIVE);
        vec![
            format!("    {}", part.component.title()),
            joules(part.total()),
            watts(energy.power_of(part.component)),
            percent(share),
            format!("{} leakage", percent(leakage)),
            format!("{:<24}", "#".repeat((BAR * share / most).round() as usize)),
        ]
    });
    let (total, time, power) = (joules(energy.total()), seconds(energy.seconds), watts(energy.power()));
    let head = format!("  energy: {total} in {time}, {power}");
    let mut lines = head + "\n" + &table(&rows.collect::<Vec<_>>());
    if energy.saved != 0.0 {
        let lanes = energy.part(Component::Execution).map_or(0.0, |p| p.leakage) + energy.saved;
        let share = percent(energy.saved / lanes.max(f64::MIN_POSITIVE));
        lines += &format!("    gating saved {} of leakage, {share} of the execution units'\n", joules(energy.saved));
    }
    lines.trim_end().to_owned()
}

/// The same for machines.
pub fn json(energy: &Breakdown) -> Value {
    let part = |p: &raddle_energy::Part| {
        let (watts, share) = (energy.power_of(p.component), energy.share(p.component));
        let value = json!({"dynamic": p.dynamic, "leakage": p.leakage, "watts": watts, "share": share});
        (p.component.name().to_owned(), value)
    };
    json!({
        "joules": energy.total(),
        "seconds": energy.seconds,
        "watts": energy.power(),
        "leakage_saved": energy.saved,
        "components": energy.parts.iter().map(part).collect::<serde_json::Map<_, _>>(),
    })
}

fn scaled(value: f64, unit: &str) -> String {
    let (factor, prefix) = match value.abs() {
        v if v >= 1.0 || v == 0.0 => (1.0, ""),
        v if v >= 1e-3 => (1e3, "m"),
        v if v >= 1e-6 => (1e6, "u"),
        _ => (1e9, "n"),
    };
    format!("{:.2} {prefix}{unit}", value * factor)
}

fn joules(value: f64) -> String {
    scaled(value, "J")
}

fn watts(value: f64) -> String {
    format!("{value:.1} W")
}

fn seconds(value: f64) -> String {
    scaled(value, "s")
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_energy::Part;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(
            [0.0, 2.5, 0.0123, 4.5e-5, 1e-9].map(joules),
            ["0.00 J", "2.50 J", "12.30 mJ", "45.00 uJ", "1.00 nJ"]
        );
    }

    #[test]
    fn what_takes_most_comes_first() {
        let part = |component, dynamic, leakage| Part { component, dynamic, leakage };
        let parts = vec![part(Component::Execution, 1e-3, 1e-3), part(Component::Dram, 5e-3, 1e-3)];
        let energy = Breakdown { seconds: 1e-3, parts, saved: 5e-4 };
        assert_eq!(
            text(&energy),
            "  energy: 8.00 mJ in 1.00 ms, 8.0 W\n    \
             DRAM             6.00 mJ  6.0 W  75.0 %  16.7 % leakage  ########################\n    \
             execution units  2.00 mJ  2.0 W  25.0 %  50.0 % leakage  ########\n    \
             gating saved 500.00 uJ of leakage, 33.3 % of the execution units'"
        );
        let json = json(&energy);
        assert_eq!(json["components"]["dram"]["share"], 0.75);
        assert_eq!((&json["watts"], &json["components"]["dram"]["watts"]), (&8.0.into(), &6.0.into()));
    }
}
