//! Module scope: version, target, variables, function heads, debugging sections.

use super::{Parsed, Parser};
use crate::diag::{Code, Diagnostic, closest};
use crate::isa::Type;
use crate::source::Span;
use crate::syntax::ast::{
    Declarator, Directive, FileDirective, Function, Init, Item, Linkage, Module, Name, Space, Variable,
};
use crate::syntax::lexer::Token;

/// Directives that may open a module-scope item.
const ITEM_DIRECTIVES: &[&str] = &[
    "version",
    "target",
    "address_size",
    "entry",
    "func",
    "visible",
    "extern",
    "weak",
    "common",
    "global",
    "const",
    "shared",
    "tex",
    "file",
    "section",
    "pragma",
    "alias",
    "loc",
];

impl Parser<'_, '_> {
    pub(super) fn module(&mut self) -> Module {
        let mut module = Module::default();
        while self.peek() != Token::Eof {
            let before = self.at;
            if self.item(&mut module).is_err() {
                self.recover_item(before);
                // A body whose head was wrong is not a list of items.
                if self.peek() == Token::LBrace && self.skip_braces().is_err() {
                    break;
                }
                self.eat(Token::RBrace);
            }
        }
        if module.version.is_none() {
            let start = Span::new(0, 0);
            let error = Diagnostic::error(Code::Directive, start, "the module has no `.version`");
            self.diagnostics.push(error.help("begin the file with `.version 7.0` and `.target sm_50`"));
        }
        module
    }

    /// After an error in the item that began at token `start`: like `recover`, but stops before a line that begins with
    /// the directive of another item.
    fn recover_item(&mut self, start: usize) {
        while !matches!(self.peek(), Token::LBrace | Token::RBrace | Token::Eof) {
            let begins_item = self.dot_word().is_some_and(|w| ITEM_DIRECTIVES.contains(&w)) && self.starts_line();
            if begins_item && self.at > start {
                return;
            }
            let closed = self.peek() == Token::Semi;
            self.bump();
            if closed {
                return;
            }
        }
    }

    fn item(&mut self, module: &mut Module) -> Parsed<()> {
        let start = self.span();
        let Some(word) = self.dot_word() else {
            // A stray semicolon is harmless; some tools print one after a declaration.
            return if self.eat(Token::Semi) { Ok(()) } else { Err(self.unexpected("a directive")) };
        };
        match word {
            "version" => {
                self.bump();
                // After a mistake, so that it is not reported as missing too.
                module.version.get_or_insert((1, 0));
                module.version = Some(self.version()?);
            }
            "target" => {
                self.bump();
                module.target.push(self.name()?);
                while self.eat(Token::Comma) {
                    module.target.push(self.name()?);
                }
            }
            "address_size" => {
                self.bump();
                let size = self.small_int()?;
                if size != 32 && size != 64 {
                    return Err(self.error(Code::Directive, self.last_span(), "the address size is 32 or 64"));
                }
                module.address_size = Some(size);
            }
            "file" => module.items.push(Item::File(self.file()?)),
            "section" => module.items.push(Item::Section(self.section()?)),
            "loc" => {
                // Some compilers leave a .loc between functions; it says nothing there.
                self.bump();
                self.loc()?;
            }
            "pragma" => {
                self.bump();
                module.items.push(Item::Pragma(self.string()?));
                self.expect(Token::Semi)?;
            }
            "alias" => {
                self.bump();
                let new = self.name()?;
                self.expect(Token::Comma)?;
                let old = self.name()?;
                self.expect(Token::Semi)?;
                module.items.push(Item::Alias(new, old));
            }
            _ => {
                let linkage = self.linkage();
                if self.at_dot("entry") || self.at_dot("func") {
                    module.items.push(Item::Function(self.function(linkage, start)?));
                } else if self.at_space() {
                    let variable = self.variable(linkage)?;
                    self.expect(Token::Semi)?;
                    module.items.push(Item::Variable(variable));
                } else {
                    return Err(self.unknown_directive(ITEM_DIRECTIVES));
                }
            }
        }
        Ok(())
    }

