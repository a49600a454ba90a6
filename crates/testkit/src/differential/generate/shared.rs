//! Programs of many threads: shared memory, barriers, atomics and warp collectives.
//!
//! A program is a sequence of stages over two words of state per thread. A stage declares shared
//! memory of its own, so that stages cannot race with each other, and is split into phases at its
//! barriers; inside a phase no thread reads what another one writes.

use super::Written;
use super::scope::Scope;
use super::ty::Ty;

// After the output of the threads come words that the whole grid updates by atomics: slots of one
// integer operation each, then sums of floats.
const SLOTS: u32 = 3;
const SLOT_WORDS: u32 = 8;
const FLOAT_WORDS: u32 = 4;
/// Words of output per thread.
const WORDS: u32 = 4;

pub(super) fn write(mut s: Scope) -> Written {
    let tables = s.rng.below(2);
    s.write_tables(tables);
    s.line("struct State { u32 x, y, z; };");
    let mut entry = Vec::new();
    Stage { entry: &mut entry }.start(&mut s);
    for _ in 0..s.rng.between(2, 5) {
        Stage { entry: &mut entry }.any(&mut s);
    }
    Stage { entry: &mut entry }.finish(&mut s);
    let attributes = s.entry_attributes();
    s.line(format!("ENTRY_BEGIN({}, {attributes})", s.kernel.clone()));
    for step in entry {
        s.line(step);
    }
    s.line("ENTRY_END");
    Written { text: s.into_text(), words_per_thread: WORDS, extra_words: SLOTS * SLOT_WORDS, zero_words: FLOAT_WORDS }
}

struct Stage<'a> {
    /// Lines of the entry function.
    entry: &'a mut Vec<String>,
}

