//! Launch files: a [`Plan`] as TOML.
//!
//! ```toml
//! module = "saxpy.ptx"
//!
//! [buffers.x]
//! type = "f32"
//! len = 1024
//! fill = "iota"
//!
//! [[launch]]
//! kernel = "saxpy"
//! grid = 4
//! block = 256
//! args = [1024, 2.0, "x", "y"]
//!
//! [[loop]]
//! while = "flag != 0"
//!
//! [[loop.launch]]
//! kernel = "step"
//! grid = 4
//! block = 256
//! args = ["y", "flag"]
//!
//! [[expect]]
//! buffer = "y"
//! npy = "y.npy"
//! ulp = 1
//!
//! [[output]]
//! buffer = "y"
//! npy = "out.npy"
//! ```
//!
//! Paths count from the folder of the file. The text is parsed into types that mirror it (`raw`), then
//! resolved into a plan; both steps know where in the text a mistake is.

mod raw;

use crate::arg;
use crate::condition::Condition;
use crate::data::DataFile;
use crate::element::Element;
use crate::error::{At, Error, Problem};
use crate::fill::Fill;
use crate::input;
use crate::plan::{Arg, ArgValue, Buffer, Expect, LaunchPlan, LoopPlan, Output, Plan, Step, TexturePlan, Want, Within};
use crate::texture::Format;
use raddle_exec::texture::{AddressMode, Channel, Filter};
use raddle_ptx::diag::closest;
use raw::{Address, FilterName, RawBuffer, RawExpect, RawFile, RawLaunch, RawLoop, RawTexture, Word};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;

/// What each launch did is kept.
const MAX_REPEAT: u32 = 100_000;

