//! A kernel with its buffers: the shortest way from a PTX text to a cycle count.
//!
//! Launch files, arrays from disk and checks of results are the runtime's; this is for examples and tests that have
//! a text and a few words of data.

use crate::config::MachineConfig;
use crate::gpu::{Gpu, GpuError, RunOptions};
use crate::result::LaunchResult;
use crate::seam::Registry;
use raddle_exec::{DeviceMemory, Image, KernelLayout, Launch, LoadError, Program};
use raddle_ptx::diag::Severity;
use std::sync::Arc;

/// Why a job could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// The text is not right PTX.
    #[error("{0}")]
    Ptx(String),
    /// The kernel cannot be placed.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// More arguments than parameters, or one of another size.
    #[error("argument {0} does not fit the kernel's parameters")]
    Argument(usize),
    /// A mechanism the machine names is unknown or refuses its parameters.
    #[error("{0}: {1}")]
    Mechanism(String, String),
    /// The machine or the launch does not work.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

/// A kernel, its memory and its arguments.
pub struct Job {
    image: Image,
    layout: KernelLayout,
    memory: DeviceMemory,
    params: Vec<u8>,
    given: usize,
    buffers: Vec<(u64, usize)>,
}

impl Job {
    /// A kernel of a PTX text, without arguments.
    ///
    /// # Errors
    /// When the text has an error (the first is named) or no such kernel.
    pub fn new(ptx: &str, kernel: &str) -> Result<Self, JobError> {
        let (module, diagnostics) = raddle_ptx::load(ptx);
        if let Some(error) = diagnostics.iter().find(|d| d.severity == Severity::Error) {
            return Err(JobError::Ptx(error.message.clone()));
        }
        let mut memory = DeviceMemory::new();
        let image = Image::load(Arc::new(module), &mut memory)?;
        let layout = image.kernel(kernel)?;
        let params = vec![0; layout.param_bytes as usize];
        Ok(Self { image, layout, memory, params, given: 0, buffers: Vec::new() })
    }

    /// The next argument is the address of a buffer with these words.
    ///
    /// # Errors
    /// When the next parameter is not an address, or there is no memory.
    pub fn buffer(mut self, words: &[u32]) -> Result<Self, JobError> {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let name = format!("argument {}", self.given);
        let address = self.memory.alloc(name, bytes.len() as u64).map_err(LoadError::from)?;
        self.memory.write(address, &bytes).map_err(|_| JobError::Argument(self.given))?;
        self.buffers.push((address, words.len()));
        self.argument(&address.to_le_bytes())
    }

    /// The next argument is a number of 32 bits.
    ///
    /// # Errors
    /// When the next parameter has another size.
    pub fn scalar(self, value: u32) -> Result<Self, JobError> {
        self.argument(&value.to_le_bytes())
    }

    fn argument(mut self, bytes: &[u8]) -> Result<Self, JobError> {
        let wrong = JobError::Argument(self.given);
        let param = self.layout.params.get(self.given).filter(|p| p.size as usize == bytes.len()).ok_or(wrong)?;
        let offset = param.offset as usize;
        self.params[offset..offset + bytes.len()].copy_from_slice(bytes);
        self.given += 1;
        Ok(self)
    }

    /// Runs it on a cold GPU with blocks in one row. The buffers keep what it wrote.
    ///
    /// # Errors
    /// When it cannot be started. How it ended is in the result.
    pub fn run(
        &mut self,
        registry: &Registry,
        config: &MachineConfig,
        blocks: u32,
        threads: u32,
    ) -> Result<LaunchResult, JobError> {
        self.run_with(registry, config, blocks, threads, RunOptions::default())
    }

    /// The same with options.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_with(
        &mut self,
        registry: &Registry,
        config: &MachineConfig,
        blocks: u32,
        threads: u32,
        options: RunOptions<'_>,
    ) -> Result<LaunchResult, JobError> {
        let first = |wrong: Vec<(String, String)>| {
            let (key, text) = wrong.into_iter().next().unwrap_or_default();
            JobError::Mechanism(key, text)
        };
        let mechanisms = registry.check(config).map_err(first)?;
        let program = Program::new(&self.image, &self.layout)?;
        let launch =
            Launch { grid: [blocks, 1, 1], block: [threads, 1, 1], params: self.params.clone(), ..Launch::default() };
        let mut gpu = Gpu::new(config)?;
        Ok(gpu.launch(&mechanisms, &program, &launch, &mut self.memory, options)?)
    }

    /// The words of a buffer, counted among the buffers.
    ///
    /// # Panics
    /// When there is no such buffer.
    #[must_use]
    pub fn words(&self, buffer: usize) -> Vec<u32> {
        let (address, count) = self.buffers[buffer];
        let mut bytes = vec![0; 4 * count];
        let read = self.memory.read(address, &mut bytes);
        debug_assert!(read.is_ok(), "the buffer was allocated");
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".version 3.2\n.target sm_20\n.address_size 64\n\
        .visible .entry k(.param .u64 a, .param .u32 n)\n{\n    ret;\n}\n";

    #[track_caller]
    fn fails(job: Result<Job, JobError>, text: &str) {
        assert_eq!(job.err().map(|e| e.to_string()).as_deref(), Some(text));
    }

    #[test]
    fn arguments_must_fit() {
        assert!(Job::new(PTX, "k").and_then(|j| j.buffer(&[1, 2])?.scalar(2)).is_ok_and(|j| j.words(0) == [1, 2]));
        fails(Job::new(PTX, "k").and_then(|j| j.scalar(2)), "argument 0 does not fit the kernel's parameters");
        let three = |j: Job| j.buffer(&[])?.scalar(1)?.scalar(2);
        fails(Job::new(PTX, "k").and_then(three), "argument 2 does not fit the kernel's parameters");
    }

    #[test]
    fn text_and_kernel_must_exist() {
        assert!(matches!(Job::new(".version", "k"), Err(JobError::Ptx(_))));
        assert!(matches!(Job::new(PTX, "other"), Err(JobError::Load(_))));
    }

    #[test]
    fn mechanisms_must_be_known() {
        let machine = crate::config::Machine::load(crate::config::Source::Preset("gtx480"), &[""; 0]);
        let config = machine.map(|m| m.config).unwrap_or_else(|e| panic!("{e:?}"));
        let mut job = Job::new(PTX, "k").unwrap_or_else(|e| panic!("{e}"));
        let ran = job.run(&Registry::new(), &config, 1, 32);
        assert!(matches!(ran, Err(JobError::Mechanism(key, _)) if key == "mechanism.divergence"));
    }
}
