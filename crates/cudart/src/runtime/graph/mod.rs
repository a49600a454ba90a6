//! Graphs: operations with an order between some of them, captured from streams or built by hand, and performed later.

pub(crate) mod api;
pub(crate) mod nodes;
mod parameters;

use super::stream::Operation;
use crate::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// A node, by its handle. Handles ascend in the order in which nodes are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(crate) u64);

/// Something to do, after some nodes.
#[derive(Clone, Debug)]
struct Node {
    operation: Operation,
    before: BTreeSet<NodeId>,
    /// The node of which this is a copy.
    original: Option<NodeId>,
}

/// Nodes, in the order in which they were added.
#[derive(Clone, Debug, Default)]
struct Graph {
    nodes: BTreeMap<NodeId, Node>,
}

impl Graph {
    /// The nodes in an order that their edges allow: of those that can be next, the one that was added first. None where
    /// edges are a circle.
    fn order(&self) -> Option<Vec<NodeId>> {
        let mut after: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
        let mut missing: BTreeMap<NodeId, usize> = BTreeMap::new();
        let mut ready = BTreeSet::new();
        for (id, node) in &self.nodes {
            node.before.iter().for_each(|before| after.entry(*before).or_default().push(*id));
            missing.insert(*id, node.before.len());
            if node.before.is_empty() {
                ready.insert(*id);
            }
        }
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(id) = ready.pop_first() {
            order.push(id);
            for next in after.remove(&id).unwrap_or_default() {
                let left = missing.get_mut(&next)?;
                *left -= 1;
                if *left == 0 {
                    ready.insert(next);
                }
            }
        }
        (order.len() == self.nodes.len()).then_some(order)
    }

    /// All edges, by the node they lead to.
    fn edges(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.nodes.iter().flat_map(|(to, node)| node.before.iter().map(|from| (*from, *to)))
    }

    /// The graph made ready.
    fn executable(&self) -> Result<Executable> {
        let order = self.order().ok_or(Error::INVALID_VALUE)?;
        let places: BTreeMap<NodeId, usize> = self.nodes.keys().copied().zip(0..).collect();
        let step = |(id, node): (&NodeId, &Node)| Step {
            node: *id,
            operation: node.operation.clone(),
            before: node.before.iter().map(|before| places[before]).collect(),
            is_enabled: true,
        };
        let order = order.into_iter().map(|id| places[&id]).collect();
        Ok(Executable { steps: self.nodes.iter().map(step).collect(), order })
    }
}

/// A node of a graph that was made ready.
#[derive(Clone, Debug)]
struct Step {
    node: NodeId,
    operation: Operation,
    /// Places of the steps before it.
    before: Vec<usize>,
    is_enabled: bool,
}

/// A graph made ready: what is done to the graph afterwards does not change it.
#[derive(Clone, Debug)]
pub(crate) struct Executable {
    /// In the order in which nodes were added.
    steps: Vec<Step>,
    /// Places of the steps, in the order in which they are performed.
    order: Vec<usize>,
}

/// Why an executable graph is not updated: the interface's number, and the place of the node.
type Mismatch = (i32, Option<usize>);
const TOPOLOGY_CHANGED: i32 = 2;
const KIND_CHANGED: i32 = 3;

impl Executable {
    /// What it does, in order.
    pub(crate) fn operations(&self) -> Vec<Operation> {
        let steps = self.order.iter().map(|place| &self.steps[*place]);
        steps.filter(|step| step.is_enabled).map(|step| step.operation.clone()).collect()
    }

    /// Does from now on what another does that has the same shape.
    fn update(&mut self, other: Self) -> std::result::Result<(), Mismatch> {
        self.compare(&other)?;
        for (own, new) in self.steps.iter_mut().zip(other.steps) {
            own.operation = new.operation;
        }
        Ok(())
    }

    fn compare(&self, other: &Self) -> std::result::Result<(), Mismatch> {
        if self.steps.len() != other.steps.len() {
            return Err((TOPOLOGY_CHANGED, None));
        }
        for (place, (own, new)) in self.steps.iter().zip(&other.steps).enumerate() {
            if own.before != new.before {
                return Err((TOPOLOGY_CHANGED, Some(place)));
            }
            if own.operation.kind() != new.operation.kind() {
                return Err((KIND_CHANGED, Some(place)));
            }
            if let (Operation::Graph(own), Operation::Graph(new)) = (&own.operation, &new.operation) {
                own.compare(new).map_err(|(why, _)| (why, Some(place)))?;
            }
        }
        Ok(())
    }

    fn step(&mut self, node: NodeId) -> Result<&mut Step> {
        self.steps.iter_mut().find(|step| step.node == node).ok_or(Error::INVALID_VALUE)
    }
}

/// Graphs and executable graphs by their handles.
#[derive(Debug, Default)]
pub(crate) struct Graphs {
    graphs: BTreeMap<u64, Graph>,
    executables: BTreeMap<u64, Executable>,
    /// The graph that each node is in.
    owners: BTreeMap<NodeId, u64>,
    /// The last node that was added.
    last: u64,
}

/// Handles of nodes are apart from those of everything else.
const FIRST_NODE: u64 = 1 << 40;

impl Graphs {
    fn graph(&self, handle: u64) -> Result<&Graph> {
        self.graphs.get(&handle).ok_or(Error::INVALID_VALUE)
    }

