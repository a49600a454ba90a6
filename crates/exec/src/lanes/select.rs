//! Which kernel an instruction runs.

use super::bits as b;
use super::compare::{self as c, aux as ca};
use super::convert::{self as v, aux as va};
use super::extended as x;
use super::float::{self as f, aux as fa};
use super::half as h;
use super::integer as i;
use super::logic as l;
use super::{KernelFn, Kernels};
use raddle_ptx::ir::Inst;
use raddle_ptx::isa::{Opcode, Type, Word};

/// A kernel and its constants.
pub(crate) struct Selected {
    pub(crate) kernels: Kernels,
    pub(crate) aux: u64,
    /// The first two sources are exchanged.
    pub(crate) swap: bool,
}

impl Kernels {
    /// A hand-written kernel.
    const fn plain(kernel: KernelFn) -> Self {
        Self { base: kernel, v3: kernel, v4: kernel }
    }
}

/// `pick!(ty; U32 => hot Name, S32 => rare Other)`: the kernel for a type.
macro_rules! pick {
    ($ty:expr; $($($t:ident)|+ => $how:ident $op:path),+ $(,)?) => {
        match $ty {
            $($(Type::$t)|+ => Kernels::$how::<$op>(),)+
            _ => return None,
        }
    };
}

/// Finds the kernel of a register-to-register instruction; `None` for all others.
/// `dest_bits` and `source_bits` are the widths of the first destination and source registers:
/// 16, 32 or 64; conversions need them, since their registers may be wider than their types.
pub(crate) fn select(inst: &Inst, dest_bits: u32, source_bits: u32) -> Option<Selected> {
    if matches!(inst.opcode, Opcode::Setp | Opcode::Set | Opcode::Testp) {
        return comparison(inst);
    }
    if inst.opcode == Opcode::Cvt {
        return conversion(inst, dest_bits, source_bits);
    }
    let ty = inst.ty();
    let kernels = match ty {
        Type::F32 => single(inst),
        Type::F64 => double(inst),
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => half(inst),
        _ => None,
    };
    if let Some(kernels) = kernels {
        return Some(Selected { kernels, aux: float_aux(inst), swap: false });
    }
    let (kernels, aux) = integer(inst).or_else(|| logic(inst)).or_else(|| bits(inst))?;
    Some(Selected { kernels, aux, swap: false })
}

fn float_aux(inst: &Inst) -> u64 {
    let flags = [
        (Word::Ftz, fa::FTZ),
        (Word::Sat, fa::SAT),
        (Word::Relu, fa::RELU),
        (Word::NaN, fa::NAN),
        (Word::Xorsign, fa::XORSIGN),
    ];
    let rounding = inst.words.iter().find_map(|w| match w {
        Word::Rn | Word::Rni => Some(0),
        Word::Rz | Word::Rzi => Some(1),
        Word::Rm | Word::Rmi => Some(2),
        Word::Rp | Word::Rpi => Some(3),
        _ => None,
    });
    let set = flags.iter().filter(|(w, _)| inst.has(*w)).map(|(_, bit)| bit).sum::<u64>();
    rounding.unwrap_or(0) | set
}

