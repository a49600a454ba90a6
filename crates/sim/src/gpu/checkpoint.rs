//! Checkpoints of a launch: all there is between two windows.

use super::run::Run;
use super::seat::Seat;
use super::{GpuError, Progress};
use crate::parallel::lock;
use crate::saved::{self, Pass, Saved};
use crate::sm::build::Build;
use std::sync::PoisonError;

/// What a [`Keeper`] wants now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    /// To continue.
    #[default]
    None,
    /// The state, and to continue.
    Save,
    /// The state, and the end of the run.
    Stop,
}

/// Writes the state of a launch.
pub type WriteState<'a> = &'a mut dyn FnMut(&mut Pass<'_>) -> Result<(), saved::Error>;

/// Keeps the state of launches, from which they can be resumed ([`RunOptions::resume`](super::RunOptions::resume)).
pub trait Keeper {
    /// Asked at the start of a launch and every [`Keeper::windows`].
    fn wish(&mut self) -> Wish;

    /// Windows between two questions.
    fn windows(&self) -> u64 {
        256
    }

    /// Keeps what `state` writes.
    fn keep(&mut self, progress: Progress, state: WriteState<'_>);
}

impl<B: Build> Run<'_, '_, '_, '_, B> {
    /// Asks whether the state is wanted; false when the run ends here.
    pub(super) fn keep(&mut self) -> bool {
        let Some(keeper) = self.options.keeper.take() else { return true };
        let wish = keeper.wish();
        if wish != Wish::None {
            let progress = self.progress();
            keeper.keep(progress, &mut |pass| self.visit(pass));
        }
        self.options.keeper = Some(keeper);
        wish != Wish::Stop
    }

    /// Continues from a state that was kept.
    pub(super) fn resume(&mut self) -> Result<(), GpuError> {
        let Some(state) = self.options.resume.take() else { return Ok(()) };
        let mut pass = Pass::reading(state);
        self.visit(&mut pass).map_err(|e| GpuError::State(e.to_string()))?;
        if pass.rest().is_empty() { Ok(()) } else { Err(GpuError::State("it continues after its end".to_owned())) }
    }

    pub(super) fn progress(&self) -> Progress {
        Progress { cycles: self.gpu.now - self.start, ctas_done: self.done, ctas: self.total }
    }

    /// Everything that changes while a launch runs, between two windows.
    fn visit(&mut self, pass: &mut Pass<'_>) -> Result<(), saved::Error> {
        pass.same(&self.total)?;
        pass.value(&mut self.gpu.now)?;
        pass.value(&mut self.start)?;
        pass.value(&mut self.next)?;
        pass.value(&mut self.done)?;
        pass.value(&mut self.last_end)?;
        pass.value(&mut self.printed)?;
        pass.value(&mut self.printed_bytes)?;
        pass.value(&mut self.logical)?;
        pass.value(&mut self.dispatched_before)?;
        self.dispatcher.visit(pass)?;
        self.memory.write().unwrap_or_else(PoisonError::into_inner).visit(pass)?;
        self.gpu.memory.visit(pass)?;
        self.sms.iter().try_for_each(|seat| seat.visit(pass))
    }
}

impl<B: Build> Seat<'_, B> {
    fn visit(&self, pass: &mut Pass<'_>) -> Result<(), saved::Error> {
        lock(&self.sm).visit(pass)?;
        self.mail().visit(pass)?;
        self.sleep.visit(pass)
    }
}
