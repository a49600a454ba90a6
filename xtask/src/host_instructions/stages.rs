//! Which part of the timing model host instructions are spent in, from the profile that callgrind writes.
//!
//! A profile has costs by function and source file: code of another file that was inlined into a function has the file it comes
//! from. So a cost belongs to the part its file belongs to. What comes from the standard library is given to the files of
//! the function it was inlined into, as their own costs are.

use std::collections::BTreeMap;

/// Parts of the timing model and the files that belong to them; the first that fits counts.
const STAGES: &[(&str, &[&str])] = &[
    (
        "issue",
        &[
            "/sm/issue/",
            "mech/src/issue/",
            "/seam/schedule.rs",
            "/sm/power.rs",
            "/sm/gangs/",
            "/seam/gang",
            "mech/src/ganging/",
        ],
    ),
    ("warps: places, scoreboard", &["/sm/warps/", "/seam/set.rs", "/seam/divergence.rs"]),
    ("operand collector", &["/sm/collector"]),
    ("pipelines, write-back", &["/sm/datapath.rs", "/sm/units.rs", "/sm/in_flight.rs", "/sm/shared.rs"]),
    ("execution", &["crates/exec/", "crates/ptx/", "/sm/threads.rs"]),
    (
        "fetch, decode, caches of the SM",
        &["/sm/fetch.rs", "mech/src/fetch/", "/sm/memory/cache", "/sm/memory/texture_cache.rs"],
    ),
    ("load-store unit, coalescing", &["/sm/memory/", "/sm/footprint.rs", "/sm/port.rs"]),
    ("divergence model", &["mech/src/divergence/", "mech/"]),
    ("crossbar", &["/mem/crossbar", "/mem/ports.rs"]),
    ("L2, DRAM", &["sim/src/mem/"]),
    (
        "edge of a window",
        &["sim/src/gpu/", "sim/src/parallel.rs", "/sm/mail.rs", "mech/src/dispatch/", "sim/src/result.rs"],
    ),
    ("cycle, slot causes, blocks", &["sim/src/"]),
];

/// The part of what is in none: the C library, and functions with nothing of ours in them.
const ELSE: &str = "copies, the rest";

/// Every part, in the order of the table.
pub fn names() -> impl Iterator<Item = &'static str> {
    STAGES.iter().map(|stage| stage.0).chain([ELSE])
}

fn stage(file: &str) -> Option<&'static str> {
    STAGES.iter().find(|(_, parts)| parts.iter().any(|part| file.contains(part))).map(|stage| stage.0)
}

/// Costs by part.
pub fn costs(profile: &str) -> BTreeMap<&'static str, u64> {
    let mut all = BTreeMap::new();
    for by_file in by_function(profile).values() {
        let own: u64 = by_file.iter().filter(|(file, _)| stage(file).is_some()).map(|(_, cost)| cost).sum();
        let other: u64 = by_file.values().sum::<u64>() - own;
        if own == 0 {
            *all.entry(ELSE).or_default() += other;
        }
        for (file, cost) in by_file {
            if let Some(stage) = stage(file) {
                let share = u128::from(other) * u128::from(*cost) / u128::from(own.max(1));
                *all.entry(stage).or_default() += cost + u64::try_from(share).unwrap_or(0);
            }
        }
    }
    all
}

/// Costs by function, and in it by the file of the code.
fn by_function(profile: &str) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut names = BTreeMap::new();
    let (mut function, mut file) = (String::new(), String::new());
    let mut costs: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut is_call = false;
    for line in profile.lines() {
        if let Some((key, value)) = line.split_once('=').filter(|(key, _)| key.bytes().all(|b| b.is_ascii_lowercase()))
        {
            match key {
                "fn" => function = name(&mut names, "fn", value),
                "fl" | "fi" | "fe" => file = name(&mut names, "fl", value),
                // The next line has what the called function costs, which is counted there.
                "calls" => is_call = true,
                // Names may be given a number here, too.
                "cfn" => drop(name(&mut names, "fn", value)),
                "cfi" | "cfl" => drop(name(&mut names, "fl", value)),
                _ => {}
            }
            continue;
        }
        let mut words = line.split(' ');
        let is_cost =
            words.next().is_some_and(|at| at.trim_start_matches(['+', '-']).parse::<u64>().is_ok() || at == "*");
        let Some(cost) = words.next().and_then(|cost| cost.parse::<u64>().ok()).filter(|_| is_cost) else { continue };
        if !std::mem::take(&mut is_call) {
            *costs.entry(function.clone()).or_default().entry(file.clone()).or_default() += cost;
        }
    }
    costs
}

/// A name, which is given in full once and a number from then on: `(7) name`, then `(7)`.
fn name(names: &mut BTreeMap<(&'static str, u64), String>, kind: &'static str, value: &str) -> String {
    let Some((number, rest)) = value.strip_prefix('(').and_then(|value| value.split_once(')')) else {
        return value.to_owned();
    };
    let key = (kind, number.parse().unwrap_or(u64::MAX));
    if !rest.trim().is_empty() {
        names.insert(key, rest.trim().to_owned());
    }
    names.get(&key).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_of_the_file_they_come_from_and_what_others_have_is_shared_out() {
        let profile = "events: Ir\n\nfl=(1) crates/sim/src/sm/mod.rs\nfn=(1) cycle\n10 30\nfi=(2) library/core/slice.rs\n+3 20\n\
            fe=(3) crates/sim/src/sm/collector.rs\n-2 70\ncfi=(4) libc\ncfn=(2) copy\ncalls=3 9\n* 1000\n\nfl=(4)\nfn=(2)\n9 1000\n";
        let found = costs(profile);
        let expected = [(ELSE, 1000), ("cycle, slot causes, blocks", 36), ("operand collector", 84)];
        assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_stage_is_named_once() {
        let all: Vec<_> = names().collect();
        assert!(all.iter().all(|name| all.iter().filter(|other| *other == name).count() == 1));
    }
}
