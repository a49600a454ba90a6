//! Instructions and their operands.

use super::{Parsed, Parser};
use crate::diag::{Code, Diagnostic, closest};
use crate::isa::{Opcode, Word};
use crate::source::Span;
use crate::syntax::ast::{Expr, Guard, Instruction, MemoryOperand, Operand, OperandKind};
use crate::syntax::lexer::Token;

impl Parser<'_, '_> {
    pub(super) fn instruction(&mut self) -> Parsed<Instruction> {
        let start = self.span();
        let guard = if self.eat(Token::At) {
            let negated = self.eat(Token::Bang);
            let is_opcode = |text: &str| Opcode::from_name(text).is_some();
            let next = self.tokens.get(self.at + 1).map_or("", |t| t.1.text(self.source));
            if self.peek() != Token::Ident || is_opcode(self.text()) && !is_opcode(next) {
                return Err(self.unexpected("a predicate register behind `@`"));
            }
            Some(Guard { register: self.name()?, negated })
        } else {
            None
        };
        let head = self.span();
        let opcode = self.opcode()?;
        let words = self.words(opcode)?;
        let head = head.to(self.last_span());
        let operands = self.operands()?;
        Ok(Instruction { guard, opcode, words, operands, span: start.to(self.last_span()), head })
    }

    fn opcode(&mut self) -> Parsed<Opcode> {
        if self.peek() != Token::Ident {
            return Err(self.unexpected("an instruction"));
        }
        let name = self.text();
        let span = self.bump();
        Opcode::from_name(name).ok_or(()).map_err(|()| {
            let mut error = Diagnostic::error(Code::Syntax, span, format!("`{name}` is not a PTX instruction"));
            if let Some(near) = closest(name, Opcode::ALL.iter().map(|o| o.as_str())) {
                error = error.help(format!("did you mean `{near}`?"));
            }
            self.diagnostics.push(error);
            super::Failed
        })
    }

    fn words(&mut self, opcode: Opcode) -> Parsed<Vec<(Word, Span)>> {
        let mut words = Vec::new();
        let mut failed = false;
        while let Some(name) = self.dot_word() {
            let span = self.bump();
            match Word::from_name(name) {
                Some(word) => words.push((word, span)),
                // An opcode that is not supported at all is reported as that, later.
                None if crate::isa::forms_of(opcode).next().is_none() => {}
                None => {
                    let mut error = Diagnostic::error(Code::Syntax, span, format!("unknown modifier `.{name}`"));
                    if let Some(near) = closest(name, Word::ALL.iter().map(|w| w.as_str())) {
                        error = error.help(format!("did you mean `.{near}`?"));
                    }
                    self.diagnostics.push(error);
                    failed = true;
                }
            }
        }
        if failed { Err(super::Failed) } else { Ok(words) }
    }

    /// Operands up to and including the semicolon.
    fn operands(&mut self) -> Parsed<Vec<Operand>> {
        let mut operands = Vec::new();
        if self.eat(Token::Semi) {
            return Ok(operands);
        }
        loop {
            operands.push(self.operand()?);
            if self.eat(Token::Semi) {
                return Ok(operands);
            }
            if self.at_next_statement() {
                let end = self.last_span().end as usize;
                let error = Diagnostic::error(Code::Syntax, Span::new(end, end), "expected `;` behind the instruction");
                self.diagnostics.push(error);
                return Ok(operands);
            }
            if !self.eat(Token::Comma) {
                return Err(self.unexpected("`,` or `;`"));
            }
        }
    }

    /// Whether a new statement begins here, though the one before is not closed.
    fn at_next_statement(&self) -> bool {
        self.peek() == Token::RBrace
            || self.starts_line() && matches!(self.peek(), Token::Ident | Token::At | Token::Dot)
    }

    fn operand(&mut self) -> Parsed<Operand> {
        let start = self.span();
        let first = self.simple_operand()?;
        if !self.eat(Token::Pipe) {
            return Ok(first);
        }
        let second = self.simple_operand()?;
        let span = start.to(self.last_span());
        Ok(Operand { kind: OperandKind::Pair(Box::new((first, second))), span })
    }

