//! AES encryption with a table of SubBytes and MixColumns together; checked against AES byte by byte.

use crate::prelude::*;

const BLOCK: usize = 256;
const ROUNDS: usize = 10;

pub fn run(run: &mut Run<'_>) -> Result {
    let words = run.size("bytes")? / 16 * 4;
    let key: [u8; 16] = std::array::from_fn(|_| run.rng.next_u64() as u8);
    let text: Vec<u8> = (0..words * 4).map(|_| run.rng.next_u64() as u8).collect();

    let aes = Aes::new(&key);
    run.set_variable("round_keys", &to_words(aes.keys.as_flattened()))?;
    let table: Vec<u32> = aes.sbox.iter().map(|&s| u32::from_le_bytes([twice(s), s, s, twice(s) ^ s])).collect();
    let table = run.upload("table", &table)?;
    let input = run.upload("text", &to_words(&text))?;
    let output = run.zeros::<u32>("cipher", words)?;
    let args = [table.into(), input.into(), output.into(), (words as i32).into()];
    run.launch("aes_encrypt", words.div_ceil(BLOCK), BLOCK, &args)?;

    let want: Vec<u8> = text.as_chunks::<16>().0.iter().flat_map(|block| aes.encrypt(block)).collect();
    run.check("cipher", output, &to_words(&want))
}

fn to_words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// The product with x in the field of 256 elements.
fn twice(a: u8) -> u8 {
    a << 1 ^ if a < 0x80 { 0 } else { 0x1b }
}

fn product(mut a: u8, mut b: u8) -> u8 {
    let mut sum = 0;
    while b != 0 {
        if b & 1 != 0 {
            sum ^= a;
        }
        a = twice(a);
        b >>= 1;
    }
    sum
}

/// The cipher as FIPS 197 describes it.
struct Aes {
    sbox: [u8; 256],
    keys: [[u8; 16]; ROUNDS + 1],
}

impl Aes {
    fn new(key: &[u8; 16]) -> Self {
        let inverse = |a: u8| (1..=255).find(|b| product(a, *b) == 1).unwrap_or(0);
        let sbox = std::array::from_fn(|a| {
            let b = inverse(a as u8);
            (1..5).fold(b ^ 0x63, |sum, turn| sum ^ b.rotate_left(turn))
        });
        let mut keys = [*key; ROUNDS + 1];
        let mut constant = 1;
        for round in 1..=ROUNDS {
            let last = keys[round - 1];
            let turned = [13, 14, 15, 12].map(|i| sbox[last[i] as usize]);
            for i in 0..16 {
                let before = if i < 4 { turned[i] } else { keys[round][i - 4] };
                keys[round][i] = last[i] ^ before;
                if i == 0 {
                    keys[round][0] ^= constant;
                }
            }
            constant = twice(constant);
        }
        Self { sbox, keys }
    }

    fn encrypt(&self, text: &[u8; 16]) -> [u8; 16] {
        let add = |state: [u8; 16], key: &[u8; 16]| std::array::from_fn(|i| state[i] ^ key[i]);
        let mut state = add(*text, &self.keys[0]);
        for (round, key) in self.keys.iter().enumerate().skip(1) {
            let shifted: [u8; 16] = std::array::from_fn(|i| self.sbox[state[(i + 4 * (i % 4)) % 16] as usize]);
            let mixed = |i: usize| {
                let row = |by: usize| shifted[i / 4 * 4 + (i + by) % 4];
                twice(row(0)) ^ twice(row(1)) ^ row(1) ^ row(2) ^ row(3)
            };
            state = add(if round == ROUNDS { shifted } else { std::array::from_fn(mixed) }, key);
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_standard() {
        let aes = Aes::new(&std::array::from_fn(|i| i as u8));
        let cipher = aes.encrypt(&std::array::from_fn(|i| 0x11 * i as u8));
        assert_eq!(u128::from_be_bytes(cipher), 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a);
    }
}
