//! Numbers and constant expressions, folded while they are read.

use super::{Failed, Parsed, Parser};
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::Expr;
use crate::syntax::lexer::Token;

impl Parser<'_, '_> {
    /// An unsigned integer that fits 32 bits.
    pub(super) fn small_int(&mut self) -> Parsed<u32> {
        let value = self.int_token()?;
        u32::try_from(value).map_err(|_| self.error(Code::Lexical, self.last_span(), "integer of more than 32 bits"))
    }

    /// One integer token.
    pub(super) fn int_token(&mut self) -> Parsed<u64> {
        if self.peek() != Token::Int {
            return Err(self.unexpected("an integer"));
        }
        let text = self.text();
        let span = self.bump();
        parse_int(text).ok_or(()).map_err(|()| {
            let octal = text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit()) && text.contains(['8', '9']);
            let error = Diagnostic::error(Code::Lexical, span, "integer of more than 64 bits");
            self.diagnostics.push(match octal {
                true => Diagnostic { message: "8 and 9 are not octal digits".to_owned(), ..error }
                    .help("a number that begins with 0 is octal: leave the zero out"),
                false => error,
            });
            Failed
        })
    }

    /// A constant expression without names.
    pub(super) fn const_int(&mut self) -> Parsed<i64> {
        let start = self.span();
        match self.expr()? {
            Expr::Int(value) => Ok(value),
            _ => Err(self.error(Code::Syntax, start, "expected an integer constant")),
        }
    }

    /// A constant expression; at most one name in it, as the base of an address.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.nested(|p| {
            let condition = p.binary(0)?;
            if p.peek() == Token::Operator && p.text() == "?" {
                p.bump();
                let yes = p.expr()?;
                p.expect(Token::Colon)?;
                let no = p.expr()?;
                return Ok(if matches!(condition, Expr::Int(0)) { no } else { yes });
            }
            Ok(condition)
        })
    }

    fn binary(&mut self, level: u32) -> Parsed<Expr> {
        let mut left = self.unary()?;
        loop {
            let op = match self.peek() {
                Token::Operator | Token::Plus | Token::Minus | Token::Pipe | Token::Less | Token::Greater => {
                    self.text()
                }
                _ => return Ok(left),
            };
            let precedence = precedence(op);
            if precedence == 0 || precedence <= level {
                return Ok(left);
            }
            let at = self.bump();
            let right = self.nested(|p| p.binary(precedence))?;
            left = self.fold(op, at, left, right)?;
        }
    }

    fn fold(&mut self, op: &str, at: Span, left: Expr, right: Expr) -> Parsed<Expr> {
        match (left, right) {
            (Expr::Int(a), Expr::Int(b)) => match fold_ints(op, a, b) {
                Some(value) => Ok(Expr::Int(value)),
                None => Err(self.error(Code::Syntax, at, "division by zero in a constant expression")),
            },
            (Expr::Address { name, offset, generic }, Expr::Int(b)) if op == "+" => {
                Ok(Expr::Address { name, offset: offset.wrapping_add(b), generic })
            }
            (Expr::Address { name, offset, generic }, Expr::Int(b)) if op == "-" => {
                Ok(Expr::Address { name, offset: offset.wrapping_sub(b), generic })
            }
            (Expr::Int(a), Expr::Address { name, offset, generic }) if op == "+" => {
                Ok(Expr::Address { name, offset: offset.wrapping_add(a), generic })
            }
            _ => Err(self.error(Code::Syntax, at, format!("`{op}` takes two integers, or an address and an offset"))),
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        match self.peek() {
            Token::Minus => {
                let at = self.bump();
                match self.nested(Self::unary)? {
                    Expr::Int(v) => Ok(Expr::Int(v.wrapping_neg())),
                    Expr::F32(b) => Ok(Expr::F32(b ^ 1 << 31)),
                    Expr::F64(b) => Ok(Expr::F64(b ^ 1 << 63)),
                    Expr::Address { .. } => Err(self.error(Code::Syntax, at, "an address cannot be negated")),
                }
            }
            Token::Plus => {
                self.bump();
                self.nested(Self::unary)
            }
            Token::Bang => {
                self.bump();
                self.int_unary(|v| i64::from(v == 0))
            }
            Token::Operator if self.text() == "~" => {
                self.bump();
                self.int_unary(|v| !v)
            }
            Token::LParen => self.parenthesis(),
            Token::Int => {
                let value = self.int_token()?;
                Ok(Expr::Int(value.cast_signed()))
            }
            Token::Float => {
                let span = self.span();
                let value: f64 =
                    self.text().parse().map_err(|_| self.error(Code::Lexical, span, "malformed number"))?;
                self.bump();
                Ok(Expr::F64(value.to_bits()))
            }
            Token::F32 => {
                let bits = u32::from_str_radix(&self.text()[2..], 16).unwrap_or(0);
                self.bump();
                Ok(Expr::F32(bits))
            }
            Token::F64 => {
                let bits = u64::from_str_radix(&self.text()[2..], 16).unwrap_or(0);
                self.bump();
                Ok(Expr::F64(bits))
            }
            Token::Ident => {
                let generic = self.text() == "generic" && self.peek_at(1) == Token::LParen;
                if generic {
                    self.bump();
                    self.bump();
                }
                let name = self.name()?;
                if generic {
                    self.expect(Token::RParen)?;
                }
                Ok(Expr::Address { name, offset: 0, generic })
            }
            _ => Err(self.unexpected("a constant")),
        }
    }

    fn int_unary(&mut self, f: impl Fn(i64) -> i64) -> Parsed<Expr> {
        let at = self.span();
        match self.nested(Self::unary)? {
            Expr::Int(v) => Ok(Expr::Int(f(v))),
            _ => Err(self.error(Code::Syntax, at, "expected an integer constant")),
        }
    }

    /// `( expr )`, or a cast `(.s64) expr`, which has no effect on 64-bit constants.
    fn parenthesis(&mut self) -> Parsed<Expr> {
        self.expect(Token::LParen)?;
        if self.eat_dot("s64") || self.eat_dot("u64") {
            self.expect(Token::RParen)?;
            return self.nested(Self::unary);
        }
        let inner = self.expr()?;
        self.expect(Token::RParen)?;
        Ok(inner)
    }
}

