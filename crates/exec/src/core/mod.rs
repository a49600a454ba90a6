//! Thread state and the execution of single operations.
//!
//! A thread has a home: a row of 32 threads and a lane in it. Registers, predicates, local memory
//! and return addresses belong to the thread, never to the warp. A warp is only a row, or for each
//! lane a home ([`Lanes`]), and a mask; `Core::execute` runs one operation for it and says what
//! it means for control flow.

mod atomic;
mod barrier;
mod call;
mod collective;
mod copy;
mod load_store;
mod local;
mod matrix;
mod regs;
mod remote;
mod surface;
mod texture;

use crate::decode::Program;
use crate::fault::{Fault, FaultKind, ThreadId};
use crate::image::{LoadError, MAX_SHARED_BYTES};
use crate::lanes::{LANES, ROW_THREADS, Regs};
use crate::launch::Launch;
use crate::memory::Global;
use crate::op::{Access, Bank, Class, NONE, Op};
use local::LocalRow;
use raddle_ptx::isa::{MATRIX_LANES, Special};
use raddle_ptx::num::{fit, low32};
use regs::RegFile;

pub(crate) use atomic::apply_atomic;
use barrier::ALL_BARRIERS;
pub use barrier::{Arrival, BARRIERS, Barrier, NEXT_BLOCK, SECOND_BANK};
pub use copy::Copied;
pub use matrix::Moved;

/// A thread's home.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Home {
    /// Row.
    pub row: u32,
    /// Lane in the row.
    pub lane: u8,
}

/// Whose registers a warp works on.
#[derive(Clone, Copy, Debug)]
pub enum Lanes<'a> {
    /// The lanes of one row: the fast path.
    Row(u32),
    /// A thread per lane, from anywhere.
    Gathered(&'a [Home; LANES]),
}

impl Lanes<'_> {
    /// The thread in a lane.
    #[inline]
    #[must_use]
    pub fn home(&self, lane: usize) -> Home {
        match self {
            Self::Row(row) => Home { row: *row, lane: fit(lane) },
            Self::Gathered(homes) => homes[lane],
        }
    }
}

/// What an operation means for control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Continue after it.
    Next,
    /// Every lane goes to its own place, see `Core::targets`.
    Scatter,
    /// As `Scatter`, and the call depth changes by this.
    Depth(i32),
}

/// One operation for the lanes of a warp.
#[derive(Clone, Copy)]
struct Issue<'a> {
    op: &'a Op,
    lanes: Lanes<'a>,
    /// Where the registers are: the warp's row, or row 0 where they have been gathered.
    row: u32,
    mask: u32,
}

/// A thread block in the machine.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Cta {
    pub(crate) coords: [u32; 3],
    pub(crate) first_row: u32,
    pub(crate) rows: u32,
    pub(crate) live_threads: u32,
    /// Lanes that have exited or never existed, by static warp.
    pub(crate) gone: Vec<u32>,
    pub(crate) shared: Vec<u8>,
    /// Behind those of the block, where threads wait for the next logical block, and those of every other logical
    /// block.
    pub(crate) barriers: Vec<Barrier>,
    /// The logical block that comes next.
    pub(crate) next_block: u64,
}

/// A row of 32 threads.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Row {
    cta: u32,
    local: LocalRow,
    /// Call sites to return to by depth, for each lane.
    calls: Vec<[u32; LANES]>,
    /// How many calls each lane is inside of, and what they take of its stack.
    depth: [u32; LANES],
    stack: [u32; LANES],
    /// Registers kept across recursive calls, for each lane.
    saved: Vec<Vec<u32>>,
}

/// An operation failed in a lane.
#[derive(Clone, Debug)]
pub struct LaneFault {
    /// The lane.
    pub lane: usize,
    /// What is wrong.
    pub kind: FaultKind,
}

