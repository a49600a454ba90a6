//! Records: what determines a result, and the result.
//!
//! A record is a function of its key: it has no time, host or path in it, so that two machines that compute the same
//! point write the same bytes. Records are JSON; the schema is on the page "The store of results" of the book.

mod seams;

use crate::error::Error;
use crate::key::Key;
use crate::metric::{LAUNCH, unit};
use raddle_runtime::Problem;
use raddle_runtime::outcome::Launched;
use raddle_sim::config::{Choice, MachineConfig};
use raddle_sim::seam::{Registry, Seam};
use raddle_sim::stats::{Counters, Unit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Version of the schema of records. It is part of keys, and is raised when counters are added: what an old record does
/// not have would be read as 0.
pub const SCHEMA: u32 = 6;

/// A mechanism with all its parameters, those left out at their defaults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MechanismSpec {
    /// Name.
    pub name: String,
    /// Parameters.
    pub parameters: BTreeMap<String, Value>,
    /// The program it comes from, where that is another: mechanisms of the same name are not the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The counters it has of its own, with their units: results without them are others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, String>,
}

/// A machine as records have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineSpec {
    /// Every parameter but the mechanisms.
    pub config: Value,
    /// What sits in each seam.
    #[serde(with = "seams")]
    pub mechanisms: BTreeMap<String, MechanismSpec>,
}

impl MachineSpec {
    /// Writes a machine down with every default of its mechanisms.
    ///
    /// # Errors
    /// When a parameter cannot be written down: two machines that differ must not look the same.
    pub fn new(config: &MachineConfig, registry: &Registry) -> Result<Self, Error> {
        let mut mechanisms = BTreeMap::new();
        for seam in Seam::ALL {
            mechanisms.insert(seam.key().to_owned(), mechanism(registry, seam, seam.choice(&config.mechanism))?);
        }
        let mut config = serde_json::to_value(config).map_err(|error| unwritable("a machine", &error))?;
        if let Some(map) = config.as_object_mut() {
            map.remove("mechanism");
        }
        Ok(Self { config: sorted(config), mechanisms })
    }

    /// Its hash.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub fn key(&self) -> Result<Key, Error> {
        let text = serde_json::to_string(self).map_err(|error| unwritable("a machine", &error))?;
        Ok(Key::of(text.as_bytes()))
    }

    /// The counters its mechanisms have of their own, as `issue.two-level.left`, with their units.
    pub fn own_counters(&self) -> impl Iterator<Item = (String, Unit)> {
        self.mechanisms.iter().flat_map(|(seam, mechanism)| {
            let unit = |name: &str| Unit::ALL.into_iter().find(|unit| unit.name() == name).unwrap_or(Unit::Events);
            let own = mechanism.counters.iter();
            own.map(move |(name, of)| (format!("{seam}.{}.{name}", mechanism.name), unit(of)))
        })
    }

    /// A number of the machine, by its path; 0 where there is none.
    #[must_use]
    pub fn number(&self, path: &[&str]) -> f64 {
        let found = path.iter().try_fold(&self.config, |value, key| value.get(key));
        found.and_then(Value::as_f64).unwrap_or(0.0)
    }
}