fn single(inst: &Inst) -> Option<Kernels> {
    let aux = float_aux(inst);
    let approx = inst.has(Word::Approx);
    Some(match inst.opcode {
        Opcode::Add if aux == 0 => Kernels::hot::<f::AddRn32>(),
        Opcode::Add if aux == fa::FTZ => Kernels::hot::<f::AddRnFtz32>(),
        Opcode::Add => Kernels::rare::<f::Add32>(),
        Opcode::Sub if aux == 0 => Kernels::hot::<f::SubRn32>(),
        Opcode::Sub if aux == fa::FTZ => Kernels::hot::<f::SubRnFtz32>(),
        Opcode::Sub => Kernels::rare::<f::Sub32>(),
        Opcode::Mul if aux == 0 => Kernels::hot::<f::MulRn32>(),
        Opcode::Mul if aux == fa::FTZ => Kernels::hot::<f::MulRnFtz32>(),
        Opcode::Mul => Kernels::rare::<f::Mul32>(),
        Opcode::Fma | Opcode::Mad if aux == 0 => Kernels::hot_or::<f::FmaRn32, f::FmaRn32Portable>(),
        Opcode::Fma | Opcode::Mad if aux == fa::FTZ => Kernels::hot_or::<f::FmaRnFtz32, f::FmaRnFtz32Portable>(),
        Opcode::Fma | Opcode::Mad => Kernels::rare::<f::Fma32>(),
        Opcode::Div if approx => Kernels::rare::<f::DivApprox32>(),
        Opcode::Div if inst.has(Word::Full) => Kernels::rare::<f::DivFull32>(),
        Opcode::Div => Kernels::hot::<f::Div32>(),
        Opcode::Rcp if approx => Kernels::rare::<f::RcpApprox32>(),
        Opcode::Rcp => Kernels::rare::<f::Rcp32>(),
        Opcode::Sqrt if approx => Kernels::rare::<f::SqrtApprox32>(),
        Opcode::Sqrt => Kernels::rare::<f::Sqrt32>(),
        Opcode::Rsqrt => Kernels::rare::<f::RsqrtApprox32>(),
        Opcode::Sin => Kernels::rare::<f::Sin32>(),
        Opcode::Cos => Kernels::rare::<f::Cos32>(),
        Opcode::Lg2 => Kernels::rare::<f::Lg232>(),
        Opcode::Ex2 => Kernels::rare::<f::Ex232>(),
        Opcode::Tanh => Kernels::rare::<f::Tanh32>(),
        Opcode::Neg => Kernels::hot::<f::Neg32>(),
        Opcode::Abs => Kernels::hot::<f::Abs32>(),
        Opcode::Min => Kernels::hot::<f::Min32>(),
        Opcode::Max => Kernels::hot::<f::Max32>(),
        Opcode::Copysign => Kernels::rare::<f::Copysign32>(),
        _ => return None,
    })
}

fn double(inst: &Inst) -> Option<Kernels> {
    let plain = float_aux(inst) == 0;
    let approx = inst.has(Word::Approx);
    Some(match inst.opcode {
        Opcode::Add if plain => Kernels::hot::<f::AddRn64>(),
        Opcode::Add => Kernels::rare::<f::Add64>(),
        Opcode::Sub if plain => Kernels::hot::<f::SubRn64>(),
        Opcode::Sub => Kernels::rare::<f::Sub64>(),
        Opcode::Mul if plain => Kernels::hot::<f::MulRn64>(),
        Opcode::Mul => Kernels::rare::<f::Mul64>(),
        Opcode::Fma | Opcode::Mad if plain => Kernels::hot::<f::FmaRn64>(),
        Opcode::Fma | Opcode::Mad => Kernels::rare::<f::Fma64>(),
        Opcode::Div => Kernels::rare::<f::Div64>(),
        Opcode::Rcp if approx => Kernels::rare::<f::RcpApproxFtz64>(),
        Opcode::Rcp => Kernels::rare::<f::Rcp64>(),
        Opcode::Sqrt => Kernels::rare::<f::Sqrt64>(),
        Opcode::Rsqrt if inst.has(Word::Ftz) => Kernels::rare::<f::RsqrtApproxFtz64>(),
        Opcode::Rsqrt => Kernels::rare::<f::RsqrtApprox64>(),
        Opcode::Neg => Kernels::hot::<f::Neg64>(),
        Opcode::Abs => Kernels::hot::<f::Abs64>(),
        Opcode::Min => Kernels::rare::<f::Min64>(),
        Opcode::Max => Kernels::rare::<f::Max64>(),
        Opcode::Copysign => Kernels::rare::<f::Copysign64>(),
        _ => return None,
    })
}

