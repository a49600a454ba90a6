//! Names inside a function body.

use super::super::{LabelId, ProtoId, RegId, TableId, VarId};
use crate::isa::Type;
use std::collections::HashMap;

/// What a name in a function body means.
#[derive(Clone, Debug)]
pub(super) enum Local {
    /// A scalar register.
    Reg(RegId),
    /// The components of a vector register.
    VectorReg(Vec<RegId>),
    /// A variable.
    Var(VarId),
    /// A code label.
    Label(LabelId),
    /// A branch table.
    Table(TableId),
    /// A call prototype.
    Proto(ProtoId),
}

/// Registers declared as a range: `%r<6>`. Its members get an index when first used.
#[derive(Clone, Copy, Debug)]
struct Family {
    count: u32,
    ty: Type,
    vector: Option<u32>,
}

/// One `{ ... }`.
#[derive(Default)]
pub(super) struct Scope {
    names: HashMap<String, Local>,
    /// By what stands before the numbers.
    families: HashMap<String, Family>,
}

/// What a look-up found.
pub(super) enum Found {
    /// A known name.
    Known(Local),
    /// A member of a register range, used for the first time: of this type, in scope number n.
    New(Type, Option<u32>, usize),
    /// Nothing.
    Nothing,
}

/// The scopes open at one place, innermost last.
#[derive(Default)]
pub(super) struct Scopes {
    open: Vec<Scope>,
}

impl Scopes {
    pub(super) fn enter(&mut self, scope: Scope) {
        self.open.push(scope);
    }

    pub(super) fn leave(&mut self) {
        self.open.pop();
    }

    /// Enters a name in the innermost scope; false when it is taken there.
    pub(super) fn declare(&mut self, name: &str, local: Local) -> bool {
        let depth = self.open.len();
        self.declare_in(depth - 1, name, local)
    }

    pub(super) fn declare_in(&mut self, scope: usize, name: &str, local: Local) -> bool {
        self.open[scope].declare(name, local)
    }

    /// Enters a range of registers in the innermost scope; false when there is one of that name.
    pub(super) fn declare_family(&mut self, prefix: &str, count: u32, ty: Type, vector: Option<u32>) -> bool {
        let family = Family { count, ty, vector };
        self.open.last_mut().is_some_and(|scope| scope.families.insert(prefix.to_owned(), family).is_none())
    }

    pub(super) fn find(&self, name: &str) -> Found {
        for (depth, scope) in self.open.iter().enumerate().rev() {
            if let Some(local) = scope.names.get(name) {
                return Found::Known(local.clone());
            }
            if let Some(family) = scope.family(name) {
                return Found::New(family.ty, family.vector, depth);
            }
        }
        Found::Nothing
    }

    /// What the range declares that is too short to hold the name.
    pub(super) fn range_before(&self, name: &str) -> Option<String> {
        self.open.iter().rev().find_map(|scope| scope.range_before(name))
    }

    /// Every name in sight, in no order, for suggestions.
    pub(super) fn visible(&self) -> impl Iterator<Item = &str> {
        self.open.iter().flat_map(|scope| scope.names.keys().map(String::as_str))
    }
}

impl Scope {
    pub(super) fn declare(&mut self, name: &str, local: Local) -> bool {
        self.names.insert(name.to_owned(), local).is_none()
    }

    /// What the range declares that the name looks like a member of: `%r<8>` for `%r9`.
    fn range_before(&self, name: &str) -> Option<String> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let family = self.families.get(prefix).filter(|f| prefix.len() < name.len() && f.count > 0)?;
        let (count, last) = (family.count, family.count - 1);
        Some(format!("`{prefix}<{count}>` declares `{prefix}0` to `{prefix}{last}`"))
    }

    /// The range a name belongs to. `%r12` may be number 12 of `%r` or number 2 of `%r1`: the longest number counts.
    fn family(&self, name: &str) -> Option<Family> {
        if self.families.is_empty() {
            return None;
        }
        let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
        // No number of 32 bits has more than ten digits.
        let from = word.len().max(name.len().saturating_sub(10));
        (from..name.len()).find_map(|at| {
            let (prefix, digits) = name.split_at(at);
            let plain = digits == "0" || !digits.starts_with('0');
            let number: u32 = digits.parse().ok().filter(|_| plain)?;
            self.families.get(prefix).copied().filter(|f| number < f.count)
        })
    }
}
