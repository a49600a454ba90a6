//! Virtual thread blocks: a kernel in a loop over logical blocks, so that a launch of a few blocks does the work of many.
//!
//! The transformation of section 4.1 of the VTW paper. Its page in the book has the details.

use super::Invariants;
use super::leaving::{is_barrier, missed_barrier};
use super::registers::{self, Registers};
use super::wrapper::{Reads, Wrapper};
use crate::analysis::{BitSet, callees};
use crate::diag::{Code, Diagnostic};
use crate::ir::{self, Address, Base, FuncId, Imm, InstId, Space};
use crate::isa::{Opcode, Special, Word};
use crate::num::fit;
use crate::source::{LineIndex, Span};
use crate::syntax::ast::{Function, Instruction, Item, Module, Name, Operand, OperandKind, Statement};
use crate::syntax::parse;

/// Who distributes logical blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// The kernel itself: each block takes logical blocks by a fixed stride.
    #[default]
    Software,
    /// The machine, by instructions of its own.
    Hardware(ThreadOrder),
}

impl Form {
    /// Every form.
    pub const ALL: [Self; 4] = [
        Self::Software,
        Self::Hardware(ThreadOrder::SameLane),
        Self::Hardware(ThreadOrder::SlowestLane),
        Self::Hardware(ThreadOrder::LowestLane),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Software => "software",
            Self::Hardware(ThreadOrder::SameLane) => "same-lane",
            Self::Hardware(ThreadOrder::SlowestLane) => "slowest-lane",
            Self::Hardware(ThreadOrder::LowestLane) => "lowest-lane",
        }
    }

    /// Who distributes logical blocks, and which warp of the next block a warp becomes.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Software => "The kernel: each block takes logical blocks by a fixed stride",
            Self::Hardware(ThreadOrder::SameLane) => {
                "The machine, by `raddle.next_tbid`; a warp keeps its number in the block"
            }
            Self::Hardware(ThreadOrder::SlowestLane) => {
                "The machine; a warp becomes the one that was slowest in the block before"
            }
            Self::Hardware(ThreadOrder::LowestLane) => "The machine; a warp becomes the one with the lowest number",
        }
    }

    /// The form of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

/// Which warp of a logical block a warp becomes next, in the hardware form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadOrder {
    /// The one it was.
    #[default]
    SameLane,
    /// The one that was slowest in the block before, of those that are left.
    SlowestLane,
    /// The one with the lowest number, of those that are left.
    LowestLane,
}

/// How to transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Who distributes logical blocks.
    pub form: Form,
    /// Move what depends on neither thread nor block in front of the loop.
    pub hoist: bool,
    /// Move no more than leaves a kernel with so many registers, or with as many as it has when nothing moves.
    pub hoist_registers: Option<u32>,
    /// Dimensions of grids and of blocks, where they are more than the kernel looks at.
    pub dims: u8,
}

impl Default for Options {
    fn default() -> Self {
        Self { form: Form::default(), hoist: true, hoist_registers: None, dims: 1 }
    }
}

/// What became of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Virtualized {
    /// Its name.
    pub kernel: String,
    /// How it was transformed.
    pub form: Form,
    /// Dimensions of its logical grid: as many parameters have been added, `.u32` with the number of blocks along each.
    pub grid_dims: u8,
    /// Dimensions of its blocks, where threads get new indices.
    pub block_dims: Option<u8>,
    /// Number of the barrier at the loop's top, if there is one.
    pub barrier: Option<u32>,
    /// Instructions before.
    pub before: u32,
    /// Instructions in the loop.
    pub in_loop: u32,
    /// Instructions outside of it.
    pub outside: u32,
    /// Those of the latter that were moved there.
    pub hoisted: u32,
    /// Registers of a thread.
    pub registers: Registers,
}

/// Why a kernel cannot be transformed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Its name.
    pub kernel: String,
    /// What is in the way, and where.
    pub diagnostic: Diagnostic,
}

/// A module with kernels transformed.
#[derive(Clone, Debug)]
pub struct VirtualizedModule {
    /// The module. What was not asked for or is refused is as it was.
    pub tree: Module,
    /// The transformed kernels, in the order of the text.
    pub kernels: Vec<Virtualized>,
    /// Those that cannot be.
    pub refused: Vec<Refusal>,
}