fn half(inst: &Inst) -> Option<Kernels> {
    macro_rules! formats {
        ($a:path, $b:path, $c:path, $d:path) => {
            pick!(inst.ty(); F16 => rare $a, F16x2 => rare $b, Bf16 => rare $c, Bf16x2 => rare $d)
        };
    }
    Some(match inst.opcode {
        Opcode::Add => formats!(h::Add, h::AddX2, h::AddBf, h::AddBfX2),
        Opcode::Sub => formats!(h::Sub, h::SubX2, h::SubBf, h::SubBfX2),
        Opcode::Mul => formats!(h::Mul, h::MulX2, h::MulBf, h::MulBfX2),
        Opcode::Fma => formats!(h::Fma, h::FmaX2, h::FmaBf, h::FmaBfX2),
        Opcode::Min => formats!(h::Min, h::MinX2, h::MinBf, h::MinBfX2),
        Opcode::Max => formats!(h::Max, h::MaxX2, h::MaxBf, h::MaxBfX2),
        Opcode::Neg => formats!(h::Neg, h::NegX2, h::NegBf, h::NegBfX2),
        Opcode::Abs => formats!(h::Abs, h::AbsX2, h::AbsBf, h::AbsBfX2),
        Opcode::Ex2 => formats!(h::Ex2, h::Ex2X2, h::Ex2Bf, h::Ex2BfX2),
        Opcode::Tanh => formats!(h::Tanh, h::TanhX2, h::TanhBf, h::TanhBfX2),
        _ => return None,
    })
}

fn integer(inst: &Inst) -> Option<(Kernels, u64)> {
    let ty = inst.ty();
    let (hi, wide, sat, cc) = (inst.has(Word::Hi), inst.has(Word::Wide), inst.has(Word::Sat), inst.has(Word::Cc));
    let kernels = match inst.opcode {
        Opcode::Addc => pick!(ty; U32 | S32 => rare x::AddCc32, U64 | S64 => rare x::AddCc64),
        Opcode::Add if cc => pick!(ty; U32 | S32 => rare x::AddCc32, U64 | S64 => rare x::AddCc64),
        Opcode::Subc => pick!(ty; U32 | S32 => rare x::SubCc32, U64 | S64 => rare x::SubCc64),
        Opcode::Sub if cc => pick!(ty; U32 | S32 => rare x::SubCc32, U64 | S64 => rare x::SubCc64),
        Opcode::Mad | Opcode::Madc if (cc || inst.opcode == Opcode::Madc) && hi => {
            pick!(ty; U32 => rare x::MadHiCcU32, S32 => rare x::MadHiCcS32,
                U64 => rare x::MadHiCcU64, S64 => rare x::MadHiCcS64)
        }
        Opcode::Mad | Opcode::Madc if cc || inst.opcode == Opcode::Madc => {
            pick!(ty; U32 | S32 => rare x::MadLoCc32, U64 | S64 => rare x::MadLoCc64)
        }
        Opcode::Add if sat => Kernels::rare::<i::AddSat>(),
        Opcode::Add => {
            pick!(ty; U16 | S16 => rare i::Add16, U32 | S32 => hot i::Add32, U64 | S64 => hot i::Add64)
        }
        Opcode::Sub if sat => Kernels::rare::<i::SubSat>(),
        Opcode::Sub => {
            pick!(ty; U16 | S16 => rare i::Sub16, U32 | S32 => hot i::Sub32, U64 | S64 => hot i::Sub64)
        }
        Opcode::Mul if wide => pick!(ty; U16 => rare i::MulWideU16, S16 => rare i::MulWideS16,
            U32 => hot i::MulWideU32, S32 => hot i::MulWideS32),
        Opcode::Mul if hi => pick!(ty; U16 => rare i::MulHiU16, S16 => rare i::MulHiS16,
            U32 => hot i::MulHiU32, S32 => hot i::MulHiS32, U64 => rare i::MulHiU64, S64 => rare i::MulHiS64),
        Opcode::Mul => {
            pick!(ty; U16 | S16 => rare i::MulLo16, U32 | S32 => hot i::MulLo32, U64 | S64 => hot i::MulLo64)
        }
        Opcode::Mad if wide => pick!(ty; U16 => rare i::MadWideU16, S16 => rare i::MadWideS16,
            U32 => hot i::MadWideU32, S32 => hot i::MadWideS32),
        Opcode::Mad if hi && sat => Kernels::rare::<i::MadHiSat>(),
        Opcode::Mad if hi => pick!(ty; U16 => rare i::MadHiU16, S16 => rare i::MadHiS16,
            U32 => rare i::MadHiU32, S32 => rare i::MadHiS32, U64 => rare i::MadHiU64, S64 => rare i::MadHiS64),
        Opcode::Mad => {
            pick!(ty; U16 | S16 => rare i::MadLo16, U32 | S32 => hot i::MadLo32, U64 | S64 => hot i::MadLo64)
        }
        Opcode::Mul24 if hi => pick!(ty; U32 => rare i::Mul24HiU, S32 => rare i::Mul24HiS),
        Opcode::Mul24 => pick!(ty; U32 => rare i::Mul24LoU, S32 => rare i::Mul24LoS),
        Opcode::Mad24 if hi && sat => Kernels::rare::<i::Mad24HiSat>(),
        Opcode::Mad24 if hi => pick!(ty; U32 => rare i::Mad24HiU, S32 => rare i::Mad24HiS),
        Opcode::Mad24 => pick!(ty; U32 => rare i::Mad24LoU, S32 => rare i::Mad24LoS),
        Opcode::Sad => pick!(ty; U16 => rare i::SadU16, S16 => rare i::SadS16, U32 => rare i::SadU32,
            S32 => rare i::SadS32, U64 => rare i::SadU64, S64 => rare i::SadS64),
        Opcode::Div => pick!(ty; U16 => rare i::DivU16, S16 => rare i::DivS16, U32 => rare i::DivU32,
            S32 => rare i::DivS32, U64 => rare i::DivU64, S64 => rare i::DivS64),
        Opcode::Rem => pick!(ty; U16 => rare i::RemU16, S16 => rare i::RemS16, U32 => rare i::RemU32,
            S32 => rare i::RemS32, U64 => rare i::RemU64, S64 => rare i::RemS64),
        Opcode::Abs => pick!(ty; S16 => rare i::AbsS16, S32 => hot i::AbsS32, S64 => rare i::AbsS64),
        Opcode::Neg => pick!(ty; S16 => rare i::NegS16, S32 => hot i::NegS32, S64 => rare i::NegS64),
        Opcode::Min => pick!(ty; U16 => rare i::MinU16, S16 => rare i::MinS16, U32 => hot i::MinU32,
            S32 => hot i::MinS32, U64 => rare i::MinU64, S64 => rare i::MinS64),
        Opcode::Max => pick!(ty; U16 => rare i::MaxU16, S16 => rare i::MaxS16, U32 => hot i::MaxU32,
            S32 => hot i::MaxS32, U64 => rare i::MaxU64, S64 => rare i::MaxS64),
        Opcode::Dp4a | Opcode::Dp2a => {
            let signed = |n| u64::from(inst.nth_type(n) == Some(Type::S32));
            let aux = signed(0) | signed(1) << 1 | u64::from(hi) << 2;
            let kernels =
                if inst.opcode == Opcode::Dp4a { Kernels::rare::<i::Dp4a>() } else { Kernels::rare::<i::Dp2a>() };
            return Some((kernels, aux));
        }
        _ => return None,
    };
    Some((kernels, 0))
}

