//! Matrices that the lanes of a warp hold together: `mma`, `wmma`, `ldmatrix` and the like.
//!
//! A lane's elements are those of tiles of eight rows (columns of `b`) by four registers, tiles one below the other first.
//! That is where the PTX ISA puts them for `mma`; for `wmma`, where it says nothing, they lie as if it were several `mma`.

mod moves;

pub use moves::Moved;

use super::{Core, Issue, LaneFault, Lanes};
use crate::decode::{MatrixPlace, MatrixSite};
use crate::fault::FaultKind;
use crate::lanes::{Level, leveled};
use crate::math::f16_ops::{bf16_to_f32, f16_to_f32, f32_to_f16_rn};
use crate::math::f32_ops::{fma_rn_f32_host, fma_rn_f32_portable};
use crate::math::f64_ops::fma_f64;
use crate::memory::Global;
use crate::op::{CONST, Op};
use raddle_ptx::isa::{Element, MATRIX_LANES, Matrix, MatrixKind, MatrixOp};
use raddle_ptx::num::{low16, low32};

/// Room for the largest factor: 16 by 64.
const FACTOR: usize = 1024;
/// Room for the largest sum: 16 by 16, or four of 8 by 8.
const SUM: usize = 256;

/// Bits of a register that holds such elements.
fn register_bits(element: Element) -> u32 {
    element.bits().max(32)
}

/// Where element `i` of a lane is: row, column, and which of four matrices if there are as many.
fn position(op: &MatrixOp, matrix: Matrix, lane: u32, i: u32) -> (u32, u32, u32) {
    if op.is_quartered() {
        return quartered(op, matrix, lane, i);
    }
    let (group, in_group) = (lane / 4, lane % 4);
    if matches!(matrix, Matrix::C | Matrix::D) {
        let (tile, down) = (i / 2, op.m / 8);
        return (tile % down * 8 + group, tile / down * 8 + in_group * 2 + i % 2, 0);
    }
    let bits = op.element(matrix).bits();
    let packed = register_bits(op.element(matrix)) / bits;
    let (register, along) = (i / packed, in_group * packed + i % packed);
    let (chunks, tile) = (op.k / (4 * packed), 4 * packed);
    match matrix {
        Matrix::A => {
            let (down, register) = (op.m / 8, register % (op.m / 8 * chunks));
            (register % down * 8 + group, register / down * tile + along, 0)
        }
        _ => {
            let register = register % (op.n / 8 * chunks);
            (register % chunks * tile + along, register / chunks * 8 + group, 0)
        }
    }
}

/// The same for `mma.m8n8k4` on half precision: lanes 0 to 3 and 16 to 19 have the first of four matrices, and so on.
fn quartered(op: &MatrixOp, matrix: Matrix, lane: u32, i: u32) -> (u32, u32, u32) {
    let (quarter, upper, own) = (lane % 16 / 4, lane / 16 * 4, lane % 4);
    let (row, column) = match (matrix, op.by_columns) {
        (Matrix::A, [false, _]) => (own + upper, i),
        (Matrix::A, [true, _]) => (i + upper, own),
        (Matrix::B, [_, false]) => (own, i + upper),
        (Matrix::B, [_, true]) => (i, own + upper),
        _ if op.element(matrix) == Element::F16 => (own + upper, i),
        _ => ((lane & 1) + (i & 2) + upper, (i & 4) + (lane & 2) + (i & 1)),
    };
    (row, column, quarter)
}

/// An element as the number it is multiplied as.
fn to_f32(element: Element, bits: u64) -> f32 {
    match element {
        Element::F16 => f16_to_f32(low16(bits)),
        Element::Bf16 => bf16_to_f32(low16(bits)),
        // The ISA has the lower bits ignored.
        Element::Tf32 => f32::from_bits(low32(bits) & !0x1fff),
        _ => f32::from_bits(low32(bits)),
    }
}

fn to_i32(element: Element, bits: u64) -> i32 {
    let bits = low32(bits);
    match element {
        Element::S8 => (bits << 24).cast_signed() >> 24,
        Element::S4 => (bits << 28).cast_signed() >> 28,
        _ => bits.cast_signed(),
    }
}

/// `c += a * b`, along `k` one product after the other.
#[inline(always)]
fn multiply<T: Copy, C: Copy>(a: &[T], b: &[T], c: &mut [C], [n, k]: [usize; 2], step: impl Fn(T, T, C) -> C) {
    for (row, sums) in c.chunks_exact_mut(n).enumerate() {
        for (j, factors) in b.chunks_exact(n).enumerate().take(k) {
            let Some(&x) = a.get(row * k + j) else { return };
            for (sum, y) in sums.iter_mut().zip(factors) {
                *sum = step(x, *y, *sum);
            }
        }
    }
}

