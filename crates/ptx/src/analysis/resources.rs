//! What a launch of a kernel takes from the machine.
//!
//! Registers and local memory of called functions come on top of those of the caller, so the need
//! of a kernel is the largest sum along a chain of calls. With recursion there is no such bound: each
//! function counts once and [`Resources::recursive`] is set. A call through a register may reach
//! the functions its `.calltargets` list, else every function whose address is taken.

use super::cfg::postorder;
use super::{Allocation, BitSet, Cfg, Liveness};
use crate::ir::{Address, Base, FuncId, Function, Inst, Linkage, Module, Operand, Space, Symbol, VarId};
use crate::isa::Opcode;
use crate::num::fit;

/// What one kernel needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// 32-bit registers per thread, for the program as written.
    pub registers: u32,
    /// Predicate registers per thread.
    pub predicates: u32,
    /// Shared memory per thread block: the variables of the kernel and of what it calls, and those
    /// of module scope that they use.
    pub shared_bytes: u64,
    /// Whether it also uses shared memory whose size the launch gives.
    pub dynamic_shared: bool,
    /// Local memory per thread.
    pub local_bytes: u64,
    /// Constant variables of the module; all are there for every kernel.
    pub const_bytes: u64,
    /// Parameters of the kernel.
    pub param_bytes: u64,
    /// Whether a function may call itself, directly or not: registers and local memory are then
    /// lower bounds.
    pub recursive: bool,
    /// Whether it calls a function that has no body here: what that one takes is not included.
    pub calls_undefined: bool,
}

impl Resources {
    /// What `kernel` needs.
    #[must_use]
    pub fn new(module: &Module, kernel: FuncId) -> Self {
        let calls = call_graph(module);
        let mut all = Self::default();
        let mut done: Vec<Option<(u32, u32, u64)>> = vec![None; module.functions.len()];
        let mut used = BitSet::new(module.vars.len());
        for id in postorder(kernel.0, &calls) {
            let Some(function) = module.functions.get(id as usize) else { continue };
            all.calls_undefined |= !function.is_defined;
            note_variables(function, &mut used);
            let mut below = (0, 0, 0);
            for callee in &calls[id as usize] {
                match done[*callee as usize] {
                    Some((r, p, l)) => below = (below.0.max(r), below.1.max(p), below.2.max(l)),
                    None => all.recursive = true,
                }
            }
            let cfg = Cfg::new(function);
            let own = Allocation::new(module, function, &cfg, &Liveness::new(function, &cfg));
            let locals = function.locals.iter().copied().filter(|v| space(module, *v) == Some(Space::Local));
            done[id as usize] =
                Some((own.registers + below.0, own.predicates + below.1, bytes(module, locals) + below.2));
        }
        if let Some(Some((registers, predicates, local))) = done.get(kernel.index()) {
            (all.registers, all.predicates, all.local_bytes) = (*registers, *predicates, *local);
        }
        let shared: Vec<VarId> =
            used.iter().map(VarId::from_index).filter(|v| space(module, *v) == Some(Space::Shared)).collect();
        all.dynamic_shared =
            shared.iter().any(|v| module.var(*v).size == 0 || module.var(*v).linkage == Linkage::Extern);
        all.shared_bytes = bytes(module, shared);
        let constants =
            (0..module.vars.len()).map(VarId::from_index).filter(|v| space(module, *v) == Some(Space::Const));
        all.const_bytes = bytes(module, constants);
        all.param_bytes = module.functions.get(kernel.index()).map_or(0, |f| bytes(module, f.params.iter().copied()));
        all
    }
}

fn space(module: &Module, var: VarId) -> Option<Space> {
    module.vars.get(var.index()).map(|v| v.space)
}

/// The size of variables laid out one behind the other, each aligned.
fn bytes(module: &Module, vars: impl IntoIterator<Item = VarId>) -> u64 {
    let vars = vars.into_iter().filter_map(|v| module.vars.get(v.index()));
    vars.fold(0_u64, |end, v| {
        let start = end.checked_next_multiple_of(u64::from(v.align.max(1))).unwrap_or(end);
        start.saturating_add(v.size)
    })
}

/// A function and those it may call, directly or not, each once; it comes last.
#[must_use]
pub fn callees(module: &Module, function: FuncId) -> Vec<FuncId> {
    postorder(function.0, &call_graph(module)).into_iter().map(FuncId).collect()
}

/// The functions each function may call, in rising order.
fn call_graph(module: &Module) -> Vec<Vec<u32>> {
    let taken = address_taken(module);
    let callees = |function: &Function| {
        let mut list: Vec<u32> = Vec::new();
        for inst in function.insts.iter().filter(|i| i.opcode == Opcode::Call) {
            match inst.operands.get(1) {
                Some(Operand::Func(id)) => list.push(id.0),
                _ => match listed_targets(function, inst) {
                    Some(targets) => list.extend(targets.iter().map(|t| t.0)),
                    None => list.extend(&taken),
                },
            }
        }
        list.sort_unstable();
        list.dedup();
        list
    };
    module.functions.iter().map(callees).collect()
}

