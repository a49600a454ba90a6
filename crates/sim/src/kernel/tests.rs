use super::*;
use raddle_exec::{DeviceMemory, Image};
use std::sync::Arc;

fn program(registers: usize) -> Program {
    let moves: String = (0..registers).map(|n| format!("mov.u32 %r{n}, 1;\n")).collect();
    let text = format!(
        ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k()\n{{\n.reg .b32 %r<{registers}>;\n{moves}ret;\n}}\n"
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
