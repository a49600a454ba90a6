//! Kernel files: `.ptx` tests that say in comments how to run them and what memory they must
//! leave behind. The format is described in `tests/ptx/README.md`.

mod directive;
mod texture;
mod timed;
mod value;

use crate::engine::Engine;
use directive::{Arg, Expect};
use raddle_exec::{DeviceMemory, Fault, Image, KernelLayout, Launch, Report, RunError};
use raddle_ptx::source::LineIndex;
use std::path::Path;
use std::sync::Arc;

pub(crate) use directive::Run;
pub use timed::{Timed, check_timed, run_functional, run_timed};

/// Runs a kernel file under every engine, warp width and instruction-set level.
///
/// # Errors
/// A text that says which run differs, where, and how.
pub fn check(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    check_text(&source)
}

/// [`check`] on a text.
///
/// # Errors
/// A text that says which run differs, where, and how.
pub fn check_text(source: &str) -> Result<(), String> {
    let (module, runs) = read(source)?;
    for (number, run) in runs.iter().enumerate() {
        for &width in &run.widths {
            let test = Test { module: &module, source, run, width };
            let mut left: Vec<(Engine, Vec<Vec<u8>>)> = Vec::new();
            for engine in Engine::all() {
                let place = |e| format!("run {} with {engine:?} at warp width {width}: {e}", number + 1);
                let buffers = test.check(engine).map_err(place)?;
                if let Some((first, same)) = left.first()
                    && *same != buffers
                {
                    return Err(place(format!("not the same bits as with {first:?}")));
                }
                left.push((engine, buffers));
            }
        }
    }
    Ok(())
}

/// The module and the launches of a file.
pub(crate) fn read(source: &str) -> Result<(Arc<raddle_ptx::Module>, Vec<Run>), String> {
    let (module, diagnostics) = raddle_ptx::load(source);
    if !diagnostics.is_empty() {
        let lines = LineIndex::new(source);
        let all: Vec<String> = diagnostics.iter().map(|d| d.one_line(source, &lines)).collect();
        return Err(all.join("\n"));
    }
    let runs = directive::parse(source)?;
    if runs.is_empty() {
        return Err("the file has no `// run:` line".to_owned());
    }
    Ok((Arc::new(module), runs))
}

/// Whether every run of a kernel file must end in a fault, so that nothing says what its instructions compute.
///
/// # Errors
/// What is wrong with the file's comments.
pub fn only_faults(source: &str) -> Result<bool, String> {
    Ok(directive::parse(source)?.iter().all(|run| run.trap.is_some()))
}

/// A launch of a kernel file at a warp width.
pub(crate) struct Test<'t> {
    pub(crate) module: &'t Arc<raddle_ptx::Module>,
    pub(crate) source: &'t str,
    pub(crate) run: &'t Run,
    pub(crate) width: u32,
}

/// A launch with its memory.
pub(crate) struct Ready<'t> {
    pub(crate) memory: DeviceMemory,
    pub(crate) image: Image,
    pub(crate) layout: KernelLayout,
    pub(crate) launch: Launch,
    /// Buffers by name.
    addresses: Vec<(&'t str, u64)>,
}

impl<'t> Test<'t> {
    /// Runs it and compares what it leaves behind with what it must leave; all buffers, unless it had to fault.
    fn check(&self, engine: Engine) -> Result<Vec<Vec<u8>>, String> {
        let mut ready = self.prepare()?;
        let outcome = engine.run(&ready.image, &ready.layout, &ready.launch, &mut ready.memory, self.width);
        self.compare(outcome, &ready.memory, &ready.addresses)?;
        if self.run.trap.is_some() {
            return Ok(Vec::new());
        }
        let names = ready.addresses.iter().map(|(name, _)| name);
        let ordered = |name: &&str| !self.run.unordered.iter().any(|known| known == name);
        Ok(names.zip(ready.buffers()?).filter(|(name, _)| ordered(name)).map(|(_, bytes)| bytes).collect())
    }

