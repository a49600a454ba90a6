//! The points of an experiment.

use crate::error::Error;
use crate::experiment::{Base, Change, Experiment, Vary};
use crate::fill;
use crate::parameters;
use crate::point::{Point, Program, Target};
use crate::virtualize::Virtualize;
use raddle_runtime::Problem;
use raddle_sim::config::{self, Machine, Origin, Source};
use raddle_sim::seam::{Registry, Seam};
use raddle_workloads::Size;
use raddle_workloads::run::SEED;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Bytes data moves from one repetition to the next: an odd number of lines, so that cache sets and channels change.
const HEAP_STEP: u64 = 273 * 256;

/// The most runs of an experiment: all of them are listed before the first.
const MAX_RUNS: usize = 1_000_000;

/// Every run of an experiment: each combination of choices, with each workload, repeated.
pub struct Grid {
    /// The points, one combination after the other.
    pub points: Vec<Point>,
    /// Combinations that make no sense and are left out, with the reason.
    pub left_out: Vec<String>,
    /// The workloads.
    pub programs: Vec<Arc<Program>>,
    sides: Vec<usize>,
    repeats: usize,
    /// Number of a point by combination, workload and repetition.
    at: Vec<Option<u32>>,
}

/// What a combination of choices runs on.
struct Combination<'e> {
    base: &'e Base,
    size: Size,
    virtualize: Option<Virtualize>,
    /// What variants change, after the changes of the experiment; parameters of the latter again behind mechanisms.
    set: Vec<&'e Change>,
}

impl Grid {
    /// All points of an experiment.
    ///
    /// # Errors
    /// When a machine cannot be made, with the place in the experiment file.
    pub fn new(experiment: &Experiment) -> Result<Self, Error> {
        let mut programs = Vec::new();
        for name in &experiment.workloads {
            let program = match experiment.files.get(name) {
                Some(own) => Program::of_own(name, own),
                None => Program::new(raddle_workloads::find(name)?)?,
            };
            programs.push(Arc::new(program));
        }
        let sides: Vec<usize> = experiment.axes.iter().map(|axis| axis.variants.len()).collect();
        let repeats = experiment.repeats.count as usize;
        let runs = experiment.variants().saturating_mul(programs.len()).saturating_mul(repeats);
        if runs > MAX_RUNS {
            let message = format!("the experiment has {runs} runs; {MAX_RUNS} are the most");
            return Err(Problem::new(message).help("give fewer values, workloads or repeats").into());
        }
        let mut grid = Self { points: Vec::new(), left_out: Vec::new(), programs, sides, repeats, at: Vec::new() };
        let registry = &experiment.registry;
        let runs = (0..experiment.variants()).map(|number| grid.choices(number));
        let runs: Vec<Vec<&Change>> = runs.filter(|c| experiment.runs(c)).map(|c| chosen(experiment, &c)).collect();
        if let Some(problem) = parameters::unused(registry, &experiment.set, &runs) {
            return Err(problem.into());
        }
        let mut targets = Targets { experiment, registry, known: BTreeMap::new(), parts: BTreeMap::new() };
        let shown = experiment.only_shown.then(|| experiment.shown());
        for number in 0..experiment.variants() {
            grid.add(&grid.choices(number), &mut targets, shown.as_ref())?;
        }
        Ok(grid)
    }