/// Transforms the kernels of `source` that are `wanted`.
///
/// # Errors
/// The diagnostics of a text that has errors.
pub fn virtualize(
    source: &str,
    options: &Options,
    wanted: impl Fn(&str) -> bool,
) -> Result<VirtualizedModule, Vec<Diagnostic>> {
    let (module, diagnostics) = crate::load(source);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    let (mut tree, _) = parse(source);
    let prefix = unused_word(source);
    let (mut kernels, mut refused) = (Vec::new(), Vec::new());
    for at in 0..tree.items.len() {
        let Item::Function(f) = &tree.items[at] else { continue };
        let Some(id) = module.function(&f.name.text).filter(|_| f.is_entry && f.body.is_some()) else { continue };
        if !wanted(&f.name.text) {
            continue;
        }
        let pass = Pass { source, tree: &tree, at, module: &module, kernel: id, options, prefix: &prefix };
        let most = if options.hoist { usize::MAX } else { 0 };
        let done = match (pass.run(f, most), options.hoist_registers) {
            (Ok(all), Some(registers)) => registers::fit(|most| pass.run(f, most), all, registers),
            (done, _) => done,
        };
        match done {
            Ok((function, report)) => {
                tree.items[at] = Item::Function(function);
                kernels.push(report);
            }
            Err(diagnostic) => refused.push(Refusal { kernel: f.name.text.clone(), diagnostic: *diagnostic }),
        }
    }
    Ok(VirtualizedModule { tree, kernels, refused })
}

/// A word that no name of the text has in it.
fn unused_word(source: &str) -> String {
    let words = std::iter::once("vtw".to_owned()).chain((2_u32..).map(|n| format!("vtw{n}")));
    words.into_iter().find(|word| !source.contains(word)).unwrap_or_default()
}

/// The transformation of one kernel.
struct Pass<'a> {
    source: &'a str,
    tree: &'a Module,
    /// Which item of the tree the kernel is.
    at: usize,
    module: &'a ir::Module,
    kernel: FuncId,
    options: &'a Options,
    prefix: &'a str,
}

/// What is known of a kernel and the functions it calls.
#[derive(Default)]
struct Facts {
    reads: Reads,
    /// Warps that run ahead would disturb others: shared memory, or operations of all lanes of a warp.
    needs_barrier: bool,
    /// Barriers by their numbers.
    barriers: u16,
}

pub(super) type Passed<T> = Result<T, Box<Diagnostic>>;

/// A kernel after the transformation, and what became of it.
pub(super) type Done = (Function, Virtualized);

