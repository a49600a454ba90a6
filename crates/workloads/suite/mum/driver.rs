//! Pieces of DNA against a reference: the host builds its suffix tree, threads walk along it.

use crate::dna::{Search, SuffixArray};
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

pub fn run(run: &mut Run<'_>) -> Result {
    let search = Search::new(run)?;
    let Search { reference, queries, first, shortest } = &search;
    let count = first.len() - 1;

    let text = [&reference[..], &[END]].concat();
    let tree = suffix_tree(&text);
    let first_place = first_places(&tree, text.len());
    let node = |(n, first): (&Node, &usize)| [n.start, n.end - n.start, n.link, *first].map(|v| v as i32);
    let nodes: Vec<[i32; 4]> = tree.iter().zip(&first_place).map(node).collect();
    let children: Vec<i32> = tree.iter().flat_map(|n| n.children[..4].iter().map(|c| *c as i32)).collect();

    run.bind_texture("reference", &text)?;
    run.bind_texture("nodes", &nodes)?;
    run.bind_texture("children", &children)?;
    let query_buffer = run.upload("queries", queries)?;
    let first_buffer = run.upload("first", first)?;
    let lengths = run.zeros::<i32>("lengths", queries.len())?;
    let places = run.zeros::<i32>("places", queries.len())?;
    let args = [
        query_buffer.into(),
        first_buffer.into(),
        (count as i32).into(),
        (*shortest as i32).into(),
        lengths.into(),
        places.into(),
    ];
    run.launch("match", count.div_ceil(BLOCK), BLOCK, &args)?;

    let array = SuffixArray::new(reference);
    search.check(run, [lengths, places], |query| array.longest(query))
}