fn logic(inst: &Inst) -> Option<(Kernels, u64)> {
    let ty = inst.ty();
    let is_pred = ty == Type::Pred;
    let kernels = match inst.opcode {
        Opcode::And if is_pred => Kernels::plain(l::and_pred),
        Opcode::And => pick!(ty; B16 | B32 => hot l::And32, B64 => hot l::And64),
        Opcode::Or if is_pred => Kernels::plain(l::or_pred),
        Opcode::Or => pick!(ty; B16 | B32 => hot l::Or32, B64 => hot l::Or64),
        Opcode::Xor if is_pred => Kernels::plain(l::xor_pred),
        Opcode::Xor => pick!(ty; B16 | B32 => hot l::Xor32, B64 => hot l::Xor64),
        Opcode::Not if is_pred => Kernels::plain(l::not_pred),
        Opcode::Not => pick!(ty; B16 => rare l::Not16, B32 => hot l::Not32, B64 => hot l::Not64),
        Opcode::Cnot => pick!(ty; B16 => rare l::Cnot16, B32 => rare l::Cnot32, B64 => rare l::Cnot64),
        Opcode::Shl => pick!(ty; B16 => rare l::Shl16, B32 => hot l::Shl32, B64 => hot l::Shl64),
        Opcode::Shr => pick!(ty; B16 | U16 => rare l::ShrU16, S16 => rare l::ShrS16, B32 | U32 => hot l::ShrU32,
            S32 => hot l::ShrS32, B64 | U64 => hot l::ShrU64, S64 => hot l::ShrS64),
        Opcode::Selp => pick!(ty; B16 | U16 | S16 | B32 | U32 | S32 | F32 => hot l::Selp32,
            B64 | U64 | S64 | F64 => hot l::Selp64),
        Opcode::Slct => match (ty.bytes(), inst.nth_type(1), inst.has(Word::Ftz)) {
            (8, Some(Type::S32), _) => Kernels::rare::<l::SlctS64>(),
            (_, Some(Type::S32), _) => Kernels::rare::<l::SlctS32>(),
            (8, _, false) => Kernels::rare::<l::SlctF64>(),
            (_, _, false) => Kernels::rare::<l::SlctF32>(),
            (8, _, true) => Kernels::rare::<l::SlctFtz64>(),
            (_, _, true) => Kernels::rare::<l::SlctFtz32>(),
        },
        Opcode::Mov if is_pred => Kernels::plain(l::mov_pred),
        Opcode::Mov | Opcode::Createpolicy if ty.bytes() == 8 => Kernels::hot::<l::Mov64>(),
        Opcode::Mov | Opcode::Raddle => Kernels::hot::<l::Mov32>(),
        _ => return None,
    };
    Some((kernels, 0))
}

