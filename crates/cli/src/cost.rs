//! `raddle cost`: what mechanisms cost in hardware.

use crate::config::MachineArgs;
use crate::exit::{Exit, Failure};
use crate::out;
use clap::builder::PossibleValuesParser;
use raddle_mech::area::{self, Part};
use raddle_mech::cost::{Logic, SCHEMES, Storage};
use raddle_runtime::Problem;
use serde_json::json;

/// Variable warp sizing, whose cost is an area.
const VWS: &str = "vws";

#[derive(clap::Args)]
#[command(after_help = "\
Storage in bits is computed from the limits of the machine: blocks and threads of an SM, and lanes of a warp.
For variable warp sizing, the output is the added area, for slices of 4 and of 8 lanes. This area and the
logic of Origami do not depend on the machine.

Examples:
  raddle cost baws --preset gtx480
  raddle cost origami
  raddle cost vws")]
pub struct Args {
    /// The mechanism
    #[arg(value_name = "MECHANISM", value_parser = PossibleValuesParser::new(SCHEMES.iter().map(|s| s.name).chain([VWS])))]
    name: String,
    #[command(flatten)]
    machine: MachineArgs,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// `raddle cost`.
pub fn run(args: &Args) -> Result<Exit, Failure> {
    if args.name == VWS {
        return vws(args.json);
    }
    let known = SCHEMES.iter().find(|scheme| scheme.name == args.name);
    let scheme = known.ok_or_else(|| Problem::new(format!("the cost of `{}` is not known", args.name)))?;
    let machine = args.machine.load()?;
    let parts = (scheme.storage)(&machine.config);
    let bits: u64 = parts.iter().map(Storage::total).sum();
    let (bytes, sms) = (bits.div_ceil(8), u64::from(machine.config.gpu.sms));
    if args.json {
        let part = |p: &Storage| json!({"name": p.name, "about": p.about, "entries": p.entries, "bits": p.bits});
        out::json(&json!({
            "name": scheme.name,
            "source": scheme.source,
            "parts": parts.iter().map(part).collect::<Vec<_>>(),
            "bits_per_sm": bits,
            "bytes_per_sm": bytes,
            "sms": sms,
            "bytes": bytes * sms,
            "logic": scheme.logic.map(|l| json!({"mm2": l.added, "to_mm2": l.to, "what": l.what, "percent": l.percent()})),
        }))?;
        return Ok(Exit::Good);
    }
    let mut rows = vec![["storage of an SM", "entries", "bits each", "bits"].map(str::to_owned).to_vec()];
    for part in &parts {
        let numbers = [part.entries, part.bits, part.total()].map(out::grouped);
        rows.push([vec![part.name.to_owned()], numbers.to_vec()].concat());
    }
    let mut text = format!("{}\n{}", scheme.summary, out::table(&rows));
    for part in &parts {
        text += &format!("{}: {}\n", part.name, part.about);
    }
    let count = |n: u64, what| out::count(n as usize, what);
    text += &format!("{}, {} for each SM; ", count(bits, "bit"), count(bytes, "byte"));
    text += &format!("{} for {}\n", count(bytes * sms, "byte"), count(sms, "SM"));
    if let Some(logic) = scheme.logic {
        let Logic { added, to, what, printed } = logic;
        let percent = logic.percent();
        text += &format!(
            "logic: {added} mm\u{b2} on {to} mm\u{b2} of {what}, {percent:.2} %; the paper prints {printed} %\n"
        );
    }
    out::data(&(text + &format!("source: {}\n", scheme.source)))?;
    Ok(Exit::Good)
}

fn vws(as_json: bool) -> Result<Exit, Failure> {
    let source = "VWS paper (ISCA 2015), section 6.7 and Table 2";
    let sliced = [4, 8].map(area::vws);
    if as_json {
        let part = |p: &Part| json!({"name": p.name, "mm2_each": p.each, "count": p.count, "mm2": p.total()});
        let machine = |parts: &Vec<Part>| {
            let [sm, sm_percent, gpu, gpu_percent] = area::sums(parts);
            let parts: Vec<_> = parts.iter().map(part).collect();
            json!({"parts": parts, "sm_mm2": sm, "sm_percent": sm_percent, "gpu_mm2": gpu, "gpu_percent": gpu_percent})
        };
        out::json(&json!({"name": VWS, "source": source, "lanes": {
            "4": machine(&sliced[0]),
            "8": machine(&sliced[1]),
        }}))?;
        return Ok(Exit::Good);
    }
    let head = ["added to an SM, mm\u{b2}", "each", "4 lanes", "8 lanes"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (four, eight) in sliced[0].iter().zip(&sliced[1]) {
        let values = [four.each, four.total(), eight.total()].map(|value| format!("{value:.3}"));
        rows.push([vec![four.name.to_owned()], values.to_vec()].concat());
    }
    let sums = sliced.each_ref().map(|parts| area::sums(parts));
    for (n, name) in ["an SM", "an SM, %", "GPU of 15 SMs", "GPU, %"].into_iter().enumerate() {
        let value = |sums: &[f64; 4]| format!("{:.2}", sums[n]);
        rows.push(vec![name.to_owned(), String::new(), value(&sums[0]), value(&sums[1])]);
    }
    let text = format!("variable warp sizing: slices of the datapath and the ganging unit\n{}", out::table(&rows));
    out::data(&(text + &format!("source: {source}\n")))?;
    Ok(Exit::Good)
}
