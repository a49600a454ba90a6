//! Mechanisms by name: what they are, their parameters, how to make one.

use super::{
    Dispatcher, Divergence, FetchScheduler, Ganging, Gating, IssueScheduler, LogicalBlocks, Seam, SmMechanisms,
};
use crate::config::{Choice, MachineConfig, Value};
use crate::stats::CounterInfo;
use raddle_ptx::diag::closest;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;

/// A mechanism as it is registered.
#[derive(Clone, Copy, Debug)]
pub struct MechanismInfo {
    /// Its seam.
    pub seam: Seam,
    /// Name in machine files and on the command line.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The paper or other source that describes it.
    pub source: &'static str,
    /// What it counts of its own, in the order of its `counters`. In outputs, names begin with seam and mechanism.
    pub counters: &'static [CounterInfo],
    /// The mechanisms that it does not work with.
    pub refuses: &'static [Refusal],
}

impl MechanismInfo {
    /// Its counters as outputs name them, `issue.two-level.left`.
    pub fn counter_names(&self) -> impl Iterator<Item = (String, CounterInfo)> {
        let group = format!("{}.{}", self.seam.key(), self.name);
        self.counters.iter().map(move |info| (format!("{group}.{}", info.name), *info))
    }
}

/// A mechanism that it does not work with.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// The other mechanism's seam.
    pub seam: Seam,
    /// Its name.
    pub name: &'static str,
    /// Why.
    pub reason: &'static str,
}

/// A parameter, as described by the schema of its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// What it does.
    pub doc: String,
    /// Default.
    pub default: String,
    /// Allowed values, in words.
    pub range: String,
    /// Smallest and largest number, if there is a limit.
    pub bounds: [Option<f64>; 2],
}

type Parameters = BTreeMap<String, Value>;
type Make<T> = Box<dyn Fn(&Parameters, &MachineConfig) -> Result<Box<T>, String> + Send + Sync>;

/// Whether a mechanism works on a machine, or why it does not.
pub type Fits = fn(&MachineConfig) -> Result<(), String>;

enum Maker {
    Divergence(Make<dyn Divergence>),
    Issue(Make<dyn IssueScheduler>),
    Fetch(Make<dyn FetchScheduler>),
    Dispatch(Make<dyn Dispatcher>),
    Ganging(Make<dyn Ganging>),
    Gating(Make<dyn Gating>),
    LogicalBlocks(Make<dyn LogicalBlocks>),
}

/// A registered mechanism.
pub struct Mechanism {
    /// What it is.
    pub info: MechanismInfo,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The program that added it; none for those that come with Raddle.
    pub origin: Option<String>,
    maker: Maker,
    /// Which machines it works on, if not on all.
    fits: Option<Fits>,
}

macro_rules! registrations {
    ($($(#[$doc:meta])* $method:ident: $variant:ident => dyn $role:ident),+ $(,)?) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When there is one of this name.
        #[track_caller]
        pub fn $method<C, T>(
            &mut self,
            info: MechanismInfo,
            make: impl Fn(C, &MachineConfig) -> T + Send + Sync + 'static,
        ) where
            C: DeserializeOwned + Default + serde::Serialize + JsonSchema + 'static,
            T: $role + 'static,
        {
            let make = Box::new(move |p: &Parameters, machine: &MachineConfig| {
                parse::<C>(p).map(|c| Box::new(make(c, machine)) as Box<dyn $role>)
            });
            self.add(info, parameters::<C>(), Maker::$variant(make));
        }
    )+ };
}

/// All mechanisms that can be chosen by name. Code outside this workspace adds its own.
#[derive(Default)]
pub struct Registry {
    mechanisms: Vec<Mechanism>,
    origin: String,
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|m| (m.info.seam.key(), m.info.name))).finish()
    }
}

/// The mechanisms of a machine, one SM after another.
pub struct Mechanisms<'r> {
    registry: &'r Registry,
    config: &'r MachineConfig,
}

