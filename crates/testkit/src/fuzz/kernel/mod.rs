//! Kernel files with random changes that still load.

mod flow;
mod instruction;
mod launch;
mod operand;

use crate::kernel_file;
use crate::rng::Rng;
use raddle_ptx::Module;
use raddle_ptx::analysis::{BlockId, Cfg, Liveness};
use raddle_ptx::ir::{Function, Inst};
use raddle_ptx::isa::Type;
use std::path::Path;
use std::sync::Arc;

/// Longer files are left out: most of a run would be theirs.
const MAX_BYTES: usize = 6000;

/// Changes of a kernel at most.
const MAX_CHANGES: u32 = 5;

/// Kernel files to begin with.
pub struct Corpus(Vec<String>);

impl Corpus {
    /// The kernel files in a folder and the folders in it, without what they expect.
    ///
    /// # Errors
    /// When there are none.
    pub fn of_folder(folder: &Path) -> Result<Self, String> {
        let paths = crate::coverage::kernel_files(folder)?;
        let texts = paths.iter().filter_map(|path| std::fs::read_to_string(path).ok());
        let texts: Vec<String> = texts.filter(|t| t.len() <= MAX_BYTES).filter_map(|t| begin(&t)).collect();
        if texts.is_empty() { Err(format!("{}: no kernel files", folder.display())) } else { Ok(Self(texts)) }
    }

    /// The kernel file of a seed: one of these with some changes. It loads without diagnostics.
    #[must_use]
    pub fn mutant(&self, seed: u64) -> Option<String> {
        let mut rng = Rng::new(seed);
        let mut draft = Draft::new(rng.pick(&self.0).clone())?;
        let mut left = rng.between(1, MAX_CHANGES);
        for _ in 0..40 * MAX_CHANGES {
            if left == 0 {
                break;
            }
            if let Some(next) = draft.changed(&mut rng).and_then(Draft::new) {
                draft = next;
                left -= 1;
            }
        }
        (left < MAX_CHANGES).then(|| draft.initialised(&mut rng).text)
    }
}

/// A file without expectations, one directive a line, for the newest machine if it loads for that.
fn begin(text: &str) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut is_expectation = false;
    for line in text.lines() {
        if let Some(more) = line.strip_prefix("//   ") {
            if let Some(last) = lines.last_mut().filter(|_| !is_expectation) {
                *last += " ";
                *last += more.trim();
            }
            continue;
        }
        is_expectation = ["// expect", "// trap:"].iter().any(|start| line.starts_with(start));
        if !is_expectation {
            lines.push(line.to_owned());
        }
    }
    let newest = lines.iter().map(|line| match line.split_whitespace().next() {
        Some(".version") => ".version 8.0".to_owned(),
        Some(".target") if !line.contains("texmode") => ".target sm_90".to_owned(),
        _ => line.clone(),
    });
    let newest: Vec<String> = newest.collect();
    [newest, lines].into_iter().map(|lines| lines.join("\n") + "\n").find(|text| kernel_file::read(text).is_ok())
}

/// A kernel file that loads.
struct Draft {
    text: String,
    module: Arc<Module>,
}

/// An instruction of a draft with its function.
#[derive(Clone, Copy)]
struct At<'d> {
    function: &'d Function,
    inst: &'d Inst,
}

impl Draft {
    fn new(text: String) -> Option<Self> {
        let (module, _) = kernel_file::read(&text).ok()?;
        Some(Self { text, module })
    }

    /// One random change, whether it loads or not.
    fn changed(&self, rng: &mut Rng) -> Option<String> {
        match rng.below(24) {
            0..4 => instruction::other_words(self, rng),
            4 | 5 => instruction::other_opcode(self, rng),
            6 | 7 => instruction::insert(self, rng),
            8..13 => operand::replace(self, rng),
            13 => flow::delete(self, rng),
            14 => flow::duplicate(self, rng),
            15 => flow::exchange(self, rng),
            16 => flow::guard(self, rng),
            17 | 18 => flow::branch(self, rng),
            19 => flow::other_label(self, rng),
            20 => launch::shape(self, rng),
            21 => launch::buffer_size(self, rng),
            _ => launch::value(self, rng),
        }
    }

    /// A random instruction that stands in the text.
    fn any_inst(&self, rng: &mut Rng) -> Option<At<'_>> {
        let functions = self.module.functions.iter();
        let all = functions.flat_map(|function| function.insts.iter().map(move |inst| At { function, inst }));
        let all: Vec<At<'_>> = all.filter(|at| self.statement(*at).ends_with(';')).collect();
        (!all.is_empty()).then(|| *rng.pick(&all))
    }

    /// The text of an instruction, with its guard and semicolon; something else for one that is not in the text.
    fn statement(&self, at: At<'_>) -> &str {
        at.inst.span.text(&self.text)
    }

    /// The text with another statement in the place of an instruction.
    fn with(&self, at: At<'_>, statement: &str) -> String {
        let range = at.inst.span.range();
        format!("{}{statement}{}", &self.text[..range.start], &self.text[range.end..])
    }

    /// With a value for every register that may be read before it is written: fast engines promise none.
    fn initialised(self, rng: &mut Rng) -> Self {
        let mut draft = self;
        for n in 0..draft.module.functions.len() {
            let function = &draft.module.functions[n];
            let Some(first) = function.insts.first() else { continue };
            let at = At { function, inst: first };
            if !draft.statement(at).ends_with(';') {
                continue;
            }
            let cfg = Cfg::new(function);
            let liveness = Liveness::new(function, &cfg);
            let set = |reg: usize| initialisation(&function.regs[reg].name, function.regs[reg].ty, rng);
            let set: Vec<String> = liveness.live_in(BlockId(0)).iter().filter_map(set).collect();
            let next = draft.with(at, &format!("{}\n    {}", set.join("\n    "), draft.statement(at)));
            if !set.is_empty() {
                // Registers of an inner scope cannot be written here; the interpreter notices if they matter.
                draft = Self::new(next).unwrap_or(draft);
            }
        }
        draft
    }
}

fn initialisation(name: &str, ty: Type, rng: &mut Rng) -> Option<String> {
    Some(match (ty, ty.bits()) {
        (Type::Pred, _) => format!("setp.eq.u32 {name}, {}, 0;", rng.below(2)),
        (Type::F32, _) => format!("mov.f32 {name}, {};", operand::special_float(rng, Type::F32)),
        (Type::F64, _) => format!("mov.f64 {name}, {};", operand::special_float(rng, Type::F64)),
        (_, bits @ (16 | 32 | 64)) => format!("mov.b{bits} {name}, {};", rng.below(100)),
        _ => return None,
    })
}
