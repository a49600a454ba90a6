//! Calls, returns, branch tables and the functions the machine supplies.
//!
//! Return addresses and stack frames belong to threads. A callee's frame starts where its caller's
//! ends; arguments are copied into it and return values out of it.

use super::{Core, Effect, Home, Issue, LaneFault, Lanes, Row, lanes_in};
use crate::atomics::AtomicWork;
use crate::calls::MAX_STACK_BYTES;
use crate::decode::{Argument, Builtin, CallSite, Entry, SavedRegs};
use crate::fault::FaultKind;
use crate::heap;
use crate::lanes::LANES;
use crate::memory::{Global, Region, region};
use crate::op::Op;
use crate::printf;
use raddle_ptx::num::{fit, low8, low32};

/// Strings longer than this are cut.
const MAX_STRING: usize = 64 * 1024;

impl Core<'_> {
    pub(super) fn branch_table(&mut self, Issue { op, row, mask, .. }: Issue<'_>) -> Result<Effect, LaneFault> {
        let program = self.program;
        let table = &program.tables[fit::<usize, _>(op.aux)];
        for lane in lanes_in(mask) {
            let index = self.file.get(row, op.s[0], op.s_bank[0], lane);
            let Some(target) = usize::try_from(index).ok().and_then(|i| table.get(i)) else {
                let text = format!("branch index {index} is outside the table of {}", table.len());
                return Err(LaneFault { lane, kind: FaultKind::BadTarget(text) });
            };
            self.targets[lane] = *target;
        }
        Ok(Effect::Scatter)
    }

    pub(super) fn call(&mut self, memory: &mut Global<'_>, issue: Issue<'_>) -> Result<Effect, LaneFault> {
        let Issue { op, lanes, row, mask } = issue;
        let program = self.program;
        let site = &program.sites[op.target as usize];
        if let Some(builtin) = site.builtin {
            for lane in lanes_in(mask) {
                self.builtin(memory, builtin, site, lanes, lane)?;
            }
            return Ok(Effect::Next);
        }
        for lane in lanes_in(mask) {
            let entry = match site.entry {
                Some(entry) => entry,
                None => {
                    let address = self.file.get(row, op.s[0], op.s_bank[0], lane);
                    self.indirect(address).map_err(|kind| LaneFault { lane, kind })?
                }
            };
            self.targets[lane] = entry.pc;
            self.enter(op.target, site, entry, lanes, lane)?;
        }
        Ok(Effect::Depth(1))
    }

    fn indirect(&self, address: u64) -> Result<Entry, FaultKind> {
        let program = self.program;
        let entry = program.image.function_at(address).and_then(|f| program.entries.get(&f));
        entry.copied().ok_or_else(|| FaultKind::BadTarget(format!("{address:#x} is not the address of a function")))
    }

    fn frame_pointer(&mut self, lanes: Lanes<'_>, lane: usize) -> &mut u32 {
        let home = lanes.home(lane);
        let slot = self.program.frame_pointer as usize;
        &mut self.file.row(home.row).r32[slot][usize::from(home.lane)]
    }

    fn enter(
        &mut self,
        number: u32,
        site: &CallSite,
        entry: Entry,
        lanes: Lanes<'_>,
        lane: usize,
    ) -> Result<(), LaneFault> {
        let home = lanes.home(lane);
        let (row, own) = (home.row as usize, usize::from(home.lane));
        let frame = *self.frame_pointer(lanes, lane);
        let callee = frame + site.frame_size;
        let stack = self.rows[row].stack[own] + site.call_bytes;
        if stack.saturating_add(entry.frame) > MAX_STACK_BYTES {
            return Err(LaneFault { lane, kind: FaultKind::StackOverflow });
        }
        self.rows[row].stack[own] = stack;
        // Room for the largest frame: what is passed may be more than the callee takes.
        self.rows[row].local.grow(callee + self.program.largest_frame);
        for arg in &site.args {
            if arg.is_kernel_parameter {
                self.copy_parameter(row, own, *arg, callee);
            } else {
                self.copy_local(row, own, frame + arg.from, callee + arg.to, arg.bytes);
            }
        }
        if let Some(saved) = &site.saved {
            self.save(row, own, saved.clone());
        }
        // Registers that were never written are zero in each call.
        let (first, count) = entry.unwritten;
        for &(bank, slot) in self.program.unwritten.iter().skip(first as usize).take(count as usize) {
            self.file.put(home.row, slot, bank, own, 0);
        }
        *self.frame_pointer(lanes, lane) = callee;
        let Row { calls, depth, .. } = &mut self.rows[row];
        let place = depth[own] as usize;
        depth[own] += 1;
        if calls.len() <= place {
            calls.push([0; LANES]);
        }
        calls[place][own] = number;
        Ok(())
    }

    pub(super) fn ret(&mut self, Issue { lanes, mask, .. }: Issue<'_>) -> Result<Effect, LaneFault> {
        let program = self.program;
        for lane in lanes_in(mask) {
            let home = lanes.home(lane);
            let (row, own) = (home.row as usize, usize::from(home.lane));
            let Row { calls, depth, stack, .. } = &mut self.rows[row];
            depth[own] -= 1;
            let site = &program.sites[calls[depth[own] as usize][own] as usize];
            stack[own] -= site.call_bytes;
            let callee = *self.frame_pointer(lanes, lane);
            let frame = callee - site.frame_size;
            for &(from, to, bytes) in &site.returns {
                self.copy_local(row, own, callee + from, frame + to, bytes);
            }
            if let Some(saved) = &site.saved {
                self.restore(row, own, saved.clone());
            }
            *self.frame_pointer(lanes, lane) = frame;
            self.targets[lane] = site.return_pc;
        }
        Ok(Effect::Depth(-1))
    }

    fn copy_local(&mut self, row: usize, lane: usize, from: u32, to: u32, bytes: u32) {
        let local = &mut self.rows[row].local;
        for i in 0..u64::from(bytes) {
            let byte = local.read(u64::from(from) + i, 1, lane);
            local.write(u64::from(to) + i, 1, lane, byte);
        }
    }

    /// Passes a parameter of the kernel on.
    fn copy_parameter(&mut self, row: usize, lane: usize, arg: Argument, callee: u32) {
        let params = self.launch.params.iter().skip(arg.from as usize).take(arg.bytes as usize);
        for (byte, to) in params.zip(u64::from(callee + arg.to)..) {
            self.rows[row].local.write(to, 1, lane, u64::from(*byte));
        }
    }

    /// Keeps the caller's registers: a function that calls itself uses the same slots again.
    fn save(&mut self, row: usize, lane: usize, range: SavedRegs) {
        let regs = self.file.row(fit(row));
        let saved = &mut self.rows[row].saved;
        saved.resize_with(LANES, Vec::new);
        let stack = &mut saved[lane];
        stack.extend(regs.r32[range.r32].iter().map(|plane| plane[lane]));
        stack.extend(regs.r64[range.r64].iter().flat_map(|plane| [low32(plane[lane]), low32(plane[lane] >> 32)]));
        stack.extend(regs.preds[range.preds].iter().map(|bits| bits >> lane & 1));
    }

    fn restore(&mut self, row: usize, lane: usize, range: SavedRegs) {
        let regs = self.file.row(fit(row));
        let stack = &mut self.rows[row].saved[lane];
        let mut pop = || stack.pop().unwrap_or(0);
        for bits in regs.preds[range.preds].iter_mut().rev() {
            *bits = *bits & !(1 << lane) | pop() << lane;
        }
        for plane in regs.r64[range.r64].iter_mut().rev() {
            let high = pop();
            plane[lane] = u64::from(high) << 32 | u64::from(pop());
        }
        for plane in regs.r32[range.r32].iter_mut().rev() {
            plane[lane] = pop();
        }
    }

    /// An argument of a function the machine supplies, of at most eight bytes.
    fn argument(&self, site: &CallSite, n: usize, home: Home, frame: u32) -> u64 {
        let Argument { from, is_kernel_parameter, bytes, .. } = site.args.get(n).copied().unwrap_or_default();
        if is_kernel_parameter {
            let bytes = self.launch.params.iter().skip(from as usize).take(bytes.min(8) as usize);
            return bytes.rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
        }
        let local = &self.rows[home.row as usize].local;
        local.read(u64::from(frame + from), low8(bytes.min(8).into()), usize::from(home.lane))
    }

    /// What such a function returns, if the program wants it.
    fn return_value(&mut self, site: &CallSite, lanes: Lanes<'_>, lane: usize, value: u64) {
        let Some(&(_, to, bytes)) = site.returns.first() else { return };
        let (home, frame) = (lanes.home(lane), *self.frame_pointer(lanes, lane));
        let local = &mut self.rows[home.row as usize].local;
        local.write(u64::from(frame + to), low8(bytes.min(8).into()), usize::from(home.lane), value);
    }

    /// `malloc` or `free`, to be done at memory: puts the lanes of `mask` into `work`, with the heap as their address.
    pub fn prepare_heap_call(
        &mut self,
        memory: &Global<'_>,
        op: &Op,
        lanes: Lanes<'_>,
        mask: u32,
        work: &mut AtomicWork,
    ) {
        let site = &self.program.sites[op.target as usize];
        let address = [heap::address(memory.image()); LANES];
        *work = AtomicWork { mask, bytes: 8, address, heap: site.heap_call(), ..AtomicWork::default() };
        for lane in lanes_in(mask) {
            let frame = *self.frame_pointer(lanes, lane);
            work.b[lane] = self.argument(site, 0, lanes.home(lane), frame);
        }
    }

    /// The threads of such a call get what it returned.
    pub(super) fn finish_heap_call(&mut self, op: &Op, lanes: Lanes<'_>, work: &AtomicWork) {
        let site = &self.program.sites[op.target as usize];
        for lane in lanes_in(work.mask) {
            self.return_value(site, lanes, lane, work.old[lane]);
        }
    }

    fn builtin(
        &mut self,
        memory: &mut Global<'_>,
        builtin: Builtin,
        site: &CallSite,
        lanes: Lanes<'_>,
        lane: usize,
    ) -> Result<(), LaneFault> {
        let frame = *self.frame_pointer(lanes, lane);
        let argument = |core: &Self, n: usize| core.argument(site, n, lanes.home(lane), frame);
        let text = |core: &Self, address: u64| core.string(memory, address, lanes, lane);
        match builtin {
            Builtin::Malloc | Builtin::Free => {
                let result = match builtin {
                    Builtin::Malloc => heap::malloc(memory, argument(self, 0), self.launch.heap_bytes),
                    _ => heap::free(memory, argument(self, 0)).map(|()| 0),
                };
                let address = result.map_err(|kind| LaneFault { lane, kind })?;
                self.return_value(site, lanes, lane, address);
                Ok(())
            }
            Builtin::Vprintf => {
                let (format_at, args_at) = (argument(self, 0), argument(self, 1));
                let Some(format) = text(self, format_at) else {
                    let kind = FaultKind::Memory(format!("the format of vprintf at {format_at:#x} cannot be read"));
                    return Err(LaneFault { lane, kind });
                };
                let (count, bytes) = printf::arguments(&format);
                let args: Option<Vec<u8>> =
                    (0..bytes as u64).map(|i| self.byte(memory, args_at.wrapping_add(i), lanes, lane)).collect();
                let Some(args) = args else {
                    let kind = FaultKind::Memory(format!("the arguments of vprintf at {args_at:#x} cannot be read"));
                    return Err(LaneFault { lane, kind });
                };
                let line = printf::format(&format, &args, |at| text(self, at));
                printf::keep(&mut self.output, &line);
                self.return_value(site, lanes, lane, count as u64);
                Ok(())
            }
            Builtin::AssertFail => {
                let part = |n: usize| {
                    let bytes = text(self, argument(self, n)).unwrap_or_default();
                    String::from_utf8_lossy(&bytes).into_owned()
                };
                let line = argument(self, 2);
                let text = format!("{} ({}:{line}, in {})", part(0), part(1), part(3));
                Err(LaneFault { lane, kind: FaultKind::Assert(text) })
            }
        }
    }

    /// The byte at a generic address, as the thread in `lane` sees it.
    fn byte(&self, memory: &Global<'_>, address: u64, lanes: Lanes<'_>, lane: usize) -> Option<u8> {
        let home = lanes.home(lane);
        let row = &self.rows[home.row as usize];
        let at = |bytes: &[u8], offset: u64| bytes.get(usize::try_from(offset).ok()?).copied();
        match region(address) {
            Region::Global(a) => {
                let (index, offset) = memory.image().find(a, 1).ok()?;
                let byte = memory.image().bytes(index)[offset];
                Some(memory.pending().map_or(byte, |log| low8(log.patch(a, 1, u64::from(byte)))))
            }
            Region::Shared(a) => at(&self.ctas[row.cta as usize].shared, a),
            Region::Local(a) => row.local.read_byte(a, usize::from(home.lane)),
            Region::Const(a) => at(&self.program.image.const_bank, a),
            Region::Param(a) => at(&self.launch.params, a),
        }
    }

    fn string(&self, memory: &Global<'_>, address: u64, lanes: Lanes<'_>, lane: usize) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        while text.len() < MAX_STRING {
            match self.byte(memory, address.wrapping_add(text.len() as u64), lanes, lane)? {
                0 => break,
                byte => text.push(byte),
            }
        }
        Some(text)
    }
}