impl Registry {
    /// With nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    registrations! {
        /// Adds a divergence model.
        divergence: Divergence => dyn Divergence,
        /// Adds an issue scheduler.
        issue: Issue => dyn IssueScheduler,
        /// Adds a fetch scheduler.
        fetch: Fetch => dyn FetchScheduler,
        /// Adds a dispatcher.
        dispatch: Dispatch => dyn Dispatcher,
        /// Adds a ganging unit.
        ganging: Ganging => dyn Ganging,
        /// Adds a gating scheme.
        gating: Gating => dyn Gating,
        /// Adds a way to take logical blocks.
        logical_blocks: LogicalBlocks => dyn LogicalBlocks,
    }

    #[track_caller]
    fn add(&mut self, info: MechanismInfo, parameters: Vec<Parameter>, maker: Maker) {
        let MechanismInfo { seam, name, .. } = info;
        let taken = self.get(seam, name).map(|other| other.origin.as_deref().unwrap_or("Raddle"));
        if let Some(of) = taken {
            panic!("the seam `{}` already has a mechanism `{name}`, from {of}: give yours another name", seam.key());
        }
        let origin = Some(if self.origin.is_empty() { "outside".to_owned() } else { self.origin.clone() });
        self.mechanisms.push(Mechanism { info, parameters, origin, maker, fits: None });
    }

    /// Says which machines a mechanism that has been added works on, if not on all.
    pub fn require(&mut self, seam: Seam, name: &str, fits: Fits) {
        if let Some(found) = self.mechanisms.iter_mut().find(|m| m.info.seam == seam && m.info.name == name) {
            found.fits = Some(fits);
        }
    }

    /// Says that what has been added so far comes with Raddle.
    pub fn mark_built_in(&mut self) {
        self.mechanisms.iter_mut().for_each(|mechanism| mechanism.origin = None);
    }

    /// Says that a mechanism that comes with Raddle decides differently than in older versions, on an unchanged
    /// machine. Its results are kept under the revision, so older results are not mistaken for them.
    pub fn revise(&mut self, seam: Seam, name: &str, revision: u32) {
        if let Some(found) = self.mechanisms.iter_mut().find(|m| m.info.seam == seam && m.info.name == name) {
            found.origin = Some(format!("Raddle, revision {revision}"));
        }
    }

    /// Names the program that adds mechanisms from here on, such as `"mine 3"`. Results are kept under this text, so
    /// results of another program are not mistaken for its own. Change the text whenever a mechanism decides
    /// differently than before.
    pub fn set_origin(&mut self, origin: &str) {
        origin.clone_into(&mut self.origin);
    }

    /// All of them, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Mechanism> {
        self.mechanisms.iter()
    }

    /// One by seam and name.
    #[must_use]
    pub fn get(&self, seam: Seam, name: &str) -> Option<&Mechanism> {
        self.mechanisms.iter().find(|m| m.info.seam == seam && m.info.name == name)
    }

    /// Checks the mechanisms of a machine: names, parameters, combinations.
    ///
    /// # Errors
    /// One line for each thing that is wrong, with the key it belongs to.
    pub fn check<'r>(&'r self, config: &'r MachineConfig) -> Result<Mechanisms<'r>, Vec<(String, String)>> {
        let mut wrong = Vec::new();
        for seam in Seam::ALL {
            let choice = seam.choice(&config.mechanism);
            let key = format!("mechanism.{}", seam.key());
            let Some(found) = self.get(seam, choice.name()) else {
                let known: Vec<_> = self.iter().filter(|m| m.info.seam == seam).map(|m| m.info.name).collect();
                let help = match closest(choice.name(), known.iter().copied()) {
                    Some(close) => format!("(did you mean `{close}`?)"),
                    None => format!("(known are {})", known.join(", ")),
                };
                wrong.push((key, format!("there is no `{}` {help}", choice.name())));
                continue;
            };
            let given = parameters_of(choice);
            wrong.extend(found.out_of_range(&given).map(|(name, text)| (format!("{key}.{name}"), text)));
            if let Err(text) =
                found.fits.map_or(Ok(()), |fits| fits(config)).and_then(|()| found.try_make(&given, config))
            {
                wrong.push((key.clone(), text));
            }
            for refusal in found.info.refuses {
                if refusal.seam.choice(&config.mechanism).name() == refusal.name {
                    let other = format!("{} = \"{}\"", refusal.seam.key(), refusal.name);
                    let text = format!("`{}` does not work with {other}: {}", found.info.name, refusal.reason);
                    wrong.push((key.clone(), text));
                }
            }
        }
        if wrong.is_empty() { Ok(Mechanisms { registry: self, config }) } else { Err(wrong) }
    }
}

impl Mechanism {
    /// Numbers outside their range, by parameter.
    fn out_of_range(&self, given: &Parameters) -> impl Iterator<Item = (&str, String)> {
        self.parameters.iter().filter_map(|p| {
            let value = match given.get(&p.name)? {
                Value::Int(n) => *n as f64,
                Value::Float(x) => *x,
                _ => return None,
            };
            let [low, high] = p.bounds;
            let outside = low.is_some_and(|low| value < low) || high.is_some_and(|high| value > high);
            outside.then(|| (p.name.as_str(), format!("is {value}, must be {}", p.range)))
        })
    }

