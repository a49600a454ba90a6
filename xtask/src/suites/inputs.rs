//! Inputs of Rodinia's programs. Its own are not in its repository; these have the same format and are smaller, made from numbers
//! that are the same every time.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::Result;

/// Numbers that look random, the same every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Writes the inputs beside the suites; those that are there stay.
pub fn write(folder: &Path) -> Result {
    let data = folder.join("gpu-rodinia/data");
    if !data.is_dir() {
        return Ok(());
    }
    // One Makefile includes a file of the reader's home; some want the samples as they lay in toolkits of old.
    let link = |name: &str, to: &str| -> Result {
        let path = folder.join("home").join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        #[cfg(unix)]
        if !path.exists() {
            std::os::unix::fs::symlink(folder.join(to).canonicalize()?, path)?;
        }
        Ok(())
    };
    link("rodinia_3.0", "gpu-rodinia")?;
    if folder.join("cuda-samples").is_dir() {
        link("sdk/common/inc", "cuda-samples/Common")?;
        link("sdk/C/common/inc", "cuda-samples/Common")?;
    }
    let put = |name: &str, bytes: Vec<u8>| -> Result {
        let path = data.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&data))?;
        if !path.exists() {
            fs::write(path, bytes)?;
        }
        Ok(())
    };
    put("b+tree/mil.txt", tree())?;
    put("b+tree/command.txt", b"j 600 300\nk 1000\n\0".to_vec())?;
    put("bfs/graph4096.txt", graph(4096))?;
    put("cfd/fvcorr.domn.097K", mesh(16, 12))?;
    for (name, low) in [("temp", 320), ("power", 0)] {
        put(&format!("hotspot/{name}_64"), column(64 * 64, low))?;
        put(&format!("hotspot3D/{name}_64x8"), column(64 * 64 * 8, low))?;
    }
    put("huffman/test1024_H2.206587175259.in", letters(256 << 10))?;
    put("kmeans/100", points(100, 34))?;
    for file in 0..4 {
        put(&format!("nn/cane4_{file}.db"), storms(256, file))?;
    }
    put("myocyte/y.txt", column(91, 0))?;
    put("myocyte/params.txt", column(16, 1))?;
    put("heartwall/test.avi", film(744, 656, 3))?;
    put("leukocyte/testfile.avi", film(640, 480, 3))?;
    let genome = bases(4000);
    put("mummergpu/reference.fna", format!(">reference\n{genome}\n").into_bytes())?;
    put("mummergpu/queries.fna", reads(&genome, 200, 60))?;
    put("dwt2d/192.bmp", letters(192 * 192 * 3))
}

/// Letters of a genome.
fn bases(count: usize) -> String {
    let mut numbers = Numbers(8);
    (0..count).map(|_| ["A", "C", "G", "T"][numbers.next(4) as usize]).collect()
}

/// Pieces of a genome, each with its number.
fn reads(genome: &str, count: u64, length: usize) -> Vec<u8> {
    let mut numbers = Numbers(9);
    let mut text = String::new();
    for number in 0..count {
        let start = numbers.next((genome.len() - length) as u64) as usize;
        let _ = writeln!(text, ">{number}\n{}", &genome[start..start + length]);
    }
    text.into_bytes()
}

/// A count and as many keys.
fn tree() -> Vec<u8> {
    let mut numbers = Numbers(1);
    let keys: Vec<String> = (0..10_000).map(|_| numbers.next(1_000_000).to_string()).collect();
    format!("{}\n{}\n", keys.len(), keys.join("\n")).into_bytes()
}

/// Nodes with where their edges start and how many there are, a source, edges with a cost.
fn graph(nodes: u64) -> Vec<u8> {
    let mut numbers = Numbers(2);
    let (mut heads, mut edges, mut count) = (String::new(), String::new(), 0);
    for _ in 0..nodes {
        let degree = 1 + numbers.next(6);
        let _ = writeln!(heads, "{count} {degree}");
        for _ in 0..degree {
            let _ = writeln!(edges, "{} {}", numbers.next(nodes), 1 + numbers.next(10));
        }
        count += degree;
    }
    format!("{nodes}\n{heads}\n0\n\n{count}\n{edges}").into_bytes()
}