/// The state of all resident threads.
pub struct Core<'p> {
    pub(crate) program: &'p Program,
    launch: &'p Launch,
    /// Lanes of a warp.
    pub(crate) width: u32,
    file: RegFile,
    rows: Vec<Row>,
    /// Special registers that differ between threads, for each row of a thread block.
    thread_specials: Vec<Vec<[u32; LANES]>>,
    /// Local memory a thread starts with.
    local_bytes: u32,
    /// By slot.
    pub(crate) ctas: Vec<Cta>,
    free_slots: Vec<u32>,
    /// Threads of each static warp that a barrier does not wait for, made anew for every question.
    pub(crate) gone: Vec<u32>,
    /// Where the lanes go after [`Effect::Scatter`].
    pub(crate) targets: [u32; LANES],
    /// What kernels printed.
    pub(crate) output: String,
    /// Variables that textures are bound to.
    texture_vars: Vec<texture::BoundVar>,
    /// Counts operations; what the clock registers read.
    pub(crate) clock: u64,
    /// The allocation the last global access was in.
    last_allocation: usize,
    /// Number of this SM, and how many there are.
    sm: [u32; 2],
}

crate::saved!(impl['p] Core<'p> {
    values: rows, ctas, free_slots, gone, targets, output, clock, last_allocation;
    parts: file;
    fixed: program, launch, width, thread_specials, local_bytes, texture_vars, sm;
});

impl<'p> Core<'p> {
    /// An empty machine for one launch.
    ///
    /// # Errors
    /// When the launch does not fit the kernel.
    pub fn new(program: &'p Program, launch: &'p Launch, width: u32) -> Result<Self, LoadError> {
        check_launch(program, launch, width)?;
        let mut core = Self {
            program,
            launch,
            width,
            file: RegFile::new(program),
            rows: Vec::new(),
            thread_specials: thread_specials(program, launch, width),
            local_bytes: program.layout.local_bytes,
            ctas: Vec::new(),
            free_slots: Vec::new(),
            gone: Vec::new(),
            targets: [0; LANES],
            output: String::new(),
            texture_vars: Vec::new(),
            clock: 0,
            last_allocation: 0,
            sm: [0, 1],
        };
        core.bind_params();
        core.bind_textures()?;
        core.reserve_rows(1); // Row 0 is where gathered warps work.
        Ok(core)
    }

    fn bind_params(&mut self) {
        for p in &self.program.param_consts {
            let Access { bytes, signed, register_bits, .. } = p.access;
            let raw = load_store::raw(&self.launch.params, p.offset as usize, bytes);
            let value = load_store::extend(raw, bytes, signed, register_bits);
            match p.bank {
                Bank::R64 => self.file.c64[p.slot as usize] = [value; LANES],
                _ => self.file.c32[p.slot as usize] = [low32(value); LANES],
            }
        }
    }

    fn reserve_rows(&mut self, rows: u32) -> u32 {
        let first = fit(self.rows.len());
        let total = self.rows.len() + rows as usize;
        self.rows.resize_with(total, Row::default);
        self.file.resize(total);
        first
    }

    /// Makes a thread block resident and returns its slot.
    pub fn start_cta(&mut self, index: u64) -> u32 {
        let threads = self.launch.threads_per_cta();
        let lowest = (0..self.free_slots.len()).min_by_key(|i| self.free_slots[*i]);
        let slot = lowest.map(|i| self.free_slots.swap_remove(i)).unwrap_or_else(|| {
            let rows = threads.div_ceil(ROW_THREADS);
            let first_row = self.reserve_rows(rows);
            let slot = fit(self.ctas.len());
            for row in first_row..first_row + rows {
                self.rows[row as usize].cta = slot;
            }
            let bytes = fit(self.launch.shared_bytes(&self.program.layout));
            self.ctas.push(Cta { first_row, rows, shared: vec![0; bytes], ..Cta::default() });
            slot
        });
        let coords = self.launch.cta_coords(index);
        let width = self.width;
        let cta = &mut self.ctas[slot as usize];
        cta.coords = coords;
        cta.live_threads = threads;
        cta.gone.clear();
        let warps = (0..threads).step_by(width as usize);
        cta.gone.extend(warps.map(|first| lanes_of(width) & !lanes_of(width.min(threads - first))));
        cta.shared.fill(0);
        cta.barriers.clear();
        cta.barriers.resize(ALL_BARRIERS, Barrier::default());
        cta.next_block = index;
        let (first, rows) = (cta.first_row, cta.rows);
        for row in first..first + rows {
            self.rows[row as usize].start(self.local_bytes);
            if self.program.reads_undefined {
                let regs = self.regs(row);
                regs.r32.fill([0; LANES]);
                regs.r64.fill([0; LANES]);
                regs.preds.fill(0);
            }
            self.fill_specials(row, row - first, coords);
        }
        slot
    }

    /// Frees the slot of a finished thread block.
    pub fn end_cta(&mut self, slot: u32) {
        self.free_slots.push(slot);
    }

    fn fill_specials(&mut self, row: u32, row_in_cta: u32, cta: [u32; 3]) {
        let program = self.program;
        let [sm, sms] = self.sm;
        let regs = self.file.row(row);
        let planes = self.thread_specials[row_in_cta as usize].iter();
        for ((special, bank, slot), plane) in program.specials.iter().zip(planes) {
            let whole = match special {
                Special::Smid => [sm; LANES],
                Special::Nsmid => [sms; LANES],
                Special::CtaidX => [cta[0]; LANES],
                Special::CtaidY => [cta[1]; LANES],
                Special::CtaidZ => [cta[2]; LANES],
                _ => *plane,
            };
            match bank {
                Bank::R64 => regs.r64[*slot as usize] = whole.map(u64::from),
                _ => regs.r32[*slot as usize] = whole,
            }
        }
        regs.r32[program.frame_pointer as usize] = [0; LANES];
    }

    /// The registers of a row.
    #[inline]
    pub(crate) fn regs(&mut self, row: u32) -> Regs<'_> {
        self.file.row(row)
    }

    /// Executes one operation that is not a branch, exit, barrier or warp-wide operation for the
    /// lanes of `mask`.
    pub fn execute(
        &mut self,
        memory: &mut Global<'_>,
        op: &Op,
        lanes: Lanes<'_>,
        mask: u32,
    ) -> Result<Effect, LaneFault> {
        self.in_row(op, lanes, mask, |core, issue| core.perform(memory, issue))
    }

    /// Executes with the registers of the lanes in one row: those of several rows are put there before and back after
    /// it.
    #[inline]
    fn in_row<T>(
        &mut self,
        op: &Op,
        lanes: Lanes<'_>,
        mask: u32,
        execute: impl FnOnce(&mut Self, Issue<'_>) -> Result<T, LaneFault>,
    ) -> Result<T, LaneFault> {
        match lanes {
            Lanes::Row(row) => execute(self, Issue { op, lanes, row, mask }),
            Lanes::Gathered(homes) => {
                self.file.gather(op, self.program.frame_pointer, homes, mask);
                let done = execute(self, Issue { op, lanes, row: 0, mask })?;
                self.file.scatter(op, homes, mask);
                Ok(done)
            }
        }
    }

    /// Executes a load, store or atomic for the lanes of `mask`, at least one; `addresses` are then what they accessed,
    /// other lanes have that of the first.
    ///
    /// As every function that says where an operation goes, it also executes the operation, and reads the operands
    /// before: a result may be written over the register of an address.
    ///
    /// # Errors
    /// When an address is outside every allocation or misaligned.
    #[inline]
    pub fn access(
        &mut self,
        memory: &mut Global<'_>,
        op: &Op,
        lanes: Lanes<'_>,
        mask: u32,
        addresses: &mut [u64; LANES],
    ) -> Result<(), LaneFault> {
        self.in_row(op, lanes, mask, |core, issue| core.load_store_or_atomic(memory, issue, addresses))
    }

    fn perform(&mut self, memory: &mut Global<'_>, issue: Issue<'_>) -> Result<Effect, LaneFault> {
        let Issue { op, row, mask, .. } = issue;
        match op.class {
            Class::Alu => crate::lanes::call(&mut self.file.row(row), op, mask),
            Class::Load | Class::Store | Class::Atomic if mask != 0 => {
                self.load_store_or_atomic(memory, issue, &mut [0; LANES])?;
            }
            Class::Texture => self.texture(memory, issue, &mut |_, _, _| {})?,
            Class::Copy if mask != 0 => self.copy(memory, issue).map(|_| ())?,
            Class::Surface => self.surface(memory, issue)?,
            Class::Clock => self.read_clock(issue),
            Class::BranchTable => return self.branch_table(issue),
            Class::Call => return self.call(memory, issue),
            Class::Return => return self.ret(issue),
            Class::Trap if mask != 0 => {
                return Err(LaneFault { lane: mask.trailing_zeros() as usize, kind: FaultKind::Trap });
            }
            _ => {}
        }
        Ok(Effect::Next)
    }

    fn read_clock(&mut self, Issue { op, row, mask, .. }: Issue<'_>) {
        let now = self.clock;
        let mut regs = self.regs(row);
        match (op.variant, op.d_bank[0]) {
            (1, _) => regs.set32(op.d[0], &[low32(now >> 32); LANES], mask),
            (_, Bank::R64) => regs.set64(op.d[0], &[now; LANES], mask),
            _ => regs.set32(op.d[0], &[low32(now); LANES], mask),
        }
    }

    /// The lanes of `active` in which the guard of `op` is true.
    #[inline]
    pub fn guarded(&mut self, op: &Op, lanes: Lanes<'_>, active: u32) -> u32 {
        if op.guard == NONE {
            return active;
        }
        let bits = match lanes {
            Lanes::Row(row) => self.file.row(row).preds[op.guard as usize],
            Lanes::Gathered(homes) => lanes_in(active).fold(0, |bits, lane| {
                let home = homes[lane];
                let bit = self.file.get(home.row, op.guard, Bank::Pred, usize::from(home.lane));
                bits | low32(bit) << lane
            }),
        };
        active & (bits ^ op.guard_flip)
    }

    /// The thread in a lane, by its coordinates.
    pub fn thread_id(&self, home: Home) -> ThreadId {
        let cta = &self.ctas[self.rows[home.row as usize].cta as usize];
        let index = (home.row - cta.first_row) * ROW_THREADS + u32::from(home.lane);
        ThreadId { cta: cta.coords, thread: self.launch.thread_coords(index) }
    }

    /// A fault at operation `pc`.
    pub fn fault(&self, pc: u32, lanes: Lanes<'_>, fault: LaneFault) -> Fault {
        let origin = self.program.origins.get(pc as usize);
        Fault {
            kind: fault.kind,
            thread: Some(self.thread_id(lanes.home(fault.lane))),
            at: origin.map(|o| (o.func, o.inst)),
            output: String::new(),
        }
    }
}

impl Row {
    fn start(&mut self, local_bytes: u32) {
        self.local.start(local_bytes);
        self.calls.clear();
        self.depth = [0; LANES];
        self.stack = [0; LANES];
        self.saved.iter_mut().for_each(Vec::clear);
    }
}

/// What the special registers of a program hold, but for the block's own coordinates: for each row
/// of a thread block, in the order of the program's list.
fn thread_specials(program: &Program, launch: &Launch, width: u32) -> Vec<Vec<[u32; LANES]>> {
    let shared: u32 = fit(launch.shared_bytes(&program.layout));
    let value = |special: Special, thread: u32| -> u32 {
        let [x, y, z] = launch.thread_coords(thread);
        let lane = thread % width;
        let below = (1u32 << lane) - 1;
        match special {
            Special::TidX => x,
            Special::TidY => y,
            Special::TidZ => z,
            Special::NtidX => launch.block[0],
            Special::NtidY => launch.block[1],
            Special::NtidZ => launch.block[2],
            Special::NctaidX => launch.grid[0],
            Special::NctaidY => launch.grid[1],
            Special::NctaidZ => launch.grid[2],
            Special::Laneid => lane,
            Special::Warpid => thread / width,
            Special::Nwarpid => 64,
            Special::LanemaskEq => 1 << lane,
            Special::LanemaskLe => below | 1 << lane,
            Special::LanemaskLt => below,
            Special::LanemaskGe => !below & lanes_of(width),
            Special::LanemaskGt => !below & !(1 << lane) & lanes_of(width),
            Special::TotalSmemSize => shared,
            Special::DynamicSmemSize => launch.dynamic_shared,
            Special::WarpSz => width,
            // Blocks' coordinates and the SM are filled in when a block starts; there is one grid; clocks are
            // read by operations of their own.
            Special::CtaidX
            | Special::CtaidY
            | Special::CtaidZ
            | Special::Smid
            | Special::Nsmid
            | Special::Gridid
            | Special::Clock
            | Special::ClockHi
            | Special::Clock64
            | Special::Globaltimer
            | Special::GlobaltimerLo
            | Special::GlobaltimerHi => 0,
        }
    };
    let plane = |special: Special, row: u32| {
        std::array::from_fn(|lane| value(special, row * ROW_THREADS + fit::<u32, _>(lane)))
    };
    let rows = launch.threads_per_cta().div_ceil(ROW_THREADS);
    (0..rows).map(|row| program.specials.iter().map(|(special, ..)| plane(*special, row)).collect()).collect()
}

/// The lanes of a mask, lowest first.
#[inline]
pub fn lanes_in(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// A mask of the lanes of a warp of this width.
#[must_use]
pub fn lanes_of(width: u32) -> u32 {
    u32::MAX >> (32 - width)
}

fn check_launch(program: &Program, launch: &Launch, width: u32) -> Result<(), LoadError> {
    let wrong = |text: String| Err(LoadError::Unsupported(text));
    if !matches!(width, 4 | 8 | 16 | 32) {
        return wrong(format!("the warp width is 4, 8, 16 or 32, not {width}"));
    }
    let threads = launch.block.iter().map(|n| u64::from(*n)).product::<u64>();
    if launch.grid.contains(&0) || threads == 0 {
        return wrong("grid and block dimensions must be at least 1".to_owned());
    }
    if threads > 1024 {
        return wrong(format!("a thread block has at most 1024 threads, not {threads}"));
    }
    let limits = program.image.module.func(program.layout.kernel).limits;
    if let Some(block) = limits.required_block
        && block != launch.block
    {
        return wrong(format!("the kernel requires blocks of {block:?} threads (.reqntid), not {:?}", launch.block));
    }
    if let Some(most) = limits.max_threads
        && threads > u64::from(most)
    {
        return wrong(format!("the kernel allows at most {most} threads per block (.maxntid), not {threads}"));
    }
    if let Some(site) = program.matrices.first()
        && width != MATRIX_LANES
    {
        return wrong(format!("`{}` needs warps of {MATRIX_LANES} lanes, not {width}", site.name));
    }
    let shared = launch.shared_bytes(&program.layout);
    if shared > MAX_SHARED_BYTES {
        return wrong(format!("a block has {shared} bytes of shared memory, there can be {MAX_SHARED_BYTES}"));
    }
    let wanted = program.layout.param_bytes as usize;
    if launch.params.len() < wanted {
        return wrong(format!("the kernel has {wanted} bytes of parameters, the launch gives {}", launch.params.len()));
    }
    Ok(())
}
