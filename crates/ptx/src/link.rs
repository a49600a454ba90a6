//! Several modules made into one, as `nvcc -rdc=true` wants it: what one declares `.extern`, another defines.
//!
//! * Of a name with several definitions, at most one may be `.visible`; of `.weak` and `.common` ones the first is taken, and
//!   none where there is a `.visible` one.
//! * A name without linkage belongs to its file. Where another file has the same, it gets a suffix.
//! * Functions that nobody defines stay declared: the machine supplies some.

use crate::Diagnostic;
use crate::diag::Collector;
use crate::syntax::ast::{Item, Linkage, Module, Name, Space, Statement, Variable};
use crate::syntax::{Token, lex, parse, print};
use std::collections::{BTreeMap, BTreeSet};

/// Why modules cannot be linked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LinkError {
    /// A text cannot be read.
    #[error("{file} has mistakes")]
    Unreadable {
        /// Which.
        file: String,
        /// What is wrong with it.
        diagnostics: Vec<Diagnostic>,
    },
    /// A name has two definitions.
    #[error("`{name}` is defined in {first} and in {second}")]
    Twice {
        /// The name.
        name: String,
        /// Where it is defined.
        first: String,
        /// Where again.
        second: String,
    },
    /// A variable has none.
    #[error("variable `{name}` is used by {file} and defined nowhere")]
    Undefined {
        /// The name.
        name: String,
        /// Who uses it.
        file: String,
    },
}

/// One name that a module declares or defines.
struct Symbol {
    name: String,
    linkage: Linkage,
    is_defined: bool,
}

/// The text of one module made from several; each comes with the name of its file.
///
/// # Errors
/// When a text cannot be read, or names do not go together.
pub fn link(files: &[(String, String)]) -> Result<String, LinkError> {
    let mut modules = Vec::new();
    for (file, text) in files {
        modules.push(read(file, text)?);
    }
    let shared = resolve(files, &modules)?;
    let mut all = Module::default();
    let mut done = BTreeSet::new();
    let mut file_offset = 0;
    for (number, (file, text)) in files.iter().enumerate() {
        let renamed = rename(text, &own_names(&modules, number), number);
        let mut module = read(file, &renamed)?;
        all.version = all.version.max(module.version);
        all.address_size = all.address_size.max(module.address_size);
        if machine(&module.target) > machine(&all.target) {
            all.target = std::mem::take(&mut module.target);
        }
        let last = module.items.iter().map(|item| if let Item::File(f) = item { f.index } else { 0 }).max();
        for item in module.items {
            all.items.extend(take(item, number, file_offset, &shared, &mut done));
        }
        file_offset += last.unwrap_or(0);
    }
    Ok(print(&all))
}

fn read(file: &str, text: &str) -> Result<Module, LinkError> {
    let (mut module, diagnostics) = parse(text);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(LinkError::Unreadable { file: file.to_owned(), diagnostics });
    }
    // A declaration of several names becomes several.
    let items = std::mem::take(&mut module.items).into_iter();
    module.items = items
        .flat_map(|item| match item {
            Item::Variable(v) => {
                let one = |name| Item::Variable(Variable { names: vec![name], ..v.clone() });
                v.names.clone().into_iter().map(one).collect()
            }
            other => vec![other],
        })
        .collect();
    Ok(module)
}

/// What an item declares or defines.
fn symbol(item: &Item) -> Option<Symbol> {
    match item {
        Item::Variable(v) => {
            let name = v.names.first()?.name.text.clone();
            Some(Symbol { name, linkage: v.linkage, is_defined: v.linkage != Linkage::Extern })
        }
        Item::Function(f) => {
            Some(Symbol { name: f.name.text.clone(), linkage: f.linkage, is_defined: f.body.is_some() })
        }
        Item::Alias(new, _) => Some(Symbol { name: new.text.clone(), linkage: Linkage::Visible, is_defined: true }),
        _ => None,
    }
}

