//! The options of `raddle run` as a plan.

use super::{Args, cuda};
use raddle_runtime::fill::Fill;
use raddle_runtime::plan::{Arg, LaunchPlan, Step};
use raddle_runtime::{Plan, Problem, PtxFile, arg, params};
use std::str::FromStr;

/// One to three sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape(pub [u32; 3]);

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "sizes look like 256, 16,16 or 8,8,4".to_owned();
        let sizes: Vec<u32> = text.split(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
        let mut shape = [1; 3];
        shape.get_mut(..sizes.len()).ok_or_else(wrong)?.copy_from_slice(&sizes);
        if sizes.contains(&0) { Err("every size must be at least 1".to_owned()) } else { Ok(Self(shape)) }
    }
}

/// A buffer to print: its name, and how many elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    name: String,
    first: Option<usize>,
}

impl FromStr for Printed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, first) = match text.split_once(':') {
            Some((name, n)) => (name, Some(n.parse().map_err(|_| format!("`{n}` is not a number of elements"))?)),
            None => (text, None),
        };
        Ok(Self { name: name.to_owned(), first })
    }
}

/// The buffers to print by index, with the number of elements.
pub fn resolve_prints(printed: &[Printed], plan: &Plan) -> Result<Vec<(usize, Option<usize>)>, Problem> {
    printed.iter().map(|p| Ok((plan.buffer(&p.name)?, p.first))).collect()
}

/// The plan the options describe.
pub fn plan(args: &Args, ptx: &PtxFile) -> Result<Plan, Problem> {
    let mut plan = Plan { module: args.file.clone(), ..Plan::default() };
    let mut given = Vec::new();
    for (position, text) in args.args.iter().enumerate() {
        given.push(Arg { value: arg::parse(text, position, &mut plan)?, at: None });
    }
    let named = args.kernel.as_deref().map(|name| cuda::kernel(ptx, name));
    let kernel = ptx.kernel(named.as_deref())?;
    let (Some(grid), Some(block)) = (args.grid, args.block) else {
        return Err(missing_shape(args, &plan, ptx, kernel));
    };
    plan.steps.push(Step::Launch(LaunchPlan {
        kernel: Some(kernel.to_owned()),
        grid: grid.0,
        block: block.0,
        shared: args.shared.unwrap_or(0),
        args: given,
        repeat: 1,
        condition: None,
        at: None,
    }));
    Ok(plan)
}

/// What to say when the grid or block is missing: a guess that gives each element of the largest
/// buffer a thread.
fn missing_shape(args: &Args, plan: &Plan, ptx: &PtxFile, kernel: &str) -> Problem {
    let missing: Vec<&str> = [("--grid", args.grid.is_none()), ("--block", args.block.is_none())]
        .into_iter()
        .filter_map(|(name, is_missing)| is_missing.then_some(name))
        .collect();
    let limits = ptx.module.function(kernel).map(|f| ptx.module.func(f).limits).unwrap_or_default();
    let block = match (args.block, limits.required_block) {
        (Some(block), _) => block.0,
        (None, Some(required)) => required,
        (None, None) => [limits.max_threads.unwrap_or(256).min(256), 1, 1],
    };
    let threads = block.iter().fold(1u64, |all, n| all.saturating_mul(u64::from(*n))).max(1);
    let length = |fill: &Fill, len: Option<u64>| len.or(fill.own_len()).unwrap_or(0);
    let elements = plan.buffers.iter().map(|b| length(&b.fill, b.len)).max().unwrap_or(0);
    let grid = args.grid.map_or([u32::try_from(elements.div_ceil(threads).max(1)).unwrap_or(1), 1, 1], |g| g.0);
    let why = if elements > 0 && args.grid.is_none() {
        format!(" gives each of {elements} elements a thread")
    } else {
        " would do".to_owned()
    };
    Problem::new(format!("kernel `{kernel}` needs {}", missing.join(" and "))).help(format!(
        "--grid {} --block {}{why}",
        params::shape_text(grid),
        params::shape_text(block)
    ))
}

/// The options that say what is launched, and whether they are given.
fn launch_options(args: &Args) -> [(&'static str, bool); 5] {
    [
        ("--kernel", args.kernel.is_some()),
        ("--grid", args.grid.is_some()),
        ("--block", args.block.is_some()),
        ("--arg", !args.args.is_empty()),
        ("--shared", args.shared.is_some()),
    ]
}

/// Refuses the options that a launch file answers itself.
pub fn refuse_launch_options(args: &Args) -> Result<(), Problem> {
    match launch_options(args).iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((name, _)) => {
            Err(Problem::new(format!("{name} cannot be given with a launch file, which sets it itself"))
                .help(format!("change {}, or run the PTX file it names", args.file.display())))
        }
    }
}

/// Refuses the options that a workload answers itself.
pub fn refuse_file_options(args: &Args) -> Result<(), Problem> {
    let given = launch_options(args).into_iter().chain([("--print", !args.print.is_empty())]);
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((name, _)) => Err(Problem::new(format!("{name} cannot be given with a workload, which sets it itself"))),
    }
}

/// Refuses the options that only a workload has.
pub fn refuse_workload_options(args: &Args) -> Result<(), Problem> {
    let given = [("--size", args.size.is_some()), ("--seed", args.seed.is_some())];
    match given.iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((name, _)) => Err(Problem::new(format!("{name} is for workloads, and {} is a file", args.file.display()))
            .help("`raddle list workloads` says what there is")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        assert_eq!("256".parse(), Ok(Shape([256, 1, 1])));
        assert_eq!("16,8,4".parse(), Ok(Shape([16, 8, 4])));
        for wrong in ["", "1,2,3,4", "x", "1,,2", "-1"] {
            assert_eq!(wrong.parse::<Shape>().unwrap_err(), "sizes look like 256, 16,16 or 8,8,4", "{wrong}");
        }
        assert_eq!("0".parse::<Shape>().unwrap_err(), "every size must be at least 1");
    }

    #[test]
    fn prints() {
        assert_eq!("c".parse(), Ok(Printed { name: "c".to_owned(), first: None }));
        assert_eq!("c:8".parse(), Ok(Printed { name: "c".to_owned(), first: Some(8) }));
        assert_eq!("c:x".parse::<Printed>().unwrap_err(), "`x` is not a number of elements");
    }
}
