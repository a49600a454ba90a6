//! The comment lines of kernel files.

use super::texture::{self, View};
use super::value::{self, Value};
use crate::rng::Rng;
use raddle_exec::texture::Texture;
use raddle_ptx::isa::Type;

/// One launch with its inputs and what is expected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) kernel: Option<String>,
    pub(crate) shared: u32,
    pub(crate) widths: Vec<u32>,
    pub(crate) args: Vec<Arg>,
    pub(crate) expects: Vec<Expect>,
    pub(crate) prints: Vec<String>,
    pub(crate) trap: Option<String>,
    /// Buffers whose contents depend on the order of threads.
    pub(crate) unordered: Vec<String>,
    pub(crate) textures: Vec<(String, Texture)>,
    /// Variables, and the views of buffers that are bound to them.
    pub(crate) bound: Vec<(String, String, View)>,
}

/// A kernel argument.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    /// A pointer to these bytes.
    Buffer { name: String, bytes: Vec<u8>, ty: Type, count: usize },
    /// The bytes themselves.
    Value { bytes: Vec<u8> },
    /// The handle of a texture or surface that is a view of a buffer.
    Object { buffer: String, texture: View, is_surface: bool },
}

/// What a buffer must hold.
#[derive(Clone, Debug)]
pub(crate) struct Expect {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) ulp: u64,
    pub(crate) values: Vec<Value>,
}

/// All runs of a file.
pub(super) fn parse(source: &str) -> Result<Vec<Run>, String> {
    let mut runs: Vec<Run> = Vec::new();
    let mut widths = vec![4, 8, 16, 32];
    let mut textures = Vec::new();
    for line in logical_lines(source) {
        let Some((key, rest)) = line.split_once(':') else { continue };
        let rest = rest.trim();
        let wrong = |e: String| format!("`// {line}`: {e}");
        let run = runs.last_mut().ok_or("comes before the first `// run:`".to_owned());
        match key.split_whitespace().next() {
            Some("run") => runs.push(parse_run(rest).map_err(wrong)?),
            Some("widths") => {
                widths = rest.split_whitespace().map(|w| w.parse().unwrap_or(0)).collect();
            }
            Some("arg") => {
                let arg = parse_arg(rest).map_err(wrong)?;
                run.map_err(wrong)?.args.push(arg);
            }
            Some("expect") => {
                let run = run.map_err(wrong)?;
                let expect = parse_expect(rest, 0, &run.args).map_err(wrong)?;
                run.expects.push(expect);
            }
            Some("expect-ulp") => {
                let ulp = key.split_whitespace().nth(1).and_then(|n| n.parse().ok()).ok_or("no ULP number")?;
                let run = run.map_err(wrong)?;
                let expect = parse_expect(rest, ulp, &run.args).map_err(wrong)?;
                run.expects.push(expect);
            }
            Some("expect-print") => run.map_err(wrong)?.prints.push(rest.to_owned()),
            Some("trap") => run.map_err(wrong)?.trap = Some(rest.to_owned()),
            Some("unordered") => run.map_err(wrong)?.unordered.push(rest.to_owned()),
            Some("bind") => {
                let words: Vec<&str> = rest.split_whitespace().collect();
                let [name, buffer, ref view @ ..] = words[..] else {
                    return Err(wrong("no name and buffer".to_owned()));
                };
                let view = texture::parse_view(view).map_err(wrong)?;
                run.map_err(wrong)?.bound.push((name.to_owned(), buffer.to_owned(), view));
            }
            Some("texture") => {
                let texture = texture::parse(rest).map_err(wrong)?;
                match run {
                    Ok(run) => run.textures.push(texture),
                    Err(_) => textures.push(texture),
                }
            }
            _ => {}
        }
    }
    for run in &mut runs {
        run.widths.clone_from(&widths);
        run.textures.extend(textures.iter().cloned());
    }
    Ok(runs)
}

/// Comment lines, each joined with the lines that continue it.
fn logical_lines(source: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for comment in source.lines().filter_map(|l| l.strip_prefix("//")) {
        if let Some(more) = comment.strip_prefix("   ")
            && let Some(last) = lines.last_mut()
        {
            last.push(' ');
            last.push_str(more.trim());
        } else {
            lines.push(comment.trim().to_owned());
        }
    }
    lines
}

