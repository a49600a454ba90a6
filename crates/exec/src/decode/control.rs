//! Branches, calls, returns.

use super::{Argument, Builtin, CallSite, Decoded, Decoder, SavedRegs, malformed};
use crate::image::{LoadError, abi_offsets, frame_bytes};
use crate::op::{Class, NO_PC, Op, Slot};
use raddle_ptx::ir::{FuncId, Inst, InstId, LabelId, Operand, VarId};
use raddle_ptx::isa::{Opcode, Type};
use raddle_ptx::num::fit;

impl Decoder<'_> {
    pub(super) fn control(&mut self, f: usize, id: InstId, inst: &Inst) -> Decoded<Op> {
        match inst.opcode {
            Opcode::Bra => {
                let mut op = self.blank(Class::Branch);
                let Some(Operand::Label(label)) = inst.operands.first() else { return Err(malformed(inst)) };
                op.target = self.label(f, *label);
                self.set_meeting(&mut op, f, id);
                Ok(op)
            }
            Opcode::Brx => {
                let mut op = self.blank(Class::BranchTable);
                let [index, Operand::Table(table)] = &inst.operands[..] else { return Err(malformed(inst)) };
                self.set_source(&mut op, 0, f, index, Type::U32)?;
                let labels = &self.placed[f].function.tables[table.index()].targets;
                let targets = labels.iter().map(|l| self.label(f, *l)).collect();
                op.aux = self.program.tables.len() as u64;
                self.program.tables.push(targets);
                self.set_meeting(&mut op, f, id);
                Ok(op)
            }
            Opcode::Call => self.call(f, id, inst),
            Opcode::Ret if !self.placed[f].function.is_entry => Ok(self.ret(f, id)),
            Opcode::Ret | Opcode::Exit => {
                let mut op = self.blank(Class::Exit);
                op.reconverge = self.reconvergence(f, id);
                Ok(op)
            }
            _ => Ok(self.blank(Class::Trap)),
        }
    }

    fn label(&self, f: usize, label: LabelId) -> u32 {
        self.placed[f].entry + self.placed[f].function.label_at(label).0
    }

    /// Whether threads can diverge at a branch, and where they reconverge.
    fn set_meeting(&self, op: &mut Op, f: usize, id: InstId) {
        let placed = &self.placed[f];
        op.reconverge = self.reconvergence(f, id);
        op.uniform = placed.uniformity.is_uniform(id);
        let likely = placed.likely.of(&placed.cfg, &placed.postdoms, id);
        op.likely = likely.map_or(NO_PC, |inst| placed.entry + inst.0);
    }

    /// The operation at which threads that diverge here reconverge.
    fn reconvergence(&self, f: usize, id: InstId) -> u32 {
        let placed = &self.placed[f];
        match placed.postdoms.reconvergence(id) {
            Some(inst) => placed.entry + inst.0,
            // In a function, the end is where it returns.
            None => placed.leave,
        }
    }

    /// Of several `ret` in a function each leads to the one operation that returns.
    fn ret(&self, f: usize, id: InstId) -> Op {
        let placed = &self.placed[f];
        if placed.leave == placed.entry + id.0 {
            return self.blank(Class::Return);
        }
        let mut op = self.blank(Class::Branch);
        op.target = placed.leave;
        op.reconverge = placed.leave;
        op
    }

    fn call(&mut self, f: usize, id: InstId, inst: &Inst) -> Decoded<Op> {
        let [Operand::List(returns), target, Operand::List(args), ..] = &inst.operands[..] else {
            return Err(malformed(inst));
        };
        let variables = |list: &[Operand]| -> Vec<VarId> {
            let var = |o: &Operand| match o {
                Operand::VarAddress(v, _) => Some(*v),
                _ => None,
            };
            list.iter().filter_map(var).collect()
        };
        let (returns, args) = (variables(returns), variables(args));
        let mut op = self.blank(Class::Call);
        op.target = fit(self.program.sites.len());
        // Lanes that call different functions reconverge after the call.
        op.reconverge = self.placed[f].entry + id.0 + 1;
        let frame = self.layout.frame(self.placed[f].id);
        let mut site = CallSite {
            return_pc: self.placed[f].entry + id.0 + 1,
            frame_size: frame.size,
            call_bytes: frame.call_bytes,
            ..CallSite::default()
        };
        let offsets = match target {
            Operand::Func(callee) => {
                site.builtin = self.builtin(*callee)?;
                site.entry = self.program.entries.get(callee).copied();
                self.shape(*callee)
            }
            Operand::Reg(reg) => {
                (op.s_bank[0], op.s[0]) = self.slot(f, *reg);
                let sizes = |v: &VarId| {
                    let var = self.image.module.var(*v);
                    (var.size, var.align)
                };
                abi_offsets(returns.iter().chain(&args).map(sizes))
            }
            _ => return Err(malformed(inst)),
        };
        let place = |v: &VarId| frame.offset(*v).unwrap_or(0);
        let bytes = |v: &VarId| frame_bytes(self.image.module.var(*v).size);
        // Parameters of the kernel are not in its frame, and cannot be written.
        for (n, v) in returns.iter().enumerate().filter(|(_, v)| self.layout.param(**v).is_none()) {
            site.returns.push((offsets[n], place(v), bytes(v)));
        }
        for (n, v) in args.iter().enumerate() {
            let param = self.layout.param(*v);
            site.args.push(Argument {
                from: param.map_or(place(v), |param| param.offset),
                is_kernel_parameter: param.is_some(),
                to: offsets[returns.len() + n],
                bytes: bytes(v),
            });
        }
        if self.layout.recursive {
            site.saved = Some(self.own_registers(f));
        }
        self.program.sites.push(site);
        Ok(op)
    }

    fn builtin(&self, callee: FuncId) -> Decoded<Option<Builtin>> {
        let function = self.image.module.func(callee);
        if function.is_defined {
            return Ok(None);
        }
        match function.name.as_str() {
            "vprintf" => Ok(Some(Builtin::Vprintf)),
            "__assertfail" => Ok(Some(Builtin::AssertFail)),
            "malloc" => Ok(Some(Builtin::Malloc)),
            "free" => Ok(Some(Builtin::Free)),
            name => Err(LoadError::UndefinedFunction(name.to_owned())),
        }
    }

    /// Offsets of return values and parameters at the start of a callee's frame.
    fn shape(&self, callee: FuncId) -> Vec<u32> {
        let function = self.image.module.func(callee);
        let sizes = function.returns.iter().chain(&function.params).map(|v| {
            let var = self.image.module.var(*v);
            (var.size, var.align)
        });
        abi_offsets(sizes)
    }

    fn own_registers(&self, f: usize) -> SavedRegs {
        let p = &self.placed[f];
        let from = |base: Slot, count: u32| base as usize..(base + count) as usize;
        let (count, preds) = (p.allocation.registers, p.allocation.predicates);
        SavedRegs {
            r32: from(p.base32, count),
            r64: from(p.base64, count.div_ceil(2)),
            preds: from(p.base_pred, preds),
        }
    }
}
