//! Forms: the shapes an instruction may take, read from `table.txt`.

use super::{Matrix, Opcode, Type, Word};
use std::sync::LazyLock;

/// Index of a form in [`forms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FormId(pub u16);

/// One place in the chain of modifier words.
#[derive(Clone, Debug)]
pub struct Slot {
    /// Words that may stand here.
    pub words: Vec<Word>,
    /// Whether none may stand here too.
    pub optional: bool,
    /// The name of the table's list the words come from, if they do.
    pub list: Option<&'static str>,
}

/// The type an operand must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeRef {
    /// The n-th type among the instruction's words.
    Nth(u8),
    /// Twice as wide as the first type.
    Wide,
    /// This type.
    Fixed(Type),
    /// An integer of the module's address size.
    AddressSized,
}

/// What kind of operand is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Register, constant or special register.
    Value,
    /// Any of those, the address of a variable or function, or a vector to pack or unpack.
    Any,
    /// A value, or a vector of the width the words name.
    MaybeVector,
    /// A vector of four.
    Vector4,
    /// Registers that hold a lane's part of this matrix; of the one that the words name when it is none.
    Fragment(Option<Matrix>),
    /// A memory operand in brackets.
    Memory,
    /// A texture or surface operand in brackets.
    Texture,
    /// How much coordinates of a texture change, in each direction.
    Gradient,
    /// An integer constant.
    Constant,
    /// A code label.
    Label,
    /// A table of code labels.
    Table,
    /// Everything behind `call`.
    Call,
}

/// One operand of a form.
#[derive(Clone, Debug)]
pub struct OperandSpec {
    /// Expected kind.
    pub shape: Shape,
    /// Expected type, where the kind has one.
    pub ty: Option<TypeRef>,
    /// Written, not read.
    pub written: bool,
    /// May be absent.
    pub optional: bool,
    /// May carry a `!`.
    pub negatable: bool,
    /// A register wider than the type is allowed.
    pub loose: bool,
    /// `_` is allowed in place of a destination.
    pub sink: bool,
    /// A second, predicate destination after `|`: `Some(true)` when it must be there.
    pub second: Option<bool>,
}

/// The operands of a form, in order.
pub type Operands = Vec<OperandSpec>;

/// One supported shape of an instruction.
#[derive(Clone, Debug)]
pub struct Form {
    /// Its place in the table.
    pub id: FormId,
    /// Opcode.
    pub opcode: Opcode,
    /// Modifier words, in order.
    pub slots: Vec<Slot>,
    /// Operands, in order.
    pub operands: Operands,
    /// First PTX version (major, minor); (1, 0) when older than all we read.
    pub since: (u8, u8),
    /// First target, as the number behind `sm_`.
    pub target: u32,
    /// Section of the table.
    pub section: &'static str,
    /// The line as written, for documentation.
    pub text: &'static str,
}

/// A known opcode that is not supported.
#[derive(Clone, Debug)]
pub struct Unsupported {
    /// Opcode.
    pub opcode: Opcode,
    /// First PTX version that has it.
    pub since: (u8, u8),
    /// What it is.
    pub what: &'static str,
}

struct Table {
    forms: Vec<Form>,
    /// Forms of each opcode, by opcode number.
    by_opcode: Vec<Vec<FormId>>,
    unsupported: Vec<Unsupported>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| parse_table(include_str!("table.txt")));

/// All supported forms.
#[must_use]
pub fn forms() -> &'static [Form] {
    &TABLE.forms
}

/// The supported forms of one opcode.
pub fn forms_of(opcode: Opcode) -> impl Iterator<Item = &'static Form> {
    TABLE.by_opcode[opcode as usize].iter().map(|id| &TABLE.forms[usize::from(id.0)])
}

/// Known opcodes that are not supported.
#[must_use]
pub fn unsupported() -> &'static [Unsupported] {
    &TABLE.unsupported
}

impl FormId {
    /// The form.
    #[must_use]
    pub fn get(self) -> &'static Form {
        &TABLE.forms[usize::from(self.0)]
    }
}

