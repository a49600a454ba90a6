//! What the tests of several analyses share.

use crate::diag::Severity;
use crate::ir::{FuncId, Module};

/// A pseudo-random generator (xorshift64*), so that a failure can be repeated.
pub struct Random(pub u64);

impl Random {
    /// A number below `bound`, which must not be 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        (high % u64::from(bound)) as u32
    }
}

/// A kernel `k` with the parameters `n` (u32) and `a` (u64) and some registers, with this body.
pub fn kernel(body: &str) -> (Module, FuncId) {
    let text = format!(
        ".version 6.3\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u32 n, .param .u64 a) {{\n\
         .reg .pred %p<100>;\n.reg .b16 %h<100>;\n.reg .b32 %r<100>;\n.reg .f32 %f<100>;\n.reg .b64 %rd<100>;\n\
         .shared .u32 s[32];\n{body}\n}}\n"
    );
    let module = module(&text);
    let id = module.function("k").expect("the kernel");
    (module, id)
}

/// A module that must have no errors.
pub fn module(text: &str) -> Module {
    let (module, diagnostics) = crate::load(text);
    let errors: Vec<_> = diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    module
}
