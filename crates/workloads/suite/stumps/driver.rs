//! Objects against boosted stumps that reject a few per cent each.

use crate::prelude::*;

const BLOCK: usize = 128;
/// Objects from which the least scores come.
const SAMPLES: usize = 500;

struct Stump {
    feature: usize,
    threshold: i32,
    below: i32,
    above: i32,
}

impl Stump {
    fn vote(&self, object: &[i16]) -> i32 {
        let mut value = i32::from(object[self.feature]);
        if self.feature % 2 == 1 {
            value -= i32::from(object[(self.feature + 1) % object.len()]);
        }
        if value < self.threshold { self.below } else { self.above }
    }
}

/// Numbers around one of a few kinds of objects.
fn objects(rng: &mut Rng, kinds: &[Vec<i16>], count: usize) -> Vec<Vec<i16>> {
    let one = |rng: &mut Rng| {
        let kind = &kinds[rng.index(kinds.len())];
        kind.iter().map(|v| v + rng.below(401) as i16 - 200).collect()
    };
    (0..count).map(|_| one(rng)).collect()
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (count, planes, stump_count) = (run.size("objects")?, run.size("features")?, run.size("stumps")?);
    let rng = &mut run.rng;
    let kinds: Vec<Vec<i16>> = (0..8).map(|_| (0..planes).map(|_| rng.below(1001) as i16 - 500).collect()).collect();
    let samples = objects(rng, &kinds, SAMPLES);
    let mut sample_scores: Vec<(i32, &Vec<i16>)> = samples.iter().map(|s| (0, s)).collect();
    let (mut stumps, mut least) = (Vec::new(), Vec::new());
    for _ in 0..stump_count {
        let feature = rng.index(planes);
        let [below, above] = [(); 2].map(|()| rng.below(201) as i32 - 100);
        let stump = Stump { feature, threshold: rng.below(801) as i32 - 400, below, above };
        sample_scores.iter_mut().for_each(|(score, object)| *score += stump.vote(object));
        sample_scores.sort_by_key(|(score, _)| *score);
        // Two in a hundred of those that are left go.
        let out = if sample_scores.len() > 20 { sample_scores.len().div_ceil(50) } else { 0 };
        least.push(sample_scores[out].0);
        sample_scores.drain(..out);
        stumps.push(stump);
    }
    let objects = objects(rng, &kinds, count);

    let by_plane: Vec<i16> = (0..planes).flat_map(|p| objects.iter().map(move |o| o[p])).collect();
    let words: Vec<i32> = stumps.iter().flat_map(|s| [s.feature as i32, s.threshold, s.below, s.above]).collect();
    let feature_buffer = run.upload("features", &by_plane)?;
    let stump_buffer = run.upload("stumps", &words)?;
    let least_buffer = run.upload("least", &least)?;
    let scores = run.zeros::<i32>("scores", count)?;
    let stops = run.zeros::<i32>("stops", count)?;
    let args = [
        feature_buffer.into(),
        (count as i32).into(),
        (planes as i32).into(),
        stump_buffer.into(),
        least_buffer.into(),
        (stump_count as i32).into(),
        scores.into(),
        stops.into(),
    ];
    run.launch("boost", count.div_ceil(BLOCK), BLOCK, &args)?;

    let (mut want_scores, mut want_stops) = (Vec::new(), Vec::new());
    for object in &objects {
        let mut score = 0;
        let stop = stumps.iter().zip(&least).position(|(stump, least)| {
            score += stump.vote(object);
            score < *least
        });
        want_scores.push(score);
        want_stops.push(stop.unwrap_or(stump_count) as i32);
    }
    run.check("scores", scores, &want_scores)?;
    run.check("stops", stops, &want_stops)
}
