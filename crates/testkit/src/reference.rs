//! The kernels of `tests/reference/gtx480` with their inputs and what they must compute.
//!
//! Inputs follow the README there: one linear congruential generator for all. Outputs are computed
//! here on the host, so the kernels can be run at any size.

use raddle_exec::{DeviceMemory, Image, KernelLayout, Launch, Program};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The names of the six kernels.
pub const KERNELS: [&str; 6] = ["vecadd", "matmul", "diverge", "bfs", "stencil", "reduce"];

/// A kernel with its inputs and its expected output.
pub struct Case {
    /// Name of the kernel, or of the micro run.
    pub name: String,
    /// PTX text.
    pub source: String,
    /// Kernel to launch.
    pub kernel: String,
    /// Thread blocks.
    pub grid: [u32; 3],
    /// Threads per block.
    pub block: [u32; 3],
    /// Buffers in the order of the parameters.
    pub buffers: Vec<Vec<u32>>,
    /// Scalar parameters behind them.
    pub scalars: Vec<u32>,
    /// What the last buffer must hold.
    pub expected: Expected,
    /// Thread-instructions the reference simulator counted at this size.
    pub thread_insts: Option<u64>,
}

/// What the last buffer must hold afterwards.
pub enum Expected {
    /// These words.
    Words(Vec<u32>),
    /// This first word and this sum of all words, where they are defined.
    Digest {
        /// First word.
        first: Option<u32>,
        /// Sum of all words.
        sum: Option<u64>,
    },
}

/// A case placed in memory.
pub struct Prepared {
    /// Device memory with the inputs.
    pub memory: DeviceMemory,
    /// The module.
    pub image: Image,
    /// The kernel's layout.
    pub layout: KernelLayout,
    /// The launch.
    pub launch: Launch,
    /// Address and words of the output.
    pub output: (u64, usize),
}

/// The folder of the results the model was calibrated with.
#[must_use]
pub fn folder() -> PathBuf {
    folder_of("gtx480")
}

/// The folder of a set of results.
#[must_use]
pub fn folder_of(set: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference").join(set)
}

