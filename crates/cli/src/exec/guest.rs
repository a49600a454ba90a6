//! What the library in a program's process asks of this crate: options, what to say of launches, the table in the end.

use super::counts_writer::CountsWriter;
use super::kernels::Kernels;
use super::options::Options;
use super::session::Member;
use crate::exit::Failure;
use crate::out;
use crate::profile::Profiled;
use crate::render::{self, Text};
use crate::run::outside::Outside;
use crate::run::sanitize::{self, Found};
use crate::run::stop;
use crate::source_files::{SourceFiles, folder_of};
use crate::sources::Sources;
use raddle_cuda::names;
use raddle_runtime::device::Setup;
use raddle_runtime::outcome::{Launched, Stop};
use raddle_runtime::profile::Profiler;
use raddle_runtime::sample::{LaunchSample, Sample};
use raddle_runtime::stats_table::{self, Format};
use raddle_runtime::timing::Watch;
use raddle_runtime::trace::SharedTracer;
use raddle_runtime::{Error, Outcome, PtxFile};
use raddle_sim::config::{Machine, MachineConfig};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Notes that are printed at most; what goes wrong once often goes wrong a million times.
const MOST_NOTES: usize = 50;

/// A program that runs kernels.
pub struct Guest {
    options: Options,
    machine: Option<Machine>,
    /// What programs are told of the device, also without time.
    properties: MachineConfig,
    kernels: Kernels,
    /// All launches, if a table of counters is asked for.
    kept: Vec<Launched>,
    /// Sums of profiles, and what each kernel was compiled from.
    profiler: Profiler,
    sources: BTreeMap<String, Arc<Sources>>,
    source_files: Arc<SourceFiles>,
    /// Notes that have been printed.
    notes: BTreeSet<String>,
    /// Reads outside of memory.
    outside: Outside,
    /// What the sanitizer found.
    found: Found,
    /// What is written over time.
    tracer: Option<SharedTracer>,
    /// Writes what a point counts.
    counts_writer: Option<CountsWriter>,
    /// The process among those of one command.
    member: Option<Member>,
    /// The process that `kept` is of; the child of a fork has a copy of what its parent counted.
    process: u32,
    has_ended: bool,
}

impl Guest {
    /// Reads the options of this process. What is wrong with them is printed.
    ///
    /// # Errors
    /// The exit code for a program that cannot be run like this.
    pub fn from_environment() -> Result<(Self, Setup), i32> {
        let wrong = |text: &str| {
            out::talk(text);
            2
        };
        let mut options = Options::from_environment().map_err(|text| wrong(&text))?;
        let member = options.session.as_deref().map(Member::join).transpose();
        let member = member.map_err(|problem| wrong(&problem.to_string()))?;
        if let Some(member) = &member {
            for path in options.rename(|path| member.own_file(path)) {
                out::talk(&format!(
                    "raddle: another program of this command came first: {} is of {}",
                    path.display(),
                    program()
                ));
            }
        }
        let registry = raddle_mech::registry();
        let machine = options
            .load(&registry)
            .map_err(|failure: Failure| wrong(&render::failure(&failure).unwrap_or_default()))?;
        let properties = match &machine {
            Some(machine) => machine.config.clone(),
            None => options.machine.load().map_err(|e| wrong(&render::failure(&e).unwrap_or_default()))?.config,
        };
        let setup = Setup::with_registry(options.run_options(machine.as_ref()), registry);
        let (kernels, kept, notes) = (Kernels::default(), Vec::new(), BTreeSet::new());
        let (outside, found, profiler, sources) = Default::default();
        let tracer = options.trace.start(machine.as_ref());
        let tracer = tracer.map_err(|e| wrong(&render::failure(&e).unwrap_or_default()))?.map(SharedTracer::new);
        let (counts_writer, has_ended) = (options.counts.clone().map(CountsWriter::new), false);
        // Before the program changes its folder.
        let named = std::env::current_exe().ok().map(|program| folder_of(&program));
        let source_files = options.view.sources.files(named.into_iter().chain([PathBuf::from(".")]));
        let source_files = Arc::new(source_files.map_err(|problem| wrong(&problem.to_string()))?);
        let guest = Self {
            options,
            machine,
            properties,
            kernels,
            kept,
            profiler,
            sources,
            source_files,
            notes,
            outside,
            found,
            tracer,
            counts_writer,
            member,
            process: std::process::id(),
            has_ended,
        };
        Ok((guest, setup))
    }

    /// The machine that programs are told of: the one that is simulated, or the default where nothing has a time.
    #[must_use]
    pub fn properties(&self) -> &MachineConfig {
        &self.properties
    }

