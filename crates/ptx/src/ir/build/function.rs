//! Function bodies: flattening scopes, resolving operands.

use super::scope::{Found, Local, Scope, Scopes};
use super::{Builder, unknown_name};
use crate::diag::{Code, Diagnostic};
use crate::ir::check;
use crate::ir::{
    Address, Base, FuncId, Guard, Imm, InstId, Label, LabelId, Loc, Operand, ProtoId, Prototype, Reg, RegId, Space,
    Symbol, Table, TableId,
};
use crate::isa::{Opcode, Special, Type};
use crate::syntax::ast::{self, Expr, OperandKind, Statement};

/// Fills in the body of a function that has been declared.
pub(super) fn build_body(builder: &mut Builder<'_>, f: &ast::Function) {
    let Some(body) = &f.body else { return };
    let Some(Symbol::Func(id)) = builder.symbols.get(&f.name.text).copied() else { return };
    if builder.module.func(id).span.range() != f.span.range() {
        return; // A second definition, already reported.
    }
    let mut b = Body { builder, id, scopes: Scopes::default(), planned: Vec::new(), next_scope: 0, loc: None };
    let mut position = 0;
    b.plan(body, &mut position);
    b.scopes.enter(Scope::default());
    b.declare_params();
    b.statements(body);
    b.end_of_body(f);
}

struct Body<'b, 'd> {
    builder: &'b mut Builder<'d>,
    id: FuncId,
    scopes: Scopes,
    /// Scopes with their labels, in the order in which they open.
    planned: Vec<Scope>,
    next_scope: usize,
    loc: Option<Loc>,
}

type Resolved<T> = Result<T, Diagnostic>;

impl Body<'_, '_> {
    fn function(&mut self) -> &mut crate::ir::Function {
        &mut self.builder.module.functions[self.id.index()]
    }

    /// First pass: labels may be used before they stand, so they are collected, scope by scope,
    /// together with their positions.
    fn plan(&mut self, body: &[Statement], position: &mut u32) {
        let index = self.planned.len();
        self.planned.push(Scope::default());
        for statement in body {
            match statement {
                Statement::Instruction(_) => *position += 1,
                Statement::Block(inner) => self.plan(inner, position),
                Statement::Label(name) => {
                    let at = InstId(*position);
                    let labels = &mut self.function().labels;
                    let id = LabelId::from_index(labels.len());
                    labels.push(Label { name: name.text.clone(), at });
                    self.plan_name(index, name, Local::Label(id));
                }
                Statement::BranchTargets(name, _) => {
                    let tables = &mut self.function().tables;
                    let id = TableId::from_index(tables.len());
                    tables.push(Table { name: name.text.clone(), targets: Vec::new() });
                    self.plan_name(index, name, Local::Table(id));
                }
                Statement::CallTargets(name, _) => self.plan_prototype(index, name, &[], &[]),
                Statement::CallPrototype(p) => self.plan_prototype(index, &p.name, &p.returns, &p.params),
                Statement::Variable(_) | Statement::Loc(_) | Statement::Pragma(_) => {}
            }
        }
    }

    fn plan_prototype(&mut self, scope: usize, name: &ast::Name, returns: &[ast::Variable], params: &[ast::Variable]) {
        let mut shapes = |list: &[ast::Variable]| -> Vec<(u64, u32)> {
            let shape = |v: &ast::Variable| {
                let size = v.names.first().map_or(Ok(0), |d| crate::ir::layout::size(v, d)).unwrap_or_else(|error| {
                    self.builder.report(error);
                    0
                });
                (size, v.align.unwrap_or_else(|| crate::ir::layout::natural_align(v.ty, v.vector)))
            };
            list.iter().map(shape).collect()
        };
        let prototype =
            Prototype { name: name.text.clone(), returns: shapes(returns), params: shapes(params), targets: None };
        let prototypes = &mut self.function().prototypes;
        let id = ProtoId::from_index(prototypes.len());
        prototypes.push(prototype);
        self.plan_name(scope, name, Local::Proto(id));
    }

    fn plan_name(&mut self, scope: usize, name: &ast::Name, local: Local) {
        if !self.planned[scope].declare(&name.text, local) {
            let message = format!("label `{}` is declared twice", name.text);
            self.builder.report(Diagnostic::error(Code::Name, name.span, message));
        }
    }

    fn declare_params(&mut self) {
        let f = self.builder.module.func(self.id);
        for id in f.params.iter().chain(&f.returns).copied().collect::<Vec<_>>() {
            let name = self.builder.module.var(id).name.clone();
            self.scopes.declare(&name, Local::Var(id));
        }
    }

