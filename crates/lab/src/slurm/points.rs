//! Which points a task runs: slices of them, and the file that names the slices of one job array.
//!
//! ```text
//! raddle-points 1 <hash of the keys of all points of the experiment>
//! 0-63
//! 64-120,130-136
//! ```
//!
//! Each further line is of one task: the numbers of its points in the grid. The hash ties the numbers to the grid, so
//! that a task whose program or experiment is another one runs nothing.

use crate::error::{Error, reading};
use crate::key::Key;
use crate::point::Point;
use raddle_runtime::input;
use std::path::Path;

const START: &str = "raddle-points 1 ";

/// The hash of the keys of all points, in their order.
#[must_use]
pub fn digest(points: &[Point]) -> Key {
    let mut hasher = blake3::Hasher::new();
    for point in points {
        hasher.update(&point.key.0);
    }
    Key(*hasher.finalize().as_bytes())
}

/// Cuts the first points that wait into at most `most` slices. Points come with how often they have been lost; those
/// in one slice are equal in this, and each time slices are an eighth as long, so that a point that takes its task
/// down with it ends up alone.
#[must_use]
pub fn slices(waiting: impl IntoIterator<Item = (u8, u32)>, per_task: usize, most: usize) -> Vec<Vec<u32>> {
    let mut slices: Vec<Vec<u32>> = Vec::new();
    let mut lost = None;
    for (times, point) in waiting {
        let length = per_task.checked_shr(3 * u32::from(times)).unwrap_or(0).max(1);
        let is_full = slices.len() == most;
        match slices.last_mut() {
            Some(slice) if lost == Some(times) && slice.len() < length => slice.push(point),
            _ if is_full => break,
            _ => slices.push(vec![point]),
        }
        lost = Some(times);
    }
    slices
}

/// The text of a file of slices.
#[must_use]
pub fn list(grid: Key, slices: &[Vec<u32>]) -> String {
    let mut text = format!("{START}{grid}\n");
    for slice in slices {
        text += &ranges(slice);
        text.push('\n');
    }
    text
}

/// `0-3,7` of 0, 1, 2, 3 and 7.
fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match parts.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*number) => *last = *number,
            _ => parts.push((*number, *number)),
        }
    }
    let text = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    parts.iter().map(text).collect::<Vec<_>>().join(",")
}

/// The numbers that [`ranges`] wrote, all of them below `below`.
fn numbers(text: &str, below: usize) -> Option<Vec<u32>> {
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last as usize >= below {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// The slice of task `task`, from the text of a file of slices for `points`.
///
/// # Errors
/// With what is wrong with the text.
pub fn slice_of(text: &str, task: usize, points: &[Point]) -> Result<Vec<u32>, String> {
    slice_in(text, task, digest(points), points.len())
}

fn slice_in(text: &str, task: usize, grid: Key, points: usize) -> Result<Vec<u32>, String> {
    let mut lines = text.lines();
    match lines.next().and_then(|line| line.strip_prefix(START)).map(str::parse::<Key>) {
        Some(Ok(written)) if written == grid => {}
        Some(Ok(_)) => {
            return Err("is for the points of another experiment or another version of Raddle".to_owned());
        }
        _ => return Err("is not a list of points".to_owned()),
    }
    let line = lines.nth(task).ok_or_else(|| format!("has no task {task}"))?;
    numbers(line, points).ok_or_else(|| format!("has no numbers of points for task {task}, but `{line}`"))
}

/// The points of task `task` in the file of slices at `path`.
///
/// # Errors
/// When the file cannot be read or is for other points.
pub fn of_task(path: &Path, task: usize, points: &[Point]) -> Result<Vec<Point>, Error> {
    let text = input::text(path).map_err(reading(path))?;
    let slice = slice_of(&text, task, points);
    let slice = slice.map_err(|reason| Error::Store { path: path.display().to_string(), reason })?;
    Ok(slice.into_iter().map(|number| points[number as usize].clone()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_million_points_go_out_in_arrays() {
        const POINTS: u32 = 1_000_000;
        let mut waiting: BTreeSet<(u8, u32)> = (0..POINTS).map(|point| (0, point)).collect();
        let mut seen = vec![false; POINTS as usize];
        let (mut arrays, mut longest) = (0, 0);
        while !waiting.is_empty() {
            let slices = slices(waiting.iter().copied(), 1000, 250);
            assert!(slices.len() <= 250 && slices.iter().all(|slice| slice.len() <= 1000));
            longest = longest.max(list(Key::of(b"g"), &slices).len());
            for point in slices.concat() {
                assert!(!std::mem::replace(&mut seen[point as usize], true), "{point} went out twice");
                waiting.remove(&(0, point));
            }
            arrays += 1;
        }
        assert!(seen.iter().all(|seen| *seen));
        assert_eq!(arrays, 4);
        assert!(longest < 5000, "{longest} bytes for an array");
    }

    #[test]
    fn what_was_lost_goes_out_in_smaller_slices() {
        let waiting = [(0, 5), (0, 6), (0, 7), (1, 0), (1, 1), (1, 2), (2, 3), (2, 4), (9, 8), (200, 9)];
        let cut = slices(waiting, 16, 100);
        assert_eq!(cut, [vec![5, 6, 7], vec![0, 1], vec![2], vec![3], vec![4], vec![8], vec![9]]);
        assert_eq!(slices(waiting, 16, 2), [vec![5, 6, 7], vec![0, 1]]);
        assert!(slices([], 16, 2).is_empty() && slices(waiting, 16, 0).is_empty());
    }

    #[test]
    fn lists_are_for_one_grid() {
        let text = list(Key::of(b"g"), &[vec![0, 1, 2, 7], vec![4]]);
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["0-2,7", "4"]);
        let read = |text: &str, task, points| slice_in(text, task, Key::of(b"g"), points);
        assert_eq!(read(&text, 0, 8), Ok(vec![0, 1, 2, 7]));
        assert_eq!(read(&text, 1, 8), Ok(vec![4]));
        assert_eq!(read(&text, 2, 8), Err("has no task 2".to_owned()));
        assert!(read(&text, 0, 7).is_err_and(|e| e.contains("`0-2,7`")), "point 7 is not there");
        assert!(slice_in(&text, 0, Key::of(b"h"), 8).is_err_and(|e| e.contains("another version")));
    }

    proptest! {
        #[test]
        fn numbers_come_back(set: BTreeSet<u32>) {
            prop_assume!(!set.is_empty() && !set.contains(&u32::MAX));
            let list: Vec<u32> = set.into_iter().collect();
            prop_assert_eq!(numbers(&ranges(&list), u32::MAX as usize), Some(list));
        }

        #[test]
        fn any_text_is_read_or_refused(text in ".*", task in 0_usize..3) {
            let grid = Key::of(b"g");
            let _ = slice_in(&text, task, grid, 10);
            if let Ok(slice) = slice_in(&format!("{START}{grid}\n{text}"), task, grid, 10) {
                prop_assert!(slice.iter().all(|number| *number < 10));
            }
        }
    }
}
