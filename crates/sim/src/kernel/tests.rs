use super::*;
use raddle_exec::{DeviceMemory, Image};
use std::sync::Arc;

fn program(registers: usize) -> Program {
    let moves: String = (0..registers).map(|n| format!("mov.u32 %r{n}, 1;\n")).collect();
    of_body(registers, &moves)
}

fn of_body(registers: usize, body: &str) -> Program {
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
fn what_has_no_time_is_refused_by_name() {
    assert_eq!(check_times(&of_body(2, "mov.u32 %r0, 1;\n")), Ok(()));
    assert_eq!(
        check_times(&of_body(2, "mov.u32 %r0, 1;\nmovmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;\n")),
        Err("`movmatrix.sync.aligned.m8n8.trans.b16` in `k` has no timing yet; run it with --engine fast".to_owned())
    );
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