    /// Second pass.
    fn statements(&mut self, body: &[Statement]) {
        let planned = std::mem::take(&mut self.planned[self.next_scope]);
        self.next_scope += 1;
        self.scopes.enter(planned);
        for statement in body {
            match statement {
                Statement::Instruction(i) => self.instruction(i),
                Statement::Block(inner) => self.statements(inner),
                Statement::Variable(v) => self.variable(v),
                Statement::Loc(l) => {
                    let inlined_at = l.inlined.as_ref().map(|call| (call.file, call.line));
                    self.loc = Some(Loc { file: l.file, line: l.line, column: l.column, inlined_at });
                }
                Statement::BranchTargets(name, targets) => self.branch_targets(name, targets),
                Statement::CallTargets(name, targets) => self.call_targets(name, targets),
                Statement::Label(_) | Statement::Pragma(_) | Statement::CallPrototype(_) => {}
            }
        }
        self.scopes.leave();
    }

    fn variable(&mut self, v: &ast::Variable) {
        for d in &v.names {
            if v.space == Space::Reg {
                self.register(v, d);
            } else if let Some(id) = self.builder.variable(v, d, Some(self.id)) {
                if d.init.is_some() {
                    let error = crate::ir::layout::no_init_here(d.name.span, v.space.name());
                    self.builder.report(error);
                }
                self.function().locals.push(id);
                self.declare(&d.name, Local::Var(id));
            }
        }
    }

    fn declare(&mut self, name: &ast::Name, local: Local) {
        if !self.scopes.declare(&name.text, local) {
            let message = format!("`{}` is declared twice in this scope", name.text);
            self.builder.report(Diagnostic::error(Code::Name, name.span, message));
        }
    }

    fn register(&mut self, v: &ast::Variable, d: &ast::Declarator) {
        if !d.dims.is_empty() || v.ty == Type::B128 || v.ty.kind() == crate::isa::Kind::Opaque {
            let message =
                format!("a register cannot have the type {}{}", v.ty, if d.dims.is_empty() { "" } else { "[]" });
            self.builder.report(Diagnostic::error(Code::Type, d.name.span, message));
        } else if let Some(count) = d.count {
            if !self.scopes.declare_family(&d.name.text, count, v.ty, v.vector) {
                let message = format!("`{}<...>` is declared twice in this scope", d.name.text);
                self.builder.report(Diagnostic::error(Code::Name, d.name.span, message));
            }
        } else {
            let local = self.new_register(&d.name.text, v.ty, v.vector);
            self.declare(&d.name, local);
        }
    }

    fn new_register(&mut self, name: &str, ty: Type, vector: Option<u32>) -> Local {
        let regs = &mut self.function().regs;
        let mut add = |name: String| {
            regs.push(Reg { name, ty });
            RegId::from_index(regs.len() - 1)
        };
        match vector {
            None => Local::Reg(add(name.to_owned())),
            Some(n) => {
                let component = |i: u32| format!("{name}.{}", ["x", "y", "z", "w"][i as usize & 3]);
                Local::VectorReg((0..n).map(|i| add(component(i))).collect())
            }
        }
    }

    fn find(&mut self, name: &str) -> Option<Local> {
        match self.scopes.find(name) {
            Found::Known(local) => Some(local),
            Found::New(ty, vector, scope) => {
                let local = self.new_register(name, ty, vector);
                self.scopes.declare_in(scope, name, local.clone());
                Some(local)
            }
            Found::Nothing => None,
        }
    }

    fn unknown(&self, name: &ast::Name) -> Diagnostic {
        if self.builder.diagnostics.is_full() {
            return unknown_name(name, []);
        }
        let error = Diagnostic::error(Code::Name, name.span, format!("`{}` is not declared", name.text));
        if let Some(range) = self.scopes.range_before(&name.text) {
            return error.help(range);
        }
        let specials = Special::ALL.iter().map(|s| s.as_str());
        if specials.clone().any(|s| s.strip_prefix(name.text.as_str()).is_some_and(|c| c.starts_with('.'))) {
            let message = format!("`{}` is a vector with the components `.x`, `.y` and `.z`", name.text);
            return Diagnostic { message, ..error }.help(format!("write `{}.x`", name.text));
        }
        let known = self.scopes.visible().chain(self.builder.symbols.keys().map(String::as_str)).chain(specials);
        let error = unknown_name(name, known);
        if error.help.is_none() && name.text.starts_with('%') {
            return error.help("declare it with `.reg`");
        }
        error
    }

    /// An error about a name that is not what it must be here, declared or not.
    fn not_a(&mut self, what: &str, name: &ast::Name) {
        let declared = self.find(&name.text).is_some() || self.builder.symbols.contains_key(&name.text);
        let error = match declared {
            true => Diagnostic::error(Code::Type, name.span, format!("`{}` is not {what}", name.text)),
            false => self.unknown(name),
        };
        self.builder.report(error);
    }

