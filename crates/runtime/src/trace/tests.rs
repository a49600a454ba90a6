//! Traces of runs, read back and compared with what the runs counted.

use super::packet::{SLICE_BEGIN, SLICE_END, Trace, TrackEvent};
use super::*;
use crate::device::{Device, RunOptions, Setup};
use crate::engine::{Engine, EngineOptions};
use crate::ptx_file::PtxFile;
use crate::timing::{TimingOptions, Watch};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor;
use prost::Message;
use raddle_sim::config::{Machine, Source};
use raddle_sim::seam::Cause;
use raddle_sim::stats::Counters;

/// Every block sums up numbers, diverges in between, and waits at a barrier.
const KERNEL: &str = "\
.version 6.0
.target sm_50
.address_size 64
.file 1 \"dir/sums.cu\"
.visible .entry sums(.param .u64 p)
{
    .reg .b32 %r<9>;
    .reg .b64 %d<9>;
    .reg .pred %p<3>;
    .shared .b32 s[256];
    .loc 1 3 1
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mad.lo.u32 %r3, %r2, 256, %r1;
    mul.wide.u32 %d2, %r3, 4;
    add.s64 %d3, %d1, %d2;
    .loc 1 4 1
    mov.u32 %r4, 0;
    and.b32 %r5, %r1, 7;
LOOP:
    ld.global.u32 %r6, [%d3];
    add.u32 %r4, %r4, %r6;
    sub.u32 %r5, %r5, 1;
    setp.gt.s32 %p1, %r5, 0;
    @%p1 bra LOOP;
    bar.sync 0;
    .loc 1 5 1
    st.global.u32 [%d3], %r4;
    ret;
}
";

const DWF: &str = "mechanism.divergence=dwf";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("raddle-trace-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn options(folder: &Folder) -> TraceOptions {
    TraceOptions {
        trace: Some(folder.0.join("a.pftrace")),
        sms: BTreeSet::from([1]),
        cycles: 0..Cycle::MAX,
        limit: 200 << 20,
        interval: 100,
        intervals: Some(folder.0.join("a.parquet")),
        readable: |name| format!("<{name}>"),
    }
}

/// What a run left behind.
struct Ran {
    results: Vec<LaunchResult>,
    written: Written,
    bytes: Vec<u8>,
}

/// Two launches on a machine with two SMs.
fn run(options: Option<&TraceOptions>, set: &[&str], threads: usize) -> Ran {
    let set: Vec<&str> = ["gpu.sms=2"].iter().chain(set).copied().collect();
    let machine = Machine::load(Source::Preset("gtx480"), &set).unwrap_or_else(|e| panic!("{e:?}")).config;
    let mut tracer = options.map(|options| Tracer::new(options, &machine).unwrap());
    let engine = EngineOptions { engine: Engine::Timing, ..EngineOptions::default() };
    let timing = Some(Box::new(TimingOptions { threads, ..TimingOptions::new(machine) }));
    let setup = Setup::new(RunOptions { engine, timing, ..RunOptions::default() });
    let ptx = PtxFile::parse("sums.ptx", KERNEL.to_owned()).unwrap();
    let results = {
        let mut device = Device::new(&setup, &ptx).unwrap();
        let observer = tracer.as_mut().map(|tracer| tracer as &mut dyn LaunchObserver);
        device.watch(Watch { observer, progress: None });
        let data = device.upload("data", &vec![1u32; 12 * 256]).unwrap();
        for blocks in [12, 5] {
            device.launch("sums", [blocks, 1, 1], [256, 1, 1], 0, &[data.into()]).unwrap();
        }
        device.take_launches().into_iter().map(|launched| launched.timed.unwrap().result).collect()
    };
    let written = tracer.map(|mut tracer| tracer.finish().unwrap()).unwrap_or_default();
    let written = written.unwrap_or(Written { bytes: 0, is_cut: false });
    let path = options.and_then(|options| options.trace.as_ref());
    Ran { results, written, bytes: path.map(|path| std::fs::read(path).unwrap()).unwrap_or_default() }
}