/// The same value with the keys of all objects in order, however the maps of the JSON library keep them.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let map: BTreeMap<String, Value> = map.into_iter().map(|(k, v)| (k, sorted(v))).collect();
            Value::Object(map.into_iter().collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// Something that keys are made of cannot be written down.
fn unwritable(what: &str, why: &dyn std::fmt::Display) -> Error {
    Problem::new(format!("{what} has no key, since it cannot be written down: {why}")).into()
}

fn mechanism(registry: &Registry, seam: Seam, choice: &Choice) -> Result<MechanismSpec, Error> {
    let name = choice.name().to_owned();
    let wrong = |parameter: &str, why: &dyn std::fmt::Display| {
        unwritable(&format!("`mechanism.{}.{parameter}` of `{name}`", seam.key()), why)
    };
    let Some(known) = registry.get(seam, &name) else {
        return Err(unwritable(&format!("`mechanism.{}`", seam.key()), &format!("there is no `{name}`")));
    };
    let mut parameters = BTreeMap::new();
    for parameter in &known.parameters {
        // No text stands for no value.
        let default = match parameter.default.as_str() {
            "" => Value::Null,
            text => {
                let table = toml::from_str::<BTreeMap<String, Value>>(&format!("value = {text}"));
                let mut table = table.map_err(|error| wrong(&parameter.name, &error.message()))?;
                finite(table.remove("value")).ok_or_else(|| wrong(&parameter.name, &"its default is no number"))?
            }
        };
        parameters.insert(parameter.name.clone(), default);
    }
    if let Choice::Table(table) = choice {
        for (key, value) in table.iter().filter(|(key, _)| *key != "name") {
            let value = serde_json::to_value(value).map_err(|error| wrong(key, &error))?;
            let value = finite(Some(value)).ok_or_else(|| wrong(key, &"it is no finite number"))?;
            parameters.insert(key.clone(), value);
        }
    }
    let counters = known.info.counters.iter().map(|info| (info.name.to_owned(), info.unit.name().to_owned()));
    Ok(MechanismSpec { name, parameters, origin: known.origin.clone(), counters: counters.collect() })
}

/// A value, unless it is what JSON has for infinities and the like.
fn finite(value: Option<Value>) -> Option<Value> {
    value.filter(|value| !value.is_null())
}

/// Everything that determines a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Version of the schema.
    pub schema: u32,
    /// Epoch of the model.
    pub epoch: u32,
    /// Workload.
    pub workload: String,
    /// Hash of its PTX.
    pub ptx: Key,
    /// Hash of its driver, which makes the input.
    pub driver: Key,
    /// Name of the size of the input.
    pub size: String,
    /// What that size means to the driver.
    pub parameters: BTreeMap<String, u64>,
    /// Seed of the input.
    pub seed: u64,
    /// Bytes left free before the first allocation.
    pub heap_offset: u64,
    /// How its kernels are put in a loop over logical blocks, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtualize: Option<String>,
    /// The machine.
    pub machine: Arc<MachineSpec>,
}

impl Identity {
    /// The key of the result: the hash of all this.
    ///
    /// # Errors
    /// When the machine cannot be written down.
    pub fn key(&self) -> Result<Key, Error> {
        Ok(self.key_on(self.machine.key()?))
    }

    /// The same when the hash of the machine is known.
    #[must_use]
    pub(crate) fn key_on(&self, machine: Key) -> Key {
        let mut all = json!([
            ["schema", self.schema],
            ["epoch", self.epoch],
            ["workload", self.workload],
            ["ptx", self.ptx],
            ["driver", self.driver],
            ["size", self.size],
            ["parameters", self.parameters],
            ["seed", self.seed],
            ["heap_offset", self.heap_offset],
            ["machine", machine],
        ]);
        if let (Some(form), Some(list)) = (&self.virtualize, all.as_array_mut()) {
            list.push(json!(["virtualize", form]));
        }
        Key::of(all.to_string().as_bytes())
    }

    /// The same point whatever the version of the model and of the program: what to compare across versions.
    ///
    /// # Errors
    /// When the machine cannot be written down.
    pub fn across_versions(&self) -> Result<Key, Error> {
        let none = Key([0; 32]);
        let mut machine = MachineSpec::clone(&self.machine);
        for mechanism in machine.mechanisms.values_mut() {
            (mechanism.origin, mechanism.counters) = (None, BTreeMap::new());
        }
        let machine = Arc::new(machine);
        Self { schema: 0, epoch: 0, ptx: none, driver: none, machine, ..self.clone() }.key()
    }

    /// A line that says what it is.
    #[must_use]
    pub fn title(&self) -> String {
        let name = |seam: Seam| self.machine.mechanisms.get(seam.key()).map_or("?", |m| m.name.as_str());
        let mechanisms = [Seam::Issue, Seam::Divergence, Seam::Dispatch].map(name).join(", ");
        let form = self.virtualize.as_ref().map_or_else(String::new, |form| format!(", virtualised {form}"));
        format!("{} {} ({mechanisms}{form}) seed {}", self.workload, self.size, self.seed)
    }
}

