//! The syntax tree: what the text says, names unresolved, every part with its place.

use crate::isa::{Opcode, Type, Word};
use crate::source::Span;

/// A name and where it stands.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// Spelling.
    pub text: String,
    /// Place.
    pub span: Span,
}

/// A whole PTX text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// `.version major.minor`.
    pub version: Option<(u8, u8)>,
    /// `.target` words, the architecture first.
    pub target: Vec<Name>,
    /// `.address_size`; 32 when absent.
    pub address_size: Option<u32>,
    /// Everything else, in order.
    pub items: Vec<Item>,
}

/// A module-scope item.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A variable.
    Variable(Variable),
    /// A kernel or function, or the declaration of one.
    Function(Function),
    /// `.file index "name"`.
    File(FileDirective),
    /// `.section`, kept as text: debugging information.
    Section(Name),
    /// `.pragma`.
    Pragma(String),
    /// `.alias new, old;`
    Alias(Name, Name),
}

/// `.file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileDirective {
    /// Number by which `.loc` refers to it.
    pub index: u32,
    /// Path.
    pub name: String,
    /// Time stamp and size, if given.
    pub stamp: Option<(u64, u64)>,
}

/// Visibility outside the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Linkage {
    /// This module only.
    #[default]
    Internal,
    /// `.visible`.
    Visible,
    /// `.extern`.
    Extern,
    /// `.weak`.
    Weak,
    /// `.common`.
    Common,
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Registers.
    Reg,
    /// Constant memory.
    Const,
    /// Global memory.
    Global,
    /// Per-thread memory.
    Local,
    /// Parameters.
    Param,
    /// Per-thread-block memory.
    Shared,
    /// Textures, the deprecated `.tex` space.
    Tex,
}

impl Space {
    /// Name without the dot.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reg => "reg",
            Self::Const => "const",
            Self::Global => "global",
            Self::Local => "local",
            Self::Param => "param",
            Self::Shared => "shared",
            Self::Tex => "tex",
        }
    }

    /// The space a word names.
    #[must_use]
    pub fn from_word(word: Word) -> Option<Self> {
        Some(match word {
            Word::Reg => Self::Reg,
            Word::Const => Self::Const,
            Word::Global => Self::Global,
            Word::Local => Self::Local,
            Word::Param | Word::ParamEntry | Word::ParamFunc => Self::Param,
            Word::Shared | Word::SharedCta => Self::Shared,
            Word::Tex => Self::Tex,
            _ => return None,
        })
    }
}

/// A variable, register or parameter declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Visibility; module scope only.
    pub linkage: Linkage,
    /// Where it lives.
    pub space: Space,
    /// `.align n`, in bytes.
    pub align: Option<u32>,
    /// `.v2` or `.v4`.
    pub vector: Option<u32>,
    /// Element type.
    pub ty: Type,
    /// `.attribute(...)` words, and `.ptr` attributes of kernel parameters, as text.
    pub attributes: Vec<String>,
    /// What is declared: several names may share one declaration.
    pub names: Vec<Declarator>,
    /// Place.
    pub span: Span,
}

/// One name of a declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Declarator {
    /// Name; `_` in prototypes.
    pub name: Name,
    /// `<n>`: names `name0` to `name(n-1)`.
    pub count: Option<u32>,
    /// Array dimensions; `None` for the open `[]`.
    pub dims: Vec<Option<u64>>,
    /// Initial value.
    pub init: Option<Init>,
}

/// An initial value.
#[derive(Clone, Debug, PartialEq)]
pub enum Init {
    /// One value.
    Value(Expr),
    /// `{ ... }`.
    List(Vec<Init>),
}

/// A constant expression. Evaluated when it holds no names.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// An integer, two's complement.
    Int(i64),
    /// A single-precision number by its bits.
    F32(u32),
    /// A double-precision number by its bits.
    F64(u64),
    /// A variable's or function's address plus an offset; `generic(x)` when `generic`.
    Address {
        /// Whose address.
        name: Name,
        /// Added to it, in bytes.
        offset: i64,
        /// Converted to a generic address.
        generic: bool,
    },
}

