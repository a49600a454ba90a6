//! Colouring of interference graphs: which values share a place in the register file.
//!
//! Finding the fewest colours is hard in general, so several greedy orders are tried and the best
//! result is kept. In each, a node takes the lowest place that none of its coloured neighbours
//! holds; when a node it is copied from or to already has a place that is free for it too, it takes
//! that one, which makes the copy a no-op. All of it is deterministic.

use crate::num::fit;

/// What a node needs and whom it must keep away from.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    /// Places each node takes: 0 (none), 1, or 2 (an even place and the next).
    pub width: Vec<u8>,
    /// Neighbours; duplicates do no harm.
    pub neighbours: Vec<Vec<u32>>,
    /// Nodes it would like to share its place with.
    pub partners: Vec<Vec<u32>>,
    /// A place nobody may take.
    pub reserved: Option<u32>,
    /// Length of all lists of neighbours.
    total: usize,
    /// Pairs looked at.
    pairs: usize,
}

/// A place for each node, and one past the highest place taken.
#[derive(Clone, Debug)]
pub(super) struct Colouring {
    pub place: Vec<Option<u32>>,
    pub count: u32,
}

/// Neighbours of all nodes together, above which a graph is not coloured. 4,000 values alive at the same time are
/// below it, and so are 100,000 of which each meets 160 others.
const MAX_NEIGHBOURS: usize = 1 << 24;
/// Pairs of nodes that may be looked at for an edge, the same ones again included: a second or two.
const MAX_PAIRS: usize = 1 << 27;

impl Graph {
    pub(super) fn new(width: Vec<u8>) -> Self {
        let count = width.len();
        Self { width, neighbours: vec![Vec::new(); count], partners: vec![Vec::new(); count], ..Self::default() }
    }

    pub(super) fn add_node(&mut self, width: u8) -> u32 {
        self.width.push(width);
        self.neighbours.push(Vec::new());
        self.partners.push(Vec::new());
        fit(self.width.len() - 1)
    }

    pub(super) fn add_edge(&mut self, a: u32, b: u32) {
        self.pairs += 1;
        if a != b && self.width[a as usize] > 0 && self.width[b as usize] > 0 {
            self.push(a, b);
            self.push(b, a);
        }
    }

    /// Appends to a list; duplicates go before it grows, so that it stays as long as it must be.
    fn push(&mut self, a: u32, b: u32) {
        let list = &mut self.neighbours[a as usize];
        if list.len() == list.capacity() && list.len() >= 64 {
            let before = list.len();
            list.sort_unstable();
            list.dedup();
            self.total -= before - list.len();
            list.reserve(list.len());
        }
        list.push(b);
        self.total += 1;
    }

    /// Whether there are so many edges that colouring would take too long.
    pub(super) fn is_too_large(&self) -> bool {
        self.total > MAX_NEIGHBOURS || self.pairs > MAX_PAIRS
    }

    pub(super) fn add_partners(&mut self, a: u32, b: u32) {
        self.partners[a as usize].push(b);
        self.partners[b as usize].push(a);
    }

    /// Colours the graph; `by_definition` is the order in which the program defines the nodes.
    pub(super) fn colour(mut self, by_definition: &[u32]) -> Colouring {
        for list in &mut self.neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let mut wide_first = by_definition.to_vec();
        wide_first.sort_by_key(|n| std::cmp::Reverse(self.width[*n as usize]));
        let smallest_last = self.smallest_last(by_definition);
        let mut smallest_last_wide_first = smallest_last.clone();
        smallest_last_wide_first.sort_by_key(|n| std::cmp::Reverse(self.width[*n as usize]));
        let orders = [by_definition, &wide_first, &smallest_last, &smallest_last_wide_first];
        let tries = orders.into_iter().flat_map(|order| [true, false].map(|share| self.greedy(order, share)));
        tries.min_by_key(|c| c.count).unwrap_or(Colouring { place: Vec::new(), count: 0 })
    }

    /// Takes away the node with the least demand around it again and again; the reverse of that.
    fn smallest_last(&self, nodes: &[u32]) -> Vec<u32> {
        let demand =
            |n: u32| -> u32 { self.neighbours[n as usize].iter().map(|m| u32::from(self.width[*m as usize])).sum() };
        let mut left: std::collections::BTreeSet<(u32, u32)> = nodes.iter().map(|n| (demand(*n), *n)).collect();
        let mut current = vec![None; self.width.len()];
        for (demand, node) in &left {
            current[*node as usize] = Some(*demand);
        }
        let mut order = Vec::with_capacity(nodes.len());
        while let Some((_, node)) = left.pop_first() {
            current[node as usize] = None;
            order.push(node);
            for &other in &self.neighbours[node as usize] {
                if let Some(demand) = current[other as usize] {
                    left.remove(&(demand, other));
                    let less = demand.saturating_sub(u32::from(self.width[node as usize]));
                    current[other as usize] = Some(less);
                    left.insert((less, other));
                }
            }
        }
        order.reverse();
        order
    }

    fn greedy(&self, order: &[u32], share: bool) -> Colouring {
        let mut place: Vec<Option<u32>> = vec![None; self.width.len()];
        let mut count = 0;
        // taken[p] == round: a neighbour of the node of this round holds p.
        let mut taken: Vec<u32> = Vec::new();
        for (round, &node) in (1..).zip(order) {
            let width = u32::from(self.width[node as usize]);
            if width == 0 || place[node as usize].is_some() {
                continue;
            }
            for &other in &self.neighbours[node as usize] {
                let Some(at) = place[other as usize] else { continue };
                let end = (at + u32::from(self.width[other as usize])) as usize;
                if taken.len() < end {
                    taken.resize(end, 0);
                }
                taken[at as usize..end].fill(round);
            }
            let is_free =
                |at: u32| (at..at + width).all(|p| taken.get(p as usize) != Some(&round) && self.reserved != Some(p));
            let wishes = self.partners[node as usize].iter().filter(|_| share).filter_map(|p| place[*p as usize]);
            let wish = wishes.into_iter().find(|at| at.is_multiple_of(width) && is_free(*at));
            let at = wish.or_else(|| (0..).step_by(width as usize).find(|at| is_free(*at))).unwrap_or(0);
            place[node as usize] = Some(at);
            count = count.max(at + width);
        }
        Colouring { place, count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_may_be_given_many_times() {
        let mut graph = Graph::new(vec![1; 100]);
        for round in 0..10_000 {
            graph.add_edge(0, 1 + round % 99);
        }
        assert!(graph.neighbours[0].capacity() <= 512);
        let order: Vec<u32> = (0..100).collect();
        assert_eq!(graph.colour(&order).count, 2);
    }

    #[test]
    fn wide_nodes_find_room_when_placed_first() {
        // In program order, the narrow nodes 0 and 1 take places 0 and 1 at different times, and
        // the pair that meets both still fits behind them.
        let mut graph = Graph::new(vec![1, 2, 1, 2]);
        for (a, b) in [(0, 1), (1, 2), (0, 2), (2, 3)] {
            graph.add_edge(a, b);
        }
        graph.reserved = Some(5);
        assert_eq!(graph.colour(&[0, 1, 2, 3]).count, 4);
    }

    #[test]
    fn a_reserved_place_stays_free() {
        let mut graph = Graph::new(vec![1, 1]);
        graph.add_edge(0, 1);
        graph.reserved = Some(1);
        let found = graph.colour(&[0, 1]);
        assert_eq!((found.place, found.count), (vec![Some(0), Some(2)], 3));
    }
}