fn parse_run(text: &str) -> Result<Run, String> {
    let mut run = Run { grid: [1; 3], block: [1; 3], ..Run::default() };
    for word in text.split_whitespace() {
        let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` has no `=`"))?;
        let dims = || -> Result<[u32; 3], String> {
            let mut dims = [1; 3];
            for (dim, part) in dims.iter_mut().zip(value.split(',')) {
                *dim = part.parse().map_err(|_| format!("`{value}` is not x,y,z"))?;
            }
            Ok(dims)
        };
        match key {
            "grid" => run.grid = dims()?,
            "block" => run.block = dims()?,
            "kernel" => run.kernel = Some(value.to_owned()),
            "shared" => run.shared = value.parse().map_err(|_| format!("`{value}` is not a number"))?,
            _ => return Err(format!("unknown key `{key}`")),
        }
    }
    Ok(run)
}

pub(super) fn parse_type(text: &str) -> Result<Type, String> {
    Type::from_name(text).ok_or_else(|| format!("`{text}` is not a type"))
}

/// `NAME TYPE[N] = VALUES`, `NAME TYPE = VALUE`, `NAME value TYPE[N] = VALUES` or `NAME texture BUFFER ...`.
fn parse_arg(text: &str) -> Result<Arg, String> {
    if let Some(kind @ ("texture" | "surface")) = text.split_whitespace().nth(1) {
        let words: Vec<&str> = text.split_whitespace().skip(2).collect();
        let [buffer, ref view @ ..] = words[..] else { return Err("no buffer".to_owned()) };
        return Ok(Arg::Object {
            buffer: buffer.to_owned(),
            texture: texture::parse_view(view)?,
            is_surface: kind == "surface",
        });
    }
    let (head, values) = text.split_once('=').ok_or("no `=`")?;
    let mut words = head.split_whitespace();
    let name = words.next().ok_or("no name")?.to_owned();
    let mut shape = words.next().ok_or("no type")?;
    let by_value = shape == "value";
    if by_value {
        shape = words.next().ok_or("no type")?;
    }
    let Some((ty, count)) = shape.split_once('[') else {
        let ty = parse_type(shape)?;
        let bits = Value::parse(values.trim(), ty)?.bits(ty);
        return Ok(Arg::Value { bytes: bits.to_le_bytes()[..ty.bytes() as usize].to_vec() });
    };
    let ty = parse_type(ty)?;
    let count: usize = count.trim_end_matches(']').parse().map_err(|_| format!("`{shape}` has no size"))?;
    let values = fill(values, ty, count)?;
    let size = ty.bytes() as usize;
    let mut bytes = Vec::with_capacity(size * values.len());
    values.iter().for_each(|v| bytes.extend_from_slice(&v.to_le_bytes()[..size]));
    Ok(if by_value { Arg::Value { bytes } } else { Arg::Buffer { name, bytes, ty, count } })
}

pub(super) fn fill(text: &str, ty: Type, count: usize) -> Result<Vec<u64>, String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut values = match words[..] {
        ["zero"] => Vec::new(),
        ["iota"] => {
            (0..count).map(|i| Value::parse(&i.to_string(), ty).map(|v| v.bits(ty))).collect::<Result<_, _>>()?
        }
        ["fill", value] => vec![Value::parse(value, ty)?.bits(ty); count],
        ["random", seed] => {
            let mut rng = Rng::new(seed.parse().map_err(|_| format!("`{seed}` is not a seed"))?);
            (0..count).map(|_| value::random(&mut rng, ty)).collect()
        }
        _ => words.iter().map(|w| Value::parse(w, ty).map(|v| v.bits(ty))).collect::<Result<Vec<_>, _>>()?,
    };
    if values.len() > count {
        return Err(format!("{} values for {count} elements", values.len()));
    }
    values.resize(count, 0);
    Ok(values)
}

fn parse_expect(text: &str, ulp: u64, args: &[Arg]) -> Result<Expect, String> {
    let (name, values) = text.split_once('=').ok_or("no `=`")?;
    let name = name.trim().to_owned();
    let found = args.iter().find_map(|a| match a {
        Arg::Buffer { name: n, ty, count, .. } if *n == name => Some((*ty, *count)),
        _ => None,
    });
    let (ty, count) = found.ok_or_else(|| format!("there is no buffer `{name}`"))?;
    let words: Vec<&str> = values.split_whitespace().collect();
    let values = match words[..] {
        ["zero"] => vec![Value::Bits(0); count],
        ["iota"] => (0..count).map(|i| Value::parse(&i.to_string(), ty)).collect::<Result<_, _>>()?,
        ["fill", value] => vec![Value::parse(value, ty)?; count],
        [ref head @ .., last, "..."] => {
            let mut values: Vec<Value> = head.iter().map(|w| Value::parse(w, ty)).collect::<Result<_, _>>()?;
            values.resize(count, Value::parse(last, ty)?);
            values
        }
        _ => words.iter().map(|w| Value::parse(w, ty)).collect::<Result<_, _>>()?,
    };
    if values.is_empty() || values.len() > count {
        return Err(format!("{} values for {count} elements", values.len()));
    }
    Ok(Expect { name, ty, ulp, values })
}
