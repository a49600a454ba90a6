//! A forest of decision trees: grown from samples of known class on the host, asked about others.

use crate::prelude::*;
use std::collections::VecDeque;

const BLOCK: usize = 128;
const CLASSES: usize = 8;
/// Splits that are tried for a node.
const TRIES: usize = 8;

/// Values of all features.
type Sample = Vec<f32>;

enum Tree {
    Leaf(usize),
    Node { feature: usize, threshold: f32, children: Box<[Tree; 2]> },
}

impl Tree {
    /// The best of some random splits, until samples are of one class.
    fn grow(samples: &[(&Sample, usize)], depth: usize, rng: &mut Rng) -> Self {
        let counts = classes(samples);
        let most = *counts.iter().max().unwrap_or(&0);
        let leaf = Self::Leaf(counts.iter().position(|c| *c == most).unwrap_or(0));
        if depth == 0 || most == samples.len() {
            return leaf;
        }
        let features = samples[0].0.len();
        let tries = (0..TRIES).map(|_| {
            let feature = rng.index(features);
            let [a, b] = [(); 2].map(|()| samples[rng.index(samples.len())].0[feature]);
            let threshold = f32::midpoint(a, b);
            let (low, high): (Vec<_>, Vec<_>) = samples.iter().partition(|(s, _)| s[feature] < threshold);
            (purity(&low) + purity(&high), feature, threshold, low, high)
        });
        let best = tries.filter(|(_, _, _, low, high)| !low.is_empty() && !high.is_empty());
        let Some((_, feature, threshold, low, high)) = best.max_by(|a, b| a.0.total_cmp(&b.0)) else { return leaf };
        let children = Box::new([low, high].map(|part| Self::grow(&part, depth - 1, rng)));
        Self::Node { feature, threshold, children }
    }

    fn class(&self, sample: &[f32]) -> usize {
        match self {
            Self::Leaf(class) => *class,
            Self::Node { feature, threshold, children } => {
                children[usize::from(sample[*feature] >= *threshold)].class(sample)
            }
        }
    }

    /// Appends the nodes as the kernel has them: feature, threshold, first child.
    fn flatten(&self, nodes: &mut Vec<[u32; 4]>) {
        let mut queue = VecDeque::from([self]);
        let root = nodes.len();
        let mut made = 1;
        while let Some(tree) = queue.pop_front() {
            nodes.push(match tree {
                Self::Leaf(class) => [u32::MAX, 0, *class as u32, 0],
                Self::Node { feature, threshold, children } => {
                    queue.extend(children.iter());
                    made += 2;
                    [*feature as u32, threshold.to_bits(), (root + made - 2) as u32, 0]
                }
            });
        }
    }
}

/// How many samples there are of each class.
fn classes(samples: &[(&Sample, usize)]) -> [usize; CLASSES] {
    let mut counts = [0; CLASSES];
    samples.iter().for_each(|(_, class)| counts[*class] += 1);
    counts
}

/// Gini's measure, weighted by the number of samples: the larger, the less mixed.
fn purity(samples: &[(&Sample, usize)]) -> f64 {
    classes(samples).iter().map(|c| (c * c) as f64).sum::<f64>() / samples.len().max(1) as f64
}

/// Samples around a few centres for each class; they overlap.
fn samples(count: usize, centres: &[Sample], rng: &mut Rng) -> Vec<(Sample, usize)> {
    let make = |_| {
        let centre = rng.index(centres.len());
        let noise = |rng: &mut Rng| (0..4).map(|_| rng.between(-0.5, 0.5)).sum::<f32>();
        (centres[centre].iter().map(|c| c + noise(rng)).collect(), centre % CLASSES)
    };
    (0..count).map(make).collect()
}

pub fn run(run: &mut Run<'_>) -> Result {
    let [count, features, trees] = ["samples", "features", "trees"].map(|key| run.size(key));
    let (count, features, trees) = (count?, features?, trees?);
    let (known, depth) = (run.size("known_samples")?, run.size("depth")?);
    let centres: Vec<Sample> = (0..3 * CLASSES).map(|_| run.rng.floats(features, -1.0, 1.0)).collect();
    let known = samples(known, &centres, &mut run.rng);
    let forest: Vec<Tree> = (0..trees)
        .map(|_| {
            // As many as there are, some of them several times.
            let bag = (0..known.len()).map(|_| &known[run.rng.index(known.len())]);
            let bag: Vec<(&Sample, usize)> = bag.map(|(sample, class)| (sample, *class)).collect();
            Tree::grow(&bag, depth, &mut run.rng)
        })
        .collect();
    let asked: Vec<Sample> = samples(count, &centres, &mut run.rng).into_iter().map(|(sample, _)| sample).collect();

    let (mut nodes, mut roots) = (Vec::new(), Vec::new());
    for tree in &forest {
        roots.push(nodes.len() as i32);
        tree.flatten(&mut nodes);
    }
    let columns: Vec<f32> = (0..features).flat_map(|f| asked.iter().map(move |sample| sample[f])).collect();
    let node_buffer = run.upload("nodes", nodes.as_flattened())?;
    let root_buffer = run.upload("roots", &roots)?;
    let feature_buffer = run.upload("features", &columns)?;
    let class_buffer = run.zeros::<i32>("classes", count)?;
    let majority_buffer = run.zeros::<i32>("majority", count)?;
    let args = [
        node_buffer.into(),
        root_buffer.into(),
        (trees as i32).into(),
        feature_buffer.into(),
        (count as i32).into(),
        class_buffer.into(),
        majority_buffer.into(),
    ];
    run.launch("classify", count.div_ceil(BLOCK), BLOCK, &args)?;

    let winner = |sample: &Sample| {
        let mut votes = [0; CLASSES];
        forest.iter().for_each(|tree| votes[tree.class(sample)] += 1);
        let most = *votes.iter().max().unwrap_or(&0);
        (votes.iter().position(|v| *v == most).unwrap_or(0) as i32, most)
    };
    let (class, majority): (Vec<i32>, Vec<i32>) = asked.iter().map(winner).unzip();
    run.check("classes", class_buffer, &class)?;
    run.check("majority", majority_buffer, &majority)
}
