//! Sizes, alignments and initial bytes of variables.

use super::{Initial, Relocation, Symbol, Var};
use crate::diag::{Code, Diagnostic};
use crate::isa::Type;
use crate::num::fit;
use crate::source::Span;
use crate::syntax::ast::{self, Expr, Init};

/// No variable may be larger: 1 TiB.
const MAX_BYTES: u64 = 1 << 40;
/// All initialised variables of a module together: their bytes are kept, the zeros among them too.
pub(super) const MAX_INIT_BYTES: u64 = 1 << 30;

/// Size in bytes of a declarator, the open dimension counted from its initial value.
pub(super) fn size(variable: &ast::Variable, declarator: &ast::Declarator) -> Result<u64, Diagnostic> {
    let element = u64::from(variable.ty.bytes()) * u64::from(variable.vector.unwrap_or(1));
    let mut count = 1u64;
    for (i, dim) in declarator.dims.iter().enumerate() {
        let n = match (dim, i) {
            (Some(n), _) => *n,
            (None, 0) => match &declarator.init {
                Some(Init::List(list)) => list.len() as u64,
                _ => 0,
            },
            (None, _) => {
                let error =
                    Diagnostic::error(Code::Directive, declarator.name.span, "only the first dimension may be open");
                return Err(error);
            }
        };
        count = count.saturating_mul(n);
    }
    let bytes = element.saturating_mul(count);
    if bytes > MAX_BYTES {
        let error = Diagnostic::error(Code::Directive, declarator.name.span, "variable is larger than 1 TiB");
        return Err(error);
    }
    Ok(bytes)
}

/// The initial bytes of `var`, for which there is so much room. `resolve` finds symbols by name.
pub(super) fn initial(
    var: &Var,
    init: &Init,
    room: u64,
    resolve: &mut dyn FnMut(&ast::Name) -> Result<Symbol, Diagnostic>,
) -> Result<Initial, Diagnostic> {
    if var.size > room {
        return Err(Diagnostic::error(
            Code::Directive,
            var.span,
            "initialised variables are larger than 1 GiB together",
        ));
    }
    let mut out = Initial { bytes: vec![0; fit(var.size)], relocations: Vec::new() };
    let element = u64::from(var.ty.bytes());
    // Extents in elements, outermost first; a vector type adds one more dimension.
    let mut dims: Vec<u64> = var.dims.iter().map(|d| d.unwrap_or(0)).collect();
    dims.extend(var.vector.map(u64::from));
    if var.dims.first() == Some(&None) {
        let inner = product(&dims[1..]).max(1);
        dims[0] = var.size / element / inner;
    }
    let mut filler = Filler { var, out: &mut out, resolve };
    filler.fill(init, &dims, 0)?;
    Ok(out)
}

/// A product that stops at the largest number: extents may be absurd where another one is zero.
fn product(extents: &[u64]) -> u64 {
    extents.iter().fold(1, |a, b| a.saturating_mul(*b))
}

struct Filler<'a> {
    var: &'a Var,
    out: &'a mut Initial,
    resolve: &'a mut dyn FnMut(&ast::Name) -> Result<Symbol, Diagnostic>,
}

impl Filler<'_> {
    /// Fills the sub-array of extents `dims` that starts at element `at`.
    fn fill(&mut self, init: &Init, dims: &[u64], at: u64) -> Result<(), Diagnostic> {
        match init {
            Init::Value(expr) => self.value(expr, at),
            Init::List(list) => {
                let Some((extent, inner)) = dims.split_first() else {
                    return Err(self.error("more braces than dimensions"));
                };
                let nested = list.iter().any(|i| matches!(i, Init::List(_)));
                let stride = if nested { product(inner) } else { 1 };
                let room = if nested { *extent } else { product(dims) };
                if list.len() as u64 > room {
                    return Err(self.error("more initial values than elements"));
                }
                for (i, item) in list.iter().enumerate() {
                    self.fill(item, inner, at.saturating_add(stride.saturating_mul(i as u64)))?;
                }
                Ok(())
            }
        }
    }

    fn value(&mut self, expr: &Expr, at: u64) -> Result<(), Diagnostic> {
        let width = self.var.ty.bytes();
        let offset = at.saturating_mul(u64::from(width));
        let bits = match expr {
            Expr::Int(v) => super::Imm::Int(*v).bits(self.var.ty),
            Expr::F32(b) => super::Imm::F32(*b).bits(self.var.ty),
            Expr::F64(b) => super::Imm::F64(*b).bits(self.var.ty),
            Expr::Address { name, offset: addend, generic } => {
                let target = (self.resolve)(name)?;
                let relocation = Relocation { at: offset, width, target, addend: *addend, generic: *generic };
                self.out.relocations.push(relocation);
                0
            }
        };
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(width.min(8) as usize);
        let Some(place) = self.out.bytes.get_mut(start..end) else {
            return Err(self.error("more initial values than elements"));
        };
        place.copy_from_slice(&bits.to_le_bytes()[..width.min(8) as usize]);
        Ok(())
    }

    fn error(&self, message: &str) -> Diagnostic {
        Diagnostic::error(Code::Directive, self.var.span, message)
    }
}

/// Natural alignment of a type.
pub(super) fn natural_align(ty: Type, vector: Option<u32>) -> u32 {
    (ty.bytes() * vector.unwrap_or(1)).clamp(1, 16)
}

/// An error about an initial value where none may be.
pub(super) fn no_init_here(span: Span, space: &str) -> Diagnostic {
    Diagnostic::error(Code::Directive, span, format!("a .{space} variable cannot have an initial value"))
        .help("only .global and .const variables can be initialised")
}
