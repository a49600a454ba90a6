//! What is to be done: a module, buffers, launches in order, and what must come out.
//!
//! Buffers are allocated in the order of [`Plan::buffers`], after the module's own global
//! variables. That is the order of declaration in a launch file and of the arguments on the
//! command line; addresses, and so cache sets and memory channels, follow from it.

use crate::condition::Condition;
use crate::data::DataFile;
use crate::element::Element;
use crate::error::{At, Problem};
use crate::fill::Fill;
use crate::texture::Format;
use std::path::PathBuf;

/// Everything one run does.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The PTX file.
    pub module: PathBuf,
    /// Nothing is left free between buffers.
    pub pack_buffers: bool,
    /// Buffers, in order of allocation.
    pub buffers: Vec<Buffer>,
    /// Textures, bound for all launches.
    pub textures: Vec<TexturePlan>,
    /// Launches and loops of them, in order.
    pub steps: Vec<Step>,
    /// What buffers must hold in the end.
    pub expects: Vec<Expect>,
    /// Buffers written to files in the end.
    pub outputs: Vec<Output>,
}

/// A buffer in device memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Name, unique in the plan.
    pub name: String,
    /// Element type.
    pub ty: Element,
    /// Elements; `None` when the contents say it.
    pub len: Option<u64>,
    /// Contents at the start.
    pub fill: Fill,
    /// Place in the launch file.
    pub at: At,
}

/// A buffer read as a texture.
#[derive(Clone, Debug, PartialEq)]
pub struct TexturePlan {
    /// The `.texref` variable it is bound to.
    pub name: String,
    /// Index into [`Plan::buffers`].
    pub buffer: usize,
    /// How its bytes are read.
    pub format: Format,
    /// Place in the launch file.
    pub at: At,
}

/// A launch, or several that are made again and again.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// One `[[launch]]`.
    Launch(LaunchPlan),
    /// One `[[loop]]`.
    Loop(LoopPlan),
}

/// One `[[loop]]`: rounds of launches, at least one, and another as long as the condition holds.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopPlan {
    /// The launches of a round.
    pub body: Vec<LaunchPlan>,
    /// Whether there is another round.
    pub condition: Condition,
    /// Buffers that get their first contents again before every round, as indices into [`Plan::buffers`].
    pub reset: Vec<usize>,
    /// The most rounds; a loop that has more is an error.
    pub max_rounds: u32,
    /// Place in the launch file.
    pub at: At,
}

/// One `[[launch]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchPlan {
    /// The kernel; may be left out when the module has one.
    pub kernel: Option<String>,
    /// Thread blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads per block in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory in bytes.
    pub shared: u32,
    /// Arguments, in the order of the kernel's parameters.
    pub args: Vec<Arg>,
    /// How many times it is launched.
    pub repeat: u32,
    /// What must hold for it to be launched.
    pub condition: Option<Condition>,
    /// Place in the launch file.
    pub at: At,
}

/// One argument of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// What is passed.
    pub value: ArgValue,
    /// Place in the launch file.
    pub at: At,
}

/// What an argument passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgValue {
    /// The address of a buffer, an index into [`Plan::buffers`].
    Buffer(usize),
    /// A scalar of a stated type, as bits.
    Scalar(Element, u64),
    /// A number that takes the type of the parameter.
    Number(String),
    /// Bytes of a parameter passed by value, such as a structure.
    Bytes(Vec<u8>),
}

/// What a buffer must hold in the end.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// Index into [`Plan::buffers`].
    pub buffer: usize,
    /// The right values.
    pub want: Want,
    /// How close.
    pub within: Within,
    /// Place in the launch file.
    pub at: At,
}

/// Where the right values are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// In a file.
    File(DataFile),
    /// Here, as bits; they are compared with the first elements.
    Values(Vec<u64>),
}

/// How close a value must be. NaN is equal to every NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Within {
    /// At most this many units in the last place away; 0 is the same bits.
    Ulp(u64),
    /// |got - want| at most this times max(1, |want|).
    Tolerance(f64),
}

/// A buffer written to a file in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Index into [`Plan::buffers`].
    pub buffer: usize,
    /// The file.
    pub file: DataFile,
}

impl Plan {
    /// All launches, those of loops too.
    pub fn launches_mut(&mut self) -> impl Iterator<Item = &mut LaunchPlan> {
        self.steps.iter_mut().flat_map(|step| match step {
            Step::Launch(launch) => std::slice::from_mut(launch),
            Step::Loop(rounds) => &mut rounds.body[..],
        })
    }

    /// The index of the buffer named `name`.
    ///
    /// # Errors
    /// When there is none; the help names a close one, or all there are.
    pub fn buffer(&self, name: &str) -> Result<usize, Problem> {
        if let Some(index) = self.buffers.iter().position(|b| b.name == name) {
            return Ok(index);
        }
        let names = || self.buffers.iter().map(|b| b.name.as_str());
        let problem = Problem::new(format!("there is no buffer `{name}`"));
        Err(match raddle_ptx::diag::closest(name, names()) {
            Some(close) => problem.help(format!("did you mean `{close}`?")),
            None if self.buffers.is_empty() => problem,
            None => problem.help(format!("the buffers are {}", names().collect::<Vec<_>>().join(", "))),
        })
    }
}
