//! What CI takes of sets that are too large for every commit: some of each, chosen by the hash of the commit, so that
//! every commit takes others. `cargo xtask ci --complete` takes all, as the weekly workflow does.

use std::process::Command;

use crate::Result;
use crate::files::root;

/// Which members of a set are taken.
pub enum Sample {
    /// All of them.
    Complete,
    /// Some, chosen by this word.
    Chosen(String),
}

impl Sample {
    /// Those that the commit chooses.
    pub fn of_commit() -> Result<Self> {
        Ok(Self::Chosen(commit()?))
    }

    /// At most `count` members of a set, in its order. `what` is the name of the set: of another one, others are chosen.
    pub fn choose<T: Clone>(&self, what: &str, set: &[T], count: usize) -> Vec<T> {
        let Self::Chosen(word) = self else { return set.to_vec() };
        let mut order: Vec<usize> = (0..set.len()).collect();
        order.sort_by_key(|member| hash(&format!("{word} {what} {member}")));
        order.truncate(count);
        order.sort_unstable();
        if order.len() < set.len() {
            println!("{what}: {} of {}, chosen by {word}", order.len(), set.len());
        }
        order.into_iter().map(|member| set[member].clone()).collect()
    }
}

/// The hash of the commit.
pub fn commit() -> Result<String> {
    let found = Command::new("git").current_dir(root()).args(["rev-parse", "HEAD"]).output()?;
    Ok(String::from_utf8(found.stdout)?.trim().to_owned())
}

/// A hash that is the same on every host and with every version of Rust (FNV-1a, and the finish of SplitMix64 so that the order of
/// similar texts is not similar).
fn hash(text: &str) -> u64 {
    let sum = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    let mixed = (sum ^ (sum >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SET: [u32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

    #[test]
    fn a_word_chooses_the_same_members_each_time() {
        let sample = Sample::Chosen("a".to_owned());
        let chosen = sample.choose("set", &SET, 3);
        assert_eq!(chosen.len(), 3);
        assert!(chosen.is_sorted());
        assert_eq!(chosen, sample.choose("set", &SET, 3));
        assert_eq!(sample.choose("set", &SET, 9), SET);
        assert_eq!(Sample::Complete.choose("set", &SET, 3), SET);
    }

    #[test]
    fn every_member_is_chosen_by_as_many_words() {
        let mut times = [0; SET.len()];
        for word in 0..4000 {
            for member in Sample::Chosen(format!("{word:040x}")).choose("set", &SET, 2) {
                times[member as usize] += 1;
            }
        }
        assert!(times.iter().all(|times| (900..1100).contains(times)), "{times:?}");
    }
}
