use super::*;
use std::ptr::NonNull;

#[test]
fn bytes_are_left_free() {
    let mut memory = DeviceMemory::new();
    let first = memory.alloc("a", 1).unwrap();
    memory.leave(0);
    memory.leave(257);
    assert_eq!(memory.alloc("b", 1).unwrap() - first, 3 * GRAIN);
}

#[test]
fn an_access_past_the_end_does_not_reach_the_next_allocation() {
    let mut m = DeviceMemory::new();
    m.guard();
    let (a, b) = (m.alloc("a", 256).unwrap(), m.alloc("b", 256).unwrap());
    assert!(m.find(a + 252, 4).is_ok() && m.find(b, 4).is_ok());
    for past in [256, 4096, GUARD] {
        let error = m.find(a + past, 4).unwrap_err().to_string();
        assert!(error.contains("outside every allocation"), "{past}: {error}");
    }
}

#[test]
fn what_was_freed_is_gone_and_named() {
    let mut m = DeviceMemory::new();
    let (a, b) = (m.alloc("a", 256).unwrap(), m.alloc("b", 512).unwrap());
    assert!(m.free(a) && !m.free(a) && !m.free(b + 1), "only what starts there, and once");
    assert_eq!((m.taken(), m.find(b, 4)), (512, Ok((1, 0))));
    let error = m.find(a + 8, 4).unwrap_err().to_string();
    assert!(error.contains("which was freed (byte 8 of what was `a`"), "{error}");
    assert!(m.alloc("c", 256).unwrap() > b, "addresses are not used twice");
}

#[test]
fn many_allocations_one_after_the_other_take_little() {
    let mut m = DeviceMemory::new();
    for _ in 0..3 * REMEMBERED {
        let a = m.alloc("a", 1 << 20).unwrap();
        assert!(m.free(a));
    }
    assert_eq!((m.taken(), m.order.len()), (0, 0));
    assert!(m.allocations.len() <= REMEMBERED + 1);
}

#[test]
fn memory_of_the_host_is_used_in_place() {
    let mut m = DeviceMemory::new();
    m.alloc("a", 256).unwrap();
    let bytes = NonNull::from(Vec::leak(vec![0u8; 64]));
    // SAFETY: nothing else has these bytes, and they stay.
    #[allow(unsafe_code)]
    let bytes = unsafe { HostBytes::new(bytes.cast(), 64) };
    let base = bytes.address();
    m.map("host", bytes);
    let b = m.alloc("b", 256).unwrap();
    m.write(base + 4, &[1, 2]).unwrap();
    assert_eq!((m.find(base + 5, 1), m.find(b, 1)), (Ok((1, 5)), Ok((2, 0))));
    assert_eq!((&m.bytes(1)[4..6], m.taken()), (&[1, 2][..], 512));
    assert!(m.free(base) && m.holder(base).is_none());
}

#[test]
fn allocations_are_256_bytes_apart_and_bounded_to_the_byte() {
    let mut m = DeviceMemory::new();
    let a = m.alloc("a", 10).unwrap();
    let b = m.alloc("b", 4).unwrap();
    assert_eq!((a, b), (HEAP_BASE, HEAP_BASE + 256));
    assert!(m.find(a + 6, 4).is_ok());
    let error = m.find(a + 8, 4).unwrap_err().to_string();
    assert!(error.contains("crosses the end of `a`"), "{error}");
    let error = m.find(16, 4).unwrap_err().to_string();
    assert!(error.contains("before `a`"), "{error}");
}

#[test]
fn a_huge_buffer_costs_only_what_is_touched() {
    let mut m = DeviceMemory::new();
    let a = m.alloc("huge", 1 << 33).unwrap();
    m.write(a + (1 << 32), &[1, 2, 3]).unwrap();
    let mut back = [0; 4];
    m.read(a + (1 << 32), &mut back).unwrap();
    assert_eq!(back, [1, 2, 3, 0]);
}

#[test]
fn more_than_a_device_has_is_refused() {
    let mut m = DeviceMemory::new();
    let error = m.alloc("a", u64::MAX).unwrap_err().to_string();
    assert_eq!(error, "`a` has 18446744073709551615 bytes, and 0 are taken; a device has 8589934592, that is 8 GiB");
    let first = m.alloc("b", 1).unwrap();
    assert_eq!(first, HEAP_BASE, "what was refused takes no place");
    let error = m.alloc("c", MAX_DEVICE_BYTES).unwrap_err();
    assert_eq!(error, AllocError::TooLarge { name: "c".to_owned(), bytes: MAX_DEVICE_BYTES, taken: 1 });
    m.alloc("c", MAX_DEVICE_BYTES - 1).unwrap();
}

#[test]
fn unwritten_bytes_are_found_when_tracked() {
    let mut m = DeviceMemory::new();
    m.track_writes();
    let a = m.alloc("a", 64).unwrap();
    m.write(a, &[0; 6]).unwrap();
    assert!(m.check_read(a, 4).is_ok());
    assert_eq!(m.check_read(a + 4, 4), Err(AccessError::NeverWritten { address: a + 6 }));
    assert_eq!(m.check_read(a + 2, 4), Err(AccessError::Misaligned { address: a + 2, bytes: 4 }));
}

#[test]
fn overlaps_are_found_on_both_sides() {
    let mut m = DeviceMemory::new();
    m.guard();
    let (a, b) = (m.alloc("a", 256).unwrap(), m.alloc("b", 512).unwrap());
    for (range, expect) in [
        (a..a + 1, true),
        (a + 255..a + 256, true),
        (a + 256..b, false),
        (a - 8..a, false),
        (a - 8..a + 1, true),
        (a + 256..b + 1, true),
        (0..u64::MAX, true),
        (b + 512..u64::MAX, false),
    ] {
        assert_eq!(m.overlaps(&range), expect, "{range:x?}");
    }
    m.free(b);
    assert!(!m.overlaps(&(a + 256..u64::MAX)) && m.overlaps(&(a..b)));
}

#[test]
fn addresses_that_others_use_are_refused() {
    let mut m = DeviceMemory::new();
    m.reserve_with(|end| end <= HEAP_BASE + 1024);
    let a = m.alloc("a", 700).unwrap();
    let error = m.alloc("b", 257).unwrap_err();
    assert!(error.to_string().contains("used by the program"), "{error}");
    assert_eq!(m.alloc("c", 256).unwrap(), a + 768, "what was refused takes no place");
}
