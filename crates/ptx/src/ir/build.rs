//! Syntax tree to IR: names become indices.

mod function;
mod scope;

use super::{FuncId, Function, Label, Limits, Linkage, Module, Space, Symbol, Var, VarId, layout};
use crate::diag::{Code, Collector, Diagnostic, closest};
use crate::isa::Type;
use crate::source::Span;
use crate::syntax::ast;
use std::collections::HashMap;

pub(super) fn build(ast: &ast::Module, diagnostics: &mut Collector) -> Module {
    let mut builder = Builder {
        module: Module::default(),
        symbols: HashMap::new(),
        room_for_init: layout::MAX_INIT_BYTES,
        diagnostics,
    };
    builder.header(ast);
    // Declarations first, so that bodies and initial values may refer to what comes later.
    for item in &ast.items {
        match item {
            ast::Item::Variable(v) => builder.module_variable(v),
            ast::Item::Function(f) => builder.declare_function(f),
            ast::Item::File(f) => builder.module.files.push((f.index, f.name.clone())),
            ast::Item::Alias(new, old) => builder.alias(new, old),
            ast::Item::Section(_) | ast::Item::Pragma(_) => {}
        }
    }
    for item in &ast.items {
        match item {
            ast::Item::Variable(v) => builder.initial_values(v),
            ast::Item::Function(f) => function::build_body(&mut builder, f),
            _ => {}
        }
    }
    builder.module
}

struct Builder<'d> {
    module: Module,
    /// Module-scope names. Looked up, never iterated: iteration order would not be stable.
    symbols: HashMap<String, Symbol>,
    /// Bytes that further initial values may take.
    room_for_init: u64,
    diagnostics: &'d mut Collector,
}

