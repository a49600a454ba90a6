//! One measurement: a kernel at two lengths on a machine.

use super::kernel::{Kernel, NAME};
use super::measures::{Kind, Measure};
use crate::reference::{Case, Expected};
use raddle_sim::config::MachineConfig;
use raddle_sim::gpu::{Gpu, GpuError, RunOptions};
use raddle_sim::result::Ending;

/// How a kernel is run to measure something.
#[derive(Clone, Debug)]
pub struct Run {
    /// The kernel.
    pub kernel: Kernel,
    /// Thread blocks, of the shorter run first.
    pub blocks: [u32; 2],
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of the buffer.
    pub bytes: u64,
    /// Pointers in the buffer, for chases.
    pub ring: Option<Ring>,
    /// Trips of the loop, the shorter run first.
    pub trips: [u32; 2],
    /// Steps in the loop. Where they differ, the difference of differences is taken, and what the loop itself
    /// costs cancels too.
    pub unroll: [u32; 2],
    /// What a step of a thread counts for; the value is then a rate. Without it, it is cycles of a step.
    pub per_step: Option<f64>,
}

/// A ring of pointers through a buffer.
#[derive(Clone, Copy, Debug)]
pub struct Ring {
    /// Places; a power of two where they are shuffled.
    pub places: u64,
    /// Bytes between places.
    pub stride: u64,
    /// Whether the places come in an order without pattern.
    pub shuffled: bool,
}

impl Ring {
    /// Bytes it takes.
    pub fn bytes(self) -> u64 {
        self.places * self.stride
    }

    /// The place behind another. Shuffled, it is a step of a generator whose period is that of all places.
    fn next(self, place: u64) -> u64 {
        let next = if self.shuffled { place.wrapping_mul(1_664_525) + 1_013_904_223 } else { place + 1 };
        next % self.places
    }

    /// The buffer's contents, when it is at an address.
    fn contents(self, base: u64) -> Vec<u8> {
        let mut bytes = vec![0; self.bytes() as usize];
        for place in 0..self.places {
            let at = (place * self.stride) as usize;
            bytes[at..at + 8].copy_from_slice(&(base + self.next(place) * self.stride).to_le_bytes());
        }
        bytes
    }
}

/// Why a machine gives no value: it does not run the kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not run: {0}")]
pub struct NotRun(pub String);

/// What a machine shows in a measure.
///
/// # Errors
/// When the machine does not run the kernel, with why.
pub fn value(measure: &Measure, machine: &MachineConfig) -> Result<f64, NotRun> {
    match measure.kind {
        Kind::Size(size) => Ok(size(machine)),
        Kind::Run(run) => {
            let run = run(machine);
            let (cycles, steps) = run.difference(machine)?;
            let Some(per_step) = run.per_step else {
                return Ok(cycles / steps);
            };
            let work = per_step * steps * f64::from(run.threads);
            let gigahertz = f64::from(machine.clock.core) / 1000.0;
            let factor = if measure.unit == "GB/s" { gigahertz } else { 1.0 };
            Ok(work / cycles * factor)
        }
    }
}

impl Run {
    /// Cycles between the lengths, and the steps of all blocks that took them.
    fn difference(&self, machine: &MachineConfig) -> Result<(f64, f64), NotRun> {
        let between = |unroll: u32| -> Result<(f64, f64), NotRun> {
            let [short, long] = [0, 1].map(|i| (self.blocks[i], self.trips[i]));
            let steps = |(blocks, trips): (u32, u32)| f64::from(blocks) * f64::from(trips) * f64::from(unroll);
            let cycles = self.cycles(machine, long, unroll)? - self.cycles(machine, short, unroll)?;
            Ok((cycles, steps(long) - steps(short)))
        };
        let (cycles, steps) = between(self.unroll[1])?;
        if self.unroll[0] == self.unroll[1] {
            return Ok((cycles, steps));
        }
        let (less_cycles, less_steps) = between(self.unroll[0])?;
        Ok((cycles - less_cycles, steps - less_steps))
    }

    fn case(&self, (blocks, trips): (u32, u32), unroll: u32) -> Case {
        Case {
            name: NAME.to_owned(),
            source: self.kernel.text(unroll),
            kernel: NAME.to_owned(),
            grid: [blocks, 1, 1],
            block: [self.threads, 1, 1],
            buffers: vec![vec![0; (self.bytes / 4) as usize]],
            scalars: vec![trips],
            expected: Expected::Digest { first: None, sum: None },
            thread_insts: None,
        }
    }

    fn cycles(&self, machine: &MachineConfig, length: (u32, u32), unroll: u32) -> Result<f64, NotRun> {
        let registry = raddle_mech::registry();
        let mechanisms = registry.check(machine).unwrap_or_else(|e| panic!("{e:?}"));
        let mut prepared = self.case(length, unroll).prepare();
        if let Some(ring) = self.ring {
            let base = prepared.output.0;
            prepared.memory.write(base, &ring.contents(base)).expect("the buffer holds the ring");
        }
        let program = prepared.program();
        let launch = prepared.launch.clone();
        let mut gpu = Gpu::new(machine).map_err(refused)?;
        let result = gpu.launch(&mechanisms, &program, &launch, &mut prepared.memory, RunOptions::default());
        let result = result.map_err(refused)?;
        assert!(matches!(result.ending, Ending::Completed), "{:?}", result.ending);
        Ok(result.cycles as f64)
    }
}

fn refused(error: GpuError) -> NotRun {
    NotRun(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffled_ring_meets_every_place() {
        let ring = Ring { places: 256, stride: 128, shuffled: true };
        let mut seen = vec![false; 256];
        let mut place = 0;
        for _ in 0..256 {
            assert!(!std::mem::replace(&mut seen[place as usize], true), "place {place} twice");
            place = ring.next(place);
        }
        assert_eq!(place, 0);
        let contents = ring.contents(4096);
        let first = u64::from_le_bytes(contents[..8].try_into().expect("8 bytes"));
        assert_eq!(first, 4096 + ring.next(0) * 128);
    }
}
