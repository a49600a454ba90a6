//! How many thread blocks an SM holds at once, and what limits it.

use crate::config::MachineConfig;
use crate::gpu::GpuError;
use raddle_exec::{Launch, Program};
use raddle_ptx::analysis::Resources;
use raddle_ptx::num::fit;

/// How many thread blocks an SM holds at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Residency {
    /// Blocks.
    pub ctas: u32,
    /// Warps of these blocks.
    pub warps: u32,
    /// Registers a thread takes, rounded up as the machine does.
    pub registers: u32,
    /// Why it has fewer than it needs, where it has.
    pub capped: Option<Capped>,
    /// Shared memory a block takes, in bytes.
    pub shared: u32,
    /// The resource that allows no more; the first of those that allow equally few.
    pub limit: &'static str,
}

/// A directive of the kernel that allows it fewer registers than it needs. What a compiler would spill for that is not
/// modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capped {
    /// Registers a thread needs as the kernel is written.
    pub needs: u32,
    /// The directive.
    pub by: &'static str,
}

/// The most bytes of local memory of all threads that are there at once.
const MAX_LOCAL: u64 = 4 << 30;

impl Residency {
    /// Looks at each resource. `registers` per thread come from the PTX when they are not known better: what the kernel
    /// needs as it is written, or less where `.maxnreg`, `.minnctapersm` or `.maxntid` demand it. As with NVIDIA's
    /// assembler, `.minnctapersm` means nothing where an SM cannot have so many threads or blocks.
    ///
    /// # Errors
    /// When not even one block fits, with the resource that is short.
    pub fn new(
        config: &MachineConfig,
        program: &Program,
        launch: &Launch,
        registers: Option<u32>,
    ) -> Result<Self, GpuError> {
        let sm = &config.sm;
        let lanes = sm.warp_width * sm.slices.max(1);
        // As wide as three dimensions can make it.
        let threads = launch.block.iter().map(|n| u128::from(*n)).product::<u128>().next_multiple_of(lanes.into());
        if threads > u128::from(sm.threads) {
            return Err(refused(threads, "threads", sm.threads));
        }
        let threads: u32 = fit(threads);
        let grain = sm.register_grain.max(1);
        let (registers, capped) = registers.map_or_else(
            || {
                let (module, kernel) = (&program.image.module, program.layout.kernel);
                let limits = module.func(kernel).limits;
                let needs = Resources::new(module, kernel).registers;
                // What a compiler keeps to: so few that the blocks asked for have room in the register file, or
                // one of the largest where they are not asked for or are more than an SM can have.
                let block = limits.max_threads.map(|n| n.saturating_add(lanes - 1) / lanes * lanes);
                let held = |ctas: u32| block.unwrap_or(threads).saturating_mul(ctas).max(1);
                let room = |ctas: u32| sm.registers / held(ctas) / grain * grain;
                let can_be = |n: &u32| *n <= sm.ctas && n.saturating_mul(block.unwrap_or(threads)) <= sm.threads;
                let asked = limits.min_ctas_per_sm.filter(can_be);
                let caps = [
                    (limits.max_registers, ".maxnreg"),
                    (asked.map(room), ".minnctapersm"),
                    (block.map(|_| room(1)), ".maxntid"),
                ];
                let caps = caps.into_iter().filter_map(|(most, by)| most.filter(|n| *n < needs).zip(Some(by)));
                let caps = caps.filter(|(most, _)| *most > 0);
                let cap = caps.min_by_key(|cap| cap.0);
                cap.map_or((needs, None), |(most, by)| (most, Some(Capped { needs, by })))
            },
            |known| (known, None),
        );
        let per_thread = u64::from(registers.max(1)).next_multiple_of(u64::from(grain));
        let shared = launch.shared_bytes(&program.layout);
        let limits = [
            ("threads", u64::from(threads), sm.threads),
            ("blocks", 1, sm.ctas),
            ("registers", u64::from(threads.max(1)) * per_thread, sm.registers),
            ("bytes of shared memory", shared, sm.shared_bytes),
        ];
        if let Some((what, needs, has)) = limits.iter().find(|(_, needs, has)| *needs > u64::from(*has)) {
            return Err(refused(*needs, what, *has));
        }
        let fits =
            limits.iter().map(|(what, needs, has)| (*what, u64::from(*has).checked_div(*needs).unwrap_or(u64::MAX)));
        let (limit, ctas) = fits.min_by_key(|l| l.1).unwrap_or(("blocks", 1));
        let ctas: u32 = fit(ctas);
        let resident = (u64::from(ctas) * u64::from(config.gpu.sms)).min(launch.ctas()) * u64::from(threads);
        let local = program.layout.local_bytes;
        if resident * u64::from(local) > MAX_LOCAL {
            return Err(GpuError::Refused(format!(
                "the {resident} threads that this machine runs at once need {local} bytes of local memory each; at most \
                 {} GiB are possible together: launch fewer blocks, or have fewer SMs (`gpu.sms`) or blocks in each \
                 (`sm.ctas`)",
                MAX_LOCAL >> 30
            )));
        }
        let limit = if limit.starts_with("bytes") { "shared memory" } else { limit };
        Ok(Self {
            ctas,
            warps: ctas * (threads / sm.warp_width),
            registers: fit(per_thread),
            capped,
            shared: fit(shared),
            limit,
        })
    }
}

