//! Analyses over the IR, one file each.
//!
//! ```text
//!  Function ──► Cfg ──► Dominators ──► Loops ──► LikelyConvergence
//!                │  └─► PostDominators ─┐
//!                └────► Liveness ───────┴─► Uniformity ──► dot
//!                          └─► Allocation ──► Resources
//! ```
//!
//! Every analysis is a plain value computed once from the function; none changes the IR. All of
//! them accept modules that had errors: what is missing there counts as leaving the function.
//!
//! Time and memory grow with the size of the function, not with its square. Where an exact answer would cost more than
//! any machine could use, [`Liveness`], [`Allocation`], [`RegisterNeed`] and [`Uniformity`] give a coarser one that is
//! still safe; each says when and which. Compilers' output is far below those limits.

mod bitset;
mod cfg;
mod colour;
mod dom;
mod dot;
mod likely;
mod liveness;
mod loops;
mod need;
mod registers;
mod resources;
#[cfg(test)]
pub(crate) mod testing;
mod uniform;
mod worklist;

pub use bitset::BitSet;
pub use cfg::{Block, BlockId, Cfg};
pub use dom::{Dominators, PostDominators, components};
pub use dot::dot;
pub use likely::LikelyConvergence;
pub use liveness::Liveness;
pub use loops::{Loop, LoopId, Loops};
pub use need::RegisterNeed;
pub use registers::{Allocation, verify};
pub use resources::{Resources, callees};
pub use uniform::Uniformity;

#[cfg(test)]
mod tests {
    use super::testing::{Random, reference_kernels};
    use super::*;

    /// Every analysis on every function.
    fn analyse(text: &str) {
        let (module, _) = crate::load(text);
        for (i, function) in module.functions.iter().enumerate() {
            let cfg = Cfg::new(function);
            let live = Liveness::new(function, &cfg);
            let allocation = Allocation::new(&module, function, &cfg, &live);
            verify(function, &cfg, &allocation).unwrap_or_else(|e| panic!("{}: {e}\n{text}", function.name));
            assert!(RegisterNeed::estimate(function, &cfg).registers >= 2);
            assert!(Resources::new(&module, crate::ir::FuncId(i as u32)).registers >= allocation.registers);
            assert!(dot(&module, function, text).starts_with("digraph"));
        }
    }

    #[test]
    fn damaged_programs_do_no_harm() {
        let mut random = Random(0xBAD);
        let kernels = reference_kernels();
        let short: Vec<&String> = kernels.iter().map(|(_, text)| text).filter(|t| t.len() < 4000).collect();
        for _ in 0..600 {
            let text = short[random.below(short.len() as u32) as usize];
            let mut words: Vec<&str> = text.split_inclusive(&[' ', ',', ';', '\n', '.', '\t'][..]).collect();
            for _ in 0..1 + random.below(4) {
                let at = random.below(words.len() as u32) as usize;
                match random.below(3) {
                    0 => drop(words.remove(at)),
                    1 => words.insert(at, words[random.below(words.len() as u32) as usize]),
                    _ => words[at] = words[random.below(words.len() as u32) as usize],
                }
            }
            analyse(&words.concat());
        }
    }

    #[test]
    fn nothing_is_analysed_too() {
        analyse("");
        analyse(".version 3.2\n.target sm_20\n.address_size 64\n.extern .func f();\n.entry k() { }");
    }
}
