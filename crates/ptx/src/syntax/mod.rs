//! Text to syntax tree and back.

pub mod ast;
mod lexer;
mod parser;
mod printer;

pub use lexer::{Token, lex};
pub use parser::parse;
pub use printer::print;
