//! IR to [`Program`]: one operation per instruction, with registers, constants, addresses and
//! branch targets resolved.

mod alu;
mod control;
mod copy;
mod matrix;
mod memory;
mod surface;
mod texture;
mod warp;

use crate::atomics::HeapCall;
use crate::heap;
use crate::image::{Image, KernelLayout, LoadError};
use crate::lanes::{Kernels, LANES, Level};
use crate::launch::Launch;
use crate::memory::DeviceMemory;
use crate::op::{Access, Bank, CONST, Class, NO_PC, NONE, NOT, Op, Origin, Slot};
use raddle_ptx::analysis::{Allocation, BlockId, Cfg, LikelyConvergence, Liveness, PostDominators, Uniformity};
use raddle_ptx::ir::{FuncId, Function, Imm, Inst, InstId, Operand, RegId};
use raddle_ptx::isa::{Opcode, Special, Type, Word};
use raddle_ptx::num::{fit, low32};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use copy::{CopyPart, CopySite, HOW_MUCH, TO};
pub use matrix::MatrixSite;
pub(crate) use matrix::{Place as MatrixPlace, STRIDE};
pub use memory::AtomicOp;
pub(crate) use surface::{Bounds, SurfaceSite};
pub use texture::TextureOp;
pub use warp::{BarrierOp, LOGICAL_BLOCKS, MEMBERS, WarpOp};

/// A call site: what a call copies and where it comes back to.
#[derive(Clone, Debug, Default)]
pub struct CallSite {
    /// The callee; `None` when the target is in a register.
    pub(crate) entry: Option<Entry>,
    /// A function the machine supplies.
    pub builtin: Option<Builtin>,
    /// Where the caller continues.
    pub return_pc: u32,
    /// Size of the caller's frame: the callee's begins after it.
    pub frame_size: u32,
    /// What the call takes of the stack.
    pub call_bytes: u32,
    /// Arguments, in order.
    pub args: Vec<Argument>,
    /// Return values: (offset in the callee's frame, offset in the caller's, bytes).
    pub returns: Vec<(u32, u32, u32)>,
    /// Registers of the caller to be kept when the callee may be the caller again.
    pub saved: Option<SavedRegs>,
}

impl CallSite {
    /// The function of the allocator that is called here.
    pub(crate) fn heap_call(&self) -> Option<HeapCall> {
        match self.builtin? {
            Builtin::Malloc => Some(HeapCall::Malloc),
            Builtin::Free => Some(HeapCall::Free),
            _ => None,
        }
    }
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Argument {
    /// Offset in the caller's frame, or in the parameters of the kernel.
    pub from: u32,
    /// Whether it is a parameter of the kernel itself.
    pub is_kernel_parameter: bool,
    /// Offset in the callee's frame.
    pub to: u32,
    /// Size.
    pub bytes: u32,
}

/// Where a function begins, and what it needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) pc: u32,
    /// Size of its frame.
    pub(crate) frame: u32,
    /// Its registers in [`Program::unwritten`]: from here, so many.
    pub(crate) unwritten: (u32, u32),
}

/// Ranges of register slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedRegs {
    /// 32-bit slots.
    pub r32: Range<usize>,
    /// 64-bit slots.
    pub r64: Range<usize>,
    /// Predicates.
    pub preds: Range<usize>,
}

/// Functions the machine supplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// `vprintf(format, arguments)`.
    Vprintf,
    /// `__assertfail(message, file, line, function, character size)`.
    AssertFail,
    /// `malloc(bytes)`.
    Malloc,
    /// `free(address)`.
    Free,
}

/// A constant that depends on the launch: a kernel parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ParamConst {
    pub(crate) slot: Slot,
    pub(crate) bank: Bank,
    pub(crate) offset: u32,
    pub(crate) access: Access,
}