/// What was counted in all launches of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelCounts {
    /// Kernel.
    pub kernel: String,
    /// Launches.
    pub launches: u64,
    /// Cycles.
    pub cycles: u64,
    /// Every counter that is not 0, as `sm.warp_insts`, summed over the parts of a kind, and all that mechanisms have of
    /// their own, as `issue.two-level.left`.
    pub counters: BTreeMap<String, u64>,
}

impl KernelCounts {
    fn add_group<C: Counters>(&mut self, kind: &str, group: &C) {
        for (info, value) in C::INFO.iter().zip(group.values()).filter(|(_, value)| *value > 0) {
            let sum = self.counters.entry(format!("{kind}.{}", info.name)).or_default();
            *sum = info.unit.together(*sum, value);
        }
    }

    fn add(&mut self, launched: &Launched) {
        self.launches += 1;
        let Some(timed) = &launched.timed else { return };
        let result = &timed.result;
        self.cycles += result.cycles;
        for (info, value) in LAUNCH.iter().zip([timed.residency.registers, timed.residency.ctas]) {
            let most = self.counters.entry(format!("launch.{}", info.name)).or_default();
            *most = info.unit.together(*most, value.into());
        }
        let total = result.total();
        self.add_group("sm", &total.sm);
        self.add_group("int", &total.int);
        self.add_group("fp", &total.fp);
        self.add_group("l1i", &total.l1i);
        self.add_group("l1d", &total.l1d);
        self.add_group("l1c", &total.l1c);
        self.add_group("l1t", &total.l1t);
        self.add_group("l2", &result.l2_total());
        self.add_group("dram", &result.dram_total());
        self.add_group("network-up", &result.up);
        self.add_group("network-down", &result.down);
        for counted in result.own_total() {
            let sum = self.counters.entry(counted.name()).or_default();
            *sum = counted.info.unit.together(*sum, counted.value);
        }
    }

    /// One for each kernel, in the order of their first launches.
    #[must_use]
    pub fn of(launches: &[Launched]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        launches.iter().for_each(|launched| Self::count(&mut all, launched));
        all
    }

    /// Counts one more launch among those of its kernel.
    pub fn count(all: &mut Vec<Self>, launched: &Launched) {
        let at = all.iter().position(|counts| counts.kernel == launched.kernel).unwrap_or_else(|| {
            all.push(Self { kernel: launched.kernel.clone(), ..Self::default() });
            all.len() - 1
        });
        all[at].add(launched);
    }
}

/// The result of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// What determines it.
    pub identity: Identity,
    /// Outputs that were compared with the right ones; all of them were right.
    pub checked: usize,
    /// What was counted, for each kernel.
    pub kernels: Vec<KernelCounts>,
}

impl Record {
    /// A counter of all kernels together; `cycles` and `launches` count too.
    #[must_use]
    pub fn total(&self, counter: &str) -> u64 {
        let own = self.identity.machine.own_counters().find(|(name, _)| name == counter);
        total_of(&self.kernels, counter, own.map_or_else(|| unit(counter), |(_, unit)| unit))
    }
}

/// A counter of these kernels together; `cycles` and `launches` count too. Counters of mechanisms are not known here.
#[must_use]
pub fn total(kernels: &[KernelCounts], counter: &str) -> u64 {
    total_of(kernels, counter, unit(counter))
}

/// A counter of any kind, of these kernels together.
pub(crate) fn total_of(kernels: &[KernelCounts], counter: &str, unit: Unit) -> u64 {
    let of = |kernel: &KernelCounts| match counter {
        "cycles" => kernel.cycles,
        "launches" => kernel.launches,
        _ => kernel.counters.get(counter).copied().unwrap_or(0),
    };
    kernels.iter().map(of).fold(0, |sum, value| unit.together(sum, value))
}

