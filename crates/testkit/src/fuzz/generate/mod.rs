//! Kernels made from a seed, with what compilers do not write: barriers of some warps, control flow without structure,
//! every way to fetch from a texture, asynchronous copies, vectors, matrices.
//!
//! A kernel is a kernel file with two launches. Each thread has a state of 32 bits, into which everything that it
//! computes goes, and which it stores at the end.
//!
//! # What holds by construction
//!
//! - There is no race: threads write to their own part of each buffer and of shared memory, and read what others have
//!   written only between barriers that separate it from the next write.
//! - Every thread ends: loops have few trips, and threads in control flow without structure have fuel.
//! - There is no deadlock: the warps that a barrier waits for all come to it. The first of four threads never exits, so
//!   that each warp that came to a counted barrier can do so again.
//! - Instructions on matrices are executed by whole warps, all of whose threads still run.
//! - A kernel that faults has one instruction that can, and one thread, or four neighbours, for which it does.

mod barrier;
mod copy;
mod fault;
mod flow;
mod launch;
mod matrix;
mod surface;
mod texture;
mod values;
mod vector;
mod words;
mod writer;

use crate::rng::Rng;
use writer::{Scope, Source, Writer};

/// What a kernel is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Barriers with numbers and counts, several in use at once.
    Barriers,
    /// Loops with two entries, branches through tables, exits.
    Flow,
    /// Fetches from textures.
    Textures,
    /// Loads from surfaces and stores to them.
    Surfaces,
    /// `cp.async`.
    Copies,
    /// Vectors at random places.
    Vectors,
    /// `wmma`, `mma` and what moves matrices.
    Matrices,
}

impl Feature {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Barriers, Self::Flow, Self::Textures, Self::Surfaces, Self::Copies, Self::Vectors, Self::Matrices];

    /// Whether a thread can use it whatever the others do.
    fn is_of_a_thread(self) -> bool {
        !matches!(self, Self::Barriers | Self::Matrices)
    }
}

/// How often each feature is taken.
struct Weights([u32; Feature::ALL.len()]);

impl Weights {
    /// Most kernels have several features, some only one or two.
    fn random(rng: &mut Rng) -> Self {
        let mut weights = [0; Feature::ALL.len()];
        for weight in &mut weights {
            *weight = *rng.pick(&[0, 1, 1, 3]);
        }
        weights[rng.below(weights.len() as u32) as usize] += 2;
        // Matrices need full warps, which takes from the other features; and they are slow in the interpreter.
        let matrices = &mut weights[Feature::Matrices as usize];
        *matrices = if rng.one_in(4) { (*matrices).max(1) } else { 0 };
        Self(weights)
    }

    /// One feature only.
    fn only(feature: Feature) -> Self {
        let mut weights = [0; Feature::ALL.len()];
        weights[feature as usize] = 1;
        Self(weights)
    }

    fn has(&self, feature: Feature) -> bool {
        self.0[feature as usize] > 0
    }

    fn pick(&self, rng: &mut Rng, fits: impl Fn(Feature) -> bool) -> Option<Feature> {
        let weight = |f: &Feature| if fits(*f) { self.0[*f as usize] } else { 0 };
        let all: u32 = Feature::ALL.iter().map(weight).sum();
        if all == 0 {
            return None;
        }
        let mut left = rng.below(all);
        Feature::ALL.into_iter().find(|f| {
            let found = left < weight(f);
            left = left.saturating_sub(weight(f));
            found
        })
    }
}

/// How large kernels are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For the timing model.
    Small,
    /// For engines without time.
    Full,
}

/// The kernel file of a seed.
#[must_use]
pub fn kernel(seed: u64, size: Size) -> String {
    let mut rng = Rng::new(seed);
    let weights = Weights::random(&mut rng);
    with_weights(rng, seed, size, (&weights, Source::State))
}

/// A kernel whose time must not depend on what is in memory: addresses, flow and guards are made of a key of each
/// thread, which nothing that is loaded goes into. Loads often write the registers of their own addresses. It has races.
#[must_use]
pub fn keyed_kernel(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let weights = Weights::random(&mut rng);
    with_weights(rng, seed, Size::Small, (&weights, Source::Key))
}

/// A kernel with one feature only.
#[must_use]
pub fn kernel_of(feature: Feature, seed: u64) -> String {
    with_weights(Rng::new(seed), seed, Size::Full, (&Weights::only(feature), Source::State))
}

fn with_weights(mut rng: Rng, seed: u64, size: Size, (weights, source): (&Weights, Source)) -> String {
    let shape = launch::Shape::random(&mut rng, size, weights.has(Feature::Matrices));
    let mut writer = Writer::new(rng, shape, source);
    let statements = writer.rng.between(2, if size == Size::Small { 4 } else { 6 });
    // Threads end early in the second half only, so that the first has full warps.
    let first_exit = if writer.rng.one_in(2) { writer.rng.between(statements / 2, statements) } else { statements };
    let fault = writer.rng.one_in(12).then(|| writer.rng.below(statements));
    for n in 0..statements {
        writer.may_exit = n >= first_exit;
        if fault == Some(n) {
            fault::emit(&mut writer);
        }
        block_statement(&mut writer, weights, 0);
    }
    launch::finish(writer, seed)
}