    /// Who watches the device. What it takes is needed until the process ends.
    #[must_use]
    pub fn watch(&self) -> Watch<'static> {
        let observer = self.tracer.clone().map(|tracer| Box::leak(Box::new(tracer)) as &mut _);
        Watch { observer, progress: None }
    }

    /// Host code has copied bytes to or from the device, or on it.
    pub fn copied(&mut self, to_device: bool, from_device: bool, bytes: u64) {
        let direction = match (from_device, to_device) {
            (false, true) => "host to device",
            (true, false) => "device to host",
            (true, true) => "device to device",
            (false, false) => "host to host",
        };
        self.tracer.iter().for_each(|tracer| tracer.lock().copied(direction, bytes));
    }

    /// Whether the next launch of this kernel is simulated in time.
    #[must_use]
    pub fn is_timed(&self, kernel: &str) -> bool {
        match self.options.sample {
            Some(Sample::Launches(each)) => self.kernels.timed(kernel) < each as u64,
            _ => true,
        }
    }

    /// Takes note of a launch of a kernel in `file`: how long it took, in picoseconds. A fault is printed.
    pub fn launched(&mut self, mut launched: Launched, file: &PtxFile) -> u64 {
        if let (Some(Sample::Launches(_)), None) = (self.options.sample, &launched.stop) {
            let work = launched.report.warp_insts;
            launched.sample = Some(match launched.timed {
                Some(_) => LaunchSample::Whole { work, why: None },
                None => LaunchSample::Executed { work },
            });
        }
        for said in self.outside.add(&launched, file).into_iter().chain(self.found.add(&launched, file)) {
            out::talk(&said);
        }
        self.counts_writer.iter_mut().for_each(|counts_writer| counts_writer.launched(&launched));
        if let Some(stop) = &launched.stop {
            self.stopped(&launched, stop, file);
        }
        if self.profiler.add(&launched) {
            let sources = Sources::new(file, None, Arc::clone(&self.source_files));
            self.sources.insert(launched.kernel.clone(), Arc::new(sources));
        }
        let picoseconds = self.kernels.add(&launched, self.machine.as_ref().map(|machine| &machine.config));
        if self.options.stats.is_some() {
            self.forget_parent();
            self.kept.push(launched);
        }
        picoseconds
    }

    /// In the child of a fork, forgets the launches of its parent, which has them in the table.
    fn forget_parent(&mut self) {
        let own = std::process::id();
        if std::mem::replace(&mut self.process, own) == own {
            return;
        }
        self.kept.clear();
        if let Some(folder) = self.options.session.as_deref().filter(|_| self.member.is_some()) {
            match Member::join(folder) {
                Ok(member) => self.member = Some(member),
                Err(problem) => out::talk(&format!("raddle: {problem}")),
            }
        }
    }

    /// Writes the table of counters, or leaves it to the command that started several programs.
    fn write_stats(&mut self) -> Result<(), Failure> {
        let Some(path) = self.options.stats.clone() else { return Ok(()) };
        self.forget_parent();
        let outcome = Outcome { launches: std::mem::take(&mut self.kept), ..Outcome::default() };
        let rows = stats_table::rows(&outcome);
        match &self.member {
            Some(member) => Ok(member.leave(program(), rows)?),
            None => Ok(stats_table::write(&path, Format::of(&path)?, &rows)?),
        }
    }

    fn stopped(&self, launched: &Launched, stop: &Stop, file: &PtxFile) {
        let kernel = names::readable(&launched.kernel);
        out::talk(&format!("raddle: kernel {kernel} did not complete"));
        out::talk(&stop::text(stop, &Text::new(&file.path, &file.source), file));
    }

    /// What is wrong with a module, once.
    pub fn refused(&mut self, what: &str, error: Error) {
        self.counts_writer.iter_mut().for_each(|counts_writer| counts_writer.refused(what, &error));
        if let Some(text) = render::failure(&error.into()) {
            self.note(&format!("{what}:\n{text}"));
        }
    }

    /// Prints a note, each only once.
    pub fn note(&mut self, text: &str) {
        if self.notes.len() < MOST_NOTES && self.notes.insert(text.to_owned()) {
            out::talk(&format!("raddle: {text}"));
        }
    }

    /// Where the time went, by lines.
    fn tell_profile(&mut self) {
        let Some(machine) = &self.machine else { return };
        let kernels = std::mem::take(&mut self.profiler).finish();
        let about = std::env::current_exe().unwrap_or_default();
        let sources = |kernel: &str| self.sources.get(kernel).map(Arc::clone).unwrap_or_default();
        let profiled = Profiled::new(&about.display().to_string(), &machine.config, kernels, sources);
        let view = &self.options.view;
        match self.options.json {
            true => {
                let mut value = profiled.json();
                // Nothing but the data: it shares stderr with what is told.
                value["note"] = self.source_files.note().into();
                out::talk(&value.to_string());
            }
            false => out::talk(&view.text(&profiled, true)),
        }
        if let Err(failure) = view.page(&profiled) {
            out::talk(&render::failure(&failure).unwrap_or_default());
        }
        self.source_files.tell();
    }

    /// The program ends.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        if let Some(Err(error)) = self.counts_writer.as_ref().map(CountsWriter::write) {
            out::talk(&format!("raddle: {error}"));
        }
        if let Err(failure) = self.write_stats() {
            out::talk(&render::failure(&failure).unwrap_or_default());
        }
        if let Some(tracer) = &self.tracer
            && let Err(failure) = self.options.trace.finish(&mut tracer.lock())
        {
            out::talk(&render::failure(&failure).unwrap_or_default());
        }
        if self.options.profile {
            self.tell_profile();
            return;
        }
        let machine = self.machine.as_ref();
        if self.options.json {
            let mut value = self.kernels.json(machine);
            value["outside_reads"] = self.outside.count().into();
            value["findings"] = self.found.count().into();
            out::talk(&value.to_string());
        } else if !self.options.quiet && !self.kernels.is_empty() {
            out::talk(&self.kernels.text(machine));
            self.outside.line().iter().for_each(|line| out::talk(line));
            if sanitize::wanted(&self.options.execution.sanitize).any() {
                out::talk(&self.found.line());
            }
        }
    }
}

/// The name of the program that this process runs.
fn program() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