fn read(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The rows of a table of results.
///
/// # Panics
/// When the file is missing or malformed: it is part of the repository.
#[must_use]
pub fn rows(file: &str) -> Vec<Value> {
    rows_of("gtx480", file)
}

/// The rows of a table of a set of results.
///
/// # Panics
/// When the file is missing or malformed: it is part of the repository.
#[must_use]
pub fn rows_of(set: &str, file: &str) -> Vec<Value> {
    let path = folder_of(set).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// A kernel at the size the reference was measured at.
#[must_use]
pub fn full(name: &str) -> Case {
    let size = match name {
        "vecadd" => 1 << 20,
        "matmul" => 256,
        "diverge" => 65_536,
        "bfs" => 32_768,
        "stencil" => 512,
        _ => 1 << 19,
    };
    let mut case = sized(name, size);
    let found = rows("kernels.json").into_iter().find(|r| r["kernel"] == name);
    case.thread_insts = found.and_then(|r| r["thread_insts"].as_u64());
    case
}

/// A kernel at a size for quick tests.
#[must_use]
pub fn small(name: &str) -> Case {
    let size = match name {
        "vecadd" => 5_000,
        "matmul" => 48,
        "diverge" => 3_000,
        "bfs" => 2_000,
        "stencil" => 64,
        _ => 8_192,
    };
    sized(name, size)
}

/// A kernel at any size; `matmul` and `stencil` take multiples of 16, `reduce` multiples of 512.
#[must_use]
pub fn sized(name: &str, size: usize) -> Case {
    match name {
        "vecadd" => vecadd(size),
        "matmul" => matmul(size),
        "diverge" => diverge(size),
        "bfs" => bfs(size),
        "stencil" => stencil(size),
        _ => reduce(size),
    }
}

/// The generator all inputs come from.
struct Lcg(u32);

impl Lcg {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.0 >> 8
    }

    fn floats(&mut self, count: usize, mask: u32) -> Vec<f32> {
        (0..count).map(|_| (self.next() & mask) as f32).collect()
    }
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

fn case(
    name: &str,
    grid: [u32; 2],
    block: [u32; 2],
    buffers: Vec<Vec<u32>>,
    scalars: &[u32],
    expected: Vec<u32>,
) -> Case {
    Case {
        name: name.to_owned(),
        source: read(&format!("kernels/{name}.ptx")),
        kernel: name.to_owned(),
        grid: [grid[0], grid[1], 1],
        block: [block[0], block[1], 1],
        buffers,
        scalars: scalars.to_vec(),
        expected: Expected::Words(expected),
        thread_insts: None,
    }
}

/// `c[i] = a[i] + b[i]` for `n` elements.
#[must_use]
pub fn vecadd(n: usize) -> Case {
    let mut lcg = Lcg(1);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..n {
        a.push((lcg.next() & 0xfff) as f32);
        b.push((lcg.next() & 0xfff) as f32);
    }
    let sums: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let buffers = vec![bits(&a), bits(&b), vec![0; n]];
    case("vecadd", [n.div_ceil(256) as u32, 1], [256, 1], buffers, &[n as u32], bits(&sums))
}

/// The product of two `n` by `n` matrices; `n` is a multiple of 16.
#[must_use]
pub fn matmul(n: usize) -> Case {
    let mut lcg = Lcg(1);
    let (a, b) = (lcg.floats(n * n, 15), lcg.floats(n * n, 15));
    let mut product = vec![0f32; n * n];
    for i in 0..n {
        for k in 0..n {
            for j in 0..n {
                // Small integers: every order of summation gives the same.
                product[i * n + j] += a[i * n + k] * b[k * n + j];
            }
        }
    }
    let buffers = vec![bits(&a), bits(&b), vec![0; n * n]];
    case("matmul", [n as u32 / 16; 2], [16, 16], buffers, &[n as u32], bits(&product))
}

/// Data-dependent loops of up to 63 trips in `n` threads.
#[must_use]
pub fn diverge(n: usize) -> Case {
    let mut lcg = Lcg(1);
    let trips: Vec<u32> = (0..n).map(|_| lcg.next() & 63).collect();
    let walk = |i: usize| {
        let mut x = (i as u32).wrapping_mul(2_654_435_761).wrapping_add(12345);
        for k in 0..trips[i] {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if x & 0x10000 != 0 {
                x ^= x >> 7;
                x = x.wrapping_mul(3);
            } else {
                x = x.wrapping_add(0x9e37_79b9u32.wrapping_mul(k));
                x ^= x << 3;
            }
        }
        x
    };
    let expected = (0..n).map(walk).collect();
    case("diverge", [n.div_ceil(256) as u32, 1], [256, 1], vec![trips, vec![0; n]], &[n as u32], expected)
}

/// A relaxation step of breadth-first search over `nv` vertices.
#[must_use]
pub fn bfs(nv: usize) -> Case {
    let mut lcg = Lcg(1);
    let mut rows = vec![0];
    for v in 0..nv {
        let next = rows[v] + 1 + (lcg.next() & 15);
        rows.push(next);
    }
    let columns: Vec<u32> = (0..rows[nv]).map(|_| lcg.next() % nv as u32).collect();
    let depth = |lcg: &mut Lcg| if lcg.next() & 7 == 0 { lcg.next() & 3 } else { 1_000_000 };
    let depths: Vec<u32> = (0..nv).map(|_| depth(&mut lcg)).collect();
    let relaxed = |v: usize| {
        let edges = rows[v] as usize..rows[v + 1] as usize;
        edges.map(|e| depths[columns[e] as usize] + 1).fold(depths[v], u32::min)
    };
    let expected = (0..nv).map(relaxed).collect();
    let buffers = vec![rows, columns, depths, vec![0; nv]];
    case("bfs", [nv.div_ceil(256) as u32, 1], [256, 1], buffers, &[nv as u32], expected)
}

/// A five-point stencil on a square of side `side`, a multiple of 16.
#[must_use]
pub fn stencil(side: usize) -> Case {
    let image = Lcg(1).floats(side * side, 0xff);
    let at = |x: usize, y: usize| if x < side && y < side { image[y * side + x] } else { 0.0 };
    let point = |i: usize| {
        let (x, y) = (i % side, i / side);
        let around = at(x.wrapping_sub(1), y) + at(x + 1, y) + at(x, y.wrapping_sub(1)) + at(x, y + 1);
        (0.5 * at(x, y) + 0.125 * around).to_bits()
    };
    let expected = (0..side * side).map(point).collect();
    let buffers = vec![bits(&image), vec![0; side * side]];
    case("stencil", [side as u32 / 16; 2], [16, 16], buffers, &[side as u32; 2], expected)
}

/// Sums of 512 integers each, `n` in all.
#[must_use]
pub fn reduce(n: usize) -> Case {
    let mut lcg = Lcg(1);
    let input: Vec<u32> = (0..n).map(|_| lcg.next() & 0xffff).collect();
    let sums: Vec<u32> = input.chunks(512).map(|c| c.iter().sum()).collect();
    let blocks = sums.len();
    case("reduce", [blocks as u32, 1], [256, 1], vec![input, vec![0; blocks]], &[n as u32], sums)
}

/// Every micro run that was measured, one for each launch.
///
/// # Panics
/// When the table of results is malformed: it is part of the repository.
#[must_use]
pub fn micro() -> Vec<Case> {
    rows("micro.json").iter().filter(|r| r["scheduler"] == "gto").map(micro_case).collect()
}

/// The case of one row of `micro.json`.
///
/// # Panics
/// When the row is malformed: it is part of the repository.
#[must_use]
pub fn micro_case(row: &Value) -> Case {
    let number = |key: &str| row[key].as_u64().unwrap_or_else(|| panic!("micro.json: {key}"));
    let kernel = row["kernel"].as_str().expect("micro.json: kernel").to_owned();
    let (bytes, stride) = (number("buf_bytes"), number("ring_stride_bytes"));
    let mut ring = vec![0; bytes as usize / 4];
    for o in (0..bytes).step_by(stride as usize) {
        ring[o as usize / 4] = ((o + stride) % bytes) as u32;
    }
    let threads = number("grid") * number("block");
    // What a thread reads from a counter all threads share depends on their order. And the
    // simulator these figures come from rounds the product of an fma, which is not what the
    // instruction does; the sum shows it.
    let first = row["out0"].as_u64().filter(|_| kernel != "atomic_same").map(|n| n as u32);
    let sum = row["out_sum"].as_u64().filter(|_| kernel != "fma_chain");
    Case {
        name: row["name"].as_str().unwrap_or_default().to_owned(),
        source: read(&format!("micro/{kernel}.ptx")),
        kernel,
        grid: [number("grid") as u32, 1, 1],
        block: [number("block") as u32, 1, 1],
        buffers: vec![ring, vec![0; threads as usize]],
        scalars: vec![number("n") as u32],
        expected: Expected::Digest { first, sum },
        thread_insts: Some(number("thread_insts")),
    }
}

impl Case {
    /// Loads the module and places the inputs.
    ///
    /// # Panics
    /// When the kernel does not load: that is what is tested.
    #[must_use]
    pub fn prepare(&self) -> Prepared {
        let (module, diagnostics) = raddle_ptx::load(&self.source);
        assert!(diagnostics.is_empty(), "{}: {diagnostics:?}", self.name);
        let mut memory = DeviceMemory::new();
        let image = Image::load(Arc::new(module), &mut memory).expect("room for its variables");
        let layout = image.kernel(&self.kernel).unwrap_or_else(|e| panic!("{}: {e}", self.name));
        let mut params = Vec::new();
        let mut output = (0, 0);
        for words in &self.buffers {
            let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
            let address = memory.alloc("buffer", bytes.len() as u64).expect("room for a buffer");
            memory.write(address, &bytes).expect("the allocation was just made");
            params.extend(address.to_le_bytes());
            output = (address, words.len());
        }
        params.extend(self.scalars.iter().flat_map(|s| s.to_le_bytes()));
        let launch = Launch { grid: self.grid, block: self.block, params, ..Launch::default() };
        Prepared { memory, image, layout, launch, output }
    }

    /// Checks the output.
    ///
    /// # Errors
    /// Which word differs.
    pub fn check(&self, prepared: &Prepared) -> Result<(), String> {
        let words = prepared.words();
        let differs = |what: String, found: u64, wanted: u64| {
            Err(format!("{}: {what} is {found}, should be {wanted}", self.name))
        };
        match &self.expected {
            Expected::Words(wanted) => match words.iter().zip(wanted).position(|(a, b)| a != b) {
                Some(i) => differs(format!("word {i}"), words[i].into(), wanted[i].into()),
                None => Ok(()),
            },
            Expected::Digest { first, sum } => {
                let total: u64 = words.iter().map(|w| u64::from(*w)).sum();
                match (first, sum) {
                    (Some(first), _) if *first != words[0] => {
                        differs("the first word".into(), words[0].into(), (*first).into())
                    }
                    (_, Some(sum)) if *sum != total => differs("the sum".into(), total, *sum),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl Prepared {
    /// The decoded program.
    ///
    /// # Panics
    /// When the kernel cannot be decoded: that is what is tested.
    #[must_use]
    pub fn program(&self) -> Program {
        Program::new(&self.image, &self.layout).unwrap_or_else(|e| panic!("{e}"))
    }

    /// The output buffer.
    ///
    /// # Panics
    /// Never: the buffer was allocated.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let (address, count) = self.output;
        let mut bytes = vec![0; 4 * count];
        self.memory.read(address, &mut bytes).expect("the buffer was allocated");
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }
}
