//! Statistics: every counter is declared once, with unit and meaning.

/// What a counter counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Clock cycles of the part that counts.
    Cycles,
    /// Scheduler slots: one per scheduler and cycle.
    Slots,
    /// Instructions of a warp.
    WarpInsts,
    /// Instructions of a thread.
    ThreadInsts,
    /// Accesses, requests, packets, events.
    Events,
    /// Bytes.
    Bytes,
    /// Entries of a table, at most: of several components, launches or SMs the largest counts.
    MostEntries,
}

impl Unit {
    /// All units.
    pub const ALL: [Self; 7] =
        [Self::Cycles, Self::Slots, Self::WarpInsts, Self::ThreadInsts, Self::Events, Self::Bytes, Self::MostEntries];

    /// Its name in outputs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Slots => "slots",
            Self::WarpInsts => "warp instructions",
            Self::ThreadInsts => "thread instructions",
            Self::Events => "events",
            Self::Bytes => "bytes",
            Self::MostEntries => "entries at most",
        }
    }

    /// What was counted since it was `before`.
    #[inline]
    #[must_use]
    pub fn since(self, now: u64, before: u64) -> u64 {
        if matches!(self, Self::MostEntries) { now } else { now - before }
    }

    /// What two components' counts are together.
    #[inline]
    #[must_use]
    pub fn together(self, a: u64, b: u64) -> u64 {
        if matches!(self, Self::MostEntries) { a.max(b) } else { a + b }
    }
}

/// A counter as it is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterInfo {
    /// Name in all outputs.
    pub name: &'static str,
    /// Unit.
    pub unit: Unit,
    /// What it counts.
    pub doc: &'static str,
}

/// A group of counters that one kind of component has.
pub trait Counters: Clone + Default {
    /// Its counters in the order of [`Counters::values`].
    const INFO: &'static [CounterInfo];
    /// The values.
    fn values(&self) -> Vec<u64>;
    /// Adds another component's counters.
    fn add(&mut self, other: &Self);
    /// Takes away what had been counted before.
    fn subtract(&mut self, before: &Self);
}

/// The counter of empty slots with a cause, in a struct that has one for each; `$no_warp` is that for slots without a warp.
macro_rules! stall_counter {
    ($counters:expr, $cause:expr, $no_warp:expr) => {
        match $cause {
            Cause::WrongPath => &mut $counters.stall_wrong_path,
            Cause::MemoryDependence => &mut $counters.stall_memory_dependence,
            Cause::ArithmeticDependence => &mut $counters.stall_arithmetic_dependence,
            Cause::SpBusy => &mut $counters.stall_sp_busy,
            Cause::SfuBusy => &mut $counters.stall_sfu_busy,
            Cause::LoadStoreBusy => &mut $counters.stall_load_store_busy,
            Cause::MemoryBackPressure => &mut $counters.stall_memory_back_pressure,
            Cause::NotFetched => &mut $counters.stall_not_fetched,
            Cause::Barrier => &mut $counters.stall_barrier,
            Cause::Sibling => &mut $counters.stall_sibling,
            Cause::Fence => &mut $counters.stall_fence,
            Cause::Draining => &mut $counters.stall_draining,
            Cause::Gated => &mut $counters.stall_gated,
            Cause::Mechanism => &mut $counters.stall_mechanism,
            Cause::NoWarpResident => $no_warp,
        }
    };
}
pub(crate) use stall_counter;

/// Declares a struct of counters: `name: Unit, "what it counts";`.
#[macro_export]
macro_rules! counters {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($field:ident: $unit:ident, $doc:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        $vis struct $name { $(#[doc = $doc] pub $field: u64,)+ }

        impl $crate::saved::Saved for $name {
            fn visit(&mut self, pass: &mut $crate::saved::Pass<'_>) -> Result<(), $crate::saved::Error> {
                $(pass.value(&mut self.$field)?;)+
                Ok(())
            }
        }

        impl $crate::stats::Counters for $name {
            const INFO: &'static [$crate::stats::CounterInfo] = &[$($crate::stats::CounterInfo {
                name: stringify!($field),
                unit: $crate::stats::Unit::$unit,
                doc: $doc,
            },)+];

            fn values(&self) -> Vec<u64> {
                vec![$(self.$field,)+]
            }

            fn add(&mut self, other: &Self) {
                $(self.$field = $crate::stats::Unit::$unit.together(self.$field, other.$field);)+
            }

            fn subtract(&mut self, before: &Self) {
                $(self.$field = $crate::stats::Unit::$unit.since(self.$field, before.$field);)+
            }
        }
    };
}