    /// Adds the points of a combination of choices; where it is said what is shown, only that.
    fn add(
        &mut self,
        choices: &[usize],
        targets: &mut Targets<'_>,
        shown: Option<&BTreeSet<(Vec<usize>, usize)>>,
    ) -> Result<(), Error> {
        let experiment = targets.experiment;
        if !experiment.runs(choices) {
            self.at.extend(std::iter::repeat_n(None, self.programs.len() * self.repeats));
            return Ok(());
        }
        let combination = combination(experiment, choices, targets.registry);
        let mut left_out = None;
        for (n, program) in self.programs.clone().into_iter().enumerate() {
            let is_shown = shown.is_none_or(|shown| shown.contains(&(choices.to_vec(), n)));
            if !is_shown || !experiment.runs_with(choices, program.name) {
                self.at.extend(std::iter::repeat_n(None, self.repeats));
                continue;
            }
            let part = targets.part(&combination, &program)?;
            for repeat in 0..self.repeats {
                let target = match targets.get(&combination, &part, repeat as u32)? {
                    Ok(target) => target,
                    Err(reason) => {
                        self.at.push(None);
                        left_out.get_or_insert_with(|| format!("{}: {reason}", title(experiment, choices)));
                        continue;
                    }
                };
                let width = target.config.sm.warp_width;
                if let Some(only) = program.warp_width.filter(|only| *only != width) {
                    self.at.push(None);
                    if repeat == 0 {
                        let (title, name) = (title(experiment, choices), program.name);
                        self.left_out.push(format!("{title}, {name}: it is written for warps of {only} lanes"));
                    }
                    continue;
                }
                if let (Some(_), crate::point::Source::Program(_)) = (combination.virtualize, &program.source) {
                    self.at.push(None);
                    if repeat == 0 {
                        let (title, name) = (title(experiment, choices), program.name);
                        let why = "kernels of a program file cannot be put in a loop over logical blocks";
                        self.left_out.push(format!("{title}, {name}: {why}"));
                    }
                    continue;
                }
                let varies = |what| experiment.repeats.vary.contains(&what);
                let seed = SEED + if varies(Vary::Seed) { repeat as u64 } else { 0 };
                let heap = if varies(Vary::Heap) { repeat as u64 * HEAP_STEP } else { 0 };
                self.at.push(Some(self.points.len() as u32));
                let point = Point::new(&program, &target, combination.size, seed, heap)?;
                self.points.push(point.virtualized(combination.virtualize));
            }
        }
        self.left_out.extend(left_out);
        Ok(())
    }

    /// The choices of combination `number`; the last axis turns fastest.
    fn choices(&self, number: usize) -> Vec<usize> {
        let mut rest = number;
        let mut choices: Vec<usize> = self
            .sides
            .iter()
            .rev()
            .map(|side| {
                let choice = rest % side;
                rest /= side;
                choice
            })
            .collect();
        choices.reverse();
        choices
    }

    /// Repetitions of each run.
    #[must_use]
    pub fn repeats(&self) -> usize {
        self.repeats
    }

    /// Does something with every point: its choices, the number of its workload, its repetition.
    pub fn each(&self, mut job: impl FnMut(&[usize], usize, usize, &Point)) {
        for number in 0..self.sides.iter().product() {
            let choices = self.choices(number);
            for program in 0..self.programs.len() {
                for repeat in 0..self.repeats {
                    if let Some(point) = self.point(&choices, program, repeat) {
                        job(&choices, program, repeat, point);
                    }
                }
            }
        }
    }

    /// The run of a workload, by number, with these choices.
    #[must_use]
    pub fn point(&self, choices: &[usize], program: usize, repeat: usize) -> Option<&Point> {
        let number = self.sides.iter().zip(choices).fold(0, |number, (side, choice)| number * side + choice);
        let at = (number * self.programs.len() + program) * self.repeats + repeat;
        self.at.get(at).copied().flatten().map(|at| &self.points[at as usize])
    }
}

/// What the choices of a combination are.
pub(crate) fn title(experiment: &Experiment, choices: &[usize]) -> String {
    let part =
        |(axis, choice): (&crate::experiment::Axis, &usize)| format!("{} {}", axis.name, axis.variants[*choice].label);
    experiment.axes.iter().zip(choices).map(part).collect::<Vec<_>>().join(", ")
}

/// What variants change.
fn chosen<'e>(experiment: &'e Experiment, choices: &[usize]) -> Vec<&'e Change> {
    experiment.chosen(choices).flat_map(|variant| &variant.set).collect()
}

fn combination<'e>(experiment: &'e Experiment, choices: &[usize], registry: &Registry) -> Combination<'e> {
    let (base, size) = (&experiment.base, experiment.size);
    let mut combination = Combination { base, size, virtualize: None, set: Vec::new() };
    for variant in experiment.chosen(choices) {
        combination.base = variant.base.as_ref().unwrap_or(combination.base);
        combination.size = variant.size.unwrap_or(combination.size);
        combination.virtualize = variant.virtualize.unwrap_or(combination.virtualize);
    }
    combination.set = parameters::placed(registry, &experiment.set, &chosen(experiment, choices));
    combination
}