/// Whether others see a name.
fn is_shared(linkage: Linkage) -> bool {
    linkage != Linkage::Internal
}

/// Which module's definition of each shared name is taken.
fn resolve(files: &[(String, String)], modules: &[Module]) -> Result<BTreeMap<String, usize>, LinkError> {
    let mut taken: BTreeMap<String, (usize, bool)> = BTreeMap::new();
    for (number, module) in modules.iter().enumerate() {
        for symbol in module.items.iter().filter_map(symbol).filter(|s| is_shared(s.linkage) && s.is_defined) {
            let is_strong = symbol.linkage == Linkage::Visible;
            match taken.get(&symbol.name) {
                Some((first, true)) if is_strong => {
                    let [first, second] = [*first, number].map(|n| files[n].0.clone());
                    return Err(LinkError::Twice { name: symbol.name, first, second });
                }
                Some((_, was_strong)) if *was_strong || !is_strong => {}
                _ => _ = taken.insert(symbol.name, (number, is_strong)),
            }
        }
    }
    for (number, module) in modules.iter().enumerate() {
        for item in &module.items {
            // Shared memory without a size is what a launch gives.
            if let Item::Variable(v) = item
                && v.linkage == Linkage::Extern
                && v.space != Space::Shared
                && let Some(name) = v.names.first().map(|n| n.name.text.clone())
                && !taken.contains_key(&name)
            {
                return Err(LinkError::Undefined { name, file: files[number].0.clone() });
            }
        }
    }
    Ok(taken.into_iter().map(|(name, (number, _))| (name, number)).collect())
}

/// Names that belong to a module alone and that another has too.
fn own_names(modules: &[Module], number: usize) -> BTreeSet<String> {
    let names = |module: &Module| module.items.iter().filter_map(symbol).map(|s| s.name).collect::<BTreeSet<_>>();
    let others: BTreeSet<String> =
        modules.iter().enumerate().filter(|(n, _)| *n != number).flat_map(|(_, module)| names(module)).collect();
    let own = modules[number].items.iter().filter_map(symbol).filter(|s| !is_shared(s.linkage));
    own.map(|s| s.name).filter(|name| others.contains(name)).collect()
}

/// The text with a suffix behind some names.
fn rename(text: &str, names: &BTreeSet<String>, number: usize) -> String {
    if names.is_empty() {
        return text.to_owned();
    }
    let (mut out, mut from) = (String::with_capacity(text.len()), 0);
    for (token, span) in lex(text, &mut Collector::default()) {
        let word = span.text(text);
        if token == Token::Ident && names.contains(word) {
            out += &text[from..span.range().end];
            out += &format!("$file{number}");
            from = span.range().end;
        }
    }
    out + &text[from..]
}

