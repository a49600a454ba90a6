//! Ending a launch from outside, when somebody no longer waits for it.

use std::fmt;
use std::sync::Arc;

/// A question that is asked now and then while a launch runs: whether it is to end before it is done. Where memory is
/// then depends on when the answer came, so only programs that throw the result away use it.
#[derive(Clone)]
pub struct Interrupt(Arc<dyn Fn() -> bool + Send + Sync>);

impl Interrupt {
    /// Asks this function, from any thread that runs a part of the launch.
    pub fn new(ask: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }

    /// Whether the launch is to end.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupt")
    }
}
