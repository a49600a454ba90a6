//! Which logical block, and which warp of it, each warp of a virtual block is.
//!
//! The dispatch rule of the VTW paper, sections 4.2 and 4.4, without time. A warp runs the kernel once for every logical
//! block it takes part in; these are its *iterations*, numbered from one. The first warp of a virtual block to leave an
//! iteration asks for the logical block of the next one, and the others get the same when they leave. No warp begins an
//! iteration before all others have begun the one before it.

use raddle_ptx::num::fit;
use raddle_ptx::transform::ThreadOrder;

/// What a warp that has left an iteration can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Begin the next one.
    Begin,
    /// Somebody must ask for the logical block.
    Ask,
    /// Wait for the logical block, which has been asked for.
    Asked,
    /// Wait: it would be two ahead of this warp.
    TwoAhead(u16),
}

/// A warp of a virtual block.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Warp {
    /// The iteration it is in, or has left and waits behind; 0 before the first.
    iteration: u32,
    /// Its logical block.
    block: u32,
    /// The warp of the logical block it is in it.
    role: u16,
    has_left: bool,
    /// It will begin no other.
    has_ended: bool,
}

/// An iteration that is under way or comes next.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Iteration {
    /// Its logical block.
    block: Option<u32>,
    asked: bool,
    /// Warps of the logical block that nobody is yet, the next one last.
    roles: Vec<u16>,
    /// Warps that have left it.
    left: u16,
}

/// The warps of a virtual block.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct IndexMap {
    #[serde(skip)]
    order: ThreadOrder,
    /// The last warp is not full, so it stays the last one.
    is_last_partial: bool,
    warps: Vec<Warp>,
    /// By the lowest bit of their numbers: no more than two are under way.
    iterations: [Iteration; 2],
    /// Those who have left an iteration and wait, in the order in which they came.
    waiting: Vec<u16>,
}

impl IndexMap {
    /// Says which warps others become, which is not saved.
    pub(super) fn set_order(&mut self, order: ThreadOrder) {
        self.order = order;
    }

    /// A virtual block with so many warps, which begins with this logical block.
    pub(super) fn new(order: ThreadOrder, warps: u16, is_last_partial: bool, first: u32) -> Self {
        let mut map = Self {
            order,
            is_last_partial,
            warps: vec![Warp::default(); usize::from(warps)],
            iterations: [Iteration::default(), Iteration::default()],
            waiting: Vec::new(),
        };
        // Everybody begins as the warp it is.
        *map.at_mut(1) = Iteration { block: Some(first), asked: true, ..Iteration::default() };
        map
    }

    /// The warps with their numbers.
    fn numbered(&self) -> impl Iterator<Item = (u16, &Warp)> {
        (0..).zip(&self.warps)
    }

    /// The warps that have not ended.
    fn live(&self) -> impl Iterator<Item = (u16, &Warp)> {
        self.numbered().filter(|(_, w)| !w.has_ended)
    }

    fn at(&self, iteration: u32) -> &Iteration {
        &self.iterations[iteration as usize & 1]
    }

    fn at_mut(&mut self, iteration: u32) -> &mut Iteration {
        &mut self.iterations[iteration as usize & 1]
    }

    /// The iteration a warp is in.
    pub(super) fn iteration(&self, warp: u16) -> u32 {
        self.warps[usize::from(warp)].iteration
    }

    /// Which warp of its logical block it is.
    pub(super) fn role(&self, warp: u16) -> u16 {
        self.warps[usize::from(warp)].role
    }

    /// Whether it has left its iteration and waits for the next.
    pub(super) fn has_left(&self, warp: u16) -> bool {
        self.warps[usize::from(warp)].has_left
    }

    /// Those who wait for their next iteration, in the order in which they came.
    pub(super) fn waiting(&self) -> &[u16] {
        &self.waiting
    }

    /// The logical block of an iteration under way.
    pub(super) fn block(&self, iteration: u32) -> Option<u32> {
        self.live().find(|(_, w)| w.iteration == iteration).map(|(_, w)| w.block)
    }

