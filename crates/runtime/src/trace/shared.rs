//! A trace that several write to: a device its launches, and host code what it copies.

use super::Tracer;
use crate::timing::{LaunchObserver, Starting};
use raddle_sim::event::Event;
use raddle_sim::gpu::{Observer, Sample};
use raddle_sim::packet::Cycle;
use raddle_sim::residency::Residency;
use raddle_sim::result::LaunchResult;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One of those who write to a trace.
#[derive(Clone)]
pub struct SharedTracer(Arc<Mutex<Tracer>>);

impl SharedTracer {
    /// The first.
    #[must_use]
    pub fn new(tracer: Tracer) -> Self {
        Self(Arc::new(Mutex::new(tracer)))
    }

    /// The trace.
    pub fn lock(&self) -> MutexGuard<'_, Tracer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for SharedTracer {
    fn event(&mut self, event: &Event) {
        self.lock().event(event);
    }

    fn wants_states(&self) -> bool {
        self.lock().wants_states()
    }

    fn hears(&self, sm: u16) -> bool {
        self.lock().hears(sm)
    }

    fn interval(&self) -> Option<Cycle> {
        self.lock().interval()
    }

    fn sample(&mut self, sample: &Sample) {
        self.lock().sample(sample);
    }
}

impl LaunchObserver for SharedTracer {
    fn launch(&mut self, number: usize, residency: &Residency) {
        self.lock().launch(number, residency);
    }

    fn starts(&mut self, launch: &Starting<'_>) {
        self.lock().starts(launch);
    }

    fn ends(&mut self, result: &LaunchResult) {
        self.lock().ends(result);
    }
}
