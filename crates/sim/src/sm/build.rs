//! What an SM can do, decided when the simulator is compiled.
//!
//! There is one source, of which the compiler makes two machines. In the plain one all that only some mechanisms need is
//! left out: what a machine without them would ask in every cycle and for every instruction costs it nothing. Each is made
//! once more with a profile of the kernel's operations, so that runs without one do not pay for it.

use super::blocks::takes_logical_blocks;
use crate::config::MachineConfig;
use crate::kernel::{TimedKernel, UnitKind};
use crate::seam::SmMechanisms;
use raddle_exec::Launch;
use std::marker::PhantomData;

/// What is compiled into an SM.
pub trait Build: Send + 'static {
    /// Only static warps, at most 64 of them; one slice and no sub-cores; no pipelines but SPs and SFUs, with collector units and
    /// a data cache as those machines have; no gangs, no gating, no virtual blocks, units of their own, no mechanism that
    /// watches the data cache, and nobody listens.
    const PLAIN: bool;
    /// What happens is charged to the operations of the kernel too.
    const PROFILED: bool;
}

/// An SM without what only some mechanisms need.
pub struct Plain;

/// An SM that can do everything.
pub struct General;

/// An SM that keeps a profile, otherwise like another.
pub struct Profiled<B>(PhantomData<B>);

impl Build for Plain {
    const PLAIN: bool = true;
    const PROFILED: bool = false;
}

impl Build for General {
    const PLAIN: bool = false;
    const PROFILED: bool = false;
}

impl<B: Build> Build for Profiled<B> {
    const PLAIN: bool = B::PLAIN;
    const PROFILED: bool = true;
}

/// The units an SM can have.
#[inline(always)]
pub(super) fn units<B: Build>() -> &'static [UnitKind] {
    if B::PLAIN { &UnitKind::BASIC } else { &UnitKind::ALL }
}

/// Whether a launch to which nobody listens can do with plain SMs.
pub(crate) fn is_plain(
    config: &MachineConfig,
    mechanisms: &SmMechanisms,
    kernel: &TimedKernel<'_>,
    launch: &Launch,
) -> bool {
    let SmMechanisms { divergence, issue, ganging, gating, .. } = mechanisms;
    let slots = (config.sm.threads / config.sm.warp_width) as usize;
    slots <= 64
        && config.sm.slices <= 1
        && config.sm.subcores <= 1
        && [config.sm.units.int, config.sm.units.dp, config.sm.units.tensor] == [0; 3]
        && config.sm.collector.any_units == 0
        && config.sm.collector.steps <= 1
        && !config.sm.fetch.decode_at_once
        && config.sm.data.banks <= 1
        && !config.sm.units.unified
        && !divergence.regroups()
        && divergence.pool(slots).is_none()
        && !divergence.watches_data()
        && !issue.iter().any(|scheduler| scheduler.watches_data())
        && !ganging.is_active()
        && !gating.is_active()
        && !kernel.has_copies()
        && !takes_logical_blocks(kernel, launch, config.sm.warp_width)
}