fn bits(inst: &Inst) -> Option<(Kernels, u64)> {
    let ty = inst.ty();
    let wrap = u64::from(inst.has(Word::Wrap));
    Some(match inst.opcode {
        Opcode::Popc => (pick!(ty; B32 => hot b::Popc32, B64 => rare b::Popc64), 0),
        Opcode::Clz => (pick!(ty; B32 => hot b::Clz32, B64 => rare b::Clz64), 0),
        Opcode::Brev => (pick!(ty; B32 => rare b::Brev32, B64 => rare b::Brev64), 0),
        Opcode::Bfind => {
            let kernels = pick!(ty; U32 => rare b::BfindU32, S32 => rare b::BfindS32,
                U64 => rare b::BfindU64, S64 => rare b::BfindS64);
            (kernels, u64::from(inst.has(Word::Shiftamt)))
        }
        Opcode::Fns => (Kernels::rare::<b::Fns>(), 0),
        Opcode::Bfe => {
            (pick!(ty; U32 => rare b::BfeU32, S32 => rare b::BfeS32, U64 => rare b::BfeU64, S64 => rare b::BfeS64), 0)
        }
        Opcode::Bfi => (pick!(ty; B32 => rare b::Bfi32, B64 => rare b::Bfi64), 0),
        Opcode::Szext => (pick!(ty; U32 => rare b::SzextU, S32 => rare b::SzextS), wrap),
        Opcode::Bmsk => (Kernels::rare::<b::Bmsk>(), wrap),
        Opcode::Shf if inst.has(Word::L) => (Kernels::rare::<b::ShfL>(), wrap),
        Opcode::Shf => (Kernels::rare::<b::ShfR>(), wrap),
        Opcode::Prmt => {
            let modes = [Word::F4e, Word::B4e, Word::Rc8, Word::Ecl, Word::Ecr, Word::Rc16];
            let mode = modes.iter().position(|w| inst.has(*w)).map_or(0, |i| i + 1);
            (Kernels::rare::<b::Prmt>(), mode as u64)
        }
        Opcode::Lop3 if inst.has(Word::Or) => (Kernels::rare::<l::Lop3Bool>(), 0),
        Opcode::Lop3 if inst.has(Word::And) => (Kernels::rare::<l::Lop3Bool>(), 0x100),
        Opcode::Lop3 => (Kernels::hot::<l::Lop3>(), 0),
        _ => return None,
    })
}

