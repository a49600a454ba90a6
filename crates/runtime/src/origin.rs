//! Where the operations of a program come from.

use crate::ptx_file::PtxFile;
use raddle_exec::Program;
use raddle_ptx::ir::{Inst, Loc};
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
        let loc = self.loc(pc)?;
        let source = loc.map(|loc| place((loc.file, loc.line)));
        let inlined_at = loc.and_then(|loc| loc.inlined_at).map(place);
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

    /// Where an operation was compiled from. What is from a header of the compiler itself, such as the one with `threadIdx`, belongs to
    /// the line of the instruction before it that is not, or else after it, unless the PTX says where it was inlined.
    fn loc(&self, pc: usize) -> Option<Option<Loc>> {
        let origin = self.program.origins.get(pc)?;
        let module = &self.program.image.module;
        let insts = &module.func(origin.func).insts;
        let at = origin.inst.index();
        let here = insts.get(at)?.loc;
        let is_compilers = |loc: &Loc| loc.inlined_at.is_none() && module.file(loc.file).is_some_and(is_compilers);
        if !here.as_ref().is_some_and(is_compilers) {
            return Some(here);
        }
        let own = |inst: &Inst| inst.loc.filter(|loc| loc.line > 0 && !is_compilers(loc));
        let before = insts[..at].iter().rev().find_map(own);
        Some(before.or_else(|| insts[at..].iter().find_map(own)).or(here))
    }

    fn inst(&self, pc: usize) -> Option<&Inst> {
        let origin = self.program.origins.get(pc)?;
        self.program.image.module.func(origin.func).insts.get(origin.inst.index())
    }
}

/// Whether a file is a header that comes with clang.
fn is_compilers(file: &str) -> bool {
    file.rsplit(['/', '\\']).next().is_some_and(|name| name.starts_with("__clang_"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_exec::{DeviceMemory, Image};
    use std::sync::Arc;

    #[test]
    fn lines_of_the_compilers_headers_belong_to_those_around_them() {
        let text = ".version 7.2\n.target sm_50\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<3>;\n\
            .loc 2 53 0\nmov.u32 %r1, %tid.x;\n.loc 1 4 0\nadd.u32 %r2, %r1, 1;\n.loc 1 5 0\nadd.u32 %r2, %r2, 1;\n\
            .loc 2 54 0\nmov.u32 %r1, %ctaid.x;\nret;\n}\n\
            .file 1 \"k.cu\"\n.file 2 \"/usr/lib/clang/include/__clang_cuda_builtin_vars.h\"\n";
        let ptx = PtxFile::parse("k.ptx", text.to_owned()).unwrap();
        let image = Image::load(Arc::clone(&ptx.module), &mut DeviceMemory::new()).unwrap();
        let layout = image.kernel("k").unwrap();
        let program = Program::new(&image, &layout).unwrap();
        let origins = Origins::new(&program, &ptx);
        let lines: Vec<u32> = (0..4).map(|pc| origins.of(pc).unwrap().source.unwrap().1).collect();
        assert_eq!(lines, [4, 4, 5, 5]);
    }
}
