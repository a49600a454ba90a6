//! Splits PTX text into tokens.

use crate::diag::{Code, Collector, Diagnostic};
use crate::source::Span;
use logos::Logos;

/// A kind of token; its text is what its span covers.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r\n\f\v]+")]
#[logos(skip(r"//[^\n]*", allow_greedy = true))]
#[logos(skip r"/\*([^*]|\*+[^*/])*\*+/")]
pub enum Token {
    /// A name: register, variable, label, opcode.
    #[regex(r"[a-zA-Z][a-zA-Z0-9_$]*|[_$%][a-zA-Z0-9_$]+")]
    Ident,
    /// `_` alone.
    #[token("_")]
    Underscore,
    /// A dot and a word: directive, modifier, type or component.
    #[regex(r"\.[a-zA-Z0-9_][a-zA-Z0-9_$]*(::[a-zA-Z0-9_]+)*")]
    Dot,
    /// A comment without its end; reported, never handed on.
    #[regex(r"/\*([^*]|\*+[^*/])*\**")]
    OpenComment,
    /// A decimal, octal, binary or hexadecimal integer.
    #[regex(r"0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|[0-9]+U?")]
    Int,
    /// Something that starts with a digit and is no number, such as `0f3F80`; reported, and handed on so that the parser
    /// knows. Every number is matched by this too, and the others win.
    #[regex(r"[0-9][a-zA-Z0-9_$]*", priority = 1)]
    Bad,
    /// A decimal floating-point number; also a version number.
    #[regex(r"[0-9]+\.[0-9]*([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+")]
    Float,
    /// A single-precision number in hexadecimal.
    #[regex(r"0[fF][0-9a-fA-F]{8}")]
    F32,
    /// A double-precision number in hexadecimal.
    #[regex(r"0[dD][0-9a-fA-F]{16}")]
    F64,
    /// A string, quotes included.
    #[regex(r#""([^"\\\n]|\\.)*""#)]
    Str,
    /// `{`
    #[token("{")]
    LBrace,
    /// `}`
    #[token("}")]
    RBrace,
    /// `(`
    #[token("(")]
    LParen,
    /// `)`
    #[token(")")]
    RParen,
    /// `[`
    #[token("[")]
    LBracket,
    /// `]`
    #[token("]")]
    RBracket,
    /// `<`
    #[token("<")]
    Less,
    /// `>`
    #[token(">")]
    Greater,
    /// `,`
    #[token(",")]
    Comma,
    /// `;`
    #[token(";")]
    Semi,
    /// `:`
    #[token(":")]
    Colon,
    /// `@`
    #[token("@")]
    At,
    /// `!`
    #[token("!")]
    Bang,
    /// `|`
    #[token("|")]
    Pipe,
    /// `=`
    #[token("=")]
    Assign,
    /// `+`
    #[token("+")]
    Plus,
    /// `-`
    #[token("-")]
    Minus,
    /// An operator that occurs in constant expressions only.
    #[regex(r"\*|/|%|&|\^|~|\?|<<|>>|&&|\|\||==|!=|<=|>=")]
    Operator,
    /// End of the text.
    Eof,
}

impl Token {
    /// How an error message names this kind of token.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Ident => "a name",
            Self::Underscore => "`_`",
            Self::Dot => "a directive or modifier",
            Self::Int => "an integer",
            Self::Float | Self::F32 | Self::F64 => "a number",
            Self::Str => "a string",
            Self::LBrace => "`{`",
            Self::RBrace => "`}`",
            Self::LParen => "`(`",
            Self::RParen => "`)`",
            Self::LBracket => "`[`",
            Self::RBracket => "`]`",
            Self::Less => "`<`",
            Self::Greater => "`>`",
            Self::Comma => "`,`",
            Self::Semi => "`;`",
            Self::Colon => "`:`",
            Self::At => "`@`",
            Self::Bang => "`!`",
            Self::Pipe => "`|`",
            Self::Assign => "`=`",
            Self::Plus => "`+`",
            Self::Minus => "`-`",
            Self::Operator => "an operator",
            Self::OpenComment => "an open comment",
            Self::Bad => "something unreadable",
            Self::Eof => "the end of the file",
        }
    }
}

/// All tokens of `source`, closed by [`Token::Eof`]; what could not be read is reported.
#[must_use]
pub fn lex(source: &str, diagnostics: &mut Collector) -> Vec<(Token, Span)> {
    let mut tokens = Vec::with_capacity(source.len() / 4);
    for (token, range) in Token::lexer(source).spanned() {
        let span = Span::new(range.start, range.end);
        match token {
            Ok(Token::OpenComment | Token::Bad) => {
                diagnostics.push(unreadable(source, span));
                tokens.push((Token::Bad, span));
            }
            Ok(token) => tokens.push((token, span)),
            // Adjacent unreadable characters are one mistake.
            Err(()) => match tokens.last_mut() {
                Some((Token::Bad, bad)) if bad.end == span.start => bad.end = span.end,
                _ => {
                    diagnostics.push(unreadable(source, span));
                    tokens.push((Token::Bad, span));
                }
            },
        }
    }
    tokens.push((Token::Eof, Span::new(source.len(), source.len())));
    tokens
}

fn unreadable(source: &str, span: Span) -> Diagnostic {
    let text = span.text(source);
    let error = |message: &str| Diagnostic::error(Code::Lexical, span, message);
    if text.starts_with("/*") {
        error("comment is never closed").help("close it with `*/`")
    } else if text.starts_with('"') {
        error("string is never closed").help("close it with `\"` on the same line")
    } else if text.starts_with("0f") || text.starts_with("0F") {
        error("malformed single-precision literal").help("write exactly 8 hexadecimal digits after `0f`")
    } else if text.starts_with("0d") || text.starts_with("0D") {
        error("malformed double-precision literal").help("write exactly 16 hexadecimal digits after `0d`")
    } else if text.starts_with(|c: char| c.is_ascii_digit()) {
        error("malformed number")
            .label("neither a number nor a name")
            .help("a name starts with a letter, `_`, `$` or `%`")
    } else {
        error("unexpected characters").label("not part of PTX")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Token> {
        lex(text, &mut Collector::default()).into_iter().map(|(t, _)| t).collect()
    }

    #[test]
    fn an_instruction_line() {
        use Token::*;
        assert_eq!(
            kinds("@!%p1 ld.global.L1::evict_last.v2.f32 {%f1,_}, [%rd1+-4]; // c"),
            [At, Bang, Ident, Ident, Dot, Dot, Dot, Dot, LBrace, Ident, Comma, Underscore, RBrace, Comma]
                .into_iter()
                .chain([LBracket, Ident, Plus, Minus, Int, RBracket, Semi, Eof])
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn numbers() {
        use Token::*;
        assert_eq!(
            kinds("0x1F 0b11 017 8U 1.5 2e3 0f3F800000 0d3FF0000000000000"),
            [Int, Int, Int, Int, Float, Float, F32, F64, Eof]
        );
    }

    #[test]
    fn unreadable_text_is_reported_once_per_run() {
        let mut errors = Collector::default();
        let _ = lex("add ### x; \"open\n /* never", &mut errors);
        let errors = errors.finish();
        let messages: Vec<_> = errors.iter().map(|d| d.message.as_str()).collect();
        assert_eq!(messages.len(), 3, "{messages:?}");
    }
}
