//! What the lanes of a memory instruction touch.

use raddle_exec::core::lanes_in;
use raddle_exec::memory::{Region, region};
use raddle_exec::op::MemSpace;

/// What the lanes of an instruction touch.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Footprint {
    /// By lane; those in local memory as the timing model lays it out.
    pub addresses: [u64; 32],
    /// Lanes by where their addresses point.
    pub spaces: Spaces,
    /// A line of the constant cache that all of them read.
    pub fixed: Option<u64>,
}

/// Lanes of an access by where their addresses point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Spaces {
    /// Global memory.
    pub global: u32,
    /// Shared memory.
    pub shared: u32,
    /// Local memory.
    pub local: u32,
    /// Constants and parameters.
    pub constant: u32,
    /// Textures.
    pub texture: u32,
}

impl Footprint {
    /// What some of the lanes touch, if they do.
    pub(super) fn of_lanes(&self, lanes: u32) -> Option<Self> {
        let Spaces { global, shared, local, constant, texture } = self.spaces;
        let [global, shared, local, constant, texture] =
            [global, shared, local, constant, texture].map(|all| all & lanes);
        let spaces = Spaces { global, shared, local, constant, texture };
        (lanes != 0).then_some(Self { spaces, ..*self })
    }

    /// Adds what another instruction touches.
    pub(super) fn add(&mut self, other: &Self) {
        let Spaces { global, shared, local, constant, texture } = other.spaces;
        let lanes = global | shared | local | constant | texture;
        lanes_in(lanes).for_each(|lane| self.addresses[lane] = other.addresses[lane]);
        let own = &mut self.spaces;
        own.global |= global;
        own.shared |= shared;
        own.local |= local;
        own.constant |= constant;
        own.texture |= texture;
    }

    /// Whether both go the same way through the load-store unit.
    pub(super) fn goes_with(&self, other: &Self) -> bool {
        let kinds = |spaces: &Spaces| {
            let Spaces { global, shared, local, constant, texture } = *spaces;
            [global, shared, local, constant, texture].map(|lanes| lanes != 0)
        };
        self.fixed == other.fixed && kinds(&self.spaces) == kinds(&other.spaces)
    }
}

impl Spaces {
    /// Where the addresses of an instruction's active lanes point.
    #[inline]
    pub(super) fn of(space: MemSpace, addresses: &[u64; 32], active: u32) -> Self {
        let mut found = Self::default();
        match space {
            MemSpace::Global => found.global = active,
            MemSpace::Shared => found.shared = active,
            MemSpace::Local => found.local = active,
            MemSpace::Const | MemSpace::Param => found.constant = active,
            MemSpace::Generic => {
                for lane in lanes_in(active) {
                    let set = match region(addresses[lane]) {
                        Region::Global(_) => &mut found.global,
                        Region::Shared(_) => &mut found.shared,
                        Region::Local(_) => &mut found.local,
                        Region::Const(_) | Region::Param(_) => &mut found.constant,
                    };
                    *set |= 1 << lane;
                }
                // Constant data reached through a generic address come through the data cache.
                found.global |= std::mem::take(&mut found.constant);
            }
        }
        found
    }
}
