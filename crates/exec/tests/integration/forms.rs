//! Every form of the instruction table runs in the reference interpreter, on operands from the edges of
//! the formats. What comes out is tested elsewhere; here nothing may panic or be refused.

use raddle_exec::texture::{Texels, Texture};
use raddle_exec::{DeviceMemory, FaultKind, Image, Launch, reference};
use raddle_ptx::isa::{Form, Matrix, MatrixKind, MatrixOp, Opcode, OperandSpec, Shape, Type, TypeRef, Word, forms};
use std::fmt::Write;
use std::sync::Arc;

/// Bit patterns at the edges of integers and of all floating-point formats.
const EDGES: [u64; 16] = [
    0,
    1,
    u64::MAX,
    1 << 63 | 1 << 31 | 1 << 15,
    0x7fff_ffff_7fff_7fff,
    0x7ff0_0000_7f80_7c00,
    0xfff0_0000_ff80_fc00,
    0x7ff8_0000_7fc0_7e00,
    0x000f_ffff_007f_03ff,
    0x3ff0_0000_3f80_3c00,
    0xbff0_0000_bf80_bc00,
    0x0010_0000_0080_0400,
    0x7fef_ffff_7f7f_7bff,
    0x4330_0000_4b00_6400,
    31,
    33,
];

/// The operand of one form, for registers that start at number `i`.
fn operand(spec: &OperandSpec, i: usize, words: &[Word], opcode: Opcode) -> String {
    let nth = |n: usize| words.iter().filter_map(|w| Type::from_word(*w)).nth(n).unwrap_or(Type::B32);
    let ty = match spec.ty {
        Some(TypeRef::Nth(n)) => nth(n.into()),
        Some(TypeRef::Wide) => nth(0).wide().unwrap_or(Type::B64),
        Some(TypeRef::Fixed(ty)) => ty,
        Some(TypeRef::AddressSized) => Type::B64,
        None => Type::B32,
    };
    let register = |k: usize| match ty.bits() {
        1 => format!("%p{k}"),
        16 => format!("%h{k}"),
        8 | 32 => format!("%w{k}"),
        _ => format!("%d{k}"),
    };
    let has = |word| words.contains(&word);
    let value = match spec.shape {
        Shape::Memory if has(Word::Param) || has(Word::ParamFunc) => "[arg]".to_owned(),
        Shape::Memory if has(Word::ParamEntry) => "[out]".to_owned(),
        Shape::Memory if opcode == Opcode::Cp && i > 0 => "[%at]".to_owned(),
        Shape::Memory if has(Word::Shared) || has(Word::SharedCta) => "[s]".to_owned(),
        Shape::Memory if matches!(opcode, Opcode::Ldmatrix | Opcode::Stmatrix) => "[%near]".to_owned(),
        Shape::Memory if has(Word::Local) => "[l]".to_owned(),
        Shape::Memory if has(Word::Const) => "[edges]".to_owned(),
        Shape::Memory => "[%at]".to_owned(),
        Shape::Texture if matches!(opcode, Opcode::Txq | Opcode::Suq) => "[t]".to_owned(),
        // Surfaces trap where there is nothing.
        Shape::Texture if matches!(opcode, Opcode::Suld | Opcode::Sust) => {
            format!("[t, {{{}}}]", ["0"; 4][..coordinates(words)].join(", "))
        }
        Shape::Texture => format!("[t, {{{}}}]", ["%w1", "%w2", "%w3", "%w4"][..coordinates(words)].join(", ")),
        Shape::Gradient => format!("{{{}}}", ["%w1", "%w2", "%w3", "%w4"][..directions(words)].join(", ")),
        Shape::Fragment(matrix) => fragment(matrix, words, opcode),
        Shape::Constant if opcode == Opcode::Cp => "16".to_owned(),
        Shape::Constant => "5".to_owned(),
        Shape::Vector4 => "{%w0, %w3, %w4, %w5}".to_owned(),
        Shape::MaybeVector if has(Word::V2) => format!("{{{}, {}}}", register(i), register(i + 1)),
        Shape::MaybeVector if has(Word::V4) => {
            format!("{{{}, {}, {}, {}}}", register(i), register(i + 1), register(i + 2), register(i + 3))
        }
        _ => register(i),
    };
    if spec.second.is_some() { format!("{value}|%p4") } else { value }
}

/// The registers that hold a matrix.
fn fragment(matrix: Option<Matrix>, words: &[Word], opcode: Opcode) -> String {
    let op = MatrixOp::of(opcode, words).unwrap();
    let matrix = matrix.unwrap_or(match op.kind {
        MatrixKind::Load(matrix) => matrix,
        _ => Matrix::D,
    });
    let (count, ty) = op.registers(matrix);
    let register = |k: usize| if ty.bits() == 64 { format!("%d{k}") } else { format!("%w{k}") };
    format!("{{{}}}", (1..=count).map(register).collect::<Vec<_>>().join(", "))
}

/// The text of one instruction.
fn instruction(form: &Form, words: &[Word]) -> String {
    let mut text = form.opcode.as_str().to_owned();
    for word in words {
        write!(text, ".{}", word.as_str()).unwrap();
    }
    let operands: Vec<String> = form
        .operands
        .iter()
        .filter(|o| !o.optional)
        .enumerate()
        .map(|(i, spec)| match (form.opcode, i) {
            // A barrier there is, with a count that is met.
            (Opcode::Bar | Opcode::Barrier, _) if spec.ty == Some(TypeRef::Fixed(Type::U32)) => {
                (if i == 0 || form.operands[0].written { "0" } else { "64" }).to_owned()
            }
            _ => operand(spec, i, words, form.opcode),
        })
        .collect();
    // All lanes take part where a member mask is asked for.
    let has_members = !matches!(form.opcode, Opcode::Bar | Opcode::Barrier) && form.operands.iter().all(is_plain);
    let sync = words.contains(&Word::Sync) && has_members && form.opcode != Opcode::Movmatrix;
    let operands = match (sync, operands.split_last()) {
        (true, Some((_, rest))) => [rest, &["-1".to_owned()]].concat(),
        _ => operands,
    };
    let operands = if words.contains(&Word::Warp) { vec!["-1".to_owned()] } else { operands };
    format!("{text} {};", operands.join(", "))
}