    /// Warps of a machine with slices cannot leave their slice, nor can their threads.
    fn stays_in_slices(&self, model: &dyn Divergence, machine: &MachineConfig) -> Result<(), String> {
        if machine.sm.slices <= 1 || !model.regroups() && model.pool(1).is_none() {
            return Ok(());
        }
        let name = self.info.name;
        Err(format!("`{name}` moves threads between warps, which cannot leave their slice; `sm.slices` must be 1"))
    }

    fn try_make(&self, parameters: &Parameters, machine: &MachineConfig) -> Result<(), String> {
        match &self.maker {
            Maker::Divergence(make) => {
                make(parameters, machine).and_then(|model| self.stays_in_slices(&*model, machine))
            }
            Maker::Issue(make) => make(parameters, machine).map(drop),
            Maker::Fetch(make) => make(parameters, machine).map(drop),
            Maker::Dispatch(make) => make(parameters, machine).map(drop),
            Maker::Ganging(make) => make(parameters, machine).map(drop),
            Maker::Gating(make) => make(parameters, machine).map(drop),
            Maker::LogicalBlocks(make) => make(parameters, machine).map(drop),
        }
    }
}

macro_rules! made {
    ($self:ident, $seam:ident) => {{
        let choice = Seam::$seam.choice(&$self.config.mechanism);
        match $self.registry.get(Seam::$seam, choice.name()).map(|m| &m.maker) {
            Some(Maker::$seam(make)) => make(&parameters_of(choice), $self.config),
            _ => Err(format!("there is no `{}`", choice.name())),
        }
    }};
}

impl Mechanisms<'_> {
    /// The mechanism that the machine has at a seam.
    pub(super) fn info(&self, seam: Seam) -> Option<&MechanismInfo> {
        self.registry.get(seam, seam.choice(&self.config.mechanism).name()).map(|mechanism| &mechanism.info)
    }

    /// The mechanisms of one SM.
    ///
    /// # Errors
    /// When a mechanism cannot be made; those of a checked machine always can.
    pub fn for_sm(&self) -> Result<SmMechanisms, String> {
        let mut issue = Vec::new();
        let mut fetch = Vec::new();
        for _ in 0..self.config.sm.slices.max(1) {
            for _ in 0..self.config.sm.issue.schedulers {
                issue.push(made!(self, Issue)?);
            }
            fetch.push(made!(self, Fetch)?);
        }
        Ok(SmMechanisms {
            divergence: made!(self, Divergence)?,
            issue,
            fetch,
            ganging: made!(self, Ganging)?,
            gating: made!(self, Gating)?,
            logical_blocks: made!(self, LogicalBlocks)?,
        })
    }

    /// The dispatcher of the GPU.
    ///
    /// # Errors
    /// When it cannot be made; that of a checked machine always can.
    pub fn dispatcher(&self) -> Result<Box<dyn Dispatcher>, String> {
        made!(self, Dispatch)
    }
}

fn parameters_of(choice: &Choice) -> Parameters {
    match choice {
        Choice::Name(_) => Parameters::new(),
        Choice::Table(table) => {
            table.iter().filter(|(k, _)| *k != "name").map(|(k, v)| (k.clone(), v.clone())).collect()
        }
    }
}

fn parse<C: DeserializeOwned>(parameters: &Parameters) -> Result<C, String> {
    let value = toml::Value::try_from(parameters).map_err(|e| e.to_string())?;
    value.try_into::<C>().map_err(|e| e.message().to_owned())
}

/// The parameters of a mechanism, from the type that parses them.
fn parameters<C: Default + serde::Serialize + JsonSchema>() -> Vec<Parameter> {
    let schema = schemars::schema_for!(C);
    let defaults = toml::Value::try_from(C::default()).ok();
    let Some(properties) = schema.get("properties").and_then(|p| p.as_object()) else { return Vec::new() };
    let parameter = |(name, property): (&String, &serde_json::Value)| {
        let text = |key: &str| property.get(key).and_then(|v| v.as_str()).unwrap_or_default().to_owned();
        let bound = |key: &str| property.get(key).map(ToString::to_string);
        let range = match (bound("minimum"), bound("maximum")) {
            (Some(low), Some(high)) => format!("{low} to {high}"),
            (Some(low), None) => format!("at least {low}"),
            _ => text("type"),
        };
        let default = defaults.as_ref().and_then(|d| d.get(name)).map(ToString::to_string).unwrap_or_default();
        let bounds = ["minimum", "maximum"].map(|key| property.get(key).and_then(serde_json::Value::as_f64));
        Parameter { name: name.clone(), doc: text("description"), default, range, bounds }
    };
    properties.iter().map(parameter).collect()
}

#[cfg(test)]
mod tests;