    fn branch_targets(&mut self, name: &ast::Name, targets: &[ast::Name]) {
        let mut labels = Vec::new();
        for target in targets {
            match self.find(&target.text) {
                Some(Local::Label(id)) => labels.push(id),
                _ => self.not_a("a label", target),
            }
        }
        if let Some(Local::Table(id)) = self.find(&name.text) {
            self.function().tables[id.index()].targets = labels;
        }
    }

    fn call_targets(&mut self, name: &ast::Name, targets: &[ast::Name]) {
        let mut functions = Vec::new();
        for target in targets {
            match self.builder.symbols.get(&target.text) {
                Some(Symbol::Func(id)) => functions.push(*id),
                _ => self.not_a("a function", target),
            }
        }
        if let Some(Local::Proto(id)) = self.find(&name.text) {
            self.function().prototypes[id.index()].targets = Some(functions);
        }
    }

    fn instruction(&mut self, ast: &ast::Instruction) {
        let guard = match &ast.guard {
            None => Ok(None),
            Some(g) => self.predicate(&g.register).map(|reg| Some(Guard { reg, negated: g.negated })),
        };
        let mut operands = Vec::new();
        let mut failed = false;
        for operand in &ast.operands {
            match self.operand(operand) {
                Ok(o) => operands.push(o),
                Err(error) => {
                    self.builder.report(error);
                    failed = true;
                }
            }
        }
        let guard = guard.unwrap_or_else(|error| {
            self.builder.report(error);
            failed = true;
            None
        });
        let spans: Vec<_> = ast.operands.iter().map(|o| o.span).collect();
        let checker = check::Checker { module: &self.builder.module, function: self.builder.module.func(self.id) };
        let checked = if failed {
            // Without operands: those that could be read have not been checked, and analyses rely on that.
            checker.words(ast).map(|(form, words)| (form, words, Vec::new()))
        } else {
            checker.instruction(ast, operands, &spans, self.builder.diagnostics)
        };
        match checked {
            Ok((form, words, operands)) => {
                let inst =
                    crate::ir::Inst { guard, opcode: ast.opcode, words, form, operands, span: ast.span, loc: self.loc };
                self.function().insts.push(inst);
            }
            Err(error) => {
                self.builder.report(error);
                // Keep positions true for the labels: a trap stands in.
                let form = crate::isa::forms_of(Opcode::Trap).next().map(|f| f.id);
                if let Some(form) = form {
                    let inst = crate::ir::Inst {
                        guard: None,
                        opcode: Opcode::Trap,
                        words: Vec::new(),
                        form,
                        operands: Vec::new(),
                        span: ast.span,
                        loc: self.loc,
                    };
                    self.function().insts.push(inst);
                }
            }
        }
    }

    fn predicate(&mut self, name: &ast::Name) -> Resolved<RegId> {
        match self.find(&name.text) {
            Some(Local::Reg(reg)) if self.function().reg(reg).ty == Type::Pred => Ok(reg),
            Some(_) => {
                let message = format!("`{}` is not a predicate register", name.text);
                Err(Diagnostic::error(Code::Type, name.span, message).help("declare it with `.reg .pred`"))
            }
            None => Err(self.unknown(name)),
        }
    }

    fn operand(&mut self, operand: &ast::Operand) -> Resolved<Operand> {
        match &operand.kind {
            OperandKind::Name { name, component, offset } => self.named(name, *component, *offset),
            OperandKind::Not(name) => Ok(Operand::Not(self.predicate(name)?)),
            OperandKind::Const(expr) => self.constant(expr),
            OperandKind::Sink => Ok(Operand::Sink),
            OperandKind::Vector(list) => Ok(Operand::Vector(self.list(list)?)),
            OperandKind::List(list) => Ok(Operand::List(self.list(list)?)),
            OperandKind::Pair(pair) => {
                let first = self.operand(&pair.0)?;
                let second = self.operand(&pair.1)?;
                Ok(Operand::Pair(Box::new([first, second])))
            }
            OperandKind::Memory(m) => {
                let base = match &m.base {
                    None => Base::Absolute,
                    Some(name) => self.base(name)?,
                };
                Ok(Operand::Memory(Address { base, offset: m.offset }))
            }
            OperandKind::Texture(parts) => self.texture(operand, parts),
        }
    }

    fn list(&mut self, list: &[ast::Operand]) -> Resolved<Vec<Operand>> {
        list.iter().map(|o| self.operand(o)).collect()
    }

