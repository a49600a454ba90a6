//! What the tests of several analyses share.

use super::PostDominators;
use crate::diag::Severity;
use crate::ir::{FuncId, Function, Inst, InstId, Module, Operand, Space};
use crate::isa::{Opcode, Special, Type};

/// A pseudo-random generator (xorshift64*), so that a failure can be repeated.
pub struct Random(pub u64);

impl Random {
    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        (high % u64::from(bound)) as u32
    }
}

/// A kernel `k` with the parameters `n` (u32) and `a` (u64) and some registers, with this body.
pub fn kernel(body: &str) -> (Module, FuncId) {
    let text = format!(
        ".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u32 n, .param .u64 a) {{\n\
         .reg .pred %p<100>;\n.reg .b16 %h<100>;\n.reg .b32 %r<100>;\n.reg .f32 %f<100>;\n.reg .b64 %rd<100>;\n\
         .shared .u32 s[32];\n{body}\n}}\n"
    );
    let module = module(&text);
    let id = module.function("k").expect("the kernel");
    (module, id)
}

/// A module that must have no errors.
pub fn module(text: &str) -> Module {
    let (module, diagnostics) = crate::load(text);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    module
}

/// Name and text of every kernel file of the reference results.
pub fn reference_kernels() -> Vec<(String, String)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/gtx480");
    let folders = ["kernels", "micro"].map(|f| std::path::Path::new(root).join(f));
    let entries = folders.iter().flat_map(|f| std::fs::read_dir(f).expect("the reference results"));
    let paths = entries.map(|e| e.expect("a readable folder").path());
    let mut files: Vec<(String, String)> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "ptx"))
        .map(|p| {
            let name = p.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&p).expect("a readable file"))
        })
        .collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

/// A random body for [`kernel`]: arithmetic, guarded writes, copies, conversions, nested
/// conditions and loops over a handful of registers, some jumps out and some into the middle.
pub fn random_body(random: &mut Random) -> String {
    let mut writer = Writer { text: String::new(), labels: 0, regs: 2 + random.below(10), calm: random.below(2) == 0 };
    writer.block(random, 0);
    let end = format!("End: st.shared.u32 [s], %r{};\nret;\n", random.below(writer.regs));
    writer.text + &end
}

struct Writer {
    text: String,
    labels: u32,
    regs: u32,
    /// Few values differ between threads.
    calm: bool,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn block(&mut self, random: &mut Random, depth: u32) {
        for _ in 0..1 + random.below(6) {
            match random.below(if depth < 4 { 12 } else { 8 }) {
                8 | 9 => self.condition(random, depth),
                10 => self.repeat(random, depth),
                11 if random.below(4) == 0 => {
                    let p = random.below(3);
                    self.line(&format!("@%p{p} bra End;"));
                }
                _ => self.simple(random),
            }
        }
    }

    fn simple(&mut self, random: &mut Random) {
        let count = self.regs;
        let mut r = || random.below(count);
        let (a, b, c, d) = (r(), r(), r(), r());
        let guard = ["", "", "", "@%p0 ", "@!%p1 "][random.below(5) as usize];
        let guard = if self.calm { "" } else { guard };
        let line = match random.below(13) {
            6 if self.calm && random.below(3) > 0 => format!("add.u32 %r{a}, %r{b}, {c};"),
            9 if random.below(8) == 0 => format!("mov.u32 %r{a}, %tid.x;"),
            0 => format!("mov.u32 %r{a}, %r{b};"),
            1 => format!("mov.u64 %rd{a}, %rd{b};"),
            2 => format!("cvt.u64.u32 %rd{a}, %r{b};"),
            3 => format!("cvt.u32.u64 %r{a}, %rd{b};"),
            4 => format!("add.u64 %rd{a}, %rd{b}, %rd{c};"),
            5 | 10 | 11 => format!("setp.lt.u32 %p{}|%p{}, %r{b}, %r{c};", a % 3, 3 + a % 2),
            6 => format!("ld.shared.v2.u32 {{%r{a}, %r{}}}, [%rd{b}];", (a + 1) % count),
            7 => format!("mad.wide.u32 %rd{a}, %r{b}, %r{c}, %rd{d};"),
            8 => format!("mov.b64 {{%r{a}, %r{}}}, %rd{b};", (a + 1) % count),
            _ => format!("mad.lo.u32 %r{a}, %r{b}, %r{c}, %r{d};"),
        };
        self.line(&format!("{guard}{line}"));
    }