fn precedence(op: &str) -> u32 {
    match op {
        "||" => 1,
        "&&" => 2,
        "|" => 3,
        "^" => 4,
        "&" => 5,
        "==" | "!=" => 6,
        "<" | ">" | "<=" | ">=" => 7,
        "<<" | ">>" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        _ => 0,
    }
}

fn fold_ints(op: &str, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<" => i64::from(a < b),
        ">" => i64::from(a > b),
        "<=" => i64::from(a <= b),
        ">=" => i64::from(a >= b),
        // An amount counts without sign, and by as much as there are bits or more nothing is left.
        "<<" => u32::try_from(b).ok().and_then(|n| a.checked_shl(n)).unwrap_or(0),
        ">>" => a >> b.cast_unsigned().min(63),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b)?,
        "%" => a.checked_rem(b)?,
        _ => return None,
    })
}

fn parse_int(text: &str) -> Option<u64> {
    let text = text.strip_suffix('U').unwrap_or(text);
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        u64::from_str_radix(hex, 16).ok()
    } else if let Some(bin) = text.strip_prefix("0b").or_else(|| text.strip_prefix("0B")) {
        u64::from_str_radix(bin, 2).ok()
    } else if text.len() > 1 && text.starts_with('0') {
        u64::from_str_radix(text, 8).ok()
    } else {
        text.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_every_base() {
        assert_eq!(parse_int("0x1FU"), Some(31));
        assert_eq!(parse_int("0b101"), Some(5));
        assert_eq!(parse_int("017"), Some(15));
        assert_eq!(parse_int("0"), Some(0));
        assert_eq!(parse_int("089"), None, "8 is no octal digit");
        assert_eq!(parse_int("18446744073709551616"), None);
    }

    #[test]
    fn folding() {
        let fold = |text: &str| {
            let mut diagnostics = crate::diag::Collector::default();
            let tokens = crate::syntax::lexer::lex(text, &mut diagnostics);
            let mut p = Parser { source: text, tokens, at: 0, diagnostics: &mut diagnostics, depth: 0 };
            p.const_int().ok()
        };
        assert_eq!(fold("1+2*3"), Some(7));
        assert_eq!(fold("(1+2)*3 - -1"), Some(10));
        assert_eq!(fold("1<<4|1"), Some(17));
        assert_eq!((fold("1<<63"), fold("1<<64"), fold("1<<4294967296")), (Some(i64::MIN), Some(0), Some(0)));
        assert_eq!(
            (fold("8>>1"), fold("8>>4294967296"), fold("8>>-1"), fold("-8>>-1")),
            (Some(4), Some(0), Some(0), Some(-1))
        );
        assert_eq!(fold("2>1 ? 5 : 6"), Some(5));
        assert_eq!(fold("7/0"), None);
        assert_eq!(fold("10-3-2"), Some(5), "subtraction associates to the left");
    }
}