impl Plan {
    /// Reads a launch file's text. Paths in it count from `folder`.
    ///
    /// # Errors
    /// At the first mistake, with its place.
    pub fn from_toml(text: &str, folder: &Path) -> Result<Self, Problem> {
        let raw: RawFile = toml::from_str(text).map_err(|e| program_file(text).unwrap_or_else(|| toml_problem(&e)))?;
        let module = folder.join(&raw.module);
        let mut plan = Self { module, pack_buffers: raw.pack_buffers, ..Self::default() };
        let mut buffers: Vec<_> = raw.buffers.into_iter().collect();
        buffers.sort_by_key(|(name, _)| name.span().start);
        for (name, raw) in buffers {
            plan.buffers.push(buffer(&name, raw, folder)?);
        }
        for (name, raw) in raw.textures {
            plan.textures.push(texture(&name, &raw, &plan)?);
        }
        plan.steps = steps(text, raw.launch, raw.r#loop, &plan)?;
        if plan.steps.is_empty() {
            return Err(Problem::new("the file launches nothing").help("add a [[launch]] with kernel, grid and block"));
        }
        for raw in raw.expect {
            let at = Some(header(text, raw.span()));
            let expect = expect(raw.into_inner(), at, &plan, folder)?;
            plan.expects.push(expect);
        }
        for raw in raw.output {
            let at = Some(header(text, raw.span()));
            let raw = raw.into_inner();
            let file = one_file(raw.npy, raw.raw, folder);
            let file = file.ok_or_else(|| Problem::new("an output needs either `npy` or `raw`").at(at))?;
            plan.outputs.push(Output { buffer: known(&plan, &raw.buffer)?, file });
        }
        Ok(plan)
    }

    /// Reads a launch file.
    ///
    /// # Errors
    /// When it cannot be read or has a mistake.
    pub fn from_file(path: &Path) -> Result<(Self, String), Error> {
        let text = input::text(path).map_err(|source| Error::Read { path: path.display().to_string(), source })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let plan = Self::from_toml(&text, folder)?;
        Ok((plan, text))
    }
}

/// What to say of a program file, which some commands take beside launch files and others do not.
fn program_file(text: &str) -> Option<Problem> {
    let table: BTreeMap<Spanned<String>, toml::Value> = toml::from_str(text).ok()?;
    let key = |name: &str| table.keys().find(|key| key.get_ref() == name);
    let program = key("program").filter(|_| key("module").is_none())?;
    let problem = Problem::new("this is a program file, not a launch file").at(Some(program.span()));
    Some(problem.help("`raddle compare` and experiments take it; `raddle exec PROGRAM` runs a program once"))
}

/// What the TOML reader complains about, in our words where ours are better.
#[must_use]
pub fn toml_problem(error: &toml::de::Error) -> Problem {
    let at = error.span();
    let message = error.message();
    if let Some(found) =
        message.strip_prefix("invalid type: ").and_then(|rest| rest.strip_suffix(", expected a sequence"))
    {
        let value = found.split_once(' ').map_or("...", |(_, value)| value.trim_matches('`'));
        return Problem::new(format!("a list must be here, not the {found}")).help(format!("write [{value}]")).at(at);
    }
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'));
    let Some((word, rest)) = unknown else { return Problem::new(message.to_owned()).at(at) };
    let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
    let problem = Problem::new(format!("unknown key `{word}`")).at(at);
    match closest(word, known.iter().copied()) {
        Some(close) => problem.help(format!("did you mean `{close}`?")),
        None => problem.help(format!("the keys here are {}", known.join(", "))),
    }
}

/// The first line of a table: enough to point at.
fn header(text: &str, span: std::ops::Range<usize>) -> std::ops::Range<usize> {
    let length = text.get(span.clone()).map_or(0, |t| t.lines().next().unwrap_or("").len());
    span.start..span.start + length
}

fn known(plan: &Plan, name: &Spanned<String>) -> Result<usize, Problem> {
    plan.buffer(name.get_ref()).map_err(|p| p.at(Some(name.span())))
}

fn values(ty: Element, words: Vec<Spanned<Word>>) -> Result<Vec<u64>, Problem> {
    let parse =
        |w: Spanned<Word>| ty.parse(&w.get_ref().text).map_err(|e| Problem::new(e.to_string()).at(Some(w.span())));
    words.into_iter().map(parse).collect()
}

fn buffer(name: &Spanned<String>, raw: RawBuffer, folder: &Path) -> Result<Buffer, Problem> {
    let at = Some(name.span());
    if !arg::is_name(name.get_ref()) {
        let problem = Problem::new(format!("`{}` cannot name a buffer", name.get_ref())).at(at);
        return Err(problem.help("names are letters, digits and `_`, and do not start with a digit"));
    }
    let ty = Element::from_name(raw.r#type.get_ref()).map_err(|e| {
        let types = Element::ALL.map(Element::name).join(" ");
        Problem::new(e.to_string()).help(format!("types are {types}")).at(Some(raw.r#type.span()))
    })?;
    let fill = match (raw.fill, raw.values) {
        (Some(fill), None) => {
            let parsed = Fill::parse(fill.get_ref(), ty);
            match parsed.map_err(|e| Problem::new(e.to_string()).at(Some(fill.span())))? {
                Fill::File(file) => Fill::File(file.under(folder)),
                other => other,
            }
        }
        (None, Some(words)) => Fill::Values(values(ty, words)?),
        (None, None) => Fill::Unwritten,
        (Some(fill), Some(_)) => {
            return Err(Problem::new("give either `fill` or `values`, not both").at(Some(fill.span())));
        }
    };
    let needs_len = raw.len.is_none() && !matches!(fill, Fill::File(_) | Fill::Values(_));
    if needs_len {
        return Err(Problem::new(format!("buffer `{}` has no `len`", name.get_ref())).at(at));
    }
    Ok(Buffer { name: name.get_ref().clone(), ty, len: raw.len, fill, at })
}

fn texture(name: &Spanned<String>, raw: &RawTexture, plan: &Plan) -> Result<TexturePlan, Problem> {
    let at = Some(name.span());
    let buffer = known(plan, &raw.buffer)?;
    let ty = plan.buffers[buffer].ty;
    let channel = match ty.name() {
        "f32" => Channel::F32,
        "s32" => Channel::S32,
        "u32" | "b32" => Channel::U32,
        "u8" | "b8" => Channel::U8,
        other => {
            let problem = Problem::new(format!("a texture cannot be made of {other}")).at(Some(raw.buffer.span()));
            return Err(problem.help("the type of its buffer is one of f32, u32, s32, b32, u8 and b8"));
        }
    };
    if !matches!(raw.channels, 1 | 2 | 4) {
        return Err(Problem::new(format!("a texel has 1, 2 or 4 channels, not {}", raw.channels)).at(at));
    }
    let address = match raw.address {
        // As `cudaBindTexture` has it for memory in a row.
        None if raw.height <= 1 => AddressMode::Border,
        None | Some(Address::Clamp) => AddressMode::Clamp,
        Some(Address::Wrap) => AddressMode::Wrap,
        Some(Address::Mirror) => AddressMode::Mirror,
        Some(Address::Border) => AddressMode::Border,
    };
    let filter = match raw.filter {
        FilterName::Point => Filter::Point,
        FilterName::Linear => Filter::Linear,
    };
    let RawTexture { channels, width, height, normalized, .. } = *raw;
    let format = Format { width, height, channel, channels, address, filter, normalized };
    Ok(TexturePlan { name: name.get_ref().clone(), buffer, format, at })
}

/// Launches and loops in the order of the file.
fn steps(
    text: &str,
    launches: Vec<Spanned<RawLaunch>>,
    loops: Vec<Spanned<RawLoop>>,
    plan: &Plan,
) -> Result<Vec<Step>, Problem> {
    let mut steps = Vec::new();
    for raw in launches {
        let span = raw.span();
        steps.push((span.start, Step::Launch(launch(raw.into_inner(), Some(header(text, span)), plan)?)));
    }
    for raw in loops {
        let span = raw.span();
        steps.push((span.start, Step::Loop(rounds_of(text, raw.into_inner(), Some(header(text, span)), plan)?)));
    }
    steps.sort_by_key(|(start, _)| *start);
    Ok(steps.into_iter().map(|(_, step)| step).collect())
}

fn rounds_of(text: &str, raw: RawLoop, at: At, plan: &Plan) -> Result<LoopPlan, Problem> {
    let condition = condition(&raw.r#while, plan)?;
    let reset = |name: &Spanned<String>| {
        let buffer = known(plan, name)?;
        match plan.buffers[buffer].fill {
            Fill::Unwritten => {
                let problem = Problem::new(format!("buffer `{}` has no contents to be reset to", name.get_ref()));
                Err(problem.help("give it `fill` or `values`, such as fill = \"zero\"").at(Some(name.span())))
            }
            _ => Ok(buffer),
        }
    };
    let reset = raw.reset.iter().map(reset).collect::<Result<_, _>>()?;
    if !(1..=MAX_REPEAT).contains(&raw.max_rounds) {
        let message = format!("`max-rounds` must be from 1 to {MAX_REPEAT}, not {}", raw.max_rounds);
        return Err(Problem::new(message).at(at));
    }
    let body = raw.launch.into_iter().map(|raw| {
        let at = Some(header(text, raw.span()));
        launch(raw.into_inner(), at, plan)
    });
    let body: Vec<LaunchPlan> = body.collect::<Result<_, _>>()?;
    if body.is_empty() {
        let problem = Problem::new("the loop launches nothing").at(at);
        return Err(problem.help("add a [[loop.launch]] with kernel, grid and block"));
    }
    Ok(LoopPlan { body, condition, reset, max_rounds: raw.max_rounds, at })
}

fn condition(text: &Spanned<String>, plan: &Plan) -> Result<Condition, Problem> {
    let at = Some(text.span());
    let read = Condition::parse(text.get_ref(), plan).map_err(|problem| problem.at(at.clone()))?;
    Ok(Condition { at, ..read })
}

fn launch(raw: RawLaunch, at: At, plan: &Plan) -> Result<LaunchPlan, Problem> {
    let arg = |word: Spanned<Word>| {
        let at = Some(word.span());
        let Word { text, is_string } = word.into_inner();
        let value = if is_string { arg::value(&text, plan) } else { Ok(ArgValue::Number(text)) };
        Ok(Arg { value: value.map_err(|p| p.at(at.clone()))?, at })
    };
    let args = raw.args.into_iter().map(arg).collect::<Result<_, Problem>>()?;
    if !(1..=MAX_REPEAT).contains(&raw.repeat) {
        return Err(Problem::new(format!("`repeat` must be from 1 to {MAX_REPEAT}, not {}", raw.repeat)).at(at));
    }
    let condition = raw.r#if.map(|text| condition(&text, plan)).transpose()?;
    let RawLaunch { kernel, grid, block, shared, repeat, .. } = raw;
    Ok(LaunchPlan { kernel, grid: grid.0, block: block.0, shared, args, repeat, condition, at })
}

fn one_file(npy: Option<String>, raw: Option<String>, folder: &Path) -> Option<DataFile> {
    match (npy, raw) {
        (Some(path), None) => Some(DataFile::npy(&path).under(folder)),
        (None, Some(path)) => Some(DataFile::raw(&path).under(folder)),
        _ => None,
    }
}

fn expect(raw: RawExpect, at: At, plan: &Plan, folder: &Path) -> Result<Expect, Problem> {
    let buffer = known(plan, &raw.buffer)?;
    let ty = plan.buffers[buffer].ty;
    let want = match (raw.values, one_file(raw.npy.clone(), raw.raw.clone(), folder)) {
        (Some(words), None) if raw.npy.is_none() && raw.raw.is_none() => Want::Values(values(ty, words)?),
        (None, Some(file)) => Want::File(file),
        _ => return Err(Problem::new("an expectation needs one of `npy`, `raw` and `values`").at(at)),
    };
    let within = match (raw.ulp, raw.tolerance) {
        (Some(_), Some(_)) => return Err(Problem::new("give either `ulp` or `tolerance`, not both").at(at)),
        (None, Some(t)) if t >= 0.0 => Within::Tolerance(t),
        (None, Some(_)) => return Err(Problem::new("`tolerance` must be at least 0").at(at)),
        (ulp, None) => Within::Ulp(ulp.unwrap_or(0)),
    };
    Ok(Expect { buffer, want, within, at })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use raddle_ptx::source::LineIndex;

    const GOOD: &str = r#"
module = "matmul.ptx"

[buffers.b]
type = "f32"
len = 65536
fill = "lcg:1:0xf"

[buffers.a]
type = "f32"
values = [1, 2.5, "nan"]

[[launch]]
kernel = "matmul"
grid = [16, 16]
block = 256
args = ["a", "b", 256, "u32:5", 1.5]
repeat = 2

[[expect]]
buffer = "a"
npy = "a.npy"
ulp = 1

[[output]]
buffer = "b"
raw = "b.bin"
"#;

    /// `line:column: message [help]` for a text with a mistake.
    fn message(text: &str) -> String {
        let p = Plan::from_toml(text, Path::new("")).unwrap_err();
        let at = p.at.map_or("-".to_owned(), |at| LineIndex::new(text).line_col(text, at.start as u32).to_string());
        let help = p.help.map_or(String::new(), |h| format!(" [{h}]"));
        format!("{at}: {}{help}", p.message)
    }

    fn changed(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from));
        message(&GOOD.replacen(from, to, 1))
    }

    #[test]
    fn a_file_becomes_a_plan() {
        let plan = Plan::from_toml(GOOD, Path::new("dir")).unwrap();
        assert_eq!(plan.module, Path::new("dir/matmul.ptx"));
        let names: Vec<_> = plan.buffers.iter().map(|b| b.name.as_str()).collect();
        assert_eq!(names, ["b", "a"], "in the order of declaration");
        let [Step::Launch(launch)] = &plan.steps[..] else { panic!("{:?}", plan.steps) };
        assert_eq!((launch.grid, launch.block, launch.repeat), ([16, 16, 1], [256, 1, 1], 2));
        let args: Vec<_> = launch.args.iter().map(|a| a.value.clone()).collect();
        assert_eq!(args[..2], [ArgValue::Buffer(1), ArgValue::Buffer(0)]);
        assert_eq!(args[2], ArgValue::Number("256".to_owned()));
        assert_eq!(args[4], ArgValue::Number("1.5".to_owned()));
        assert_eq!(plan.expects[0].within, Within::Ulp(1));
        assert_eq!(plan.outputs[0].file, DataFile::raw("dir/b.bin"));
    }

    #[test]
    fn misspelt_keys_are_found_with_their_place() {
        let program = message("args = [1]\nprogram = 'x'\n");
        assert!(
            program.starts_with("2:1: this is a program file, not a launch file [`raddle compare` and"),
            "{program}"
        );
        assert_eq!(changed("fill =", "fil ="), "7:1: unknown key `fil` [did you mean `fill`?]");
        assert_eq!(changed("repeat", "repeats"), "18:1: unknown key `repeats` [did you mean `repeat`?]");
        let list = "args = [\"a\", \"b\", 256, \"u32:5\", 1.5]";
        let one = changed(list, "args = \"a\"");
        assert!(one.ends_with(": a list must be here, not the string \"a\" [write [\"a\"]]"), "{one}");
        let one = changed(list, "args = 5");
        assert!(one.ends_with(": a list must be here, not the integer `5` [write [5]]"), "{one}");
        assert_eq!(changed("[[launch]]", "[[launches]]"), "13:3: unknown key `launches` [did you mean `launch`?]");
        assert_eq!(
            changed("ulp = 1", "exactly = 1"),
            "23:1: unknown key `exactly` [the keys here are buffer, npy, raw, values, ulp, tolerance]"
        );
    }

    #[test]
    fn wrong_values_are_found_with_their_place() {
        assert_eq!(changed("\"a\", \"b\"", "\"a\", \"bb\""), "17:14: there is no buffer `bb` [did you mean `b`?]");
        assert_eq!(changed("2.5", "\"x\""), "11:14: `x` is not a value of type f32: it is not a number");
        assert_eq!(
            changed("lcg:1:0xf", "lcg"),
            "7:8: `lcg` should read lcg:SEED:MASK[:SKIP[:STRIDE]] with integers, such as lcg:1:0xfff"
        );
        assert_eq!(changed("buffer = \"b\"", "buffer = \"z\""), "26:10: there is no buffer `z` [the buffers are b, a]");
        assert_eq!(changed("raw = \"b.bin\"", ""), "25:1: an output needs either `npy` or `raw`");
        assert_eq!(changed("len = 65536", ""), "4:10: buffer `b` has no `len`");
        assert_eq!(changed("ulp = 1", "ulp = 1\ntolerance = 2.0"), "20:1: give either `ulp` or `tolerance`, not both");
        assert_eq!(
            changed("grid = [16, 16]", "grid = [1, 1, 1, 1]"),
            "15:8: invalid length 4, expected a size such as 256, or one to three of them such as [16, 16]"
        );
        assert!(changed("grid = [16, 16]", "").starts_with("13:1: missing field `grid`"));
        assert_eq!(changed("repeat = 2", "repeat = 0"), "13:1: `repeat` must be from 1 to 100000, not 0");
        assert!(changed("repeat = 2", "repeat = ").starts_with("18:"));
        assert!(message("module = \"x.ptx\"\n").starts_with("-: the file launches nothing"));
    }

    #[test]
    fn textures_are_buffers_read_in_a_format() {
        let with = |table: &str| format!("{GOOD}\n[textures.t]\n{table}\n");
        let plan = Plan::from_toml(&with("buffer = \"b\"\nwidth = 256\nheight = 256"), Path::new("")).unwrap();
        let format = &plan.textures[0].format;
        assert_eq!((plan.textures[0].buffer, format.width, format.height), (0, Some(256), 256));
        assert_eq!((format.channel, format.address), (Channel::F32, AddressMode::Clamp));
        let plan = Plan::from_toml(&with("buffer = \"b\""), Path::new("")).unwrap();
        assert_eq!(plan.textures[0].format.address, AddressMode::Border);
        assert_eq!(message(&with("buffer = \"z\"")), "30:10: there is no buffer `z` [the buffers are b, a]");
        assert_eq!(message(&with("buffer = \"b\"\nchannels = 3")), "29:11: a texel has 1, 2 or 4 channels, not 3");
        let halves = with("buffer = \"b\"").replacen("\"f32\"", "\"f16\"", 1);
        assert!(message(&halves).starts_with("30:10: a texture cannot be made of f16"));
        assert!(message(&with("buffer = \"b\"\naddress = \"edge\"")).contains("unknown variant `edge`"));
    }

    #[test]
    fn the_file_in_the_book_is_a_launch_file() {
        let page = include_str!("../../../docs/src/guide/launch-files.md");
        let (_, rest) = page.split_once("```toml\n").unwrap();
        let (example, _) = rest.split_once("```").unwrap();
        let plan = Plan::from_toml(example, Path::new("")).unwrap();
        assert_eq!((plan.buffers.len(), plan.steps.len(), plan.expects.len(), plan.outputs.len()), (3, 1, 1, 1));
        assert!(page.contains(include_str!("../../../examples/bfs.toml")), "the example of a loop");
    }

    #[test]
    fn loops_and_launches_are_in_the_order_of_the_file() {
        let launch = "grid = 1\nblock = 1\n";
        let text = format!(
            "module = 'k.ptx'\n[buffers.flag]\ntype = 'u32'\nvalues = [0, 1]\n\
            [[launch]]\nkernel = 'first'\n{launch}\
            [[loop]]\nwhile = 'flag[1] != 0'\nreset = ['flag']\nmax-rounds = 7\n\
            [[loop.launch]]\nkernel = 'second'\n{launch}[[loop.launch]]\nkernel = 'third'\nif = 'flag > 2'\n{launch}\
            [[launch]]\nkernel = 'last'\n{launch}"
        );
        let plan = Plan::from_toml(&text, Path::new("")).unwrap();
        let [Step::Launch(first), Step::Loop(rounds), Step::Launch(last)] = &plan.steps[..] else {
            panic!("{:?}", plan.steps)
        };
        assert_eq!((first.kernel.as_deref(), last.kernel.as_deref()), (Some("first"), Some("last")));
        assert_eq!((rounds.max_rounds, &rounds.reset, rounds.condition.element), (7, &vec![0], 1));
        let conditions: Vec<_> = rounds.body.iter().map(|l| l.condition.as_ref().map(|c| c.text.as_str())).collect();
        assert_eq!(conditions, [None, Some("flag > 2")]);

        let wrong = |from: &str, to: &str| {
            assert!(text.contains(from));
            message(&text.replacen(from, to, 1))
        };
        assert_eq!(wrong("'flag[1] != 0'", "'flog != 0'"), "10:9: there is no buffer `flog` [did you mean `flag`?]");
        assert!(wrong("'flag[1] != 0'", "'flag = 0'").starts_with("10:9: `=` is not a comparison"));
        assert!(wrong("'flag > 2'", "'flag > 2.5'").starts_with("19:6: `2.5` is not a value of type u32"));
        assert_eq!(wrong("['flag']", "['x']"), "11:10: there is no buffer `x` [the buffers are flag]");
        assert!(wrong("values = [0, 1]", "len = 2").starts_with("11:10: buffer `flag` has no contents to be reset to"));
        assert_eq!(wrong("max-rounds = 7", "max-rounds = 0"), "9:1: `max-rounds` must be from 1 to 100000, not 0");
        assert_eq!(wrong("max-rounds", "max-round"), "12:1: unknown key `max-round` [did you mean `max-rounds`?]");
        assert!(wrong("while = 'flag[1] != 0'", "").starts_with("9:1: missing field `while`"));
        let empty = text.replace("[[loop.launch]]", "[[launch]]");
        assert!(message(&empty).starts_with("9:1: the loop launches nothing"));
    }

    proptest! {
        #[test]
        fn no_text_panics(at in 0usize..GOOD.len(), cut in 0usize..12, insert in "[\\[\\]\"=a-z0-9.\n-]{0,6}") {
            let mut text = GOOD.to_owned();
            let end = (at + cut).min(text.len());
            text.replace_range(at..end, &insert);
            let _ = Plan::from_toml(&text, Path::new(""));
        }
    }
}
