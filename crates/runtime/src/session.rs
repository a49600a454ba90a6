//! Running a plan.

use crate::compare::compare;
use crate::condition::Condition;
use crate::device::{Device, ModuleId, Setup, Shape};
use crate::error::{Error, Problem};
use crate::fill::Fill;
use crate::outcome::{Checked, Launched, Outcome};
use crate::params;
use crate::plan::{Buffer, Expect, LaunchPlan, LoopPlan, Plan, Step, Want};
use crate::ptx_file::PtxFile;
use crate::timing::Watch;
use raddle_exec::Launch;

/// A step that has been checked.
enum Ready<'a> {
    Launch(ReadyLaunch<'a>),
    Loop(ReadyLoop<'a>),
}

/// A launch that has been checked.
struct ReadyLaunch<'a> {
    kernel: String,
    launch: Launch,
    plan: &'a LaunchPlan,
}

/// A loop that has been checked.
struct ReadyLoop<'a> {
    body: Vec<ReadyLaunch<'a>>,
    /// Allocations that are written before every round, and what with.
    reset: Vec<(usize, Vec<u8>)>,
    plan: &'a LoopPlan,
}

/// A plan with its module and buffers in device memory.
pub struct Session<'a> {
    plan: &'a Plan,
    device: Device<'a>,
    /// Allocations of the plan's buffers.
    allocations: Vec<usize>,
    /// Steps with what they run, checked before the first launch is made.
    ready: Vec<Ready<'a>>,
    /// Right values, read before the first launch.
    wants: Vec<(&'a Expect, Vec<u8>)>,
}

impl<'a> Session<'a> {
    /// Loads the module, allocates and fills the buffers and checks every launch and expectation,
    /// so that a long run does not end in a mistake that could have been seen at its start.
    ///
    /// # Errors
    /// When a file cannot be used, or a launch does not fit its kernel.
    pub fn new(plan: &'a Plan, ptx: &'a PtxFile, setup: &'a Setup) -> Result<Self, Error> {
        let mut device = Device::load(setup, ptx, !plan.pack_buffers)?;
        let allocations = plan.buffers.iter().map(|b| allocate(b, &mut device)).collect::<Result<_, _>>()?;
        let mut session = Self { plan, device, allocations, ready: Vec::new(), wants: Vec::new() };
        session.bind_textures()?;
        for step in &plan.steps {
            let ready = match step {
                Step::Launch(launch) => Ready::Launch(session.prepare(launch)?),
                Step::Loop(rounds) => Ready::Loop(session.prepare_loop(rounds)?),
            };
            session.ready.push(ready);
        }
        for expect in &plan.expects {
            let want = session.want(expect)?;
            session.wants.push((expect, want));
        }
        Ok(session)
    }

    /// Binds the textures to what their buffers hold now.
    fn bind_textures(&mut self) -> Result<(), Error> {
        for texture in &self.plan.textures {
            let here = |problem: Problem| problem.at(texture.at.clone());
            // Rows of several are a copy in an array, which lies elsewhere.
            let in_place =
                (texture.format.height <= 1).then(|| self.device.allocation(self.allocations[texture.buffer]).1);
            let made = texture.format.texture(self.bytes(texture.buffer), in_place).map_err(here)?;
            self.device.bind_texture(&texture.name, made).map_err(|error| match error {
                Error::Problem(problem) => here(problem).into(),
                other => other,
            })?;
        }
        Ok(())
    }