fn is_plain(spec: &OperandSpec) -> bool {
    !matches!(spec.shape, Shape::Fragment(_))
}

fn module(body: &str) -> String {
    let edges: Vec<String> = EDGES.iter().map(|e| format!("{e:#x}")).collect();
    format!(
        ".version 8.5\n.target sm_90\n.address_size 64\n.const .align 32 .b64 edges[16] = {{{}}};\n\
         .global .texref t;\n.visible .entry k(.param .align 32 .b8 out[32])\n{{\n.reg .b16 %h<9>;\n.reg .b32 %w<9>;\n\
         .reg .b64 %d<9>, %at, %near;\n.reg .pred %p<9>;\n.shared .align 32 .b8 s[2048];\n.local .align 32 .b8 l[32];\n\
         .param .align 32 .b8 arg[32];\nld.param.u64 %at, [out];\ncvta.shared.u64 %near, s;\nmov.u32 %w0, %tid.x;\n{}{body}\nret;\n}}\n",
        edges.join(", "),
        // Registers 1 and 2 run through the pairs of edges, the others follow.
        (1..9)
            .map(|i| format!(
                "{{\n.reg .b32 %x;\n.reg .b64 %y, %z;\nmov.u32 %x, %ctaid.x;\nshl.b32 %x, %x, 6;\nadd.u32 %x, %x, %w0;\n\
                 shr.u32 %x, %x, {};\nand.b32 %x, %x, 15;\nmul.wide.u32 %y, %x, 8;\nmov.u64 %z, edges;\n\
                 add.u64 %y, %y, %z;\nld.const.b64 %d{i}, [%y];\ncvt.u32.u64 %w{i}, %d{i};\ncvt.u16.u64 %h{i}, %d{i};\n\
                 setp.lt.s64 %p{i}, %d{i}, 0;\n}}\n",
                if i == 1 { 0 } else { 4 }
            ))
            .collect::<String>()
    )
}

/// Directions of a texture, filled up.
fn directions(words: &[Word]) -> usize {
    let has = |list: &[Word]| words.iter().any(|w| list.contains(w));
    match () {
        () if has(&[Word::D1, Word::A1d]) => 1,
        () if has(&[Word::D2, Word::A2d]) => 2,
        () => 4,
    }
}

/// The same with the layer.
fn coordinates(words: &[Word]) -> usize {
    if words.contains(&Word::A1d) {
        2
    } else if words.contains(&Word::A2d) {
        4
    } else {
        directions(words)
    }
}

fn run(text: &str) {
    let source = module(text);
    let (module, diagnostics) = raddle_ptx::ir::load(&source);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.is_error()).collect();
    assert!(errors.is_empty(), "{text}: {errors:?}");
    let mut memory = DeviceMemory::new();
    let image = Image::load(Arc::new(module), &mut memory).unwrap();
    let out = memory.alloc("out", 2048).unwrap();
    let mut params = out.to_le_bytes().to_vec();
    params.resize(32, 0);
    let at = memory.alloc("texels", 16 * 96).unwrap();
    let texels = Texels::View { at, pitch: 64, plane: 256 };
    let texture = Texture { size: [4, 4, 6], channels: 4, texels, ..Texture::default() };
    let launch = Launch {
        grid: [4, 1, 1],
        block: [64, 1, 1],
        params,
        textures: vec![("t".to_owned(), texture)].into(),
        ..Launch::default()
    };
    let layout = image.kernel("k").unwrap();
    match reference::run(&image, &layout, &launch, &mut memory, &reference::Options::default()) {
        Ok(_) => {}
        Err(fault) => assert_eq!(fault.kind, FaultKind::Trap, "{text}"),
    }
}

#[test]
fn every_form_runs() {
    let mut count = 0;
    for form in forms() {
        if matches!(form.opcode, Opcode::Bra | Opcode::Brx | Opcode::Call) {
            continue;
        }
        let mut variants: Vec<Vec<Word>> = Vec::new();
        form.for_each_variant(|words| variants.push(words.to_vec()));
        // And once with every optional word; types and conditions as in the first variant.
        let full: Vec<Word> = form.slots.iter().filter_map(|s| s.words.first().copied()).collect();
        let states = [Word::Const, Word::Local, Word::Param, Word::Shared, Word::Global];
        for space in states {
            let swap = |s: &raddle_ptx::isa::Slot| match s.words.contains(&space) {
                true => Some(space),
                false => s.words.first().copied().filter(|w| !s.optional || !matches!(w, Word::Weak)),
            };
            variants.push(form.slots.iter().filter_map(swap).collect());
        }
        variants.push(full);
        variants.retain(|words| form.match_words(words).is_ok());
        // One module per form keeps this quick.
        let lines: Vec<String> = variants.iter().map(|words| instruction(form, words)).collect();
        let ends = matches!(form.opcode, Opcode::Ret | Opcode::Exit | Opcode::Trap | Opcode::Brkpt);
        count += lines.len();
        if ends {
            run(&lines[0]);
        } else {
            run(&lines.join("\n"));
        }
    }
    assert!(count > 1000, "{count}");
}