fn comparison(inst: &Inst) -> Option<Selected> {
    let source = if inst.opcode == Opcode::Set { inst.nth_type(1)? } else { inst.ty() };
    let mut aux = match inst.first_of(&[Word::And, Word::Or, Word::Xor]) {
        Some(Word::And) => ca::AND,
        Some(Word::Or) => ca::OR,
        Some(_) => ca::XOR,
        None => 0,
    };
    if inst.opcode == Opcode::Set {
        let value = if inst.ty() == Type::F32 { 1f32.to_bits() } else { u32::MAX };
        aux |= ca::VALUE | u64::from(value) << 32;
    }
    if inst.opcode == Opcode::Testp {
        let classes = [Word::Finite, Word::Infinite, Word::Number, Word::Notanumber, Word::Normal, Word::Subnormal];
        let index = classes.iter().position(|w| inst.has(*w))?;
        let kernels = pick!(source; F32 => rare c::TestpF32, F64 => rare c::TestpF64);
        return Some(Selected { kernels, aux: (index as u64) << ca::INDEX_SHIFT, swap: false });
    }
    let ftz = inst.has(Word::Ftz);
    if source.is_float() {
        let (relation, index) = float_relation(*inst.words.first()?)?;
        aux |= relation | index << ca::INDEX_SHIFT;
        let kernels = match (source, ftz) {
            (Type::F32, false) => Kernels::hot::<c::CmpF32>(),
            (Type::F32, true) => Kernels::hot::<c::CmpFtzF32>(),
            (Type::F64, _) => Kernels::hot::<c::CmpF64>(),
            (Type::F16, false) => Kernels::rare::<c::CmpF16>(),
            (Type::F16, true) => Kernels::rare::<c::CmpFtzF16>(),
            (Type::Bf16, _) => Kernels::rare::<c::CmpBf16>(),
            (Type::F16x2, _) if inst.opcode == Opcode::Set => {
                let flush = if ftz { ca::NEGATE } else { 0 };
                let aux = index << ca::INDEX_SHIFT | flush;
                return Some(Selected { kernels: Kernels::rare::<c::SetF16x2>(), aux, swap: false });
            }
            (Type::F16x2, false) => Kernels::plain(c::setp_f16x2),
            (Type::F16x2, true) => Kernels::plain(c::setp_ftz_f16x2),
            (Type::Bf16x2, _) => Kernels::plain(c::setp_bf16x2),
            _ => return None,
        };
        return Some(Selected { kernels, aux, swap: false });
    }
    // Everything is less-than or equal, perhaps with the operands exchanged and the outcome negated.
    let (less, swap, negate, unsigned) = match inst.words.first()? {
        Word::Eq => (false, false, false, false),
        Word::Ne => (false, false, true, false),
        Word::Lt => (true, false, false, false),
        Word::Gt => (true, true, false, false),
        Word::Le => (true, true, true, false),
        Word::Ge => (true, false, true, false),
        Word::Lo => (true, false, false, true),
        Word::Hi => (true, true, false, true),
        Word::Ls => (true, true, true, true),
        Word::Hs => (true, false, true, true),
        _ => return None,
    };
    let signed = source.is_signed() && !unsigned;
    let kernels = match (less, source.bytes(), signed) {
        (false, 8, _) => Kernels::hot::<c::Eq64>(),
        (false, _, _) => Kernels::hot::<c::Eq32>(),
        (true, 8, false) => Kernels::hot::<c::LtU64>(),
        (true, 8, true) => Kernels::hot::<c::LtS64>(),
        (true, 2, true) => Kernels::rare::<c::LtS16>(),
        (true, _, false) => Kernels::hot::<c::LtU32>(),
        (true, _, true) => Kernels::hot::<c::LtS32>(),
    };
    Some(Selected { kernels, aux: aux | if negate { ca::NEGATE } else { 0 }, swap })
}

