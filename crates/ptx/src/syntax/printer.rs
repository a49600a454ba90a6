//! Syntax tree to normalised text.

use super::ast::{
    Declarator, Expr, Function, Init, Instruction, Item, Linkage, Loc, Module, Name, Operand, OperandKind, Prototype,
    Statement, Variable,
};
use std::fmt::{self, Write};

/// Prints a module: one statement per line, one tab per scope, numbers in one spelling. Parsing
/// the result gives the same module.
#[must_use]
pub fn print(module: &Module) -> String {
    let mut printer = Printer { out: String::new(), indent: 0 };
    // Writing to a String cannot fail.
    let _ = printer.module(module);
    printer.out
}

struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    fn line(&mut self, text: impl fmt::Display) -> fmt::Result {
        for _ in 0..self.indent {
            self.out.push('\t');
        }
        writeln!(self.out, "{text}")
    }

    fn module(&mut self, module: &Module) -> fmt::Result {
        if let Some((major, minor)) = module.version {
            self.line(format_args!(".version {major}.{minor}"))?;
        }
        if !module.target.is_empty() {
            let words: Vec<&str> = module.target.iter().map(|n| n.text.as_str()).collect();
            self.line(format_args!(".target {}", words.join(", ")))?;
        }
        if let Some(size) = module.address_size {
            self.line(format_args!(".address_size {size}"))?;
        }
        for item in &module.items {
            match item {
                Item::Variable(v) => self.line(format_args!("{};", variable(v)))?,
                Item::Function(f) => self.function(f)?,
                Item::File(f) => match f.stamp {
                    Some((time, size)) => {
                        self.line(format_args!(".file {} \"{}\", {time}, {size}", f.index, f.name))?
                    }
                    None => self.line(format_args!(".file {} \"{}\"", f.index, f.name))?,
                },
                Item::Section(text) => self.line(&text.text)?,
                Item::Pragma(text) => self.line(format_args!(".pragma \"{text}\";"))?,
                Item::Alias(new, old) => self.line(format_args!(".alias {}, {};", new.text, old.text))?,
            }
        }
        Ok(())
    }

    fn function(&mut self, f: &Function) -> fmt::Result {
        let mut head = format!("\n{}{}", linkage(f.linkage), if f.is_entry { ".entry " } else { ".func " });
        if !f.returns.is_empty() {
            write!(head, "({}) ", list(&f.returns, variable))?;
        }
        write!(head, "{}(", f.name.text)?;
        if !f.params.is_empty() {
            write!(head, "\n\t{}\n", f.params.iter().map(variable).collect::<Vec<_>>().join(",\n\t"))?;
        }
        head.push(')');
        if f.noreturn {
            head += " .noreturn";
        }
        for d in &f.directives {
            let values: Vec<String> = d.values.iter().map(u32::to_string).collect();
            write!(head, "\n.{} {}", d.name, values.join(", "))?;
        }
        let Some(body) = &f.body else { return self.line(format_args!("{head};")) };
        self.line(head)?;
        self.block(body)
    }

    fn block(&mut self, body: &[Statement]) -> fmt::Result {
        self.line("{")?;
        self.indent += 1;
        for statement in body {
            self.statement(statement)?;
        }
        self.indent -= 1;
        self.line("}")
    }

    fn statement(&mut self, statement: &Statement) -> fmt::Result {
        match statement {
            Statement::Label(name) => {
                let indent = std::mem::take(&mut self.indent);
                self.line(format_args!("{}:", name.text))?;
                self.indent = indent;
                Ok(())
            }
            Statement::Instruction(i) => self.line(format_args!("{};", instruction(i))),
            Statement::Variable(v) => self.line(format_args!("{};", variable(v))),
            Statement::Block(body) => self.block(body),
            Statement::Loc(l) => self.line(loc(l)),
            Statement::Pragma(text) => self.line(format_args!(".pragma \"{text}\";")),
            Statement::BranchTargets(name, targets) => {
                self.line(format_args!("{}: .branchtargets {};", name.text, names(targets)))
            }
            Statement::CallTargets(name, targets) => {
                self.line(format_args!("{}: .calltargets {};", name.text, names(targets)))
            }
            Statement::CallPrototype(p) => self.line(prototype(p)),
        }
    }
}

fn names(list: &[Name]) -> String {
    list.iter().map(|n| n.text.as_str()).collect::<Vec<_>>().join(", ")
}