/// Not even one block fits.
fn refused(needs: impl std::fmt::Display, what: &str, has: u32) -> GpuError {
    GpuError::Refused(format!("a block needs {needs} {what}, an SM has {has}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Machine, Source};
    use raddle_exec::{DeviceMemory, Image};
    use std::sync::Arc;

    /// Of blocks of 256 threads.
    fn residency(directives: &str) -> Residency {
        let launch = Launch { grid: [1, 1, 1], block: [256, 1, 1], ..Launch::default() };
        of_launch(directives, &launch, None).unwrap()
    }

    /// On the reference machine, of a kernel with forty registers and more.
    fn of_launch(directives: &str, launch: &Launch, known: Option<u32>) -> Result<Residency, GpuError> {
        let registers = (0..40).map(|n| format!("mov.u32 %r{n}, %tid.x;\n")).collect::<String>();
        let sums = (1..40).map(|n| format!("add.u32 %r0, %r0, %r{n};\n")).collect::<String>();
        let text = format!(
            ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k(.param .u64 p) {directives}\n{{\n\
             .reg .b32 %r<40>;\n.reg .b64 %d<2>;\n{registers}{sums}ld.param.u64 %d0, [p];\nst.global.u32 [%d0], %r0;\nret;\n}}\n"
        );
        let (module, diagnostics) = raddle_ptx::load(&text);
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let image = Image::load(Arc::new(module), &mut DeviceMemory::new()).unwrap();
        let layout = image.kernel("k").unwrap();
        let program = Program::new(&image, &layout).unwrap();
        let machine = Machine::load(Source::Preset("gtx480"), &[] as &[&str]).unwrap();
        Residency::new(&machine.config, &program, launch, known)
    }

    /// Blocks that an SM holds, and the registers of their threads.
    fn blocks(directives: &str) -> (u32, u32) {
        let found = residency(directives);
        (found.ctas, found.registers)
    }

    #[test]
    fn directives_limit_registers() {
        assert_eq!(blocks("").0, 3);
        assert_eq!(blocks(".maxnreg 24"), (5, 24));
        assert_eq!(blocks(".maxntid 256 .minnctapersm 5"), (5, 24));
        assert_eq!(blocks(".maxntid 256 .minnctapersm 2").0, 3, "more than it needs is not given");
        assert_eq!(blocks(".maxntid 256 .minnctapersm 7"), blocks(""), "1536 threads are six blocks");
        assert_eq!(blocks(".maxntid 1024"), (4, 32), "a block of 1024 has room");
    }

    #[test]
    fn a_directive_that_limits_registers_is_named() {
        let needs = residency("").registers;
        let by = |directives: &str| residency(directives).capped.map(|c| (c.needs.next_multiple_of(4), c.by));
        assert_eq!(by(""), None);
        assert_eq!(by(".maxntid 256 .minnctapersm 2"), None);
        assert_eq!(by(".maxntid 256 .minnctapersm 5"), Some((needs, ".minnctapersm")));
        assert_eq!(by(".maxntid 256 .minnctapersm 5 .maxnreg 16"), Some((needs, ".maxnreg")));
    }

    #[test]
    fn numbers_beyond_32_bits_are_too_many() {
        let refused = |launch: Launch, registers| of_launch("", &launch, registers).unwrap_err().to_string();
        let of = |block| Launch { grid: [1, 1, 1], block, ..Launch::default() };
        assert_eq!(
            refused(of([65_536, 65_536, 1]), None),
            "a block needs 4294967296 threads, an SM has 1536",
            "0 in 32 bits"
        );
        let launch = Launch { dynamic_shared: u32::MAX, ..of([32, 1, 1]) };
        assert_eq!(refused(launch, None), "a block needs 4294967295 bytes of shared memory, an SM has 49152");
        assert_eq!(refused(of([32, 1, 1]), Some(u32::MAX)), "a block needs 137438953472 registers, an SM has 32768");
    }
}
