//! The pictures of a report, of a profile and of a timeline in the book, taken with Chromium. Not part of CI.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::files::{root, run_cargo, run_command};
use crate::traces;

/// Where the pictures go.
const PAGES: &str = "docs/src/guide";
/// No picture is larger than this.
const MOST_BYTES: u64 = 200_000;
/// Width and height of a phone.
const PHONE: (u32, u32) = (390, 844);

/// Makes a report and takes its picture as screens and phones show it.
pub fn run() -> Result {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let folder = target.join("screenshots");
    fs::create_dir_all(&folder)?;
    let [store, report] = ["store", "report"].map(|name| folder.join(name).display().to_string());
    let reproduce = ["reproduce", "matrix", "--size", "tiny", "--store", &store, "--output", &report];
    run_cargo(&[&["run", "--quiet", "--locked", "-p", "raddle-cli", "--"][..], &reproduce].concat())?;
    let page = Path::new(&report).join("index.html");
    take(&folder, &page, "report.png", (1280, 1060))?;
    // Chromium makes no window as narrow as a phone: a frame is.
    let phone = folder.join("phone.html");
    let (width, height) = PHONE;
    let frame = format!(
        "<!doctype html><body style=\"margin:18px;background:#777\"><iframe src=\"report/index.html#speedup\" width=\"{width}\" \
         height=\"{height}\" style=\"display:block;margin:auto;border:0;border-radius:14px\"></iframe>"
    );
    fs::write(&phone, frame)?;
    take(&folder, &phone, "report-phone.png", (500, height + 36))?;
    profile(&folder)?;
    timeline(&folder)
}

/// A part of a timeline. It is drawn from the trace: the page that shows traces is not on this machine.
fn timeline(folder: &Path) -> Result {
    let [trace, page] = ["timeline.pftrace", "timeline.html"].map(|name| folder.join(name));
    let to = trace.display().to_string();
    let command = ["run", "matmul", "--size", "tiny", "--trace", &to, "--interval", "50"];
    run_cargo(&[&["run", "--quiet", "--locked", "-p", "raddle-cli", "--"][..], &command].concat())?;
    let warps: Vec<String> = (0..8).map(|n| format!("SM 0/warps/warp {n}")).collect();
    let first =
        ["all SMs and memory/warp IPC", "all SMs and memory/DRAM bandwidth", "SM 0/scheduler 0", "SM 0/scheduler 1"];
    let tracks: Vec<&str> = first.into_iter().chain(warps.iter().map(String::as_str)).collect();
    traces::draw(folder, &trace, ["1920", "2120"], &page, &tracks)?;
    take(folder, &page, "trace.png", (1190, 440))
}

/// The page of a profile, with its hottest line picked.
fn profile(folder: &Path) -> Result {
    let page = folder.join("profile.html");
    let to = page.display().to_string();
    let command = ["profile", "matmul", "--size", "tiny", "--html", &to];
    run_cargo(&[&["run", "--quiet", "--locked", "-p", "raddle-cli", "--"][..], &command].concat())?;
    let pick = "<script>view = kernel.lines[0].file; picked = kernel.lines[0]; show();</script>";
    fs::write(&page, fs::read_to_string(&page)? + pick)?;
    take(folder, &page, "profile.png", (1320, 850))
}

fn take(folder: &Path, page: &Path, name: &str, (width, height): (u32, u32)) -> Result {
    let picture = root().join(PAGES).join(name);
    let mut chromium = Command::new("chromium");
    chromium.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]);
    chromium.args(["--disable-background-networking", "--disable-component-update", "--disable-sync"]);
    chromium.args(["--hide-scrollbars", &format!("--window-size={width},{height}")]);
    chromium.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    chromium.arg(format!("--screenshot={}", picture.display()));
    chromium.arg(format!("file://{}", page.display()));
    run_command(&mut chromium)?;
    let bytes = fs::metadata(&picture)?.len();
    println!("{PAGES}/{name}: {bytes} bytes");
    if bytes > MOST_BYTES {
        return Err(format!("{PAGES}/{name} is larger than {MOST_BYTES} bytes").into());
    }
    Ok(())
}
