//! The reference interpreter on the kernels of `tests/reference/gtx480`: what they compute, and how many
//! thread-instructions they execute.

use raddle_exec::{DeviceMemory, Image, Launch, Report, reference};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/gtx480")
}

fn json(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    serde_json::from_str::<Vec<Value>>(&text).unwrap()
}

/// A module in memory with its buffers.
struct Run {
    memory: DeviceMemory,
    image: Image,
    kernel: String,
    params: Vec<u8>,
}

impl Run {
    fn new(file: &str, kernel: &str) -> Self {
        let source = std::fs::read_to_string(folder().join(file)).unwrap();
        let (module, diagnostics) = raddle_ptx::ir::load(&source);
        assert!(!diagnostics.iter().any(|d| d.is_error()), "{diagnostics:?}");
        let mut memory = DeviceMemory::new();
        let image = Image::load(Arc::new(module), &mut memory);
        Self { memory, image, kernel: kernel.to_owned(), params: Vec::new() }
    }

    fn buffer(&mut self, words: &[u32]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let address = self.memory.alloc("buffer", bytes.len() as u64);
        self.memory.write(address, &bytes).unwrap();
        self.params.extend(address.to_le_bytes());
        address
    }

    fn scalar(&mut self, value: u32) {
        self.params.extend(value.to_le_bytes());
    }

    fn run(&mut self, grid: [u32; 2], block: [u32; 2]) -> Report {
        let layout = self.image.kernel(&self.kernel).unwrap();
        let launch = Launch {
            grid: [grid[0], grid[1], 1],
            block: [block[0], block[1], 1],
            params: self.params.clone(),
            ..Launch::default()
        };
        let options = reference::Options::default();
        reference::run(&self.image, &layout, &launch, &mut self.memory, &options).unwrap()
    }

