//! Matrices that the lanes of a warp hold together: what the words of `mma`, `wmma`, `ldmatrix` and the like say.
//!
//! Which lane holds which element is for those who execute the instructions; here is how many registers each has.

use super::{Opcode, Type, Word};

/// One of the matrices of `d = a * b + c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrix {
    /// Left factor, m by k.
    A,
    /// Right factor, k by n.
    B,
    /// What is added, m by n.
    C,
    /// The result, m by n.
    D,
}

/// What the elements of a matrix are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Named after the words.
pub enum Element {
    F16,
    Bf16,
    Tf32,
    F32,
    F64,
    S8,
    U8,
    S4,
    U4,
    B1,
    S32,
}

impl Element {
    /// The elements a word names, if it names any.
    #[must_use]
    pub fn from_word(word: Word) -> Option<Self> {
        Some(match word {
            Word::F16 => Self::F16,
            Word::Bf16 => Self::Bf16,
            Word::Tf32 => Self::Tf32,
            Word::F32 => Self::F32,
            Word::F64 => Self::F64,
            Word::S8 => Self::S8,
            Word::U8 => Self::U8,
            Word::S4 => Self::S4,
            Word::U4 => Self::U4,
            Word::B1 => Self::B1,
            Word::S32 => Self::S32,
            _ => return None,
        })
    }

    /// Bits of one element, in registers and in memory.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::B1 => 1,
            Self::S4 | Self::U4 => 4,
            Self::S8 | Self::U8 => 8,
            Self::F16 | Self::Bf16 => 16,
            Self::Tf32 | Self::F32 | Self::S32 => 32,
            Self::F64 => 64,
        }
    }

    /// The type of the registers that hold such elements.
    #[must_use]
    pub fn register(self) -> Type {
        match self {
            Self::F16 => Type::F16x2,
            Self::F32 => Type::F32,
            Self::F64 => Type::F64,
            Self::S32 => Type::S32,
            Self::Bf16 | Self::Tf32 | Self::S8 | Self::U8 | Self::S4 | Self::U4 | Self::B1 => Type::B32,
        }
    }
}

/// What an instruction does with matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixKind {
    /// `wmma.load`: this matrix, from memory.
    Load(Matrix),
    /// `wmma.store`: the result, to memory.
    Store,
    /// `wmma.mma`.
    Wmma,
    /// `mma`.
    Mma,
    /// `ldmatrix`.
    LoadRows,
    /// `stmatrix`.
    StoreRows,
    /// `movmatrix`.
    Transpose,
}

/// What the words of a matrix instruction say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixOp {
    /// What is done.
    pub kind: MatrixKind,
    /// Rows of `a` and `d`.
    pub m: u32,
    /// Columns of `b` and `d`.
    pub n: u32,
    /// Columns of `a` and rows of `b`; zero where there are none.
    pub k: u32,
    /// Elements of `a`, `b`, `c` and `d`; of a load or store all are those it moves.
    elements: [Element; 4],
    /// Whether `a` and `b` are stored by columns; of a load or store, whether its matrix is, twice.
    pub by_columns: [bool; 2],
    /// 8 by 8 matrices of `ldmatrix` and `stmatrix`.
    pub count: u32,
}

/// Lanes of the warps that these instructions are made for.
pub const MATRIX_LANES: u32 = 32;

impl MatrixOp {
    /// Reads the words of an instruction; `None` when it has nothing to do with matrices.
    #[must_use]
    pub fn of(opcode: Opcode, words: &[Word]) -> Option<Self> {
        let has = |word| words.contains(&word);
        let kind = match opcode {
            Opcode::Mma => MatrixKind::Mma,
            Opcode::Wmma if has(Word::Mma) => MatrixKind::Wmma,
            Opcode::Wmma if has(Word::Store) => MatrixKind::Store,
            Opcode::Wmma if has(Word::A) => MatrixKind::Load(Matrix::A),
            Opcode::Wmma if has(Word::B) => MatrixKind::Load(Matrix::B),
            Opcode::Wmma => MatrixKind::Load(Matrix::C),
            Opcode::Ldmatrix => MatrixKind::LoadRows,
            Opcode::Stmatrix => MatrixKind::StoreRows,
            Opcode::Movmatrix => MatrixKind::Transpose,
            _ => return None,
        };
        let [m, n, k] = words.iter().find_map(|w| dimensions(w.as_str()))?;
        let named: Vec<Element> = words.iter().filter_map(|w| Element::from_word(*w)).collect();
        let elements = match named[..] {
            [d, a, b, c] => [a, b, c, d],
            // `wmma.mma` on half precision names the others only.
            [d, c] => [Element::F16, Element::F16, c, d],
            [one] => [one; 4],
            _ => [Element::F16; 4],
        };
        let mut layouts = words.iter().filter(|w| matches!(w, Word::Row | Word::Col)).map(|w| *w == Word::Col);
        let first = layouts.next().unwrap_or(false);
        let by_columns = [first, layouts.next().unwrap_or(first)];
        let count = if has(Word::X4) { 4 } else { 1 + u32::from(has(Word::X2)) };
        Some(Self { kind, m, n, k, elements, by_columns, count })
    }

