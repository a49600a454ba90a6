//! Addresses that the program must not use, because they mean something else: those of device memory, of memory that
//! both sides see, and the windows through which kernels see shared, local and constant memory.
//!
//! The heap of a program that is loaded at a low address (`-no-pie`) grows towards them. So they are taken when this
//! library is loaded, before `main`, and have no memory behind them: `malloc` then looks elsewhere. As addresses are not
//! used twice, more are taken when these are used up.

use crate::error::{Error, Result};
use crate::mappings::{accessible, take, take_gaps};
use raddle_exec::memory::{HEAP_BASE, MAX_DEVICE_BYTES, SHARED_WINDOW, WINDOWS_END};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Addresses that are taken at once.
const STEP: u64 = 2 * MAX_DEVICE_BYTES;
/// Between the places where a range can start. The address bits that choose a cache set are the same in all of them.
const PLACES_APART: u64 = 1 << 40;
const PLACES: u64 = 16;

/// A range that grows at its end.
#[derive(Debug)]
pub(crate) struct Area {
    /// Where it starts; `None` when all places are used.
    start: Option<u64>,
    /// What is taken ends here.
    end: u64,
    /// Whether addresses are enough that cannot be taken, as long as they are not used.
    needs_no_memory: bool,
}

/// Device memory, whose bytes are elsewhere.
static DEVICE: Mutex<Area> = Mutex::new(Area { start: None, end: 0, needs_no_memory: true });
/// Memory that host code and kernels share.
static SHARED: Mutex<Area> = Mutex::new(Area { start: None, end: 0, needs_no_memory: false });
/// Where it starts if nothing is there.
const SHARED_BASE: u64 = 0x2000_0000_0000;

/// Before anything of the program runs.
extern "C" fn at_load() {
    // The heap may have begun there, and stays as it is; who maps memory to kernels looks at its addresses.
    take_gaps(&(SHARED_WINDOW..WINDOWS_END));
    lock(&DEVICE).begin(HEAP_BASE);
    lock(&SHARED).begin(SHARED_BASE);
}

// Miri maps nothing at a given address.
#[cfg_attr(not(miri), used, unsafe(link_section = ".init_array"))]
#[cfg_attr(miri, allow(dead_code))]
static AT_LOAD: extern "C" fn() = at_load;

fn lock(area: &'static Mutex<Area>) -> MutexGuard<'static, Area> {
    area.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many bytes device memory starts after its usual place.
pub(crate) fn device_offset() -> Result<u64> {
    lock(&DEVICE).start.map(|start| start - HEAP_BASE).ok_or(Error::MEMORY_ALLOCATION)
}

/// Whether all addresses of the device up to this one can be used.
pub(crate) fn reserve_device(end: u64) -> bool {
    lock(&DEVICE).reaches(end)
}

/// Where memory that both sides use starts.
pub(crate) fn shared_start() -> Result<u64> {
    lock(&SHARED).start.ok_or(Error::MEMORY_ALLOCATION)
}

/// Whether all of its addresses up to this one can be used.
pub(crate) fn reserve_shared(end: u64) -> bool {
    lock(&SHARED).reaches(end)
}

/// Whether kernels see something else at some of these addresses.
pub(crate) fn are_windows(range: &Range<u64>) -> bool {
    range.start < WINDOWS_END && range.end > SHARED_WINDOW
}

/// Whether the program can have nothing of its own at some of these addresses.
pub(crate) fn is_reserved(range: &Range<u64>) -> bool {
    are_windows(range) || [&DEVICE, &SHARED].into_iter().any(|area| lock(area).overlaps(range))
}

impl Area {
    fn overlaps(&self, range: &Range<u64>) -> bool {
        self.start.is_some_and(|start| range.start < self.end && range.end > start)
    }

    /// Takes the first addresses, at another place if these are used.
    fn begin(&mut self, wanted: u64) {
        for start in (0..PLACES).map(|place| wanted + place * PLACES_APART) {
            let range = start..start + STEP;
            let is_taken = take(&range);
            if is_taken || !accessible(&range) {
                // More than a process may have is taken little by little.
                (self.start, self.end) = (Some(start), if is_taken { range.end } else { start });
                return;
            }
        }
    }

    fn reaches(&mut self, end: u64) -> bool {
        if end <= self.end {
            return true;
        }
        let end = end.next_multiple_of(4096);
        for range in [self.end..end.max(self.end.saturating_add(STEP)), self.end..end] {
            if take(&range) {
                self.end = range.end;
                return true;
            }
        }
        self.needs_no_memory && !accessible(&(self.end..end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses that nothing else in the process has.
    const FREE: u64 = 0x1000_0000_0000;

    fn area() -> Area {
        Area { start: None, end: 0, needs_no_memory: true }
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps memory at an address")]
    fn a_range_grows_until_something_is_there() {
        let mut area = area();
        area.begin(FREE);
        assert_eq!((area.start, area.end), (Some(FREE), FREE + STEP));
        assert!(area.reaches(FREE + STEP) && area.end == FREE + STEP);
        assert!(area.reaches(FREE + STEP + 1) && area.end == FREE + 2 * STEP);
        let other = FREE + 2 * STEP + (64 << 10);
        crate::mappings::tests::map(other, 4096);
        assert!(area.reaches(other) && area.end == other, "what is left before it");
        assert!(!area.reaches(other + 1));
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps memory at an address")]
    fn a_range_starts_elsewhere_when_its_place_is_used() {
        let wanted = FREE + PLACES_APART / 2;
        crate::mappings::tests::map(wanted + (1 << 30), 4096);
        let mut area = area();
        area.begin(wanted);
        assert_eq!(area.start, Some(wanted + PLACES_APART));
    }

    #[test]
    fn windows_are_not_for_the_program() {
        assert!(are_windows(&(SHARED_WINDOW - 1..SHARED_WINDOW + 1)) && are_windows(&(WINDOWS_END - 1..WINDOWS_END)));
        assert!(!are_windows(&(0x40_0000..SHARED_WINDOW)) && !are_windows(&(WINDOWS_END..HEAP_BASE)));
    }
}
