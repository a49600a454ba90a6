//! Special registers: read-only values the machine supplies.

/// Declares [`Special`] and its spelling once.
macro_rules! specials {
    ($($(#[$doc:meta])* $name:ident = $text:literal $ty:ident,)+) => {
        /// A special register, one component of it where it is a vector.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Special { $($(#[$doc])* $name,)+ }

        impl Special {
            /// Every special register.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// Spelling, with the percent sign.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// The special register spelt `name`.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Some(match name { $($text => Self::$name,)+ _ => return None })
            }

            /// Its type.
            #[must_use]
            pub fn ty(self) -> super::Type {
                match self { $(Self::$name => super::Type::$ty,)+ }
            }
        }
    };
}

specials! {
    /// Thread index in its thread block.
    TidX = "%tid.x" U32,
    /// Thread index in its thread block.
    TidY = "%tid.y" U32,
    /// Thread index in its thread block.
    TidZ = "%tid.z" U32,
    /// Threads per thread block.
    NtidX = "%ntid.x" U32,
    /// Threads per thread block.
    NtidY = "%ntid.y" U32,
    /// Threads per thread block.
    NtidZ = "%ntid.z" U32,
    /// Index of the thread block in the grid.
    CtaidX = "%ctaid.x" U32,
    /// Index of the thread block in the grid.
    CtaidY = "%ctaid.y" U32,
    /// Index of the thread block in the grid.
    CtaidZ = "%ctaid.z" U32,
    /// Thread blocks in the grid.
    NctaidX = "%nctaid.x" U32,
    /// Thread blocks in the grid.
    NctaidY = "%nctaid.y" U32,
    /// Thread blocks in the grid.
    NctaidZ = "%nctaid.z" U32,
    /// Lane in the static warp.
    Laneid = "%laneid" U32,
    /// Static warp in the thread block.
    Warpid = "%warpid" U32,
    /// Warp slots per SM.
    Nwarpid = "%nwarpid" U32,
    /// SM the thread block runs on.
    Smid = "%smid" U32,
    /// Number of SMs.
    Nsmid = "%nsmid" U32,
    /// Launch number.
    Gridid = "%gridid" U64,
    /// Lanes equal to this one.
    LanemaskEq = "%lanemask_eq" U32,
    /// Lanes up to and including this one.
    LanemaskLe = "%lanemask_le" U32,
    /// Lanes before this one.
    LanemaskLt = "%lanemask_lt" U32,
    /// Lanes from this one on.
    LanemaskGe = "%lanemask_ge" U32,
    /// Lanes after this one.
    LanemaskGt = "%lanemask_gt" U32,
    /// Cycle counter, low half.
    Clock = "%clock" U32,
    /// Cycle counter, high half.
    ClockHi = "%clock_hi" U32,
    /// Cycle counter.
    Clock64 = "%clock64" U64,
    /// Wall clock in nanoseconds.
    Globaltimer = "%globaltimer" U64,
    /// Wall clock, low half.
    GlobaltimerLo = "%globaltimer_lo" U32,
    /// Wall clock, high half.
    GlobaltimerHi = "%globaltimer_hi" U32,
    /// Static plus dynamic shared memory of the thread block.
    TotalSmemSize = "%total_smem_size" U32,
    /// Dynamic shared memory of the thread block.
    DynamicSmemSize = "%dynamic_smem_size" U32,
    /// The warp width, as the constant `WARP_SZ`.
    WarpSz = "WARP_SZ" U32,
}

impl Special {
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
