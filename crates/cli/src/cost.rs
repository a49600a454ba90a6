//! `raddle cost`: what mechanisms cost in hardware.

use crate::config::MachineArgs;
use crate::exit::{Exit, Failure};
use crate::out;
use clap::builder::PossibleValuesParser;
use raddle_mech::cost::{SCHEMES, Storage};
use raddle_runtime::Problem;
use serde_json::json;

#[derive(clap::Args)]
#[command(after_help = "\
The storage follows from the limits of the machine: blocks and threads of an SM, lanes of a warp.

Example:
  raddle cost baws --preset gtx480")]
pub struct Args {
    /// What to look at
    #[arg(value_name = "MECHANISM", value_parser = PossibleValuesParser::new(SCHEMES.iter().map(|s| s.name)))]
    name: String,
    #[command(flatten)]
    machine: MachineArgs,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// `raddle cost`.
pub fn run(args: &Args) -> Result<Exit, Failure> {
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
    out::data(&(text + &format!("source: {}\n", scheme.source)))?;
    Ok(Exit::Good)
}