impl Form {
    /// Matches a chain of words against the slots: `Ok` when it fits, else how many words fitted
    /// and what could have come next.
    ///
    /// # Errors
    /// The number of words that fitted and the words that would have.
    pub fn match_words(&self, words: &[Word]) -> Result<(), (usize, Vec<Word>)> {
        let mut at = 0;
        // Words that optional slots passed over would have taken at the current place.
        let mut expected: Vec<Word> = Vec::new();
        for slot in &self.slots {
            match words.get(at) {
                Some(word) if slot.words.contains(word) => {
                    at += 1;
                    expected.clear();
                }
                _ => {
                    expected.extend(&slot.words);
                    if !slot.optional {
                        return Err((at, expected));
                    }
                }
            }
        }
        if at < words.len() { Err((at, expected)) } else { Ok(()) }
    }

    /// Calls `f` with every combination of type words the form admits, optional words left out.
    /// The coverage test walks these.
    pub fn for_each_variant(&self, mut f: impl FnMut(&[Word])) {
        let required: Vec<&Slot> = self.slots.iter().filter(|s| !s.optional).collect();
        let mut pick = vec![0; required.len()];
        loop {
            let words: Vec<Word> = required.iter().zip(&pick).map(|(s, i)| s.words[*i]).collect();
            f(&words);
            let Some(i) = (0..pick.len()).rev().find(|i| pick[*i] + 1 < required[*i].words.len()) else { return };
            pick[i] += 1;
            pick[i + 1..].fill(0);
        }
    }
}

fn parse_table(text: &'static str) -> Table {
    let mut lists: Vec<(&str, Vec<Word>)> = Vec::new();
    let mut table =
        Table { forms: Vec::new(), by_opcode: vec![Vec::new(); Opcode::ALL.len()], unsupported: Vec::new() };
    let mut section = "";
    for line in text.lines().map(str::trim).filter(|l| !l.is_empty()) {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        } else if line.starts_with('#') {
        } else if let Some(rest) = line.strip_prefix('$') {
            let (name, words) = rest.split_once('=').expect("list line has '='");
            lists.push((name.trim(), words.split_whitespace().map(word).collect()));
        } else if let Some(rest) = line.strip_prefix("! ") {
            let mut parts = rest.splitn(3, ' ');
            let mut next = || parts.next().expect("opcode, version and description");
            let opcode = opcode(next());
            table.unsupported.push(Unsupported { opcode, since: version(next()), what: next() });
        } else {
            let id = FormId(u16::try_from(table.forms.len()).expect("fewer than 65536 forms"));
            let form = parse_form(line, id, section, &lists);
            table.by_opcode[form.opcode as usize].push(id);
            table.forms.push(form);
        }
    }
    table
}

fn word(name: &str) -> Word {
    Word::from_name(name).unwrap_or_else(|| panic!("instruction table: unknown word {name}"))
}

fn opcode(name: &str) -> Opcode {
    Opcode::from_name(name).unwrap_or_else(|| panic!("instruction table: unknown opcode {name}"))
}

fn version(text: &str) -> (u8, u8) {
    let (major, minor) = text.split_once('.').expect("version has a dot");
    (major.parse().expect("major"), minor.parse().expect("minor"))
}

fn parse_form(line: &'static str, id: FormId, section: &'static str, lists: &[(&str, Vec<Word>)]) -> Form {
    let (shape, since) = line.split_once('@').unwrap_or((line, ""));
    let (left, right) = shape.split_once(" :").unwrap_or_else(|| panic!("instruction table: no ' :' in {line}"));
    let mut since = since.split_whitespace();
    let (name, mut chain) = left.split_once(' ').unwrap_or((left, ""));
    let mut slots = Vec::new();
    while !chain.trim().is_empty() {
        chain = chain.trim_start();
        let optional = chain.starts_with('?');
        chain = chain.trim_start_matches('?').strip_prefix('.').unwrap_or_else(|| panic!("slot in {line}"));
        let words;
        let mut list = None;
        if let Some(rest) = chain.strip_prefix('{') {
            let (inside, rest) = rest.split_once('}').expect("closing brace");
            words = inside.split_whitespace().map(word).collect();
            chain = rest;
        } else {
            let (one, rest) = chain.split_once(' ').unwrap_or((chain, ""));
            words = match one.strip_prefix('$') {
                Some(name) => {
                    list = Some(name);
                    let found = lists.iter().find(|(n, _)| *n == name);
                    found.unwrap_or_else(|| panic!("instruction table: no list ${name}")).1.clone()
                }
                None => vec![word(one)],
            };
            chain = rest;
        }
        slots.push(Slot { words, optional, list });
    }
    Form {
        id,
        opcode: opcode(name),
        slots,
        operands: right.split_whitespace().map(parse_operand).collect(),
        since: since.next().map_or((1, 0), version),
        target: since.next().map_or(10, |t| t.trim_start_matches("sm_").parse().expect("target number")),
        section,
        text: line,
    }
}

