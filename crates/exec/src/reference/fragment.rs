//! Which element of a matrix a lane holds where.
//!
//! Elements are found as the figures of the PTX ISA number them, shape by shape. Where the ISA leaves open where `wmma`
//! puts them, they lie in tiles as the page of semantics says.

use raddle_ptx::isa::{Element, Matrix, MatrixKind, MatrixOp};

/// Quarter, row and column of element `i` of a lane.
pub(super) fn place(op: &MatrixOp, matrix: Matrix, lane: u32, i: u32) -> (u32, u32, u32) {
    if op.is_quartered() {
        let (row, column) = of_quarter(op, matrix, lane, i);
        return (lane % 16 / 4, row, column);
    }
    let in_tiles = matches!(op.kind, MatrixKind::Wmma | MatrixKind::Load(_) | MatrixKind::Store);
    let (row, column) = if in_tiles { of_wmma(op, matrix, lane, i) } else { of_mma(op, matrix, lane, i) };
    (0, row, column)
}

/// `mma.m8n8k4` with `.f16`.
fn of_quarter(op: &MatrixOp, matrix: Matrix, lane: u32, i: u32) -> (u32, u32) {
    let upper = if lane < 16 { 0 } else { 4 };
    let by_columns = match matrix {
        Matrix::A => op.by_columns[0],
        _ => op.by_columns[1],
    };
    match (matrix, by_columns) {
        (Matrix::A, false) => (lane % 4 + upper, i),
        (Matrix::A, true) => (i % 4 + upper, lane % 4),
        (Matrix::B, false) => (lane % 4, i + upper),
        (Matrix::B, true) => (i, lane % 4 + upper),
        (Matrix::C | Matrix::D, _) => match op.element(matrix) {
            Element::F16 => (lane % 4 + upper, i),
            _ => ((lane & 0b1) + (i & 0b10) + upper, (i & 0b100) + (lane & 0b10) + (i & 0b1)),
        },
    }
}

/// The other shapes of `mma`.
fn of_mma(op: &MatrixOp, matrix: Matrix, lane: u32, i: u32) -> (u32, u32) {
    let (group, thread) = (lane >> 2, lane % 4);
    let bits = op.element(matrix).bits();
    // One of a pair of rows eight apart, or of columns so and so many apart.
    let second = |condition: bool, distance: u32| if condition { distance } else { 0 };
    match (matrix, op.m, op.k, bits) {
        (Matrix::A, 16, 4, 32) => (group + second(i == 1, 8), thread),
        (Matrix::A, 16, 8, 32) => (group + second(i == 1 || i == 3, 8), thread + second(i >= 2, 4)),
        (Matrix::A, 16, 8, 16) => (group + second(i >= 2, 8), thread * 2 + (i & 1)),
        (Matrix::A, 16, 16, 16) => {
            let upper = matches!(i, 0 | 1 | 4 | 5);
            (group + second(!upper, 8), thread * 2 + (i & 1) + second(i >= 4, 8))
        }
        (Matrix::A, 8, 4, 64) => (group, thread),
        (Matrix::A, 8, 16, 8) => (group, thread * 4 + i),
        (Matrix::A, 16, 16, 8) => (group + second(i >= 4, 8), thread * 4 + (i & 3)),
        (Matrix::A, 16, 32, 8) => {
            let upper = i < 4 || (8..12).contains(&i);
            (group + second(!upper, 8), thread * 4 + (i & 3) + second(i >= 8, 16))
        }
        (Matrix::A, 8, 32, 4) => (group, thread * 8 + i),
        (Matrix::A, 16, 32, 4) => (group + second(i >= 8, 8), thread * 8 + (i & 7)),
        (Matrix::A, 16, 64, 4) => {
            let upper = i < 8 || (16..24).contains(&i);
            (group + second(!upper, 8), thread * 8 + (i & 7) + second(i >= 16, 32))
        }
        (Matrix::A, 8, _, _) => (group, thread * 32 + i),
        (Matrix::A, _, 128, _) => (group + second(i >= 32, 8), thread * 32 + (i & 31)),
        (Matrix::A, _, _, _) => {
            let upper = i < 32 || (64..96).contains(&i);
            (group + second(!upper, 8), thread * 32 + (i & 31) + second(i >= 64, 128))
        }
        (Matrix::B, _, 4, _) => (thread, group),
        (Matrix::B, _, 8, 32) => (thread + second(i == 1, 4), group),
        (Matrix::B, _, 8, _) => (thread * 2 + i, group),
        (Matrix::B, _, 16, 16) => (thread * 2 + (i & 1) + second(i >= 2, 8), group),
        (Matrix::B, _, 16, _) => (thread * 4 + i, group),
        (Matrix::B, _, 32, 8) => (thread * 4 + (i & 3) + second(i >= 4, 16), group),
        (Matrix::B, _, 32, _) => (thread * 8 + i, group),
        (Matrix::B, _, 64, _) => (thread * 8 + (i & 7) + second(i >= 8, 32), group),
        (Matrix::B, _, 128, _) => (thread * 32 + i, group),
        (Matrix::B, _, _, _) => (thread * 32 + (i & 31) + second(i >= 32, 128), group),
        (Matrix::C | Matrix::D, _, _, _) => (group + second(i >= 2, 8), thread * 2 + (i & 1)),
    }
}

/// `wmma`: tiles of eight rows by four registers, all that are below each other before those beside them; of `b` the same
/// with rows and columns exchanged, but in the same order.
fn of_wmma(op: &MatrixOp, matrix: Matrix, lane: u32, i: u32) -> (u32, u32) {
    let packed = match matrix {
        Matrix::C | Matrix::D => 2,
        _ => (32 / op.element(matrix).bits()).max(1),
    };
    let (rows, columns) = op.size(matrix);
    let (tall, wide) = if matrix == Matrix::B { (4 * packed, 8) } else { (8, 4 * packed) };
    let mut tiles = Vec::new();
    for column in (0..columns).step_by(wide as usize) {
        for row in (0..rows).step_by(tall as usize) {
            tiles.push((row, column));
        }
    }
    // Lanes may have room for more than there is: they begin again.
    let (row, column) = tiles[(i / packed) as usize % tiles.len()];
    let (along, across) = (lane % 4 * packed + i % packed, lane / 4);
    if matrix == Matrix::B { (row + along, column + across) } else { (row + across, column + along) }
}