/// A kernel ready to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// The module in memory.
    pub image: Image,
    /// Where the kernel's variables live.
    pub layout: KernelLayout,
    /// Operations of the kernel and all functions it may call; execution starts at 0.
    pub ops: Vec<Op>,
    /// Where each operation came from.
    pub origins: Vec<Origin>,
    /// 32-bit registers per thread.
    pub r32: u32,
    /// 64-bit registers per thread.
    pub r64: u32,
    /// Predicates per thread.
    pub preds: u32,
    /// Call sites.
    pub sites: Vec<CallSite>,
    /// What matrix instructions do.
    pub(crate) matrices: Vec<MatrixSite>,
    /// What asynchronous copies do.
    pub(crate) copies: Vec<CopySite>,
    /// What surface instructions work on.
    pub(crate) surfaces: Vec<SurfaceSite>,
    /// Entry points of functions.
    pub(crate) entries: HashMap<FuncId, Entry>,
    /// The largest frame of a function.
    pub(crate) largest_frame: u32,
    /// Instruction-set level it was decoded for; never above the host's.
    pub(crate) level: Level,
    pub(crate) c32: Vec<[u32; LANES]>,
    pub(crate) c64: Vec<[u64; LANES]>,
    pub(crate) param_consts: Vec<ParamConst>,
    /// Special registers with the slots that hold them.
    pub(crate) specials: Vec<(Special, Bank, Slot)>,
    /// Branch tables as operation indices.
    pub(crate) tables: Vec<Vec<u32>>,
    /// Slot of the frame pointer.
    pub(crate) frame_pointer: Slot,
    /// Whether some register may be read before it is written: rows are then cleared.
    pub(crate) reads_undefined: bool,
    /// Registers that functions may read before they write them, function by function: cleared by each call.
    pub(crate) unwritten: Vec<(Bank, Slot)>,
}

/// The operations of a program at which every thread that comes there ends.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Ends(Arc<[u32]>);

impl Ends {
    /// Whether an operation is one of them.
    #[must_use]
    pub fn contains(&self, pc: u32) -> bool {
        self.0.contains(&pc)
    }
}

impl Program {
    /// The function of the allocator that an operation calls.
    #[must_use]
    pub fn heap_call(&self, op: &Op) -> Option<HeapCall> {
        self.sites.get(op.target as usize).filter(|_| op.class == Class::Call).and_then(CallSite::heap_call)
    }

    /// Makes the heap of `malloc` if the program calls it and there is none: where threads see memory as it was, it
    /// cannot be made at the first call.
    pub fn reserve_heap(&self, launch: &Launch, memory: &mut DeviceMemory) {
        if self.ops.iter().any(|op| self.heap_call(op).is_some()) {
            heap::reserve(memory, launch.heap_bytes);
        }
    }

    /// The instruction that one of its own operations comes from.
    pub(crate) fn instruction_of(&self, op: &Op) -> Option<(FuncId, InstId)> {
        let bytes = std::ptr::from_ref(op).addr().checked_sub(self.ops.as_ptr().addr())?;
        self.origins.get(bytes / size_of::<Op>()).map(|origin| (origin.func, origin.inst))
    }

    /// Decodes a kernel for this host.
    ///
    /// # Errors
    /// When the kernel needs something the machine does not do.
    pub fn new(image: &Image, layout: &KernelLayout) -> Result<Self, LoadError> {
        Self::for_level(image, layout, Level::detect())
    }

    /// Decodes for a given instruction-set level of the host, which it must have.
    ///
    /// # Errors
    /// When the kernel needs something the machine does not do.
    pub fn for_level(image: &Image, layout: &KernelLayout, level: Level) -> Result<Self, LoadError> {
        let level = level.min(Level::detect());
        Decoder::new(image, layout, level).program()
    }

    /// The member mask of a warp-wide operation, when it is a constant.
    #[must_use]
    pub fn members(&self, op: &Op) -> Option<u32> {
        let slot = op.s[MEMBERS];
        let is_constant = slot != NONE && slot & CONST != 0 && op.s_bank[MEMBERS] == Bank::R32;
        self.c32.get((slot & !CONST) as usize).filter(|_| is_constant).map(|lanes| lanes[0])
    }

    /// The operations at which every thread that comes there ends.
    #[must_use]
    pub fn ends(&self) -> Ends {
        let ends = |op: &Op| op.class == Class::Exit && op.guard == NONE;
        Ends((0..).zip(&self.ops).filter(|(_, op)| ends(op)).map(|(pc, _)| pc).collect())
    }

    /// The name of an operation's instruction, for messages.
    #[must_use]
    pub fn place(&self, pc: u32, source: Option<&str>) -> String {
        match self.origins.get(pc as usize) {
            Some(o) => crate::fault::place(&self.image.module, source, o.func, o.inst),
            None => format!("pc {pc}"),
        }
    }
}

