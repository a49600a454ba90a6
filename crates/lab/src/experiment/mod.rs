//! An experiment: what is varied, what is measured, what is drawn.

mod chart_kind;
mod figure;
mod file;
mod files;
mod shown;

pub use chart_kind::{ErrorBars, Kind, quartiles};
pub use figure::{Against, Figure, Mean, PaperValue, Part, Reading, Row, Rows, slots};
pub(crate) use file::Word;
pub use files::{Files, Loaders, Own};
pub use shown::Large;

use crate::error::{Error, reading};
use crate::metric::Metric;
use crate::timeline::Timeline;
use crate::virtualize::Virtualize;
use raddle_ptx::diag::closest;
use raddle_runtime::{Problem, input};
use raddle_sim::config::DEFAULT_PRESET;
use raddle_sim::seam::{Registry, Seam};
use raddle_workloads::{Class, Size, Workload};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Bytes of the file something was written at.
pub type At = Option<Range<usize>>;

/// The experiments that come with Raddle, those of papers first: name and text.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("tbc", include_str!("../../experiments/tbc.toml")),
    ("vtw", include_str!("../../experiments/vtw.toml")),
    ("vws", include_str!("../../experiments/vws.toml")),
    ("baws", include_str!("../../experiments/baws.toml")),
    ("origami", include_str!("../../experiments/origami.toml")),
    ("divergence", include_str!("../../experiments/divergence.toml")),
    ("volta", include_str!("../../experiments/volta.toml")),
    ("matrix", include_str!("../../experiments/matrix.toml")),
];

/// A change to a machine, `key=value`, with its place in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// As `--set` takes it.
    pub text: String,
    /// Where it was written.
    pub at: At,
}

/// What a machine starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// A preset, by name.
    Preset(Change),
    /// A machine file.
    File {
        /// Its path as written in the experiment file, relative to that.
        name: Change,
        /// Its path, for messages.
        path: String,
        /// What is in it.
        text: String,
    },
}

impl Base {
    /// A preset that no file names.
    #[must_use]
    pub fn preset(name: &str) -> Self {
        Self::Preset(Change { text: name.to_owned(), at: None })
    }

    /// The name of the preset or of the file, and its place.
    #[must_use]
    pub fn name(&self) -> &Change {
        match self {
            Self::Preset(name) | Self::File { name, .. } => name,
        }
    }
}

/// One of the choices on an axis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// Name in figures.
    pub label: String,
    /// What the machine starts from, if the axis chooses it.
    pub base: Option<Base>,
    /// The size of inputs, if the axis chooses it.
    pub size: Option<Size>,
    /// How kernels are put in a loop over logical blocks, if the axis chooses it.
    pub virtualize: Option<Option<Virtualize>>,
    /// Changes to the machine.
    pub set: Vec<Change>,
    /// Choices on other axes that it is run with, by number; on those that are not named, with all.
    pub with: Vec<(usize, Vec<usize>)>,
    /// The only workloads it is run with; none where it is all.
    pub workloads: Option<Vec<&'static str>>,
}

/// Something that is varied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Name.
    pub name: String,
    /// The choices.
    pub variants: Vec<Variant>,
}

impl Axis {
    fn find(&self, label: &str) -> Result<usize, Problem> {
        self.variants.iter().position(|v| v.label == label).ok_or_else(|| {
            let labels: Vec<&str> = self.variants.iter().map(|v| v.label.as_str()).collect();
            let help = match closest(label, labels.iter().copied()) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("it has {}", labels.join(", ")),
            };
            Problem::new(format!("axis `{}` has no `{label}`", self.name)).help(help)
        })
    }
}

/// A harmless change under which runs are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vary {
    /// Another input of the same kind.
    Seed,
    /// The dispatcher starts with another SM.
    Dispatch,
    /// Data is elsewhere in memory.
    Heap,
}

/// Runs of each point under harmless changes. The first is as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// How many.
    pub count: u32,
    /// What changes.
    pub vary: Vec<Vary>,
    /// Where it was written.
    pub at: At,
}