impl Stage<'_> {
    /// Writes a phase function and its call; `body` sees the state of the thread.
    fn phase(&mut self, s: &mut Scope, body: impl FnOnce(&mut Scope)) {
        let name = write_phase(s, "", body);
        self.entry.push(format!("PHASE({name})"));
    }

    /// The same for a phase inside a loop over `step`.
    fn phase_in_steps(&mut self, s: &mut Scope, body: impl FnOnce(&mut Scope)) {
        let name = write_phase(s, ", u32 step", body);
        self.entry.push(format!("PHASE_STEP({name}, step)"));
    }

    fn sync(&mut self) {
        self.entry.push("SYNC".into());
    }

    fn start(mut self, s: &mut Scope) {
        self.phase(s, |s| {
            s.line("const u32 g = gid();");
            s.declare("g", Ty::U32);
            s.write_inputs(3);
            assign(s, "s.x", 2);
            assign(s, "s.y", 2);
        });
    }

    fn finish(mut self, s: &mut Scope) {
        self.phase(s, |s| {
            s.line(format!("const u32 at = gid() * {WORDS}u;"));
            s.line("out[at] = s.x;");
            s.line("out[at + 1] = s.y;");
            // The last words keep what they had, or get a vector store.
            if s.rng.one_in(2) {
                s.line("u32x2 pair;");
                s.line("pair.x = s.x ^ s.z;");
                s.line("pair.y = s.y + (u32)n;");
                s.line("store_as<u32x2>(__builtin_assume_aligned(out + at, 16), 8u, pair);");
            }
        });
    }

    fn any(mut self, s: &mut Scope) {
        let whole_warps = s.shape.threads_per_block().is_multiple_of(32);
        match s.rng.below(14) {
            0 => self.exchange(s),
            1 => self.ping_pong(s),
            2 => self.reduce(s),
            3 => self.scan(s),
            4 => self.transpose(s),
            5 => self.bytes(s),
            6 | 7 => self.shared_atomics(s),
            8 | 12 | 13 => self.global_atomics(s),
            9 => self.tickets(s),
            10 | 11 if whole_warps => self.collectives(s),
            10 => self.block_votes(s),
            _ => self.records(s),
        }
    }

    /// Each thread writes its slot, then reads the slots of others.
    fn exchange(&mut self, s: &mut Scope) {
        let threads = s.shape.threads_per_block();
        let name = s.fresh("sh");
        let ty = Ty::any(&mut s.rng);
        s.line(format!("SHARED {} {name}[{threads}];", ty.name()));
        self.phase(s, |s| {
            let value = s.expr(ty, 2);
            s.line(format!("{name}[t] = {value};"));
        });
        self.sync();
        self.phase(s, |s| {
            let offset = s.rng.below(threads);
            s.line(format!("const {} near = {name}[(t + {offset}u) % {threads}u];", ty.name()));
            s.declare("near", ty);
            let index = s.expr(Ty::U32, 1);
            s.line(format!("const {} far = {name}[({index}) % {threads}u];", ty.name()));
            s.declare("far", ty);
            assign(s, "s.x", 2);
            assign(s, "s.y", 2);
        });
    }

    /// A double-buffered loop: step k reads what step k-1 wrote.
    fn ping_pong(&mut self, s: &mut Scope) {
        let threads = s.shape.threads_per_block();
        let name = s.fresh("sh");
        let steps = s.rng.between(2, 6);
        s.line(format!("SHARED u32 {name}[2][{threads}];"));
        self.phase(s, |s| s.line(format!("{name}[0][t] = s.x;")));
        self.sync();
        self.entry.push(format!("STEPS_BEGIN({steps}u)"));
        self.phase_in_steps(s, |s| {
            s.declare("step", Ty::U32);
            let offset = s.rng.between(1, 40);
            s.line(format!("const u32 (&from)[{threads}] = {name}[step & 1u];"));
            s.line(format!("const u32 left = from[(t + {offset}u) % {threads}u];"));
            s.line(format!("const u32 right = from[(t + {threads}u * 64u - step) % {threads}u];"));
            s.declare("left", Ty::U32);
            s.declare("right", Ty::U32);
            let c = s.condition(1);
            s.line(format!("if ({c}) {{"));
            assign(s, "s.y", 2);
            s.line("}");
            let value = s.expr(Ty::U32, 2);
            s.line(format!("{name}[(step + 1u) & 1u][t] = {value};"));
        });
        self.sync();
        self.entry.push("STEPS_END".into());
        self.phase(s, |s| s.line(format!("s.x ^= {name}[{}][t];", steps & 1)));
    }

    /// A tree over the block, for any number of threads.
    fn reduce(&mut self, s: &mut Scope) {
        let threads = s.shape.threads_per_block();
        let name = s.fresh("sh");
        let ty = *s.rng.pick(&[Ty::U32, Ty::I32, Ty::U64, Ty::I64]);
        let (t, w) = (ty.name(), ty.wrapping());
        let top = threads.next_power_of_two();
        let combine = match s.rng.below(4) {
            0 => format!("min_<{t}>(a, b)"),
            1 => format!("max_<{t}>(a, b)"),
            2 => format!("({t})(({w})a ^ ({w})b)"),
            _ => format!("({t})(({w})a + ({w})b)"),
        };
        s.line(format!("SHARED {t} {name}[{threads}];"));
        self.phase(s, |s| {
            let value = s.expr(ty, 2);
            s.line(format!("{name}[t] = {value};"));
        });
        self.sync();
        self.entry.push(format!("STEPS_BEGIN({}u)", top.ilog2()));
        self.phase_in_steps(s, |s| {
            s.line(format!("const u32 half = {top}u >> (step + 1u);"));
            s.line(format!("if (t < half && t + half < {threads}u) {{"));
            s.line(format!("const {t} a = {name}[t], b = {name}[t + half];"));
            s.line(format!("{name}[t] = {combine};"));
            s.line("}");
        });
        self.sync();
        self.entry.push("STEPS_END".into());
        self.phase(s, |s| {
            s.line(format!("const {t} all = {name}[0];"));
            s.declare("all", ty);
            assign(s, "s.y", 2);
        });
    }

    /// Inclusive prefix sums by doubling distances, between two buffers.
    fn scan(&mut self, s: &mut Scope) {
        let threads = s.shape.threads_per_block();
        let name = s.fresh("sh");
        let steps = threads.next_power_of_two().ilog2();
        s.line(format!("SHARED u32 {name}[{}];", 2 * threads));
        self.phase(s, |s| s.line(format!("{name}[t] = s.x;")));
        self.sync();
        self.entry.push(format!("STEPS_BEGIN({steps}u)"));
        self.phase_in_steps(s, |s| {
            s.line("const u32 distance = 1u << step;");
            s.line(format!("const u32 from = (step & 1u) * {threads}u, to = {threads}u - from;"));
            s.line(format!("u32 sum = {name}[from + t];"));
            s.line(format!("if (t >= distance) sum += {name}[from + t - distance];"));
            s.line(format!("{name}[to + t] = sum;"));
        });
        self.sync();
        self.entry.push("STEPS_END".into());
        let last = (steps & 1) * threads;
        self.phase(s, |s| {
            s.line(format!("s.x = {name}[{last}u + t];"));
            s.line(format!("s.y ^= {name}[{}u];", last + threads - 1));
        });
    }

    /// Rows in, columns out, with a padded row.
    fn transpose(&mut self, s: &mut Scope) {
        let threads = s.shape.threads_per_block();
        let name = s.fresh("sh");
        let ty = *s.rng.pick(&[Ty::U32, Ty::U64, Ty::U16]);
        let widths: Vec<_> = (1..=threads).filter(|w| threads.is_multiple_of(*w)).collect();
        let width = *s.rng.pick(&widths);
        let height = threads / width;
        let pad = s.rng.below(2);
        s.line(format!("SHARED {} {name}[{height}][{}];", ty.name(), width + pad));
        self.phase(s, |s| {
            let value = s.expr(ty, 1);
            s.line(format!("{name}[t / {width}u][t % {width}u] = {value};"));
        });
        self.sync();
        self.phase(s, |s| {
            s.line(format!("const {} turned = {name}[t % {height}u][t / {height}u];", ty.name()));
            s.declare("turned", ty);
            assign(s, "s.x", 1);
        });
    }

    /// Bytes written with a stride, read back alone and as words.
    fn bytes(&mut self, s: &mut Scope) {
        let threads = s.shape.threads_per_block();
        let name = s.fresh("sh");
        s.line(format!("SHARED __attribute__((aligned(8))) u8 {name}[{}];", 4 * threads));
        self.phase(s, |s| {
            for k in 0..4 {
                let value = s.expr(Ty::U8, 1);
                s.line(format!("{name}[t + {}u] = {value};", k * threads));
            }
        });
        self.sync();
        self.phase(s, |s| {
            s.line(format!("const u32 word = load_as<u32>({name}, t * 4u);"));
            s.line(format!("const i16 half = load_as<i16>({name}, (t * 6u) % {}u);", 4 * threads));
            s.line(format!("const i8 byte = (i8){name}[(s.x ^ t) % {}u];", 4 * threads));
            s.declare("word", Ty::U32);
            s.declare("half", Ty::I16);
            s.declare("byte", Ty::I8);
            assign(s, "s.x", 2);
            assign(s, "s.y", 2);
        });
    }

    /// A histogram, or anything else where the order does not show.
    fn shared_atomics(&mut self, s: &mut Scope) {
        let threads = s.shape.threads_per_block();
        let name = s.fresh("sh");
        let ty = *s.rng.pick(&[Ty::U32, Ty::U32, Ty::I32, Ty::U64]);
        let t = ty.name();
        let bins = s.rng.between(1, 20);
        let update = atomic(s, ty);
        s.line(format!("SHARED {t} {name}[{bins}];"));
        self.phase(s, |s| {
            s.line(format!("for (u32 i = t; i < {bins}u; i += {threads}u) {name}[i] = ({t})in[i];"));
        });
        self.sync();
        self.phase(s, |s| {
            let (index, value) = (s.expr(Ty::U32, 1), s.expr(ty, 1));
            let guard = s.condition(1);
            let slot = format!("{name}[({index}) % {bins}u]");
            s.line(format!("if ({guard}) {}", update.call(&slot, &value)));
        });
        self.sync();
        self.phase(s, |s| {
            s.line(format!("const {t} bin = {name}[(t + s.x) % {bins}u];"));
            s.declare("bin", ty);
            assign(s, "s.y", 2);
            if ty == Ty::U32 {
                s.line(format!("s.x ^= digest_words({name}, {bins}u);"));
            }
        });
    }

    /// Atomics of the whole grid on the words after the output of the threads. Operations of
    /// different sorts do not commute, so each slot belongs to one stage.
    fn global_atomics(&mut self, s: &mut Scope) {
        let used = self.entry.iter().filter(|line| line.starts_with("// global")).count() as u32;
        let threads = s.shape.threads() * WORDS;
        for slot in used..SLOTS {
            self.entry.push(format!("// global atomics {slot}"));
            let first = threads + slot * SLOT_WORDS;
            let ty = *s.rng.pick(&[Ty::U32, Ty::I32, Ty::U64]);
            let update = atomic(s, ty);
            let float = s.rng.one_in(3);
            self.phase(s, |s| {
                let (index, value) = (s.expr(Ty::U32, 1), s.expr(ty, 1));
                let lanes = SLOT_WORDS * 32 / ty.bits();
                let slot = format!("(({}*)(out + {first}u))[({index}) % {lanes}u]", ty.name());
                s.line(update.call(&slot, &value));
                if float {
                    // Sums of small integers are exact in any order.
                    let (index, value) = (s.expr(Ty::U32, 1), s.expr(Ty::U32, 1));
                    let sums = threads + SLOTS * SLOT_WORDS;
                    s.line(format!("f32* const sum = (f32*)(out + {sums}u) + (({index}) % {FLOAT_WORDS}u);"));
                    s.line(format!("atomic_add_f32(sum, (f32)(({value}) & 255u));"));
                }
                if s.rng.one_in(3) {
                    s.line("fence_device();");
                }
            });
            if s.rng.one_in(2) {
                break;
            }
        }
    }

    /// Threads append to a list in any order; what is read back is a sum over the list.
    fn tickets(&mut self, s: &mut Scope) {
        let threads = s.shape.threads_per_block();
        let (list, count) = (s.fresh("list"), s.fresh("count"));
        s.line(format!("SHARED u32 {list}[{threads}];"));
        s.line(format!("SHARED u32 {count};"));
        self.phase(s, |s| s.line(format!("if (t == 0) {count} = 0;")));
        self.sync();
        self.phase(s, |s| {
            let (c, value) = (s.condition(2), s.expr(Ty::U32, 2));
            s.line(format!("if ({c}) {{"));
            s.line(format!("const u32 ticket = atomic_add<u32>(&{count}, 1u);"));
            s.line(format!("{list}[ticket] = {value};"));
            s.line("}");
        });
        self.sync();
        self.phase(s, |s| {
            s.line("u32 sum = 0, top = 0;");
            s.line(format!("for (u32 i = 0; i < {count}; ++i) {{"));
            s.line(format!("sum += {list}[i];"));
            s.line(format!("top = max_<u32>(top, {list}[i]);"));
            s.line("}");
            s.declare("sum", Ty::U32);
            s.declare("top", Ty::U32);
            assign(s, "s.y", 2);
            s.line(format!("s.x += {count};"));
        });
    }

    /// Shuffles and votes of full warps.
    fn collectives(&mut self, s: &mut Scope) {
        for _ in 0..s.rng.between(1, 4) {
            self.phase(s, |s| {
                let value = s.expr(Ty::U32, 2);
                s.line(format!("s.z = ({value}) & 31u;"));
            });
            let step = match s.rng.below(7) {
                0 => "SHFL_IDX(y, x, z)",
                1 => "SHFL_UP(y, x, z)",
                2 => "SHFL_DOWN(y, x, z)",
                3 => "SHFL_XOR(y, x, z)",
                4 => "VOTE_BALLOT(y, z)",
                5 => "VOTE_ANY(z, x)",
                _ => "VOTE_ALL(z, x)",
            };
            self.entry.push(step.into());
            self.phase(s, |s| assign(s, "s.x", 2));
        }
        self.block_votes(s);
    }

    /// Barriers that reduce a predicate.
    fn block_votes(&mut self, s: &mut Scope) {
        let vote = *s.rng.pick(&["BAR_COUNT", "BAR_AND", "BAR_OR"]);
        self.phase(s, |s| {
            let c = s.condition(2);
            s.line(format!("s.z = {c} ? 1u : 0u;"));
        });
        self.entry.push(format!("{vote}(z, z)"));
        self.phase(s, |s| {
            if s.rng.one_in(2) {
                s.line("fence_block();");
            }
            assign(s, "s.y", 2);
        });
    }

    /// Structs in shared memory, floats among their fields.
    fn records(&mut self, s: &mut Scope) {
        let threads = s.shape.threads_per_block();
        let (ty, name) = (s.fresh("Record"), s.fresh("sh"));
        s.line(format!("struct {ty} {{ u8 a; u64 b; u16 c; f32 d; f64 e; i8 f[3]; }};"));
        s.line(format!("SHARED {ty} {name}[{threads}];"));
        self.phase(s, |s| {
            let (a, b, c, f) = (s.expr(Ty::U8, 1), s.expr(Ty::U64, 2), s.expr(Ty::U16, 1), s.expr(Ty::I8, 1));
            s.line(format!("{ty} r;"));
            s.line(format!("r.a = {a};"));
            s.line(format!("r.b = {b};"));
            s.line(format!("r.c = {c};"));
            s.line("r.d = (f32)s.x * 0.5f;");
            s.line("r.e = (f64)s.y + 0.25;");
            s.line(format!("r.f[0] = r.f[1] = r.f[2] = {f};"));
            s.line("r.f[t % 3u] = 7;");
            s.line(format!("{name}[t] = r;"));
        });
        self.sync();
        self.phase(s, |s| {
            s.line(format!("const {ty} r = {name}[(t * 7u + 3u) % {threads}u];"));
            s.line("const u32 d = to_u32(r.d);");
            s.line("const u64 e = bits(r.e);");
            for (field, ty) in [("r.a", Ty::U8), ("r.b", Ty::U64), ("r.c", Ty::U16), ("d", Ty::U32), ("e", Ty::U64)] {
                s.declare(field, ty);
            }
            s.declare("r.f[2]", Ty::I8);
            assign(s, "s.x", 2);
            assign(s, "s.y", 2);
        });
    }
}

