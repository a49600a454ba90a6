//! The resolved form of a module: arenas and indices instead of names.
//!
//! A [`Module`] owns all variables and functions; a [`Function`] owns its registers and a flat
//! list of instructions. Scopes are gone (registers of inner scopes have their own index), labels
//! are positions in that list, and every instruction has been checked against a [`crate::isa::Form`] of the
//! instruction table: what consumers may rely on is what the table says.

mod build;
mod check;
mod inst;
mod layout;

pub use crate::syntax::ast::{Linkage, Space};
pub use inst::{Address, Base, Guard, Imm, Inst, Operand};

use crate::diag::{Collector, Diagnostic};
use crate::isa::Type;
use crate::num::fit;
use crate::source::Span;

/// Declares index types over arenas.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The index as `usize`.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Of an index into its arena.
            #[must_use]
            pub fn from_index(index: usize) -> Self {
                Self(fit(index))
            }
        }
    )+ };
}

ids! {
    /// A register of one function: index into [`Function::regs`].
    RegId,
    /// A variable: index into [`Module::vars`].
    VarId,
    /// A function: index into [`Module::functions`].
    FuncId,
    /// A label: index into [`Function::labels`].
    LabelId,
    /// A branch table: index into [`Function::tables`].
    TableId,
    /// A call prototype: index into [`Function::prototypes`].
    ProtoId,
    /// An instruction: index into [`Function::insts`].
    InstId,
}

/// A checked module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// `.version`.
    pub version: (u8, u8),
    /// Number behind `sm_` or `compute_` in `.target`.
    pub sm: u32,
    /// All words of `.target`.
    pub target: Vec<String>,
    /// 32 or 64.
    pub address_size: u32,
    /// All variables: module scope, function scope, parameters.
    pub vars: Vec<Var>,
    /// Kernels and functions, declarations included.
    pub functions: Vec<Function>,
    /// Source files by the numbers `.loc` uses.
    pub files: Vec<(u32, String)>,
}

/// A variable in memory.
#[derive(Clone, Debug)]
pub struct Var {
    /// Name.
    pub name: String,
    /// Where it lives.
    pub space: Space,
    /// Element type.
    pub ty: Type,
    /// Elements of a vector type.
    pub vector: Option<u32>,
    /// Array dimensions as declared; `None` for the open `[]`.
    pub dims: Vec<Option<u64>>,
    /// Alignment in bytes.
    pub align: u32,
    /// Size in bytes; 0 for `.extern .shared x[]`.
    pub size: u64,
    /// Visibility.
    pub linkage: Linkage,
    /// Function it belongs to; `None` at module scope.
    pub owner: Option<FuncId>,
    /// Initial bytes and relocations; `None` when zero.
    pub init: Option<Initial>,
    /// `.ptr` and `.attribute` words.
    pub attributes: Vec<String>,
    /// Place of the name.
    pub span: Span,
}

/// An initial value as bytes, with the places that hold addresses.
#[derive(Clone, Debug, Default)]
pub struct Initial {
    /// Bytes, zero where an address goes.
    pub bytes: Vec<u8>,
    /// Addresses to fill in when the module is loaded.
    pub relocations: Vec<Relocation>,
}

/// An address inside an initial value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Byte offset in the variable.
    pub at: u64,
    /// Width in bytes.
    pub width: u32,
    /// Whose address.
    pub target: Symbol,
    /// Added to it.
    pub addend: i64,
    /// Converted to a generic address.
    pub generic: bool,
}

/// Something with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A variable.
    Var(VarId),
    /// A function.
    Func(FuncId),
}

/// A register.
#[derive(Clone, Debug)]
pub struct Reg {
    /// Name; components of vector registers end in `.x` and so on.
    pub name: String,
    /// Declared type.
    pub ty: Type,
}

/// A label.
#[derive(Clone, Debug)]
pub struct Label {
    /// Name.
    pub name: String,
    /// The instruction it stands before; the number of instructions when at the end.
    pub at: InstId,
}

