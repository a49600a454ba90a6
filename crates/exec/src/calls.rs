//! Which functions a kernel may call, and how deep calls can go.

use crate::image::{BUILTIN_FUNCTIONS, LoadError};
use raddle_ptx::ir::{FuncId, Module, Operand, Symbol};
use raddle_ptx::isa::Opcode;
use raddle_ptx::num::fit;

/// More than this per thread is a stack overflow.
pub(crate) const MAX_STACK_BYTES: u32 = 512 * 1024;

/// The functions that a kernel may call.
pub(crate) struct Calls {
    /// The kernel first, then every function that it may call.
    pub(crate) reachable: Vec<FuncId>,
    /// Places in `reachable` of those that each may call, in order.
    callees: Vec<Vec<usize>>,
    /// Places in `reachable`, callees before callers; a call that closes a circle is not looked at.
    order: Vec<usize>,
    /// Whether some function may call itself, directly or not.
    pub(crate) is_recursive: bool,
}

impl Calls {
    /// The functions that `kernel` may call.
    ///
    /// # Errors
    /// When one of them is not defined.
    pub(crate) fn new(module: &Module, kernel: FuncId) -> Result<Self, LoadError> {
        let taken = address_taken(module);
        let mut place = vec![None; module.functions.len()];
        place[kernel.index()] = Some(0);
        let mut reachable = vec![kernel];
        let mut callees = Vec::new();
        while let Some(&f) = reachable.get(callees.len()) {
            let mut own = Vec::new();
            for inst in module.func(f).insts.iter().filter(|i| i.opcode == Opcode::Call) {
                let targets = match inst.operands.get(1) {
                    Some(Operand::Func(callee)) => std::slice::from_ref(callee),
                    Some(Operand::Reg(_)) => &taken[..],
                    _ => &[],
                };
                for target in targets {
                    let function = module.func(*target);
                    if !function.is_defined {
                        if BUILTIN_FUNCTIONS.contains(&function.name.as_str()) {
                            continue;
                        }
                        return Err(LoadError::UndefinedFunction(function.name.clone()));
                    }
                    own.push(*place[target.index()].get_or_insert_with(|| {
                        reachable.push(*target);
                        reachable.len() - 1
                    }));
                }
            }
            own.sort_unstable();
            own.dedup();
            callees.push(own);
        }
        let (order, is_recursive) = callees_first(&callees);
        Ok(Self { reachable, callees, order, is_recursive })
    }

    /// The most that the functions on a chain of calls take together, no function twice.
    pub(crate) fn deepest(&self, bytes: impl Fn(usize) -> u32) -> u32 {
        let mut below = vec![0u32; self.reachable.len()];
        for &f in &self.order {
            let deepest = self.callees[f].iter().map(|c| below[*c]).max();
            below[f] = bytes(f).saturating_add(deepest.unwrap_or(0));
        }
        below[0]
    }
}

/// Callees before callers, from the first on, and whether there is a circle.
fn callees_first(callees: &[Vec<usize>]) -> (Vec<usize>, bool) {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        Open,
        Done,
    }
    let mut seen = vec![Seen::Not; callees.len()];
    let (mut order, mut has_circle) = (Vec::new(), false);
    let mut path = vec![(0, 0)];
    seen[0] = Seen::Open;
    while let Some((f, next)) = path.last_mut() {
        let (f, callee) = (*f, callees[*f].get(*next).copied());
        *next += 1;
        match callee {
            Some(callee) if seen[callee] == Seen::Not => {
                seen[callee] = Seen::Open;
                path.push((callee, 0));
            }
            Some(callee) => has_circle |= seen[callee] == Seen::Open,
            None => {
                seen[f] = Seen::Done;
                order.push(f);
                path.pop();
            }
        }
    }
    (order, has_circle)
}

/// Functions whose address is taken: calls through registers may go to them.
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
    (0..taken.len()).filter(|i| taken[*i]).map(|i| FuncId(fit(i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callees_come_first_and_circles_are_found() {
        assert_eq!(callees_first(&[vec![1, 2], vec![2], vec![]]), (vec![2, 1, 0], false));
        assert_eq!(callees_first(&[vec![1], vec![1]]), (vec![1, 0], true));
        assert_eq!(callees_first(&[vec![1], vec![2], vec![1]]), (vec![2, 1, 0], true));
    }

    #[test]
    fn many_paths_to_a_function_are_walked_once() {
        let n = 100_000;
        let callees: Vec<Vec<usize>> = (0..n).map(|f| (f + 1..n.min(f + 3)).collect()).collect();
        let (order, is_recursive) = callees_first(&callees);
        let calls = Calls { reachable: vec![FuncId(0); n], callees, order, is_recursive };
        assert_eq!((calls.deepest(|_| 16), is_recursive), (1_600_000, false));
    }
}