/// The machines of an experiment.
struct Targets<'r> {
    experiment: &'r Experiment,
    registry: &'r Arc<Registry>,
    /// By what they start from and changes.
    known: BTreeMap<Vec<String>, Result<Arc<Target>, String>>,
    /// The changes that make a machine as large as a workload fills, by what it starts from, workload and size.
    parts: BTreeMap<(Vec<String>, &'static str, Size), Vec<Change>>,
}

/// What a machine starts from, to tell one from another.
fn name_of(base: &Base) -> Vec<String> {
    let kind = if matches!(base, Base::File { .. }) { "file" } else { "preset" };
    vec![kind.to_owned(), base.name().text.clone()]
}

impl Targets<'_> {
    /// The changes that make the machine of a combination, before any variant changes it, as large as a workload fills.
    fn part(&mut self, combination: &Combination<'_>, program: &Program) -> Result<Vec<Change>, Error> {
        let experiment = self.experiment;
        let Some(rule) = &experiment.fill else { return Ok(Vec::new()) };
        let (workload, size) = (program.name, combination.size);
        let name = (name_of(combination.base), workload, size);
        if let Some(known) = self.parts.get(&name) {
            return Ok(known.clone());
        }
        let machine = load(combination.base, &experiment.set.iter().collect::<Vec<_>>(), &[])?.config;
        let part = fill::part(experiment, program, size, &machine, rule.waves_of(workload));
        let change = |text: String| Change { text, at: rule.at.clone() };
        // What no SM holds is refused when it is run.
        let changes: Vec<Change> = part.iter().flat_map(|part| part.changes_with_times(&machine)).map(change).collect();
        self.parts.insert(name, changes.clone());
        Ok(changes)
    }

    /// The machine of a combination in a repetition, as large as `part` says, or why it makes no sense.
    fn get(
        &mut self,
        combination: &Combination<'_>,
        part: &[Change],
        repeat: u32,
    ) -> Result<Result<Arc<Target>, String>, Error> {
        let experiment = self.experiment;
        let changes: Vec<&Change> = experiment.set.iter().chain(part).chain(combination.set.iter().copied()).collect();
        let varies = repeat > 0 && experiment.repeats.vary.contains(&Vary::Dispatch);
        let first = varies.then(|| format!("mechanism.dispatch.first={repeat}"));
        let texts = changes.iter().map(|change| change.text.clone()).chain(first.clone());
        let name: Vec<String> = name_of(combination.base).into_iter().chain(texts).collect();
        if let Some(known) = self.known.get(&name) {
            return Ok(known.clone());
        }
        let made = self.make(combination.base, &changes, first.as_slice())?;
        self.known.insert(name, made.clone());
        Ok(made)
    }

    fn make(&self, base: &Base, changes: &[&Change], more: &[String]) -> Result<Result<Arc<Target>, String>, Error> {
        let machine = load(base, changes, more)?;
        if let Some(reason) = refusal(self.registry, &machine) {
            return Ok(Err(reason));
        }
        let checked = self.registry.check(&machine.config).map(drop);
        if let Err(wrong) = checked {
            let Some((key, text)) = wrong.into_iter().next() else { return Ok(Err("it cannot be made".to_owned())) };
            let help = "`raddle list mechanisms` says what there is";
            let message = format!("`{key}`: {text}");
            if let (Base::File { path, text, .. }, Some(origin @ Origin::File { .. })) = (base, machine.origin(&key)) {
                let problem = config::Problem::new(key.clone(), message).help(help).from(origin.clone());
                return Err(Error::Machine { problems: vec![problem], file: Box::new((path.clone(), text.clone())) });
            }
            let is_about = |c: &&&Change| c.text.split_once('=').is_some_and(|(path, _)| key.starts_with(path));
            let written = changes.iter().rev().find(is_about).and_then(|c| c.at.clone());
            let repeats = self.experiment.repeats.at.clone();
            let at = if key == "mechanism.dispatch" { written.or(repeats) } else { written };
            return Err(Problem::new(message).at(at).help(help).into());
        }
        Ok(Ok(Arc::new(Target::new(machine.config, self.registry)?)))
    }
}