    fn prepare_loop(&mut self, plan: &'a LoopPlan) -> Result<ReadyLoop<'a>, Error> {
        self.check_condition(&plan.condition)?;
        let body = plan.body.iter().map(|launch| self.prepare(launch)).collect::<Result<_, _>>()?;
        let reset = plan.reset.iter().map(|buffer| {
            let allocation = self.allocations[*buffer];
            // Nothing has been launched yet: these are the first contents, no matter where a run resumes.
            (allocation, self.device.memory().bytes(allocation).to_vec())
        });
        Ok(ReadyLoop { body, reset: reset.collect(), plan })
    }

    /// Refuses a condition on an element that the buffer does not have.
    fn check_condition(&self, condition: &Condition) -> Result<(), Error> {
        let Buffer { name, ty, .. } = &self.plan.buffers[condition.buffer];
        let len = (self.device.size(self.allocations[condition.buffer]) / ty.bytes()) as u64;
        if condition.element < len {
            return Ok(());
        }
        let message = format!("buffer `{name}` has {len} elements, the condition reads element {}", condition.element);
        Err(Problem::new(message).help("elements are counted from 0").at(condition.at.clone()).into())
    }

    fn prepare(&mut self, plan: &'a LaunchPlan) -> Result<ReadyLaunch<'a>, Error> {
        plan.condition.iter().try_for_each(|condition| self.check_condition(condition))?;
        let ptx = self.device.ptx();
        let here = |error: Error| match error {
            Error::Problem(p) if p.at.is_none() => Error::Problem(p.at(plan.at.clone())),
            other => other,
        };
        let kernel = ptx.kernel(plan.kernel.as_deref()).map_err(|p| here(p.into()))?;
        let shape = Shape { grid: plan.grid, block: plan.block, shared: plan.shared };
        let mut launch = self.device.shape(ModuleId::FIRST, shape)?;
        let sizes = self.device.virtualize(kernel, &mut launch).map_err(here)?;
        let layout = self.device.check_launch(kernel, &launch).map_err(here)?.clone();
        let own = plan.args.iter().map(|a| (&a.value, &a.at));
        let args: Vec<_> = own.chain(sizes.iter().map(|value| (value, &plan.at))).collect();
        let pointer = |buffer: usize| self.device.allocation(self.allocations[buffer]);
        launch.params = params::encode(&ptx.module, &layout, &args, &pointer).map_err(|p| here(p.into()))?;
        Ok(ReadyLaunch { kernel: kernel.to_owned(), launch, plan })
    }

    fn want(&self, expect: &Expect) -> Result<Vec<u8>, Error> {
        let buffer = &self.plan.buffers[expect.buffer];
        let len = self.allocations.get(expect.buffer).map_or(0, |index| self.device.size(*index)) / buffer.ty.bytes();
        let (bytes, must_be_equal) = match &expect.want {
            Want::File(file) => (file.read(buffer.ty)?, true),
            Want::Values(values) => {
                let mut bytes = Vec::new();
                values.iter().for_each(|v| buffer.ty.store(*v, &mut bytes));
                (bytes, false)
            }
        };
        let wanted = bytes.len() / buffer.ty.bytes();
        if wanted > len || (must_be_equal && wanted != len) {
            let message = format!("buffer `{}` has {len} elements, {wanted} are expected of it", buffer.name);
            return Err(Problem::new(message).at(expect.at.clone()).into());
        }
        Ok(bytes)
    }

    /// Makes all launches, then compares and writes what the plan asks for. Ends early where a launch does not
    /// complete.
    ///
    /// # Errors
    /// When the executor cannot run a kernel, or a file cannot be written.
    pub fn run(&mut self, watch: Watch<'a>) -> Result<Outcome, Error> {
        self.device.watch(watch);
        let ended = self.launch_all();
        let mut outcome = Outcome { launches: self.device.take_launches(), ..Outcome::default() };
        match ended {
            Ok(()) => {}
            Err(Error::Stopped { .. }) => return Ok(outcome),
            Err(error) => return Err(error),
        }
        outcome.memory = self.device.check();
        for (expect, want) in &self.wants {
            let ty = self.plan.buffers[expect.buffer].ty;
            let comparison = compare(ty, ty.iter(self.bytes(expect.buffer)), ty.iter(want), expect.within);
            outcome.checks.push(Checked { buffer: expect.buffer, comparison });
        }
        for output in &self.plan.outputs {
            output.file.write(self.plan.buffers[output.buffer].ty, self.bytes(output.buffer))?;
            outcome.written.push((output.buffer, output.file.path.display().to_string()));
        }
        Ok(outcome)
    }

    /// Makes all launches and nothing else: what they are and what work they have. Ends early where a launch does not
    /// complete.
    ///
    /// # Errors
    /// When the executor cannot run a kernel.
    pub fn profile(&mut self) -> Result<Vec<Launched>, Error> {
        match self.launch_all() {
            Ok(()) | Err(Error::Stopped { .. }) => Ok(self.device.take_launches()),
            Err(error) => Err(error),
        }
    }

    fn launch_all(&mut self) -> Result<(), Error> {
        let ready = std::mem::take(&mut self.ready);
        let ended = ready.iter().try_for_each(|step| match step {
            Ready::Launch(launch) => self.launch(launch),
            Ready::Loop(rounds) => self.rounds(rounds),
        });
        self.ready = ready;
        ended
    }

    /// Makes the launches of a loop until its condition does not hold.
    fn rounds(&mut self, ready: &ReadyLoop<'_>) -> Result<(), Error> {
        let LoopPlan { condition, max_rounds, .. } = ready.plan;
        for _ in 0..*max_rounds {
            for (allocation, bytes) in &ready.reset {
                self.device.write_bytes(*allocation, bytes);
            }
            ready.body.iter().try_for_each(|launch| self.launch(launch))?;
            if !self.holds(condition) {
                return Ok(());
            }
        }
        let message = format!("`{}` still holds after {max_rounds} rounds, the most of this loop", condition.text);
        let help = "if the kernels are right, give the loop more with `max-rounds`";
        Err(Problem::new(message).help(help).at(condition.at.clone()).into())
    }

    /// Makes a launch as often as its plan says, unless its condition does not hold.
    fn launch(&mut self, ready: &ReadyLaunch<'_>) -> Result<(), Error> {
        if ready.plan.condition.as_ref().is_some_and(|condition| !self.holds(condition)) {
            return Ok(());
        }
        for _ in 0..ready.plan.repeat {
            if self.plan.textures.is_empty() {
                self.device.start(&ready.kernel, &ready.launch)?;
                continue;
            }
            // A launch reads its textures as they are when it begins.
            self.bind_textures()?;
            let textures = self.device.textures(ModuleId::FIRST)?.clone();
            self.device.start(&ready.kernel, &Launch { textures, ..ready.launch.clone() })?;
        }
        Ok(())
    }

    /// Whether a condition holds now.
    fn holds(&self, condition: &Condition) -> bool {
        let ty = self.plan.buffers[condition.buffer].ty;
        let at = condition.element as usize * ty.bytes();
        condition.holds(ty, ty.load(self.device.bytes_at(self.allocations[condition.buffer], at, ty.bytes())))
    }

    /// The bytes of a buffer as they are now.
    #[must_use]
    pub fn bytes(&self, buffer: usize) -> &[u8] {
        self.allocations.get(buffer).map_or(&[], |index| self.device.bytes(*index))
    }
}

/// Allocates a buffer and fills it; gives the number of its allocation.
fn allocate(buffer: &Buffer, device: &mut Device<'_>) -> Result<usize, Error> {
    let ty = buffer.ty;
    let from_file = match &buffer.fill {
        Fill::File(file) => Some(file.read(ty)?),
        _ => None,
    };
    let own = from_file.as_ref().map(|b| (b.len() / ty.bytes()) as u64).or(buffer.fill.own_len());
    let len = buffer.len.or(own).unwrap_or(0);
    if own.is_some_and(|own| own > len) {
        let message = format!("buffer `{}` has {len} elements, its contents {}", buffer.name, own.unwrap_or(0));
        return Err(Problem::new(message).at(buffer.at.clone()).into());
    }
    let size = len.saturating_mul(ty.bytes() as u64);
    let index = device.alloc_bytes(&buffer.name, size).map_err(|p| p.at(buffer.at.clone()))?;
    if let Some(bytes) = from_file {
        device.write_bytes(index, &bytes);
    } else if let Some(values) = buffer.fill.values(ty, len) {
        device.write_elements(index, ty, values);
    }
    if buffer.fill != Fill::Unwritten {
        device.mark_written(index);
    }
    Ok(index)
}