/// The number in `sm_70`.
fn machine(target: &[Name]) -> u32 {
    let digits =
        |name: &Name| name.text.strip_prefix("sm_").map(|n| n.trim_end_matches(char::is_alphabetic).to_owned());
    target.iter().find_map(digits).and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// An item as it goes into the whole, if it does.
fn take(
    item: Item,
    number: usize,
    file_offset: u32,
    shared: &BTreeMap<String, usize>,
    done: &mut BTreeSet<String>,
) -> Option<Item> {
    let found = symbol(&item);
    if let Some(Symbol { name, linkage, is_defined }) = found
        && is_shared(linkage)
    {
        let is_taken = match shared.get(&name) {
            Some(definer) => is_defined && *definer == number && done.insert(name),
            // Nobody defines it: declared once.
            None => done.insert(name),
        };
        if !is_taken {
            return None;
        }
    }
    match item {
        Item::Section(_) => None,
        Item::File(mut file) => {
            file.index += file_offset;
            Some(Item::File(file))
        }
        Item::Function(mut function) => {
            function.body.iter_mut().for_each(|body| renumber(body, file_offset));
            Some(Item::Function(function))
        }
        other => Some(other),
    }
}

/// Places in files that have other numbers now.
fn renumber(body: &mut [Statement], by: u32) {
    for statement in body {
        match statement {
            Statement::Loc(loc) => {
                loc.file += by;
                // The names of functions that were inlined are in debugging information, which is gone.
                loc.inlined = None;
            }
            Statement::Block(inner) => renumber(inner, by),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = ".version 7.0\n.target sm_70\n.address_size 64\n";

    fn files(texts: &[&str]) -> Vec<(String, String)> {
        let names = ["a.ptx", "b.ptx", "c.ptx"].map(str::to_owned);
        names.into_iter().zip(texts.iter().map(|text| format!("{HEAD}{text}"))).collect()
    }

    fn linked(texts: &[&str]) -> Module {
        let text = link(&files(texts)).unwrap();
        let (_, diagnostics) = crate::load(&text);
        assert!(diagnostics.iter().all(|d| !d.is_error()), "{text}\n{diagnostics:?}");
        parse(&text).0
    }

    fn names(module: &Module) -> Vec<String> {
        module.items.iter().filter_map(symbol).map(|s| s.name).collect()
    }

    const USES: &str = ".extern .global .align 4 .u32 n;\n.extern .func f();\n.extern .func vprintf();\n.global .u32 own;\n\
        .visible .entry k() { .reg .b32 %r<3>; ld.global.u32 %r1, [n]; ld.global.u32 %r2, [own]; call f; call vprintf; ret; }\n";
    const DEFINES: &str = ".file 1 \"b.cu\"\n.visible .global .align 4 .u32 n = 7;\n.global .u32 own;\n\
        .visible .func f() { .reg .b32 %r<2>; .loc 1 2 3\nld.global.u32 %r1, [own]; ret; }\n.extern .func vprintf();\n";

    #[test]
    fn declarations_find_their_definitions() {
        let module = linked(&[USES, DEFINES]);
        assert_eq!(names(&module), ["vprintf", "own$file0", "k", "n", "own$file1", "f"]);
    }

    #[test]
    fn the_first_weak_definition_is_taken_and_a_visible_one_before_it() {
        let weak = |n: u32| format!(".weak .global .u32 w = {n};\n");
        let module = linked(&[&weak(1), &weak(2)]);
        assert_eq!(names(&module), ["w"]);
        let text = link(&files(&[&weak(1), ".visible .global .u32 w = 5;\n"])).unwrap();
        assert!(text.contains(".visible") && !text.contains(".weak"), "{text}");
    }

    #[test]
    fn files_are_numbered_anew_and_the_newest_target_is_taken() {
        let newer = ".version 7.8\n.target sm_80\n.address_size 64\n.file 1 \"c.cu\"\n\
            .visible .entry m() { .loc 1 9 1\nret; }\n";
        let mut list = files(&[USES, DEFINES]);
        list.push(("c.ptx".to_owned(), newer.to_owned()));
        let text = link(&list).unwrap();
        assert!(text.starts_with(".version 7.8\n.target sm_80"), "{text}");
        assert!(text.contains(".file 1 \"b.cu\"") && text.contains(".file 2 \"c.cu\""), "{text}");
        assert!(text.contains(".loc 1 2 3") && text.contains(".loc 2 9 1"), "{text}");
    }

    #[test]
    fn what_does_not_go_together_is_named() {
        let twice = link(&files(&[DEFINES, DEFINES])).unwrap_err();
        assert_eq!(twice.to_string(), "`n` is defined in a.ptx and in b.ptx");
        let none = link(&files(&[USES, ".visible .func f() { ret; }\n"])).unwrap_err();
        assert_eq!(none.to_string(), "variable `n` is used by a.ptx and defined nowhere");
        let wrong = link(&files(&["what is this"])).unwrap_err();
        assert_eq!(wrong.to_string(), "a.ptx has mistakes");
    }
}