    fn constant(&mut self, expr: &Expr) -> Resolved<Operand> {
        Ok(Operand::Imm(match expr {
            Expr::Int(v) => Imm::Int(*v),
            Expr::F32(b) => Imm::F32(*b),
            Expr::F64(b) => Imm::F64(*b),
            Expr::Address { name, offset, .. } => return self.named(name, None, *offset),
        }))
    }

    fn named(&mut self, name: &ast::Name, component: Option<u8>, offset: i64) -> Resolved<Operand> {
        let special = match component {
            Some(c) => Special::from_name(&format!("{}.{}", name.text, ["x", "y", "z", "w"][usize::from(c & 3)])),
            None => Special::from_name(&name.text),
        };
        if let Some(special) = special {
            return Ok(Operand::Special(special));
        }
        let plain = |ok: Operand| {
            if offset == 0 {
                Ok(ok)
            } else {
                let message = format!("an offset cannot be added to `{}` here", name.text);
                Err(Diagnostic::error(Code::Type, name.span, message).help("add it with an `add` instruction"))
            }
        };
        match (self.find(&name.text), component) {
            (Some(Local::Reg(reg)), None) => plain(Operand::Reg(reg)),
            (Some(Local::VectorReg(regs)), Some(c)) if usize::from(c) < regs.len() => {
                Ok(Operand::Reg(regs[usize::from(c)]))
            }
            (Some(Local::VectorReg(regs)), None) => {
                plain(Operand::Vector(regs.into_iter().map(Operand::Reg).collect()))
            }
            (Some(Local::Var(id)), None) => Ok(Operand::VarAddress(id, offset)),
            (Some(Local::Label(id)), None) => plain(Operand::Label(id)),
            (Some(Local::Table(id)), None) => plain(Operand::Table(id)),
            (Some(Local::Proto(id)), None) => plain(Operand::Proto(id)),
            (Some(_), Some(c)) => {
                let component = ["x", "y", "z", "w"][usize::from(c & 3)];
                let message = format!("`{}` has no component `.{component}`", name.text);
                Err(Diagnostic::error(Code::Name, name.span, message))
            }
            (None, _) => match self.builder.symbols.get(&name.text) {
                Some(Symbol::Var(id)) if component.is_none() => Ok(Operand::VarAddress(*id, offset)),
                Some(Symbol::Func(id)) if component.is_none() => plain(Operand::Func(*id)),
                _ => Err(self.unknown(name)),
            },
        }
    }

    fn base(&mut self, name: &ast::Name) -> Resolved<Base> {
        match self.named(name, None, 0)? {
            Operand::Reg(reg) => Ok(Base::Reg(reg)),
            Operand::VarAddress(var, _) => Ok(Base::Var(var)),
            _ => {
                let message = format!("`{}` cannot be the base of an address", name.text);
                Err(Diagnostic::error(Code::Type, name.span, message))
            }
        }
    }

    fn texture(&mut self, operand: &ast::Operand, parts: &[ast::Operand]) -> Resolved<Operand> {
        let wrong = |what: &str| Diagnostic::error(Code::Type, operand.span, what.to_owned());
        let mut bases = Vec::new();
        let mut coords = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            match &part.kind {
                OperandKind::Name { name, component: None, offset: 0 } if i + 1 < parts.len() => {
                    bases.push(self.base(name)?);
                }
                OperandKind::Vector(list) if i + 1 == parts.len() => coords = self.list(list)?,
                _ if i + 1 == parts.len() => coords = vec![self.operand(part)?],
                _ => return Err(wrong("expected a texture, an optional sampler and coordinates")),
            }
        }
        match bases[..] {
            [texture] => Ok(Operand::Texture { texture, sampler: None, coords }),
            [texture, sampler] => Ok(Operand::Texture { texture, sampler: Some(sampler), coords }),
            _ => Err(wrong("expected a texture, an optional sampler and coordinates")),
        }
    }

    /// Control must not run off the end of a body.
    fn end_of_body(&mut self, f: &ast::Function) {
        let count = self.function().insts.len();
        let runs_off = self.function().insts.last().is_none_or(crate::ir::Inst::falls_through);
        let label_at_end = self.function().labels.iter().any(|l| l.at.index() == count);
        if runs_off || label_at_end {
            // PTX returns at the closing brace; make it explicit so that every path ends in an
            // instruction. Labels at the end then stand before it.
            self.implicit_return(f);
        }
    }

    fn implicit_return(&mut self, f: &ast::Function) {
        let Some(form) = crate::isa::forms_of(Opcode::Ret).next() else { return };
        let loc = self.loc;
        self.function().insts.push(crate::ir::Inst {
            guard: None,
            opcode: Opcode::Ret,
            words: Vec::new(),
            form: form.id,
            operands: Vec::new(),
            span: f.name.span,
            loc,
        });
    }
}
