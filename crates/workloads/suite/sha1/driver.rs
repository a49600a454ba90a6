//! Digests of overlapping stretches of data.

use crate::prelude::*;

const BLOCK: usize = 128;

/// SHA-1 of bytes whose number is a multiple of 64, as five words.
fn sha1(bytes: &[u8]) -> [u32; 5] {
    let mut message = bytes.to_vec();
    message.push(0x80);
    message.resize(bytes.len() + 56, 0);
    message.extend((bytes.len() as u64 * 8).to_be_bytes());
    let mut digest = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    for chunk in message.as_chunks::<64>().0 {
        let mut words: Vec<u32> = chunk.as_chunks::<4>().0.iter().map(|w| u32::from_be_bytes(*w)).collect();
        for i in 16..80 {
            words.push((words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16]).rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = digest;
        for (i, word) in words.iter().enumerate() {
            let (mixed, constant) = match i / 20 {
                0 => (b & c | !b & d, 0x5a82_7999),
                1 => (b ^ c ^ d, 0x6ed9_eba1),
                2 => (b & c | b & d | c & d, 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6u32),
            };
            let sum = [mixed, e, constant, *word].into_iter().fold(a.rotate_left(5), u32::wrapping_add);
            (a, b, c, d, e) = (sum, a, b.rotate_left(30), c, d);
        }
        digest.iter_mut().zip([a, b, c, d, e]).for_each(|(sum, v)| *sum = sum.wrapping_add(v));
    }
    digest
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (blocks, chunks, step) = (run.size("blocks")?, run.size("chunks")?, run.size("step")?);
    let count = blocks * BLOCK;
    let words = (count - 1) * step + chunks * 16;
    let data: Vec<u32> = (0..words).map(|_| run.rng.next_u64() as u32).collect();
    let data_buffer = run.upload("data", &data)?;
    let digests = run.zeros::<u32>("digests", count * 5)?;
    let args =
        [data_buffer.into(), (step as i32).into(), (chunks as i32).into(), (count as i32).into(), digests.into()];
    run.launch("sha1_overlap", blocks, BLOCK, &args)?;

    let bytes: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
    let want: Vec<u32> = (0..count).flat_map(|stretch| sha1(&bytes[stretch * step * 4..][..chunks * 64])).collect();
    run.check("digests", digests, &want)
}

#[cfg(test)]
mod tests {
    /// Of 64 letters a, from another program.
    #[test]
    fn a_known_digest() {
        let digest = super::sha1(&[b'a'; 64]);
        let hex: String = digest.iter().map(|word| format!("{word:08x}")).collect();
        assert_eq!(hex, "0098ba824b5c16427bd7a1122a5a442a25ec644d");
    }
}
