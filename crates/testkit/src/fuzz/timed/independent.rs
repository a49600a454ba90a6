//! Whether the time of a kernel can depend on what is in memory, by the definition of its instructions and not by the
//! way in which it was made.
//!
//! A register is *loaded* where some path leads to it from a load, an atomic, a texture or an operation of several
//! threads. Time may depend on loaded registers in addresses, coordinates, strides, sizes, guards, indices of branches
//! and numbers of barriers. Where none is in such a place, all threads take paths that memory does not decide, so it is
//! enough to follow values.

use raddle_ptx::Module;
use raddle_ptx::analysis::{BitSet, Cfg};
use raddle_ptx::ir::{Address, Base, Function, Inst, Operand, Space};
use raddle_ptx::isa::{Opcode, Word};
use std::collections::BTreeSet;

/// The first instruction whose time may depend on memory.
pub(super) fn first_dependent(module: &Module) -> Option<String> {
    let mut analysis = Analysis { module, loaded_params: BTreeSet::new() };
    loop {
        let before = analysis.loaded_params.len();
        let found = module.functions.iter().find_map(|function| analysis.of_function(function));
        if found.is_some() || analysis.loaded_params.len() == before {
            return found;
        }
    }
}

struct Analysis<'m> {
    module: &'m Module,
    /// Names of parameters of functions through which loaded values pass.
    loaded_params: BTreeSet<&'m str>,
}

impl<'m> Analysis<'m> {
    fn of_function(&mut self, function: &'m Function) -> Option<String> {
        let cfg = Cfg::new(function);
        let mut begin = vec![BitSet::new(function.regs.len()); function.insts.len() + 1];
        let mut found = None;
        let mut changed = true;
        while changed {
            changed = false;
            for id in cfg.reverse_postorder().iter().filter(|id| **id != cfg.exit()) {
                let mut loaded = begin[id.index()].clone();
                for at in cfg.block(*id).insts() {
                    let inst = &function.insts[at.index()];
                    if depends(inst, &loaded) {
                        found.get_or_insert_with(|| format!("{} in {}", inst.mnemonic(), function.name));
                    }
                    self.step(function, inst, &mut loaded);
                }
                for next in cfg.succs(*id) {
                    changed |= begin[next.index()].union_with(&loaded);
                }
            }
        }
        found
    }

    /// From before an instruction to after it.
    fn step(&mut self, function: &Function, inst: &'m Inst, loaded: &mut BitSet) {
        let mut reads = false;
        inst.for_each_use(|r| reads |= loaded.contains(r.index()));
        let is_loaded = match inst.opcode {
            Opcode::Ld if inst.space() == Some(Space::Param) => self.passes(function, inst),
            Opcode::Wmma => inst.has(Word::Load) || reads,
            opcode => LOADS.contains(&opcode) || reads,
        };
        if inst.opcode == Opcode::St && inst.space() == Some(Space::Param) && reads {
            self.loaded_params.extend(self.param(inst));
        }
        inst.for_each_def(|r| {
            if is_loaded {
                loaded.insert(r.index());
            } else if inst.guard.is_none() {
                loaded.remove(r.index());
            }
        });
    }

    /// Whether a load from a parameter gets a loaded value. Kernels get none.
    fn passes(&self, function: &Function, inst: &'m Inst) -> bool {
        let is_of_kernel = |var| function.is_entry && function.params.contains(var);
        let var = inst.operands.iter().find_map(variable);
        !var.as_ref().is_some_and(is_of_kernel) && self.param(inst).is_none_or(|name| self.loaded_params.contains(name))
    }

    fn param(&self, inst: &Inst) -> Option<&'m str> {
        inst.operands.iter().find_map(variable).map(|var| self.module.var(var).name.as_str())
    }
}

fn variable(operand: &Operand) -> Option<raddle_ptx::ir::VarId> {
    match operand {
        Operand::Memory(Address { base: Base::Var(var), .. }) => Some(*var),
        _ => None,
    }
}

/// What has results that depend on memory or on other threads.
const LOADS: &[Opcode] = &[
    Opcode::Ld,
    Opcode::Ldu,
    Opcode::Atom,
    Opcode::Tex,
    Opcode::Tld4,
    Opcode::Txq,
    Opcode::Suld,
    Opcode::Suq,
    Opcode::Ldmatrix,
    Opcode::Bar,
    Opcode::Barrier,
];