    pub(super) fn unknown_directive(&mut self, known: &[&str]) -> super::Failed {
        let Some(word) = self.dot_word() else { return self.unexpected("a directive") };
        let mut error = Diagnostic::error(Code::Syntax, self.span(), format!("`.{word}` cannot stand here"));
        if let Some(near) = closest(word, known.iter().copied()) {
            error = error.help(format!("did you mean `.{near}`?"));
        }
        self.diagnostics.push(error);
        super::Failed
    }

    fn version(&mut self) -> Parsed<(u8, u8)> {
        let text = self.text();
        let parsed = text.split_once('.').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match parsed {
            Some(version) if self.peek() == Token::Float => {
                self.bump();
                Ok(version)
            }
            _ => Err(self.unexpected("a version such as 7.0")),
        }
    }

    pub(super) fn string(&mut self) -> Parsed<String> {
        if self.peek() != Token::Str {
            return Err(self.unexpected("a string"));
        }
        let text = self.text();
        self.bump();
        Ok(text[1..text.len() - 1].to_owned())
    }

    fn file(&mut self) -> Parsed<FileDirective> {
        self.bump();
        let index = self.small_int()?;
        let name = self.string()?;
        let mut stamp = None;
        if self.eat(Token::Comma) {
            let time = self.int_token()?;
            self.expect(Token::Comma)?;
            stamp = Some((time, self.int_token()?));
        }
        Ok(FileDirective { index, name, stamp })
    }

    /// `.section name { ... }`, kept whole as text.
    fn section(&mut self) -> Parsed<Name> {
        let start = self.bump();
        while matches!(self.peek(), Token::Dot | Token::Ident | Token::Comma | Token::Str) {
            self.bump();
        }
        let span = start.to(self.skip_braces()?);
        Ok(Name { text: span.text(self.source).to_owned(), span })
    }

    fn linkage(&mut self) -> Linkage {
        let mut linkage = Linkage::Internal;
        loop {
            let found = match self.dot_word() {
                Some("visible") => Linkage::Visible,
                Some("extern") => Linkage::Extern,
                Some("weak") => Linkage::Weak,
                Some("common") => Linkage::Common,
                _ => return linkage,
            };
            linkage = found;
            self.bump();
        }
    }

    pub(super) fn at_space(&self) -> bool {
        self.space().is_some()
    }

    fn space(&self) -> Option<Space> {
        Some(match self.dot_word()? {
            "reg" => Space::Reg,
            "const" => Space::Const,
            "global" => Space::Global,
            "local" => Space::Local,
            "param" => Space::Param,
            "shared" | "shared::cta" => Space::Shared,
            "tex" => Space::Tex,
            _ => return None,
        })
    }

    /// A declaration from its space on; the closing semicolon or comma is the caller's.
    pub(super) fn variable(&mut self, linkage: Linkage) -> Parsed<Variable> {
        self.variable_with(linkage, true)
    }

    fn variable_with(&mut self, linkage: Linkage, several: bool) -> Parsed<Variable> {
        let start = self.span();
        let example = if several { "a state space such as `.reg`" } else { "`.param`" };
        let Some(space) = self.space() else { return Err(self.unexpected(example)) };
        self.bump();
        let mut variable = Variable {
            linkage,
            space,
            align: None,
            vector: None,
            ty: Type::B8,
            attributes: Vec::new(),
            names: Vec::new(),
            span: start,
        };
        let mut ty = None;
        let mut pointer = false;
        while let Some(word) = self.dot_word() {
            let span = self.bump();
            match word {
                "align" if pointer => {
                    let n = self.small_int()?;
                    variable.attributes.push(format!("align {n}"));
                }
                "align" => variable.align = Some(self.alignment()?),
                "v2" => variable.vector = Some(2),
                "v4" => variable.vector = Some(4),
                "attribute" => variable.attributes.push(self.attribute()?),
                "ptr" => {
                    pointer = true;
                    variable.attributes.push("ptr".to_owned());
                }
                "const" | "global" | "local" | "shared" if pointer => variable.attributes.push(word.to_owned()),
                _ => match Type::from_name(word) {
                    Some(found) if ty.is_none() => ty = Some(found),
                    Some(_) => return Err(self.error(Code::Syntax, span, format!("`.{word}` is a second type"))),
                    _ => return Err(self.error(Code::Syntax, span, format!("`.{word}` is not a type"))),
                },
            }
        }
        let Some(ty) = ty else { return Err(self.unexpected("a type such as `.b32`")) };
        variable.ty = ty;
        loop {
            variable.names.push(self.declarator()?);
            if !several || !self.eat(Token::Comma) {
                break;
            }
        }
        variable.span = start.to(self.last_span());
        Ok(variable)
    }