    /// Adds a node.
    pub(crate) fn add(&mut self, graph: u64, operation: Operation, before: BTreeSet<NodeId>) -> Result<NodeId> {
        let nodes = &mut self.graphs.get_mut(&graph).ok_or(Error::INVALID_VALUE)?.nodes;
        if !before.iter().all(|node| nodes.contains_key(node)) {
            return Err(Error::INVALID_VALUE);
        }
        self.last += 16;
        let id = NodeId(FIRST_NODE + self.last);
        nodes.insert(id, Node { operation, before, original: None });
        self.owners.insert(id, graph);
        Ok(id)
    }

    /// A node that is in a graph.
    fn node(&mut self, id: NodeId) -> Result<&mut Node> {
        let graph = self.owners.get(&id).ok_or(Error::INVALID_VALUE)?;
        self.graphs.get_mut(graph).and_then(|graph| graph.nodes.get_mut(&id)).ok_or(Error::INVALID_VALUE)
    }

    /// Forgets a node and its edges.
    fn remove(&mut self, id: NodeId) -> Result {
        let owner = self.owners.remove(&id).ok_or(Error::INVALID_VALUE)?;
        let nodes = &mut self.graphs.get_mut(&owner).ok_or(Error::INVALID_VALUE)?.nodes;
        nodes.remove(&id);
        nodes.values_mut().for_each(|node| {
            node.before.remove(&id);
        });
        Ok(())
    }

    /// Forgets a graph; says whether there was one.
    pub(crate) fn forget(&mut self, graph: u64) -> bool {
        self.owners.retain(|_, owner| *owner != graph);
        self.graphs.remove(&graph).is_some()
    }

    /// A copy of a graph under a new handle. Its nodes know of which they are copies.
    fn copy(&mut self, graph: u64, handle: u64) -> Result {
        let nodes = self.graph(graph)?.nodes.clone();
        let mut names = BTreeMap::new();
        let mut copied = Graph::default();
        for id in nodes.keys() {
            self.last += 16;
            names.insert(*id, NodeId(FIRST_NODE + self.last));
            self.owners.insert(names[id], handle);
        }
        for (id, node) in nodes {
            let before = node.before.iter().map(|before| names[before]).collect();
            copied.nodes.insert(names[&id], Node { before, original: Some(id), ..node });
        }
        self.graphs.insert(handle, copied);
        Ok(())
    }

    /// These nodes and all that come before them.
    pub(crate) fn reached(&self, graph: u64, from: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
        let Ok(graph) = self.graph(graph) else { return BTreeSet::new() };
        let mut reached = BTreeSet::new();
        let mut next: Vec<NodeId> = from.iter().copied().collect();
        while let Some(id) = next.pop() {
            if reached.insert(id) {
                next.extend(graph.nodes.get(&id).into_iter().flat_map(|node| &node.before));
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph with so many nodes and edges between them, by place.
    fn graph(nodes: usize, edges: &[(usize, usize)]) -> Graph {
        let mut graph = Graph::default();
        for place in 0..nodes {
            let before = edges.iter().filter(|(_, to)| *to == place).map(|(from, _)| NodeId(*from as u64)).collect();
            graph.nodes.insert(NodeId(place as u64), Node { operation: Operation::Nothing, before, original: None });
        }
        graph
    }

    fn places(order: &[NodeId]) -> Vec<u64> {
        order.iter().map(|id| id.0).collect()
    }

    #[test]
    fn edges_are_obeyed_and_otherwise_the_order_of_adding() {
        assert_eq!(places(&graph(4, &[]).order().unwrap()), [0, 1, 2, 3]);
        assert_eq!(places(&graph(4, &[(3, 0), (1, 3)]).order().unwrap()), [1, 2, 3, 0]);
        assert_eq!(graph(3, &[(0, 1), (1, 2), (2, 0)]).order(), None);
        assert_eq!(graph(1, &[(0, 0)]).order(), None);
    }

    #[test]
    fn only_graphs_of_the_same_shape_update() {
        let mut one = graph(3, &[(0, 1), (0, 2)]).executable().unwrap();
        assert_eq!(one.update(graph(3, &[(0, 1), (0, 2)]).executable().unwrap()), Ok(()));
        assert_eq!(one.update(graph(2, &[(0, 1)]).executable().unwrap()), Err((TOPOLOGY_CHANGED, None)));
        assert_eq!(one.update(graph(3, &[(0, 1), (1, 2)]).executable().unwrap()), Err((TOPOLOGY_CHANGED, Some(2))));
        let mut other = graph(3, &[(0, 1), (0, 2)]);
        other.nodes.get_mut(&NodeId(1)).unwrap().operation = Operation::Record { event: 7 };
        assert_eq!(one.update(other.executable().unwrap()), Err((KIND_CHANGED, Some(1))));
    }

    #[test]
    fn nodes_that_are_removed_take_their_edges_along() {
        let mut graphs = Graphs::default();
        graphs.graphs.insert(7, Graph::default());
        let first = graphs.add(7, Operation::Nothing, BTreeSet::new()).unwrap();
        let second = graphs.add(7, Operation::Nothing, BTreeSet::from([first])).unwrap();
        graphs.copy(7, 8).unwrap();
        assert_eq!(graphs.reached(7, &BTreeSet::from([second])).len(), 2);
        graphs.remove(first).unwrap();
        assert_eq!(graphs.remove(first), Err(Error::INVALID_VALUE));
        assert_eq!(graphs.graph(7).unwrap().edges().count(), 0);
        assert_eq!(graphs.graph(8).unwrap().edges().count(), 1);
        assert!(graphs.graph(8).unwrap().nodes.values().any(|node| node.original == Some(second)));
        assert!(graphs.forget(7) && !graphs.forget(7));
        assert!(graphs.node(second).is_err());
    }
}
