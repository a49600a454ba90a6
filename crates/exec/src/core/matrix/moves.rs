//! Matrices between registers and memory, and between the lanes of a warp.

use super::{position, register_bits};
use crate::core::load_store::Place;
use crate::core::{Core, Issue, LaneFault, Lanes};
use crate::decode::{MatrixPlace, MatrixSite, STRIDE};
use crate::fault::FaultKind;
use crate::lanes::LANES;
use crate::memory::{Global, Region, region};
use crate::op::{Bank, MemSpace, NONE, Op};
use raddle_ptx::isa::{MATRIX_LANES, Matrix, MatrixKind, MatrixOp};
use raddle_ptx::num::fit;

/// What a lane moves in a step of a matrix instruction.
#[derive(Clone, Copy, Debug)]
pub struct Moved {
    /// Which step.
    pub step: u32,
    /// The lane.
    pub lane: usize,
    /// Where its first byte is.
    pub address: u64,
    /// How many there are.
    pub bytes: u32,
}

impl Core<'_> {
    fn address_of(&mut self, op: &Op, lanes: Lanes<'_>, lane: usize) -> u64 {
        let base = self.register(lanes, (op.s_bank[0], op.s[0]), lane);
        base.wrapping_add(op.aux)
    }

    /// Address and stride of a matrix, as a lane says.
    fn start_of(&mut self, op: &Op, lanes: Lanes<'_>, lane: usize, default: u32) -> (u64, u64) {
        let has_stride = op.s[STRIDE] != NONE && op.s_bank[STRIDE] != Bank::Absent;
        let stride = match has_stride {
            true => self.register(lanes, (op.s_bank[STRIDE], op.s[STRIDE]), lane),
            false => u64::from(default),
        };
        (self.address_of(op, lanes, lane), stride)
    }

    /// Address and stride of a matrix, which all lanes must agree on.
    fn matrix_start(&mut self, issue: Issue<'_>, site: &MatrixSite, default: u32) -> Result<(u64, u64), LaneFault> {
        let Issue { op, lanes, .. } = issue;
        let mut start = |lane| self.start_of(op, lanes, lane, default);
        let first = start(0);
        match (1..LANES).find(|lane| start(*lane) != first) {
            None => Ok(first),
            Some(lane) => Err(LaneFault { lane, kind: FaultKind::not_the_same(&site.name) }),
        }
    }

    /// Calls `f` with every element of a matrix that is loaded or stored: lane, number in the lane, and where its first
    /// bit is, in bits from the start.
    fn for_each_in_memory(
        op: &MatrixOp,
        matrix: Matrix,
        stride: u64,
        mut f: impl FnMut(usize, u32, u64) -> Result<(), LaneFault>,
    ) -> Result<(), LaneFault> {
        for lane in 0..MATRIX_LANES {
            for i in 0..op.elements_per_lane(matrix) {
                let (row, column, _) = position(op, matrix, lane, i);
                let (line, along) = if op.by_columns[0] { (column, row) } else { (row, column) };
                let index = u64::from(line).wrapping_mul(stride).wrapping_add(along.into());
                f(lane as usize, i, index.wrapping_mul(op.element(matrix).bits().into()))?;
            }
        }
        Ok(())
    }

    /// Calls `f` with all that a matrix instruction will read from memory or write there, for lanes that have come together.
    /// It is moved in steps: of `ldmatrix` one for each matrix of 8 by 8, of others one for each register of a lane.
    pub(super) fn for_each_moved(&mut self, op: &Op, lanes: Lanes<'_>, mut f: impl FnMut(Moved)) {
        let program = self.program;
        let site = &program.matrices[op.target as usize];
        let what = &site.op;
        let (matrix, size) = match what.kind {
            MatrixKind::LoadRows | MatrixKind::StoreRows => {
                for lane in 0..fit(what.count * 8) {
                    let address = self.address_of(op, lanes, lane);
                    f(Moved { step: fit(lane / 8), lane, address, bytes: 16 });
                }
                return;
            }
            MatrixKind::Load(matrix) => (matrix, what.size(matrix)),
            MatrixKind::Store => (Matrix::D, (what.m, what.n)),
            MatrixKind::Mma | MatrixKind::Wmma | MatrixKind::Transpose => return,
        };
        let default = if what.by_columns[0] { size.0 } else { size.1 };
        let (start, stride) = self.start_of(op, lanes, 0, default);
        let bits = what.element(matrix).bits();
        let in_register = register_bits(what.element(matrix)) / bits;
        let _ = Self::for_each_in_memory(what, matrix, stride, |lane, i, at| {
            let address = start.wrapping_add(at / 8);
            f(Moved { step: i / in_register, lane, address, bytes: (bits / 8).max(1) });
            Ok(())
        });
    }

    pub(super) fn load_matrix(
        &mut self,
        memory: &Global<'_>,
        issue: Issue<'_>,
        site: &MatrixSite,
        matrix: Matrix,
    ) -> Result<(), LaneFault> {
        let op = &site.op;
        let (rows, columns) = op.size(matrix);
        let (start, stride) = self.matrix_start(issue, site, if op.by_columns[0] { rows } else { columns })?;
        let bits = op.element(matrix).bits();
        let bytes = (bits / 8).max(1);
        let in_register = register_bits(op.element(matrix)) / bits;
        let mut value = 0;
        Self::for_each_in_memory(op, matrix, stride, |lane, i, at| {
            let place = self.locate(memory, issue, lane, start.wrapping_add(at / 8), bytes)?;
            let loaded = self.peek(memory, place, 0, fit(bytes)) >> (at % 8);
            let loaded = if bits == 64 { loaded } else { loaded & ((1 << bits) - 1) };
            value |= loaded << (i % in_register * bits);
            if i % in_register == in_register - 1 {
                self.set_register(issue.lanes, site.dest[(i / in_register) as usize], lane, value);
                value = 0;
            }
            Ok(())
        })
    }

    pub(super) fn store_matrix(
        &mut self,
        memory: &mut Global<'_>,
        issue: Issue<'_>,
        site: &MatrixSite,
    ) -> Result<(), LaneFault> {
        let op = &site.op;
        let (start, stride) = self.matrix_start(issue, site, if op.by_columns[0] { op.m } else { op.n })?;
        let bits = op.element(Matrix::D).bits();
        let in_register = register_bits(op.element(Matrix::D)) / bits;
        Self::for_each_in_memory(op, Matrix::D, stride, |lane, i, at| {
            let place = self.locate(memory, issue, lane, start.wrapping_add(at / 8), bits / 8)?;
            let value = self.register(issue.lanes, site.sources[0][(i / in_register) as usize], lane);
            self.poke(memory, place, 0, fit(bits / 8), value >> (i % in_register * bits));
            Ok(())
        })
    }

    /// The row that a lane gives the address of: sixteen bytes of shared memory.
    fn row(&mut self, memory: &Global<'_>, issue: Issue<'_>, lane: usize) -> Result<Place, LaneFault> {
        let address = self.address_of(issue.op, issue.lanes, lane);
        if issue.op.access.space == MemSpace::Generic && !matches!(region(address), Region::Shared(_)) {
            let text = format!("a row of a matrix at {address:#x} is not in shared memory");
            return Err(LaneFault { lane, kind: FaultKind::Memory(text) });
        }
        self.locate(memory, issue, lane, address, 16)
    }

    pub(super) fn load_rows(
        &mut self,
        memory: &Global<'_>,
        issue: Issue<'_>,
        site: &MatrixSite,
    ) -> Result<(), LaneFault> {
        // All rows are read first: the register with the addresses may be one of those that are written.
        let mut matrices = [[[0u64; 8]; 8]; 4];
        let count = site.dest.len();
        for (n, values) in matrices.iter_mut().take(count).flatten().enumerate() {
            let place = self.row(memory, issue, n)?;
            for (column, value) in (0u64..).zip(values) {
                *value = self.peek(memory, place, column * 2, 2);
            }
        }
        for (dest, matrix) in site.dest.iter().zip(&matrices) {
            self.deal(issue.lanes, *dest, matrix, site.transposes);
        }
        Ok(())
    }

    /// Gives every lane its two elements of an 8 by 8 matrix.
    fn deal(&mut self, lanes: Lanes<'_>, dest: MatrixPlace, matrix: &[[u64; 8]; 8], transposes: bool) {
        for lane in 0..LANES {
            let element = |i: usize| match transposes {
                false => matrix[lane / 4][lane % 4 * 2 + i],
                true => matrix[lane % 4 * 2 + i][lane / 4],
            };
            self.set_register(lanes, dest, lane, element(0) | element(1) << 16);
        }
    }

    /// Collects an 8 by 8 matrix from all lanes.
    fn collect(&mut self, lanes: Lanes<'_>, from: MatrixPlace) -> [[u64; 8]; 8] {
        let mut matrix = [[0; 8]; 8];
        for lane in 0..LANES {
            let value = self.register(lanes, from, lane);
            matrix[lane / 4][lane % 4 * 2] = value & 0xffff;
            matrix[lane / 4][lane % 4 * 2 + 1] = value >> 16 & 0xffff;
        }
        matrix
    }

    pub(super) fn store_rows(
        &mut self,
        memory: &mut Global<'_>,
        issue: Issue<'_>,
        site: &MatrixSite,
    ) -> Result<(), LaneFault> {
        for (n, from) in site.sources[0].iter().enumerate() {
            let held = self.collect(issue.lanes, *from);
            let transposed = |row: usize| held.map(|line| line[row]);
            let matrix = if site.transposes { std::array::from_fn(transposed) } else { held };
            for (row, line) in matrix.iter().enumerate() {
                let place = self.row(memory, issue, n * 8 + row)?;
                for (column, value) in (0u64..).zip(line) {
                    self.poke(memory, place, column * 2, 2, *value);
                }
            }
        }
        Ok(())
    }

    pub(super) fn transpose(&mut self, site: &MatrixSite, lanes: Lanes<'_>) {
        if let ([from], [dest]) = (&site.sources[0][..], &site.dest[..]) {
            let matrix = self.collect(lanes, *from);
            self.deal(lanes, *dest, &matrix, true);
        }
    }
}