fn write_phase(s: &mut Scope, parameters: &str, body: impl FnOnce(&mut Scope)) -> String {
    let name = s.fresh("phase");
    let linkage = if s.rng.one_in(8) { "NOINLINE" } else { "FN" };
    s.line(format!("{linkage} void {name}(State& s, const u32* in, u32* out, int n{parameters}) {{"));
    s.function(|s| {
        s.line("const u32 t = t_lin();");
        s.declare("t", Ty::U32);
        s.declare("n", Ty::I32);
        s.declare("s.x", Ty::U32);
        s.declare("s.y", Ty::U32);
        s.declare("s.z", Ty::U32);
        body(s);
    });
    s.line("}");
    name
}

fn assign(s: &mut Scope, target: &str, depth: u32) {
    let value = s.expr(Ty::U32, depth);
    s.line(format!("{target} = {target} * 9u + ({value});"));
}

/// An atomic operation that commutes with itself.
struct Atomic {
    function: &'static str,
    ty: Ty,
    bound: Option<u32>,
}

impl Atomic {
    fn call(&self, slot: &str, value: &str) -> String {
        match self.bound {
            Some(bound) => format!("{}(&{slot}, {bound}u);", self.function),
            None => format!("{}<{}>(&{slot}, {value});", self.function, self.ty.name()),
        }
    }
}

fn atomic(s: &mut Scope, ty: Ty) -> Atomic {
    const ANY: [&str; 6] = ["atomic_add", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor"];
    const UNSIGNED: [&str; 8] =
        ["atomic_add", "atomic_sub", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor", "atomic_mul"];
    if ty == Ty::U32 && s.rng.one_in(4) {
        let function = *s.rng.pick(&["atomic_inc", "atomic_dec"]);
        let bound = Some(s.rng.between(1, 50));
        return Atomic { function, ty, bound };
    }
    let function = if ty.is_signed() { *s.rng.pick(&ANY) } else { *s.rng.pick(&UNSIGNED) };
    Atomic { function, ty, bound: None }
}
