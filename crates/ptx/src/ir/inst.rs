//! Instructions and operands of the IR.

use super::{FuncId, LabelId, Loc, ProtoId, RegId, TableId, VarId};
use crate::isa::{Form, FormId, MatrixOp, Opcode, Special, Type, Word};
use crate::num::nearest_f32;
use crate::source::Span;
use crate::syntax::ast::Space;

/// A predicate guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Predicate register.
    pub reg: RegId,
    /// Execute when it is false.
    pub negated: bool,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Imm {
    /// Two's complement.
    Int(i64),
    /// Bits of a single.
    F32(u32),
    /// Bits of a double.
    F64(u64),
}

/// The state space of a memory operand: the words name one for each, or one for all.
pub(super) fn nth_space(words: impl Iterator<Item = Word>, operand: usize) -> Option<Space> {
    let mut spaces = words.filter_map(Space::from_word);
    let first = spaces.next();
    if operand == 0 { first } else { spaces.nth(operand - 1).or(first) }
}

impl Imm {
    /// The bits of this constant as a value of type `ty`, in the low end.
    #[must_use]
    pub fn bits(self, ty: Type) -> u64 {
        let raw = match (self, ty) {
            (Self::Int(v), Type::F32) => u64::from((v as f32).to_bits()),
            (Self::Int(v), Type::F64) => (v as f64).to_bits(),
            (Self::Int(v), _) => v.cast_unsigned(),
            (Self::F32(b), Type::F64) => f64::from(f32::from_bits(b)).to_bits(),
            (Self::F32(b), _) => u64::from(b),
            (Self::F64(b), Type::F32) => u64::from(nearest_f32(f64::from_bits(b)).to_bits()),
            (Self::F64(b), _) => b,
        };
        match ty.bits() {
            64.. => raw,
            bits => raw & ((1 << bits) - 1),
        }
    }
}

/// What an address counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// A register.
    Reg(RegId),
    /// A variable.
    Var(VarId),
    /// Zero.
    Absolute,
}

/// A memory address: base plus offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// Base.
    pub base: Base,
    /// Byte offset.
    pub offset: i64,
}

/// An operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Reg(RegId),
    /// A negated predicate register.
    Not(RegId),
    /// A constant.
    Imm(Imm),
    /// A special register.
    Special(Special),
    /// `_`.
    Sink,
    /// `{a, b}`.
    Vector(Vec<Operand>),
    /// `d|p`.
    Pair(Box<[Operand; 2]>),
    /// `[address]`.
    Memory(Address),
    /// The address of a variable as a value.
    VarAddress(VarId, i64),
    /// A function: target of a call, or its address as a value.
    Func(FuncId),
    /// Target of a branch.
    Label(LabelId),
    /// Table of a `brx.idx`.
    Table(TableId),
    /// Prototype of an indirect call.
    Proto(ProtoId),
    /// `[texture, sampler?, coordinates]`.
    Texture {
        /// A `.texref` variable, or a register with its handle.
        texture: Base,
        /// A `.samplerref` variable or a register, in independent mode.
        sampler: Option<Base>,
        /// Coordinates.
        coords: Vec<Operand>,
    },
    /// Arguments or return values of a call.
    List(Vec<Operand>),
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Inst {
    /// Guard.
    pub guard: Option<Guard>,
    /// Opcode.
    pub opcode: Opcode,
    /// Modifier words, in the order of the form.
    pub words: Vec<Word>,
    /// The form it was checked against.
    pub form: FormId,
    /// Operands as written. For `call`: returns (`List`), target, arguments (`List`), then the
    /// prototype if there is one.
    pub operands: Vec<Operand>,
    /// Place in the PTX text.
    pub span: Span,
    /// Source position of the nearest `.loc` before it.
    pub loc: Option<Loc>,
}