impl Default for Repeats {
    fn default() -> Self {
        Self { count: 1, vary: Vec::new(), at: None }
    }
}

/// How full the machine of each workload is to be: [`crate::fill`] says what comes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct FillRule {
    /// Blocks for each place, at least.
    pub waves: f64,
    /// The same for workloads that have a number of their own.
    pub own: BTreeMap<&'static str, f64>,
    /// Where it was written.
    pub at: At,
}

impl FillRule {
    /// The waves a workload is to have.
    #[must_use]
    pub fn waves_of(&self, workload: &str) -> f64 {
        self.own.get(workload).copied().unwrap_or(self.waves)
    }
}

/// Workloads that belong together: figures have the mean over them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name in figures.
    pub name: String,
    /// The workloads.
    pub workloads: Vec<&'static str>,
}

/// An experiment.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name: that of the file.
    pub name: String,
    /// The mechanisms its machines can have.
    pub registry: Arc<Registry>,
    /// A few words.
    pub title: String,
    /// What it is for.
    pub about: String,
    /// What runs, by group, class and name; files of the user are last.
    pub workloads: Vec<&'static str>,
    /// The launch files and program files among them.
    pub files: Files,
    /// Groups of workloads; where there are none, classes are the groups.
    pub groups: Vec<Group>,
    /// Size of inputs, where no axis chooses it.
    pub size: Size,
    /// What the machine starts from, where no axis chooses it.
    pub base: Base,
    /// Changes to the machine before those of the axes.
    pub set: Vec<Change>,
    /// How full machines are to be; where nothing is said, all workloads run on the machine as it is.
    pub fill: Option<FillRule>,
    /// The kernels that count of a workload, where it is not all.
    pub kernels: BTreeMap<&'static str, Vec<String>>,
    /// What is varied.
    pub axes: Vec<Axis>,
    /// For each axis, the choice that is the baseline of figures that name no other; none where each choice has a
    /// baseline of its own.
    pub baseline: Vec<Option<usize>>,
    /// What the table of all points has.
    pub metrics: Vec<Metric>,
    /// Repetitions.
    pub repeats: Repeats,
    /// What is drawn.
    pub figures: Vec<Figure>,
    /// How warps run and wait in some of its runs.
    pub timelines: Vec<Timeline>,
    /// What it is about in a line, and the figure that says most.
    pub headline: Option<Headline>,
    /// What the book shows at a larger size.
    pub large: Option<Large>,
    /// Whether what no figure shows is left out.
    pub only_shown: bool,
}

/// What an experiment says in a few words and values, at the top of its page and on a page about several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Headline {
    /// The mechanism, in words that need no paper.
    pub name: String,
    /// What the mechanism does.
    pub does: String,
    /// What the values are, in words: the title of the axis.
    pub axis: String,
    /// The number of the figure.
    pub figure: usize,
    /// The number of the figure its page begins with: like the paper's first.
    pub opening: usize,
    /// The bar that is the mechanism's: its place among those of the figure.
    pub bar: usize,
    /// The rows that say most, each with what it is over, in words.
    pub rows: Vec<(Row, String)>,
    /// Whether less is better.
    pub is_less_better: bool,
}

impl Experiment {
    /// One that varies nothing and draws nothing.
    #[must_use]
    pub fn new(name: &str, workloads: Vec<&'static str>, registry: &Arc<Registry>) -> Self {
        Self {
            name: name.to_owned(),
            registry: Arc::clone(registry),
            title: name.to_owned(),
            about: String::new(),
            workloads,
            files: Files::default(),
            groups: Vec::new(),
            size: Size::Small,
            base: Base::preset(DEFAULT_PRESET),
            set: Vec::new(),
            fill: None,
            kernels: BTreeMap::new(),
            axes: Vec::new(),
            baseline: Vec::new(),
            metrics: vec![Metric::Cycles],
            repeats: Repeats::default(),
            figures: Vec::new(),
            timelines: Vec::new(),
            headline: None,
            large: None,
            only_shown: false,
        }
    }

