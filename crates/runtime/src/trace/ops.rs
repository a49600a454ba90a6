//! The operations of a kernel as a trace names them.

use super::file::Note;
use crate::origin::Origins;
use crate::timing::Starting;

/// An operation.
struct Op {
    name: String,
    /// The line it was compiled from, or that of the PTX.
    line: String,
}

/// The operations of the kernel that runs.
#[derive(Default)]
pub(super) struct Ops {
    kernel: (String, String),
    list: Vec<Op>,
}

impl Ops {
    /// Those of a launch; nothing is done when they are the same as before.
    pub(super) fn start(&mut self, launch: &Starting<'_>) {
        let kernel = (launch.ptx.path.clone(), launch.kernel.to_owned());
        if self.kernel == kernel && self.list.len() == launch.program.ops.len() {
            return;
        }
        let origins = Origins::new(launch.program, launch.ptx);
        let op = |pc: usize| {
            let line = origins.of(pc).map_or_else(String::new, |origin| match origin.source {
                Some((file, line)) if line > 0 => format!("{}:{line}", short(&file)),
                _ => format!("PTX:{}", origin.ptx_line),
            });
            Op { name: origins.opcode(pc).unwrap_or("?").to_owned(), line }
        };
        self.list = (0..launch.program.ops.len()).map(op).collect();
        self.kernel = kernel;
    }

    /// Its name.
    pub(super) fn name(&self, pc: u32) -> &str {
        self.list.get(pc as usize).map_or("?", |op| &op.name)
    }

    /// The line it is of.
    pub(super) fn line(&self, pc: u32) -> Note<'_> {
        Note::Text(self.list.get(pc as usize).map_or("?", |op| &op.line))
    }
}

/// A file without its folders.
fn short(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}