/// A slice with its names.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    /// From the top.
    track: String,
    kind: String,
    name: String,
    cycles: Range<Cycle>,
    notes: Vec<(String, String)>,
}

/// Reads a file back: slices, and numbers as (track, time, value).
fn read(bytes: &[u8]) -> (Vec<Seen>, Vec<(String, Cycle, f64)>) {
    let trace = Trace::decode(bytes).unwrap();
    let (mut tracks, mut open) = (BTreeMap::new(), BTreeMap::<u64, Vec<Seen>>::new());
    let mut names: [BTreeMap<u64, String>; 4] = Default::default();
    let (mut slices, mut numbers) = (Vec::new(), Vec::new());
    for packet in trace.packet {
        if let Some(new) = packet.interned_data {
            let lists =
                [new.event_categories, new.event_names, new.debug_annotation_names, new.debug_annotation_string_values];
            for (names, list) in names.iter_mut().zip(lists) {
                names.extend(list.into_iter().map(|entry| (entry.iid.unwrap(), entry.name.unwrap())));
            }
        }
        if let Some(track) = packet.track_descriptor {
            let parent: Option<&String> = track.parent_uuid.map(|uuid| &tracks[&uuid]);
            let name = parent.map_or(String::new(), |parent| format!("{parent}/")) + &track.name.unwrap();
            assert!(tracks.insert(track.uuid.unwrap(), name).is_none(), "a track has one number");
        }
        let Some(event) = packet.track_event else { continue };
        let (at, uuid) = (packet.timestamp.unwrap(), event.track_uuid.unwrap());
        let track = tracks[&uuid].clone();
        if event.r#type == Some(SLICE_END) {
            let mut seen = open.get_mut(&uuid).and_then(Vec::pop).expect("a slice ends that began");
            seen.cycles.end = at;
            slices.push(seen);
        } else if let Some(value) = event.double_counter_value {
            numbers.push((track, at, value));
        } else {
            let seen = named(&names, track, at, &event);
            match event.r#type {
                Some(SLICE_BEGIN) => open.entry(uuid).or_default().push(seen),
                _ => slices.push(seen),
            }
        }
    }
    assert!(open.values().all(Vec::is_empty), "every slice ends");
    (slices, numbers)
}

fn named(names: &[BTreeMap<u64, String>; 4], track: String, at: Cycle, event: &TrackEvent) -> Seen {
    let note = |note: &packet::DebugAnnotation| {
        let value = note.uint_value.map(|value| value.to_string());
        (
            names[2][&note.name_iid.unwrap()].clone(),
            value.unwrap_or_else(|| names[3][&note.string_value_iid.unwrap()].clone()),
        )
    };
    Seen {
        track,
        kind: names[0][&event.category_iids[0]].clone(),
        name: names[1][&event.name_iid.unwrap()].clone(),
        cycles: at..at,
        notes: event.debug_annotations.iter().map(note).collect(),
    }
}

/// Cycles of all slices of a kind with a name.
fn cycles(slices: &[Seen], kind: &str, name: &str) -> u64 {
    let own = slices.iter().filter(|seen| seen.kind == kind && seen.name == name);
    own.map(|seen| seen.cycles.end - seen.cycles.start).sum()
}

/// The slices of schedulers and warps are what SM 1 counted.
fn check_totals(name: &str, set: &[&str]) {
    let folder = Folder::new(name);
    let ran = run(Some(&options(&folder)), set, 1);
    let (slices, _) = read(&ran.bytes);
    let mut sm = ran.results[0].sms[1].clone();
    sm.sm.add(&ran.results[1].sms[1].sm);
    let empty: u64 = Cause::ALL.iter().map(|cause| *sm.sm.stall(*cause)).sum();
    assert_eq!(cycles(&slices, "slots", "issued"), sm.sm.slots() - empty);
    for cause in Cause::ALL {
        assert_eq!(cycles(&slices, "slots", cause.name()), *sm.sm.stall(cause), "{}", cause.name());
    }
    let issued = slices.iter().filter(|seen| seen.kind == "issues").count() as u64;
    assert_eq!(issued, sm.sm.warp_insts);
    let blocks: Vec<_> = slices.iter().filter(|seen| seen.kind == "blocks").collect();
    assert_eq!(blocks.len() as u64, sm.sm.ctas);
    let lives: u64 = blocks.iter().map(|seen| seen.cycles.end - seen.cycles.start).sum();
    // Warps that are formed anew have no life of their own.
    let life = if set.contains(&DWF) { 0 } else { lives * sm.sm.warps / sm.sm.ctas };
    assert_eq!(sm.sm.warp_life, life);
}