fn list<T>(items: &[T], f: impl Fn(&T) -> String) -> String {
    items.iter().map(f).collect::<Vec<_>>().join(", ")
}

fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::Internal => "",
        Linkage::Visible => ".visible ",
        Linkage::Extern => ".extern ",
        Linkage::Weak => ".weak ",
        Linkage::Common => ".common ",
    }
}

fn prototype(p: &Prototype) -> String {
    let returns = if p.returns.is_empty() { String::new() } else { format!("({}) ", list(&p.returns, variable)) };
    let noreturn = if p.noreturn { " .noreturn" } else { "" };
    format!("{}: .callprototype {returns}_ ({}){noreturn};", p.name.text, list(&p.params, variable))
}

fn loc(l: &Loc) -> String {
    let mut text = format!(".loc {} {} {}", l.file, l.line, l.column);
    if let Some(i) = &l.inlined {
        let offset = if i.offset == 0 { String::new() } else { format!("+{}", i.offset) };
        text += &format!(", function_name {}{offset}, inlined_at {} {} {}", i.function, i.file, i.line, i.column);
    }
    text
}

fn variable(v: &Variable) -> String {
    let mut text = format!("{}.{}", linkage(v.linkage), v.space.name());
    // Attributes of the variable come before the type, from `.ptr` on they come behind it.
    let pointer = v.attributes.iter().position(|a| a == "ptr").unwrap_or(v.attributes.len());
    let (before, behind) = v.attributes.split_at(pointer);
    for attribute in before {
        text += &format!(" .{attribute}");
    }
    if let Some(align) = v.align {
        text += &format!(" .align {align}");
    }
    if let Some(n) = v.vector {
        text += &format!(" .v{n}");
    }
    text += &format!(" {}", v.ty);
    for attribute in behind {
        text += &format!(" .{attribute}");
    }
    format!("{text} {}", list(&v.names, declarator))
}

fn declarator(d: &Declarator) -> String {
    let mut text = d.name.text.clone();
    if let Some(count) = d.count {
        text += &format!("<{count}>");
    }
    for dim in &d.dims {
        text += &dim.map_or("[]".to_owned(), |n| format!("[{n}]"));
    }
    if let Some(value) = &d.init {
        text += &format!(" = {}", init(value));
    }
    text
}

fn init(value: &Init) -> String {
    match value {
        Init::Value(e) => expr(e),
        Init::List(items) => format!("{{{}}}", list(items, init)),
    }
}

fn expr(e: &Expr) -> String {
    match e {
        Expr::Int(v) => v.to_string(),
        Expr::F32(bits) => format!("0f{bits:08X}"),
        Expr::F64(bits) => format!("0d{bits:016X}"),
        Expr::Address { name, offset, generic } => {
            let base = if *generic { format!("generic({})", name.text) } else { name.text.clone() };
            format!("{base}{}", plus(*offset))
        }
    }
}

fn plus(offset: i64) -> String {
    if offset == 0 { String::new() } else { format!("+{offset}") }
}

fn instruction(i: &Instruction) -> String {
    let mut text = String::new();
    if let Some(g) = &i.guard {
        text += &format!("@{}{} ", if g.negated { "!" } else { "" }, g.register.text);
    }
    text += i.opcode.as_str();
    for (word, _) in &i.words {
        text += &format!(".{}", word.as_str());
    }
    if !i.operands.is_empty() {
        text += &format!(" {}", list(&i.operands, operand));
    }
    text
}

fn operand(o: &Operand) -> String {
    match &o.kind {
        OperandKind::Name { name, component, offset } => {
            let component = component.map_or("", |c| [".x", ".y", ".z", ".w"][usize::from(c & 3)]);
            format!("{}{component}{}", name.text, plus(*offset))
        }
        OperandKind::Not(name) => format!("!{}", name.text),
        OperandKind::Const(e) => expr(e),
        OperandKind::Sink => "_".to_owned(),
        OperandKind::Vector(items) => format!("{{{}}}", list(items, operand)),
        OperandKind::Pair(pair) => format!("{}|{}", operand(&pair.0), operand(&pair.1)),
        OperandKind::Memory(m) => match &m.base {
            Some(name) => format!("[{}{}]", name.text, plus(m.offset)),
            None => format!("[{}]", m.offset),
        },
        OperandKind::Texture(parts) => format!("[{}]", list(parts, operand)),
        OperandKind::List(items) => format!("({})", list(items, operand)),
    }
}