/// The outcomes a floating-point comparison accepts, and its number in
/// [`FloatCmp::ALL`](crate::math::compare::FloatCmp::ALL).
fn float_relation(word: Word) -> Option<(u64, u64)> {
    use ca::{EQUAL, GREATER, LESS, UNORDERED};
    Some(match word {
        Word::Eq => (EQUAL, 0),
        Word::Ne => (LESS | GREATER, 1),
        Word::Lt => (LESS, 2),
        Word::Le => (LESS | EQUAL, 3),
        Word::Gt => (GREATER, 4),
        Word::Ge => (GREATER | EQUAL, 5),
        Word::Equ => (EQUAL | UNORDERED, 6),
        Word::Neu => (LESS | GREATER | UNORDERED, 7),
        Word::Ltu => (LESS | UNORDERED, 8),
        Word::Leu => (LESS | EQUAL | UNORDERED, 9),
        Word::Gtu => (GREATER | UNORDERED, 10),
        Word::Geu => (GREATER | EQUAL | UNORDERED, 11),
        Word::Num => (LESS | EQUAL | GREATER, 12),
        Word::Nan => (UNORDERED, 13),
        _ => return None,
    })
}

/// The number of an integer type in [`IntType::ALL`](crate::math::convert::IntType::ALL).
fn int_index(ty: Type) -> Option<u64> {
    use crate::math::convert::IntType;
    let wanted = match ty {
        Type::U8 => IntType::U8,
        Type::S8 => IntType::S8,
        Type::U16 => IntType::U16,
        Type::S16 => IntType::S16,
        Type::U32 => IntType::U32,
        Type::S32 => IntType::S32,
        Type::U64 => IntType::U64,
        Type::S64 => IntType::S64,
        _ => return None,
    };
    IntType::ALL.iter().position(|t| *t == wanted).map(|i| i as u64)
}

fn conversion(inst: &Inst, dest_bits: u32, source_bits: u32) -> Option<Selected> {
    let (to, from) = (inst.nth_type(0)?, inst.nth_type(1)?);
    let (wide_dest, wide_source) = (dest_bits == 64, source_bits == 64);
    let mut aux = float_aux(inst);
    if inst.first_of(&[Word::Rni, Word::Rzi, Word::Rmi, Word::Rpi]).is_some() {
        aux |= va::INTEGRAL;
    }
    if dest_bits == 16 {
        aux |= va::NARROW;
    }
    aux |= int_index(from).unwrap_or(0) << va::FROM_SHIFT | int_index(to).unwrap_or(0) << va::TO_SHIFT;
    let int = |t: Type| !t.is_float();
    let kernels = match (to, from) {
        (Type::S64 | Type::U64, Type::S32) if wide_dest && !wide_source && !inst.has(Word::Sat) => {
            Kernels::hot::<v::Sext32to64>()
        }
        (Type::S64 | Type::U64, Type::U32) if wide_dest && !wide_source && !inst.has(Word::Sat) => {
            Kernels::hot::<v::Zext32to64>()
        }
        (Type::S32 | Type::U32, Type::S64 | Type::U64) if dest_bits == 32 && wide_source && !inst.has(Word::Sat) => {
            Kernels::hot::<v::Trunc64to32>()
        }
        (t, s) if int(t) && int(s) => match (wide_source, wide_dest) {
            (false, false) => Kernels::hot::<v::Int32to32>(),
            (false, true) => Kernels::rare::<v::Int32to64>(),
            (true, false) => Kernels::rare::<v::Int64to32>(),
            (true, true) => Kernels::rare::<v::Int64to64>(),
        },
        (Type::F32, Type::S32) if float_aux(inst) == 0 && !wide_source => Kernels::hot::<v::S32toF32>(),
        (Type::F32, Type::U32) if float_aux(inst) == 0 && !wide_source => Kernels::hot::<v::U32toF32>(),
        (Type::F32, s) if int(s) && wide_source => Kernels::rare::<v::Int64toF32>(),
        (Type::F32, s) if int(s) => Kernels::rare::<v::Int32toF32>(),
        (Type::F64, s) if int(s) && wide_source => Kernels::rare::<v::Int64toF64>(),
        (Type::F64, s) if int(s) => Kernels::rare::<v::Int32toF64>(),
        (Type::F16, s) if int(s) && wide_source => Kernels::rare::<v::Int64toF16>(),
        (Type::F16, s) if int(s) => Kernels::rare::<v::Int32toF16>(),
        (Type::Bf16, s) if int(s) && wide_source => Kernels::rare::<v::Int64toBf16>(),
        (Type::Bf16, s) if int(s) => Kernels::rare::<v::Int32toBf16>(),
        (t, Type::F32) if int(t) && wide_dest => Kernels::rare::<v::F32toInt64>(),
        (t, Type::F32) if int(t) => Kernels::hot::<v::F32toInt32>(),
        (t, Type::F64) if int(t) && wide_dest => Kernels::rare::<v::F64toInt64>(),
        (t, Type::F64) if int(t) => Kernels::rare::<v::F64toInt32>(),
        (t, Type::F16) if int(t) && wide_dest => Kernels::rare::<v::F16toInt64>(),
        (t, Type::F16) if int(t) => Kernels::rare::<v::F16toInt32>(),
        (t, Type::Bf16) if int(t) && wide_dest => Kernels::rare::<v::Bf16toInt64>(),
        (t, Type::Bf16) if int(t) => Kernels::rare::<v::Bf16toInt32>(),
        (Type::F32, Type::F32) => Kernels::rare::<v::F32toF32>(),
        (Type::F64, Type::F64) => Kernels::rare::<v::F64toF64>(),
        (Type::F16, Type::F16) => Kernels::rare::<v::F16toF16>(),
        (Type::F64, Type::F32) => Kernels::rare::<v::F32toF64>(),
        (Type::F32, Type::F64) => Kernels::rare::<v::F64toF32>(),
        (Type::F16, Type::F32) => Kernels::rare::<v::F32toF16>(),
        (Type::F16, Type::F64) => Kernels::rare::<v::F64toF16>(),
        (Type::F32, Type::F16) => Kernels::rare::<v::F16toF32>(),
        (Type::F64, Type::F16) => Kernels::rare::<v::F16toF64>(),
        (Type::Bf16, Type::F32) => Kernels::rare::<v::F32toBf16>(),
        (Type::Bf16, Type::F64) => Kernels::rare::<v::F64toBf16>(),
        (Type::Bf16, Type::F16) => Kernels::rare::<v::F16toBf16>(),
        (Type::F32, Type::Bf16) => Kernels::rare::<v::Bf16toF32>(),
        (Type::F64, Type::Bf16) => Kernels::rare::<v::Bf16toF64>(),
        (Type::F16, Type::Bf16) => Kernels::rare::<v::Bf16toF16>(),
        (Type::F16x2, Type::F32) => Kernels::rare::<v::F32toF16x2>(),
        (Type::Bf16x2, Type::F32) => Kernels::rare::<v::F32toBf16x2>(),
        _ => return None,
    };
    Some(Selected { kernels, aux, swap: false })
}

