//! Checks one instruction against the instruction table.

use super::inst::nth_space;
use super::{Base, Function, Imm, Module, Operand, Space};
use crate::diag::{Code, Collector, Diagnostic};
use crate::isa::{
    self, Form, FormId, Kind, Matrix, MatrixKind, MatrixOp, Opcode, OperandSpec, Shape, Type, TypeRef, Word,
};
use crate::source::Span;
use crate::syntax::ast;

type Checked<T> = Result<T, Diagnostic>;

/// Accesses to memory, whose words compilers write in any order.
const ANY_ORDER: [Opcode; 4] = [Opcode::Ld, Opcode::St, Opcode::Atom, Opcode::Red];

pub(super) struct Checker<'m> {
    pub(super) module: &'m Module,
    pub(super) function: &'m Function,
}

/// An operand's place in an instruction, and what the form says of it.
#[derive(Clone, Copy)]
struct Site<'a> {
    ast: &'a ast::Instruction,
    spec: &'a OperandSpec,
    span: Span,
    /// Memory operands before it.
    memories: usize,
}

impl Site<'_> {
    fn wrong(&self, expected: &str) -> Diagnostic {
        let what = if self.spec.written { "destination" } else { "operand" };
        Diagnostic::error(Code::Type, self.span, format!("wrong {what} of `{}`", mnemonic(self.ast)))
            .label(format!("expected {expected}"))
    }
}

