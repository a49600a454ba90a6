//! Breadth-first search from one node of a random graph of hubs (R-MAT), then of one like a map of roads.

use crate::prelude::*;

const BLOCK: usize = 512;

/// Who is next to whom: the neighbours of node `n` are `edges[first[n]..first[n + 1]]`.
struct Graph {
    first: Vec<u32>,
    edges: Vec<u32>,
}

impl Graph {
    fn new(nodes: usize, mut pairs: Vec<(u32, u32)>) -> Self {
        pairs.sort_unstable();
        pairs.dedup();
        let mut first = vec![0; nodes + 1];
        pairs.iter().for_each(|(from, _)| first[*from as usize + 1] += 1);
        (0..nodes).for_each(|n| first[n + 1] += first[n]);
        Self { first, edges: pairs.into_iter().map(|(_, to)| to).collect() }
    }

    /// A few nodes have many neighbours: every bit of an edge falls into one of four unequal quarters.
    fn rmat(scale: usize, degree: usize, rng: &mut Rng) -> Self {
        let mut pairs = Vec::new();
        for _ in 0..degree << scale {
            let (mut from, mut to) = (0, 0);
            for _ in 0..scale {
                let (down, right) = match rng.below(100) {
                    0..57 => (0, 0),
                    57..76 => (0, 1),
                    76..95 => (1, 0),
                    _ => (1, 1),
                };
                (from, to) = (from * 2 + down, to * 2 + right);
            }
            pairs.extend([(from, to), (to, from)]);
        }
        Self::new(1 << scale, pairs)
    }

    /// A square grid in which one road in ten is closed: few neighbours, long ways.
    fn road(side: usize, rng: &mut Rng) -> Self {
        let mut pairs = Vec::new();
        for node in 0..side * side {
            let neighbours = [(node % side + 1 < side, node + 1), (node + side < side * side, node + side)];
            for (_, other) in neighbours.into_iter().filter(|(is_inside, _)| *is_inside) {
                if rng.below(10) > 0 {
                    pairs.extend([(node as u32, other as u32), (other as u32, node as u32)]);
                }
            }
        }
        Self::new(side * side, pairs)
    }

    fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    fn neighbours(&self, node: usize) -> &[u32] {
        &self.edges[self.first[node] as usize..self.first[node + 1] as usize]
    }

    /// The node with most neighbours, where the search starts.
    fn start(&self) -> usize {
        (0..self.nodes()).max_by_key(|n| self.neighbours(*n).len()).unwrap_or(0)
    }

    /// Distances from `start`, -1 where no way leads.
    fn distances(&self, start: usize) -> Vec<i32> {
        let mut distances = vec![-1; self.nodes()];
        distances[start] = 0;
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            for &other in self.neighbours(node) {
                if distances[other as usize] < 0 {
                    distances[other as usize] = distances[node] + 1;
                    queue.push_back(other as usize);
                }
            }
        }
        distances
    }
}

pub fn run(run: &mut Run<'_>) -> Result {
    let (scale, degree) = (run.size("rmat_scale")?, run.size("rmat_degree")?);
    let side = run.size("road_side")?;
    let rmat = Graph::rmat(scale, degree, &mut run.rng);
    search(run, "distances (R-MAT)", &rmat)?;
    let road = Graph::road(side, &mut run.rng);
    search(run, "distances (road)", &road)
}

fn search(run: &mut Run<'_>, name: &str, graph: &Graph) -> Result {
    let (nodes, start) = (graph.nodes(), graph.start());
    let first = run.upload("first_edge", &graph.first)?;
    let edges = run.upload("edges", &graph.edges)?;
    let mut at_start = vec![0u8; nodes];
    at_start[start] = 1;
    let frontier = run.upload("frontier", &at_start)?;
    let next = run.zeros::<u8>("next", nodes)?;
    let visited = run.upload("visited", &at_start)?;
    let mut none = vec![-1; nodes];
    none[start] = 0;
    let distance = run.upload("distance", &none)?;
    let again = run.zeros::<i32>("again", 1)?;

    let (grid, n) = (nodes.div_ceil(BLOCK), nodes as i32);
    loop {
        run.write(again, &[0]);
        let args =
            [first.into(), edges.into(), frontier.into(), next.into(), visited.into(), distance.into(), n.into()];
        run.launch("expand", grid, BLOCK, &args)?;
        run.launch("advance", grid, BLOCK, &[frontier.into(), next.into(), visited.into(), again.into(), n.into()])?;
        if run.download(again) == [0] {
            break;
        }
    }
    run.check(name, distance, &graph.distances(start))
}
