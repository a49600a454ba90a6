//! Loads, stores, atomics and address conversion.

use super::float::{Format, Operation, arithmetic};
use super::integer::{cut, number};
use super::step::{Done, Step, low_mask};
use super::thread::Bytes;
use crate::image::window;
use crate::memory::{AccessError, Region, region};
use crate::{FaultKind, ThreadId};
use raddle_ptx::ir::{Address, Base, InstId, Operand, Space};
use raddle_ptx::isa::{Opcode, Type, Word};
use raddle_ptx::num::fit;
use rustc_apfloat::Round;

/// Bytes of one access; the widest is a vector of four 64-bit values.
type Buffer = [u8; 32];

/// Why memory cannot be accessed.
enum Wrong {
    /// It is not there.
    Outside(String),
    Other(String),
}

impl From<Wrong> for FaultKind {
    fn from(wrong: Wrong) -> Self {
        let (Wrong::Outside(text) | Wrong::Other(text)) = wrong;
        Self::Memory(text)
    }
}

impl From<AccessError> for Wrong {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::Outside { .. } => Self::Outside(error.to_string()),
            _ => Self::Other(error.to_string()),
        }
    }
}

/// Checks bounds and alignment in a memory that is one piece.
fn check(what: &str, owner: &str, at: u64, bytes: usize, size: u64) -> Result<usize, Wrong> {
    if !at.is_multiple_of(bytes as u64) {
        return Err(AccessError::Misaligned { address: at, bytes: fit(bytes) }.into());
    }
    match at.checked_add(bytes as u64) {
        Some(end) if end <= size => Ok(fit(at)),
        _ => {
            let text = format!("{what} access of {bytes} bytes at {at:#x} is outside {owner} {size} bytes");
            Err(Wrong::Outside(text))
        }
    }
}

fn read_bytes(memory: &Bytes, what: &str, owner: &str, at: u64, into: &mut [u8]) -> Result<(), Wrong> {
    let start = check(what, owner, at, into.len(), memory.len())?;
    if let Some(unwritten) = memory.first_unwritten(start, into.len()) {
        return Err(Wrong::Other(format!("read of {what} never written at {unwritten:#x}")));
    }
    into.copy_from_slice(&memory.data[start..start + into.len()]);
    Ok(())
}