impl Pass<'_> {
    fn refuse<T>(&self, span: Span, message: String, help: &str) -> Passed<T> {
        Err(Box::new(Diagnostic::error(Code::Unsupported, span, message).help(help)))
    }

    fn line(&self, span: Span) -> u32 {
        LineIndex::new(self.source).line_col(self.source, span.start).line
    }

    /// Transforms the kernel and moves so many instructions at most.
    fn run(&self, f: &Function, most: usize) -> Passed<Done> {
        let function = self.module.func(self.kernel);
        let is_software = self.options.form == Form::Software;
        if let Some(missed) = missed_barrier(self.module, function) {
            let [at, barrier] = [missed.at, missed.barrier].map(|i| function.insts[i.index()].span);
            let line = self.line(barrier);
            let message = format!("threads of a block may diverge here and miss the barrier in line {line}");
            return self.refuse(
                at,
                message,
                "all threads must come to all barriers: one that has left a logical block has not ended",
            );
        }
        let facts = self.facts()?;
        let grid_dims = facts.reads.grid_dims().max(self.options.dims);
        let block_dims = facts.reads.block_dims().max(self.options.dims);
        let barrier = (is_software && facts.needs_barrier).then(|| facts.barriers.trailing_ones()).filter(|n| *n < 16);
        if is_software && facts.needs_barrier && barrier.is_none() {
            let message = "all sixteen barriers are in use, the wrapper loop needs one of its own".to_owned();
            return self.refuse(f.name.span, message, "use the hardware form, which needs none");
        }
        let wrapper = Wrapper {
            kernel: &f.name.text,
            prefix: self.prefix,
            form: self.options.form,
            reads: facts.reads,
            grid_dims,
            block_dims,
            barrier,
        };
        let outer = outer_instructions(f);
        let mut hoisted = Invariants::new(self.module, function, |id| outer.contains(id.index())).order;
        hoisted.truncate(most);
        let body = f.body.as_deref().unwrap_or_default();
        let mut split = Split::new(&wrapper, &hoisted, function.insts.len());
        let inside = split.statements(body, true);
        let mut statements = split.declarations;
        statements.extend(wrapper.declare());
        let mut outside = wrapper.before();
        outside.extend(in_order(split.moved, &hoisted));
        let mut inner = wrapper.top();
        inner.extend(without_last_jump(inside, &wrapper.label("step")));
        let step = wrapper.step();
        // The last instruction of all is the return.
        let counts = [&outside, &inner, &step].map(|part| count(part));
        statements.extend(outside.into_iter().chain(inner).chain(step));
        let mut changed = Function { body: Some(statements), ..f.clone() };
        changed.params.extend(wrapper.params());
        let registers = Registers::count((self.module, self.kernel), &changed, self.tree, self.at);
        registers.limit(&mut changed);
        let report = Virtualized {
            kernel: f.name.text.clone(),
            form: self.options.form,
            grid_dims,
            block_dims: wrapper.gives_threads().then_some(block_dims),
            barrier,
            before: fit(function.insts.len()),
            in_loop: counts[1] + counts[2] - 1,
            outside: counts[0] + 1,
            hoisted: fit(hoisted.len()),
            registers,
        };
        Ok((changed, report))
    }

    /// Looks at the kernel and all it calls.
    fn facts(&self) -> Passed<Facts> {
        let mut facts = Facts::default();
        for id in callees(self.module, self.kernel) {
            let function = self.module.func(id);
            facts.needs_barrier |= function.locals.iter().any(|v| self.is_shared(*v));
            for inst in &function.insts {
                self.look(inst, id != self.kernel, function, &mut facts)?;
            }
        }
        Ok(facts)
    }

    fn look(&self, inst: &ir::Inst, is_called: bool, function: &ir::Function, facts: &mut Facts) -> Passed<()> {
        let mut specials = Vec::new();
        let mut is_shared = inst.space() == Some(Space::Shared);
        inst.operands.iter().for_each(|o| self.mentions(o, &mut specials, &mut is_shared));
        let name = &function.name;
        for special in specials {
            let is_index = facts.reads.note(special) && !special.as_str().starts_with("%ntid");
            let is_same_lane = matches!(self.options.form, Form::Software | Form::Hardware(ThreadOrder::SameLane));
            let is_left = is_same_lane && special.as_str().starts_with("%tid");
            if is_index && is_called && !is_left {
                let message = format!("function `{name}` reads {}, which is not the logical index", special.as_str());
                return self.refuse(inst.span, message, "inline it, or pass the index as an argument");
            }
            if special == Special::Warpid && !is_same_lane {
                let message = "%warpid is not the warp of the thread's logical index".to_owned();
                return self.refuse(inst.span, message, "compute the warp from %tid, or keep threads in their lanes");
            }
        }
        let is_warp_wide = matches!(
            inst.opcode,
            Opcode::Shfl | Opcode::Vote | Opcode::Match | Opcode::Activemask | Opcode::Redux | Opcode::Elect
        ) || inst.has(Word::Warp);
        facts.needs_barrier |= is_shared || is_warp_wide;
        if is_called && inst.opcode == Opcode::Exit {
            let message = format!("function `{name}` ends the thread, which must go on with another block");
            return self.refuse(inst.span, message, "return to the kernel, and return from there");
        }
        if is_barrier(inst) {
            let number = &inst.operands[usize::from(inst.has(Word::Red))];
            match number {
                ir::Operand::Imm(Imm::Int(n @ 0..16)) => facts.barriers |= 1 << n,
                _ if self.options.form == Form::Software => {
                    let message = "which barrier this is, is not known before it runs".to_owned();
                    return self.refuse(
                        inst.span,
                        message,
                        "write the number of the barrier, or use the hardware form",
                    );
                }
                _ => {}
            }
            if is_called && self.options.form == Form::Software {
                let message = format!("function `{name}` has a barrier, which threads may miss");
                return self.refuse(inst.span, message, "inline it, or use the hardware form");
            }
        }
        Ok(())
    }

    fn is_shared(&self, var: ir::VarId) -> bool {
        self.module.vars.get(var.index()).is_some_and(|v| v.space == Space::Shared)
    }

    /// Lists special registers of an operand and notes variables in shared memory.
    fn mentions(&self, operand: &ir::Operand, specials: &mut Vec<Special>, is_shared: &mut bool) {
        match operand {
            ir::Operand::Special(special) => specials.push(*special),
            ir::Operand::VarAddress(var, _) | ir::Operand::Memory(Address { base: Base::Var(var), .. }) => {
                *is_shared |= self.is_shared(*var);
            }
            ir::Operand::Vector(list) | ir::Operand::List(list) => {
                list.iter().for_each(|o| self.mentions(o, specials, is_shared));
            }
            ir::Operand::Pair(pair) => pair.iter().for_each(|o| self.mentions(o, specials, is_shared)),
            ir::Operand::Texture { coords, .. } => coords.iter().for_each(|o| self.mentions(o, specials, is_shared)),
            _ => {}
        }
    }
}

