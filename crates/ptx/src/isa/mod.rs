//! The PTX instruction set as data.
//!
//! `table.txt` lists every supported form once: opcode, modifier words, operands, first version.
//! The checker, the printer of the support table in the book and the coverage test all read it.

mod form;
mod matrix;
mod names;
mod opcode;
mod special;
mod types;
mod word;

pub use form::{Form, FormId, OperandSpec, Operands, Shape, Slot, TypeRef, Unsupported, forms, forms_of, unsupported};
pub use matrix::{Element, MATRIX_LANES, Matrix, MatrixKind, MatrixOp};
pub use opcode::Opcode;
pub use special::Special;
pub use types::{Kind, Type};
pub use word::Word;