/// A kernel or function.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// `.entry` when true, `.func` otherwise.
    pub is_entry: bool,
    /// Visibility.
    pub linkage: Linkage,
    /// `.noreturn`.
    pub noreturn: bool,
    /// Name.
    pub name: Name,
    /// Return values.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// `.maxntid` and the like.
    pub directives: Vec<Directive>,
    /// `None` for a declaration.
    pub body: Option<Vec<Statement>>,
    /// Place of the head.
    pub span: Span,
}

/// A performance or debugging directive of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Name without the dot.
    pub name: String,
    /// Its numbers.
    pub values: Vec<u32>,
    /// Place.
    pub span: Span,
}

/// A statement of a function body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `name:`
    Label(Name),
    /// An instruction.
    Instruction(Instruction),
    /// A declaration.
    Variable(Variable),
    /// `{ ... }`, a scope.
    Block(Vec<Statement>),
    /// `.loc`.
    Loc(Loc),
    /// `.pragma "...";`
    Pragma(String),
    /// `name: .branchtargets a, b;`
    BranchTargets(Name, Vec<Name>),
    /// `name: .calltargets f, g;`
    CallTargets(Name, Vec<Name>),
    /// `name: .callprototype (ret) _ (params);`
    CallPrototype(Prototype),
}

/// `.loc file line column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loc {
    /// File number.
    pub file: u32,
    /// Line, from 1; 0 when the compiler knew none.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// `function_name` label and offset, with the `inlined_at` place.
    pub inlined: Option<InlinedAt>,
}

/// The tail of a `.loc` inside inlined code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedAt {
    /// Label of the function's name in the debug strings.
    pub function: String,
    /// Offset behind that label.
    pub offset: i64,
    /// File number of the call.
    pub file: u32,
    /// Line of the call.
    pub line: u32,
    /// Column of the call.
    pub column: u32,
}

/// `.callprototype`.
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype {
    /// Label.
    pub name: Name,
    /// Return values.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
    /// `.noreturn`.
    pub noreturn: bool,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// `@p` or `@!p`.
    pub guard: Option<Guard>,
    /// Opcode.
    pub opcode: Opcode,
    /// Modifier words with their places.
    pub words: Vec<(Word, Span)>,
    /// Operands.
    pub operands: Vec<Operand>,
    /// Place, from the guard to the semicolon.
    pub span: Span,
    /// Place of opcode and words.
    pub head: Span,
}

/// The predicate an instruction is guarded by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Predicate register.
    pub register: Name,
    /// `@!p`.
    pub negated: bool,
}

/// An operand and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    /// What it is.
    pub kind: OperandKind,
    /// Place.
    pub span: Span,
}

/// What an operand is.
#[derive(Clone, Debug, PartialEq)]
pub enum OperandKind {
    /// A name: register, variable, label or function, told apart when resolved. With a component
    /// (`%v.x`) or an offset (`var+4`).
    Name {
        /// The name.
        name: Name,
        /// `.x` to `.w`.
        component: Option<u8>,
        /// Byte offset.
        offset: i64,
    },
    /// `!p`.
    Not(Name),
    /// A constant.
    Const(Expr),
    /// `_`.
    Sink,
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `d|p`.
    Pair(Box<(Operand, Operand)>),
    /// `[base+offset]`.
    Memory(MemoryOperand),
    /// `[texture, {coordinates}]` or `[texture, sampler, {coordinates}]`.
    Texture(Vec<Operand>),
    /// `(a, b)` behind `call`.
    List(Vec<Operand>),
}

/// What stands in the brackets of a memory operand.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryOperand {
    /// Register or variable; `None` for a constant address.
    pub base: Option<Name>,
    /// Byte offset.
    pub offset: i64,
}
