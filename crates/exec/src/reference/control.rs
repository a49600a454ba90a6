//! Branches, calls and the functions the machine supplies.

use super::step::{Done, Flow, Step, Stop};
use super::thread::{Activation, Registers};
use crate::calls::MAX_STACK_BYTES;
use crate::image::BUILTIN_FUNCTIONS;
use crate::memory::{Global, Region, region};
use crate::{FaultKind, heap, printf};
use raddle_ptx::ir::{FuncId, Operand, VarId};
use raddle_ptx::isa::{Opcode, Type};
use raddle_ptx::num::fit;

/// Strings on the device end here at the latest.
const MAX_STRING: u64 = 1 << 16;

impl Step<'_> {
    pub(super) fn control(&mut self) -> Done<Flow> {
        match self.inst.opcode {
            Opcode::Bra => match self.operand(0) {
                Operand::Label(label) => Ok(Flow::Jump(self.func.label_at(*label))),
                _ => Ok(Flow::Next),
            },
            Opcode::Brx => self.branch_by_table(),
            Opcode::Call => self.call(),
            Opcode::Ret => Ok(self.ret()),
            Opcode::Exit => Ok(Flow::Stop(Stop::Exited)),
            _ => Err(FaultKind::Trap),
        }
    }

    fn branch_by_table(&self) -> Done<Flow> {
        let index = self.value(0, Type::U32)?;
        let Operand::Table(table) = self.operand(1) else { return Ok(Flow::Next) };
        let targets = &self.func.tables[table.index()].targets;
        match usize::try_from(index).ok().and_then(|i| targets.get(i)) {
            Some(label) => Ok(Flow::Jump(self.func.label_at(*label))),
            None => {
                let text = format!("branch index {index} is outside the table of {} targets", targets.len());
                Err(FaultKind::BadTarget(text))
            }
        }
    }

    /// The function a call goes to.
    fn callee(&self) -> Done<FuncId> {
        let (func, address) = match self.operand(1) {
            Operand::Func(func) => (Some(*func), 0),
            operand => {
                let address = self.read(operand, Type::U64)?;
                (self.env.image.function_at(address), address)
            }
        };
        let Some(func) = func else {
            return Err(FaultKind::BadTarget(format!("call to {address:#x}, where no function is")));
        };
        let function = self.env.module.func(func);
        let fits = function.params.len() == variables(self.operand(2)).count()
            && function.returns.len() == variables(self.operand(0)).count();
        let known = is_builtin(function.is_defined, &function.name) || self.env.layout.reachable.contains(&func);
        if function.is_entry || !fits || !known {
            let text = format!("call to `{}`, which is not a function of the prototype", function.name);
            return Err(FaultKind::BadTarget(text));
        }
        Ok(func)
    }

    fn call(&mut self) -> Done<Flow> {
        let callee = self.callee()?;
        let function = self.env.module.func(callee);
        if is_builtin(function.is_defined, &function.name) {
            return self.builtin(&function.name);
        }
        let frame = self.env.layout.frame(callee);
        let own = self.env.layout.frame(self.thread.func);
        let stack = self.thread.stack + own.call_bytes;
        if stack.saturating_add(frame.size) > MAX_STACK_BYTES {
            return Err(FaultKind::StackOverflow);
        }
        let base = self.thread.frame_base + own.size;
        self.thread.stack = stack;
        self.thread.local.grow((base + frame.size) as usize);
        for (argument, param) in variables(self.operand(2)).zip(&function.params) {
            let to = base + frame.offset(*param).unwrap_or(0);
            let bytes = self.env.module.var(argument).size.min(self.env.module.var(*param).size);
            self.pass(argument, to as usize, fit(bytes));
        }
        let registers = Registers::new(function.regs.len(), self.env.launch.report_uninitialised);
        let caller = Activation {
            func: self.thread.func,
            pc: self.thread.pc,
            frame_base: self.thread.frame_base,
            registers: std::mem::replace(&mut self.thread.registers, registers),
        };
        self.thread.callers.push(caller);
        self.thread.func = callee;
        self.thread.frame_base = base;
        self.thread.pc = 0;
        Ok(Flow::Moved)
    }

    /// Copies an argument of the caller into the frame of the callee.
    fn pass(&mut self, argument: VarId, to: usize, bytes: usize) {
        let from: usize = fit(self.var_address(argument));
        if self.is_in_parameters(argument) {
            let params = &self.env.launch.params;
            let end = (from + bytes).min(params.len());
            self.thread.local.write(to, &params[from.min(end)..end]);
        } else {
            self.thread.local.copy_within(from, to, bytes);
        }
    }

    /// Whether a variable is a parameter of the kernel, and not in a frame.
    fn is_in_parameters(&self, var: VarId) -> bool {
        self.thread.func == self.env.layout.kernel && self.env.layout.param(var).is_some()
    }

    /// The value of an argument of a function the machine supplies.
    fn argument(&self, var: VarId) -> u64 {
        let from: usize = fit(self.var_address(var));
        let bytes = match self.is_in_parameters(var) {
            true => self.env.launch.params.get(from..),
            false => self.thread.local.data.get(from..),
        };
        let mut word = [0; 8];
        let size = self.env.module.var(var).size.min(8) as usize;
        for (to, from) in word[..size].iter_mut().zip(bytes.unwrap_or_default()) {
            *to = *from;
        }
        u64::from_le_bytes(word)
    }

    fn ret(&mut self) -> Flow {
        let Some(caller) = self.thread.callers.pop() else { return Flow::Stop(Stop::Exited) };
        let (callee, base) = (self.thread.func, self.thread.frame_base);
        self.thread.func = caller.func;
        self.thread.pc = caller.pc + 1;
        self.thread.frame_base = caller.frame_base;
        self.thread.stack -= self.env.layout.frame(caller.func).call_bytes;
        self.thread.registers = caller.registers;
        let call = &self.env.module.func(caller.func).insts[caller.pc as usize];
        let results = call.operands.first().unwrap_or(&Operand::Sink);
        for (result, value) in variables(results).zip(&self.env.module.func(callee).returns) {
            let from = base + self.env.layout.frame(callee).offset(*value).unwrap_or(0);
            let bytes = self.env.module.var(result).size.min(self.env.module.var(*value).size);
            if self.is_in_parameters(result) {
                continue;
            }
            let to = self.var_address(result);
            self.thread.local.copy_within(from as usize, fit(to), fit(bytes));
        }
        Flow::Moved
    }

    fn builtin(&mut self, name: &str) -> Done<Flow> {
        let arguments: Vec<u64> = variables(self.operand(2)).map(|v| self.argument(v)).collect();
        let argument = |i: usize| arguments.get(i).copied().unwrap_or(0);
        if name == "__assertfail" {
            let text = |i: usize| String::from_utf8_lossy(&self.string(argument(i)).unwrap_or_default()).into_owned();
            let (message, file, line, function) = (text(0), text(1), argument(2), text(3));
            return Err(FaultKind::Assert(format!("{file}:{line}: {function}: assertion `{message}` failed")));
        }
        if name == "malloc" || name == "free" {
            let result = match name {
                "malloc" => heap::malloc(&mut Global::Direct(self.memory), argument(0), self.env.launch.heap_bytes)?,
                _ => heap::free(&mut Global::Direct(self.memory), argument(0)).map(|()| 0)?,
            };
            self.give_result(result);
            return Ok(Flow::Next);
        }
        let Some(format) = self.string(argument(0)) else {
            return Err(FaultKind::Memory(format!("the format of vprintf at {:#x} cannot be read", argument(0))));
        };
        let (count, bytes) = printf::arguments(&format);
        let Some(buffer) = self.bytes(argument(1), bytes) else {
            return Err(FaultKind::Memory(format!("the arguments of vprintf at {:#x} cannot be read", argument(1))));
        };
        let line = printf::format(&format, &buffer, |at| self.string(at));
        printf::keep(&mut self.report.output, &line);
        self.give_result(count as u64);
        Ok(Flow::Next)
    }

    /// Writes what a function of the machine returns.
    fn give_result(&mut self, value: u64) {
        if let Some(result) = variables(self.operand(0)).next().filter(|v| !self.is_in_parameters(*v)) {
            let at = fit(self.var_address(result));
            let size = self.env.module.var(result).size.min(8) as usize;
            self.thread.local.write(at, &value.to_le_bytes()[..size]);
        }
    }

    /// One byte at a generic address, however it came there.
    fn byte(&self, address: u64) -> Option<u8> {
        let at = |bytes: &[u8], i: u64| bytes.get(usize::try_from(i).ok()?).copied();
        match region(address) {
            Region::Global(a) => {
                let (index, offset) = self.memory.find(a, 1).ok()?;
                Some(self.memory.bytes(index)[offset])
            }
            Region::Shared(a) => at(&self.shared.data, a),
            Region::Local(a) => at(&self.thread.local.data, a),
            Region::Const(a) => at(&self.env.image.const_bank, a),
            Region::Param(a) => at(&self.env.launch.params, a),
        }
    }

    fn bytes(&self, address: u64, count: usize) -> Option<Vec<u8>> {
        (0..count as u64).map(|i| self.byte(address.wrapping_add(i))).collect()
    }

    /// The string at a generic address, without its end mark.
    fn string(&self, address: u64) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        for i in 0..MAX_STRING {
            match self.byte(address.wrapping_add(i))? {
                0 => return Some(text),
                byte => text.push(byte),
            }
        }
        Some(text)
    }
}

fn is_builtin(is_defined: bool, name: &str) -> bool {
    !is_defined && BUILTIN_FUNCTIONS.contains(&name)
}

/// The variables in the argument or result list of a call.
fn variables(list: &Operand) -> impl Iterator<Item = VarId> {
    let items = match list {
        Operand::List(items) => items.as_slice(),
        _ => &[],
    };
    items.iter().filter_map(|o| match o {
        Operand::VarAddress(var, _) => Some(*var),
        _ => None,
    })
}