impl Inst {
    /// The form.
    #[must_use]
    pub fn form(&self) -> &'static Form {
        self.form.get()
    }

    /// Whether `word` is among the modifiers.
    #[must_use]
    pub fn has(&self, word: Word) -> bool {
        self.words.contains(&word)
    }

    /// The first of `among` that is among the modifiers.
    #[must_use]
    pub fn first_of(&self, among: &[Word]) -> Option<Word> {
        self.words.iter().copied().find(|w| among.contains(w))
    }

    /// The `n`-th type among the words, from 0.
    #[must_use]
    pub fn nth_type(&self, n: usize) -> Option<Type> {
        self.words.iter().filter_map(|w| Type::from_word(*w)).nth(n)
    }

    /// The first type among the words: what the instruction works on. `.b32` for the few
    /// instructions that name none.
    #[must_use]
    pub fn ty(&self) -> Type {
        self.nth_type(0).unwrap_or(Type::B32)
    }

    /// State space of a memory access; `None` means generic.
    #[must_use]
    pub fn space(&self) -> Option<Space> {
        self.words.iter().find_map(|w| Space::from_word(*w))
    }

    /// State space of a memory operand, counted from zero, where an instruction has several.
    #[must_use]
    pub fn space_at(&self, operand: usize) -> Option<Space> {
        nth_space(self.words.iter().copied(), operand)
    }

    /// Elements moved: 1, 2 or 4.
    #[must_use]
    pub fn vector_width(&self) -> usize {
        if self.has(Word::V4) {
            4
        } else if self.has(Word::V2) {
            2
        } else {
            1
        }
    }

    /// What it does with matrices, if that is what it is for.
    #[must_use]
    pub fn matrix(&self) -> Option<MatrixOp> {
        MatrixOp::of(self.opcode, &self.words)
    }

    /// `add.rn.f32`, as written.
    #[must_use]
    pub fn mnemonic(&self) -> String {
        let mut text = self.opcode.as_str().to_owned();
        for word in &self.words {
            text.push('.');
            text += word.as_str();
        }
        text
    }

    /// Whether control may go on at the next instruction.
    #[must_use]
    pub fn falls_through(&self) -> bool {
        let leaves = matches!(self.opcode, Opcode::Bra | Opcode::Brx | Opcode::Ret | Opcode::Exit | Opcode::Trap);
        !leaves || self.guard.is_some()
    }

    /// Whether this ends a basic block.
    #[must_use]
    pub fn ends_block(&self) -> bool {
        matches!(self.opcode, Opcode::Bra | Opcode::Brx | Opcode::Ret | Opcode::Exit | Opcode::Trap)
    }

    /// Calls `f` with every register written.
    pub fn for_each_def(&self, mut f: impl FnMut(RegId)) {
        let specs = &self.form().operands;
        for (i, operand) in self.operands.iter().enumerate() {
            let written = if self.opcode == Opcode::Call { i == 0 } else { specs.get(i).is_some_and(|s| s.written) };
            if written {
                operand.for_each_reg(&mut f);
            }
        }
    }

    /// Calls `f` with every register read, the guard's included.
    pub fn for_each_use(&self, mut f: impl FnMut(RegId)) {
        if let Some(guard) = self.guard {
            f(guard.reg);
        }
        let specs = &self.form().operands;
        for (i, operand) in self.operands.iter().enumerate() {
            let written = if self.opcode == Opcode::Call { i == 0 } else { specs.get(i).is_some_and(|s| s.written) };
            if !written {
                operand.for_each_reg(&mut f);
            }
        }
    }
}

impl Operand {
    /// Calls `f` with every register in the operand.
    pub fn for_each_reg(&self, f: &mut impl FnMut(RegId)) {
        match self {
            Self::Reg(r) | Self::Not(r) => f(*r),
            Self::Vector(list) | Self::List(list) => list.iter().for_each(|o| o.for_each_reg(f)),
            Self::Pair(pair) => pair.iter().for_each(|o| o.for_each_reg(f)),
            Self::Memory(Address { base: Base::Reg(r), .. }) => f(*r),
            Self::Texture { texture, sampler, coords } => {
                for base in std::iter::once(texture).chain(sampler) {
                    if let Base::Reg(r) = base {
                        f(*r);
                    }
                }
                coords.iter().for_each(|o| o.for_each_reg(f));
            }
            Self::Memory(_)
            | Self::Imm(_)
            | Self::Special(_)
            | Self::Sink
            | Self::VarAddress(..)
            | Self::Func(_)
            | Self::Label(_)
            | Self::Table(_)
            | Self::Proto(_) => {}
        }
    }
}
