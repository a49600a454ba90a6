//! Who goes first.

/// The order in which blocks, and threads of a block, take turns. A kernel that leaves other memory in another order has
/// a race.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// By number.
    #[default]
    Forward,
    /// The last one first.
    Reverse,
    /// Mixed by this number, with turns of different lengths.
    Mixed(u64),
}

impl Order {
    /// The number of the one whose turn comes `n`-th among `count`.
    pub(super) fn place(self, n: u64, count: u64) -> u64 {
        match self {
            Self::Forward => n,
            Self::Reverse => count - 1 - n,
            Self::Mixed(number) => {
                let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
                let step = (mixed % count..).find(|step| gcd(*step, count) == 1).unwrap_or(1);
                let at = u128::from(n) * u128::from(step) + u128::from(number);
                u64::try_from(at % u128::from(count)).unwrap_or(n)
            }
        }
    }

    /// The thread-instructions of a thread in a turn.
    pub(super) fn budget(self, quantum: u64, turn: u64, thread: u32) -> u64 {
        match self {
            Self::Forward | Self::Reverse => quantum,
            Self::Mixed(number) => {
                let mixed = (number ^ turn << 20 ^ u64::from(thread)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                1 + (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) % quantum
            }
        }
    }

    pub(super) fn index(self, n: usize, count: usize) -> usize {
        usize::try_from(self.place(n as u64, count as u64)).unwrap_or(n)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::Order;

    #[test]
    fn everyone_has_a_turn() {
        for order in [Order::Forward, Order::Reverse, Order::Mixed(0), Order::Mixed(5), Order::Mixed(u64::MAX)] {
            for count in 1..40 {
                let mut places: Vec<u64> = (0..count).map(|n| order.place(n, count)).collect();
                places.sort_unstable();
                assert!(places.into_iter().eq(0..count), "{order:?} of {count}");
            }
        }
    }
}