/// The instructions that stand in no inner scope.
fn outer_instructions(f: &Function) -> BitSet {
    let body = f.body.as_deref().unwrap_or_default();
    let mut outer = BitSet::new(count(body) as usize);
    let mut at = 0;
    for statement in body {
        match statement {
            Statement::Instruction(_) => {
                outer.insert(at);
                at += 1;
            }
            Statement::Block(inner) => at += count(inner) as usize,
            _ => {}
        }
    }
    outer
}

/// Instructions in a list of statements.
fn count(statements: &[Statement]) -> u32 {
    let each = |statement: &Statement| match statement {
        Statement::Instruction(_) => 1,
        Statement::Block(inner) => count(inner),
        _ => 0,
    };
    statements.iter().map(each).sum()
}

/// Moved instructions in the order in which they can be executed, each with its place in the source.
fn in_order(moved: Vec<(InstId, Vec<Statement>)>, order: &[InstId]) -> Vec<Statement> {
    let mut moved: Vec<_> = moved.into_iter().collect();
    moved.sort_by_key(|(id, _)| order.iter().position(|o| o == id));
    moved.into_iter().flat_map(|(_, statements)| statements).collect()
}

/// A jump to what comes next anyway goes.
fn without_last_jump(mut body: Vec<Statement>, label: &str) -> Vec<Statement> {
    let last = body.iter().rposition(|s| matches!(s, Statement::Instruction(_) | Statement::Block(_)));
    if let Some(at) = last
        && let Statement::Instruction(Instruction { guard: None, opcode: Opcode::Bra, operands, .. }) = &body[at]
        && matches!(&operands[..], [Operand { kind: OperandKind::Name { name, .. }, .. }] if name.text == label)
    {
        body.remove(at);
    }
    body
}

/// Takes a body apart: declarations, what moves in front of the loop, and the rest, rewritten.
struct Split<'a> {
    wrapper: &'a Wrapper<'a>,
    is_hoisted: BitSet,
    /// Instructions seen.
    at: usize,
    /// The last `.loc`.
    loc: Option<Statement>,
    declarations: Vec<Statement>,
    moved: Vec<(InstId, Vec<Statement>)>,
}

impl<'a> Split<'a> {
    fn new(wrapper: &'a Wrapper<'a>, hoisted: &[InstId], insts: usize) -> Self {
        let mut is_hoisted = BitSet::new(insts);
        hoisted.iter().for_each(|id| {
            is_hoisted.insert(id.index());
        });
        Self { wrapper, is_hoisted, at: 0, loc: None, declarations: Vec::new(), moved: Vec::new() }
    }

    fn statements(&mut self, body: &[Statement], is_outer: bool) -> Vec<Statement> {
        let mut rest = Vec::new();
        for statement in body {
            match statement {
                Statement::Variable(_) if is_outer => self.declarations.push(statement.clone()),
                Statement::Block(inner) => rest.push(Statement::Block(self.statements(inner, false))),
                Statement::Instruction(instruction) => {
                    let id = InstId::from_index(self.at);
                    self.at += 1;
                    let changed = Statement::Instruction(self.instruction(instruction));
                    if self.is_hoisted.contains(id.index()) {
                        self.moved.push((id, self.loc.iter().cloned().chain([changed]).collect()));
                    } else {
                        rest.push(changed);
                    }
                }
                _ => {
                    if matches!(statement, Statement::Loc(_)) {
                        self.loc = Some(statement.clone());
                    }
                    rest.push(statement.clone());
                }
            }
        }
        rest
    }

    fn instruction(&self, instruction: &Instruction) -> Instruction {
        let mut changed = instruction.clone();
        if matches!(instruction.opcode, Opcode::Ret | Opcode::Exit) {
            let name = Name { text: self.wrapper.label("step"), span: instruction.span };
            let kind = OperandKind::Name { name, component: None, offset: 0 };
            changed.opcode = Opcode::Bra;
            changed.operands = vec![Operand { kind, span: instruction.span }];
        }
        changed.operands.iter_mut().for_each(|o| self.operand(o));
        changed
    }

    fn operand(&self, operand: &mut Operand) {
        match &mut operand.kind {
            OperandKind::Name { name, component, .. } => {
                let axis = component.map(usize::from).filter(|a| *a < 3);
                if let Some(text) = axis.and_then(|axis| self.wrapper.replacement(&name.text, axis)) {
                    name.text = text;
                    *component = None;
                }
            }
            OperandKind::Vector(list) | OperandKind::List(list) | OperandKind::Texture(list) => {
                list.iter_mut().for_each(|o| self.operand(o));
            }
            OperandKind::Pair(pair) => {
                self.operand(&mut pair.0);
                self.operand(&mut pair.1);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
