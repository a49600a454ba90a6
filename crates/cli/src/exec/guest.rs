//! What the library in a program's process asks of this crate: options, what to say of launches, the table in the end.

use super::counts_writer::CountsWriter;
use super::kernels::Kernels;
use super::options::Options;
use crate::exit::Failure;
use crate::out;
use crate::profile::Profiled;
use crate::render::{self, Text};
use crate::run::outside::Outside;
use crate::run::sanitize::{self, Found};
use crate::run::stop;
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
use std::rc::Rc;

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
    sources: BTreeMap<String, Rc<Sources>>,
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
        let options = Options::from_environment().map_err(|text| wrong(&text))?;
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
        let guest = Self {
            options,
            machine,
            properties,
            kernels,
            kept,
            profiler,
            sources,
            notes,
            outside,
            found,
            tracer,
            counts_writer,
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
            self.sources.insert(launched.kernel.clone(), Rc::new(Sources::new(file, None)));
        }
        let picoseconds = self.kernels.add(&launched, self.machine.as_ref().map(|machine| &machine.config));
        if self.options.stats.is_some() {
            self.kept.push(launched);
        }
        picoseconds
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
        let sources = |kernel: &str| self.sources.get(kernel).map(Rc::clone).unwrap_or_default();
        let profiled = Profiled::new(&about.display().to_string(), &machine.config, kernels, sources);
        let view = &self.options.view;
        match self.options.json {
            true => out::talk(&profiled.json().to_string()),
            false => out::talk(&view.text(&profiled, true)),
        }
        if let Err(failure) = view.page(&profiled) {
            out::talk(&render::failure(&failure).unwrap_or_default());
        }
    }

    /// The program ends.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        if let Some(Err(error)) = self.counts_writer.as_ref().map(CountsWriter::write) {
            out::talk(&format!("raddle: {error}"));
        }
        if let Some(path) = self.options.stats.as_deref() {
            let outcome = Outcome { launches: std::mem::take(&mut self.kept), ..Outcome::default() };
            let written =
                Format::of(path).and_then(|format| stats_table::write(path, format, &stats_table::rows(&outcome)));
            if let Err(error) = written {
                out::talk(&render::failure(&error.into()).unwrap_or_default());
            }
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