    fn words(&self, address: u64, count: usize) -> Vec<u32> {
        let mut bytes = vec![0; 4 * count];
        self.memory.read(address, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
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

fn measured_insts(kernel: &str) -> u64 {
    let rows = json("kernels.json");
    let row = rows.iter().find(|r| r["kernel"] == kernel).unwrap();
    row["thread_insts"].as_u64().unwrap()
}

#[test]
fn vecadd() {
    let n = 1 << 15;
    let mut run = Run::new("kernels/vecadd.ptx", "vecadd");
    let mut lcg = Lcg(1);
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..n {
        a.push((lcg.next() & 0xfff) as f32);
        b.push((lcg.next() & 0xfff) as f32);
    }
    run.buffer(&bits(&a));
    run.buffer(&bits(&b));
    let c = run.buffer(&vec![0; n]);
    run.scalar(n as u32);
    let report = run.run([n as u32 / 256, 1], [256, 1]);
    let sums: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert_eq!(run.words(c, n), bits(&sums));
    // Every thread does the same.
    assert_eq!(report.thread_insts, measured_insts("vecadd") * n as u64 / (1 << 20));
}

#[test]
fn matmul() {
    let n = 256;
    let rows = 16;
    let mut run = Run::new("kernels/matmul.ptx", "matmul");
    let mut lcg = Lcg(1);
    let (a, b) = (lcg.floats(n * n, 15), lcg.floats(n * n, 15));
    run.buffer(&bits(&a));
    run.buffer(&bits(&b));
    let c = run.buffer(&vec![0; n * n]);
    run.scalar(n as u32);
    // One row of blocks of sixteen.
    let report = run.run([n as u32 / 16, 1], [16, 16]);
    let element = |i: usize| (0..n).map(|k| a[i / n * n + k] * b[k * n + i % n]).sum::<f32>();
    let product: Vec<f32> = (0..rows * n).map(element).collect();
    assert_eq!(run.words(c, rows * n), bits(&product));
    assert_eq!(report.thread_insts, measured_insts("matmul") / 16);
}

#[test]
fn diverge() {
    let n = 65_536;
    let mut run = Run::new("kernels/diverge.ptx", "diverge");
    let mut lcg = Lcg(1);
    let trips: Vec<u32> = (0..n).map(|_| lcg.next() & 63).collect();
    run.buffer(&trips);
    let out = run.buffer(&vec![0; n]);
    run.scalar(n as u32);
    let report = run.run([n as u32 / 256, 1], [256, 1]);
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
    assert_eq!(run.words(out, n), (0..n).map(walk).collect::<Vec<_>>());
    assert_eq!(report.thread_insts, measured_insts("diverge"));
}

#[test]
fn bfs() {
    let nv = 32_768u32;
    let mut run = Run::new("kernels/bfs.ptx", "bfs");
    let mut lcg = Lcg(1);
    let mut rows = vec![0];
    for v in 0..nv as usize {
        let next = rows[v] + 1 + (lcg.next() & 15);
        rows.push(next);
    }
    let edges = rows[nv as usize] as usize;
    let columns: Vec<u32> = (0..edges).map(|_| lcg.next() % nv).collect();
    let depth = |lcg: &mut Lcg| if lcg.next() & 7 == 0 { lcg.next() & 3 } else { 1_000_000 };
    let depths: Vec<u32> = (0..nv).map(|_| depth(&mut lcg)).collect();
    run.buffer(&rows);
    run.buffer(&columns);
    run.buffer(&depths);
    let out = run.buffer(&vec![0; nv as usize]);
    run.scalar(nv);
    let report = run.run([nv / 256, 1], [256, 1]);
    let relaxed = |v: usize| {
        let edges = rows[v] as usize..rows[v + 1] as usize;
        edges.map(|e| depths[columns[e] as usize] + 1).fold(depths[v], u32::min)
    };
    assert_eq!(run.words(out, nv as usize), (0..nv as usize).map(relaxed).collect::<Vec<_>>());
    assert_eq!(report.thread_insts, measured_insts("bfs"));
}

#[test]
fn stencil() {
    let side = 512usize;
    let mut run = Run::new("kernels/stencil.ptx", "stencil");
    let image = Lcg(1).floats(side * side, 0xff);
    run.buffer(&bits(&image));
    let out = run.buffer(&vec![0; side * side]);
    run.scalar(side as u32);
    run.scalar(side as u32);
    let report = run.run([side as u32 / 16; 2], [16, 16]);
    let at = |x: usize, y: usize| if x < side && y < side { image[y * side + x] } else { 0.0 };
    let point = |i: usize| {
        let (x, y) = (i % side, i / side);
        let around = at(x.wrapping_sub(1), y) + at(x + 1, y) + at(x, y.wrapping_sub(1)) + at(x, y + 1);
        0.5 * at(x, y) + 0.125 * around
    };
    assert_eq!(run.words(out, side * side), (0..side * side).map(|i| point(i).to_bits()).collect::<Vec<_>>());
    assert_eq!(report.thread_insts, measured_insts("stencil"));
}

#[test]
fn reduce() {
    let blocks = 64;
    let n = blocks * 512;
    let mut run = Run::new("kernels/reduce.ptx", "reduce");
    let mut lcg = Lcg(1);
    let input: Vec<u32> = (0..n).map(|_| lcg.next() & 0xffff).collect();
    run.buffer(&input);
    let out = run.buffer(&vec![0; blocks]);
    run.scalar(n as u32);
    let report = run.run([blocks as u32, 1], [256, 1]);
    let sums: Vec<u32> = input.chunks(512).map(|c| c.iter().sum()).collect();
    assert_eq!(run.words(out, blocks), sums);
    // Every block does the same.
    assert_eq!(report.thread_insts, measured_insts("reduce") * blocks as u64 / 1024);
}

#[test]
fn micro_kernels() {
    let rows = json("micro.json");
    let mut checked = 0;
    for row in &rows {
        let number = |key: &str| row[key].as_u64().unwrap();
        if number("thread_insts") > 3_000_000 || row["scheduler"] != "gto" {
            continue;
        }
        let kernel = row["kernel"].as_str().unwrap();
        let mut run = Run::new(&format!("micro/{kernel}.ptx"), kernel);
        let (bytes, stride) = (number("buf_bytes"), number("ring_stride_bytes"));
        let mut ring = vec![0; bytes as usize / 4];
        for o in (0..bytes).step_by(stride as usize) {
            ring[o as usize / 4] = ((o + stride) % bytes) as u32;
        }
        let threads = number("grid") * number("block");
        run.buffer(&ring);
        let out = run.buffer(&vec![0; threads as usize]);
        run.scalar(number("n") as u32);
        let report = run.run([number("grid") as u32, 1], [number("block") as u32, 1]);
        let words = run.words(out, threads as usize);
        let sum: u64 = words.iter().map(|w| u64::from(*w)).sum();
        let name = &row["name"];
        // What one thread reads from a counter all threads share depends on their order.
        if kernel != "atomic_same" {
            assert_eq!(u64::from(words[0]), number("out0"), "{name}: first word");
        }
        // The simulator these figures come from rounds the product of an fma; the sum shows it.
        if kernel != "fma_chain" {
            assert_eq!(sum, number("out_sum"), "{name}: sum");
        }
        assert_eq!(report.thread_insts, number("thread_insts"), "{name}: thread-instructions");
        checked += 1;
    }
    assert!(checked > 40, "{checked}");
}
