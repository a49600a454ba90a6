//! What the process has mapped where.

use std::ops::Range;

/// Takes addresses, so that nothing else gets them; without memory behind them. Says whether all of them were free.
pub(crate) fn take(range: &Range<u64>) -> bool {
    let (start, length) = (range.start as usize, (range.end - range.start) as usize);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: a new mapping where there is none, which the kernel refuses to replace. There is no reference into it.
    let found = unsafe { libc::mmap(std::ptr::without_provenance_mut(start), length, libc::PROT_NONE, flags, -1, 0) };
    if found == libc::MAP_FAILED {
        return false;
    }
    if found.addr() != start {
        // Kernels before 4.17 do not know the flag, and map elsewhere.
        // SAFETY: the mapping was made above, and has not been used.
        unsafe { libc::munmap(found, length) };
        return false;
    }
    // Parts of it become memory later on.
    found.expose_provenance();
    true
}

/// Takes what is free of some addresses.
pub(crate) fn take_gaps(range: &Range<u64>) {
    let mut start = range.start;
    for Mapping { addresses, .. } in mappings().iter().chain([&Mapping::none_at(range.end)]) {
        let end = addresses.start.min(range.end);
        if start < end {
            take(&(start..end));
        }
        start = start.max(addresses.end);
    }
}

/// A mapping, and what can be done there.
struct Mapping {
    addresses: Range<u64>,
    is_readable: bool,
    is_writable: bool,
}

impl Mapping {
    fn none_at(at: u64) -> Self {
        Self { addresses: at..at, is_readable: false, is_writable: false }
    }
}

/// Those there are, in ascending order.
fn mappings() -> Vec<Mapping> {
    let text = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    text.lines().filter_map(mapping).collect()
}

/// A line such as `7f00-8f00 rw-p 0 0:0 0`.
fn mapping(line: &str) -> Option<Mapping> {
    let (addresses, rest) = line.split_once(' ')?;
    let (start, end) = addresses.split_once('-')?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let addresses = number(start)?..number(end)?;
    Some(Mapping { addresses, is_readable: rest.starts_with('r'), is_writable: rest.get(1..)?.starts_with('w') })
}

/// Whether something can be read at one of these addresses.
pub(crate) fn accessible(range: &Range<u64>) -> bool {
    let is_inside = |addresses: &Range<u64>| addresses.start < range.end && addresses.end > range.start;
    mappings().iter().any(|mapping| mapping.is_readable && is_inside(&mapping.addresses))
}

/// Whether something can be read, and written if that is wished, at all of them.
pub(crate) fn all_accessible(range: &Range<u64>, is_written: bool) -> bool {
    let mut at = range.start;
    for Mapping { addresses, is_readable, is_writable } in mappings() {
        if at < range.end && addresses.contains(&at) && is_readable && (is_writable || !is_written) {
            at = addresses.end;
        }
    }
    at >= range.end
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Maps zeroed bytes, which stay.
    pub(crate) fn map(start: u64, length: usize) {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let at = std::ptr::without_provenance_mut(start as usize);
        // SAFETY: a new mapping where there is none.
        let found = unsafe { libc::mmap(at, length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        assert_eq!(found.addr() as u64, start);
    }

    #[test]
    fn lines_are_read() {
        let found = mapping("7f00a000-7f00b000 rw-p 00000000 00:00 0 [heap]").unwrap();
        assert_eq!((found.addresses, found.is_writable), (0x7f00_a000..0x7f00_b000, true));
        assert!(!mapping("7f00a000-7f00b000 r-xp 00000000 08:01 12 /lib/x y.so").unwrap().is_writable);
        assert!(!mapping("7f00a000-7f00b000 ---p 00000000 00:00 0").unwrap().is_readable);
        assert!(mapping("").is_none() && mapping("7f00a000-7f00b000 ").is_none());
    }

    #[test]
    #[cfg_attr(miri, ignore = "maps memory at an address")]
    fn ranges_are_looked_up_whole() {
        const START: u64 = 0x1800_0000_0000;
        let range = |from: u64, to: u64| START + from..START + to;
        assert!(!accessible(&range(0, 1 << 20)));
        map(START, 8192);
        assert!(take(&range(8192, 16384)) && !take(&range(8192, 16384)));
        map(START + 16384, 4096);
        assert!(all_accessible(&range(1, 8192), true) && !all_accessible(&range(1, 8193), true));
        assert!(!all_accessible(&range(1, 16385), false), "a gap");
        assert!(accessible(&range(8000, 9000)) && !accessible(&range(8192, 16384)));
        take_gaps(&range(0, 1 << 20));
        assert!(!take(&range(20480, 24576)) && !take(&range((1 << 20) - 4096, 1 << 20)));
        assert!(take(&range(1 << 20, (1 << 20) + 4096)) && all_accessible(&range(0, 8192), true));
        let code = all_accessible as fn(&Range<u64>, bool) -> bool as usize as u64;
        assert!(all_accessible(&(code..code + 1), false) && !all_accessible(&(code..code + 1), true));
    }
}
