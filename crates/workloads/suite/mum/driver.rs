//! Pieces of DNA against a reference: the host builds its suffix tree, threads walk along it.

use crate::prelude::*;

const BLOCK: usize = 256;
/// Comes after the last letter of the reference, and nowhere else.
const END: u8 = 4;

/// A node of a suffix tree, with the edge that leads to it. Node 0 is the root; as a child it means that there is none.
#[derive(Clone, Default)]
struct Node {
    start: usize,
    end: usize,
    link: usize,
    children: [usize; 5],
}

/// Ukkonen's algorithm: letter after letter, the tree has all suffixes of what was read.
fn suffix_tree(text: &[u8]) -> Vec<Node> {
    let mut nodes = vec![Node::default()];
    // The place in the tree where the next suffix goes: so many letters below a node, as in the text at `edge`.
    let (mut node, mut edge, mut length, mut missing) = (0, 0, 0, 0);
    for (at, &letter) in text.iter().enumerate() {
        missing += 1;
        // A node that waits for its link; the root's, which is set when none does, means nothing.
        let mut unlinked = 0;
        while missing > 0 {
            if length == 0 {
                edge = at;
            }
            let side = usize::from(text[edge]);
            let child = nodes[node].children[side];
            let leaf = Node { start: at, end: text.len(), ..Node::default() };
            if child == 0 {
                nodes[node].children[side] = nodes.len();
                nodes.push(leaf);
                nodes[unlinked].link = node;
                unlinked = 0;
            } else {
                let whole = nodes[child].end - nodes[child].start;
                if length >= whole {
                    (node, edge, length) = (child, edge + whole, length - whole);
                    continue;
                }
                let middle = nodes[child].start + length;
                if text[middle] == letter {
                    nodes[unlinked].link = node;
                    length += 1;
                    break;
                }
                let split = nodes.len();
                let mut between = Node { start: nodes[child].start, end: middle, ..Node::default() };
                between.children[usize::from(text[middle])] = child;
                between.children[usize::from(letter)] = split + 1;
                nodes.extend([between, leaf]);
                nodes[node].children[side] = split;
                nodes[child].start = middle;
                nodes[unlinked].link = split;
                unlinked = split;
            }
            missing -= 1;
            if node != 0 {
                node = nodes[node].link;
            } else if length > 0 {
                length -= 1;
                edge = at + 1 - missing;
            }
        }
    }
    nodes
}

/// Where the text has the letters from the root to each node, the first time.
fn first_places(nodes: &[Node], letters: usize) -> Vec<usize> {
    let mut order = vec![(0, 0, 0)];
    let mut seen = 0;
    while let Some(&(node, _, depth)) = order.get(seen) {
        seen += 1;
        let below = nodes[node].children.iter().filter(|child| **child != 0);
        order.extend(below.map(|&child| (child, node, depth + nodes[child].end - nodes[child].start)));
    }
    let mut first = vec![letters; nodes.len()];
    for (node, parent, depth) in order.into_iter().rev() {
        if nodes[node].children == [0; 5] {
            first[node] = letters - depth;
        }
        first[parent] = first[parent].min(first[node]);
    }
    first
}

/// A text of four letters, in which some stretches repeat others with a few changes.
fn genome(letters: usize, rng: &mut Rng) -> Vec<u8> {
    let mut text: Vec<u8> = Vec::with_capacity(letters);
    while text.len() < letters {
        let length = 50 + rng.index(250);
        let from = rng.index(text.len().max(1));
        let is_repeat = text.len() > 1000 && rng.below(5) == 0;
        for i in 0..length.min(letters - text.len()) {
            let old = text.get(from + i).copied().filter(|_| is_repeat && rng.below(50) > 0);
            text.push(old.unwrap_or_else(|| rng.below(4) as u8));
        }
    }
    text
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (letters, count) = (run.size("reference")?, run.size("queries")?);
    let [least, most, shortest] = ["shortest_query", "longest_query", "shortest_match"].map(|key| run.size(key));
    let (least, most, shortest) = (least?, most?, shortest?);
    let reference = genome(letters, &mut run.rng);
    // Queries come from anywhere in the reference, one letter in fifty is wrong; one query in ten is foreign.
    let (mut queries, mut first) = (Vec::new(), vec![0i32]);
    for _ in 0..count {
        let length = least + run.rng.index(most - least + 1);
        let from = run.rng.index(letters - length);
        let wrong_of_fifty = if run.rng.below(10) == 0 { 50 } else { 1 };
        for &letter in &reference[from..from + length] {
            let is_wrong = run.rng.below(50) < wrong_of_fifty;
            queries.push(if is_wrong { run.rng.below(4) as u8 } else { letter });
        }
        first.push(queries.len() as i32);
    }

    let text = [&reference[..], &[END]].concat();
    let tree = suffix_tree(&text);
    let first_place = first_places(&tree, text.len());
    let node = |(n, first): (&Node, &usize)| [n.start, n.end - n.start, n.link, *first].map(|v| v as i32);
    let nodes: Vec<[i32; 4]> = tree.iter().zip(&first_place).map(node).collect();
    let children: Vec<i32> = tree.iter().flat_map(|n| n.children[..4].iter().map(|c| *c as i32)).collect();

    let text_buffer = run.upload("reference", &text)?;
    let node_buffer = run.upload("nodes", nodes.as_flattened())?;
    let child_buffer = run.upload("children", &children)?;
    let query_buffer = run.upload("queries", &queries)?;
    let first_buffer = run.upload("first", &first)?;
    let lengths = run.zeros::<i32>("lengths", queries.len())?;
    let places = run.zeros::<i32>("places", queries.len())?;
    let args = [
        text_buffer.into(),
        node_buffer.into(),
        child_buffer.into(),
        query_buffer.into(),
        first_buffer.into(),
        (count as i32).into(),
        (shortest as i32).into(),
        lengths.into(),
        places.into(),
    ];
    run.launch("match", count.div_ceil(BLOCK), BLOCK, &args)?;

    let mut want = (vec![0; queries.len()], vec![0; queries.len()]);
    let array = SuffixArray::new(&reference);
    for ends in first.windows(2) {
        for begin in ends[0]..=ends[1] - shortest as i32 {
            let (length, place) = array.longest(&queries[begin as usize..ends[1] as usize]);
            if length >= shortest {
                want.0[begin as usize] = length as i32;
                want.1[begin as usize] = place as i32;
            }
        }
    }
    run.check("lengths", lengths, &want.0)?;
    run.check("places", places, &want.1)
}

/// The suffixes of a text in order.
struct SuffixArray<'t> {
    text: &'t [u8],
    order: Vec<usize>,
}

impl<'t> SuffixArray<'t> {
    fn new(text: &'t [u8]) -> Self {
        let mut order: Vec<usize> = (0..text.len()).collect();
        order.sort_unstable_by_key(|from| &text[*from..]);
        Self { text, order }
    }

    /// The length of the longest beginning of these letters that the text has, and where it has it first.
    fn longest(&self, letters: &[u8]) -> (usize, usize) {
        let suffix = |index: usize| self.order.get(index).map_or(&[][..], |from| &self.text[*from..]);
        let common = |index: usize| suffix(index).iter().zip(letters).take_while(|(a, b)| a == b).count();
        let after = self.order.partition_point(|from| &self.text[*from..] < letters);
        let length = common(after).max(common(after.wrapping_sub(1)));
        let low = (0..after).rev().take_while(|index| common(*index) >= length);
        let high = (after..self.order.len()).take_while(|index| common(*index) >= length);
        (length, low.chain(high).map(|index| self.order[index]).min().unwrap_or(0))
    }
}