    /// A warp has left its iteration. `progress` is how many instructions a warp has executed in its own.
    pub(super) fn leave(&mut self, warp: u16, progress: impl Fn(u16) -> u64) {
        let iteration = self.iteration(warp);
        self.warps[usize::from(warp)].has_left = true;
        self.waiting.push(warp);
        if iteration == 0 {
            return;
        }
        self.at_mut(iteration).left += 1;
        if self.at(iteration).left == 1 {
            let mut roles = self.roles_behind(iteration, progress);
            roles.reverse();
            // What is there is of the iteration before, which everybody has begun.
            let next = self.at_mut(iteration + 1);
            (next.block, next.asked, next.roles) = (None, false, roles);
        }
    }

    /// The warps of the logical block behind an iteration, in the order in which they are given out.
    fn roles_behind(&self, iteration: u32, progress: impl Fn(u16) -> u64) -> Vec<u16> {
        let given = fit::<u16, _>(self.warps.len()) - u16::from(self.is_last_partial);
        let mut roles: Vec<u16> = (0..given).collect();
        if self.order == ThreadOrder::SlowestLane {
            // A warp that nobody is yet has done nothing.
            let mut done = vec![0; self.warps.len()];
            for (n, warp) in self.numbered().filter(|(_, w)| w.iteration == iteration) {
                done[usize::from(warp.role)] = progress(n);
            }
            roles.sort_by_key(|role| (done[usize::from(*role)], *role));
        }
        roles
    }

    /// What a warp that has left its iteration can do.
    pub(super) fn next(&self, warp: u16) -> Next {
        let iteration = self.iteration(warp);
        if let Some((behind, _)) = self.live().find(|(_, w)| w.iteration < iteration) {
            return Next::TwoAhead(behind);
        }
        match self.at(iteration + 1) {
            Iteration { block: Some(_), .. } => Next::Begin,
            Iteration { asked: true, .. } => Next::Asked,
            _ => Next::Ask,
        }
    }

    /// The logical block of the iteration behind this one has been asked for.
    pub(super) fn asked(&mut self, iteration: u32) {
        self.at_mut(iteration + 1).asked = true;
    }

    /// It is this one.
    pub(super) fn answer(&mut self, block: u32) {
        if let Some(asked) = self.iterations.iter_mut().find(|i| i.asked && i.block.is_none()) {
            asked.block = Some(block);
        }
    }

    /// A warp begins its next iteration: the logical block.
    pub(super) fn begin(&mut self, warp: u16) -> u32 {
        self.waiting.retain(|w| *w != warp);
        let stays = self.iteration(warp) == 0
            || self.order == ThreadOrder::SameLane
            || self.is_last_partial && usize::from(warp) + 1 == self.warps.len();
        let number = self.iteration(warp) + 1;
        if self.live().all(|(_, w)| w.iteration < number) {
            self.at_mut(number).left = 0;
        }
        let iteration = self.at_mut(number);
        let role = if stays { warp } else { iteration.roles.pop().unwrap_or(warp) };
        let block = iteration.block.unwrap_or(u32::MAX);
        self.warps[usize::from(warp)] = Warp { iteration: number, block, role, has_left: false, has_ended: false };
        block
    }

    /// A warp has ended.
    pub(super) fn end(&mut self, warp: u16) {
        self.warps[usize::from(warp)].has_ended = true;
        self.waiting.retain(|w| *w != warp);
    }

    /// Whether others of the virtual block are still in the iteration before: they may use shared memory, and it may not.
    pub(super) fn is_ahead(&self, warp: u16) -> bool {
        let iteration = self.iteration(warp);
        iteration > 1 && self.live().any(|(_, w)| w.iteration + 1 == iteration && !w.has_left)
    }

    /// Whether a warp has left an iteration, or is behind it.
    pub(super) fn is_past(&self, warp: u16, iteration: u32) -> bool {
        let warp = &self.warps[usize::from(warp)];
        warp.has_ended || warp.iteration > iteration || warp.iteration == iteration && warp.has_left
    }

    /// Whether no warp is still in an iteration, or before it.
    pub(super) fn all_have_left(&self, iteration: u32) -> bool {
        (0u16..).zip(&self.warps).all(|(n, _)| self.is_past(n, iteration))
    }

    /// The iterations that are under way: the lowest of all warps, and the one behind it.
    pub(super) fn under_way(&self) -> [u32; 2] {
        let lowest = self.live().map(|(_, w)| w.iteration).min().unwrap_or(0);
        [lowest, lowest + 1]
    }
}

#[cfg(test)]
mod tests;
