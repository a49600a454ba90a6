//! Who calls whom in a module.

use super::{BUILTIN_FUNCTIONS, LoadError};
use raddle_ptx::ir::{FuncId, Function, Module, Operand, Symbol};
use raddle_ptx::isa::Opcode;
use std::collections::HashMap;
use std::slice;

/// Functions whose address is taken anywhere in the module.
fn address_taken(module: &Module) -> Vec<FuncId> {
    let mut taken = vec![false; module.functions.len()];
    for inst in module.functions.iter().flat_map(|f| &f.insts) {
        for (i, operand) in inst.operands.iter().enumerate() {
            if let Operand::Func(f) = operand
                && !(inst.opcode == Opcode::Call && i == 1)
            {
                taken[f.index()] = true;
            }
        }
    }
    for relocation in module.vars.iter().filter_map(|v| v.init.as_ref()).flat_map(|i| &i.relocations) {
        if let Symbol::Func(f) = relocation.target {
            taken[f.index()] = true;
        }
    }
    (0..taken.len()).filter(|i| taken[*i]).map(|i| FuncId(i as u32)).collect()
}

/// Where in the list each function is.
pub(super) fn places(reachable: &[FuncId]) -> HashMap<FuncId, usize> {
    reachable.iter().enumerate().map(|(i, f)| (*f, i)).collect()
}

/// Who calls whom, by place in the list of reachable functions; those supplied by the machine are left out. Compilers
/// make thousands of functions in chains of any length, so nothing here recurses or looks at a function twice.
pub(super) struct CallGraph {
    callees: Vec<Vec<usize>>,
}

impl CallGraph {
    pub(super) fn new(module: &Module, reachable: &[FuncId]) -> Self {
        let place = places(reachable);
        let taken: Vec<usize> = address_taken(module).iter().filter_map(|f| place.get(f).copied()).collect();
        let callees = |f: &FuncId| {
            let mut found = Vec::new();
            let mut is_indirect = false;
            for inst in module.func(*f).insts.iter().filter(|i| i.opcode == Opcode::Call) {
                match inst.operands.get(1) {
                    Some(Operand::Func(callee)) => found.extend(place.get(callee)),
                    Some(Operand::Reg(_)) => is_indirect = true,
                    _ => {}
                }
            }
            if is_indirect {
                found.extend(&taken);
            }
            found.sort_unstable();
            found.dedup();
            found
        };
        Self { callees: reachable.iter().map(callees).collect() }
    }

    /// Goes from the first function to all others and gives each, behind those it calls, to `leave`. True when some
    /// function is on the way to itself.
    pub(super) fn walk(&self, mut leave: impl FnMut(usize, &[usize])) -> bool {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum State {
            New,
            OnPath,
            Done,
        }
        let mut states = vec![State::New; self.callees.len()];
        let mut path = vec![(0, 0)];
        let mut is_cyclic = false;
        states[0] = State::OnPath;
        while let Some((f, next)) = path.last_mut() {
            let Some(&callee) = self.callees[*f].get(*next) else {
                leave(*f, &self.callees[*f]);
                states[*f] = State::Done;
                path.pop();
                continue;
            };
            *next += 1;
            is_cyclic |= states[callee] == State::OnPath;
            if states[callee] == State::New {
                states[callee] = State::OnPath;
                path.push((callee, 0));
            }
        }
        is_cyclic
    }

    /// The deepest chain of frames of these sizes; a function that is on the way to itself counts as none there.
    pub(super) fn deepest(&self, frames: &[u32]) -> u32 {
        let mut depths = vec![0u32; frames.len()];
        self.walk(|f, callees| {
            let deepest = callees.iter().map(|c| depths[*c]).max().unwrap_or(0);
            depths[f] = frames[f].saturating_add(deepest);
        });
        depths.first().copied().unwrap_or(0)
    }
}

/// The kernel and every function it may call, the kernel first.
pub(super) fn reachable(module: &Module, kernel: FuncId) -> Result<Vec<FuncId>, LoadError> {
    let is_builtin = |f: &Function| !f.is_defined && BUILTIN_FUNCTIONS.contains(&f.name.as_str());
    let mut list = vec![kernel];
    let mut seen = vec![false; module.functions.len()];
    seen[kernel.index()] = true;
    let taken = address_taken(module);
    let mut next = 0;
    while let Some(&f) = list.get(next) {
        next += 1;
        for inst in module.func(f).insts.iter().filter(|i| i.opcode == Opcode::Call) {
            let targets = match inst.operands.get(1) {
                Some(Operand::Func(callee)) => slice::from_ref(callee),
                Some(Operand::Reg(_)) => &taken,
                _ => &[],
            };
            for target in targets {
                let function = module.func(*target);
                if is_builtin(function) || seen[target.index()] {
                    continue;
                }
                if !function.is_defined {
                    return Err(LoadError::UndefinedFunction(function.name.clone()));
                }
                seen[target.index()] = true;
                list.push(*target);
            }
        }
    }
    Ok(list)
}
