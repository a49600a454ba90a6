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
#[derive(Clone, Debug)]
struct Family {
    prefix: String,
    count: u32,
    ty: Type,
    vector: Option<u32>,
}

/// One `{ ... }`.
#[derive(Default)]
pub(super) struct Scope {
    names: HashMap<String, Local>,
    families: Vec<Family>,
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

    pub(super) fn declare_family(&mut self, prefix: &str, count: u32, ty: Type, vector: Option<u32>) {
        if let Some(scope) = self.open.last_mut() {
            scope.families.push(Family { prefix: prefix.to_owned(), count, ty, vector });
        }
    }

    pub(super) fn find(&self, name: &str) -> Found {
        for (depth, scope) in self.open.iter().enumerate().rev() {
            if let Some(local) = scope.names.get(name) {
                return Found::Known(local.clone());
            }
            if let Some(family) = scope.families.iter().find(|f| f.contains(name)) {
                return Found::New(family.ty, family.vector, depth);
            }
        }
        Found::Nothing
    }

    /// Every name in sight, for suggestions.
    pub(super) fn visible(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for scope in &self.open {
            names.extend(scope.sorted_names());
        }
        names
    }
}

impl Scope {
    pub(super) fn declare(&mut self, name: &str, local: Local) -> bool {
        self.names.insert(name.to_owned(), local).is_none()
    }

    fn sorted_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.names.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }
}

impl Family {
    fn contains(&self, name: &str) -> bool {
        let Some(digits) = name.strip_prefix(&self.prefix) else { return false };
        let plain = digits == "0" || (!digits.is_empty() && !digits.starts_with('0'));
        plain && digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<u32>().is_ok_and(|n| n < self.count)
    }
}