    pub(crate) fn prepare(&self) -> Result<Ready<'t>, String> {
        let mut memory = DeviceMemory::new();
        let image = Image::load(self.module.clone(), &mut memory).map_err(|e| e.to_string())?;
        let kernel = match &self.run.kernel {
            Some(name) => name.clone(),
            None => self.module.kernels().next().map(|(_, f)| f.name.clone()).ok_or("no kernel")?,
        };
        let layout = image.kernel(&kernel).map_err(|e| e.to_string())?;
        let mut launch = Launch {
            grid: self.run.grid,
            block: self.run.block,
            dynamic_shared: self.run.shared,
            textures: self.run.textures.clone().into(),
            // A test that runs longer than this hangs.
            max_thread_insts: Some(200_000_000),
            ..Launch::default()
        };
        let mut addresses = Vec::new();
        launch.params = vec![0; layout.param_bytes as usize];
        if layout.params.len() != self.run.args.len() {
            return Err(format!(
                "the kernel has {} parameters, the file gives {}",
                layout.params.len(),
                self.run.args.len()
            ));
        }
        for (param, arg) in layout.params.iter().zip(&self.run.args) {
            let bytes = match arg {
                Arg::Buffer { name, bytes, .. } => {
                    let address = memory.alloc(name.clone(), bytes.len() as u64).map_err(|e| e.to_string())?;
                    memory.write(address, bytes).map_err(|e| e.to_string())?;
                    addresses.push((name.as_str(), address));
                    address.to_le_bytes().to_vec()
                }
                Arg::Value { bytes, .. } => bytes.clone(),
                Arg::Object { buffer, texture, is_surface } => {
                    let objects = Arc::make_mut(&mut launch.objects);
                    let texture = texture.starting_at(address_of(&addresses, buffer)?);
                    let handle = if *is_surface { objects.add_surface(texture) } else { objects.add_texture(texture) };
                    handle.to_le_bytes().to_vec()
                }
            };
            let size = (param.size as usize).min(bytes.len());
            launch.params[param.offset as usize..][..size].copy_from_slice(&bytes[..size]);
        }
        for (name, buffer, view) in &self.run.bound {
            let texture = view.starting_at(address_of(&addresses, buffer)?);
            Arc::make_mut(&mut launch.textures).push((name.clone(), texture));
        }
        Ok(Ready { memory, image, layout, launch, addresses })
    }

    fn compare(
        &self,
        outcome: Result<Report, RunError>,
        memory: &DeviceMemory,
        addresses: &[(&str, u64)],
    ) -> Result<(), String> {
        let describe = |fault: &Fault| fault.describe(self.module, Some(self.source));
        let report = match (outcome, &self.run.trap) {
            (Ok(report), None) => report,
            (Ok(_), Some(words)) => return Err(format!("finished, but should have ended in a fault with: {words}")),
            (Err(RunError::Fault(fault)), Some(words)) if describe(&fault).contains(words) => return Ok(()),
            (Err(RunError::Fault(fault)), Some(words)) => {
                return Err(format!("the fault should contain `{words}`: {}", describe(&fault)));
            }
            (Err(RunError::Fault(fault)), None) => return Err(describe(&fault)),
            (Err(RunError::Load(error)), _) => return Err(error.to_string()),
        };
        for expect in &self.run.expects {
            self.compare_buffer(expect, memory, addresses)?;
        }
        if !self.run.prints.is_empty() {
            let printed: Vec<&str> = report.output.lines().collect();
            if printed != self.run.prints {
                return Err(format!("printed {printed:?}, should have printed {:?}", self.run.prints));
            }
        }
        Ok(())
    }

    fn compare_buffer(&self, expect: &Expect, memory: &DeviceMemory, addresses: &[(&str, u64)]) -> Result<(), String> {
        let address = address_of(addresses, &expect.name)?;
        let size = expect.ty.bytes() as usize;
        for (i, wanted) in expect.values.iter().enumerate() {
            let mut bytes = [0; 8];
            memory.read(address + (i * size) as u64, &mut bytes[..size]).map_err(|e| e.to_string())?;
            let found = u64::from_le_bytes(bytes);
            if !wanted.matches(found, expect.ty, expect.ulp) {
                let (name, ty) = (&expect.name, expect.ty);
                return Err(format!("{name}[{i}] is {}, should be {}", value::show(found, ty), wanted.show(ty)));
            }
        }
        Ok(())
    }
}

/// The address of a buffer that was made before.
fn address_of(addresses: &[(&str, u64)], buffer: &str) -> Result<u64, String> {
    let found = addresses.iter().find(|(name, _)| *name == buffer);
    found.map(|(_, address)| *address).ok_or_else(|| format!("there is no buffer `{buffer}`"))
}