/// Cells of a flat grid: an area, and four neighbours with the normal of the face between. Outside is 0, a wall -1.
fn mesh(columns: i64, rows: i64) -> Vec<u8> {
    let mut text = format!("{}\n", columns * rows);
    for row in 0..rows {
        for column in 0..columns {
            let _ = write!(text, "1.0");
            for (right, down) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
                let (x, y) = (column + right, row + down);
                let is_inside = (0..columns).contains(&x) && (0..rows).contains(&y);
                let neighbour = if is_inside { y * columns + x + 1 } else { -i64::from(down != 0) };
                let _ = write!(text, " {neighbour} {right}.0 {down}.0 0.0");
            }
            text.push('\n');
        }
    }
    text.into_bytes()
}

/// A number on each line.
fn column(count: u64, low: u64) -> Vec<u8> {
    let mut numbers = Numbers(3);
    let lines = (0..count).map(|_| format!("{}.{:03}\n", low + numbers.next(2), numbers.next(1000)));
    lines.collect::<String>().into_bytes()
}

/// Bytes of which small ones are frequent.
fn letters(count: u64) -> Vec<u8> {
    let mut numbers = Numbers(4);
    (0..count).map(|_| numbers.next(256).min(numbers.next(256)).min(numbers.next(256)) as u8).collect()
}

/// A number and features on each line.
fn points(count: u64, features: u64) -> Vec<u8> {
    let mut numbers = Numbers(5);
    let mut text = String::new();
    for point in 0..count {
        let row: Vec<String> = (0..features).map(|_| numbers.next(1000).to_string()).collect();
        let _ = writeln!(text, "{point} {}", row.join(" "));
    }
    text.into_bytes()
}

/// Records of 48 characters with latitude and longitude at their places.
fn storms(count: u64, seed: u64) -> Vec<u8> {
    let mut numbers = Numbers(6 + seed);
    let lines = (0..count).map(|index| {
        let (lat, long) = (numbers.next(600) as f64 / 10.0, numbers.next(3600) as f64 / 10.0);
        format!("{:<28}{lat:5.1}{long:5.1}{:<10}\n", format!("record {index} of {seed}"), "")
    });
    lines.collect::<String>().into_bytes()
}

/// Frames of grey bytes with bright discs that move, as a film without compression.
fn film(width: u32, height: u32, frames: u32) -> Vec<u8> {
    let chunk = |name: &[u8], body: &[u8]| -> Vec<u8> {
        let padding = &[0][..body.len() % 2];
        [name, &(body.len() as u32).to_le_bytes(), body, padding].concat()
    };
    let words = |list: &[u32]| list.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let size = width * height;
    let head = words(&[40_000, size * 25, 0, 0x10, frames, 0, 1, size, width, height, 0, 0, 0, 0]);
    let stream = [&b"vidsDIB "[..], &words(&[0, 0, 0, 1, 25, 0, frames, size, 0, 0, 0, 0])].concat();
    let format = words(&[40, width, height, 1 | (8 << 16), 0, size, 0, 0, 0, 0]);
    let lists = [&b"strl"[..], &chunk(b"strh", &stream), &chunk(b"strf", &format)].concat();
    let heads = [&b"hdrl"[..], &chunk(b"avih", &head), &chunk(b"LIST", &lists)].concat();
    let (mut pictures, mut index) = (b"movi".to_vec(), Vec::new());
    for frame in 0..frames {
        index.extend([&b"00db"[..], &words(&[0x10, pictures.len() as u32, size])].concat());
        pictures.extend(chunk(b"00db", &discs(width, height, frame)));
    }
    let parts = [&b"AVI "[..], &chunk(b"LIST", &heads), &chunk(b"LIST", &pictures), &chunk(b"idx1", &index)].concat();
    chunk(b"RIFF", &parts)
}

fn discs(width: u32, height: u32, frame: u32) -> Vec<u8> {
    let mut numbers = Numbers(9);
    let mut bytes = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let (dx, dy) = (i64::from((x + frame) % 80) - 40, i64::from(y % 80) - 40);
            let distance = dx * dx + dy * dy;
            let bright = if (81..169).contains(&distance) { 200 } else { 90 };
            bytes.push((bright + numbers.next(20)) as u8);
        }
    }
    bytes
}