impl Checker<'_> {
    /// Finds the form the modifier words fit, and gives the words in the order of that form.
    pub(super) fn words(&self, ast: &ast::Instruction) -> Checked<(FormId, Vec<Word>)> {
        if let Some(u) = isa::unsupported().iter().find(|u| u.opcode == ast.opcode) {
            let (major, minor) = u.since;
            let message = format!("`{}` is not supported: {} (PTX ISA {major}.{minor})", u.opcode, u.what);
            return Err(Diagnostic::error(Code::Unsupported, ast.head, message));
        }
        let words: Vec<Word> = ast.words.iter().map(|(w, _)| *w).collect();
        // The forms that fit longest, and what they expect next.
        let mut best: (usize, Vec<Word>) = (0, Vec::new());
        for form in isa::forms_of(ast.opcode) {
            match form.match_words(&words) {
                Ok(()) => return Ok((form.id, words)),
                Err((fitted, expected)) if fitted > best.0 => best = (fitted, expected),
                Err((fitted, expected)) if fitted == best.0 => best.1.extend(expected),
                Err(_) => {}
            }
        }
        let ordered = isa::forms_of(ast.opcode).find_map(|form| Some((form.id, in_order(form, &words)?)));
        match ordered {
            Some(found) if ANY_ORDER.contains(&ast.opcode) => Ok(found),
            Some((_, order)) => {
                let help = format!("did you mean `{}`?", spell(ast.opcode, &order));
                Err(words_error(ast, best.0, best.1).help(help))
            }
            None => Err(words_error(ast, best.0, best.1)),
        }
    }

    /// Checks words and operands; normalises the order of words and the operands of `call`.
    pub(super) fn instruction(
        &self,
        ast: &ast::Instruction,
        operands: Vec<Operand>,
        spans: &[Span],
        warnings: &mut Collector,
    ) -> Checked<(FormId, Vec<Word>, Vec<Operand>)> {
        let (first, words) = self.words(ast)?;
        let form = self.of_operands(ast, first, &operands).get();
        if form.since > self.module.version && self.module.version != (1, 0) {
            let (major, minor) = form.since;
            let message = format!("`{}` needs PTX ISA {major}.{minor}", mnemonic(ast));
            let (major, minor) = self.module.version;
            let warning = Diagnostic::warning(Code::Unsupported, ast.head, message);
            warnings.push(warning.help(format!("the module begins with `.version {major}.{minor}`")));
        }
        if ast.opcode == Opcode::Call {
            return Ok((form.id, words, self.call(ast, operands)?));
        }
        let operands = without_braces(form, operands);
        let used = self.match_operands(ast, form, &operands, spans)?;
        if used < operands.len() {
            return Err(self.count_error(ast, form, operands.len()));
        }
        self.particular(ast, &operands, spans)?;
        Ok((form.id, words, operands))
    }

    /// The form that the operands fit, where several have the same words; else the first of them.
    fn of_operands(&self, ast: &ast::Instruction, first: FormId, operands: &[Operand]) -> FormId {
        if ast.opcode != Opcode::Cp {
            return first;
        }
        let words: Vec<Word> = ast.words.iter().map(|(w, _)| *w).collect();
        let fits = |form: &&Form| {
            form.match_words(&words).is_ok()
                && self.match_operands(ast, form, operands, &[]).is_ok_and(|used| used == operands.len())
        };
        isa::forms_of(ast.opcode).find(fits).map_or(first, |form| form.id)
    }

    fn match_operands(
        &self,
        ast: &ast::Instruction,
        form: &Form,
        operands: &[Operand],
        spans: &[Span],
    ) -> Checked<usize> {
        let required = form.operands.iter().filter(|s| !s.optional).count();
        if operands.len() < required {
            return Err(self.count_error(ast, form, operands.len()));
        }
        // Optional operands are present when there are enough operands for them.
        let mut spare = operands.len() - required;
        let mut at = 0;
        for spec in &form.operands {
            if spec.optional {
                if spare == 0 {
                    continue;
                }
                spare -= 1;
            }
            let span = spans.get(at).copied().unwrap_or(ast.span);
            let memories = operands[..at].iter().filter(|o| matches!(o, Operand::Memory(_))).count();
            self.operand(Site { ast, spec, span, memories }, &operands[at])?;
            at += 1;
        }
        Ok(at)
    }

    fn count_error(&self, ast: &ast::Instruction, form: &Form, found: usize) -> Diagnostic {
        let least = form.operands.iter().filter(|s| !s.optional).count();
        let most = form.operands.len();
        let wanted = match (least, most) {
            (0, 0) => "no".to_owned(),
            _ if least == most => most.to_string(),
            _ if least + 1 == most => format!("{least} or {most}"),
            _ => format!("{least} to {most}"),
        };
        let plural = if most == 1 { "operand" } else { "operands" };
        let message = format!("`{}` takes {wanted} {plural}, found {found}", mnemonic(ast));
        Diagnostic::error(Code::Type, ast.span, message)
    }

    fn type_of(&self, reference: TypeRef, ast: &ast::Instruction) -> Type {
        let nth = |n: usize| ast.words.iter().filter_map(|(w, _)| Type::from_word(*w)).nth(n).unwrap_or(Type::B32);
        match reference {
            TypeRef::Nth(n) => nth(usize::from(n)),
            TypeRef::Wide => nth(0).wide().unwrap_or(Type::B64),
            TypeRef::Fixed(ty) => ty,
            TypeRef::AddressSized if self.module.address_size == 64 => Type::B64,
            TypeRef::AddressSized => Type::B32,
        }
    }

    fn operand(&self, site: Site<'_>, operand: &Operand) -> Checked<()> {
        let Site { ast, spec, span, .. } = site;
        let ty = self.type_of(spec.ty.unwrap_or(TypeRef::Nth(0)), ast);
        if let (Some(_), Operand::Pair(pair)) = (spec.second, operand) {
            self.element(site, &pair[0], ty)?;
            return self.element(site, &pair[1], Type::Pred);
        }
        if spec.second == Some(true) {
            return Err(site.wrong("two destinations separated by `|`"));
        }
        let (fits, expected) = match spec.shape {
            Shape::Memory => match operand {
                Operand::Memory(address) => return self.address(site, address.base, span),
                _ => (false, "an address in brackets"),
            },
            Shape::Gradient => return self.gradient(site, operand),
            Shape::Texture => {
                let fits = matches!(operand, Operand::Texture { .. } | Operand::Memory(_));
                (fits, "a texture and coordinates in brackets")
            }
            Shape::Constant => (matches!(operand, Operand::Imm(Imm::Int(_))), "an integer constant"),
            Shape::Label => (matches!(operand, Operand::Label(_)), "a label"),
            Shape::Table => (matches!(operand, Operand::Table(_)), "the name of a `.branchtargets` table"),
            Shape::Call => (true, ""),
            Shape::Fragment(matrix) => return self.fragment(site, operand, matrix),
            Shape::Value | Shape::Any | Shape::MaybeVector | Shape::Vector4 => return self.typed(site, operand, ty),
        };
        if fits { Ok(()) } else { Err(site.wrong(expected)) }
    }

    fn typed(&self, site: Site<'_>, operand: &Operand, ty: Type) -> Checked<()> {
        let width = match site.spec.shape {
            Shape::Vector4 => 4,
            Shape::MaybeVector => vector_width(site.ast),
            _ => 1,
        };
        match operand {
            Operand::Vector(list) if width > 1 && list.len() == width => {
                list.iter().try_for_each(|o| self.element(site, o, ty))
            }
            _ if width > 1 => Err(site.wrong(&format!("a vector of {width}"))),
            // mov packs and unpacks: the elements make up the whole.
            Operand::Vector(list) if site.spec.shape == Shape::Any => {
                let part = match (ty.bits(), list.len()) {
                    (32, 2) => Type::B16,
                    (64, 2) => Type::B32,
                    (32, 4) => Type::B8,
                    (64, 4) => Type::B16,
                    _ => return Err(site.wrong(&format!("2 or 4 parts that make up {ty}"))),
                };
                let loose = OperandSpec { loose: part == Type::B8, ..site.spec.clone() };
                let is_long = |o: &Operand| matches!(o, Operand::Reg(reg) if self.function.reg(*reg).ty.bits() > 32);
                if part == Type::B8 && list.iter().any(is_long) {
                    return Err(site.wrong("parts of a byte each, in registers of at most 32 bits"));
                }
                list.iter().try_for_each(|o| self.element(Site { spec: &loose, ..site }, o, part))
            }
            Operand::VarAddress(..) | Operand::Func(_) if site.spec.shape == Shape::Any && !site.spec.written => {
                let fits = matches!(ty.bits(), 32 | 64);
                if fits { Ok(()) } else { Err(site.wrong(&format!("a value of type {ty}"))) }
            }
            _ => self.value(site, operand, ty),
        }
    }

    /// The registers that hold a lane's part of a matrix.
    fn fragment(&self, site: Site<'_>, operand: &Operand, matrix: Option<Matrix>) -> Checked<()> {
        let words: Vec<Word> = site.ast.words.iter().map(|(w, _)| *w).collect();
        let Some(op) = MatrixOp::of(site.ast.opcode, &words) else { return Err(site.wrong("a matrix")) };
        let matrix = matrix.unwrap_or(match op.kind {
            MatrixKind::Load(matrix) => matrix,
            _ => Matrix::D,
        });
        let (count, ty) = op.registers(matrix);
        let parts = match operand {
            Operand::Vector(list) => list,
            one => std::slice::from_ref(one),
        };
        if parts.len() != count {
            return Err(site.wrong(&format!("{count} registers of type {ty} in braces; there are {}", parts.len())));
        }
        parts.iter().try_for_each(|part| self.value(site, part, ty))
    }

    /// One of several values: `_` may stand for one that is not wanted.
    fn element(&self, site: Site<'_>, operand: &Operand, ty: Type) -> Checked<()> {
        if site.spec.written && matches!(operand, Operand::Sink) {
            return Ok(());
        }
        self.value(site, operand, ty)
    }

    fn value(&self, site: Site<'_>, operand: &Operand, ty: Type) -> Checked<()> {
        let spec = site.spec;
        match operand {
            Operand::Reg(reg) => {
                let declared = self.function.reg(*reg);
                let fits = declared.ty.agrees_with(ty) || (spec.loose && fits_loosely(declared.ty, ty));
                if fits {
                    return Ok(());
                }
                let found = format!("`{}` is {}", declared.name, declared.ty);
                let at_least = if spec.loose { " or wider" } else { "" };
                Err(site.wrong(&format!("a register of type {ty}{at_least}; {found}")))
            }
            Operand::Not(_) if spec.negatable => Ok(()),
            Operand::Sink if spec.sink => Ok(()),
            Operand::Imm(imm) if !spec.written => match (imm, ty.kind()) {
                (Imm::Int(_), Kind::Float) if matches!(ty, Type::F32 | Type::F64) => {
                    Err(site.wrong("a floating-point constant such as 0f3F800000 or 1.0"))
                }
                (Imm::Int(_), _) | (Imm::F32(_) | Imm::F64(_), Kind::Float | Kind::Bits) => Ok(()),
                (Imm::F32(_) | Imm::F64(_), _) => Err(site.wrong("an integer constant")),
            },
            Operand::Special(special) if !spec.written => {
                let compatible = special.ty().agrees_with(ty) || special.ty().bytes() <= ty.bytes() && !ty.is_float();
                if compatible && ty != Type::Pred { Ok(()) } else { Err(site.wrong(&format!("a value of type {ty}"))) }
            }
            _ if spec.written => Err(site.wrong(&format!("a register of type {ty}"))),
            _ => Err(site.wrong(&format!("a register or constant of type {ty}"))),
        }
    }

    /// A variable must live where the instruction looks for it.
    fn address(&self, site: Site<'_>, base: Base, span: Span) -> Checked<()> {
        let ast = site.ast;
        match base {
            Base::Reg(reg) => {
                let ty = self.function.reg(reg).ty;
                let address_like = matches!(ty.kind(), Kind::Bits | Kind::Unsigned | Kind::Signed) && ty.bytes() >= 4;
                if address_like {
                    return Ok(());
                }
                let message = format!("an address is in a 32-bit or 64-bit integer register, this one is {ty}");
                Err(Diagnostic::error(Code::Type, span, message))
            }
            Base::Var(var) => {
                let var = self.module.var(var);
                let wanted = nth_space(ast.words.iter().map(|(word, _)| *word), site.memories);
                let fits = match wanted {
                    Some(space) => space == var.space,
                    // A generic address equals a global one; other spaces need a window.
                    None => matches!(var.space, Space::Global),
                };
                if fits {
                    return Ok(());
                }
                let have = var.space.name();
                let message = format!("`{}` is a .{have} variable", var.name);
                let help = format!("use `{}.{have}`", ast.opcode);
                Err(Diagnostic::error(Code::Type, span, message).help(help))
            }
            Base::Absolute => Ok(()),
        }
    }

    /// Rules of single instructions that the table cannot say.
    fn particular(&self, ast: &ast::Instruction, operands: &[Operand], spans: &[Span]) -> Checked<()> {
        match ast.opcode {
            Opcode::Bar | Opcode::Barrier if !ast.words.iter().any(|(w, _)| *w == Word::Warp) => {
                let name =
                    operands.iter().position(|o| matches!(o, Operand::Imm(Imm::Int(n)) if !(0..=15).contains(n)));
                let red = ast.words.iter().any(|(w, _)| *w == Word::Red);
                let index = usize::from(red);
                if name == Some(index) {
                    let span = spans.get(index).copied().unwrap_or(ast.span);
                    return Err(Diagnostic::error(Code::Type, span, "barriers are numbered 0 to 15"));
                }
                Ok(())
            }
            Opcode::Mov if operands.iter().all(|o| matches!(o, Operand::Vector(_))) => {
                Err(Diagnostic::error(Code::Type, ast.span, "`mov` packs or unpacks a vector, not both at once"))
            }
            Opcode::Cp => {
                let Some(Operand::Imm(Imm::Int(bytes))) = operands.get(2) else { return Ok(()) };
                let sizes: &[i64] = if ast.words.iter().any(|(w, _)| *w == Word::Cg) { &[16] } else { &[4, 8, 16] };
                if sizes.contains(bytes) {
                    return Ok(());
                }
                let span = spans.get(2).copied().unwrap_or(ast.span);
                let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
                let message = format!("`{}` copies {} bytes, not {bytes}", mnemonic(ast), sizes.join(" or "));
                Err(Diagnostic::error(Code::Type, span, message))
            }
            Opcode::Tex | Opcode::Tld4 | Opcode::Suld => self.coordinates(ast, operands.get(1)),
            Opcode::Sust => self.coordinates(ast, operands.first()),
            _ => Ok(()),
        }
    }

    /// Textures and surfaces: as many coordinates as there are directions, filled up to four where there are three, behind
    /// the number of the layer.
    fn coordinates(&self, ast: &ast::Instruction, operand: Option<&Operand>) -> Checked<()> {
        let Some(Operand::Texture { coords, .. }) = operand else {
            let what = if matches!(ast.opcode, Opcode::Suld | Opcode::Sust) { "surface" } else { "texture" };
            return Err(Diagnostic::error(Code::Type, ast.span, format!("expected [{what}, {{coordinates}}]")));
        };
        let (directions, is_layered) = directions(ast);
        let wanted = match directions + usize::from(is_layered) {
            3 => 4,
            count => count,
        };
        let second = ast.words.iter().filter_map(|(w, _)| Type::from_word(*w)).nth(1);
        let ty = match ast.opcode {
            Opcode::Suld | Opcode::Sust => Type::B32,
            _ => second.unwrap_or(Type::F32),
        };
        let is_typed = |(n, coord): (usize, &Operand)| {
            let ty = if n == 0 && is_layered { Type::B32 } else { ty };
            match coord {
                // Layers and texels of surfaces are counted.
                Operand::Reg(r) if ty == Type::B32 && self.function.reg(*r).ty.is_float() => false,
                Operand::Reg(r) => self.function.reg(*r).ty.agrees_with(ty),
                Operand::Imm(Imm::Int(_)) => !ty.is_float(),
                Operand::Imm(_) => ty.is_float(),
                _ => false,
            }
        };
        if coords.len() == wanted && coords.iter().enumerate().all(is_typed) {
            return Ok(());
        }
        let behind = if is_layered { ", the first of type .b32" } else { "" };
        let message = format!("`{}` takes {wanted} coordinate(s) of type {ty}{behind}", mnemonic(ast));
        Err(Diagnostic::error(Code::Type, ast.span, message))
    }

    fn gradient(&self, site: Site<'_>, operand: &Operand) -> Checked<()> {
        let wanted = match directions(site.ast).0 {
            3 => 4,
            count => count,
        };
        let parts = match operand {
            Operand::Vector(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        if parts.len() != wanted {
            return Err(site.wrong(&format!("a vector of {wanted}")));
        }
        parts.iter().try_for_each(|part| self.value(site, part, Type::F32))
    }

    /// Sorts the operands of a call into returns, target, arguments and prototype.
    fn call(&self, ast: &ast::Instruction, operands: Vec<Operand>) -> Checked<Vec<Operand>> {
        let wrong = |message: &str| Diagnostic::error(Code::Type, ast.span, message.to_owned());
        let mut rest = operands.into_iter().peekable();
        let returns = match rest.next_if(|o| matches!(o, Operand::List(_))) {
            Some(list) => list,
            None => Operand::List(Vec::new()),
        };
        let target = match rest.next() {
            Some(target @ (Operand::Func(_) | Operand::Reg(_))) => target,
            _ => return Err(wrong("expected the name of a function or a register with its address")),
        };
        let args = match rest.next_if(|o| matches!(o, Operand::List(_))) {
            Some(list) => list,
            None => Operand::List(Vec::new()),
        };
        let proto = rest.next_if(|o| matches!(o, Operand::Proto(_)));
        if rest.next().is_some() {
            return Err(wrong("unexpected operand behind the arguments of `call`"));
        }
        let (Operand::List(r), Operand::List(a)) = (&returns, &args) else { return Err(wrong("malformed call")) };
        let (wanted_returns, wanted_args) = match (&target, &proto) {
            (Operand::Func(f), _) => {
                let f = self.module.func(*f);
                if f.is_entry {
                    return Err(wrong("a kernel cannot be called"));
                }
                (f.returns.len(), f.params.len())
            }
            (_, Some(Operand::Proto(p))) => {
                let p = &self.function.prototypes[p.index()];
                match p.targets.as_ref().and_then(|t| t.first()) {
                    Some(f) => {
                        let f = self.module.func(*f);
                        (f.returns.len(), f.params.len())
                    }
                    None => (p.returns.len(), p.params.len()),
                }
            }
            _ => {
                return Err(wrong("an indirect call needs a prototype")
                    .help("declare one with `.callprototype` and name it as the last operand"));
            }
        };
        if r.len() != wanted_returns || a.len() != wanted_args {
            let message = format!(
                "the callee has {wanted_returns} return value(s) and {wanted_args} parameter(s), the call has {} and {}",
                r.len(),
                a.len()
            );
            return Err(wrong(&message));
        }
        let in_param_space = |o: &Operand| match o {
            Operand::VarAddress(v, 0) => self.module.var(*v).space == Space::Param,
            _ => false,
        };
        if !r.iter().chain(a).all(in_param_space) {
            let message = "arguments and return values that are not .param variables are not supported (PTX 1.x)";
            return Err(Diagnostic::error(Code::Unsupported, ast.span, message));
        }
        Ok([returns, target, args].into_iter().chain(proto).collect())
    }
}

/// A vector of one is its element, where a vector may stand at all.
fn without_braces(form: &Form, mut operands: Vec<Operand>) -> Vec<Operand> {
    for (operand, spec) in operands.iter_mut().zip(&form.operands) {
        if matches!(spec.shape, Shape::Any | Shape::MaybeVector)
            && let Operand::Vector(list) = operand
            && let [one] = &list[..]
            && !matches!(one, Operand::Vector(_))
        {
            *operand = one.clone();
        }
    }
    operands
}

/// ld, st and cvt accept registers wider than the type.
fn fits_loosely(declared: Type, wanted: Type) -> bool {
    if declared.bytes() < wanted.bytes() || declared == Type::Pred {
        return false;
    }
    match (declared.kind(), wanted.kind()) {
        (Kind::Float, Kind::Bits) => declared.bytes() == wanted.bytes(),
        (Kind::Float, _) => declared == wanted,
        (_, Kind::Float) => declared.kind() == Kind::Bits && declared.bytes() == wanted.bytes(),
        _ => true,
    }
}

fn vector_width(ast: &ast::Instruction) -> usize {
    let has = |word| ast.words.iter().any(|(w, _)| *w == word);
    if has(Word::V4) {
        4
    } else if has(Word::V2) {
        2
    } else {
        1
    }
}

/// The directions of a texture or surface that an instruction names, and whether it has layers.
fn directions(ast: &ast::Instruction) -> (usize, bool) {
    let found = ast.words.iter().find_map(|(word, _)| match word {
        Word::D1 => Some((1, false)),
        Word::D2 => Some((2, false)),
        Word::D3 | Word::Cube => Some((3, false)),
        Word::A1d => Some((1, true)),
        Word::A2d => Some((2, true)),
        Word::Acube => Some((3, true)),
        _ => None,
    });
    found.unwrap_or((1, false))
}

fn mnemonic(ast: &ast::Instruction) -> String {
    spell(ast.opcode, &ast.words.iter().map(|(w, _)| *w).collect::<Vec<_>>())
}

fn spell(opcode: Opcode, words: &[Word]) -> String {
    words.iter().fold(opcode.as_str().to_owned(), |text, word| text + "." + word.as_str())
}

/// The same words in the order in which the form has them, if it has them all.
fn in_order(form: &Form, words: &[Word]) -> Option<Vec<Word>> {
    let mut left = words.to_vec();
    let mut order = Vec::new();
    for slot in &form.slots {
        if let Some(at) = left.iter().position(|w| slot.words.contains(w)) {
            order.push(left.remove(at));
        }
    }
    (left.is_empty() && form.match_words(&order).is_ok()).then_some(order)
}

fn words_error(ast: &ast::Instruction, fitted: usize, mut expected: Vec<Word>) -> Diagnostic {
    let mut seen = Vec::new();
    expected.retain(|w| {
        let new = !seen.contains(w);
        seen.push(*w);
        new
    });
    let list = |words: &[Word]| {
        let shown: Vec<String> = words.iter().take(12).map(|w| format!(".{}", w.as_str())).collect();
        let more = if words.len() > 12 { ", ..." } else { "" };
        format!("{}{more}", shown.join(", "))
    };
    let expectation = if expected.is_empty() { "nothing more".to_owned() } else { list(&expected) };
    match ast.words.get(fitted) {
        Some((word, span)) => {
            let message = format!("`.{}` cannot stand here in `{}`", word.as_str(), mnemonic(ast));
            Diagnostic::error(Code::Type, *span, message).label(format!("expected {expectation}"))
        }
        None => {
            let message = format!("`{}` is not complete", mnemonic(ast));
            Diagnostic::error(Code::Type, ast.head, message).label(format!("expected {expectation} next"))
        }
    }
}