impl Step<'_> {
    pub(super) fn memory_access(&mut self) -> Done<()> {
        match self.inst.opcode {
            Opcode::Ld | Opcode::Ldu => self.load(),
            Opcode::St => self.store(),
            Opcode::Atom | Opcode::Red => self.atomic(),
            Opcode::Cp => self.copy(),
            Opcode::Cvta => {
                let ty = self.inst.ty();
                let shift = self.inst.space().map_or(0, window);
                let value = self.value(1, ty)?;
                let to = self.inst.has(Word::To);
                self.write(0, ty, if to { value.wrapping_sub(shift) } else { value.wrapping_add(shift) });
                Ok(())
            }
            _ => {
                let ty = if self.env.module.address_size == 64 { Type::B64 } else { Type::B32 };
                let inside = match region(self.value(1, ty)?) {
                    Region::Shared(_) => Space::Shared,
                    Region::Local(_) => Space::Local,
                    Region::Const(_) => Space::Const,
                    Region::Param(_) => Space::Param,
                    Region::Global(_) => Space::Global,
                };
                self.write(0, Type::Pred, (self.inst.space() == Some(inside)).into());
                Ok(())
            }
        }
    }

    /// Where a memory operand points.
    pub(super) fn target(&self, operand: &Operand) -> Done<Region> {
        self.target_in(operand, self.inst.space())
    }

    /// The same in a state space.
    fn target_in(&self, operand: &Operand, space: Option<Space>) -> Done<Region> {
        let Operand::Memory(Address { base, offset }) = operand else { return Ok(Region::Global(0)) };
        let start = match base {
            Base::Reg(reg) => self.register(*reg)?,
            Base::Var(var) => self.var_address(*var),
            Base::Absolute => 0,
        };
        let mut at = start.wrapping_add_signed(*offset);
        if let Base::Reg(reg) = base
            && self.func.reg(*reg).ty.bits() == 32
        {
            at &= low_mask(32);
        }
        Ok(match space {
            None | Some(Space::Reg) => region(at),
            Some(Space::Global | Space::Tex) => Region::Global(at),
            Some(Space::Shared) => Region::Shared(at),
            Some(Space::Local) => Region::Local(at),
            Some(Space::Const) => Region::Const(at),
            Some(Space::Param) if self.is_kernel_param(*base) => Region::Param(at),
            Some(Space::Param) => Region::Local(at),
        })
    }

    /// Whether an address in the parameter space means the kernel's parameters. The alternative is the
    /// frame, where parameters of functions and call arguments live.
    fn is_kernel_param(&self, base: Base) -> bool {
        let in_kernel = self.thread.func == self.env.layout.kernel;
        match base {
            Base::Var(var) => in_kernel && self.env.layout.param(var).is_some(),
            _ => in_kernel && self.inst.opcode != Opcode::St && !self.inst.has(Word::ParamFunc),
        }
    }

    /// Reads for an instruction; those outside of memory give zero if the launch notes them, but for the ones of atomics,
    /// which write to the same place.
    pub(super) fn read_memory(&self, from: Region, into: &mut [u8]) -> Done<()> {
        let writes = matches!(self.inst.opcode, Opcode::Atom | Opcode::Red);
        match (self.try_read(from, into), &self.env.launch.outside_reads) {
            (Err(Wrong::Outside(text)), Some(reads)) if !writes => {
                into.fill(0);
                let thread = ThreadId { cta: self.cta, thread: self.thread.coords };
                reads.add(thread, (self.thread.func, InstId(self.thread.pc)), || text);
                Ok(())
            }
            (read, _) => Ok(read?),
        }
    }

    fn try_read(&self, from: Region, into: &mut [u8]) -> Result<(), Wrong> {
        match from {
            Region::Global(at) => {
                let (index, offset) = self.memory.check_read(at, fit(into.len()))?;
                into.copy_from_slice(&self.memory.bytes(index)[offset..offset + into.len()]);
                Ok(())
            }
            Region::Shared(at) => read_bytes(self.shared, "shared memory", "the block's", at, into),
            Region::Local(at) => read_bytes(&self.thread.local, "local memory", "the thread's", at, into),
            Region::Const(at) => {
                let bank = &self.env.image.const_bank;
                let start = check("constant memory", "the module's", at, into.len(), bank.len() as u64)?;
                into.copy_from_slice(&bank[start..start + into.len()]);
                Ok(())
            }
            Region::Param(at) => {
                let params = &self.env.launch.params;
                let start = check("parameter", "the kernel's", at, into.len(), params.len() as u64)?;
                into.copy_from_slice(&params[start..start + into.len()]);
                Ok(())
            }
        }
    }

    pub(super) fn write_memory(&mut self, to: Region, from: &[u8]) -> Done<()> {
        let read_only =
            |what: &str, at: u64| Err(FaultKind::Memory(format!("write of {} bytes at {at:#x} to {what}", from.len())));
        match to {
            Region::Global(at) => {
                let (index, offset) = self.memory.check_write(at, fit(from.len())).map_err(Wrong::from)?;
                self.memory.bytes_mut(index)[offset..offset + from.len()].copy_from_slice(from);
                self.memory.mark_written(index, offset, from.len());
            }
            Region::Shared(at) => {
                let start = check("shared memory", "the block's", at, from.len(), self.shared.len())?;
                self.shared.write(start, from);
            }
            Region::Local(at) => {
                let start = check("local memory", "the thread's", at, from.len(), self.thread.local.len())?;
                self.thread.local.write(start, from);
            }
            Region::Const(at) => return read_only("constant memory", at),
            Region::Param(at) => return read_only("the kernel's parameters", at),
        }
        Ok(())
    }

    fn load(&mut self) -> Done<()> {
        let ty = self.inst.ty();
        let (each, count) = (ty.bytes() as usize, self.inst.vector_width());
        let from = self.target(self.operand(1))?;
        let mut buffer = Buffer::default();
        self.read_memory(from, &mut buffer[..each * count])?;
        let element = |i: usize| {
            let mut word = [0; 8];
            word[..each].copy_from_slice(&buffer[i * each..(i + 1) * each]);
            u64::from_le_bytes(word)
        };
        match self.operand(0) {
            Operand::Vector(parts) if count > 1 => {
                for (i, part) in parts.iter().enumerate().take(count) {
                    self.put(part, ty, element(i));
                }
            }
            to => self.put(to, ty, element(0)),
        }
        Ok(())
    }

    fn store(&mut self) -> Done<()> {
        let ty = self.inst.ty();
        let (each, count) = (ty.bytes() as usize, self.inst.vector_width());
        let to = self.target(self.operand(0))?;
        let mut buffer = Buffer::default();
        let one = std::slice::from_ref(self.operand(1));
        let parts = match self.operand(1) {
            Operand::Vector(parts) if count > 1 => parts.as_slice(),
            _ => one,
        };
        for (i, part) in parts.iter().enumerate().take(count) {
            let word = self.read(part, ty)?.to_le_bytes();
            buffer[i * each..(i + 1) * each].copy_from_slice(&word[..each]);
        }
        self.write_memory(to, &buffer[..each * count])
    }

    /// `cp.async`: a copy at once; what waits for copies does nothing.
    fn copy(&mut self) -> Done<()> {
        if !self.inst.has(Word::Shared) && !self.inst.has(Word::SharedCta) {
            return Ok(());
        }
        let to = self.target_in(self.operand(0), self.inst.space_at(0))?;
        let from = self.target_in(self.operand(1), self.inst.space_at(1))?;
        let size: usize = fit(self.value(2, Type::U32)?);
        let wanted = match self.inst.operands.get(3) {
            None => size,
            Some(Operand::Not(_)) => {
                if self.value(3, Type::Pred)? != 0 {
                    0
                } else {
                    size
                }
            }
            Some(Operand::Reg(reg)) if self.func.reg(*reg).ty == Type::Pred => {
                if self.value(3, Type::Pred)? != 0 {
                    0
                } else {
                    size
                }
            }
            Some(_) => size.min(fit(self.value(3, Type::U32)?)),
        };
        let Region::Global(start) = from else { return Ok(()) };
        if wanted > 0 && !start.is_multiple_of(size as u64) {
            return Err(Wrong::from(AccessError::Misaligned { address: start, bytes: fit(size) }).into());
        }
        let mut buffer = Buffer::default();
        let access = if wanted == size { size } else { 1 };
        for (at, part) in (start..).step_by(access).zip(buffer[..wanted].chunks_mut(access)) {
            self.read_memory(Region::Global(at), part)?;
        }
        self.write_memory(to, &buffer[..size])
    }

    /// `atom` and `red`: read, compute, write, with nothing in between.
    fn atomic(&mut self) -> Done<()> {
        let ty = self.inst.ty();
        // `atom` has a destination in front of the address.
        let at = usize::from(self.inst.opcode == Opcode::Atom);
        let place = self.target(self.operand(at))?;
        let b = self.value(at + 1, ty)?;
        let c = if self.inst.has(Word::Cas) { self.value(at + 2, ty)? } else { 0 };
        let bytes = ty.bytes() as usize;
        let mut word = [0; 8];
        self.read_memory(place, &mut word[..bytes])?;
        let old = u64::from_le_bytes(word);
        let new = self.combined(ty, old, b, c, place);
        self.write_memory(place, &new.to_le_bytes()[..bytes])?;
        if at == 1 {
            self.write(0, ty, old);
        }
        Ok(())
    }

    /// The new value of a word an atomic operation works on.
    fn combined(&self, ty: Type, old: u64, b: u64, c: u64, place: Region) -> u64 {
        let names = [
            Word::And,
            Word::Or,
            Word::Xor,
            Word::Exch,
            Word::Cas,
            Word::Add,
            Word::Inc,
            Word::Dec,
            Word::Min,
            Word::Max,
        ];
        let (x, y) = (number(old, ty), number(b, ty));
        match self.inst.first_of(&names) {
            Some(Word::And) => old & b,
            Some(Word::Or) => old | b,
            Some(Word::Xor) => old ^ b,
            Some(Word::Cas) => {
                if old == b {
                    c
                } else {
                    old
                }
            }
            Some(Word::Add) if ty.is_float() => add_floats(ty, old, b, place),
            Some(Word::Add) => cut(x + y, ty.bits()),
            Some(Word::Inc) => {
                if old >= b {
                    0
                } else {
                    old + 1
                }
            }
            Some(Word::Dec) => {
                if old == 0 || old > b {
                    b
                } else {
                    old - 1
                }
            }
            Some(Word::Min) => cut(x.min(y), ty.bits()),
            Some(Word::Max) => cut(x.max(y), ty.bits()),
            _ => b,
        }
    }
}

/// The sum rounded to nearest even. As the ISA says of `atom.add.f32`: subnormal numbers are flushed in
/// global memory and kept in shared memory.
fn add_floats(ty: Type, a: u64, b: u64, place: Region) -> u64 {
    let (format, count) = Format::of(ty);
    let flushes = ty == Type::F32 && matches!(place, Region::Global(_));
    let flush = |v: u64| if flushes { format.flush(v) } else { v };
    let mut sum = 0;
    for i in 0..count {
        let at = i * format.bits();
        let lane = |v: u64| flush(v >> at & low_mask(format.bits()));
        let value = arithmetic(format, Operation::Add, &[lane(a), lane(b)], Round::NearestTiesToEven);
        sum |= flush(value) << at;
    }
    sum
}