/// Where a function's registers and code are.
struct Placed<'i> {
    id: FuncId,
    function: &'i Function,
    allocation: Allocation,
    cfg: Cfg,
    postdoms: PostDominators,
    uniformity: Uniformity,
    likely: LikelyConvergence,
    base32: Slot,
    base64: Slot,
    base_pred: Slot,
    /// First operation.
    entry: u32,
    /// The operation that all `ret` of the function lead to; the `ret` itself when there is one.
    leave: u32,
}

struct Decoder<'i> {
    image: &'i Image,
    layout: &'i KernelLayout,
    level: Level,
    placed: Vec<Placed<'i>>,
    program: Program,
    carry: Option<Slot>,
    /// Constants by value.
    known32: HashMap<u32, Slot>,
    known64: HashMap<u64, Slot>,
}

/// 32-bit registers, or predicates, of a kernel with all functions it may call.
const MOST_REGISTERS: u32 = 1 << 14;

type Decoded<T> = Result<T, LoadError>;

impl<'i> Decoder<'i> {
    fn new(image: &'i Image, layout: &'i KernelLayout, level: Level) -> Self {
        let program = Program {
            image: image.clone(),
            layout: layout.clone(),
            ops: Vec::new(),
            origins: Vec::new(),
            r32: 1, // The frame pointer.
            r64: 0,
            preds: 0,
            sites: Vec::new(),
            matrices: Vec::new(),
            copies: Vec::new(),
            surfaces: Vec::new(),
            entries: HashMap::new(),
            largest_frame: 0,
            level,
            c32: Vec::new(),
            c64: Vec::new(),
            param_consts: Vec::new(),
            specials: Vec::new(),
            tables: Vec::new(),
            frame_pointer: 0,
            reads_undefined: false,
            unwritten: Vec::new(),
        };
        Self {
            image,
            layout,
            level,
            placed: Vec::new(),
            program,
            carry: None,
            known32: HashMap::new(),
            known64: HashMap::new(),
        }
    }

    fn program(mut self) -> Decoded<Program> {
        self.place_functions()?;
        for index in 0..self.placed.len() {
            let function = self.placed[index].function;
            for (id, inst) in function.insts() {
                let op = self.op(index, id, inst)?;
                self.push(op, self.placed[index].id, id);
            }
            let last = InstId(fit(function.insts.len() - 1));
            if self.placed[index].leave as usize == self.program.ops.len() {
                let mut op = self.blank(Class::Return);
                op.hidden = true;
                self.push(op, self.placed[index].id, last);
            }
        }
        Ok(self.program)
    }

    fn push(&mut self, op: Op, func: FuncId, inst: InstId) {
        self.program.ops.push(op);
        self.program.origins.push(Origin { func, inst });
    }

    /// Gives every reachable function its registers and its place in the code.
    fn place_functions(&mut self) -> Decoded<()> {
        let module = &self.image.module;
        let mut next = 0u32;
        let mut base = [1u32, 0, 0];
        for &id in &self.layout.reachable {
            let function = module.func(id);
            let cfg = Cfg::new(function);
            let live = Liveness::new(function, &cfg);
            let allocation = Allocation::new(module, function, &cfg, &live);
            let postdoms = PostDominators::new(&cfg);
            let uniformity = Uniformity::new(module, function, &cfg, &postdoms);
            let likely = LikelyConvergence::new(&cfg);
            let entry: BlockId = cfg.entry();
            let unwritten: Vec<RegId> = live.live_in(entry).iter().map(RegId::from_index).collect();
            self.program.reads_undefined |= function.insts.is_empty() || !unwritten.is_empty();
            let rets: Vec<InstId> =
                function.insts().filter(|(_, i)| i.opcode == Opcode::Ret).map(|(id, _)| id).collect();
            let count: u32 = fit(function.insts.len());
            let single = rets.len() == 1 && function.insts[rets[0].index()].guard.is_none();
            // Branches that meet only at the end of a function meet at one operation: its single
            // `ret`, or a hidden one after it.
            let (leave, size) = match (function.is_entry, single) {
                (true, _) => (NO_PC, count),
                (false, true) => (next + rets[0].0, count),
                (false, false) => (next + count, count + 1),
            };
            let bases = base;
            base[0] += allocation.registers;
            base[1] += allocation.registers.div_ceil(2);
            base[2] += allocation.predicates;
            if base[0].max(base[2]) > MOST_REGISTERS {
                let name = &function.name;
                let text = format!("`{name}` and the functions before it need more than {MOST_REGISTERS} registers");
                return Err(LoadError::Unsupported(text));
            }
            self.placed.push(Placed {
                id,
                function,
                allocation,
                postdoms,
                uniformity,
                likely,
                cfg,
                base32: bases[0],
                base64: bases[1],
                base_pred: bases[2],
                entry: next,
                leave,
            });
            self.enter_function(self.placed.len() - 1, &unwritten);
            next += size;
        }
        [self.program.r32, self.program.r64, self.program.preds] = base;
        self.program.largest_frame = self.program.entries.values().map(|e| e.frame).max().unwrap_or(0);
        Ok(())
    }