impl Builder<'_> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn header(&mut self, ast: &ast::Module) {
        self.module.version = ast.version.unwrap_or((1, 0));
        self.module.address_size = ast.address_size.unwrap_or(32);
        self.module.target = ast.target.iter().map(|n| n.text.clone()).collect();
        let number = |name: &str| -> Option<u32> {
            let digits = name.strip_prefix("sm_").or_else(|| name.strip_prefix("compute_"))?;
            digits.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()
        };
        match ast.target.iter().find_map(|n| number(&n.text)) {
            Some(sm) => self.module.sm = sm,
            None => {
                let span = ast.target.first().map_or(Span::default(), |n| n.span);
                let error = Diagnostic::error(Code::Directive, span, "the module names no target architecture");
                self.report(error.help("write `.target sm_50` behind `.version`"));
            }
        }
    }

    fn module_variable(&mut self, variable: &ast::Variable) {
        if matches!(variable.space, Space::Reg | Space::Local | Space::Param) {
            let message = format!("a .{} variable cannot stand at module scope", variable.space.name());
            let error = Diagnostic::error(Code::Directive, variable.span, message);
            self.report(error.help("declare it in the body of a function"));
            return;
        }
        for declarator in &variable.names {
            if let Some(id) = self.variable(variable, declarator, None) {
                self.define(&declarator.name, Symbol::Var(id), variable.linkage);
            }
        }
    }

    /// Adds a variable to the arena; reports and returns nothing when it makes no sense.
    fn variable(
        &mut self,
        variable: &ast::Variable,
        declarator: &ast::Declarator,
        owner: Option<FuncId>,
    ) -> Option<VarId> {
        if declarator.count.is_some() {
            let error = Diagnostic::error(Code::Directive, declarator.name.span, "`<n>` is for registers only");
            self.report(error.help("declare an array with `[n]`"));
            return None;
        }
        if variable.ty == Type::Pred {
            let error = Diagnostic::error(Code::Type, variable.span, "predicates live in registers only");
            self.report(error.help("use `.reg .pred`, or store the predicate as an integer"));
            return None;
        }
        let size = match layout::size(variable, declarator) {
            Ok(size) => size,
            Err(error) => {
                self.report(error);
                return None;
            }
        };
        let natural = layout::natural_align(variable.ty, variable.vector);
        let id = VarId::from_index(self.module.vars.len());
        self.module.vars.push(Var {
            name: declarator.name.text.clone(),
            space: variable.space,
            ty: variable.ty,
            vector: variable.vector,
            dims: declarator.dims.clone(),
            align: variable.align.unwrap_or(natural),
            size,
            linkage: variable.linkage,
            owner,
            init: None,
            attributes: variable.attributes.clone(),
            span: declarator.name.span,
        });
        Some(id)
    }

    /// Enters a module-scope name. A definition may follow or replace declarations.
    fn define(&mut self, name: &ast::Name, symbol: Symbol, linkage: Linkage) {
        match self.symbols.get(&name.text) {
            None => {
                self.symbols.insert(name.text.clone(), symbol);
            }
            Some(Symbol::Var(old)) if self.module.var(*old).linkage == Linkage::Extern => {
                self.symbols.insert(name.text.clone(), symbol);
            }
            Some(Symbol::Var(_)) if linkage == Linkage::Extern => {}
            Some(_) => {
                let message = format!("`{}` is declared twice", name.text);
                self.report(Diagnostic::error(Code::Name, name.span, message));
            }
        }
    }

    fn alias(&mut self, new: &ast::Name, old: &ast::Name) {
        match self.symbols.get(&old.text).copied() {
            Some(symbol) => {
                // An alias completes the declaration of the same name.
                self.symbols.insert(new.text.clone(), symbol);
            }
            None => self.unknown_symbol(old),
        }
    }

    fn unknown_symbol(&mut self, name: &ast::Name) {
        let error = unknown_name(name, self.symbols.keys().map(String::as_str));
        self.report(error);
    }

    fn initial_values(&mut self, variable: &ast::Variable) {
        for declarator in &variable.names {
            let Some(init) = &declarator.init else { continue };
            if !matches!(variable.space, Space::Global | Space::Const) {
                self.report(layout::no_init_here(declarator.name.span, variable.space.name()));
                continue;
            }
            let Some(Symbol::Var(id)) = self.symbols.get(&declarator.name.text).copied() else { continue };
            let symbols = &self.symbols;
            let mut resolve = |name: &ast::Name| {
                symbols.get(&name.text).copied().ok_or_else(|| unknown_name(name, symbols.keys().map(String::as_str)))
            };
            match layout::initial(&self.module.vars[id.index()], init, self.room_for_init, &mut resolve) {
                Ok(initial) => {
                    self.room_for_init -= initial.bytes.len() as u64;
                    self.module.vars[id.index()].init = Some(initial);
                }
                Err(error) => self.report(error),
            }
        }
    }

    fn declare_function(&mut self, f: &ast::Function) {
        if let Some(Symbol::Func(old)) = self.symbols.get(&f.name.text).copied() {
            let known = &self.module.functions[old.index()];
            if known.is_defined && f.body.is_some() {
                let message = format!("`{}` is defined twice", f.name.text);
                self.report(Diagnostic::error(Code::Name, f.name.span, message));
            } else if f.body.is_some() {
                // The parameters of the definition are the ones its body names.
                let function = self.function_head(f, old);
                self.module.functions[old.index()] = function;
            }
            return;
        }
        let id = FuncId::from_index(self.module.functions.len());
        let function = self.function_head(f, id);
        self.module.functions.push(function);
        self.define(&f.name, Symbol::Func(id), f.linkage);
    }

    fn function_head(&mut self, f: &ast::Function, id: FuncId) -> Function {
        let mut parameters = |list: &[ast::Variable]| -> Vec<VarId> {
            let mut ids = Vec::new();
            for p in list {
                if p.space != Space::Param {
                    let error = Diagnostic::error(
                        Code::Unsupported,
                        p.span,
                        format!("parameters in .{} are not supported (PTX 1.x calling convention)", p.space.name()),
                    );
                    self.report(error.help("declare the parameter with `.param`"));
                    continue;
                }
                ids.extend(p.names.iter().filter_map(|d| self.variable(p, d, Some(id))));
            }
            ids
        };
        let params = parameters(&f.params);
        let returns = parameters(&f.returns);
        let limits = self.limits(f);
        Function {
            name: f.name.text.clone(),
            is_entry: f.is_entry,
            linkage: f.linkage,
            noreturn: f.noreturn,
            params,
            returns,
            locals: Vec::new(),
            regs: Vec::new(),
            insts: Vec::new(),
            labels: Vec::<Label>::new(),
            tables: Vec::new(),
            prototypes: Vec::new(),
            limits,
            is_defined: f.body.is_some(),
            span: f.span,
        }
    }

    fn limits(&mut self, f: &ast::Function) -> Limits {
        let mut limits = Limits::default();
        for d in &f.directives {
            let dims: [u32; 3] = std::array::from_fn(|i| d.values.get(i).copied().unwrap_or(1));
            let product = dims.iter().fold(1u32, |a, b| a.saturating_mul(*b));
            let count = d.values.len();
            let ok = match d.name.as_str() {
                "maxntid" => {
                    limits.max_threads = Some(product);
                    (1..=3).contains(&count)
                }
                "reqntid" => {
                    limits.required_block = Some(dims);
                    (1..=3).contains(&count)
                }
                "minnctapersm" | "maxnctapersm" => {
                    limits.min_ctas_per_sm = d.values.first().copied();
                    count == 1
                }
                "maxnreg" => {
                    limits.max_registers = d.values.first().copied();
                    count == 1
                }
                _ => {
                    let message = format!(".{} is not supported: thread-block clusters are not modelled", d.name);
                    self.report(Diagnostic::error(Code::Unsupported, d.span, message));
                    true
                }
            };
            if !ok || d.values.contains(&0) {
                let takes = if d.name.ends_with("ntid") { "one to three numbers" } else { "one number" };
                let message = format!("`.{}` takes {takes} larger than 0", d.name);
                self.report(Diagnostic::error(Code::Directive, d.span, message));
            }
        }
        limits
    }
}

fn unknown_name<'a>(name: &ast::Name, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
    let error = Diagnostic::error(Code::Name, name.span, format!("`{}` is not declared", name.text));
    match closest(&name.text, known) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error,
    }
}