/// Takes `prefix` off the front of `rest` if it is there.
fn eat(rest: &mut &str, prefix: &str) -> bool {
    let stripped = rest.strip_prefix(prefix);
    *rest = stripped.unwrap_or(rest);
    stripped.is_some()
}

fn parse_operand(text: &str) -> OperandSpec {
    let mut spec = OperandSpec {
        shape: Shape::Value,
        ty: None,
        written: false,
        optional: false,
        negatable: false,
        loose: false,
        sink: false,
        second: None,
    };
    let mut rest = text;
    spec.written = eat(&mut rest, "=");
    spec.sink = eat(&mut rest, "_");
    spec.negatable = eat(&mut rest, "!");
    if eat(&mut rest, "v4") {
        spec.shape = Shape::Vector4;
    } else if eat(&mut rest, "v") {
        spec.shape = Shape::MaybeVector;
    } else if eat(&mut rest, "x") {
        spec.shape = Shape::Any;
    }
    spec.loose = rest != "label" && eat(&mut rest, "l");
    if let Some(r) = rest.strip_suffix('?') {
        spec.optional = true;
        rest = r;
    }
    if let Some(r) = rest.strip_suffix("||p") {
        spec.second = Some(true);
        rest = r;
    } else if let Some(r) = rest.strip_suffix("|p") {
        spec.second = Some(false);
        rest = r;
    }
    match rest {
        "[m]" => spec.shape = Shape::Memory,
        "[tex]" => spec.shape = Shape::Texture,
        "grad" => (spec.shape, spec.ty) = (Shape::Gradient, Some(TypeRef::Fixed(Type::F32))),
        "label" => spec.shape = Shape::Label,
        "table" => spec.shape = Shape::Table,
        "call" => spec.shape = Shape::Call,
        "i" => spec.shape = Shape::Constant,
        "mA" => spec.shape = Shape::Fragment(Some(Matrix::A)),
        "mB" => spec.shape = Shape::Fragment(Some(Matrix::B)),
        "mC" => spec.shape = Shape::Fragment(Some(Matrix::C)),
        "mD" => spec.shape = Shape::Fragment(Some(Matrix::D)),
        "mX" => spec.shape = Shape::Fragment(None),
        "T" => spec.ty = Some(TypeRef::Nth(0)),
        "U" => spec.ty = Some(TypeRef::Nth(1)),
        "V" => spec.ty = Some(TypeRef::Nth(2)),
        "W" => spec.ty = Some(TypeRef::Wide),
        "A" => spec.ty = Some(TypeRef::AddressSized),
        "p" => spec.ty = Some(TypeRef::Fixed(Type::Pred)),
        name => {
            let ty = Type::from_name(name).unwrap_or_else(|| panic!("instruction table: operand {text}"));
            spec.ty = Some(TypeRef::Fixed(ty));
        }
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_reads_and_covers_every_opcode_once() {
        for &op in Opcode::ALL {
            let supported = forms_of(op).next().is_some();
            let listed = unsupported().iter().any(|u| u.opcode == op);
            assert!(supported != listed, "{op} must be either supported or listed as unsupported");
        }
    }

    #[test]
    fn words_match_in_order_with_optional_ones_left_out() {
        let form = forms_of(Opcode::Add).find(|f| f.slots.len() == 4).expect("add.rnd.ftz.sat.f32");
        assert!(form.match_words(&[Word::F32]).is_ok());
        assert!(form.match_words(&[Word::Rz, Word::Sat, Word::F32]).is_ok());
        let (fitted, expected) = form.match_words(&[Word::Sat, Word::Ftz, Word::F32]).unwrap_err();
        assert_eq!(fitted, 1);
        assert_eq!(expected, [Word::F32]);
    }

    #[test]
    fn variants_are_the_product_of_required_words() {
        let form = forms_of(Opcode::Mul).next().expect("mul.{lo hi}.int");
        let mut count = 0;
        form.for_each_variant(|_| count += 1);
        assert_eq!(count, 12);
    }
}
