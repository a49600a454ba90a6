//! Recursive descent with recovery: an error skips to the end of the statement and parsing goes
//! on, so that one run reports every mistake.

mod expr;
mod instruction;
mod item;
mod statement;

use super::ast::{Module, Name};
use super::lexer::{Token, lex};
use crate::diag::{Code, Collector, Diagnostic};
use crate::source::Span;

/// Nesting deeper than this is refused: no compiler writes it, and it would cost stack.
const MAX_DEPTH: u32 = 64;

/// Longer texts are refused. A name and its comma take two bytes and declare four registers of two words at most, so
/// that whatever is counted in a text of this size fits 32 bits, with room for what is derived from it.
const MAX_BYTES: usize = 512 << 20;

/// Parses `source`. The module holds whatever could be read; it is complete when no diagnostic is
/// an error.
#[must_use]
pub fn parse(source: &str) -> (Module, Vec<Diagnostic>) {
    let mut diagnostics = Collector::default();
    let module = parse_into(source, &mut diagnostics).unwrap_or_default();
    (module, diagnostics.finish())
}

/// Parses `source` and reports to `diagnostics`; nothing when it is too long to be read at all.
pub(crate) fn parse_into(source: &str, diagnostics: &mut Collector) -> Option<Module> {
    if let Some(error) = too_long(source.len()) {
        diagnostics.push(error);
        return None;
    }
    let tokens = lex(source, diagnostics);
    Some(Parser { source, tokens, at: 0, diagnostics, depth: 0 }.module())
}

fn too_long(bytes: usize) -> Option<Diagnostic> {
    (bytes > MAX_BYTES).then(|| {
        let message = format!("the text is longer than {} MiB", MAX_BYTES >> 20);
        Diagnostic::error(Code::Unsupported, Span::default(), message).help("take it apart into several modules")
    })
}

/// Parsing of one construct failed; the diagnostic has been recorded.
struct Failed;

type Parsed<T> = Result<T, Failed>;

struct Parser<'s, 'd> {
    source: &'s str,
    tokens: Vec<(Token, Span)>,
    at: usize,
    diagnostics: &'d mut Collector,
    depth: u32,
}

impl<'s> Parser<'s, '_> {
    fn peek(&self) -> Token {
        self.tokens[self.at].0
    }

    fn peek_at(&self, ahead: usize) -> Token {
        self.tokens.get(self.at + ahead).map_or(Token::Eof, |t| t.0)
    }

    fn span(&self) -> Span {
        self.tokens[self.at].1
    }

    /// Span of the token before the current one.
    fn last_span(&self) -> Span {
        self.tokens[self.at.saturating_sub(1)].1
    }

    fn text(&self) -> &'s str {
        self.span().text(self.source)
    }

    fn bump(&mut self) -> Span {
        let span = self.span();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        span
    }

    /// Takes the current token if it is `token`.
    fn eat(&mut self, token: Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.bump();
        }
        found
    }

    fn expect(&mut self, token: Token) -> Parsed<Span> {
        if self.peek() == token { Ok(self.bump()) } else { Err(self.unexpected(token.describe())) }
    }

    /// Takes the current token if it is the dot-word `.word`.
    fn eat_dot(&mut self, word: &str) -> bool {
        let found = self.at_dot(word);
        if found {
            self.bump();
        }
        found
    }

    fn at_dot(&self, word: &str) -> bool {
        self.peek() == Token::Dot && self.text().get(1..) == Some(word)
    }

    /// The current dot-word without its dot.
    fn dot_word(&self) -> Option<&'s str> {
        (self.peek() == Token::Dot).then(|| self.text().get(1..).unwrap_or(""))
    }

    fn name(&mut self) -> Parsed<Name> {
        if self.peek() != Token::Ident && self.peek() != Token::Underscore {
            return Err(self.unexpected("a name"));
        }
        let text = self.text().to_owned();
        Ok(Name { text, span: self.bump() })
    }

    /// Records "expected X, found Y" at the current token; says nothing when the lexer has reported what is here.
    fn unexpected(&mut self, expected: &str) -> Failed {
        let before = self.tokens[self.at.saturating_sub(1)].0;
        if self.peek() == Token::Bad || (self.peek() == Token::Eof && before == Token::Bad) {
            return Failed;
        }
        let found = match self.peek() {
            Token::Eof => "the end of the file".to_owned(),
            _ => format!("`{}`", self.text()),
        };
        let error = Diagnostic::error(Code::Syntax, self.span(), format!("expected {expected}, found {found}"));
        self.diagnostics.push(error.label(format!("expected {expected}")));
        Failed
    }

    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) -> Failed {
        self.diagnostics.push(Diagnostic::error(code, span, message));
        Failed
    }

    /// Runs `f` one level deeper, refusing absurd nesting.
    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} levels deep");
            return Err(self.error(Code::Syntax, self.span(), message));
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// Items between `open`, already taken, and `close`, separated by commas.
    fn comma_list<T>(&mut self, close: Token, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = Vec::new();
        if self.eat(close) {
            return Ok(list);
        }
        loop {
            list.push(item(self)?);
            if self.eat(close) {
                return Ok(list);
            }
            if !self.eat(Token::Comma) {
                return Err(self.unexpected(&format!("`,` or {}", close.describe())));
            }
        }
    }

    /// After an error: skips to behind the next semicolon, or to a brace or the end.
    fn recover(&mut self) {
        loop {
            match self.peek() {
                Token::Semi => {
                    self.bump();
                    return;
                }
                Token::LBrace | Token::RBrace | Token::Eof => return,
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// Whether the current token is the first of its line.
    fn starts_line(&self) -> bool {
        let between = Span { start: self.last_span().end, end: self.span().start };
        self.at == 0 || between.text(self.source).contains('\n')
    }

    /// Skips a balanced `{ ... }`; the current token is the opening brace.
    fn skip_braces(&mut self) -> Parsed<Span> {
        let start = self.expect(Token::LBrace)?;
        let mut depth = 1;
        while depth > 0 {
            match self.peek() {
                Token::LBrace => depth += 1,
                Token::RBrace => depth -= 1,
                Token::Eof => return Err(self.unexpected("`}`")),
                _ => {}
            }
            self.bump();
        }
        Ok(start.to(self.last_span()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_cannot_be_counted_in_is_refused() {
        assert_eq!(too_long(MAX_BYTES), None);
        for bytes in [MAX_BYTES + 1, 1 << 32, usize::MAX] {
            assert!(too_long(bytes).is_some_and(|error| error.is_error()));
        }
        // Of two bytes each, four registers of two words.
        assert!(u32::try_from(MAX_BYTES / 2 * 4 * 2).is_ok());
    }
}
