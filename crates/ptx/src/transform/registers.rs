//! Registers of a transformed kernel.
//!
//! What moves in front of a loop is mostly loads of parameters, constants and addresses. As it is written each of them
//! lives through the whole loop; a machine's compiler names them in place instead, before the transformation as after it.
//! So a transformed kernel takes what the kernel before took, plus the *difference* of what both need by
//! [`RegisterNeed`]: the new variables, and what was moved and really has to be kept. It never takes more than as it is
//! written.
//!
//! The count stands in the tree as `.maxnreg`, so that the printed text says it too.

use super::virtualize::{Done, Passed};
use crate::analysis::{Cfg, RegisterNeed, Resources};
use crate::ir::{self, FuncId};
use crate::syntax::ast::{Directive, Function, Item, Module};
use crate::syntax::print;

/// Registers of a thread, before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// Of the kernel as it was.
    pub before: u32,
    /// Of the kernel as it is now.
    pub after: u32,
}

impl Registers {
    /// Of a kernel before, and of what became of it: item `at` of a tree.
    pub(super) fn count(before: (&ir::Module, FuncId), after: &Function, tree: &Module, at: usize) -> Self {
        let mut tree = tree.clone();
        tree.items[at] = Item::Function(after.clone());
        let (module, _) = crate::load(&print(&tree));
        let registers = taken(before.0, before.1);
        let Some(id) = module.function(&after.name.text) else { return Self { before: registers, after: registers } };
        let estimated = (registers + need(&module, id)).saturating_sub(need(before.0, before.1)).max(1);
        Self { before: registers, after: taken(&module, id).min(estimated) }
    }

    /// Allows the kernel no more than it takes.
    pub(super) fn limit(&self, kernel: &mut Function) {
        kernel.directives.retain(|d| d.name != "maxnreg");
        kernel.directives.push(Directive {
            name: "maxnreg".to_owned(),
            values: vec![self.after.max(1)],
            span: kernel.span,
        });
    }
}

/// Registers a thread takes: as the kernel is written, or as few as it is allowed.
fn taken(module: &ir::Module, kernel: FuncId) -> u32 {
    let allowed = module.func(kernel).limits.max_registers.unwrap_or(u32::MAX);
    Resources::new(module, kernel).registers.min(allowed)
}

/// Registers a machine's compiler would need for the kernel alone; the functions it calls do not change.
fn need(module: &ir::Module, kernel: FuncId) -> u32 {
    let function = module.func(kernel);
    RegisterNeed::estimate(function, &Cfg::new(function)).registers
}

/// Of what could move in front of the loop as much as leaves the kernel with so many registers, or with those it needs
/// anyway, in the order in which it is computed. `run` transforms it and moves so many instructions at most.
pub(super) fn fit(run: impl Fn(usize) -> Passed<Done>, all: Done, registers: u32) -> Passed<Done> {
    let need = |done: &Done| done.1.registers.after;
    if need(&all) <= registers {
        return Ok(all);
    }
    let (mut good, mut bad) = (0, all.1.hoisted as usize);
    let mut best = run(0)?;
    let registers = registers.max(need(&best));
    if need(&all) <= registers {
        return Ok(all);
    }
    while good + 1 < bad {
        let middle = usize::midpoint(good, bad);
        let tried = run(middle)?;
        if need(&tried) <= registers {
            (good, best) = (middle, tried);
        } else {
            bad = middle;
        }
    }
    Ok(best)
}