fn listed_targets<'f>(function: &'f Function, call: &Inst) -> Option<&'f [FuncId]> {
    let proto = call.operands.iter().find_map(|o| if let Operand::Proto(p) = o { Some(*p) } else { None })?;
    function.prototypes.get(proto.index())?.targets.as_deref()
}

/// Functions whose address is a value somewhere.
fn address_taken(module: &Module) -> Vec<u32> {
    let mut taken = BitSet::new(module.functions.len());
    for inst in module.functions.iter().flat_map(|f| &f.insts).filter(|i| i.opcode != Opcode::Call) {
        for operand in &inst.operands {
            if let Operand::Func(id) = operand {
                taken.insert(id.index());
            }
        }
    }
    for relocation in module.vars.iter().filter_map(|v| v.init.as_ref()).flat_map(|i| &i.relocations) {
        if let Symbol::Func(id) = relocation.target {
            taken.insert(id.index());
        }
    }
    taken.iter().map(fit).collect()
}

/// Adds the variables a function declares or mentions.
fn note_variables(function: &Function, used: &mut BitSet) {
    for var in &function.locals {
        used.insert(var.index());
    }
    for operand in function.insts.iter().flat_map(|i| &i.operands) {
        note_operand(operand, used);
    }
}

fn note_operand(operand: &Operand, used: &mut BitSet) {
    match operand {
        Operand::VarAddress(var, _) | Operand::Memory(Address { base: Base::Var(var), .. }) => {
            used.insert(var.index());
        }
        Operand::Vector(list) | Operand::List(list) => list.iter().for_each(|o| note_operand(o, used)),
        Operand::Pair(pair) => pair.iter().for_each(|o| note_operand(o, used)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{module, reference_kernels};
    use super::*;

    fn resources(text: &str) -> Resources {
        let module = module(&format!(".version 3.2\n.target sm_20\n.address_size 64\n{text}"));
        Resources::new(&module, module.function("k").expect("the kernel"))
    }

    /// A function with so many registers live at once, that then runs `call`.
    fn function(head: &str, registers: u32, call: &str) -> String {
        let list = (0..registers).map(|i| format!("ld.global.u32 %r{i}, [{i}]; ")).collect::<String>();
        let sums = (0..registers).map(|i| format!("st.global.u32 [{i}], %r{i}; ")).collect::<String>();
        format!("{head} {{ .reg .u32 %r<{}>; .reg .u64 %a; {list} {sums} {call} ret; }}\n", registers + 1)
    }

    #[test]
    fn memory_is_counted_with_its_alignment() {
        let text = ".const .align 8 .b8 c[12];\n.shared .u64 used;\n.shared .u32 other[100];\n.entry k(.param .u8 a, .param .u64 b) {\n\
                    .shared .u8 one[3]; .local .align 8 .b8 depot[20]; .reg .u32 %r;\n\
                    st.shared.u8 [one], 0; st.shared.u64 [used], 0; ret; }";
        let found = resources(text);
        assert_eq!((found.shared_bytes, found.local_bytes), (11, 20));
        assert_eq!((found.const_bytes, found.param_bytes), (12, 16));
        assert!(!found.dynamic_shared && !found.recursive && !found.calls_undefined);
    }

    #[test]
    fn dynamic_shared_memory_is_noticed() {
        let text =
            ".extern .shared .align 4 .b8 d[];\n.entry k() { .reg .u64 %a; mov.u64 %a, d; st.shared.u8 [%a], 0; ret; }";
        assert!(resources(text).dynamic_shared);
    }

    #[test]
    fn callees_come_on_top_of_callers() {
        let leaf = function(".func leaf()", 5, "");
        let other = function(".func other()", 9, "");
        let middle = function(".func middle()", 3, "call leaf;");
        let kernel = function(".entry k()", 2, "call middle; call other;");
        let found = resources(&(leaf + &other + &middle + &kernel));
        assert_eq!(found.registers, 2 + 9, "9 is more than 3 + 5");
        assert!(!found.recursive);
    }

    #[test]
    fn recursion_and_missing_bodies_are_flagged() {
        let declared = ".func a();\n.extern .func gone();\n".to_owned();
        let a = function(".func a()", 4, "call b; call gone;");
        let b = function(".func b()", 6, "call a;");
        let found = resources(&(declared + ".func b();\n" + &a + &b + &function(".entry k()", 1, "call a;")));
        assert!(found.recursive && found.calls_undefined);
        assert_eq!(found.registers, 1 + 4 + 6);
    }

    #[test]
    fn reference_kernels_take_the_shared_memory_they_declare() {
        for (name, text) in reference_kernels() {
            let module = module(&text);
            let (id, _) = module.kernels().next().expect("a kernel");
            let expected = match name.as_str() {
                "matmul" => 2048,
                "stencil" => 1296,
                "reduce" => 1024,
                _ if name.starts_with("shared") => 32768,
                _ => 0,
            };
            assert_eq!(Resources::new(&module, id).shared_bytes, expected, "{name}");
        }
    }
}
