//! A point: one run of a workload on a machine.

use crate::error::Error;
use crate::experiment::Own;
use crate::keep::Keeping;
use crate::key::Key;
use crate::launch_file::LaunchFile;
use crate::program_file::{How, ProgramFile};
use crate::record::{Failure, Identity, KernelCounts, MachineSpec, Record, SCHEMA};
use crate::virtualize::Virtualize;
use raddle_exec::Interrupt;
use raddle_runtime::checkpoint::Checkpoints;
use raddle_runtime::device::{RunOptions, Setup};
use raddle_runtime::measure::Recorder;
use raddle_runtime::timing::{LaunchObserver, TimingOptions, Watch};
use raddle_runtime::{Engine, EngineOptions, Problem, PtxFile};
use raddle_sim::config::MachineConfig;
use raddle_sim::seam::Registry;
use raddle_workloads::Error as RunError;
use raddle_workloads::run::SEED;
use raddle_workloads::{Class, Launches, Manifest, Ran, Request, Size, Workload};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A machine, with its hash.
#[derive(Debug)]
pub struct Target {
    /// Parameters.
    pub config: MachineConfig,
    /// The same as records have it.
    pub spec: Arc<MachineSpec>,
    registry: Arc<Registry>,
    key: Key,
}

impl Target {
    /// A machine that has been checked, with the mechanisms of the registry.
    ///
    /// # Errors
    /// When it has no hash.
    pub fn new(config: MachineConfig, registry: &Arc<Registry>) -> Result<Self, Error> {
        let spec = MachineSpec::new(&config, registry)?;
        Ok(Self { config, key: spec.key()?, spec: Arc::new(spec), registry: Arc::clone(registry) })
    }
}

/// Where a program is from.
pub enum Source {
    /// It comes with Raddle.
    Workload(&'static Workload),
    /// It is a launch file of the user.
    File(Arc<LaunchFile>),
    /// It is a program of the user, which runs as a process of its own.
    Program(Arc<ProgramFile>),
}

/// A workload, with what all its points have in common.
pub struct Program {
    /// Its name in tables.
    pub name: &'static str,
    /// Where it is from.
    pub source: Source,
    /// Its class; files of the user have none.
    pub class: Option<Class>,
    /// The warp width it is written for; any when there is none.
    pub warp_width: Option<u32>,
    /// Whether all blocks of a launch must be resident at once.
    pub all_resident: bool,
    /// Its kernels, where they are known before it runs.
    pub module: Option<PtxFile>,
    ptx: Key,
    driver: Key,
    sizes: BTreeMap<Size, BTreeMap<String, u64>>,
}

impl Program {
    /// Reads its manifest.
    ///
    /// # Errors
    /// When the workload cannot be used.
    pub fn new(workload: &'static Workload) -> Result<Self, Error> {
        let module = workload.module()?;
        let manifest = workload.manifest(&module)?;
        let (ptx, driver) = (Key::of(workload.ptx.as_bytes()), Key::of(workload.driver_source.as_bytes()));
        let Manifest { class, warp_width, all_resident, sizes, .. } = manifest;
        let (name, source, class) = (workload.name, Source::Workload(workload), Some(class));
        let module = Some(module);
        Ok(Self { name, source, class, warp_width, all_resident, module, ptx, driver, sizes })
    }

    /// A file of the user, with its name in tables.
    #[must_use]
    pub fn of_own(name: &'static str, own: &Own) -> Self {
        let (source, ptx, driver, module) = match own {
            Own::Launches(file) => {
                (Source::File(Arc::clone(file)), file.kernels, file.content, Some(file.module.clone()))
            }
            Own::Program(file) => (Source::Program(Arc::clone(file)), file.kernels, file.content, None),
        };
        let (warp_width, all_resident, sizes) = (None, false, BTreeMap::new());
        Self { name, source, class: None, warp_width, all_resident, module, ptx, driver, sizes }
    }

    /// What it launches at a size, by the census; nothing where that does not have it.
    #[must_use]
    pub fn launches(&self, size: Size) -> Vec<Launches> {
        match &self.source {
            Source::Workload(workload) => workload.launches(size),
            Source::File(_) | Source::Program(_) => Vec::new(),
        }
    }
}

/// One run.
#[derive(Clone)]
pub struct Point {
    /// What runs.
    pub program: Arc<Program>,
    /// On which machine.
    pub target: Arc<Target>,
    /// How large the input is; files of the user have one size.
    pub size: Size,
    /// What that means to the driver.
    parameters: BTreeMap<String, u64>,
    /// Seed of the input.
    pub seed: u64,
    /// Bytes left free before the first allocation.
    pub heap_offset: u64,
    /// How its kernels are put in a loop over logical blocks, if they are.
    pub virtualize: Option<Virtualize>,
    /// Key of its result.
    pub key: Key,
}

impl Point {
    /// A point.
    ///
    /// # Errors
    /// When the workload has no input of this size.
    pub fn new(
        program: &Arc<Program>,
        target: &Arc<Target>,
        size: Size,
        seed: u64,
        heap_offset: u64,
    ) -> Result<Self, Error> {
        let (program, target) = (Arc::clone(program), Arc::clone(target));
        let (parameters, seed) = match (&program.source, program.sizes.get(&size)) {
            // Neither makes a difference to what it runs.
            (Source::File(_) | Source::Program(_), _) => (BTreeMap::new(), SEED),
            (Source::Workload(_), Some(parameters)) => (parameters.clone(), seed),
            (Source::Workload(_), None) => {
                return Err(Problem::new(format!("`{}` has no size `{size}`", program.name)).into());
            }
        };
        let (virtualize, key) = (None, Key([0; 32]));
        let mut point = Self { program, target, size, parameters, seed, heap_offset, virtualize, key };
        point.key = point.identity().key_on(point.target.key);
        Ok(point)
    }