/// Whether time may depend on a loaded register that an instruction reads.
fn depends(inst: &Inst, loaded: &BitSet) -> bool {
    let mut is_loaded = inst.guard.is_some_and(|guard| loaded.contains(guard.reg.index()));
    let last = inst.operands.len().saturating_sub(1);
    for (n, operand) in inst.operands.iter().enumerate() {
        let decides = match inst.opcode {
            Opcode::Brx => true,
            // The predicate of a reduction is a value.
            Opcode::Bar | Opcode::Barrier => !(inst.has(Word::Red) && (n == 0 || n == last)),
            Opcode::Cp => true,
            // Registers in braces are elements, the others are addresses and strides.
            Opcode::Wmma => {
                (inst.has(Word::Load) || inst.has(Word::Store)) && n > 0 && !matches!(operand, Operand::Vector(_))
            }
            Opcode::Call => matches!(operand, Operand::Reg(_)),
            _ => false,
        };
        let has_place = matches!(operand, Operand::Memory(_) | Operand::Texture { .. });
        if decides || has_place {
            operand.for_each_reg(&mut |r| is_loaded |= loaded.contains(r.index()));
        }
        // Levels and gradients decide which texels are fetched.
        if matches!(inst.opcode, Opcode::Tex | Opcode::Tld4) && n > 0 {
            operand.for_each_reg(&mut |r| is_loaded |= loaded.contains(r.index()));
        }
    }
    is_loaded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::generate::keyed_kernel;

    /// A kernel that executes this with a loaded value in `%v` and a thread's number in `%t`.
    fn of(body: &str) -> Option<String> {
        let source = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{{\n\
             .reg .pred %p; .reg .b32 %v, %t, %r; .reg .b64 %a, %d; .shared .align 16 .b8 s[512];\n\
             ld.param.u64 %a, [a]; ld.global.u32 %v, [%a]; mov.u32 %t, %tid.x;\n{body}\nret;\n}}\n"
        );
        let (module, diagnostics) = raddle_ptx::load(&source);
        assert!(diagnostics.is_empty(), "{body}: {diagnostics:?}");
        first_dependent(&module)
    }

    #[test]
    fn loaded_values_are_found_where_they_decide() {
        for body in [
            "ld.shared.u32 %r, [%v];",
            "st.shared.u32 [%v], %t;",
            "add.u32 %r, %v, 1; and.b32 %t, %t, %r; st.shared.u32 [%t], 1;",
            "setp.eq.u32 %p, %v, 1; @%p st.shared.u32 [%t], %t;",
            "setp.eq.u32 %p, %v, 1; @%p bra L; L:",
            "bar.sync %v;",
            "cp.async.ca.shared.global [%t], [%a], 16, %v;",
            "L: ld.shared.u32 %t, [%t]; setp.eq.u32 %p, %r, 1; @%p bra L;",
            "setp.eq.u32 %p, %t, 1; @!%p mov.u32 %v, 1; st.shared.u32 [%v], %t;",
        ] {
            assert!(of(body).is_some(), "{body}");
        }
    }

    #[test]
    fn loaded_values_may_be_data() {
        for body in [
            "st.shared.u32 [%t], %v;",
            "atom.shared.add.u32 %r, [%t], %v;",
            "ld.shared.u32 %t, [%t]; st.shared.u32 [s], %t;",
            "mov.u32 %v, 4; ld.shared.u32 %v, [%v];",
            "setp.eq.u32 %p, %v, 1; bar.red.popc.u32 %r, 0, %p;",
            "setp.eq.u32 %p, %v, 1; selp.u32 %r, 1, 2, %p;",
        ] {
            assert_eq!(of(body), None, "{body}");
        }
    }

    #[test]
    fn keyed_kernels_do_not_depend_on_memory() {
        for seed in 0..400 {
            let text = keyed_kernel(seed);
            let (module, diagnostics) = raddle_ptx::load(&text);
            assert!(diagnostics.is_empty(), "{diagnostics:?}\n{text}");
            assert_eq!(first_dependent(&module), None, "{text}");
        }
    }
}
