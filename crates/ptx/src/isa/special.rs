//! Special registers: read-only values the machine supplies.

use super::Type;
use super::names::names;

names! {
    /// A special register, one component of it where it is a vector. Spelt with the percent sign.
    pub enum Special {
        /// Thread index in its thread block.
        TidX = "%tid.x",
        /// Thread index in its thread block.
        TidY = "%tid.y",
        /// Thread index in its thread block.
        TidZ = "%tid.z",
        /// Threads per thread block.
        NtidX = "%ntid.x",
        /// Threads per thread block.
        NtidY = "%ntid.y",
        /// Threads per thread block.
        NtidZ = "%ntid.z",
        /// Index of the thread block in the grid.
        CtaidX = "%ctaid.x",
        /// Index of the thread block in the grid.
        CtaidY = "%ctaid.y",
        /// Index of the thread block in the grid.
        CtaidZ = "%ctaid.z",
        /// Thread blocks in the grid.
        NctaidX = "%nctaid.x",
        /// Thread blocks in the grid.
        NctaidY = "%nctaid.y",
        /// Thread blocks in the grid.
        NctaidZ = "%nctaid.z",
        /// Lane in the static warp.
        Laneid = "%laneid",
        /// Static warp in the thread block.
        Warpid = "%warpid",
        /// Warp slots per SM.
        Nwarpid = "%nwarpid",
        /// SM the thread block runs on.
        Smid = "%smid",
        /// Number of SMs.
        Nsmid = "%nsmid",
        /// Launch number.
        Gridid = "%gridid",
        /// Lanes equal to this one.
        LanemaskEq = "%lanemask_eq",
        /// Lanes up to and including this one.
        LanemaskLe = "%lanemask_le",
        /// Lanes before this one.
        LanemaskLt = "%lanemask_lt",
        /// Lanes from this one on.
        LanemaskGe = "%lanemask_ge",
        /// Lanes after this one.
        LanemaskGt = "%lanemask_gt",
        /// Cycle counter, low half.
        Clock = "%clock",
        /// Cycle counter, high half.
        ClockHi = "%clock_hi",
        /// Cycle counter.
        Clock64 = "%clock64",
        /// Wall clock in nanoseconds.
        Globaltimer = "%globaltimer",
        /// Wall clock, low half.
        GlobaltimerLo = "%globaltimer_lo",
        /// Wall clock, high half.
        GlobaltimerHi = "%globaltimer_hi",
        /// Static plus dynamic shared memory of the thread block.
        TotalSmemSize = "%total_smem_size",
        /// Dynamic shared memory of the thread block.
        DynamicSmemSize = "%dynamic_smem_size",
        /// The warp width, as the constant `WARP_SZ`.
        WarpSz = "WARP_SZ",
    }
}

impl Special {
    /// Its type.
    #[must_use]
    pub fn ty(self) -> Type {
        match self {
            Self::Gridid | Self::Clock64 | Self::Globaltimer => Type::U64,
            _ => Type::U32,
        }
    }

    /// Whether the value changes while a thread runs.
    #[must_use]
    pub fn varies_in_time(self) -> bool {
        matches!(
            self,
            Self::Clock | Self::ClockHi | Self::Clock64 | Self::Globaltimer | Self::GlobaltimerLo | Self::GlobaltimerHi
        )
    }

    /// Whether all threads of a thread block read the same value.
    #[must_use]
    pub fn is_uniform_in_cta(self) -> bool {
        !self.varies_in_time()
            && !matches!(
                self,
                Self::TidX
                    | Self::TidY
                    | Self::TidZ
                    | Self::Laneid
                    | Self::Warpid
                    | Self::LanemaskEq
                    | Self::LanemaskLe
                    | Self::LanemaskLt
                    | Self::LanemaskGe
                    | Self::LanemaskGt
            )
    }
}