/// A machine with changes from the experiment file and `more` that are not from there.
fn load(base: &Base, changes: &[&Change], more: &[String]) -> Result<Machine, Error> {
    let source = match base {
        Base::Preset(name) => Source::Preset(&name.text),
        Base::File { path, text, .. } => Source::File { name: path, text },
    };
    let texts: Vec<&str> = changes.iter().map(|c| c.text.as_str()).chain(more.iter().map(String::as_str)).collect();
    Machine::load(source, &texts).map_err(|problems| {
        // What is wrong with the file itself is shown there, all of it.
        let in_file = |p: &&config::Problem| matches!(p.origin, Some(Origin::File { .. }));
        let of_file: Vec<config::Problem> = problems.iter().filter(in_file).cloned().collect();
        if let (Base::File { path, text, .. }, false) = (base, of_file.is_empty()) {
            return Error::Machine { problems: of_file, file: Box::new((path.clone(), text.clone())) };
        }
        let Some(first) = problems.into_iter().next() else {
            return Problem::new("the machine cannot be used").into();
        };
        let at = match &first.origin {
            Some(Origin::Set(text)) => changes.iter().rev().find(|c| c.text == *text).and_then(|c| c.at.clone()),
            // A value of the preset does not go with what was changed last.
            _ => changes.last().and_then(|c| c.at.clone()).or(base.name().at.clone()),
        };
        Problem { message: first.message, help: first.help, at }.into()
    })
}