    /// Makes the entry of a function that has been placed and may read these registers before it writes them.
    fn enter_function(&mut self, f: usize, unwritten: &[RegId]) {
        let Placed { id, entry, .. } = self.placed[f];
        let first = fit(self.program.unwritten.len());
        for reg in unwritten {
            let place = self.slot(f, *reg);
            self.program.unwritten.push(place);
        }
        let frame = self.layout.frame(id).size;
        self.program.entries.insert(id, Entry { pc: entry, frame, unwritten: (first, fit(unwritten.len())) });
    }

    fn blank(&self, class: Class) -> Op {
        Op {
            kernel: crate::lanes::nop,
            aux: 0,
            target: NO_PC,
            reconverge: NO_PC,
            likely: NO_PC,
            uniform: false,
            d: [NONE; 4],
            s: [NONE; 5],
            guard: NONE,
            guard_flip: 0,
            d_bank: [Bank::Absent; 4],
            s_bank: [Bank::Absent; 5],
            class,
            variant: 0,
            access: Access::default(),
            hidden: false,
        }
    }

    fn op(&mut self, f: usize, id: InstId, inst: &Inst) -> Decoded<Op> {
        let mut op = match inst.opcode {
            Opcode::Ld | Opcode::Ldu => self.load(f, inst)?,
            Opcode::St => self.store(f, inst)?,
            Opcode::Atom | Opcode::Red => self.atomic(f, inst)?,
            Opcode::Tex | Opcode::Tld4 | Opcode::Txq | Opcode::Suq => self.texture(f, inst)?,
            Opcode::Suld | Opcode::Sust => self.surface(f, inst)?,
            Opcode::Bra | Opcode::Brx | Opcode::Call | Opcode::Ret | Opcode::Exit | Opcode::Trap | Opcode::Brkpt => {
                self.control(f, id, inst)?
            }
            Opcode::Bar | Opcode::Barrier => self.barrier(f, inst)?,
            Opcode::Raddle if inst.has(Word::NextTbid) => self.next_block(f, inst)?,
            Opcode::Vote | Opcode::Shfl | Opcode::Match | Opcode::Activemask | Opcode::Redux | Opcode::Elect => {
                self.warp(f, inst)?
            }
            Opcode::Mma | Opcode::Wmma | Opcode::Ldmatrix | Opcode::Stmatrix | Opcode::Movmatrix => {
                self.matrix(f, inst)?
            }
            Opcode::Cp => self.copy(f, inst)?,
            Opcode::Membar
            | Opcode::Fence
            | Opcode::Prefetch
            | Opcode::Prefetchu
            | Opcode::Nanosleep
            | Opcode::Pmevent => self.blank(Class::Nop),
            _ => self.alu(f, inst)?,
        };
        if let Some(guard) = inst.guard {
            op.guard = self.pred_slot(f, guard.reg);
            op.guard_flip = if guard.negated { u32::MAX } else { 0 };
        }
        Ok(op)
    }

    fn reg_type(&self, f: usize, reg: RegId) -> Type {
        self.placed[f].function.reg(reg).ty
    }

    fn pred_slot(&self, f: usize, reg: RegId) -> Slot {
        let p = &self.placed[f];
        p.base_pred + p.allocation.pred[reg.index()].map_or(0, Slot::from)
    }

    /// The file and slot of a register.
    fn slot(&self, f: usize, reg: RegId) -> (Bank, Slot) {
        let p = &self.placed[f];
        match self.reg_type(f, reg) {
            Type::Pred => (Bank::Pred, self.pred_slot(f, reg)),
            ty if ty.bytes() == 8 => (Bank::R64, p.base64 + p.allocation.slot[reg.index()].map_or(0, Slot::from) / 2),
            _ => (Bank::R32, p.base32 + p.allocation.slot[reg.index()].map_or(0, Slot::from)),
        }
    }

