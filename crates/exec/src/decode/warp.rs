//! Barriers and warp-wide operations.

use super::{Decoded, Decoder, malformed};
use crate::core::NEXT_BLOCK;
use crate::op::{Class, Op};
use raddle_ptx::ir::{Imm, Inst, Operand};
use raddle_ptx::isa::{Opcode, Type, Word};

/// What a barrier instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BarrierOp {
    /// Wait for all.
    Sync,
    /// Count as arrived and continue.
    Arrive,
    /// Wait, and learn how many had a true predicate.
    RedPopc,
    /// Wait, and learn whether all had a true predicate.
    RedAnd,
    /// Wait, and learn whether any had a true predicate.
    RedOr,
    /// `raddle.next_tbid`: wait, and learn the block's next logical index.
    NextBlock,
}

impl BarrierOp {
    /// Every operation, in order of its number.
    pub const ALL: [Self; 6] = [Self::Sync, Self::Arrive, Self::RedPopc, Self::RedAnd, Self::RedOr, Self::NextBlock];
}

/// What a warp-wide instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // Named after the PTX operations.
#[repr(u8)]
pub enum WarpOp {
    VoteAll,
    VoteAny,
    VoteUni,
    Ballot,
    ShflUp,
    ShflDown,
    ShflBfly,
    ShflIdx,
    MatchAny,
    MatchAll,
    Activemask,
    ReduxAdd,
    ReduxMinU,
    ReduxMinS,
    ReduxMaxU,
    ReduxMaxS,
    ReduxAnd,
    ReduxOr,
    ReduxXor,
    Elect,
    /// `bar.warp.sync`.
    Sync,
}

impl WarpOp {
    /// Every operation, in order of its number.
    pub const ALL: [Self; 21] = [
        Self::VoteAll,
        Self::VoteAny,
        Self::VoteUni,
        Self::Ballot,
        Self::ShflUp,
        Self::ShflDown,
        Self::ShflBfly,
        Self::ShflIdx,
        Self::MatchAny,
        Self::MatchAll,
        Self::Activemask,
        Self::ReduxAdd,
        Self::ReduxMinU,
        Self::ReduxMinS,
        Self::ReduxMaxU,
        Self::ReduxMaxS,
        Self::ReduxAnd,
        Self::ReduxOr,
        Self::ReduxXor,
        Self::Elect,
        Self::Sync,
    ];
}

/// The source that holds the member mask of a `.sync` operation.
pub const MEMBERS: usize = 4;

/// The source of `raddle.next_tbid` that says how many logical blocks there are.
pub const LOGICAL_BLOCKS: usize = 3;

impl Decoder<'_> {
    /// Sources: barrier, thread count, predicate.
    pub(super) fn barrier(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        if inst.has(Word::Warp) {
            let mut op = self.blank(Class::Warp);
            op.variant = WarpOp::Sync as u8;
            if let Some(members) = inst.operands.first() {
                self.set_source(&mut op, MEMBERS, f, members, Type::U32)?;
            }
            return Ok(op);
        }
        let mut op = self.blank(Class::Barrier);
        let kind = if inst.has(Word::Arrive) {
            BarrierOp::Arrive
        } else if !inst.has(Word::Red) {
            BarrierOp::Sync
        } else if inst.has(Word::Popc) {
            BarrierOp::RedPopc
        } else if inst.has(Word::And) {
            BarrierOp::RedAnd
        } else {
            BarrierOp::RedOr
        };
        op.variant = kind as u8;
        let mut operands = &inst.operands[..];
        if inst.has(Word::Red) {
            let [dest, rest @ .., pred] = operands else { return Err(malformed(inst)) };
            self.set_dest(&mut op, 0, f, dest)?;
            self.set_source(&mut op, 2, f, pred, Type::Pred)?;
            operands = rest;
        }
        for (n, operand) in operands.iter().enumerate().take(2) {
            self.set_source(&mut op, n, f, operand, Type::U32)?;
        }
        Ok(op)
    }

    /// Without time a block waits for all of its threads before it takes the next logical index. That is one of the
    /// orders in which a machine may do it.
    pub(super) fn next_block(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let mut op = self.blank(Class::Barrier);
        op.variant = BarrierOp::NextBlock as u8;
        let Some(dest) = inst.operands.first() else { return Err(malformed(inst)) };
        self.set_dest(&mut op, 0, f, dest)?;
        let number = Operand::Imm(Imm::Int(i64::from(NEXT_BLOCK)));
        self.set_source(&mut op, 0, f, &number, Type::U32)?;
        let Some(blocks) = inst.operands.get(1) else { return Err(malformed(inst)) };
        self.set_source(&mut op, LOGICAL_BLOCKS, f, blocks, Type::U32)?;
        Ok(op)
    }

    pub(super) fn warp(&mut self, f: usize, inst: &Inst) -> Decoded<Op> {
        let mut op = self.blank(Class::Warp);
        op.variant = warp_op(inst).ok_or_else(|| malformed(inst))? as u8;
        let Some((dest, sources)) = inst.operands.split_first() else { return Err(malformed(inst)) };
        self.set_dests(&mut op, f, dest)?;
        let specs = &inst.form().operands[1..];
        let last = sources.len().saturating_sub(1);
        for (n, operand) in sources.iter().enumerate() {
            let is_members = inst.has(Word::Sync) && n == last;
            let ty = match (is_members, inst.opcode) {
                (true, _) => Type::U32,
                (_, Opcode::Vote) => Type::Pred,
                (_, Opcode::Shfl) if n > 0 => Type::U32,
                _ => inst.ty(),
            };
            debug_assert!(n < specs.len(), "operands were checked against the form");
            self.set_source(&mut op, if is_members { MEMBERS } else { n }, f, operand, ty)?;
        }
        Ok(op)
    }
}

fn warp_op(inst: &Inst) -> Option<WarpOp> {
    let signed = inst.ty().is_signed();
    Some(match inst.opcode {
        Opcode::Vote if inst.has(Word::All) => WarpOp::VoteAll,
        Opcode::Vote if inst.has(Word::Any) => WarpOp::VoteAny,
        Opcode::Vote if inst.has(Word::Uni) => WarpOp::VoteUni,
        Opcode::Vote => WarpOp::Ballot,
        Opcode::Shfl if inst.has(Word::Up) => WarpOp::ShflUp,
        Opcode::Shfl if inst.has(Word::Down) => WarpOp::ShflDown,
        Opcode::Shfl if inst.has(Word::Bfly) => WarpOp::ShflBfly,
        Opcode::Shfl => WarpOp::ShflIdx,
        Opcode::Match if inst.has(Word::Any) => WarpOp::MatchAny,
        Opcode::Match => WarpOp::MatchAll,
        Opcode::Activemask => WarpOp::Activemask,
        Opcode::Redux => match inst.first_of(&[Word::Add, Word::Min, Word::Max, Word::And, Word::Or, Word::Xor])? {
            Word::Add => WarpOp::ReduxAdd,
            Word::Min if signed => WarpOp::ReduxMinS,
            Word::Min => WarpOp::ReduxMinU,
            Word::Max if signed => WarpOp::ReduxMaxS,
            Word::Max => WarpOp::ReduxMaxU,
            Word::And => WarpOp::ReduxAnd,
            Word::Or => WarpOp::ReduxOr,
            _ => WarpOp::ReduxXor,
        },
        Opcode::Elect => WarpOp::Elect,
        _ => return None,
    })
}
