//! In how many ways queens can stand on a chess board: the host fills the first rows, a thread the rest.

use crate::prelude::*;

const BLOCK: usize = 96;

/// All boards with queens in so many rows; a board has the column of each queen. Mirror images are left out.
fn fill(board: &mut Vec<usize>, size: usize, rows: usize, boards: &mut Vec<Vec<usize>>) {
    if board.len() == rows {
        boards.push(board.clone());
        return;
    }
    let end = if board.is_empty() { size.div_ceil(2) } else { size };
    for column in 0..end {
        if is_free(board, column) {
            board.push(column);
            fill(board, size, rows, boards);
            board.pop();
        }
    }
}

/// Whether no queen attacks this column of the next row.
fn is_free(board: &[usize], column: usize) -> bool {
    board.iter().rev().zip(1..).all(|(other, distance)| other.abs_diff(column) != distance && *other != column)
}

/// The ways to fill the rest of the board.
fn ways(board: &mut Vec<usize>, size: usize) -> u32 {
    if board.len() == size {
        return 1;
    }
    let mut sum = 0;
    for column in 0..size {
        if is_free(board, column) {
            board.push(column);
            sum += ways(board, size);
            board.pop();
        }
    }
    sum
}

/// How often a board counts: twice if its mirror image is another one that is left out.
fn weight(board: &[usize], size: usize) -> u32 {
    if board[0] * 2 + 1 == size { 1 } else { 2 }
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (size, rows) = (run.size("queens")?, run.size("filled_rows")?);
    let mut boards = Vec::new();
    fill(&mut Vec::new(), size, rows, &mut boards);

    // Columns of the next row that are taken, straight from above or along the diagonals, and the board's weight.
    let taken = |board: &Vec<usize>| {
        let bits = |shift: &dyn Fn(u32, u32) -> u32| {
            board.iter().rev().zip(1..).fold(0, |bits, (column, distance)| bits | shift(1 << column, distance))
        };
        [bits(&|b, _| b), bits(&|b, d| b << d), bits(&|b, d| b >> d), weight(board, size)]
    };
    let masks: Vec<[u32; 4]> = boards.iter().map(taken).collect();
    let masks = run.upload("boards", masks.as_flattened())?;
    let counts = run.zeros::<u32>("ways", boards.len())?;
    let total = run.zeros::<u64>("total", 1)?;
    let [count, size_arg, filled] = [boards.len(), size, rows].map(|n| (n as i32).into());
    let args = [masks.into(), count, size_arg, filled, counts.into(), total.into()];
    run.launch("count_ways", boards.len().div_ceil(BLOCK), BLOCK, &args)?;

    let want: Vec<u32> = boards.iter_mut().map(|b| ways(b, size) * weight(b, size)).collect();
    run.check("ways", counts, &want)?;
    run.check("total", total, &[want.iter().copied().map(u64::from).sum()])
}