/// Kernels that decoding uses directly, for moves that are more than a copy.
pub(crate) mod moves {
    use super::{Kernels, l};

    pub(crate) const MOV32: Kernels = Kernels::hot::<l::Mov32>();
    pub(crate) const MOV64: Kernels = Kernels::hot::<l::Mov64>();
    pub(crate) const ADD_IMM32: Kernels = Kernels::rare::<l::AddImm32>();
    pub(crate) const ADD_IMM64: Kernels = Kernels::rare::<l::AddImm64>();
    pub(crate) const OFFSET64: Kernels = Kernels::rare::<l::Offset64>();
    pub(crate) const ISSPACEP32: Kernels = Kernels::rare::<l::Isspacep32>();
    pub(crate) const ISSPACEP64: Kernels = Kernels::rare::<l::Isspacep64>();
    pub(crate) const PACK_16X2: Kernels = Kernels::rare::<l::Pack16x2>();
    pub(crate) const PACK_32X2: Kernels = Kernels::hot::<l::Pack32x2>();
    pub(crate) const PACK_8X4: Kernels = Kernels::rare::<l::Pack8x4>();
    pub(crate) const PACK_16X4: Kernels = Kernels::rare::<l::Pack16x4>();
    pub(crate) const UNPACK_16X2: Kernels = Kernels::rare::<l::Unpack16x2>();
    pub(crate) const UNPACK_32X2: Kernels = Kernels::hot::<l::Unpack32x2>();
    pub(crate) const UNPACK_8X4: Kernels = Kernels::rare::<l::Unpack8x4>();
    pub(crate) const UNPACK_16X4: Kernels = Kernels::rare::<l::Unpack16x4>();
}
