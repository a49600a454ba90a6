//! Special registers.

use super::step::{Step, low_mask};
use raddle_ptx::isa::Special;

impl Step<'_> {
    /// The value of a special register.
    pub(super) fn special(&self, special: Special) -> u64 {
        use Special as S;
        let launch = self.env.launch;
        let width = self.env.options.warp_width;
        let lane = self.thread.index % width;
        let all = low_mask(width);
        let eq = 1u64 << lane;
        let clock = self.thread.clock;
        let shared = self.shared.len();
        let low_half = |v: u64| v & low_mask(32);
        match special {
            S::TidX => self.thread.coords[0].into(),
            S::TidY => self.thread.coords[1].into(),
            S::TidZ => self.thread.coords[2].into(),
            S::NtidX => launch.block[0].into(),
            S::NtidY => launch.block[1].into(),
            S::NtidZ => launch.block[2].into(),
            S::CtaidX => self.cta[0].into(),
            S::CtaidY => self.cta[1].into(),
            S::CtaidZ => self.cta[2].into(),
            S::NctaidX => launch.grid[0].into(),
            S::NctaidY => launch.grid[1].into(),
            S::NctaidZ => launch.grid[2].into(),
            S::Laneid => lane.into(),
            S::Warpid => (self.thread.index / width).into(),
            S::Nwarpid => 64,
            S::Smid | S::Gridid => 0,
            S::Nsmid => 1,
            S::LanemaskEq => eq,
            S::LanemaskLe => eq | (eq - 1),
            S::LanemaskLt => eq - 1,
            S::LanemaskGe => all & !(eq - 1),
            S::LanemaskGt => all & !(eq | (eq - 1)),
            S::Clock | S::GlobaltimerLo => low_half(clock),
            S::ClockHi | S::GlobaltimerHi => clock >> 32,
            S::Clock64 | S::Globaltimer => clock,
            S::TotalSmemSize => shared,
            S::DynamicSmemSize => launch.dynamic_shared.into(),
            S::WarpSz => width.into(),
        }
    }
}