    /// What the elements of a matrix are.
    #[must_use]
    pub fn element(&self, matrix: Matrix) -> Element {
        self.elements[matrix as usize]
    }

    /// Rows and columns of a matrix.
    #[must_use]
    pub fn size(&self, matrix: Matrix) -> (u32, u32) {
        match matrix {
            Matrix::A => (self.m, self.k),
            Matrix::B => (self.k, self.n),
            Matrix::C | Matrix::D => (self.m, self.n),
        }
    }

    /// Whether four groups of eight lanes each have matrices of their own: `mma.m8n8k4` on half precision.
    #[must_use]
    pub fn is_quartered(&self) -> bool {
        self.kind == MatrixKind::Mma && self.k == 4 && self.element(Matrix::A) == Element::F16
    }

    /// Elements of a matrix that each lane holds. Those of half precision that `wmma` multiplies are sixteen, however many
    /// the matrix has: some are there several times.
    #[must_use]
    pub fn elements_per_lane(&self, matrix: Matrix) -> u32 {
        let (rows, columns) = self.size(matrix);
        let is_factor = matches!(matrix, Matrix::A | Matrix::B);
        match self.kind {
            MatrixKind::Load(_) | MatrixKind::Wmma if is_factor && self.element(matrix) == Element::F16 => 16,
            _ if self.is_quartered() => rows * columns / (MATRIX_LANES / 4),
            _ => rows * columns / MATRIX_LANES,
        }
    }

    /// How many registers of a lane hold a matrix, and of which type.
    #[must_use]
    pub fn registers(&self, matrix: Matrix) -> (usize, Type) {
        if matches!(self.kind, MatrixKind::LoadRows | MatrixKind::StoreRows) {
            return (self.count as usize, Type::B32);
        }
        let element = self.element(matrix);
        let register = element.register();
        ((self.elements_per_lane(matrix) * element.bits() / register.bits()) as usize, register)
    }
}

/// The numbers in `m16n8k16`, or in `m8n8`.
fn dimensions(word: &str) -> Option<[u32; 3]> {
    let (m, rest) = word.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k').unwrap_or((rest, "0"));
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers(text: &str) -> [usize; 4] {
        let mut words = text.split('.');
        let opcode = words.next().and_then(Opcode::from_name).unwrap();
        let words: Vec<Word> = words.map(|w| Word::from_name(w).unwrap()).collect();
        let op = MatrixOp::of(opcode, &words).unwrap();
        [Matrix::A, Matrix::B, Matrix::C, Matrix::D].map(|m| op.registers(m).0)
    }

    #[test]
    fn registers_are_those_of_the_manual() {
        assert_eq!(registers("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), [4, 2, 4, 4]);
        assert_eq!(registers("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16"), [2, 1, 2, 2]);
        assert_eq!(registers("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16"), [2, 2, 4, 8]);
        assert_eq!(registers("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"), [4, 2, 4, 4]);
        assert_eq!(registers("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"), [1, 1, 2, 2]);
        assert_eq!(registers("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32"), [4, 2, 4, 4]);
        assert_eq!(registers("mma.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32"), [4, 2, 4, 4]);
        assert_eq!(registers("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc"), [4, 2, 4, 4]);
        assert_eq!(registers("wmma.mma.sync.aligned.row.col.m8n32k16.f32.f16"), [8, 8, 4, 8]);
        assert_eq!(registers("wmma.mma.sync.aligned.row.col.m8n32k16.f32.bf16.bf16.f32"), [2, 8, 8, 8]);
        assert_eq!(registers("wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32"), [4, 1, 8, 8]);
        assert_eq!(registers("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32"), [4, 4, 8, 8]);
        assert_eq!(registers("wmma.load.a.sync.aligned.row.m16n16k16.f16")[0], 8);
        assert_eq!(registers("ldmatrix.sync.aligned.m8n8.x4.b16")[0], 4);
    }
}
