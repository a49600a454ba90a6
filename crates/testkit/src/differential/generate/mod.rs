//! From a seed to a program: C++ text, launch and input.
//!
//! A program is written in the macros of `prelude.hpp`, so that the same text compiles for the
//! device and for the host. It has no undefined behaviour on either side: wrapping arithmetic is
//! done on unsigned types, shift amounts and array indices are masked, divisors repaired,
//! conversions clamped, all variables initialised, and threads talk to each other only across
//! barriers or by atomics whose final result does not depend on their order.

mod control;
mod float;
mod instructions;
mod integer;
mod scope;
mod shared;
mod ty;

use crate::rng::Rng;
use scope::Scope;

/// What a program is mostly made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Integer expressions of all widths, stack arrays, structs, calls, recursion.
    Integer,
    /// Floating point arithmetic, comparisons and conversions.
    Float,
    /// Divergent loops, branches, switches, early exits and calls.
    Control,
    /// Shared memory, barriers, atomics and warp collectives.
    Shared,
}

impl Kind {
    /// Every kind, in the order in which seeds go through them.
    pub const ALL: [Self; 4] = [Self::Integer, Self::Float, Self::Control, Self::Shared];

    /// The kind of the program of a seed: each gets every fourth seed.
    pub fn of_seed(seed: u64) -> Self {
        Self::ALL[(seed % 4) as usize]
    }

    /// Lower-case name, used in the names of cases.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Control => "control",
            Self::Shared => "shared",
        }
    }
}

/// A generated program with everything needed to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// What it was made from.
    pub seed: u64,
    /// What it is mostly made of.
    pub kind: Kind,
    /// C++ text, to be preceded by the prelude.
    pub source: String,
    /// Name of the kernel, unique to the seed.
    pub kernel: String,
    /// Thread blocks of the launch.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Third argument of the kernel.
    pub n: i32,
    /// Content of the buffer behind the first argument.
    pub input: Vec<u32>,
    /// Content of the buffer behind the second argument before the launch.
    pub initial_out: Vec<u32>,
}

/// The shape of a launch and its buffers, known before the program is written.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    grid: [u32; 3],
    block: [u32; 3],
    n: i32,
    /// A power of two.
    in_words: u32,
}

impl Shape {
    fn threads_per_block(&self) -> u32 {
        self.block.iter().product()
    }

    fn threads(&self) -> u32 {
        self.grid.iter().product::<u32>() * self.threads_per_block()
    }

    fn choose(rng: &mut Rng, kind: Kind) -> Self {
        const GRIDS: [[u32; 3]; 8] =
            [[1, 1, 1], [1, 1, 1], [2, 1, 1], [3, 1, 1], [4, 1, 1], [2, 2, 1], [1, 3, 1], [1, 1, 2]];
        const BLOCKS: [[u32; 3]; 16] = [
            [32, 1, 1],
            [64, 1, 1],
            [128, 1, 1],
            [96, 1, 1],
            [33, 1, 1],
            [48, 1, 1],
            [100, 1, 1],
            [7, 1, 1],
            [16, 4, 1],
            [8, 8, 1],
            [7, 5, 1],
            [31, 3, 1],
            [32, 4, 1],
            [4, 4, 4],
            [3, 5, 3],
            [1, 40, 1],
        ];
        let grid = *rng.pick(&GRIDS);
        let block = *rng.pick(&BLOCKS);
        let total = grid.iter().product::<u32>() * block.iter().product::<u32>();
        let n = match rng.below(4) {
            0 => total - rng.below(total.min(20)),
            1 => total + rng.below(100),
            _ => total,
        };
        // The shared programs use all threads in every phase; `n` is one more number to them.
        let in_words = if kind == Kind::Shared { 256 } else { *rng.pick(&[64, 128, 256]) };
        Self { grid, block, n: n as i32, in_words }
    }
}

/// What the generator of a kind gives back.
pub(super) struct Written {
    /// Declarations, functions and the entry macro block.
    text: String,
    /// Words of output that each thread owns.
    words_per_thread: u32,
    /// Words after those of the threads, for atomics.
    extra_words: u32,
    /// Words after those, zero before the launch.
    zero_words: u32,
}

/// Makes the program of a seed. The same seed gives the same program for ever.
pub fn program(seed: u64) -> Program {
    let kind = Kind::of_seed(seed);
    let mut rng = Rng::new(seed);
    let shape = Shape::choose(&mut rng, kind);
    let kernel = format!("k_{seed}");
    let scope = Scope::new(rng.clone(), shape.clone(), kernel.clone());
    let written = match kind {
        Kind::Integer => integer::write(scope),
        Kind::Float => float::write(scope),
        Kind::Control => control::write(scope),
        Kind::Shared => shared::write(scope),
    };
    let source = format!("namespace p_{seed} {{ // {}\n{}}} // namespace p_{seed}\n", kind.name(), written.text);
    let mut data = Rng::new(!seed);
    let input = (0..shape.in_words).map(|_| input_word(&mut data)).collect();
    let out_words = shape.threads() * written.words_per_thread + written.extra_words;
    let mut initial_out: Vec<_> = (0..out_words).map(|_| input_word(&mut data)).collect();
    initial_out.extend((0..written.zero_words).map(|_| 0));
    Program { seed, kind, source, kernel, grid: shape.grid, block: shape.block, n: shape.n, input, initial_out }
}

/// A word that is random, small, or a pattern where arithmetic tends to go wrong.
fn input_word(rng: &mut Rng) -> u32 {
    const SPECIAL: [u32; 32] = [
        0x0000_0000,
        0x8000_0000,
        0x7fff_ffff,
        0xffff_ffff,
        0x0000_0001,
        0x8000_0001,
        0x3f80_0000,
        0xbf80_0000,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0xffc0_0000,
        0x7f80_0001,
        0x7f7f_ffff,
        0xff7f_ffff,
        0x0080_0000,
        0x007f_ffff,
        0x807f_ffff,
        0x4f00_0000,
        0xcf00_0000,
        0x4f80_0000,
        0x5f00_0000,
        0x4b00_0000,
        0x4b7f_ffff,
        0x3eff_ffff,
        0x3f00_0000,
        0x7ff0_0000,
        0xfff0_0000,
        0x7fef_ffff,
        0x000f_ffff,
        0x7c00_7bff,
        0x0400_03ff,
    ];
    match rng.below(8) {
        0 | 1 => rng.next_u32(),
        2 => rng.below(64),
        3 => rng.below(64).wrapping_neg(),
        4 | 5 => *rng.pick(&SPECIAL),
        // A float of moderate size.
        6 => (rng.next_u32() & 0x807f_ffff) | (rng.between(117, 140) << 23),
        _ => {
            let shift = rng.below(32);
            rng.next_u32() >> shift
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_names_one_program() {
        for seed in 0..40 {
            assert_eq!(program(seed), program(seed));
        }
        assert_ne!(program(0).source, program(4).source);
    }

    #[test]
    fn every_kind_gets_a_quarter() {
        for kind in Kind::ALL {
            let count = (0..40).filter(|&seed| program(seed).kind == kind).count();
            assert_eq!(count, 10, "{kind:?}");
        }
    }

    #[test]
    fn input_sizes_are_powers_of_two() {
        // Indices into the input are masked.
        assert!((0..40).all(|seed| program(seed).input.len().is_power_of_two()));
    }
}