#[test]
fn slices_sum_up_to_counters() {
    check_totals("plain", &[]);
}

#[test]
fn slices_sum_up_where_warps_are_regrouped() {
    check_totals("tbc", &["mechanism.divergence=tbc"]);
}

#[test]
fn slices_sum_up_where_warps_are_formed_anew() {
    check_totals("dwf", &[DWF]);
}

#[test]
fn warps_are_somewhere_in_every_cycle_of_their_life() {
    let folder = Folder::new("warps");
    let (slices, _) = read(&run(Some(&options(&folder)), &[], 1).bytes);
    let mut last = BTreeMap::<String, Cycle>::new();
    let mut gaps = 0;
    let of_warps: Vec<_> = slices.iter().filter(|seen| ["issues", "waits"].contains(&&*seen.kind)).collect();
    for seen in &of_warps {
        let before = last.insert(seen.track.clone(), seen.cycles.end).unwrap_or(seen.cycles.start);
        assert!(before <= seen.cycles.start, "{seen:?}");
        gaps += usize::from(before < seen.cycles.start);
    }
    // A warp slot is empty between blocks only.
    assert!(gaps < 8 * 12, "{gaps}");
    let load = of_warps.iter().find(|seen| seen.name == "ld.global.u32").unwrap();
    assert!(load.track.starts_with("SM 1/warps/warp ") && load.kind == "issues", "{load:?}");
    let line = ("line".to_owned(), "sums.cu:4".to_owned());
    assert!(load.notes.contains(&line) && load.notes.contains(&("lanes".to_owned(), "32".to_owned())), "{load:?}");
    assert!(of_warps.iter().any(|seen| seen.name == "memory_dependence" && seen.notes.contains(&line)));
    assert!(of_warps.iter().any(|seen| seen.name == "barrier"));
}

#[test]
fn launches_are_where_they_ran() {
    let folder = Folder::new("launches");
    let ran = run(Some(&options(&folder)), &[], 1);
    let (slices, _) = read(&ran.bytes);
    let launches: Vec<_> = slices.iter().filter(|seen| seen.kind == "launches").collect();
    assert_eq!(launches.len(), 2);
    assert_eq!(launches[0].cycles, 0..ran.results[0].cycles);
    assert_eq!(launches[1].cycles.end - launches[1].cycles.start, ran.results[1].cycles);
    assert!(launches[1].cycles.start >= launches[0].cycles.end);
    assert_eq!((launches[0].name.as_str(), launches[0].track.as_str()), ("<sums>", "launches"));
    assert_eq!(launches[1].notes[1], ("grid".to_owned(), "5 x 1 x 1".to_owned()));
}

#[test]
fn watching_changes_nothing() {
    let folder = Folder::new("same");
    let options = options(&folder);
    let (plain, one) = (run(None, &[], 1), run(Some(&options), &[], 1));
    assert_eq!(plain.results.len(), 2);
    for (plain, traced) in plain.results.iter().zip(&one.results) {
        assert_eq!(format!("{plain:?}"), format!("{traced:?}"));
    }
    let two = run(Some(&options), &[], 3);
    assert!(two.bytes == one.bytes && one.bytes.len() as u64 == one.written.bytes, "threads do not change the file");
}

