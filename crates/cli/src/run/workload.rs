//! `raddle run WORKLOAD`.

use super::launches::{Launches, memory_json, memory_line};
use super::{Args, Ran, Then, energy, outside, sample, sanitize, spec, stop, timing_json};
use crate::exit::{Exit, Failure};
use crate::fill;
use crate::out;
use crate::render::{self, Text};
use raddle_runtime::device::Setup;
use raddle_runtime::sample::Estimates;
use raddle_runtime::stats_table::{self, Format};
use raddle_runtime::timing::{LaunchObserver, Watch};
use raddle_runtime::{Error, Outcome};
use raddle_sim::seam::Registry;
use raddle_workloads::{Request, Size};
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Runs a workload, with somebody who listens; `then` is done instead of reporting the run.
pub fn run(
    args: &Args,
    registry: &Arc<Registry>,
    observer: Option<&mut dyn LaunchObserver>,
    then: Option<Then<'_>>,
) -> Result<Exit, Failure> {
    let name = args.file.display().to_string();
    let workload = raddle_workloads::find(&name).map_err(|problem| match args.file.is_file() {
        true => problem.help(format!("for the file of that name, write ./{name}")),
        false => problem,
    })?;
    spec::refuse_file_options(args)?;
    let stats = args.stats.as_deref().map(|path| Ok::<_, Error>((path, Format::of(path)?))).transpose()?;
    let machine = args.machine(registry)?;
    let machine = machine.as_ref();
    let energies = energy::energies(args.energy.as_ref())?;
    let module = args.virtualized(workload.module()?)?;
    let mut request = Request::new(args.size.unwrap_or(Size::Small));
    request.seed = args.seed.unwrap_or(request.seed);
    let start = Instant::now();
    let sampling = sample::sampling(args, machine, || {
        let setup = Setup::with_registry(args.profile_options(machine), Arc::clone(registry));
        Ok(workload.run(&module, &setup, Watch::default(), &request)?.launches)
    })?;
    let profile = start.elapsed();
    let setup = Setup::with_registry(args.options(machine, sampling), Arc::clone(registry));
    let setup = setup.with_checkpoints(args.checkpoints.start());

    let line = Mutex::new(args.line());
    let mut progress = |number, progress| line.lock().unwrap_or_else(PoisonError::into_inner).show(number, progress);
    let observer = observer.map(|o| o as &mut dyn LaunchObserver);
    let watch = Watch { observer, progress: Some(&mut progress) };
    let ran = workload.run(&module, &setup, watch, &request);
    line.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let ran = ran?;

    let raddle_workloads::Ran { launches, checked, wrong, memory, .. } = ran;
    let outcome = Outcome { launches, memory, ..Outcome::default() };
    let wrong = match wrong {
        None => None,
        Some(raddle_workloads::Error::Wrong(text)) => Some(text),
        Some(raddle_workloads::Error::Runtime(Error::Stopped { .. })) => None,
        Some(other) => return Err(other.into()),
    };
    if let Some((path, format)) = stats {
        stats_table::write(path, format, &stats_table::rows(&outcome))?;
    }
    if let Some(then) = then {
        let cuda = Some((format!("{}.cu", workload.name), workload.source));
        then(&Ran { machine, outcome: &outcome, ptx: &module, cuda })?;
    } else {
        let estimates = Estimates::new(&outcome.launches);
        let total = estimates.as_ref().map(|estimates| estimates.total(&outcome.launches, |_| true));
        let launches = Launches { ptx: &module, machine, launches: &outcome.launches, sampled: estimates.as_ref() };
        let energy =
            energies.zip(machine).map(|(table, machine)| energy::breakdown(&table, machine, &outcome.launches));
        let full = machine.and_then(|machine| fill::fullness(&machine.config, &outcome.launches));
        if args.json {
            let mut value = json!({
                "ok": outcome.is_good() && wrong.is_none(),
                "workload": workload.name,
                "size": request.size.name(),
                "seed": request.seed,
                "machine": machine.map(timing_json::machine),
                "memory": outcome.memory.as_ref().map(memory_json),
                "launches": launches.json(),
                "fill": full.as_ref().map(fill::json),
                "checked": checked,
                "wrong": wrong,
            });
            if let (Some(asked), Some(total)) = (args.sample, &total) {
                value["sample"] = sample::total_json(asked, total, profile);
            }
            if let Some(energy) = &energy {
                value["energy"] = energy::json(energy);
            }
            out::json(&value)?;
        } else {
            out::data(&launches.output())?;
            let mut lines = launches.lines_by_kernel();
            lines.extend(total.as_ref().map(sample::total_line));
            lines.extend(energy.as_ref().map(energy::text));
            if let (Some(full), Some(machine), None) = (&full, machine, outcome.stop()) {
                let larger = Size::ALL.into_iter().find(|size| *size > request.size);
                let larger = larger.map(|size| format!("a larger input (--size {size})"));
                let all_resident = workload.manifest(&workload.module()?)?.all_resident;
                lines.extend(fill::lines(full, &machine.config, larger.as_deref(), all_resident));
            }
            lines.extend(outcome.memory.as_ref().map(memory_line));
            if outcome.stop().is_none() && wrong.is_none() {
                lines.push(format!("{} right", are(checked)));
            }
            args.summarise(&lines)?;
        }
    }
    outside::lines(&outcome.launches, &module).iter().for_each(|line| out::talk(line));
    sanitize::lines(&args.execution.sanitize, &outcome.launches, &module).iter().for_each(|line| out::talk(line));
    let races = workload.manifest(&module)?.races.filter(|_| sanitize::is_bad(&outcome.launches));
    races.iter().for_each(|why| out::talk(&format!("the published algorithm has these races: {why}")));
    if let Some(ending) = outcome.stop() {
        out::talk(&stop::text(ending, &Text::new(&module.path, &module.source), &module));
    }
    if let Some(text) = &wrong {
        out::talk(&render::stopped("wrong-result", text, &[], None));
        return Ok(Exit::Bad);
    }
    Ok(Exit::of_run(&outcome))
}

/// `1 output is`, `2 outputs are`.
fn are(count: usize) -> String {
    format!("{} {}", out::count(count, "output"), if count == 1 { "is" } else { "are" })
}
