use super::*;
use crate::config::{PRESETS, validate};

/// What is wrong with this file and these overrides, one problem a line.
#[track_caller]
fn refused(text: &str, overrides: &[&str], expected: &str) {
    let problems = Machine::load(Source::File { name: "m.toml", text }, overrides).unwrap_err();
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(lines.join("\n"), expected);
}

#[test]
fn presets_are_complete_and_valid() {
    for preset in PRESETS {
        let machine = Machine::load(Source::Preset(preset.name), &[""; 0]).unwrap();
        assert_eq!(validate(&machine.config), Ok(()));
        assert!(machine.values().all(|(_, _, origin)| matches!(origin, Origin::Preset(_))));
        if !preset.text.contains("\nbase = ") {
            let whole: MachineConfig = toml::from_str(preset.text).unwrap();
            assert_eq!(whole, machine.config);
        }
    }
}

#[test]
fn a_preset_may_stand_on_another() {
    let load = |name| Machine::load(Source::Preset(name), &[""; 0]).unwrap();
    let (deep, flat) = (load("fx5800-deep"), load("fx5800"));
    assert_eq!(deep.origin("sm.l1d.latency"), Some(&Origin::Preset("fx5800-deep")));
    assert_eq!(deep.origin("gpu.sms"), Some(&Origin::Preset("fx5800")));
    assert_eq!(deep.config.l2, flat.config.l2);
    assert_ne!(deep.config.sm.latency, flat.config.sm.latency);
}

#[test]
fn every_value_of_a_preset_has_a_source() {
    for preset in PRESETS {
        for line in preset.text.lines().filter(|line| line.contains(" = ")) {
            assert!(line.contains("# "), "{}: {line}", preset.name);
        }
    }
}

#[test]
fn later_layers_win_and_are_remembered() {
    let text = "base = \"fx5800\"\n[sm]\nctas = 4\n[sm.latency]\nint_add = { latency = 7, interval = 2 }\n";
    let overrides = ["sm.ctas=2", "dram.scheduler = fifo", "sm.fetch.ideal=true", "clock.core=0x514"];
    let machine = Machine::load(Source::File { name: "m.toml", text }, &overrides).unwrap();
    assert_eq!((machine.config.sm.ctas, machine.config.clock.core), (2, 1300));
    let origin = |path| machine.origin(path).unwrap().to_string();
    assert_eq!(origin("sm.ctas"), "--set");
    assert_eq!(origin("sm.latency.int_add.interval"), "m.toml:5");
    assert_eq!(origin("sm.latency.int_mul.interval"), "preset fx5800");
}

#[test]
fn what_is_printed_can_be_read() {
    let machine = Machine::load(Source::default(), &["mechanism.issue={name=\"two-level\", active=8}"]).unwrap();
    let text = machine.to_toml();
    assert!(
        text.starts_with("gpu.sms    = 15  # preset gtx480\ngpu.window = 5   # preset gtx480\n\nclock.core"),
        "{text}"
    );
    let again = Machine::load(Source::File { name: "m.toml", text: &text }, &[""; 0]).unwrap();
    assert_eq!(again.config, machine.config);
}

#[test]
fn mechanisms_have_parameters() {
    let overrides = ["mechanism.issue=two-level", "mechanism.issue.active=8", "mechanism.issue.order=old"];
    let issue = Machine::load(Source::default(), &overrides).unwrap().config.mechanism.issue;
    let expected = toml::from_str::<toml::Table>("name = 'two-level'\nactive = 8\norder = 'old'").unwrap();
    assert_eq!(toml::Value::try_from(issue).unwrap(), toml::Value::Table(expected));
    let text = "base = \"gtx480\"\n[mechanism.issue]\nname = \"two-level\"\nactive = 8\n";
    let machine = Machine::load(Source::File { name: "m.toml", text }, &["mechanism.issue=lrr"]).unwrap();
    assert_eq!(machine.config.mechanism.issue, crate::config::Choice::Name("lrr".to_owned()));
}