#[test]
fn a_limit_holds() {
    let folder = Folder::new("limit");
    let mut options = options(&folder);
    options.limit = 40_000;
    let ran = run(Some(&options), &[], 1);
    assert!(ran.written.is_cut && ran.bytes.len() <= 40_000, "{:?}", ran.written);
    assert!(ran.bytes.len() > 20_000);
    let (slices, _) = read(&ran.bytes);
    assert!(slices.iter().any(|seen| seen.kind == "limit"));
    assert_eq!(slices.iter().filter(|seen| seen.kind == "launches").count(), 2);
}

#[test]
fn a_range_of_cycles_cuts() {
    let folder = Folder::new("range");
    let mut options = options(&folder);
    options.cycles = 300..500;
    let (slices, _) = read(&run(Some(&options), &[], 1).bytes);
    assert!(slices.iter().all(|seen| seen.cycles.start >= 300 && seen.cycles.end <= 500));
    let slots: u64 =
        slices.iter().filter(|seen| seen.kind == "slots").map(|seen| seen.cycles.end - seen.cycles.start).sum();
    assert_eq!(slots, 2 * 200, "every slot of two schedulers is there");
}

#[test]
fn intervals_sum_up_to_counters() {
    let folder = Folder::new("intervals");
    let options = options(&folder);
    let ran = run(Some(&options), &[], 1);
    let reader = SerializedFileReader::new(std::fs::File::open(options.intervals.unwrap()).unwrap()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let column = |n: usize| rows.iter().map(|row| row.get_long(n).unwrap() as u64).sum::<u64>();
    let sum = |of: fn(&LaunchResult) -> u64| ran.results.iter().map(of).sum::<u64>();
    assert_eq!(rows.iter().filter(|row| row.get_long(0).unwrap() == 1).count() as u64, column(0));
    assert_eq!(column(2), sum(|r| r.cycles));
    assert_eq!(column(3), sum(|r| r.total().sm.warp_insts));
    assert_eq!(column(4), sum(|r| r.total().sm.thread_insts));
    assert_eq!(column(5), sum(|r| r.total().l1d.accesses));
    assert_eq!(column(6), sum(|r| r.total().l1d.hits));
    assert_eq!(column(7), sum(|r| r.l2_total().accesses));
    assert_eq!(column(8), sum(|r| r.l2_total().hits));
    assert_eq!(column(9), sum(|r| r.dram_total().reads) * 64);
    assert!(rows.len() as u64 >= sum(|r| r.cycles) / 200, "{} rows", rows.len());
    // The same as numbers on a track: each holds up to the next.
    let (_, numbers) = read(&ran.bytes);
    let ipc: Vec<_> = numbers.iter().filter(|(track, ..)| track == "all SMs and memory/warp IPC").collect();
    let area: f64 = ipc.windows(2).map(|two| two[0].2 * (two[1].1 - two[0].1) as f64).sum();
    assert_eq!(area.round() as u64, sum(|r| r.total().sm.warp_insts));
    let accesses: f64 = (0..6)
        .map(|n| {
            let track = format!("memory partition {n}/L2 accesses");
            let own: Vec<_> = numbers.iter().filter(|(name, ..)| *name == track).collect();
            own.windows(2).map(|two| two[0].2 * (two[1].1 - two[0].1) as f64).sum::<f64>()
        })
        .sum();
    assert_eq!(accesses.round() as u64, sum(|r| r.l2_total().accesses));
}

#[test]
fn intervals_need_no_trace() {
    let folder = Folder::new("table");
    let mut options = options(&folder);
    options.trace = None;
    options.sms = BTreeSet::new();
    let ran = run(Some(&options), &[], 1);
    assert_eq!(format!("{:?}", ran.results), format!("{:?}", run(None, &[], 1).results));
    assert!(options.intervals.unwrap().is_file());
}

#[test]
fn sms_must_be_there() {
    let folder = Folder::new("sms");
    let machine = Machine::load(Source::Preset("gtx480"), &["gpu.sms=1"]).unwrap_or_else(|e| panic!("{e:?}")).config;
    let error = Tracer::new(&options(&folder), &machine).err().unwrap();
    assert_eq!(error.to_string(), "there is no SM 1 to trace: the machine has 1");
}
