//! Function bodies.

use super::{Parsed, Parser};
use crate::syntax::ast::{InlinedAt, Linkage, Loc, Name, Prototype, Statement};
use crate::syntax::lexer::Token;

/// Directives that may open a statement.
const STATEMENT_DIRECTIVES: &[&str] = &["reg", "local", "shared", "param", "loc", "pragma"];

impl Parser<'_, '_> {
    /// Statements up to and including the closing brace.
    pub(super) fn statements(&mut self) -> Vec<Statement> {
        let mut list = Vec::new();
        loop {
            match self.peek() {
                Token::RBrace => {
                    self.bump();
                    return list;
                }
                Token::Eof => {
                    self.unexpected("`}`");
                    return list;
                }
                _ => {}
            }
            let before = self.at;
            if self.statement(&mut list).is_err() {
                self.recover();
                if self.at == before && self.peek() != Token::Eof {
                    // A brace that opens nothing here: step over it so that parsing always moves.
                    self.bump();
                }
            }
        }
    }

    fn statement(&mut self, list: &mut Vec<Statement>) -> Parsed<()> {
        match self.peek() {
            Token::Semi => {
                self.bump();
            }
            Token::LBrace => {
                let block = self.nested(|p| {
                    p.bump();
                    Ok(p.statements())
                })?;
                list.push(Statement::Block(block));
            }
            Token::Ident if self.peek_at(1) == Token::Colon => {
                let name = self.name()?;
                self.bump();
                let labelled = self.labelled(name)?;
                list.push(labelled);
            }
            Token::Dot => {
                let statement = self.directive()?;
                list.extend(statement);
            }
            Token::Ident | Token::At => {
                let instruction = self.instruction()?;
                list.push(Statement::Instruction(instruction));
            }
            _ => return Err(self.unexpected("an instruction or a directive")),
        }
        Ok(())
    }

    fn labelled(&mut self, name: Name) -> Parsed<Statement> {
        let word = self.dot_word();
        if matches!(word, Some("branchtargets" | "calltargets")) {
            self.bump();
            let targets = self.comma_list(Token::Semi, Self::name)?;
            return Ok(match word {
                Some("branchtargets") => Statement::BranchTargets(name, targets),
                _ => Statement::CallTargets(name, targets),
            });
        }
        if !self.eat_dot("callprototype") {
            return Ok(Statement::Label(name));
        }
        let returns = if self.peek() == Token::LParen { self.params()? } else { Vec::new() };
        self.expect(Token::Underscore)?;
        let params = if self.peek() == Token::LParen { self.params()? } else { Vec::new() };
        let noreturn = self.eat_dot("noreturn");
        self.expect(Token::Semi)?;
        Ok(Statement::CallPrototype(Prototype { name, returns, params, noreturn }))
    }

    fn directive(&mut self) -> Parsed<Option<Statement>> {
        match self.dot_word() {
            Some("loc") => {
                self.bump();
                Ok(Some(Statement::Loc(self.loc()?)))
            }
            Some("pragma") => {
                self.bump();
                let text = self.string()?;
                self.expect(Token::Semi)?;
                Ok(Some(Statement::Pragma(text)))
            }
            Some("reg" | "local" | "shared" | "param") => {
                let variable = self.variable(Linkage::Internal)?;
                self.expect(Token::Semi)?;
                Ok(Some(Statement::Variable(variable)))
            }
            _ => Err(self.unknown_directive(STATEMENT_DIRECTIVES)),
        }
    }

    /// `.loc`, the word itself already taken.
    pub(super) fn loc(&mut self) -> Parsed<Loc> {
        let mut loc =
            Loc { file: self.small_int()?, line: self.small_int()?, column: self.small_int()?, inlined: None };
        if self.eat(Token::Comma) {
            if self.text() != "function_name" {
                return Err(self.unexpected("`function_name`"));
            }
            self.bump();
            let function = self.name()?.text;
            let mut offset = 0;
            if self.eat(Token::Plus) {
                offset = self.const_int()?;
            }
            self.expect(Token::Comma)?;
            if self.text() != "inlined_at" {
                return Err(self.unexpected("`inlined_at`"));
            }
            self.bump();
            let (file, line, column) = (self.small_int()?, self.small_int()?, self.small_int()?);
            loc.inlined = Some(InlinedAt { function, offset, file, line, column });
        }
        Ok(loc)
    }
}
