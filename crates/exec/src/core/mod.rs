//! Thread state and the execution of single operations.
//!
//! A thread has a home: a row of 32 threads and a lane in it. Registers, predicates, local memory
//! and return addresses belong to the thread, never to the warp. A warp is only a row, or for each
//! lane a home ([`Lanes`]), and a mask; [`Core::execute`] runs one operation for it and says what
//! it means for control flow.

mod atomic;
mod call;
mod collective;
mod load_store;
mod local;
mod texture;

use crate::decode::Program;
use crate::fault::{Fault, FaultKind, ThreadId};
use crate::image::LoadError;
use crate::lanes::{LANES, Regs};
use crate::launch::Launch;
use crate::memory::DeviceMemory;
use crate::op::{Access, Bank, Class, NONE, Op};
use local::LocalRow;
use raddle_ptx::isa::Special;

pub use collective::Barrier;

/// A thread's home.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
            Self::Row(row) => Home { row: *row, lane: lane as u8 },
            Self::Gathered(homes) => homes[lane],
        }
    }
}

/// What an operation means for control flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Go on behind it.
    Next,
    /// Every lane goes to its own place, see [`Core::targets`].
    Scatter,
    /// As `Scatter`, and the call depth changes by this.
    Depth(i32),
}

/// A thread block in the machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cta {
    pub(crate) coords: [u32; 3],
    pub(crate) first_row: u32,
    pub(crate) rows: u32,
    pub(crate) live_threads: u32,
    /// Lanes that have exited or never existed, by static warp.
    pub(crate) gone: Vec<u32>,
    pub(crate) shared: Vec<u8>,
    pub(crate) barriers: [Barrier; 16],
}

/// A row of 32 threads.
#[derive(Clone, Debug, Default)]
struct Row {
    cta: u32,
    local: LocalRow,
    /// Call sites to return to, innermost last, for each lane.
    calls: Vec<[u16; LANES]>,
    /// Registers kept across recursive calls, for each lane.
    saved: Vec<Vec<u32>>,
}

/// An operation failed in a lane.
#[derive(Clone, Debug)]
pub(crate) struct LaneFault {
    pub(crate) lane: usize,
    pub(crate) kind: FaultKind,
}