/// A point that could not be run to a good end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// Of which point.
    pub key: Key,
    /// What the point is.
    pub title: String,
    /// What was said.
    pub error: String,
    /// Whether the machine refuses the workload by design, so that nothing is wrong.
    #[serde(default)]
    pub is_refusal: bool,
}

impl Failure {
    /// The first line of what was said.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.error.lines().next().unwrap_or_default()
    }

    /// What it is called: `refused` or `failed`.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        if self.is_refusal { "refused" } else { "failed" }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use raddle_sim::config::{Machine, Source};

    pub(crate) fn machine(set: &[&str]) -> MachineSpec {
        let config = Machine::load(Source::Preset("gtx480"), set).unwrap().config;
        MachineSpec::new(&config, &raddle_mech::registry()).unwrap()
    }

    /// A record of nothing in particular.
    pub(crate) fn record(seed: u64) -> Record {
        let identity = Identity {
            schema: SCHEMA,
            epoch: 1,
            workload: "w".to_owned(),
            ptx: Key::of(b"ptx"),
            driver: Key::of(b"driver"),
            size: "tiny".to_owned(),
            parameters: BTreeMap::from([("n".to_owned(), 4)]),
            seed,
            heap_offset: 0,
            virtualize: None,
            machine: Arc::new(machine(&[])),
        };
        let counters = BTreeMap::from([("sm.warp_insts".to_owned(), 10 + seed)]);
        let kernel = KernelCounts { kernel: "k".to_owned(), launches: 1, cycles: 100 * seed, counters };
        Record { identity, checked: 1, kernels: vec![kernel] }
    }

    #[test]
    fn defaults_are_written_out() {
        let issue = |set: &[&str]| machine(set).mechanisms["issue"].clone();
        let default = issue(&["mechanism.issue=two-level"]);
        assert_eq!(default.parameters["active"], json!(8));
        assert_eq!(default, issue(&["mechanism.issue=two-level", "mechanism.issue.active=8"]));
        assert_ne!(default, issue(&["mechanism.issue=two-level", "mechanism.issue.active=4"]));
        assert_eq!(machine(&[]).key().unwrap(), machine(&["mechanism.dispatch.first=0"]).key().unwrap());
        assert_ne!(machine(&[]).key().unwrap(), machine(&["gpu.sms=3"]).key().unwrap());
    }

    #[test]
    fn what_cannot_be_written_down_has_no_key() {
        use raddle_sim::config::Value as Parameter;
        let config = Machine::load(Source::Preset("gtx480"), &["mechanism.issue=two-level"]).unwrap().config;
        let with = |name: &str, value: Parameter| {
            let mut config = config.clone();
            let name = ("name".to_owned(), Parameter::Text(name.to_owned()));
            config.mechanism.issue = Choice::Table([name, ("active".to_owned(), value)].into());
            MachineSpec::new(&config, &raddle_mech::registry()).map(drop).map_err(|error| error.to_string())
        };
        assert_eq!(with("two-level", Parameter::Float(4.5)), Ok(()));
        for value in [f64::NAN, f64::INFINITY] {
            let error = with("two-level", Parameter::Float(value)).unwrap_err();
            assert!(error.starts_with("`mechanism.issue.active` of `two-level` has no key"), "{error}");
        }
        let error = with("no-such", Parameter::Int(4)).unwrap_err();
        assert!(error.contains("`mechanism.issue`") && error.contains("there is no `no-such`"), "{error}");
    }

    #[test]
    fn whatever_matters_changes_the_key() {
        let one = record(1).identity;
        assert_eq!(one.key().unwrap(), record(1).identity.key().unwrap());
        let others = [
            Identity { epoch: 2, ..one.clone() },
            Identity { seed: 2, ..one.clone() },
            Identity { heap_offset: 256, ..one.clone() },
            Identity { ptx: Key::of(b"other"), ..one.clone() },
            Identity { size: "small".to_owned(), ..one.clone() },
            Identity { virtualize: Some("same-lane".to_owned()), ..one.clone() },
            Identity { machine: Arc::new(machine(&["mechanism.issue=oldest"])), ..one.clone() },
        ];
        for other in &others {
            assert_ne!(one.key().unwrap(), other.key().unwrap());
        }
        assert_eq!(one.across_versions().unwrap(), others[0].across_versions().unwrap());
        assert_ne!(one.across_versions().unwrap(), others[1].across_versions().unwrap());
    }

    #[test]
    fn mechanisms_of_the_same_name_are_told_apart_by_their_program() {
        let config = Machine::load(Source::Preset("gtx480"), &["mechanism.issue=gto"]).unwrap().config;
        let shipped = raddle_mech::registry();
        let gto = shipped.get(Seam::Issue, "gto").unwrap().info;
        let spec = |origin: &str| {
            let mut registry = Registry::new();
            registry.set_origin(origin);
            let make = |_: raddle_mech::NoConfig, machine: &MachineConfig| {
                raddle_mech::issue::Lrr::new(raddle_mech::NoConfig {}, machine)
            };
            registry.issue(gto, make);
            mechanism(&registry, Seam::Issue, &config.mechanism.issue).unwrap()
        };
        let own = mechanism(&shipped, Seam::Issue, &config.mechanism.issue).unwrap();
        assert_eq!((own.origin.as_deref(), spec("mine 1").origin.as_deref()), (None, Some("mine 1")));
        assert_ne!(spec("mine 1"), spec("mine 2"));
        assert_eq!(spec("").origin.as_deref(), Some("outside"));
        assert_eq!(serde_json::to_string(&own).unwrap(), r#"{"name":"gto","parameters":{}}"#);
    }

    #[test]
    fn a_seam_that_was_added_changes_no_key() {
        let spec = machine(&[]);
        assert_eq!(spec.mechanisms["logical_blocks"].name, "vtw");
        let text = serde_json::to_string(&spec).unwrap();
        assert!(!text.contains("logical_blocks"), "results of before keep their keys: {text}");
        assert_eq!(serde_json::from_str::<MachineSpec>(&text).unwrap(), spec);
        let mut other = spec.clone();
        other.mechanisms.get_mut("logical_blocks").unwrap().origin = Some("mine 1".to_owned());
        assert_ne!(other.key().unwrap(), spec.key().unwrap());
        let text = serde_json::to_string(&other).unwrap();
        assert_eq!(serde_json::from_str::<MachineSpec>(&text).unwrap(), other);
    }

    #[test]
    fn counters_of_mechanisms_are_part_of_the_machine() {
        let spec = machine(&["mechanism.issue=two-level"]);
        let own: Vec<_> = spec.own_counters().collect();
        let name = |counter: &str| format!("issue.two-level.{counter}");
        assert_eq!(own, [(name("entered"), Unit::Events), (name("left"), Unit::Events)]);
        assert_eq!(machine(&["mechanism.issue=gto"]).own_counters().count(), 0);
        let mut older = spec.clone();
        older.mechanisms.get_mut("issue").unwrap().counters.clear();
        assert_ne!(spec.key().unwrap(), older.key().unwrap(), "a result without the counters is another");
        let identity = |machine: MachineSpec| Identity { machine: Arc::new(machine), ..record(1).identity };
        let across = |machine: MachineSpec| identity(machine).across_versions().unwrap();
        assert_eq!(across(spec), across(older), "but it is of the same point");
    }

    #[test]
    fn records_come_back_from_json() {
        let record = record(3);
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), record);
        assert_eq!(record.total("sm.warp_insts"), 13);
        assert_eq!(record.total("l2.hits"), 0);
    }

    #[test]
    fn keys_of_objects_are_in_order() {
        let value: Value = serde_json::from_str(r#"{"b": {"z": 1, "a": [{"y": 1, "x": 2}]}, "a": 0}"#).unwrap();
        assert_eq!(sorted(value).to_string(), r#"{"a":0,"b":{"a":[{"x":2,"y":1}],"z":1}}"#);
    }
}
