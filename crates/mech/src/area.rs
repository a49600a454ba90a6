//! The area that slices and the ganging unit add to an SM, from bits and cells.
//!
//! | input | value | source |
//! | --- | --: | --- |
//! | latch cell | 2.1 µm² a bit, times 1.5 | VWS paper, section 6.7: NanGate 45 nm at 40 nm, with control logic |
//! | flip-flop cell | 3.6 µm² a bit, times 3 | the same, with comparators |
//! | L1 instruction cache of 64 KB | 0.087 mm² with one port, 0.194 mm² with two | the same, from CACTI |
//! | control of a slice | 1 % of an SM | the same, estimated there |
//! | SM | 16 mm² | the same: Fermi |
//! | GPU | 529 mm², 15 SMs | the same: Fermi |
//! | L0 instruction cache | 256 bytes a slice | the same |
//! | decoded instructions | 4,096 bits a slice | the same |
//! | scoreboard | 1,800 bits a slice | the same |
//! | gang table | 128 entries of 64 bits | entries: the same; 64 bits are ours, what makes the printed area |

/// Area of a bit in a latch, in mm², with what is around it.
const LATCH: f64 = 2.1e-6 * 1.5;
/// Area of a bit in a flip-flop that is compared with, in mm².
const FLIP_FLOP: f64 = 3.6e-6 * 3.0;
/// The L1 instruction cache with one port and with two, in mm².
const L1I: [f64; 2] = [0.087, 0.194];
/// An SM, in mm².
const SM: f64 = 16.0;
/// Its part that is control and needed in every slice.
const CONTROL: f64 = 0.01;
/// SMs of the GPU.
const SMS: f64 = 15.0;
/// The GPU, in mm².
const GPU: f64 = 529.0;

/// A part that is added.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What it is.
    pub name: &'static str,
    /// One of them, in mm².
    pub each: f64,
    /// How many an SM gets.
    pub count: u32,
}

impl Part {
    /// All of an SM, in mm².
    #[must_use]
    pub fn total(&self) -> f64 {
        self.each * f64::from(self.count)
    }
}

/// What an SM gets when its datapath of 32 lanes is cut in slices of `lanes`.
#[must_use]
pub fn vws(lanes: u32) -> Vec<Part> {
    let slices = 32 / lanes.max(1);
    let part = |name, each, count| Part { name, each, count };
    vec![
        part("second port of the L1 instruction cache", L1I[1] - L1I[0], 1),
        part("L0 instruction cache", 256.0 * 8.0 * LATCH, slices),
        part("decoded instructions", 4096.0 * LATCH, slices),
        part("gang table", 128.0 * 64.0 * LATCH, 1),
        part("scoreboard", 1800.0 * FLIP_FLOP, slices),
        part("control", CONTROL * SM, slices),
    ]
}

/// The sum of parts: an SM in mm² and in percent, the GPU in mm² and in percent.
#[must_use]
pub fn sums(parts: &[Part]) -> [f64; 4] {
    let sm: f64 = parts.iter().map(Part::total).sum();
    [sm, 100.0 * sm / SM, sm * SMS, 100.0 * sm * SMS / GPU]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 2 of the paper, which rounds: a part within 0.002 mm², percents within 0.15 points, or half of the last digit
    /// where that is more.
    #[test]
    fn the_table_of_the_paper() {
        let printed = [
            (4, [0.108, 0.052, 0.103, 0.026, 0.154, 1.280], [1.7, 11.0, 25.8, 5.0]),
            (8, [0.108, 0.026, 0.052, 0.026, 0.077, 0.640], [0.93, 6.0, 13.9, 2.5]),
        ];
        for (lanes, rows, totals) in printed {
            let parts = vws(lanes);
            for (part, row) in parts.iter().zip(rows) {
                assert!((part.total() - row).abs() <= 0.002, "{} with {lanes} lanes: {}", part.name, part.total());
            }
            let [sm, sm_percent, gpu, gpu_percent] = sums(&parts);
            assert!((sm - totals[0]).abs() < 0.03, "{sm}");
            assert!((sm_percent - totals[1]).abs() <= 0.5, "{sm_percent}: printed without a fraction");
            assert!((gpu - totals[2]).abs() <= 0.1, "{gpu}");
            assert!((gpu_percent - totals[3]).abs() <= 0.15, "{gpu_percent}");
        }
    }
}
