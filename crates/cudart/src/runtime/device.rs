//! The device: there is one, and the machine says what it has.

use crate::abi::{Out, Pointer, Size};
use crate::context::{Context, api, remember, with};
use crate::error::{Code, Error, Result};
use raddle_exec::HEAP_BYTES;
use raddle_exec::memory::MAX_DEVICE_BYTES;
use raddle_exec::printf::MAX_KEPT;
use raddle_sim::config::MachineConfig;
use std::mem::MaybeUninit;

/// The compute capability, ten times, of a machine that takes every instruction: what kernels are compiled for unless
/// something is said.
const ANY_ARCH: u32 = 70;
/// No dimension of a texture or surface is larger.
const MAX_TEXELS: i32 = 65536;

/// The compute capability that programs are told.
fn capability(machine: &MachineConfig) -> [i32; 2] {
    let arch = if machine.sm.arch == 0 { ANY_ARCH } else { machine.sm.arch };
    [arch / 10, arch % 10].map(|digit| digit as i32)
}

fn check(device: i32) -> Result {
    if device == 0 { Ok(()) } else { Err(Error::INVALID_DEVICE) }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGetDeviceCount(count: Out<i32>) -> Code {
    api(|_| count.put(1))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGetDevice(device: Out<i32>) -> Code {
    api(|_| device.put(0))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaSetDevice(device: i32) -> Code {
    api(|_| check(device))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaSetValidDevices(_devices: Pointer, _count: i32) -> Code {
    api(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaChooseDevice(device: Out<i32>, _wanted: Pointer) -> Code {
    api(|_| device.put(0))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaSetDeviceFlags(_flags: u32) -> Code {
    api(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGetDeviceFlags(flags: Out<u32>) -> Code {
    api(|_| flags.put(0))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceSynchronize() -> Code {
    api(|context| context.refuse_any_capture())
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaThreadSynchronize() -> Code {
    cudaDeviceSynchronize()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceReset() -> Code {
    remember(with(|context| {
        context.reset();
        Ok(())
    }))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaThreadExit() -> Code {
    cudaDeviceReset()
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceSetCacheConfig(_config: i32) -> Code {
    api(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceGetCacheConfig(config: Out<i32>) -> Code {
    api(|_| config.put(0))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceSetSharedMemConfig(_config: i32) -> Code {
    api(|_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceGetSharedMemConfig(config: Out<i32>) -> Code {
    api(|_| config.put(1))
}

/// Limits by their numbers: bytes of a thread's stack, of printf's buffer and of the heap. Those of launches from kernels
/// are not supported, as there are no such launches.
const LIMITS: usize = 3;
const STACK: usize = 0;
const PRINTF: usize = 1;
const HEAP: usize = 2;

/// What each thread has as its stack, whatever is asked for up to that.
const STACK_BYTES: usize = 512 << 10;

/// The limits as the program has set them.
#[derive(Debug)]
pub(crate) struct Limits {
    list: [Size; LIMITS],
    /// A kernel has printed something.
    pub(crate) has_printed: bool,
}

impl Default for Limits {
    fn default() -> Self {
        let mut list = [Size::ZERO; LIMITS];
        (list[STACK], list[PRINTF]) = (Size::new(STACK_BYTES), Size::new(MAX_KEPT));
        list[HEAP] = Size::new(HEAP_BYTES as usize);
        Self { list, has_printed: false }
    }
}

impl Limits {
    /// Bytes of the heap.
    pub(crate) fn heap(&self) -> u64 {
        self.list[HEAP].wide()
    }

    fn place(&mut self, limit: i32) -> Result<(usize, &mut Size)> {
        let number = usize::try_from(limit).map_err(|_| Error::UNSUPPORTED_LIMIT)?;
        Ok((number, self.list.get_mut(number).ok_or(Error::UNSUPPORTED_LIMIT)?))
    }
}

impl Context {
    /// Sets a limit. The heap and the buffer of printf keep their sizes once a kernel has used them.
    fn set_limit(&mut self, limit: i32, value: Size) -> Result {
        let has_printed = self.limits.has_printed;
        let (number, place) = self.limits.place(limit)?;
        let is_refused = match number {
            HEAP => self.device.has_heap(),
            PRINTF => has_printed,
            _ => value.get() > STACK_BYTES,
        };
        if is_refused {
            return Err(Error::INVALID_VALUE);
        }
        if value.wide() > MAX_DEVICE_BYTES - self.device.memory().taken() {
            return Err(Error::MEMORY_ALLOCATION);
        }
        *place = value;
        if number == PRINTF && value.get() > MAX_KEPT {
            self.guest.note(&format!("cudaDeviceSetLimit: of what a launch prints, {MAX_KEPT} bytes are kept"));
        }
        self.device.set_heap_bytes(self.limits.heap());
        Ok(())
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceSetLimit(limit: i32, value: Size) -> Code {
    api(|context| context.set_limit(limit, value))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceGetLimit(value: Out<Size>, limit: i32) -> Code {
    api(|context| value.put(*context.limits.place(limit)?.1))
}

/// A device can reach itself only.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) -> Code {
    api(|_| {
        check(device)?;
        check(peer)?;
        can.put(0)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceEnablePeerAccess(_peer: i32, _flags: u32) -> Code {
    api(|_| Err(Error::INVALID_DEVICE))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceDisablePeerAccess(_peer: i32) -> Code {
    api(|_| Err(Error::PEER_NOT_ENABLED))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceGetPCIBusId(out: Out<[u8; 13]>, length: i32, device: i32) -> Code {
    api(|_| {
        check(device)?;
        if length < 13 { Err(Error::INVALID_VALUE) } else { out.put(*b"0000:00:00.0\0") }
    })
}

/// Everything there is to know of a device, as programs of version 12 expect it; those of version 11 know the part up to
/// `reserved_shared` and have room for it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Properties {
    name: [u8; 256],
    uuid: [u8; 16],
    luid: [u8; 8],
    luid_mask: u32,
    global_bytes: usize,
    shared_per_block: usize,
    registers_per_block: i32,
    warp_size: i32,
    memory_pitch: usize,
    max_threads_per_block: i32,
    max_threads_dim: [i32; 3],
    max_grid: [i32; 3],
    clock_khz: i32,
    const_bytes: usize,
    major: i32,
    minor: i32,
    texture_alignment: usize,
    texture_pitch_alignment: usize,
    device_overlap: i32,
    sms: i32,
    has_timeout: i32,
    is_integrated: i32,
    can_map_host: i32,
    compute_mode: i32,
    textures: [i32; 40],
    surface_alignment: usize,
    concurrent_kernels: i32,
    ecc: i32,
    pci: [i32; 3],
    tcc: i32,
    async_engines: i32,
    unified_addressing: i32,
    memory_khz: i32,
    memory_bus_bits: i32,
    l2_bytes: i32,
    persisting_l2_bytes: i32,
    threads_per_sm: i32,
    stream_priorities: i32,
    global_l1: i32,
    local_l1: i32,
    shared_per_sm: usize,
    registers_per_sm: i32,
    managed_memory: i32,
    multi_gpu: [i32; 2],
    native_atomics: i32,
    single_to_double: i32,
    pageable_access: i32,
    concurrent_managed: i32,
    preemption: i32,
    host_pointer_for_registered: i32,
    cooperative_launch: i32,
    cooperative_multi_device: i32,
    shared_per_block_optin: usize,
    page_tables: i32,
    direct_managed: i32,
    blocks_per_sm: i32,
    access_window: i32,
    reserved_shared: usize,
    more: [i32; 13],
    reserved: [i32; 63],
}

// The layout of the documentation for version 12.
const _: () = assert!(size_of::<Properties>() == 1032);

/// A text in a field of C.
fn field<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.iter_mut().zip(text.bytes()).take(N - 1).for_each(|(to, from)| *to = from);
    bytes
}

/// Bits of the memory bus: what DRAM moves in a cycle of its clock, at two a cycle.
fn bus_bits(machine: &MachineConfig) -> i32 {
    (machine.dram.channels * machine.dram.burst_bytes * 8 / 2).div_ceil(machine.dram.timing.ccd.max(1)) as i32
}

fn l2_bytes(machine: &MachineConfig) -> i32 {
    (machine.l2.sets * machine.l2.ways * machine.l2.line * machine.l2.slices) as i32
}

fn properties(machine: &MachineConfig) -> Properties {
    let sm = &machine.sm;
    let [major, minor] = capability(machine);
    let mut textures = [MAX_TEXELS; 40];
    // Some are numbers of layers.
    [20, 23, 25, 33, 36, 39].iter().for_each(|at| textures[*at] = 2048);
    Properties {
        name: field("Raddle"),
        uuid: *b"raddle simulator",
        luid: [0; 8],
        luid_mask: 0,
        global_bytes: MAX_DEVICE_BYTES as usize,
        shared_per_block: sm.shared_bytes as usize,
        registers_per_block: sm.registers as i32,
        warp_size: sm.warp_width as i32,
        memory_pitch: i32::MAX as usize,
        max_threads_per_block: 1024,
        max_threads_dim: [1024, 1024, 64],
        max_grid: [i32::MAX, 65535, 65535],
        clock_khz: machine.clock.core as i32 * 1000,
        const_bytes: 64 << 10,
        major,
        minor,
        texture_alignment: 512,
        texture_pitch_alignment: 32,
        device_overlap: 1,
        sms: machine.gpu.sms as i32,
        has_timeout: 0,
        is_integrated: 0,
        can_map_host: 1,
        compute_mode: 0,
        textures,
        surface_alignment: 512,
        concurrent_kernels: 1,
        ecc: 0,
        pci: [0; 3],
        tcc: 0,
        async_engines: 1,
        unified_addressing: 1,
        memory_khz: machine.clock.dram as i32 * 1000,
        memory_bus_bits: bus_bits(machine),
        l2_bytes: l2_bytes(machine),
        persisting_l2_bytes: 0,
        threads_per_sm: sm.threads as i32,
        stream_priorities: 0,
        global_l1: 1,
        local_l1: 1,
        shared_per_sm: sm.shared_bytes as usize,
        registers_per_sm: sm.registers as i32,
        managed_memory: 1,
        multi_gpu: [0; 2],
        native_atomics: 1,
        single_to_double: 2,
        pageable_access: 0,
        concurrent_managed: 0,
        preemption: 0,
        host_pointer_for_registered: 1,
        cooperative_launch: 1,
        cooperative_multi_device: 0,
        shared_per_block_optin: sm.shared_bytes as usize,
        page_tables: 0,
        direct_managed: 1,
        blocks_per_sm: sm.ctas as i32,
        access_window: 0,
        reserved_shared: 0,
        more: [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        reserved: [0; 63],
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGetDeviceProperties_v2(out: Out<Properties>, device: i32) -> Code {
    api(|context| {
        check(device)?;
        out.put(properties(context.guest.properties()))
    })
}

/// The first bytes, which versions before 12 know. Those between fields have no values.
#[repr(C)]
pub(crate) struct OldProperties([MaybeUninit<u8>; OLD_BYTES]);
const OLD_BYTES: usize = std::mem::offset_of!(Properties, more);

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGetDeviceProperties(out: Out<OldProperties>, device: i32) -> Code {
    api(|context| {
        check(device)?;
        let all = properties(context.guest.properties());
        // SAFETY: the bytes of a local value, which has more than these; they may be without a value.
        out.put(unsafe { std::ptr::from_ref(&all).cast::<OldProperties>().read() })
    })
}

/// Attributes by their number in the documentation.
fn attribute(number: i32, machine: &MachineConfig) -> Option<i32> {
    let sm = &machine.sm;
    Some(match number {
        1 => 1024,
        2 | 3 => 1024,
        4 => 64,
        5 => i32::MAX,
        6 | 7 => 65535,
        8 => sm.shared_bytes as i32,
        9 => 64 << 10,
        10 => sm.warp_width as i32,
        11 => i32::MAX,
        12 => sm.registers as i32,
        13 => machine.clock.core as i32 * 1000,
        14 => 512,
        15 | 19 | 31 | 40 | 41 | 79 | 80 | 83 | 86 | 91 | 95 | 101 => 1,
        16 => machine.gpu.sms as i32,
        17 | 18 | 20 | 32..=35 | 50 | 78 | 84 | 85 | 88 | 89 | 90 | 96 | 100 => 0,
        21..=30 | 42..=49 | 51..=74 | 77 => MAX_TEXELS,
        36 => machine.clock.dram as i32 * 1000,
        37 => bus_bits(machine),
        38 => l2_bytes(machine),
        39 => sm.threads as i32,
        75 => capability(machine)[0],
        76 => capability(machine)[1],
        81 => sm.shared_bytes as i32,
        82 => sm.registers as i32,
        87 => 2,
        97 => sm.shared_bytes as i32,
        106 => sm.ctas as i32,
        115 | 117..=120 => 1,
        92..=94 | 98 | 99 | 102..=105 | 107..=114 | 116 | 121..=140 => 0,
        _ => return None,
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaDeviceGetAttribute(value: Out<i32>, number: i32, device: i32) -> Code {
    api(|context| {
        check(device)?;
        value.put(attribute(number, context.guest.properties()).ok_or(Error::INVALID_VALUE)?)
    })
}