#[test]
fn mistakes_in_files_have_a_place() {
    refused("base = \"gtx48\"\n", &[], "m.toml:1:8: there is no preset `gtx48` (did you mean `gtx480`?)");
    refused("base = 3\n", &[], "m.toml:1:8: `base` must be the name of a preset, in quotes");
    refused(
        "base = \"gtx480\"\n[sm]\nctaz = 8\nthreads = \"many\"\nregisters = -1\n[gpus]\n",
        &[],
        "m.toml:3:1: there is no key `sm.ctaz` (did you mean `ctas`?)\n\
         m.toml:4:11: `sm.threads` must be a whole number from 0 to 4294967295, not \"many\"\n\
         m.toml:5:13: `sm.registers` must be a whole number from 0 to 4294967295, not -1\n\
         m.toml:6:2: there is no key `gpus` (did you mean `gpu`?)",
    );
    refused(
        "base = \"gtx480\"\nsm.l1d = 4\nsm.l1c.index = \"liner\"\nsm.warps = 4\n",
        &[],
        "m.toml:2:10: `sm.l1d` is a table, not a value (it holds sets, line, ways, index, write, mshr_entries, \
         mshr_merges, miss_queue, latency, allocate_on_miss)\n\
         m.toml:3:16: `sm.l1c.index` must be \"linear\", \"fermi\" or \"polynomial\", not \"liner\"\n\
         m.toml:4:4: there is no key `sm.warps` (`sm` holds fetch, issue, collector, units, latency, shared, ideal, l1i, \
         l1d, data, l1c, l1t, arch, warp_width, simd_width, slices, subcores, threads, ctas, registers, register_grain, shared_bytes, \
         single_in_flight, first_side, coalescing, fence_waits_for_stores, \
         fence_empties_l1d, response_queue, ejection_buffer)",
    );
    refused(
        "base = \"gtx480\"\n[gpu]\nwindow = 9\n",
        &[],
        "m.toml:3:10: `gpu.window` is 9, longer than `interconnect.latency`, which is 5 cycles of the core clock: \
         a message would have to arrive before it is exchanged",
    );
}

#[test]
fn a_file_without_base_must_be_complete() {
    let text = PRESETS[0].text;
    assert!(Machine::load(Source::File { name: "m.toml", text }, &[""; 0]).is_ok());
    let without = text.replace("ctas = 8", "");
    let help = "begin the file with `base = \"gtx480\"` to take what it does not say from a preset";
    refused(&without, &[], &format!("`sm.ctas` is missing ({help})"));
    refused("", &[], &format!("`gpu.sms` and {} more keys are missing ({help})", keys().fields.len() - 1));
}

#[test]
fn mistakes_in_overrides_are_named() {
    let base = "base = \"gtx480\"\n";
    refused(base, &["x"], "--set x: `x` is not of the form path=value (as in sm.l1d.sets=64)");
    refused(base, &["ctas=4"], "--set ctas=4: there is no key `ctas` (did you mean `sm.ctas`?)");
    refused(base, &["sm.l1.sets=4"], "--set sm.l1.sets=4: there is no key `sm.l1.sets` (did you mean `sm.l1c.sets`?)");
    refused(
        base,
        &["sm.ctas=some"],
        "--set sm.ctas=some: `sm.ctas` must be a whole number from 0 to 4294967295, not \"some\"",
    );
    refused(
        base,
        &["mechanism.issue.active=[1]"],
        "--set mechanism.issue.active=[1]: `mechanism.issue.active` must be a number, a text, true or false, not a list",
    );
    refused(base, &["sm.ctas=0"], "--set sm.ctas=0: `sm.ctas` must be from 1 to 4096, not 0");
    let problem = Machine::load(Source::Preset("fermi"), &[""; 0]).unwrap_err().remove(0);
    assert_eq!(
        problem.to_string(),
        "there is no preset `fermi` (presets: gtx480, gtx480-v3, fx5800, fx5800-deep, vws-sm, v100, rtx3070, v100-chip)"
    );
}

/// Texts cut, spliced and garbled: an answer, never a panic.
#[test]
fn no_text_panics() {
    let junk =
        ["", "[", "]]", "=", "\"", "{", "\n", "é", "0x", "1e999", "base=", "-", "[sm.", "'''", "99999999999999999999"];
    let mut state = 7_u64;
    let mut next = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for _ in 0..1500 {
        let mut text = "base = \"gtx480\"\n".repeat(next(2)) + PRESETS[next(3)].text;
        for _ in 0..=next(3) {
            let (mut a, mut b) = (next(text.len()), next(text.len()));
            while !text.is_char_boundary(a) {
                a -= 1;
            }
            while !text.is_char_boundary(b) {
                b -= 1;
            }
            let end = if next(2) == 0 { (a + next(30)).min(text.len()) } else { a.max(b) };
            if text.is_char_boundary(end) {
                text.replace_range(a..end, junk[next(junk.len())]);
            }
        }
        let set = text.lines().nth(next(9)).unwrap_or("").to_owned();
        let loaded = Machine::load(Source::File { name: "m.toml", text: &text }, &[set]);
        loaded.map_or_else(|problems| assert!(!problems.is_empty()), |machine| assert!(!machine.to_toml().is_empty()));
    }
}
