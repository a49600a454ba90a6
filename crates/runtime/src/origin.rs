//! Where the operations of a program come from.

use crate::ptx_file::PtxFile;
use raddle_exec::Program;
use raddle_ptx::ir::Inst;
use raddle_ptx::source::LineIndex;

/// Where an operation comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Function it is in.
    pub function: String,
    /// Line of the PTX file.
    pub ptx_line: u32,
    /// File and line it was compiled from.
    pub source: Option<(String, u32)>,
    /// File and line of the call, where that is in a function that was inlined.
    pub inlined_at: Option<(String, u32)>,
}

/// Where all operations of a program come from.
pub struct Origins<'p> {
    program: &'p Program,
    text: &'p str,
    lines: LineIndex,
}

impl<'p> Origins<'p> {
    /// Of a program that was read from a file.
    #[must_use]
    pub fn new(program: &'p Program, ptx: &'p PtxFile) -> Self {
        Self { program, text: &ptx.source, lines: LineIndex::new(&ptx.source) }
    }

    /// Of one operation.
    #[must_use]
    pub fn of(&self, pc: usize) -> Option<Origin> {
        let module = &self.program.image.module;
        let inst = self.inst(pc)?;
        let function = module.func(self.program.origins.get(pc)?.func).name.clone();
        let place = |(file, line)| (module.file(file).unwrap_or("?").to_owned(), line);
        let source = inst.loc.map(|loc| place((loc.file, loc.line)));
        let inlined_at = inst.loc.and_then(|loc| loc.inlined_at).map(place);
        Some(Origin { function, ptx_line: self.lines.line(inst.span.start), source, inlined_at })
    }

    /// The name of an operation as the PTX has it, such as `ld.global.f32`.
    #[must_use]
    pub fn opcode(&self, pc: usize) -> Option<&'p str> {
        let span = self.inst(pc)?.span;
        let text = self.text.get(span.start as usize..span.end as usize)?;
        let name = text.split([' ', '\t', '\n', ';']).find(|word| !word.is_empty() && !word.starts_with('@'));
        name.filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
    }

    fn inst(&self, pc: usize) -> Option<&Inst> {
        let origin = self.program.origins.get(pc)?;
        self.program.image.module.func(origin.func).insts.get(origin.inst.index())
    }
}