    /// The same with its kernels in a loop over logical blocks, or as they are.
    #[must_use]
    pub fn virtualized(mut self, virtualize: Option<Virtualize>) -> Self {
        self.virtualize = virtualize;
        self.key = self.identity().key_on(self.target.key);
        self
    }

    /// Everything that determines its result.
    #[must_use]
    pub fn identity(&self) -> Identity {
        let program = &self.program;
        // Names in tables depend on what else the experiment runs.
        let (workload, size) = match &program.source {
            Source::Workload(workload) => (workload.name.to_owned(), self.size.name()),
            Source::File(file) => (file.file_name(), "-"),
            Source::Program(file) => (file.file_name(), "-"),
        };
        Identity {
            schema: SCHEMA,
            epoch: raddle_sim::EPOCH,
            workload,
            ptx: program.ptx,
            driver: program.driver,
            size: size.to_owned(),
            parameters: self.parameters.clone(),
            seed: self.seed,
            heap_offset: self.heap_offset,
            virtualize: self.virtualize.map(|v| v.name()),
            machine: Arc::clone(&self.target.spec),
        }
    }

    /// Runs it on so many host threads.
    ///
    /// # Errors
    /// When the machine refuses it, it does not complete, its results are wrong or the simulator has a bug.
    pub fn run(&self, threads: usize) -> Result<Record, Failure> {
        // Without checkpoints nobody stops it.
        self.run_until(threads, None, None)
            .unwrap_or_else(|| Err(self.failure(&RunError::Wrong("it was stopped".to_owned()))))
    }

