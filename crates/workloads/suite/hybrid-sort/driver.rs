//! Numbers into buckets, and each bucket sorted by merging; the host says where buckets begin.

use crate::prelude::*;

/// Numbers that a block puts into buckets.
const EACH: usize = 2048;
const BINS: usize = 1024;

pub fn run(run: &mut Run<'_>) -> Result {
    let (count, buckets) = (run.size("numbers")?, run.size("buckets")?);
    // More of them are small.
    let mut numbers: Vec<f32> = (0..count).map(|_| (run.rng.unit() * run.rng.unit()) as f32).collect();
    let number_buffer = run.upload("numbers", &numbers)?;
    let bins = run.zeros::<u32>("bins", BINS)?;
    let n = |n: usize| (n as i32).into();
    run.launch("histogram", count.div_ceil(8192).min(64), 96, &[number_buffer.into(), n(count), bins.into()])?;

    // A bucket ends at the bin that fills it.
    let mut limits = vec![2.0f32; buckets];
    let (mut bucket, mut sum) = (0, 0);
    for (bin, size) in run.download(bins).iter().enumerate() {
        sum += *size as usize;
        while bucket < buckets - 1 && sum > (bucket + 1) * count / buckets {
            limits[bucket] = (bin + 1) as f32 / BINS as f32;
            bucket += 1;
        }
    }
    let blocks = count.div_ceil(EACH);
    let limit_buffer = run.upload("limits", &limits)?;
    let places = run.zeros::<u32>("places", count)?;
    let counts = run.zeros::<u32>("counts", blocks * buckets)?;
    let sizes = run.zeros::<u32>("sizes", buckets)?;
    let args = [number_buffer.into(), n(count), limit_buffer.into(), n(buckets), n(EACH), places.into(), counts.into()];
    run.launch("bucket_count", blocks, 128, &args)?;
    run.launch("bucket_offsets", buckets.div_ceil(128), 128, &[counts.into(), n(blocks), n(buckets), sizes.into()])?;

    // Buckets have room for whole fours.
    let in_bucket = run.download(sizes);
    let sums = |step: fn(u32) -> u32| {
        let mut sums = vec![0];
        in_bucket.iter().for_each(|size| sums.push(sums[sums.len() - 1] + step(*size)));
        sums
    };
    let (begins, final_begins) = (sums(|size| size.next_multiple_of(4)), sums(|size| size));
    let room = begins[buckets] as usize;
    let begin_buffer = run.upload("begins", &begins)?;
    let final_buffer = run.upload("final_begins", &final_begins)?;
    let mut from = run.upload("bucketed", &vec![f32::INFINITY; room])?;
    let mut to = run.zeros::<f32>("merged", room)?;
    let args = [
        number_buffer.into(),
        n(count),
        places.into(),
        counts.into(),
        begin_buffer.into(),
        n(buckets),
        n(EACH),
        from.into(),
    ];
    run.launch("bucket_sort", blocks, 128, &args)?;
    run.launch("sort_fours", (room / 4).div_ceil(256), 256, &[from.into(), n(room / 4)])?;
    let longest = in_bucket.iter().max().copied().unwrap_or(0);
    let mut length = 4u32;
    while length < longest {
        let mut lists = vec![0u32];
        for ends in begins.windows(2) {
            lists.push(lists[lists.len() - 1] + (ends[1] - ends[0]).div_ceil(2 * length));
        }
        let list_buffer = run.upload("lists", &lists)?;
        let args =
            [from.into(), to.into(), begin_buffer.into(), list_buffer.into(), n(buckets), (length as i32).into()];
        run.launch("merge_lists", (lists[buckets] as usize).div_ceil(208), 208, &args)?;
        std::mem::swap(&mut from, &mut to);
        length *= 2;
    }
    let sorted = run.zeros::<f32>("sorted", count)?;
    let args = [from.into(), begin_buffer.into(), sizes.into(), final_buffer.into(), sorted.into()];
    run.launch("merge_pack", ((longest as usize).div_ceil(256).max(1), buckets), 256, &args)?;

    let mut want_bins = vec![0u32; BINS];
    numbers.iter().for_each(|v| want_bins[((v * BINS as f32) as usize).min(BINS - 1)] += 1);
    numbers.sort_by(f32::total_cmp);
    let mut want_sizes = vec![0u32; buckets];
    numbers.iter().for_each(|v| want_sizes[limits[..buckets - 1].partition_point(|limit| v >= limit)] += 1);
    run.check("bins", bins, &want_bins)?;
    run.check("sizes", sizes, &want_sizes)?;
    run.check("sorted", sorted, &numbers)
}
