//! Which instructions of the table the kernel files use.
//!
//! Every kernel file runs under every engine and is compared with values computed elsewhere, so an instruction that
//! stands in one is decoded, executed and checked. A file whose every run must fault checks nothing of what its
//! instructions compute, and is not counted.

use crate::kernel_file;
use raddle_ptx::isa::{Form, FormId, Word, forms};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The uses of one form.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// How many kernel files use it.
    pub files: usize,
    /// The combinations of its required words that occur.
    pub variants: BTreeSet<Vec<Word>>,
    /// The optional words that occur, each with the number of its slot.
    pub options: BTreeSet<(usize, Word)>,
}

/// What the kernel files use.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    by_form: BTreeMap<FormId, Uses>,
    /// How many kernel files were read, those left out included.
    pub files: usize,
}

impl Coverage {
    /// Reads every kernel file in `folder` and the folders in it.
    ///
    /// # Errors
    /// The file that cannot be read, or is no kernel file, and why.
    pub fn of_folder(folder: &Path) -> Result<Self, String> {
        let mut coverage = Self::default();
        for path in kernel_files(folder)? {
            let named = |e: String| format!("{}: {e}", path.display());
            let source = std::fs::read_to_string(&path).map_err(|e| named(e.to_string()))?;
            coverage.add(&source).map_err(named)?;
        }
        Ok(coverage)
    }

    /// Adds the text of a kernel file.
    ///
    /// # Errors
    /// Why it is no kernel file.
    pub fn add(&mut self, source: &str) -> Result<(), String> {
        self.files += 1;
        if kernel_file::only_faults(source)? {
            return Ok(());
        }
        let (module, diagnostics) = raddle_ptx::load(source);
        if let Some(first) = diagnostics.first() {
            return Err(first.message.clone());
        }
        let mut seen = BTreeSet::new();
        for inst in module.functions.iter().flat_map(|f| &f.insts) {
            let (required, options) = split_words(inst.form(), &inst.words);
            let uses = self.by_form.entry(inst.form).or_default();
            uses.variants.insert(required);
            uses.options.extend(options);
            if seen.insert(inst.form) {
                uses.files += 1;
            }
        }
        Ok(())
    }

    /// The uses of a form.
    #[must_use]
    pub fn of(&self, form: FormId) -> Uses {
        self.by_form.get(&form).cloned().unwrap_or_default()
    }

    /// What no kernel file uses, as text: every combination of required words, and every optional word.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for form in forms() {
            let uses = self.of(form.id);
            form.for_each_variant(|words| {
                if !uses.variants.contains(words) {
                    missing.push(format!("{} in `{}`", dotted(form, words), form.text));
                }
            });
            for (i, slot) in form.slots.iter().enumerate().filter(|(_, slot)| slot.optional) {
                let unused = slot.words.iter().filter(|word| !uses.options.contains(&(i, **word)));
                missing.extend(unused.map(|word| format!(".{} in `{}`", word.as_str(), form.text)));
            }
        }
        missing
    }
}

/// The `.ptx` files in a folder and the folders in it, in the order of their names.
pub(crate) fn kernel_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let named = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(named)? {
        entries.push(entry.map_err(named)?.path());
    }
    entries.sort();
    let mut files = Vec::new();
    for path in entries {
        if path.is_dir() {
            files.extend(kernel_files(&path)?);
        } else if path.extension().is_some_and(|e| e == "ptx") {
            files.push(path);
        }
    }
    Ok(files)
}

/// The words of an instruction that fits `form`, apart: those that stand in its required slots, and those in its
/// optional ones with the number of the slot.
fn split_words(form: &Form, words: &[Word]) -> (Vec<Word>, Vec<(usize, Word)>) {
    let (mut required, mut options) = (Vec::new(), Vec::new());
    let mut words = words.iter().copied().peekable();
    for (i, slot) in form.slots.iter().enumerate() {
        match words.next_if(|word| slot.words.contains(word)) {
            Some(word) if slot.optional => options.push((i, word)),
            Some(word) => required.push(word),
            None => {}
        }
    }
    (required, options)
}

fn dotted(form: &Form, words: &[Word]) -> String {
    words.iter().fold(form.opcode.as_str().to_owned(), |text, word| text + "." + word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_ptx::isa::Opcode;

    const KERNEL: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .f32 %f;\n\
                          mov.f32 %f, 1.0;\nadd.rz.sat.f32 %f, %f, %f;\nadd.rn.f32 %f, %f, %f;\nret;\n}\n";

    fn uses_of_add(lines: &str) -> Uses {
        let mut coverage = Coverage::default();
        coverage.add(&format!("{lines}{KERNEL}")).unwrap();
        let used = |form: &&Form| form.opcode == Opcode::Add && coverage.of(form.id).files > 0;
        forms().iter().find(used).map_or_else(Uses::default, |form| coverage.of(form.id))
    }

    #[test]
    fn words_are_counted_where_they_stand() {
        let uses = uses_of_add("// run: grid=1 block=1\n");
        assert_eq!(uses.files, 1);
        assert_eq!(uses.variants, BTreeSet::from([vec![Word::F32]]));
        assert_eq!(uses.options, BTreeSet::from([(0, Word::Rn), (0, Word::Rz), (2, Word::Sat)]));
    }

    #[test]
    fn a_file_that_only_faults_proves_nothing() {
        assert_eq!(uses_of_add("// run: grid=1 block=1\n// trap: anything\n").files, 0);
        let two = "// run: grid=1 block=1\n// trap: anything\n// run: grid=1 block=1\n";
        assert_eq!(uses_of_add(two).files, 1);
    }
}