/// Why the mechanisms of a machine do not work together.
fn refusal(registry: &Registry, machine: &Machine) -> Option<String> {
    let mechanism = &machine.config.mechanism;
    let mut refusals = Seam::ALL.into_iter().filter_map(|seam| {
        let info = registry.get(seam, seam.choice(mechanism).name())?.info;
        let met = info.refuses.iter().find(|r| r.seam.choice(mechanism).name() == r.name)?;
        Some(format!("{} does not work with {}: {}", info.name, met.name, met.reason))
    });
    refusals.next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::BUILT_IN;

    const TWO: &str = "title = 'T'\nworkloads = ['bfs', 'spmv']\nsize = 'tiny'\n\
        [repeats]\ncount = 3\nvary = ['seed', 'dispatch', 'heap']\n\
        [[axis]]\nname = 'i'\nkey = 'mechanism.issue'\nvalues = ['lrr', 'gto']\n\
        [[axis]]\nname = 's'\nkey = 'gpu.sms'\nvalues = [1, 2, 3]\n";

    fn grid(text: &str) -> Result<Grid, Error> {
        Grid::new(&Experiment::parse("t", text).unwrap())
    }

    #[test]
    fn there_are_only_so_many_runs() {
        let many = TWO.replace("count = 3", "count = 4294967295");
        let error = grid(&many).err().unwrap().to_string();
        assert_eq!(error, "the experiment has 51539607540 runs; 1000000 are the most");
        let axis = |n: u32| format!("[[axis]]\nname = 'x{n}'\nkey = 'clock.core'\nvalues = [1, 2, 3, 4, 5, 6, 7, 8]\n");
        let wide = TWO.to_owned() + &(0..40).map(axis).collect::<String>();
        assert!(grid(&wide).err().unwrap().to_string().starts_with("the experiment has 18446744073709551615 runs"));
    }

    #[test]
    fn every_combination_is_there_once() {
        let grid = grid(TWO).unwrap();
        assert_eq!(grid.points.len(), 2 * 3 * 2 * 3);
        let keys: BTreeSet<_> = grid.points.iter().map(|p| p.key).collect();
        assert_eq!(keys.len(), grid.points.len());
        let point = grid.point(&[1, 2], 1, 2).unwrap();
        assert_eq!((point.target.config.gpu.sms, point.seed, point.heap_offset), (3, 3, 2 * HEAP_STEP));
        assert_eq!(point.target.config.mechanism.issue.name(), "gto");
        assert_eq!(point.program.name, "spmv");
        let first = grid.point(&[0, 0], 0, 0).unwrap();
        assert_eq!((first.seed, first.heap_offset), (SEED, 0));
    }

    #[test]
    fn the_file_in_the_book_is_an_experiment() {
        let page = include_str!("../../../docs/src/guide/experiments.md");
        let (_, rest) = page.split_once("```toml\n").unwrap();
        let (example, _) = rest.split_once("```").unwrap();
        let experiment = Experiment::parse("book", example).unwrap();
        let grid = Grid::new(&experiment).unwrap();
        assert_eq!(grid.points.len(), 3 * 2 * experiment.workloads.len() * 3);
        assert_eq!((experiment.figures.len(), grid.left_out.len()), (3, 0));
    }

    #[test]
    fn what_comes_with_raddle_runs_nothing_that_no_figure_shows() {
        for (name, text) in BUILT_IN {
            let experiment = Experiment::parse(name, text).unwrap();
            let shown = experiment.shown();
            Grid::new(&experiment).unwrap().each(|choices, program, _, point| {
                let what = || format!("{name}: {}, {}", title(&experiment, choices), point.program.name);
                assert!(shown.contains(&(choices.to_vec(), program)), "{}", what());
            });
        }
    }

    #[test]
    fn mistakes_in_machines_have_a_place() {
        let wrong = |from: &str, to: &str| match grid(&TWO.replace(from, to)).err() {
            Some(Error::Problem(problem)) => (problem.message.clone(), problem.at.is_some()),
            _ => panic!("no problem"),
        };
        let (message, has_place) = wrong("gpu.sms", "gpu.sm");
        assert!(message.contains("gpu.sm") && has_place, "{message}");
        let (message, has_place) = wrong("'gto'", "'gtoo'");
        assert!(message.contains("gtoo") && has_place, "{message}");
        let (message, has_place) = wrong("size = 'tiny'", "preset = 'gtx'");
        assert!(message.contains("gtx") && has_place, "{message}");
        let (message, has_place) = wrong("size = 'tiny'", "set = ['mechanism.dispatch=fill-first']");
        assert!(message.contains("first") && has_place, "{message}");
    }

    #[test]
    fn virtualised_kernels_are_choices_on_an_axis() {
        let text = "title = 'T'\nworkloads = ['spmv']\nsize = 'tiny'\n[[axis]]\nname = 'v'\nkey = 'virtualize'\n\
            values = ['no', 'software']\n[[axis.variant]]\nlabel = 'hw'\nvirtualize = 'same-lane, fit'\n";
        let points = grid(text).unwrap().points;
        let names: Vec<_> = points.iter().map(|p| p.virtualize.map(|v| v.name())).collect();
        assert_eq!(names, [None, Some("software".to_owned()), Some("same-lane, fit".to_owned())]);
        let keys: BTreeSet<_> = points.iter().map(|p| p.key).collect();
        assert_eq!(keys.len(), 3);
        for wrong in ["software", "same-lane, fit"] {
            let error = Experiment::parse("t", &text.replace(wrong, "other")).unwrap_err();
            assert!(error.to_string().contains("`other`"), "{error}");
        }
    }

    #[test]
    fn machine_files_are_part_of_the_key() {
        let folder = std::env::temp_dir().join(format!("raddle-grid-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let write = |text: &str| std::fs::write(folder.join("m.toml"), text).unwrap();
        let text = "title = 'T'\nworkloads = ['spmv']\nsize = 'tiny'\n\
            [[axis]]\nname = 'm'\n[[axis.variant]]\nlabel = 'a'\npreset = 'gtx480'\n\
            [[axis.variant]]\nlabel = 'b'\nmachine = 'm.toml'\n";
        let grid = || Grid::new(&Experiment::parse_in(&folder, "t", text).unwrap());
        write("base = \"gtx480\"\n");
        let same = grid().unwrap();
        assert_eq!(same.points[0].key, same.points[1].key, "the same machine, wherever it comes from");
        write("base = \"gtx480\"\n[gpu]\nsms = 3\n");
        let other = grid().unwrap();
        assert_eq!(other.points[1].target.config.gpu.sms, 3);
        assert_ne!(other.points[0].key, other.points[1].key);
        let problems = || match grid().err() {
            Some(Error::Machine { problems, file }) => {
                assert!(file.0.ends_with("m.toml"));
                problems
            }
            _ => panic!("no problem of the machine"),
        };
        write("base = \"gtx480\"\n[gpu]\nsm = 3\nl3 = 1\n");
        let found = problems();
        assert_eq!(found.len(), 2);
        assert!(matches!(found[0].origin, Some(Origin::File { line: 3, .. })), "{found:?}");
        write("base = \"gtx480\"\n[mechanism]\nissue = \"gtoo\"\n");
        assert!(problems()[0].message.contains("gtoo"));
        let _ = std::fs::remove_dir_all(&folder);
    }
}