leveled! {
    fn multiply_fused(a: &[f32], b: &[f32], c: &mut [f32], size: [usize; 2]) -> () {
        multiply(a, b, c, size, fma_rn_f32_host);
    }
}

impl Core<'_> {
    /// Executes a matrix instruction of the lanes of `mask`, which have come together; `moved` are then what it has
    /// read from memory or written there, if the caller asks.
    ///
    /// # Errors
    /// When they are not all lanes of a warp, disagree on where a matrix is, or its place is not memory.
    pub fn matrix(
        &mut self,
        memory: &mut Global<'_>,
        op: &Op,
        lanes: Lanes<'_>,
        mask: u32,
        moved: Option<&mut Vec<Moved>>,
    ) -> Result<(), LaneFault> {
        let program = self.program;
        let site = &program.matrices[op.target as usize];
        if mask != u32::MAX {
            let kind = FaultKind::not_a_whole_warp(&site.name, mask);
            return Err(LaneFault { lane: mask.trailing_zeros() as usize & 31, kind });
        }
        if let Some(moved) = moved {
            moved.clear();
            self.for_each_moved(op, lanes, |part| moved.push(part));
        }
        let issue = Issue { op, lanes, row: 0, mask };
        match site.op.kind {
            MatrixKind::Mma | MatrixKind::Wmma => self.multiply_add(site, lanes),
            MatrixKind::Load(matrix) => self.load_matrix(memory, issue, site, matrix)?,
            MatrixKind::Store => self.store_matrix(memory, issue, site)?,
            MatrixKind::LoadRows => self.load_rows(memory, issue, site)?,
            MatrixKind::StoreRows => self.store_rows(memory, issue, site)?,
            MatrixKind::Transpose => self.transpose(site, lanes),
        }
        Ok(())
    }

    /// A register or constant of one lane.
    pub(super) fn register(&mut self, lanes: Lanes<'_>, (bank, slot): MatrixPlace, lane: usize) -> u64 {
        let home = lanes.home(lane);
        let row = if slot & CONST != 0 { 0 } else { home.row };
        self.file.get(row, slot, bank, usize::from(home.lane))
    }

    fn set_register(&mut self, lanes: Lanes<'_>, (bank, slot): MatrixPlace, lane: usize, value: u64) {
        let home = lanes.home(lane);
        self.file.put(home.row, slot, bank, usize::from(home.lane), value);
    }

    /// Calls `f` with the place of every element of a matrix in a dense array, and its bits. Single bits come 32 at a time.
    fn for_each_element(&mut self, site: &MatrixSite, matrix: Matrix, lanes: Lanes<'_>, mut f: impl FnMut(usize, u64)) {
        let op = &site.op;
        let element = op.element(matrix);
        // Bits are multiplied in words.
        let (bits, words) = if element == Element::B1 { (32, 32) } else { (element.bits(), 1) };
        let in_register = register_bits(element) / bits;
        let (rows, columns) = match (op.size(matrix), matrix) {
            ((rows, columns), Matrix::A) => (rows, columns / words),
            ((rows, columns), Matrix::B) => (rows / words, columns),
            (size, _) => size,
        };
        let registers = &site.sources[matrix as usize];
        for lane in 0..MATRIX_LANES {
            for (n, place) in (0..).zip(registers) {
                let value = self.register(lanes, *place, lane as usize);
                for part in 0..in_register {
                    let (row, column, quarter) = position(op, matrix, lane, (n * in_register + part) * words);
                    let (row, column) = match matrix {
                        Matrix::A => (row, column / words),
                        Matrix::B => (row / words, column),
                        _ => (row, column),
                    };
                    let low = if bits == 64 { value } else { value >> (part * bits) & ((1 << bits) - 1) };
                    f(((quarter * rows + row) * columns + column) as usize, low);
                }
            }
        }
    }

    /// Writes the result: `f` gives the bits of an element by its place.
    fn write_result(&mut self, site: &MatrixSite, lanes: Lanes<'_>, f: impl Fn(usize) -> u64) {
        let op = &site.op;
        let (rows, columns) = op.size(Matrix::D);
        let bits = op.element(Matrix::D).bits();
        let in_register = register_bits(op.element(Matrix::D)) / bits;
        for lane in 0..MATRIX_LANES {
            for (n, place) in (0..).zip(&site.dest) {
                let mut value = 0;
                for part in 0..in_register {
                    let (row, column, quarter) = position(op, Matrix::D, lane, n * in_register + part);
                    value |= f(((quarter * rows + row) * columns + column) as usize) << (part * bits);
                }
                self.set_register(lanes, *place, lane as usize, value);
            }
        }
    }

    fn multiply_add(&mut self, site: &MatrixSite, lanes: Lanes<'_>) {
        match site.op.element(Matrix::A) {
            Element::F64 => self.multiply_doubles(site, lanes),
            Element::F16 | Element::Bf16 | Element::Tf32 => self.multiply_singles(site, lanes),
            _ => self.multiply_integers(site, lanes),
        }
    }

    /// Products are exact. They are added in single precision, one after the other along `k`, each sum rounded to nearest.
    fn multiply_singles(&mut self, site: &MatrixSite, lanes: Lanes<'_>) {
        let op = &site.op;
        let element = |matrix| op.element(matrix);
        let (mut a, mut b, mut c) = ([0f32; FACTOR], [0f32; FACTOR], [0f32; SUM]);
        self.for_each_element(site, Matrix::A, lanes, |at, bits| a[at] = to_f32(element(Matrix::A), bits));
        self.for_each_element(site, Matrix::B, lanes, |at, bits| b[at] = to_f32(element(Matrix::B), bits));
        self.for_each_element(site, Matrix::C, lanes, |at, bits| c[at] = to_f32(element(Matrix::C), bits));
        let [m, n, k] = [op.m, op.n, op.k].map(|x| x as usize);
        let quarters = if op.is_quartered() { 4 } else { 1 };
        for q in 0..quarters {
            let (a, b, c) =
                (&a[q * m * k..(q + 1) * m * k], &b[q * k * n..(q + 1) * k * n], &mut c[q * m * n..(q + 1) * m * n]);
            match self.program.level {
                Level::Base => multiply(a, b, c, [n, k], fma_rn_f32_portable),
                level => multiply_fused(level, a, b, c, [n, k]),
            }
        }
        let narrow = element(Matrix::D) == Element::F16;
        self.write_result(site, lanes, |at| match narrow {
            true => u64::from(f32_to_f16_rn(c[at])),
            false => u64::from(c[at].to_bits()),
        });
    }

    fn multiply_doubles(&mut self, site: &MatrixSite, lanes: Lanes<'_>) {
        let (mut a, mut b, mut c) = ([0f64; SUM], [0f64; SUM], [0f64; SUM]);
        self.for_each_element(site, Matrix::A, lanes, |at, bits| a[at] = f64::from_bits(bits));
        self.for_each_element(site, Matrix::B, lanes, |at, bits| b[at] = f64::from_bits(bits));
        self.for_each_element(site, Matrix::C, lanes, |at, bits| c[at] = f64::from_bits(bits));
        let [m, n, k] = [site.op.m, site.op.n, site.op.k].map(|x| x as usize);
        let rounding = site.rounding;
        multiply(&a, &b[..k * n], &mut c[..m * n], [n, k], |x, y, sum| fma_f64(x, y, sum, rounding));
        self.write_result(site, lanes, |at| c[at].to_bits());
    }

    fn multiply_integers(&mut self, site: &MatrixSite, lanes: Lanes<'_>) {
        let op = &site.op;
        let element = |matrix| op.element(matrix);
        let (mut a, mut b, mut c) = ([0i32; FACTOR], [0i32; FACTOR], [0i64; SUM]);
        self.for_each_element(site, Matrix::A, lanes, |at, bits| a[at] = to_i32(element(Matrix::A), bits));
        self.for_each_element(site, Matrix::B, lanes, |at, bits| b[at] = to_i32(element(Matrix::B), bits));
        self.for_each_element(site, Matrix::C, lanes, |at, bits| c[at] = i64::from(to_i32(Element::S32, bits)));
        let single_bits = element(Matrix::A) == Element::B1;
        let [m, n, k] = [op.m, op.n, if single_bits { op.k / 32 } else { op.k }].map(|x| x as usize);
        let ands = site.ands;
        let step = |x: i32, y: i32, sum: i64| match (single_bits, ands) {
            (false, _) => sum + i64::from(x) * i64::from(y),
            (true, true) => sum + i64::from((x & y).count_ones()),
            (true, false) => sum + i64::from((x ^ y).count_ones()),
        };
        multiply(&a, &b[..k * n], &mut c[..m * n], [n, k], step);
        let saturates = site.saturates;
        self.write_result(site, lanes, |at| {
            let sum = if saturates { c[at].clamp(i32::MIN.into(), i32::MAX.into()) } else { c[at] };
            u64::from(low32(sum.cast_unsigned()))
        });
    }
}