    /// Reads the text of an experiment file about mechanisms of the registry. The machine files it names are relative to
    /// the folder of `files`, which has no launch file yet.
    ///
    /// # Errors
    /// At the first mistake, with its place.
    pub fn parse_with(registry: &Arc<Registry>, files: Files, name: &str, text: &str) -> Result<Self, Problem> {
        file::parse(registry, files, name, text)
    }

    /// The same with the mechanisms that come with Raddle.
    ///
    /// # Errors
    /// At the first mistake, with its place.
    pub fn parse_in(folder: &Path, name: &str, text: &str) -> Result<Self, Problem> {
        Self::parse_with(&Arc::new(raddle_mech::registry()), Files::new(folder), name, text)
    }

    /// The same where machine files are relative to the current folder.
    ///
    /// # Errors
    /// At the first mistake, with its place.
    pub fn parse(name: &str, text: &str) -> Result<Self, Problem> {
        Self::parse_in(Path::new(""), name, text)
    }

    /// The text of an experiment by name, or of a file, with its name and what to call it in messages.
    ///
    /// # Errors
    /// When there is none.
    pub fn text(which: &Path) -> Result<(String, String, String), Error> {
        let given = which.display().to_string();
        if which.extension().is_some() || which.components().count() > 1 {
            let name = which.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let text = input::text(which).map_err(reading(which))?;
            return Ok((name, given, text));
        }
        match BUILT_IN.iter().find(|(name, _)| *name == given) {
            Some((name, text)) => Ok(((*name).to_owned(), format!("{name}.toml"), (*text).to_owned())),
            None => {
                let close = closest(&given, BUILT_IN.iter().map(|(name, _)| *name));
                let help = close.map(|close| format!("did you mean `{close}`?"));
                let help = help.unwrap_or_else(|| "`raddle list experiments` says what there is".to_owned());
                Err(Problem::new(format!("there is no experiment `{given}`")).help(help).into())
            }
        }
    }

    /// Runs of everything there would be without exceptions.
    #[must_use]
    pub fn variants(&self) -> usize {
        self.axes.iter().fold(1, |all, axis| all.saturating_mul(axis.variants.len()))
    }

    /// Whether a combination of choices is run.
    #[must_use]
    pub fn runs(&self, choices: &[usize]) -> bool {
        self.chosen(choices).all(|variant| variant.with.iter().all(|(axis, among)| among.contains(&choices[*axis])))
    }

    /// Whether a combination of choices is run with a workload.
    #[must_use]
    pub fn runs_with(&self, choices: &[usize], workload: &str) -> bool {
        self.chosen(choices).all(|variant| variant.workloads.as_ref().is_none_or(|only| only.contains(&workload)))
    }

    /// The name of a kernel of a workload.
    pub(crate) fn kernel(&self, workload: &str, name: &str) -> Result<String, Problem> {
        match self.files.get(workload) {
            Some(Own::Launches(file)) => return Ok(file.module.kernel(Some(name))?.to_owned()),
            Some(Own::Program(file)) => {
                let problem = Problem::new(format!("kernels of `{}` cannot be named here", file.file_name()));
                return Err(problem.help("which kernels a program has is only known when it runs; all of them count"));
            }
            None => {}
        }
        let module = raddle_workloads::find(workload)?.module().map_err(|e| Problem::new(e.to_string()))?;
        Ok(module.kernel(Some(name))?.to_owned())
    }

    /// Whether a kernel of a workload counts.
    #[must_use]
    pub fn counts(&self, workload: &str, kernel: &str) -> bool {
        self.kernels.get(workload).is_none_or(|only| only.iter().any(|counted| counted == kernel))
    }

    /// What is chosen on each axis.
    pub(crate) fn chosen(&self, choices: &[usize]) -> impl Iterator<Item = &Variant> {
        self.axes.iter().zip(choices).map(|(axis, choice)| &axis.variants[*choice])
    }
}

/// Every choice there is for the key of a machine, where the word `all` means that.
pub(crate) fn all_of(registry: &Registry, key: &str) -> Option<Vec<String>> {
    if key == "preset" {
        return Some(raddle_sim::config::PRESETS.iter().map(|p| p.name.to_owned()).collect());
    }
    let seam = Seam::ALL.into_iter().find(|seam| key.strip_prefix("mechanism.") == Some(seam.key()))?;
    let names = registry.iter().filter(|m| m.info.seam == seam).map(|m| m.info.name.to_owned());
    Some(names.collect())
}