/// The state of all resident threads.
pub struct Core<'p> {
    pub(crate) program: &'p Program,
    launch: &'p Launch,
    /// Lanes of a warp.
    pub(crate) width: u32,
    c32: Vec<[u32; LANES]>,
    c64: Vec<[u64; LANES]>,
    r32: Vec<[u32; LANES]>,
    r64: Vec<[u64; LANES]>,
    preds: Vec<u32>,
    rows: Vec<Row>,
    /// By slot.
    pub(crate) ctas: Vec<Cta>,
    free_slots: Vec<u32>,
    /// Where the lanes go after [`Effect::Scatter`].
    pub(crate) targets: [u32; LANES],
    /// What kernels printed.
    pub(crate) output: String,
    /// Textures by the number of the variable.
    texture_vars: Vec<(u32, usize)>,
    /// Counts operations; what the clock registers read.
    pub(crate) clock: u64,
    /// The allocation the last global access was in.
    last_allocation: usize,
}

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
            c32: program.c32.clone(),
            c64: program.c64.clone(),
            r32: Vec::new(),
            r64: Vec::new(),
            preds: Vec::new(),
            rows: Vec::new(),
            ctas: Vec::new(),
            free_slots: Vec::new(),
            targets: [0; LANES],
            output: String::new(),
            texture_vars: Vec::new(),
            clock: 0,
            last_allocation: 0,
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
                Bank::R64 => self.c64[usize::from(p.slot)] = [value; LANES],
                _ => self.c32[usize::from(p.slot)] = [value as u32; LANES],
            }
        }
    }

    fn reserve_rows(&mut self, rows: u32) -> u32 {
        let first = self.rows.len() as u32;
        let total = self.rows.len() + rows as usize;
        self.rows.resize_with(total, Row::default);
        self.r32.resize(total * usize::from(self.program.r32), [0; LANES]);
        self.r64.resize(total * usize::from(self.program.r64), [0; LANES]);
        self.preds.resize(total * usize::from(self.program.preds), 0);
        first
    }

    /// Makes a thread block resident and returns its slot.
    pub fn start_cta(&mut self, index: u64) -> u32 {
        let threads = self.launch.threads_per_cta();
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            let rows = threads.div_ceil(LANES as u32);
            let first_row = self.reserve_rows(rows);
            let slot = self.ctas.len() as u32;
            for row in first_row..first_row + rows {
                self.rows[row as usize].cta = slot;
            }
            let bytes = (self.program.layout.static_shared + self.launch.dynamic_shared) as usize;
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
        cta.barriers = Default::default();
        let (first, rows) = (cta.first_row, cta.rows);
        let frame = self.program.layout.local_bytes(&self.program.image.module);
        for row in first..first + rows {
            self.rows[row as usize].start(frame);
            if self.program.reads_undefined {
                let regs = self.regs(row);
                regs.r32.fill([0; LANES]);
                regs.r64.fill([0; LANES]);
                regs.preds.fill(0);
            }
            self.fill_specials(row, row - first, coords, index);
        }
        slot
    }

    /// Frees the slot of a finished thread block.
    pub fn end_cta(&mut self, slot: u32) {
        self.free_slots.push(slot);
    }

    fn fill_specials(&mut self, row: u32, row_in_cta: u32, cta: [u32; 3], cta_index: u64) {
        let (launch, width) = (self.launch, self.width);
        let shared = self.program.layout.static_shared + launch.dynamic_shared;
        let value = |special: Special, lane: u32| -> u64 {
            let thread = row_in_cta * LANES as u32 + lane;
            let [x, y, z] = launch.thread_coords(thread);
            let lane = thread % width;
            let below = (1u32 << lane) - 1;
            u64::from(match special {
                Special::TidX => x,
                Special::TidY => y,
                Special::TidZ => z,
                Special::NtidX => launch.block[0],
                Special::NtidY => launch.block[1],
                Special::NtidZ => launch.block[2],
                Special::CtaidX => cta[0],
                Special::CtaidY => cta[1],
                Special::CtaidZ => cta[2],
                Special::NctaidX => launch.grid[0],
                Special::NctaidY => launch.grid[1],
                Special::NctaidZ => launch.grid[2],
                Special::Laneid => lane,
                Special::Warpid => thread / width,
                Special::Nwarpid => 64,
                Special::Nsmid => 1,
                Special::LanemaskEq => 1 << lane,
                Special::LanemaskLe => below | 1 << lane,
                Special::LanemaskLt => below,
                Special::LanemaskGe => !below & lanes_of(width),
                Special::LanemaskGt => !below & !(1 << lane) & lanes_of(width),
                Special::TotalSmemSize => shared,
                Special::DynamicSmemSize => launch.dynamic_shared,
                Special::WarpSz => width,
                Special::Smid
                | Special::Gridid
                | Special::Clock
                | Special::ClockHi
                | Special::Clock64
                | Special::Globaltimer
                | Special::GlobaltimerLo
                | Special::GlobaltimerHi => 0,
            })
        };
        let _ = cta_index;
        let program = self.program;
        let regs = self.regs(row);
        for (special, bank, slot) in &program.specials {
            for lane in 0..LANES {
                match bank {
                    Bank::R64 => regs.r64[usize::from(*slot)][lane] = value(*special, lane as u32),
                    _ => regs.r32[usize::from(*slot)][lane] = value(*special, lane as u32) as u32,
                }
            }
        }
        regs.r32[usize::from(program.frame_pointer)] = [0; LANES];
    }

    /// The registers of a row.
    #[inline]
    pub(crate) fn regs(&mut self, row: u32) -> Regs<'_> {
        let (n32, n64, np) =
            (usize::from(self.program.r32), usize::from(self.program.r64), usize::from(self.program.preds));
        let row = row as usize;
        Regs {
            r32: &mut self.r32[row * n32..(row + 1) * n32],
            r64: &mut self.r64[row * n64..(row + 1) * n64],
            preds: &mut self.preds[row * np..(row + 1) * np],
            c32: &self.c32,
            c64: &self.c64,
        }
    }

    /// Executes one operation that is not a branch, exit, barrier or warp-wide operation for the
    /// lanes of `mask`.
    pub(crate) fn execute(
        &mut self,
        memory: &mut DeviceMemory,
        op: &Op,
        lanes: Lanes<'_>,
        mask: u32,
    ) -> Result<Effect, LaneFault> {
        let row = match lanes {
            Lanes::Row(row) => row,
            Lanes::Gathered(homes) => {
                self.gather(op, homes, mask);
                0
            }
        };
        let effect = self.execute_in(memory, op, row, lanes, mask)?;
        if let Lanes::Gathered(homes) = lanes {
            self.scatter(op, homes, mask);
        }
        Ok(effect)
    }

    fn execute_in(
        &mut self,
        memory: &mut DeviceMemory,
        op: &Op,
        row: u32,
        lanes: Lanes<'_>,
        mask: u32,
    ) -> Result<Effect, LaneFault> {
        match op.class {
            Class::Alu => crate::lanes::call(&mut self.regs(row), op, mask),
            Class::Load if mask != 0 => self.load(memory, op, row, lanes, mask)?,
            Class::Store if mask != 0 => self.store(memory, op, row, lanes, mask)?,
            Class::Atomic => self.atomic(memory, op, row, lanes, mask)?,
            Class::Texture => self.texture(op, row, mask)?,
            Class::Clock => self.read_clock(op, row, mask),
            Class::BranchTable => return self.branch_table(op, row, mask),
            Class::Call => return self.call(memory, op, row, lanes, mask),
            Class::Return => return self.ret(lanes, mask),
            Class::Trap if mask != 0 => {
                return Err(LaneFault { lane: mask.trailing_zeros() as usize, kind: FaultKind::Trap });
            }
            _ => {}
        }
        Ok(Effect::Next)
    }

    fn read_clock(&mut self, op: &Op, row: u32, mask: u32) {
        let now = self.clock;
        let mut regs = self.regs(row);
        match (op.variant, op.d_bank[0]) {
            (1, _) => regs.set32(op.d[0], &[(now >> 32) as u32; LANES], mask),
            (_, Bank::R64) => regs.set64(op.d[0], &[now; LANES], mask),
            _ => regs.set32(op.d[0], &[now as u32; LANES], mask),
        }
    }

    /// Copies what `op` reads from the threads' homes to row 0.
    pub(crate) fn gather(&mut self, op: &Op, homes: &[Home; LANES], mask: u32) {
        let (n32, n64, np) =
            (usize::from(self.program.r32), usize::from(self.program.r64), usize::from(self.program.preds));
        let sources = op.s.iter().zip(&op.s_bank).map(|(s, b)| (*s, *b));
        let guard = (op.guard, if op.guard == NONE { Bank::Absent } else { Bank::Pred });
        // The frame pointer is read by calls and frame accesses whatever their operands are.
        let frame = (self.program.frame_pointer, Bank::R32);
        for (slot, bank) in sources.chain([guard, frame]) {
            if bank == Bank::Absent || slot & crate::op::CONST != 0 {
                continue;
            }
            let slot = usize::from(if bank == Bank::Pred { slot & !crate::op::NOT } else { slot });
            for lane in lanes_in(mask) {
                let Home { row, lane: home } = homes[lane];
                let (row, home) = (row as usize, usize::from(home));
                match bank {
                    Bank::R32 => self.r32[slot][lane] = self.r32[row * n32 + slot][home],
                    Bank::R64 => self.r64[slot][lane] = self.r64[row * n64 + slot][home],
                    Bank::Pred => {
                        let bit = self.preds[row * np + slot] >> home & 1;
                        self.preds[slot] = self.preds[slot] & !(1 << lane) | bit << lane;
                    }
                    Bank::Absent => {}
                }
            }
        }
    }

    /// Copies what `op` wrote in row 0 to the threads' homes.
    pub(crate) fn scatter(&mut self, op: &Op, homes: &[Home; LANES], mask: u32) {
        let (n32, n64, np) =
            (usize::from(self.program.r32), usize::from(self.program.r64), usize::from(self.program.preds));
        for (slot, bank) in op.d.iter().zip(&op.d_bank) {
            if *slot == NONE {
                continue;
            }
            let slot = usize::from(*slot);
            for lane in lanes_in(mask) {
                let Home { row, lane: home } = homes[lane];
                let (row, home) = (row as usize, usize::from(home));
                match bank {
                    Bank::R32 => self.r32[row * n32 + slot][home] = self.r32[slot][lane],
                    Bank::R64 => self.r64[row * n64 + slot][home] = self.r64[slot][lane],
                    Bank::Pred => {
                        let bit = self.preds[slot] >> lane & 1;
                        let word = &mut self.preds[row * np + slot];
                        *word = *word & !(1 << home) | bit << home;
                    }
                    Bank::Absent => {}
                }
            }
        }
    }

    /// The lanes of `active` in which the guard of `op` is true.
    #[inline]
    pub(crate) fn guarded(&mut self, op: &Op, lanes: Lanes<'_>, active: u32) -> u32 {
        if op.guard == NONE {
            return active;
        }
        let np = usize::from(self.program.preds);
        let guard = usize::from(op.guard);
        let bits = match lanes {
            Lanes::Row(row) => self.preds[row as usize * np + guard],
            Lanes::Gathered(homes) => {
                let mut bits = 0;
                for lane in lanes_in(active) {
                    let Home { row, lane: home } = homes[lane];
                    bits |= (self.preds[row as usize * np + guard] >> home & 1) << lane;
                }
                bits
            }
        };
        active & (bits ^ op.guard_flip)
    }

    /// The thread in a lane, by its coordinates.
    pub(crate) fn thread_id(&self, home: Home) -> ThreadId {
        let cta = &self.ctas[self.rows[home.row as usize].cta as usize];
        let index = (home.row - cta.first_row) * LANES as u32 + u32::from(home.lane);
        ThreadId { cta: cta.coords, thread: self.launch.thread_coords(index) }
    }

    /// A fault at operation `pc`.
    pub(crate) fn fault(&self, pc: u32, lanes: Lanes<'_>, fault: LaneFault) -> Fault {
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
        self.saved.iter_mut().for_each(Vec::clear);
    }
}

/// The lanes of a mask, lowest first.
#[inline]
pub(crate) fn lanes_in(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 32).then_some(lane as usize)
    })
}

/// A mask of the lanes of a warp of this width.
#[must_use]
pub(crate) fn lanes_of(width: u32) -> u32 {
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
    let wanted = program.layout.param_bytes as usize;
    if launch.params.len() < wanted {
        return wrong(format!("the kernel has {wanted} bytes of parameters, the launch gives {}", launch.params.len()));
    }
    Ok(())
}