    fn alignment(&mut self) -> Parsed<u32> {
        let n = self.small_int()?;
        if n.is_power_of_two() && n <= 4096 {
            Ok(n)
        } else {
            Err(self.error(Code::Directive, self.last_span(), "an alignment is a power of two up to 4096"))
        }
    }

    fn attribute(&mut self) -> Parsed<String> {
        let start = self.expect(Token::LParen)?;
        while !matches!(self.peek(), Token::RParen | Token::Semi | Token::Eof) {
            self.bump();
        }
        let span = start.to(self.expect(Token::RParen)?);
        Ok(format!("attribute{}", span.text(self.source)))
    }

    fn declarator(&mut self) -> Parsed<Declarator> {
        let name = self.name()?;
        let mut count = None;
        if self.eat(Token::Less) {
            count = Some(self.small_int()?);
            self.expect(Token::Greater)?;
        }
        let mut dims = Vec::new();
        while self.eat(Token::LBracket) {
            if self.eat(Token::RBracket) {
                dims.push(None);
                continue;
            }
            let at = self.span();
            let n = self.const_int()?;
            match u64::try_from(n) {
                Ok(n) => dims.push(Some(n)),
                Err(_) => return Err(self.error(Code::Syntax, at, "an array cannot have a negative size")),
            }
            self.expect(Token::RBracket)?;
        }
        let init = if self.eat(Token::Assign) { Some(self.init()?) } else { None };
        Ok(Declarator { name, count, dims, init })
    }

    fn init(&mut self) -> Parsed<Init> {
        if self.eat(Token::LBrace) {
            return self.nested(|p| Ok(Init::List(p.comma_list(Token::RBrace, Self::init)?)));
        }
        Ok(Init::Value(self.expr()?))
    }

    /// `( .param ..., ... )`.
    pub(super) fn params(&mut self) -> Parsed<Vec<Variable>> {
        self.expect(Token::LParen)?;
        self.comma_list(Token::RParen, |p| p.variable_with(Linkage::Internal, false))
    }

    fn function(&mut self, linkage: Linkage, start: Span) -> Parsed<Function> {
        let is_entry = self.dot_word() == Some("entry");
        self.bump();
        let mut directives = Vec::new();
        let mut noreturn = false;
        self.function_directives(&mut directives, &mut noreturn)?;
        let returns = if self.peek() == Token::LParen { self.params()? } else { Vec::new() };
        let name = self.name()?;
        let params = if self.peek() == Token::LParen { self.params()? } else { Vec::new() };
        self.function_directives(&mut directives, &mut noreturn)?;
        let span = start.to(self.last_span());
        let body = if self.eat(Token::Semi) {
            None
        } else {
            self.expect(Token::LBrace)?;
            Some(self.statements())
        };
        Ok(Function { is_entry, linkage, noreturn, name, returns, params, directives, body, span })
    }

    fn function_directives(&mut self, directives: &mut Vec<Directive>, noreturn: &mut bool) -> Parsed<()> {
        while let Some(word) = self.dot_word() {
            let span = self.span();
            match word {
                "noreturn" => {
                    *noreturn = true;
                    self.bump();
                }
                "attribute" => {
                    self.bump();
                    self.attribute()?;
                }
                "maxntid" | "reqntid" | "minnctapersm" | "maxnreg" | "maxnctapersm" | "explicitcluster"
                | "reqnctapercluster" | "maxclusterrank" | "pragma" => {
                    self.bump();
                    let mut values = Vec::new();
                    if word == "pragma" {
                        self.string()?;
                        self.expect(Token::Semi)?;
                        continue;
                    }
                    if self.peek() == Token::Int {
                        values.push(self.small_int()?);
                        while self.eat(Token::Comma) {
                            values.push(self.small_int()?);
                        }
                    }
                    directives.push(Directive { name: word.to_owned(), values, span: span.to(self.last_span()) });
                }
                _ => {
                    return Err(self.unknown_directive(&["maxntid", "reqntid", "minnctapersm", "maxnreg", "noreturn"]));
                }
            }
        }
        Ok(())
    }
}