/// The workloads a list of words means, by class and name, and then launch files: `all`, `class:barrier`, a name, or the
/// path of a launch file, which is added to `files`.
///
/// # Errors
/// When a word means none; its place in the list comes with it.
pub fn workloads<'a>(
    words: impl IntoIterator<Item = &'a str>,
    files: &mut Files,
) -> Result<Vec<&'static str>, (usize, Problem)> {
    let class_of = |workload: &Workload| workload.module().and_then(|m| workload.manifest(&m)).map(|m| m.class);
    let all: Vec<(Class, &'static str)> =
        raddle_workloads::all().iter().filter_map(|w| Some((class_of(w).ok()?, w.name))).collect();
    let mut chosen = Vec::new();
    let mut own: Vec<&'static str> = Vec::new();
    for (place, word) in words.into_iter().enumerate() {
        if Files::is_file(word) {
            let name = files.add(word).map_err(|problem| (place, problem))?;
            own.extend((!own.contains(&name)).then_some(name));
            continue;
        }
        let before = chosen.len();
        match word.strip_prefix("class:") {
            Some(class) => chosen.extend(all.iter().filter(|(c, _)| c.name() == class)),
            None if word == "all" => chosen.extend(&all),
            None => {
                let name = raddle_workloads::find(word).map_err(|problem| (place, problem))?.name;
                chosen.extend(all.iter().filter(|(_, n)| *n == name));
            }
        }
        if chosen.len() == before {
            let problem = Problem::new(format!("`{word}` is not a workload"));
            return Err((place, problem.help("write a name, `all`, or a class as in `class:divergent`")));
        }
    }
    chosen.sort();
    chosen.dedup();
    Ok(chosen.into_iter().map(|(_, name)| name).chain(own).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_workloads() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let workloads = |words: &[&str]| workloads(words.iter().copied(), &mut Files::new(&folder));
        let all = workloads(&["all"]).unwrap();
        assert_eq!(all.len(), raddle_workloads::all().len());
        assert_eq!(workloads(&["spmv", "all", "spmv"]).unwrap(), all);
        assert!(workloads(&["class:divergent"]).unwrap().contains(&"bfs"));
        assert_eq!(workloads(&["spmv", "bsf"]).unwrap_err().0, 1);
        assert!(workloads(&["class:odd"]).is_err());
        let files = ["examples/saxpy.toml", "spmv", "examples/bfs.toml", "examples/saxpy.toml", "bfs"];
        assert_eq!(workloads(&files).unwrap(), ["bfs", "spmv", "saxpy", "bfs.toml"], "names are unique");
        let (place, problem) = workloads(&["bfs", "examples/saxpy.ptx"]).unwrap_err();
        assert_eq!(place, 1);
        assert_eq!(problem.message, "`examples/saxpy.ptx` is no workload, launch file or program file");
        let (_, problem) = workloads(&["examples/none.toml"]).unwrap_err();
        assert!(problem.message.starts_with("cannot read "), "{problem}");
    }

    #[test]
    fn all_comes_from_the_registry() {
        let all_of = |key: &str| all_of(&raddle_mech::registry(), key);
        assert!(all_of("mechanism.issue").unwrap().contains(&"gto".to_owned()));
        assert!(all_of("preset").unwrap().contains(&"gtx480".to_owned()));
        assert_eq!(all_of("sm.l1d.sets"), None);
    }

    #[test]
    fn experiments_that_come_with_raddle_can_be_read() {
        for (name, text) in BUILT_IN {
            let experiment = Experiment::parse(name, text).unwrap_or_else(|p| panic!("{name}: {p}"));
            assert!(!experiment.title.is_empty() && !experiment.figures.is_empty());
        }
        assert!(Experiment::text(Path::new("matrxi")).unwrap_err().to_string().contains("no experiment"));
    }
}
