//! The state of mechanisms, for checkpoints.

use super::{Dispatcher, Divergence, FetchScheduler, Ganging, Gating, IssueScheduler, LogicalBlocks, Mechanisms, Seam};
use crate::saved::{self, Pass, Saved};
use std::io;

macro_rules! state {
    ($($seam:ident: $role:ident),+) => {
        $(impl Saved for dyn $role {
            fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), saved::Error> {
                let has_fields = size_of_val(self) > 0;
                match self.saved() {
                    Some(state) => state.visit(pass),
                    None if has_fields => Err(saved::Error::Unsaved(format!("the mechanism at `{}`", Seam::$seam.key()))),
                    None => Ok(()),
                }
            }
        })+
    };
}
state!(Divergence: Divergence, Issue: IssueScheduler, Fetch: FetchScheduler);
state!(Dispatch: Dispatcher, Ganging: Ganging, Gating: Gating, LogicalBlocks: LogicalBlocks);

impl Mechanisms<'_> {
    /// Whether the state of all mechanisms can be saved.
    ///
    /// # Errors
    /// The key and the name of one that does not say how.
    pub fn can_be_saved(&self) -> Result<(), String> {
        let mut own = self.for_sm()?;
        let mut dispatcher = self.dispatcher()?;
        let mut nowhere = io::sink();
        let mut pass = Pass::writing(&mut nowhere);
        let all = [
            (Seam::Divergence, own.divergence.visit(&mut pass)),
            (Seam::Issue, own.issue.visit(&mut pass)),
            (Seam::Fetch, own.fetch.visit(&mut pass)),
            (Seam::Dispatch, dispatcher.visit(&mut pass)),
            (Seam::Ganging, own.ganging.visit(&mut pass)),
            (Seam::Gating, own.gating.visit(&mut pass)),
            (Seam::LogicalBlocks, own.logical_blocks.visit(&mut pass)),
        ];
        for (seam, result) in all {
            if result.is_err() {
                let name = self.info(seam).map_or("?", |info| info.name);
                return Err(format!("{} `{name}` does not say how its state is saved", seam.key()));
            }
        }
        Ok(())
    }
}