/// A `.branchtargets` table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Name.
    pub name: String,
    /// Targets in order.
    pub targets: Vec<LabelId>,
}

/// A `.callprototype` or `.calltargets`.
#[derive(Clone, Debug)]
pub struct Prototype {
    /// Name.
    pub name: String,
    /// Shapes of return values: size and alignment in bytes.
    pub returns: Vec<(u64, u32)>,
    /// Shapes of parameters.
    pub params: Vec<(u64, u32)>,
    /// The possible targets, when listed.
    pub targets: Option<Vec<FuncId>>,
}

/// Source position from `.loc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// File number, see [`Module::files`].
    pub file: u32,
    /// Line.
    pub line: u32,
    /// Column.
    pub column: u32,
    /// Where the function it is in was inlined: file number and line of the call.
    pub inlined_at: Option<(u32, u32)>,
}

/// Limits and requirements of a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// `.maxntid`: product of the dimensions.
    pub max_threads: Option<u32>,
    /// `.reqntid`.
    pub required_block: Option<[u32; 3]>,
    /// `.minnctapersm`.
    pub min_ctas_per_sm: Option<u32>,
    /// `.maxnreg`.
    pub max_registers: Option<u32>,
}

/// A kernel or function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name.
    pub name: String,
    /// `.entry`.
    pub is_entry: bool,
    /// Visibility.
    pub linkage: Linkage,
    /// `.noreturn`.
    pub noreturn: bool,
    /// Parameters, in order.
    pub params: Vec<VarId>,
    /// Return values, in order.
    pub returns: Vec<VarId>,
    /// Variables declared in the body.
    pub locals: Vec<VarId>,
    /// Registers.
    pub regs: Vec<Reg>,
    /// Instructions.
    pub insts: Vec<Inst>,
    /// Labels.
    pub labels: Vec<Label>,
    /// Branch tables.
    pub tables: Vec<Table>,
    /// Call prototypes.
    pub prototypes: Vec<Prototype>,
    /// Launch limits.
    pub limits: Limits,
    /// Whether there is a body.
    pub is_defined: bool,
    /// Place of the head.
    pub span: Span,
}

impl Function {
    /// The register.
    #[must_use]
    pub fn reg(&self, id: RegId) -> &Reg {
        &self.regs[id.index()]
    }

    /// The instruction a label stands before.
    #[must_use]
    pub fn label_at(&self, id: LabelId) -> InstId {
        self.labels[id.index()].at
    }

    /// All instructions with their indices.
    pub fn insts(&self) -> impl Iterator<Item = (InstId, &Inst)> {
        self.insts.iter().enumerate().map(|(i, inst)| (InstId::from_index(i), inst))
    }
}

impl Module {
    /// The function named `name`.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<FuncId> {
        self.functions.iter().position(|f| f.name == name).map(FuncId::from_index)
    }

    /// The kernels that have a body.
    pub fn kernels(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        let all = self.functions.iter().enumerate().map(|(i, f)| (FuncId::from_index(i), f));
        all.filter(|(_, f)| f.is_entry && f.is_defined)
    }

    /// The variable.
    #[must_use]
    pub fn var(&self, id: VarId) -> &Var {
        &self.vars[id.index()]
    }

    /// The function.
    #[must_use]
    pub fn func(&self, id: FuncId) -> &Function {
        &self.functions[id.index()]
    }

    /// The path `.loc` means by a file number.
    #[must_use]
    pub fn file(&self, number: u32) -> Option<&str> {
        self.files.iter().find(|(n, _)| *n == number).map(|(_, name)| name.as_str())
    }
}

/// Parses, resolves and checks `source`. The module is complete when no diagnostic is an error;
/// otherwise it holds what could be understood.
#[must_use]
pub fn load(source: &str) -> (Module, Vec<Diagnostic>) {
    let mut diagnostics = Collector::default();
    let ast = crate::syntax::parse_into(source, &mut diagnostics);
    let module = ast.map(|ast| build::build(&ast, &mut diagnostics)).unwrap_or_default();
    (module, diagnostics.finish())
}
