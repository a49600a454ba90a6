//! The nearest records to some places: their distances once, then the nearest again and again.

use crate::prelude::*;

const BLOCK: usize = 16;
/// Records that a thread looks at for the nearest.
const EACH: usize = 16;
const RECORD: usize = 49;

/// Year, month, day, hour, number, name, latitude, longitude, speed and pressure.
fn record(rng: &mut Rng, latitude: u64, longitude: u64) -> String {
    const NAMES: [&str; 6] = ["ALBERTO", "BERYL", "CHRIS", "DEBBY", "ERNESTO", "FLORENCE"];
    let one_of = |rng: &mut Rng, from: u64, to: u64| from + rng.below(to - from + 1);
    let date = [one_of(rng, 1950, 2004), one_of(rng, 1, 12), one_of(rng, 1, 28), 6 * one_of(rng, 0, 3)];
    let [year, month, day, hour] = date;
    let name = NAMES[rng.index(NAMES.len())];
    let number = |tenths: u64| format!("{:>5}", format!("{}.{}", tenths / 10, tenths % 10));
    let (latitude, longitude) = (number(latitude), number(longitude));
    let (speed, pressure) = (one_of(rng, 10, 165), one_of(rng, 0, 999));
    let number = one_of(rng, 1, 99);
    format!(
        "{year} {month:>2} {day:>2} {hour:>2} {number:>2} {name:<10} {latitude} {longitude} {speed:>4} {pressure:>4}"
    )
}

/// The number at a place of a record, as the kernel reads it.
fn number(record: &str, at: usize) -> f32 {
    let (whole, tenths) = record[at..at + 5].split_once('.').unwrap_or_default();
    let [whole, tenths] = [whole, tenths].map(|part| part.trim().parse::<u16>().unwrap_or_default());
    f32::from(tenths).mul_add(0.1, f32::from(whole))
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (count, places, wanted) = (run.size("records")?, run.size("places")?, run.size("nearest")?);
    let mut records = Vec::with_capacity(count);
    for _ in 0..count {
        let (latitude, longitude) = (run.rng.below(640), run.rng.below(3590));
        records.push(record(&mut run.rng, latitude, longitude));
    }
    let blocks = count.div_ceil(BLOCK * EACH);
    let text = run.upload("records", records.concat().as_bytes())?;
    let distance = run.zeros::<f32>("distance", count)?;
    let block_distance = run.zeros::<f32>("block_distance", blocks)?;
    let block_place = run.zeros::<i32>("block_place", blocks)?;
    let found = run.zeros::<i32>("found", wanted)?;
    assert!(records.iter().all(|r| r.len() == RECORD), "records have one length");

    for _ in 0..places {
        let (latitude, longitude) = (run.rng.between(0.0, 64.0), run.rng.between(0.0, 359.0));
        let args = [text.into(), (count as i32).into(), latitude.into(), longitude.into(), distance.into()];
        run.launch("distances", count.div_ceil(BLOCK), BLOCK, &args)?;
        let far = |r: &String| {
            let (up, along) = (number(r, 28) - latitude, number(r, 34) - longitude);
            up.mul_add(up, along * along).sqrt()
        };
        let mut want: Vec<f32> = records.iter().map(far).collect();
        run.check_exact("distance", distance, &want)?;

        for place in 0..wanted {
            let args = [
                distance.into(),
                (count as i32).into(),
                (EACH as i32).into(),
                block_distance.into(),
                block_place.into(),
            ];
            run.launch("nearest_of_block", blocks, BLOCK, &args)?;
            let args = [
                block_distance.into(),
                block_place.into(),
                (blocks as i32).into(),
                distance.into(),
                run.address(found, place).into(),
            ];
            run.launch("nearest", 1, BLOCK, &args)?;
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by(|a, b| want[*a].total_cmp(&want[*b]));
        let want_found: Vec<i32> = order[..wanted].iter().map(|place| *place as i32).collect();
        run.check("found", found, &want_found)?;
        order[..wanted].iter().for_each(|place| want[*place] = 1e30);
        run.check("rest", distance, &want)?;
    }
    Ok(())
}