    /// A constant source of the file that holds `ty`.
    fn constant(&mut self, bits: u64, ty: Type) -> (Bank, Slot) {
        match ty {
            Type::Pred => (Bank::Pred, CONST | Slot::from(bits & 1 != 0)),
            ty if ty.bytes() == 8 => (Bank::R64, self.constant64(bits)),
            _ => (Bank::R32, self.constant32(low32(bits))),
        }
    }

    fn constant32(&mut self, value: u32) -> Slot {
        *self.known32.entry(value).or_insert_with(|| constant(&mut self.program.c32, value))
    }

    fn constant64(&mut self, value: u64) -> Slot {
        *self.known64.entry(value).or_insert_with(|| constant(&mut self.program.c64, value))
    }

    /// The slot that holds a special register, filled when a thread block starts.
    fn special(&mut self, special: Special, wide: bool) -> (Bank, Slot) {
        let bank = if wide { Bank::R64 } else { Bank::R32 };
        if let Some((_, _, slot)) = self.program.specials.iter().find(|(s, b, _)| *s == special && *b == bank) {
            return (bank, *slot);
        }
        let next = if wide { &mut self.program.r64 } else { &mut self.program.r32 };
        let slot = *next;
        *next += 1;
        self.program.specials.push((special, bank, slot));
        (bank, slot)
    }

    /// The hidden predicate that holds the carry flag.
    fn carry(&mut self) -> Slot {
        let next = &mut self.program.preds;
        *self.carry.get_or_insert_with(|| {
            *next += 1;
            *next - 1
        })
    }

    /// A source operand of type `ty`.
    fn source(&mut self, f: usize, operand: &Operand, ty: Type) -> Decoded<(Bank, Slot)> {
        Ok(match operand {
            Operand::Reg(reg) => self.slot(f, *reg),
            Operand::Not(reg) => (Bank::Pred, self.pred_slot(f, *reg) | NOT),
            Operand::Imm(imm) => self.constant(imm_bits(*imm, ty), ty),
            Operand::Special(special) => self.special(*special, ty.bytes() == 8),
            other => return Err(unexpected(other)),
        })
    }

    fn set_source(&mut self, op: &mut Op, n: usize, f: usize, operand: &Operand, ty: Type) -> Decoded<()> {
        (op.s_bank[n], op.s[n]) = self.source(f, operand, ty)?;
        Ok(())
    }

    /// A destination operand; `_` is none.
    fn set_dest(&mut self, op: &mut Op, n: usize, f: usize, operand: &Operand) -> Decoded<()> {
        match operand {
            Operand::Reg(reg) => (op.d_bank[n], op.d[n]) = self.slot(f, *reg),
            Operand::Sink => {}
            other => return Err(unexpected(other)),
        }
        Ok(())
    }

    /// Both destinations of `d|p`, or the one of `d`.
    fn set_dests(&mut self, op: &mut Op, f: usize, operand: &Operand) -> Decoded<()> {
        match operand {
            Operand::Pair(pair) => {
                self.set_dest(op, 0, f, &pair[0])?;
                self.set_dest(op, 1, f, &pair[1])
            }
            other => self.set_dest(op, 0, f, other),
        }
    }

    fn use_kernels(&self, op: &mut Op, kernels: Kernels) {
        op.kernel = kernels.at(self.level);
    }
}

/// Adds a constant: a plane that holds `value` in every lane.
fn constant<T: Copy>(planes: &mut Vec<[T; LANES]>, value: T) -> Slot {
    let number: Slot = fit(planes.len());
    planes.push([value; LANES]);
    CONST | number
}

fn imm_bits(imm: Imm, ty: Type) -> u64 {
    if ty == Type::Pred
        && let Imm::Int(v) = imm
    {
        return u64::from(v != 0);
    }
    imm.bits(ty)
}

fn unexpected(operand: &Operand) -> LoadError {
    LoadError::Unsupported(format!("operand not supported here: {operand:?}"))
}

/// The operands were checked against the form, but nothing here takes them.
fn malformed(inst: &Inst) -> LoadError {
    LoadError::Unsupported(format!("`{}` has operands that are not supported", inst.mnemonic()))
}