    fn condition(&mut self, random: &mut Random, depth: u32) {
        let label = self.labels;
        self.labels += 1;
        let p = random.below(5);
        self.line(&format!("@%p{p} bra Else{label};"));
        self.block(random, depth + 1);
        if random.below(2) == 0 {
            self.line(&format!("bra Join{label};\nElse{label}:"));
            self.block(random, depth + 1);
            self.line(&format!("Join{label}:"));
        } else {
            self.line(&format!("Else{label}:"));
        }
    }

    fn repeat(&mut self, random: &mut Random, depth: u32) {
        let label = self.labels;
        self.labels += 1;
        let (p, q) = (random.below(5), random.below(5));
        if random.below(4) == 0 {
            self.line(&format!("@%p{q} bra Middle{label};"));
        } else {
            self.line(&format!("@%p{q} bra Behind{label};"));
        }
        self.line(&format!("Loop{label}:"));
        self.block(random, depth + 1);
        self.line(&format!("Middle{label}:"));
        self.block(random, depth + 1);
        self.line(&format!("@%p{p} bra Loop{label};\nBehind{label}:"));
    }
}

/// Runs a body made by [`random_body`] on eight lanes in lock step, with a stack of splits that
/// rejoin at immediate post-dominators, for at most `steps` instructions. Calls `see` before each
/// instruction with the lanes that execute it and the registers of all lanes.
pub fn run(function: &Function, post: &PostDominators, steps: u32, mut see: impl FnMut(InstId, &[usize], &[Vec<u64>])) {
    const END: u32 = u32::MAX;
    let mut regs = vec![vec![0; function.regs.len()]; 8];
    // Where a group is, which lanes it has, where it ends.
    let mut stack: Vec<(u32, Vec<usize>, u32)> = vec![(0, (0..8).collect(), END)];
    for step in 0..steps {
        while stack.last().is_some_and(|(pc, lanes, end)| pc == end || lanes.is_empty()) {
            stack.pop();
        }
        let Some((pc, lanes, end)) = stack.pop() else { return };
        let inst = &function.insts[pc as usize];
        see(InstId(pc), &lanes, &regs);
        let passes = |lane: &usize| inst.guard.is_none_or(|g| (regs[*lane][g.reg.index()] == 1) != g.negated);
        let (active, rest): (Vec<usize>, Vec<usize>) = lanes.iter().copied().partition(passes);
        match (inst.opcode, &inst.operands[..]) {
            (Opcode::Ret, _) => stack.iter_mut().for_each(|s| s.1.retain(|l| !active.contains(l))),
            (Opcode::Bra, [Operand::Label(label)]) => {
                let target = function.label_at(*label).0;
                let meet = post.reconvergence(InstId(pc)).map_or(END, |i| i.0);
                if active.is_empty() || rest.is_empty() {
                    stack.push((if rest.is_empty() { target } else { pc + 1 }, lanes, end));
                } else {
                    stack.push((meet, lanes, end));
                    stack.push((pc + 1, rest, meet));
                    stack.push((target, active, meet));
                }
            }
            _ => {
                for lane in active {
                    let sources: Vec<u64> = inst.operands.iter().map(|o| value(o, lane, &regs[lane])).collect();
                    let noise = u64::from(step) * 8 + lane as u64;
                    let results = results(inst, &sources, noise);
                    let mut next = results.into_iter().cycle();
                    inst.for_each_def(|r| {
                        let bits = function.reg(r).ty.bits();
                        let mask = if bits < 64 { (1 << bits) - 1 } else { u64::MAX };
                        regs[lane][r.index()] = next.next().unwrap_or(0) & mask;
                    });
                }
                stack.push((pc + 1, lanes, end));
            }
        }
    }
}

fn value(operand: &Operand, lane: usize, regs: &[u64]) -> u64 {
    match operand {
        Operand::Reg(r) => regs[r.index()],
        Operand::Imm(imm) => imm.bits(Type::U64),
        Operand::Special(Special::TidX) => lane as u64,
        _ => 0,
    }
}

/// What an instruction writes, in order.
fn results(inst: &Inst, operands: &[u64], noise: u64) -> Vec<u64> {
    let at = |i: usize| operands.get(i).copied().unwrap_or(0);
    match inst.opcode {
        Opcode::Ld if inst.space() == Some(Space::Param) => vec![5],
        Opcode::Ld => vec![noise, noise.wrapping_mul(77)],
        Opcode::Mov if matches!(inst.operands[0], Operand::Vector(_)) => vec![at(1), at(1) >> 32],
        Opcode::Mov | Opcode::Cvt => vec![at(1)],
        Opcode::Add => vec![at(1).wrapping_add(at(2))],
        Opcode::Setp => vec![u64::from(at(1) < at(2)), u64::from(at(1) >= at(2))],
        Opcode::Mad => vec![at(1).wrapping_mul(at(2)).wrapping_add(at(3))],
        _ => Vec::new(),
    }
}
