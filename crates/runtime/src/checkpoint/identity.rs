//! What a checkpoint is of: the run goes on from it only where all of it is the same.

use crate::device::RunOptions;
use crate::ptx_file::PtxFile;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What was run, by name.
pub(super) type Identity = BTreeMap<String, String>;

/// Differences that are listed.
const LISTED: usize = 4;

/// The program itself: what state looks like changes with any change of the source.
fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        // The first is the program that runs, even where its file has been replaced since.
        let program = std::fs::read("/proc/self/exe");
        let program = program.or_else(|_| std::env::current_exe().and_then(std::fs::read));
        let hash = program.map_or_else(|_| "unknown".to_owned(), |bytes| short(blake3::hash(&bytes)));
        format!("{} ({hash})", env!("CARGO_PKG_VERSION"))
    })
}

fn short(hash: blake3::Hash) -> String {
    hash.to_hex()[..16].to_owned()
}

/// The identity of a run.
pub(super) fn identity(options: &RunOptions, ptx: &PtxFile) -> Identity {
    let mut all = Identity::new();
    let mut put = |key: &str, value: String| drop(all.insert(key.to_owned(), value));
    put("build of raddle", build().to_owned());
    put("PTX", short(blake3::hash(ptx.source.as_bytes())));
    put("virtualised kernels", format!("{:?}", ptx.virtualized));
    put("--max-insts", format!("{:?}", options.max_thread_insts));
    put("--report-uninitialised", options.report_uninitialised.to_string());
    put("--virtual-blocks", format!("{:?}", options.virtual_blocks));
    put("heap offset", options.heap_offset.to_string());
    if let Some(timing) = &options.timing {
        put("--registers", format!("{:?}", timing.registers));
        put("--max-cycles", format!("{:?}", timing.max_cycles));
        put("--no-skip", timing.never_skip.to_string());
        let machine = serde_json::to_value(&timing.machine).unwrap_or_default();
        flatten("", &machine, &mut all);
    }
    all
}

/// Every value of a machine under its key.
fn flatten(key: &str, value: &Value, into: &mut Identity) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                flatten(&key, value, into);
            }
        }
        Value::String(text) => drop(into.insert(key.to_owned(), text.clone())),
        other => drop(into.insert(key.to_owned(), other.to_string())),
    }
}

/// What differs, if anything does.
pub(super) fn difference(was: &Identity, is: &Identity) -> Option<String> {
    let nothing = "nothing".to_owned();
    let mut keys: Vec<&String> = was.keys().chain(is.keys()).collect();
    keys.sort();
    keys.dedup();
    keys.retain(|key| was.get(*key) != is.get(*key));
    if keys.is_empty() {
        return None;
    }
    let more = keys.len().saturating_sub(LISTED);
    let line = |key: &&String| {
        let [was, is] = [was, is].map(|all| all.get(*key).unwrap_or(&nothing));
        format!("{key} was {was}, is {is}")
    };
    let mut lines: Vec<String> = keys.iter().take(LISTED).map(line).collect();
    lines.extend((more > 0).then(|| format!("and {more} more")));
    Some(lines.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn says_which_values_differ() {
        let of = |value: &Value| {
            let mut all = Identity::new();
            flatten("", value, &mut all);
            all
        };
        let was = of(&json!({"sm": {"warps": 48, "width": 32}, "mechanism": {"issue": "gto"}}));
        assert_eq!(difference(&was, &was), None);
        let is = of(&json!({"sm": {"warps": 48}, "mechanism": {"issue": "lrr"}}));
        let text = "mechanism.issue was gto, is lrr; sm.width was 32, is nothing";
        assert_eq!(difference(&was, &is).as_deref(), Some(text));
    }
}
