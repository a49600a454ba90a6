//! Comparison and selection.

use super::float::Format;
use super::integer::number;
use super::step::{Done, Step, low_mask};
use raddle_ptx::isa::{Opcode, Type, Word};
use std::cmp::Ordering;

const COMPARISONS: &[Word] = &[
    Word::Eq,
    Word::Ne,
    Word::Lt,
    Word::Le,
    Word::Gt,
    Word::Ge,
    Word::Lo,
    Word::Ls,
    Word::Hi,
    Word::Hs,
    Word::Equ,
    Word::Neu,
    Word::Ltu,
    Word::Leu,
    Word::Gtu,
    Word::Geu,
    Word::Num,
    Word::Nan,
];

/// Whether an order satisfies a comparison; `None` is unordered.
fn holds(comparison: Word, order: Option<Ordering>) -> bool {
    use Word as W;
    let Some(order) = order else {
        return matches!(comparison, W::Equ | W::Neu | W::Ltu | W::Leu | W::Gtu | W::Geu | W::Nan);
    };
    match comparison {
        W::Eq | W::Equ => order.is_eq(),
        W::Ne | W::Neu => order.is_ne(),
        W::Lt | W::Lo | W::Ltu => order.is_lt(),
        W::Le | W::Ls | W::Leu => order.is_le(),
        W::Gt | W::Hi | W::Gtu => order.is_gt(),
        W::Ge | W::Hs | W::Geu => order.is_ge(),
        W::Num => true,
        _ => false,
    }
}

/// `testp`.
fn has_property(format: Format, a: u64, property: Word) -> bool {
    let (nan, infinite) = (format.is_nan(a), format.is_infinite(a));
    match property {
        Word::Finite => !nan && !infinite,
        Word::Infinite => infinite,
        Word::Number => !nan,
        Word::Notanumber => nan,
        // Zeros count as normal.
        Word::Normal => !nan && !infinite && !format.is_subnormal(a),
        _ => format.is_subnormal(a),
    }
}

impl Step<'_> {
    pub(super) fn compare(&mut self) -> Done<()> {
        match self.inst.opcode {
            Opcode::Setp => self.setp(),
            Opcode::Set => self.set(),
            Opcode::Selp => {
                let ty = self.inst.ty();
                let (a, b, p) = (self.value(1, ty)?, self.value(2, ty)?, self.predicate(3)?);
                self.write(0, ty, if p { a } else { b });
                Ok(())
            }
            Opcode::Slct => self.slct(),
            _ => {
                let ty = self.inst.ty();
                let a = self.value(1, ty)?;
                let property = self.inst.words.first().copied().unwrap_or(Word::Finite);
                self.write(0, Type::Pred, has_property(Format::of(ty).0, a, property).into());
                Ok(())
            }
        }
    }

    /// Compares operands 1 and 2, of which lane `lane` is taken when they are packed.
    fn comparison(&self, ty: Type, lane: u32) -> Done<bool> {
        let comparison = self.inst.first_of(COMPARISONS).unwrap_or(Word::Eq);
        let (a, b) = (self.value(1, ty)?, self.value(2, ty)?);
        let order = if ty.is_float() {
            let format = Format::of(ty).0;
            let part = |v: u64| {
                let v = v >> (lane * format.bits()) & low_mask(format.bits());
                if self.inst.has(Word::Ftz) { format.flush(v) } else { v }
            };
            format.order(part(a), part(b))
        } else if matches!(comparison, Word::Lo | Word::Ls | Word::Hi | Word::Hs) {
            Some(a.cmp(&b))
        } else {
            Some(number(a, ty).cmp(&number(b, ty)))
        };
        Ok(holds(comparison, order))
    }

    /// Combines a comparison with the predicate in operand 3, if the words say how.
    fn combine(&self, result: bool) -> Done<bool> {
        Ok(match self.inst.first_of(&[Word::And, Word::Or, Word::Xor]) {
            Some(Word::And) => result & self.predicate(3)?,
            Some(Word::Or) => result | self.predicate(3)?,
            Some(_) => result ^ self.predicate(3)?,
            None => result,
        })
    }

    fn setp(&mut self) -> Done<()> {
        let ty = self.inst.ty();
        let result = self.comparison(ty, 0)?;
        let (p, q) = match Format::of(ty) {
            (_, 2) => (result, self.comparison(ty, 1)?),
            _ => (self.combine(result)?, self.combine(!result)?),
        };
        self.write(0, Type::Pred, p.into());
        self.write_second(q);
        Ok(())
    }

    fn set(&mut self) -> Done<()> {
        let to = self.inst.nth_type(0).unwrap_or(Type::U32);
        let from = self.inst.nth_type(1).unwrap_or(Type::U32);
        let result = match to {
            Type::F16x2 => {
                let lane = |i| self.comparison(from, i).map(|yes| if yes { Format::Half.one() } else { 0 });
                lane(0)? | lane(1)? << 16
            }
            _ => {
                let yes = if to == Type::F32 { Format::Single.one() } else { low_mask(32) };
                let result = self.comparison(from, 0)?;
                if self.combine(result)? { yes } else { 0 }
            }
        };
        self.write(0, to, result);
        Ok(())
    }

    fn slct(&mut self) -> Done<()> {
        let ty = self.inst.ty();
        let by = self.inst.nth_type(1).unwrap_or(Type::S32);
        let (a, b, c) = (self.value(1, ty)?, self.value(2, ty)?, self.value(3, by)?);
        let f = Format::Single;
        let first = match by {
            Type::F32 => {
                let c = if self.inst.has(Word::Ftz) { f.flush(c) } else { c };
                !f.is_nan(c) && (f.sign(c) == 0 || f.magnitude(c) == 0)
            }
            _ => number(c, Type::S32) >= 0,
        };
        self.write(0, ty, if first { a } else { b });
        Ok(())
    }
}
