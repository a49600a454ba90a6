use super::*;
use raddle_exec::{DeviceMemory, Image};
use std::sync::Arc;

fn program(registers: usize) -> Program {
    let moves: String = (0..registers).map(|n| format!("mov.u32 %r{n}, 1;\n")).collect();
    of_body(registers, &moves)
}

pub(super) fn of_body(registers: usize, body: &str) -> Program {
    of_module(registers, "", body)
}

fn of_module(registers: usize, before: &str, body: &str) -> Program {
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{before}.visible .entry k()\n{{\n.reg .b32 %r<{registers}>;\n{body}ret;\n}}\n"
    );
    let (module, diagnostics) = raddle_ptx::load(&text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let image = Image::load(Arc::new(module), &mut DeviceMemory::new()).unwrap();
    Program::new(&image, &image.kernel("k").unwrap()).unwrap()
}

#[test]
fn every_register_has_a_number_of_its_own() {
    let most = program(MAX_REGISTERS);
    assert_eq!(check_registers(&most), Ok(()));
    let kernel = TimedKernel::new(&most, &crate::mem::test_machine::gtx480());
    assert!(kernel.ops[..MAX_REGISTERS].iter().map(|op| op.writes()[0]).eq(0..=u16::MAX));
    assert_eq!(
        check_registers(&program(MAX_REGISTERS + 1)),
        Err("the kernel and what it calls name 65537 registers, a scoreboard has 65536".to_owned())
    );
}

#[test]
fn matrices_need_tensor_cores() {
    let mut sm = crate::mem::test_machine::gtx480().sm;
    assert_eq!(check_instructions(&of_body(2, "mov.u32 %r0, 1;\n"), &sm), Ok(()));
    let transposes = of_body(2, "mov.u32 %r0, 1;\nmovmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;\n");
    assert_eq!(
        check_instructions(&transposes, &sm),
        Err("`movmatrix.sync.aligned.m8n8.trans.b16` in `k` needs tensor cores, which this machine does not have (`sm.units.tensor` \
             is 0); choose a machine that has them, such as --preset v100, or run without time: --engine fast"
            .to_owned())
    );
    sm.units.tensor = 1;
    assert_eq!(check_instructions(&transposes, &sm), Ok(()));
    sm.arch = 70;
    assert_eq!(
        check_instructions(&transposes, &sm),
        Err("`movmatrix.sync.aligned.m8n8.trans.b16` in `k` needs sm_75, and this machine is sm_70 (`sm.arch`); choose a newer \
             machine, or run without time: --engine fast"
            .to_owned())
    );
}

#[test]
fn matrix_instructions_go_to_their_units_and_wait_for_all_their_registers() {
    let body = "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [0];\n\
                wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 {%r24,%r25,%r26,%r27}, {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, \
                {%r8,%r9,%r10,%r11,%r12,%r13,%r14,%r15}, {%r16,%r17,%r18,%r19};\n\
                wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [0], {%r24,%r25,%r26,%r27};\n";
    let program = of_body(28, body);
    let mut machine = crate::mem::test_machine::gtx480();
    machine.sm.units.tensor = 1;
    let kernel = TimedKernel::new(&program, &machine);
    let seen: Vec<_> =
        kernel.ops[..3].iter().map(|op| (op.unit, op.mem, op.hazards().len(), op.writes().len())).collect();
    assert_eq!(
        seen,
        [
            (UnitKind::Mem, MemKind::Load, 8, 8),
            (UnitKind::Tensor, MemKind::None, 24, 4),
            (UnitKind::Mem, MemKind::Store, 4, 0),
        ]
    );
    assert_eq!(kernel.ops[1].reads().len(), 20);
}

#[test]
fn calls_of_the_allocator_go_to_memory_and_others_do_not() {
    let free = ".param .b64 a;\nst.param.b64 [a], 0;\ncall free, (a);\n";
    let program = of_module(2, ".extern .func free(.param .b64 a);\n", free);
    let kernel = TimedKernel::new(&program, &crate::mem::test_machine::gtx480());
    let calls: Vec<usize> = (0..program.ops.len()).filter(|pc| program.ops[*pc].class == Class::Call).collect();
    assert!(matches!(calls[..], [at] if (kernel.ops[at].unit, kernel.ops[at].mem) == (UnitKind::Mem, MemKind::Atomic)));
    let own = of_module(2, ".func f() { ret; }\n", "call f;\n");
    let kernel = TimedKernel::new(&own, &crate::mem::test_machine::gtx480());
    assert!(kernel.ops.iter().all(|op| op.unit != UnitKind::Mem));
}
