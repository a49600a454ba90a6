//! Kernels that repeat one step: a loop of so many trips, with the step so many times in it.

/// A kernel whose loop holds one step many times.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Before the loop. `%rd1` is the buffer, `%r1` the trips, `%r2` the thread in its block, `%r5` the thread in the grid.
    pub setup: String,
    /// The step. `{k}` is the register of its chain, `{o}` its offset in bytes.
    pub step: String,
    /// Independent chains; the step takes them in turn.
    pub ways: u32,
    /// Bytes from the offset of one step to that of the next.
    pub stride: u64,
    /// Bytes after which offsets begin again.
    pub span: u64,
    /// Whether it has words in shared memory, `box`.
    pub shared: bool,
}

/// The name of every kernel.
pub const NAME: &str = "silicon";

/// Words of `box`: one for each thread of the largest block.
const BOX: u32 = 1024;

/// The first register of a chain.
const FIRST: u32 = 10;

impl Kernel {
    /// A chain of one step.
    pub fn chain(setup: &str, step: &str) -> Self {
        Self { setup: setup.to_owned(), step: step.to_owned(), ways: 1, ..Self::default() }
    }

    /// The PTX with the step `unroll` times in its loop.
    pub fn text(&self, unroll: u32) -> String {
        let offset = |i: u32| u64::from(i) * self.stride % self.span.max(1);
        let steps: String = (0..unroll)
            .map(|i| {
                let register = FIRST + i % self.ways;
                self.step.replace("{k}", &register.to_string()).replace("{o}", &offset(i).to_string()) + "\n"
            })
            .collect();
        let shared = if self.shared { format!(".shared .align 8 .b32 box[{BOX}];\n") } else { String::new() };
        format!(
            ".version 6.4\n.target sm_70\n.address_size 64\n\
             .visible .entry {NAME}(.param .u64 p_buffer, .param .u32 p_trips)\n{{\n\
             .reg .pred %p<2>;\n.reg .b16 %h<20>;\n.reg .b32 %r<50>;\n.reg .f32 %f<50>;\n.reg .b64 %rd<20>;\n\
             .reg .f64 %d<20>;\n{shared}\
             ld.param.u64 %rd1, [p_buffer];\nld.param.u32 %r1, [p_trips];\n\
             mov.u32 %r2, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmad.lo.u32 %r5, %r3, %r4, %r2;\n\
             {setup}\nmov.u32 %r6, 0;\nLOOP:\n{steps}\
             add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, %r1;\n@%p1 bra LOOP;\nexit;\n}}\n",
            setup = self.setup,
        )
    }
}

/// What sets up chains in registers of a class, with constants in registers 7 and 8.
pub fn values(class: char, ways: u32) -> String {
    let chains = FIRST..FIRST + ways;
    let constants = match class {
        'f' => "mov.f32 %f7, 0f3F800001;\nmov.f32 %f8, 0f3F000000;\n",
        'd' => "mov.f64 %d7, 0d3FF0000000000001;\nmov.f64 %d8, 0d3FE0000000000000;\n",
        'h' => "mov.b16 %h7, 0x3C00;\nmov.b16 %h8, 0x3800;\n",
        _ => "mov.u32 %r7, 3;\nmov.u32 %r8, 5;\n",
    };
    let chain = |k: u32| match class {
        'f' => format!("cvt.rn.f32.u32 %f{k}, %r2;\n"),
        'd' => format!("cvt.rn.f64.u32 %d{k}, %r2;\n"),
        'h' => format!("cvt.u16.u32 %h{k}, %r2;\n"),
        _ => format!("add.u32 %r{k}, %r2, {k};\n"),
    };
    chains.map(chain).fold(constants.to_owned(), |text, line| text + &line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_and_offsets_take_turns() {
        let kernel = Kernel {
            step: "ld.global.u32 %r{k}, [%rd1+{o}];".to_owned(),
            ways: 2,
            stride: 4,
            span: 12,
            ..Kernel::default()
        };
        let text = kernel.text(4);
        let steps: Vec<&str> = text.lines().filter(|l| l.starts_with("ld.global")).collect();
        let wanted = [10, 11, 10, 11].iter().zip([0, 4, 8, 0]);
        let wanted: Vec<String> = wanted.map(|(k, o)| format!("ld.global.u32 %r{k}, [%rd1+{o}];")).collect();
        assert_eq!(steps, wanted);
        assert!(raddle_ptx::load(&text).1.is_empty());
    }
}
