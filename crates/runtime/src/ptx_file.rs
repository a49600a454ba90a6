//! PTX files.

use crate::error::{Error, Problem};
use crate::input;
use raddle_ptx::transform::{Options, Refusal, Virtualized, virtualize};
use raddle_ptx::{Diagnostic, Module};
use std::path::Path;
use std::sync::Arc;

/// A PTX file that has been read and checked.
#[derive(Clone, Debug)]
pub struct PtxFile {
    /// Its path as given.
    pub path: String,
    /// Its text.
    pub source: String,
    /// The module.
    pub module: Arc<Module>,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
    /// Kernels that have been put in a loop over logical blocks.
    pub virtualized: Vec<Virtualized>,
    /// The module before that, if it was.
    pub original: Option<Arc<Module>>,
}

impl PtxFile {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// When it cannot be read or has errors.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let bytes = input::bytes(path, input::MAX_TEXT).map_err(|source| Error::Read { path: name.clone(), source })?;
        // Compilers put file names of any encoding into comments and `.file`.
        Self::parse(&name, String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Checks the text of a file.
    ///
    /// # Errors
    /// When it has errors.
    pub fn parse(path: &str, source: String) -> Result<Self, Error> {
        let (module, diagnostics) = raddle_ptx::load(&source);
        let path = path.to_owned();
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(Error::Ptx { path, source_text: source, diagnostics });
        }
        Ok(Self {
            path,
            source,
            module: Arc::new(module),
            warnings: diagnostics,
            virtualized: Vec::new(),
            original: None,
        })
    }

    /// The file with its kernels in a loop over logical blocks, and those that cannot be.
    ///
    /// # Errors
    /// When what comes out cannot be read: a mistake of ours.
    pub fn virtualize(&self, options: &Options) -> Result<(Self, Vec<Refusal>), Error> {
        let wrong = |diagnostics, source_text| Error::Ptx { path: self.path.clone(), source_text, diagnostics };
        let done = virtualize(&self.source, options, |_| true).map_err(|list| wrong(list, self.source.clone()))?;
        let file = Self::parse(&self.path, raddle_ptx::syntax::print(&done.tree))?;
        let original = Some(self.original.as_ref().unwrap_or(&self.module).clone());
        Ok((Self { virtualized: done.kernels, original, ..file }, done.refused))
    }

    /// The name of the kernel meant by `wanted`, which may be left out when there is one.
    ///
    /// # Errors
    /// When there is no such kernel, or it must be said which.
    pub fn kernel(&self, wanted: Option<&str>) -> Result<&str, Problem> {
        let names: Vec<&str> = self.module.kernels().map(|(_, f)| f.name.as_str()).collect();
        let list = || format!("the kernels in {} are {}", self.path, names.join(", "));
        match (wanted, &names[..]) {
            (_, []) => Err(Problem::new(format!("{} has no kernel", self.path))),
            (None, [only]) => Ok(*only),
            (None, _) => {
                Err(Problem::new(format!("{} has {} kernels: say which", self.path, names.len())).help(list()))
            }
            (Some(name), _) => names.iter().copied().find(|n| *n == name).ok_or_else(|| {
                let close = raddle_ptx::diag::closest(name, names.iter().copied());
                let help = close.map_or_else(list, |c| format!("did you mean `{c}`?"));
                Problem::new(format!("{} has no kernel `{name}`", self.path)).help(help)
            }),
        }
    }
}