    fn simple_operand(&mut self) -> Parsed<Operand> {
        let start = self.span();
        let kind = match self.peek() {
            Token::LBrace => {
                self.bump();
                OperandKind::Vector(self.nested(|p| p.comma_list(Token::RBrace, Self::simple_operand))?)
            }
            Token::LParen if self.is_call_list() => {
                self.bump();
                OperandKind::List(self.nested(|p| p.comma_list(Token::RParen, Self::simple_operand))?)
            }
            Token::LBracket => self.bracket()?,
            Token::Bang => {
                self.bump();
                OperandKind::Not(self.name()?)
            }
            Token::Underscore => {
                self.bump();
                OperandKind::Sink
            }
            Token::Ident => self.named_operand()?,
            Token::Comma | Token::Semi | Token::RBrace | Token::RParen | Token::RBracket | Token::Eof => {
                return Err(self.unexpected("an operand"));
            }
            _ => self.constant_operand()?,
        };
        Ok(Operand { kind, span: start.to(self.last_span()) })
    }

    /// A constant, or an expression around a name, such as `4+x`: the same as `x+4`.
    fn constant_operand(&mut self) -> Parsed<OperandKind> {
        let start = self.span();
        match self.expr()? {
            Expr::Address { generic: true, .. } => {
                let span = start.to(self.last_span());
                let error = Diagnostic::error(Code::Syntax, span, "`generic(...)` is for initial values only");
                self.diagnostics.push(error.help("use `cvta` to get the generic address of a variable"));
                Err(super::Failed)
            }
            Expr::Address { name, offset, generic: false } => Ok(OperandKind::Name { name, component: None, offset }),
            constant => Ok(OperandKind::Const(constant)),
        }
    }

    /// Whether the parenthesis here opens an argument list and not a constant expression.
    fn is_call_list(&self) -> bool {
        match self.peek_at(1) {
            Token::Ident | Token::Underscore | Token::RParen => true,
            // `(5, 6)` is a list, `(5)+1` an expression; a lone constant in parentheses is a list
            // when the statement or another operand follows it.
            _ => {
                let mut ahead = 1;
                let mut depth = 1;
                while depth > 0 {
                    match self.peek_at(ahead) {
                        Token::LParen => depth += 1,
                        Token::RParen => depth -= 1,
                        Token::Comma if depth == 1 => return true,
                        Token::Semi | Token::Eof => return false,
                        _ => {}
                    }
                    ahead += 1;
                }
                false
            }
        }
    }

    fn named_operand(&mut self) -> Parsed<OperandKind> {
        let mut name = self.name()?;
        let mut component = None;
        if let Some(word) = self.dot_word() {
            let index = match word {
                "x" | "r" => 0,
                "y" | "g" => 1,
                "z" | "b" => 2,
                "w" | "a" => 3,
                _ => return Err(self.unexpected("a component `.x`, `.y`, `.z` or `.w`")),
            };
            name.span = name.span.to(self.bump());
            component = Some(index);
        }
        let mut offset = 0;
        if component.is_none() && matches!(self.peek(), Token::Plus | Token::Minus) {
            offset = self.signed_offset()?;
        }
        Ok(OperandKind::Name { name, component, offset })
    }

    /// `+ n`, `- n` or `+ -n`.
    fn signed_offset(&mut self) -> Parsed<i64> {
        let negative = self.peek() == Token::Minus;
        self.bump();
        let value = self.const_int()?;
        Ok(if negative { value.wrapping_neg() } else { value })
    }

    /// `[ ... ]`: memory, or texture when a comma follows the first part.
    fn bracket(&mut self) -> Parsed<OperandKind> {
        let open = self.expect(Token::LBracket)?;
        if self.peek() == Token::Ident && self.peek_at(1) == Token::Comma {
            let parts = self.nested(|p| p.comma_list(Token::RBracket, Self::simple_operand))?;
            return Ok(OperandKind::Texture(parts));
        }
        let memory = if self.peek() == Token::Ident {
            let base = self.name()?;
            let mut offset = 0;
            if matches!(self.peek(), Token::Plus | Token::Minus) {
                offset = self.signed_offset()?;
            }
            MemoryOperand { base: Some(base), offset }
        } else {
            let offset = match self.expr()? {
                Expr::Int(v) => v,
                _ => return Err(self.error(Code::Syntax, open.to(self.last_span()), "an address is an integer")),
            };
            MemoryOperand { base: None, offset }
        };
        self.expect(Token::RBracket)?;
        Ok(OperandKind::Memory(memory))
    }
}