/// A statement that all threads of a block come to.
fn block_statement(writer: &mut Writer, weights: &Weights, depth: u32) {
    writer.make_room();
    match writer.rng.below(10) {
        0 if depth == 0 && writer.rng.one_in(3) => by_table(writer, weights),
        0 if depth == 0 => repeat(writer, weights),
        1 => some_warps(writer, weights),
        2 => some_threads(writer, weights, Scope::Block),
        _ => feature(writer, weights, Scope::Block),
    }
}

/// A loop of as many trips for all threads.
fn repeat(writer: &mut Writer, weights: &Weights) {
    writer.separate();
    // What ends in one trip is missing in the next.
    writer.has_exits |= writer.may_exit;
    let (counter, p, label, trips) = (writer.r(), writer.p(), writer.label("LOOP"), writer.rng.between(2, 3));
    writer.line(&format!("mov.u32 {counter}, 0;"));
    writer.line(&format!("{label}:"));
    for _ in 0..writer.rng.between(1, 2) {
        block_statement(writer, weights, 1);
    }
    // What a barrier of the last trip protects is used again in the next.
    writer.separate();
    writer.line(&format!("add.u32 {counter}, {counter}, 1;"));
    writer.line(&format!("setp.lt.u32 {p}, {counter}, {trips};"));
    let uni = *writer.rng.pick(&["", ".uni"]);
    writer.line(&format!("@{p} bra{uni} {label};"));
}

/// Something else in every other block.
fn by_table(writer: &mut Writer, weights: &Weights) {
    writer.separate();
    let (r, table, end) = (writer.r(), writer.label("TABLE"), writer.label("END"));
    let arms = [writer.label("EVEN"), writer.label("ODD")];
    let uni = *writer.rng.pick(&["", ".uni"]);
    writer.line(&format!("and.b32 {r}, %c, 1;"));
    writer.line(&format!("{table}: .branchtargets {};", arms.join(", ")));
    writer.line(&format!("brx.idx{uni} {r}, {table};"));
    for arm in &arms {
        writer.line(&format!("{arm}:"));
        block_statement(writer, weights, 1);
        writer.line(&format!("bra {end};"));
        // No branch leads from here to the other.
        writer.forget();
    }
    writer.line(&format!("{end}:"));
    writer.separate();
}

/// Something that only some warps do.
fn some_warps(writer: &mut Writer, weights: &Weights) {
    let (r, p, label) = (writer.r(), writer.p(), writer.label("WARPS"));
    let bit = writer.rng.below(2);
    writer.line(&format!("and.b32 {r}, %w, 1;"));
    writer.line(&format!("setp.eq.u32 {p}, {r}, {bit};"));
    writer.line(&format!("@{p} bra {label};"));
    feature(writer, weights, Scope::Warp);
    writer.line(&format!("{label}:"));
}

/// Something that only some threads do, and something else that the others do.
fn some_threads(writer: &mut Writer, weights: &Weights, scope: Scope) {
    let (p, other, end) = (writer.condition(), writer.label("ELSE"), writer.label("END"));
    let inside = if scope == Scope::Block { Scope::Thread } else { scope };
    writer.line(&format!("@{p} bra {other};"));
    feature(writer, weights, inside);
    writer.line(&format!("bra {end};"));
    writer.line(&format!("{other}:"));
    feature(writer, weights, inside);
    writer.line(&format!("{end}:"));
}

/// Something of a random feature that can stand where so many threads come.
fn feature(writer: &mut Writer, weights: &Weights, scope: Scope) {
    // Threads may have ended within warps.
    let has_warps = scope != Scope::Thread && !writer.has_exits;
    if writer.has_key() && writer.rng.one_in(4) {
        values::emit(writer, has_warps);
        return;
    }
    let fits = |f: Feature| match f {
        Feature::Barriers => scope == Scope::Block,
        Feature::Matrices => has_warps,
        _ => f.is_of_a_thread(),
    };
    match weights.pick(&mut writer.rng, fits) {
        Some(Feature::Barriers) => barrier::emit(writer),
        Some(Feature::Flow) => flow::emit(writer, weights),
        Some(Feature::Textures) => texture::emit(writer),
        Some(Feature::Surfaces) => surface::emit(writer),
        Some(Feature::Copies) => copy::emit(writer, scope),
        Some(Feature::Vectors) => vector::emit(writer),
        Some(Feature::Matrices) => matrix::emit(writer),
        None => writer.mix(),
    }
}