    /// The same with checkpoints, until somebody asks for the end; `None` when it was stopped.
    pub(crate) fn run_until(
        &self,
        threads: usize,
        keeping: Option<&Keeping>,
        interrupt: Option<&Interrupt>,
    ) -> Option<Result<Record, Failure>> {
        let ran =
            catch_unwind(AssertUnwindSafe(|| self.simulate(threads, keeping, interrupt))).unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("without a message");
                Err(RunError::Wrong(format!("the simulator panicked: {text}")))
            });
        match ran {
            Err(RunError::Runtime(raddle_runtime::Error::Interrupted { .. })) => None,
            ran => Some(ran.map_err(|error| self.failure(&error))),
        }
    }

    fn failure(&self, error: &RunError) -> Failure {
        Failure {
            key: self.key,
            title: self.identity().title(),
            is_refusal: matches!(error, RunError::Runtime(raddle_runtime::Error::Refused(_))),
            error: error.to_string(),
        }
    }

    fn simulate(
        &self,
        threads: usize,
        keeping: Option<&Keeping>,
        interrupt: Option<&Interrupt>,
    ) -> Result<Record, RunError> {
        if let Source::Program(file) = &self.program.source {
            let kernels = self.run_program(file, threads, keeping, interrupt)?;
            return Ok(Record { identity: self.identity(), checked: file.checked(), kernels });
        }
        let ran = self.launched(threads, None, keeping.map(|keeping| keeping.of(&self.key)), interrupt)?;
        match ran.wrong {
            Some(wrong) => Err(wrong),
            None => {
                Ok(Record { identity: self.identity(), checked: ran.checked, kernels: KernelCounts::of(&ran.launches) })
            }
        }
    }

    /// Runs it as a process of its own.
    fn run_program(
        &self,
        file: &ProgramFile,
        threads: usize,
        keeping: Option<&Keeping>,
        interrupt: Option<&Interrupt>,
    ) -> Result<Vec<KernelCounts>, RunError> {
        let others = self.target.spec.mechanisms.iter().find(|(_, mechanism)| mechanism.origin.is_some());
        if let Some((seam, mechanism)) = others {
            let message =
                format!("`mechanism.{seam}={}` is not one of those that programs can run with", mechanism.name);
            let help = "libcudart.so has the mechanisms that come with Raddle; launch files run with all";
            return Err(Problem::new(format!("{message}: {help}")).into());
        }
        let is_stopping = || keeping.is_some_and(Keeping::is_stopping) || interrupt.is_some_and(Interrupt::is_wanted);
        let (machine, heap_offset) = (&self.target.config, self.heap_offset);
        file.run(&How { machine, threads, heap_offset, is_stopping: &is_stopping })
    }

    /// Runs it, and takes down when warps did what.
    ///
    /// # Errors
    /// When it cannot be run.
    pub(crate) fn launched(
        &self,
        threads: usize,
        recorder: Option<&mut Recorder>,
        checkpoints: Option<Checkpoints>,
        interrupt: Option<&Interrupt>,
    ) -> Result<Ran, raddle_workloads::Error> {
        let machine = self.target.config.clone();
        let Some(module) = &self.program.module else { return Err(self.is_a_process().into()) };
        let virtualized = self.virtualize.map(|virtualize| virtualize.apply(module, &machine));
        let virtualized = virtualized.transpose()?;
        let module = virtualized.as_ref().unwrap_or(module);
        let engine = EngineOptions { engine: Engine::Timing, warp_width: machine.sm.warp_width };
        let timing = Some(Box::new(TimingOptions { threads, ..TimingOptions::new(machine) }));
        let options = RunOptions {
            engine,
            timing,
            heap_offset: self.heap_offset,
            interrupt: interrupt.cloned(),
            ..RunOptions::default()
        };
        let request = Request { seed: self.seed, ..Request::new(self.size) };
        let setup = Setup::with_registry(options, Arc::clone(&self.target.registry)).with_checkpoints(checkpoints);
        let observer = recorder.map(|recorder| recorder as &mut dyn LaunchObserver);
        let watch = Watch { observer, progress: None };
        match &self.program.source {
            Source::Workload(workload) => workload.run(module, &setup, watch, &request),
            Source::File(file) => file.run(module, &setup, watch),
            Source::Program(_) => Err(self.is_a_process().into()),
        }
    }

    /// What cannot be seen from outside.
    fn is_a_process(&self) -> Problem {
        Problem::new(format!("`{}` runs as a process of its own, whose launches cannot be watched", self.program.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_sim::config::{Machine, Source};

    fn point(set: &[&str], heap_offset: u64) -> Point {
        let program = Arc::new(Program::new(raddle_workloads::find("spmv").unwrap()).unwrap());
        let machine = Machine::load(Source::Preset("gtx480"), set).unwrap();
        let target = Target::new(machine.config, &Arc::new(raddle_mech::registry())).unwrap();
        Point::new(&program, &Arc::new(target), Size::Tiny, 1, heap_offset).unwrap()
    }

    #[test]
    fn a_point_gives_the_record_of_its_key() {
        let point = point(&[], 0);
        let record = point.run(1).unwrap();
        assert_eq!(record.identity.key().unwrap(), point.key);
        assert!(record.total("cycles") > 0 && record.total("sm.warp_insts") > 0);
        assert_eq!(record, point.run(2).unwrap(), "whatever the number of threads");
    }

    #[test]
    fn harmless_changes_change_cycles_and_nothing_else() {
        let plain = point(&[], 0).run(1).unwrap();
        for other in [point(&["mechanism.dispatch.first=5"], 0), point(&[], 69_888)] {
            let other = other.run(1).unwrap();
            assert_ne!(other.identity.key().unwrap(), plain.identity.key().unwrap());
            assert_eq!(other.total("sm.thread_insts"), plain.total("sm.thread_insts"));
            assert_ne!(other.total("cycles"), plain.total("cycles"));
        }
    }

    #[test]
    fn virtualised_kernels_are_another_point() {
        let plain = point(&[], 0);
        for form in ["software", "same-lane", "slowest-lane, no-hoist"] {
            let other = point(&[], 0).virtualized(Virtualize::parse(form).unwrap());
            assert_ne!(other.key, plain.key);
            let record = other.run(1).unwrap();
            assert_eq!(
                (record.identity.key().unwrap(), record.identity.virtualize.as_deref()),
                (other.key, Some(form))
            );
            assert!(record.total("sm.ctas") <= plain.run(1).unwrap().total("sm.ctas"));
        }
    }

    #[test]
    fn a_size_that_is_not_there_has_no_key() {
        let mut program = Program::new(raddle_workloads::find("spmv").unwrap()).unwrap();
        program.sizes.remove(&Size::Small);
        let target = Arc::clone(&point(&[], 0).target);
        let error = Point::new(&Arc::new(program), &target, Size::Small, 1, 0).err().unwrap();
        assert_eq!(error.to_string(), "`spmv` has no size `small`");
    }

    #[test]
    fn what_cannot_be_run_says_why() {
        let error = point(&["sm.warp_width=8", "sm.simd_width=8"], 0).run(1);
        assert!(error.is_ok(), "spmv runs with warps of any width");
        let error = point(&["sm.registers=64"], 0).run(1).unwrap_err();
        assert!(error.is_refusal && error.error.contains("registers"), "{error:?}");
    }
}
