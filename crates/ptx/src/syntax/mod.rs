//! Text to syntax tree and back.

pub mod ast;
mod lexer;
mod parser;
mod printer;

pub use lexer::{Token, lex};
pub use parser::parse;
pub(crate) use parser::parse_into;
pub use printer::print;
