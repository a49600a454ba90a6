//! Instructions on matrices that the lanes of a warp hold together.

use super::Machine;
use super::float::{Format, Operation, arithmetic, convert, rounding};
use super::fragment::place;
use super::step::{Done, Step, low_mask, sign_extend};
use super::thread::Cta;
use crate::memory::Region;
use crate::{Fault, FaultKind};
use raddle_ptx::ir::Operand;
use raddle_ptx::isa::{Element, Matrix, MatrixKind, MatrixOp, Type, Word};
use raddle_ptx::num::{fit, low32};
use rustc_apfloat::Round;
use std::collections::BTreeMap;

/// Lanes of a warp with matrices.
const LANES: usize = 32;

/// Bits of elements by quarter, row and column.
type Elements = BTreeMap<(u32, u32, u32), u64>;

impl Step<'_> {
    /// The registers of a matrix as one long row of bits, cut into elements.
    fn elements(&self, operand: usize, element: Element) -> Done<Vec<u64>> {
        let operand = self.operand(operand);
        let parts = match operand {
            Operand::Vector(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        let (bits, ty) = (element.bits(), if element == Element::F64 { Type::B64 } else { Type::B32 });
        let mut elements = Vec::new();
        for part in parts {
            let value = self.read(part, ty)?;
            elements.extend((0..ty.bits() / bits).map(|n| value >> (n * bits) & low_mask(bits)));
        }
        Ok(elements)
    }

    fn set_elements(&mut self, operand: usize, element: Element, elements: &[u64]) {
        let operand = self.operand(operand);
        let parts = match operand {
            Operand::Vector(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        let (bits, ty) = (element.bits(), if element == Element::F64 { Type::B64 } else { Type::B32 });
        for (part, chunk) in parts.iter().zip(elements.chunks((ty.bits() / bits) as usize)) {
            let value = (0..).zip(chunk).fold(0, |value, (n, e)| value | e << (n * bits));
            self.put(part, ty, value);
        }
    }

    fn sum_of_products(&self, op: &MatrixOp, pairs: &[(u64, u64)], c: u64) -> u64 {
        match op.element(Matrix::A) {
            Element::F64 => {
                let round = rounding(self.inst.first_of(&[Word::Rn, Word::Rz, Word::Rm, Word::Rp]));
                let add = |sum, (a, b): &(u64, u64)| arithmetic(Format::Double, Operation::Fma, &[*a, *b, sum], round);
                pairs.iter().fold(c, add)
            }
            Element::F16 | Element::Bf16 | Element::Tf32 => {
                let start = single(op.element(Matrix::C), c);
                let sum = pairs.iter().fold(start, |sum, (a, b)| {
                    let (a, b) = (single(op.element(Matrix::A), *a), single(op.element(Matrix::B), *b));
                    arithmetic(Format::Single, Operation::Fma, &[a, b, sum], Round::NearestTiesToEven)
                });
                match op.element(Matrix::D) {
                    Element::F16 => convert(Format::Single, Format::Half, sum, Round::NearestTiesToEven),
                    _ => sum,
                }
            }
            Element::B1 => {
                let counted = |(a, b): &&(u64, u64)| if self.inst.has(Word::And) { a & b == 1 } else { a != b };
                low32(c).wrapping_add(fit(pairs.iter().filter(counted).count())).into()
            }
            _ => {
                let product =
                    |(a, b): &(u64, u64)| integer(op.element(Matrix::A), *a) * integer(op.element(Matrix::B), *b);
                let sum = integer(Element::S32, c) + pairs.iter().map(product).sum::<i64>();
                let kept = if self.inst.has(Word::Satfinite) { sum.clamp(-0x8000_0000, 0x7fff_ffff) } else { sum };
                kept.cast_unsigned() & low_mask(32)
            }
        }
    }
}

/// An element in single precision, which holds all of them.
fn single(element: Element, bits: u64) -> u64 {
    match element {
        Element::F16 => convert(Format::Half, Format::Single, bits, Round::NearestTiesToEven),
        Element::Bf16 => bits << 16,
        Element::Tf32 => bits & 0xffff_e000,
        _ => bits,
    }
}

fn integer(element: Element, bits: u64) -> i64 {
    match element {
        Element::S8 | Element::S4 | Element::S32 => sign_extend(bits, element.bits()),
        _ => bits.cast_signed(),
    }
}

/// A place further on in the same memory.
fn further(region: Region, by: u64) -> Region {
    match region {
        Region::Global(at) => Region::Global(at.wrapping_add(by)),
        Region::Shared(at) => Region::Shared(at.wrapping_add(by)),
        Region::Local(at) => Region::Local(at.wrapping_add(by)),
        Region::Const(at) => Region::Const(at.wrapping_add(by)),
        Region::Param(at) => Region::Param(at.wrapping_add(by)),
    }
}

impl Machine<'_> {
    /// Executes a matrix instruction of threads that have come together, and has them continue.
    pub(super) fn matrix(&mut self, cta: &mut Cta, group: &[usize]) -> Result<(), Fault> {
        let first = self.step(cta, group[0]);
        let Some(op) = first.inst.matrix() else { return Ok(()) };
        if group.len() != LANES {
            let lanes = group.iter().fold(0, |mask, t| mask | 1u32 << (t % LANES));
            return Err(first.fault(FaultKind::not_a_whole_warp(first.inst.opcode.as_str(), lanes)));
        }
        match op.kind {
            MatrixKind::Mma | MatrixKind::Wmma => self.multiply_add(cta, group, &op)?,
            MatrixKind::Load(matrix) => self.load_matrix(cta, group, &op, matrix)?,
            MatrixKind::Store => self.store_matrix(cta, group, &op)?,
            MatrixKind::LoadRows => self.load_rows(cta, group, &op)?,
            MatrixKind::StoreRows => self.store_rows(cta, group)?,
            MatrixKind::Transpose => self.transpose(cta, group)?,
        }
        group.iter().for_each(|t| self.step(cta, *t).leave_collective());
        Ok(())
    }

    /// What `f` gives for a thread, or its fault.
    fn of_thread<T>(&mut self, cta: &mut Cta, t: usize, f: impl FnOnce(&mut Step<'_>) -> Done<T>) -> Result<T, Fault> {
        let mut step = self.step(cta, t);
        f(&mut step).map_err(|kind| step.fault(kind))
    }

    fn whole(&mut self, cta: &mut Cta, group: &[usize], op: &MatrixOp, matrix: Matrix) -> Result<Elements, Fault> {
        let mut all = Elements::new();
        for (lane, t) in (0..).zip(group) {
            let element = op.element(matrix);
            // The result comes first, then `a`, `b` and `c`.
            let own = self.of_thread(cta, *t, |step| step.elements(matrix as usize + 1, element))?;
            for (i, bits) in (0..).zip(own) {
                all.entry(place(op, matrix, lane, i)).or_insert(bits);
            }
        }
        Ok(all)
    }

    fn multiply_add(&mut self, cta: &mut Cta, group: &[usize], op: &MatrixOp) -> Result<(), Fault> {
        let a = self.whole(cta, group, op, Matrix::A)?;
        let b = self.whole(cta, group, op, Matrix::B)?;
        let c = self.whole(cta, group, op, Matrix::C)?;
        let of = |all: &Elements, at: (u32, u32, u32)| all.get(&at).copied().unwrap_or(0);
        for (lane, t) in (0..).zip(group) {
            let mut step = self.step(cta, *t);
            let mut result = Vec::new();
            for i in 0..op.elements_per_lane(Matrix::D) {
                let (quarter, row, column) = place(op, Matrix::D, lane, i);
                let pair = |k: u32| (of(&a, (quarter, row, k)), of(&b, (quarter, k, column)));
                let pairs: Vec<(u64, u64)> = (0..op.k).map(pair).collect();
                result.push(step.sum_of_products(op, &pairs, of(&c, (quarter, row, column))));
            }
            step.set_elements(0, op.element(Matrix::D), &result);
        }
        Ok(())
    }

    /// Where a matrix begins, and how many elements further its next row or column does.
    fn matrix_start(
        &mut self,
        cta: &mut Cta,
        group: &[usize],
        address: usize,
        default: u32,
    ) -> Result<(Region, u64), Fault> {
        let mut first = None;
        for t in group {
            let found = self.of_thread(cta, *t, |step| {
                let stride = if step.inst.operands.len() > 2 { step.value(2, Type::U32)? } else { default.into() };
                let own = (step.target(step.operand(address))?, stride);
                match *first.get_or_insert(own) == own {
                    true => Ok(own),
                    false => Err(FaultKind::not_the_same(step.inst.opcode.as_str())),
                }
            });
            found?;
        }
        Ok(first.unwrap_or((Region::Global(0), 0)))
    }

    fn load_matrix(&mut self, cta: &mut Cta, group: &[usize], op: &MatrixOp, matrix: Matrix) -> Result<(), Fault> {
        let (rows, columns) = op.size(matrix);
        let (start, stride) = self.matrix_start(cta, group, 1, if op.by_columns[0] { rows } else { columns })?;
        let element = op.element(matrix);
        for (lane, t) in (0..).zip(group) {
            let mut own = Vec::new();
            for i in 0..op.elements_per_lane(matrix) {
                let bit = bit_of(op, place(op, matrix, lane, i), stride, element);
                let mut bytes = [0; 8];
                let count = element.bits().div_ceil(8) as usize;
                self.of_thread(cta, *t, |s| s.read_memory(further(start, bit / 8), &mut bytes[..count]))?;
                own.push(u64::from_le_bytes(bytes) >> (bit % 8) & low_mask(element.bits()));
            }
            self.step(cta, *t).set_elements(0, element, &own);
        }
        Ok(())
    }

    fn store_matrix(&mut self, cta: &mut Cta, group: &[usize], op: &MatrixOp) -> Result<(), Fault> {
        let (start, stride) = self.matrix_start(cta, group, 0, if op.by_columns[0] { op.m } else { op.n })?;
        let element = op.element(Matrix::D);
        for (lane, t) in (0..).zip(group) {
            let own = self.of_thread(cta, *t, |step| step.elements(1, element))?;
            for (i, bits) in (0..).zip(own) {
                let bit = bit_of(op, place(op, Matrix::D, lane, i), stride, element);
                let bytes = bits.to_le_bytes();
                let count = element.bits() as usize / 8;
                self.of_thread(cta, *t, |s| s.write_memory(further(start, bit / 8), &bytes[..count]))?;
            }
        }
        Ok(())
    }

    /// The shared memory that a row of eight elements lies in.
    fn row(&mut self, cta: &mut Cta, t: usize, operand: usize) -> Result<Region, Fault> {
        self.of_thread(cta, t, |step| match step.target(step.operand(operand))? {
            Region::Global(at) => {
                Err(FaultKind::Memory(format!("a row of a matrix at {at:#x} is not in shared memory")))
            }
            region => Ok(region),
        })
    }

    fn load_rows(&mut self, cta: &mut Cta, group: &[usize], op: &MatrixOp) -> Result<(), Fault> {
        let count = op.count as usize;
        let mut values = vec![Vec::new(); LANES];
        for matrix in 0..count {
            let mut rows = [[0u8; 16]; 8];
            for (n, bytes) in rows.iter_mut().enumerate() {
                let t = group[matrix * 8 + n];
                let region = self.row(cta, t, 1)?;
                self.of_thread(cta, t, |step| step.read_memory(region, bytes))?;
            }
            let transposes = self.step(cta, group[0]).inst.has(Word::Trans);
            for (lane, own) in values.iter_mut().enumerate() {
                let half = |i: usize| {
                    let (row, column) = (lane / 4, 2 * (lane % 4) + i);
                    let (row, column) = if transposes { (column, row) } else { (row, column) };
                    u64::from(u16::from_le_bytes([rows[row][2 * column], rows[row][2 * column + 1]]))
                };
                own.extend([half(0), half(1)]);
            }
        }
        for (t, own) in group.iter().zip(values) {
            self.step(cta, *t).set_elements(0, Element::F16, &own);
        }
        Ok(())
    }

    fn store_rows(&mut self, cta: &mut Cta, group: &[usize]) -> Result<(), Fault> {
        let mut halves = Vec::new();
        for t in group {
            halves.push(self.of_thread(cta, *t, |step| step.elements(1, Element::F16))?);
        }
        let transposes = self.step(cta, group[0]).inst.has(Word::Trans);
        for matrix in 0..halves[0].len() / 2 {
            for row in 0..8 {
                let value = |column: usize| {
                    let (row, column) = if transposes { (column, row) } else { (row, column) };
                    halves[row * 4 + column / 2][matrix * 2 + column % 2].to_le_bytes()
                };
                let bytes: Vec<u8> = (0..8).flat_map(|column| [value(column)[0], value(column)[1]]).collect();
                let t = group[matrix * 8 + row];
                let region = self.row(cta, t, 0)?;
                self.of_thread(cta, t, |step| step.write_memory(region, &bytes))?;
            }
        }
        Ok(())
    }

    fn transpose(&mut self, cta: &mut Cta, group: &[usize]) -> Result<(), Fault> {
        let mut halves = Vec::new();
        for t in group {
            halves.push(self.of_thread(cta, *t, |step| step.elements(1, Element::F16))?);
        }
        for (lane, t) in group.iter().enumerate() {
            // Row and column of what comes here, in the matrix as it was.
            let half = |i: usize| halves[(2 * (lane % 4) + i) * 4 + lane / 4 / 2][lane / 4 % 2];
            self.step(cta, *t).set_elements(0, Element::F16, &[half(0), half(1)]);
        }
        Ok(())
    }
}

/// Where an element of a matrix in memory begins, in bits.
fn bit_of(op: &MatrixOp, (_, row, column): (u32, u32, u32), stride: u64, element: Element) -> u64 {
    let index = match op.by_columns[0] {
        true => u64::from(column).wrapping_mul(stride).wrapping_add(row.into()),
        false => u64::from(row).wrapping_mul(stride).wrapping_add(column.into()),
    };
    index.wrapping_mul(element.bits().into())
}
