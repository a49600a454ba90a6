//! Everything the front end can do with a text. The fuzzing target includes this file too.

use raddle_ptx::analysis::{
    Allocation, Cfg, Dominators, Liveness, Loops, PostDominators, RegisterNeed, Resources, Uniformity, dot, verify,
};
use raddle_ptx::ir::{FuncId, Module};
use raddle_ptx::source::LineIndex;
use raddle_ptx::syntax::{parse, print};
use raddle_ptx::{Diagnostic, load};

/// Parses, prints, parses again, resolves, checks and analyses `text`, whether or not it has mistakes. Panics when a
/// promise is broken: what the printer writes must read back as the same tree, and an allocation must be sound.
pub fn exercise(text: &str) {
    reads_back(text);
    let (module, diagnostics) = load(text);
    let lines = LineIndex::new(text);
    for diagnostic in &diagnostics {
        assert!(text.get(diagnostic.span.range()).is_some(), "{diagnostic:?} points outside of the text");
        assert!(!diagnostic.one_line(text, &lines).is_empty());
    }
    analyse(&module, text);
}

/// Prints what can be read of `text`. Without mistakes in it, the print must give the same tree and the same print.
pub fn reads_back(text: &str) {
    let (tree, diagnostics) = parse(text);
    let printed = print(&tree);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return;
    }
    let (again, errors) = parse(&printed);
    assert!(errors.is_empty(), "the print has mistakes: {errors:?}\n{printed}");
    assert!(tree == again, "the print gives another tree:\n{printed}\n{tree:?}\n{again:?}");
    assert_eq!(printed, print(&again));
}

/// Runs every analysis on every function.
pub fn analyse(module: &Module, text: &str) {
    for (i, function) in module.functions.iter().enumerate() {
        let cfg = Cfg::new(function);
        let live = Liveness::new(function, &cfg);
        let allocation = Allocation::new(module, function, &cfg, &live);
        if allocation.registers.max(allocation.predicates) <= 1 << 16 {
            verify(function, &cfg, &allocation).unwrap_or_else(|e| panic!("{}: {e}", function.name));
        }
        let _ = RegisterNeed::estimate(function, &cfg);
        let post = PostDominators::new(&cfg);
        let uniform = Uniformity::new(module, function, &cfg, &post);
        for branch in uniform.divergent() {
            let _ = post.reconvergence(branch);
        }
        let _ = Loops::new(&cfg, &Dominators::new(&cfg));
        let resources = Resources::new(module, FuncId(i as u32));
        assert!(resources.registers >= allocation.registers);
        assert!(dot(module, function, text).starts_with("digraph"));
    }
}
