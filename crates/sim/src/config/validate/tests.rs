use crate::config::{Kind, Machine, PRESETS, Source, keys, validate};

/// The problem of gtx480 with these overrides.
#[track_caller]
fn refused(overrides: &[&str], expected: &str) {
    let problems = Machine::load(Source::default(), overrides).unwrap_err();
    let messages: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
    assert_eq!(messages.join("\n"), expected);
}

#[test]
fn single_values() {
    refused(&["gpu.sms=0"], "`gpu.sms` must be from 1 to 1024, not 0");
    refused(&["clock.dram=0"], "`clock.dram` must be from 1 to 100000, not 0");
    refused(
        &["sm.l1d.sets=33"],
        "`sm.l1d.sets` must be a power of two from 1 to 65536, not 33\n\
        `sm.l1d.index` is \"fermi\", which is for 32 sets of 128 bytes, not 33 of 128",
    );
    refused(&["sm.fetch.ibuffer=1"], "`sm.fetch.width` is 2, more than `sm.fetch.ibuffer`, 1, holds");
    refused(&["l2.input_queue=0"], "`l2.input_queue` must be from 1 to 65536, not 0");
    refused(&["dram.banks=128"], "`dram.banks` must be a power of two from 1 to 64, not 128");
    refused(&["sm.warp_width=7"], "`sm.warp_width` must be 4, 8, 16 or 32, not 7");
    refused(&["mechanism.issue=''"], "`mechanism.issue` must name a mechanism");
}

#[test]
fn combinations() {
    refused(&["sm.simd_width=12"], "`sm.simd_width` must divide `sm.warp_width`, 32, and 12 does not");
    refused(&["sm.threads=1000"], "`sm.threads` must be a multiple of `sm.warp_width`, 32, not 1000");
    refused(&["sm.threads=65536"], "`sm.threads` are 2048 warps of `sm.warp_width`, 32; an SM has at most 1024");
    refused(&["sm.threads=32"], "`sm.issue.schedulers` is 2, more than the 1 warps of an SM");
    refused(&["sm.l1t.sets=0"], "`sm.l1t.sets` is 0, and only the others can be left out");
    refused(
        &["l2.index=polynomial", "l2.sets=128"],
        "`l2.index` is \"polynomial\", which is for 32 or 64 sets, not 128",
    );
    refused(
        &["dram.address.slice_hash=polynomial"],
        "`dram.address.slice_hash` needs a power of two of channels (`dram.channels`), not 6",
    );
    refused(&["sm.subcores=3"], "`sm.subcores` must divide `sm.issue.schedulers`, 2, and 3 does not");
    refused(
        &["sm.data.sector=32"],
        "`sm.l1d.write` must be \"through-allocate\" where a miss fetches a sector (`sm.data.sector`)\n`sm.coalescing` must be \"sectors\" where the data cache has them (`sm.data.sector`)",
    );
    refused(
        &["sm.data.shared_options=8 0"],
        "`sm.data.shared_options` must be kilobytes, ascending, as in \"0 8 16\", not \"8 0\"",
    );
    refused(
        &["sm.latency.int_add.interval=5"],
        "`sm.latency.int_add.interval` is 5, longer than the 4 cycles the instruction takes",
    );
    refused(&["dram.banks=8"], "`dram.address.fields` has 4 bits B, but 8 banks (`dram.banks`) need 3");
    refused(
        &["dram.address.fields=RRRR.BBBXCCB.CCSSSSSS"],
        "`dram.address.fields` may have the letters R, B, C and S and dots, not `X`",
    );
    refused(
        &["dram.address.channel_shift=6"],
        "`dram.address.channel_shift` is 6, so that a line of the L2, 128 bytes, is in several channels",
    );
    for (letter, fields) in
        [('R', format!("{}.BBBB.C.SSSSSS", "R".repeat(33))), ('C', format!("R.BBBB.{}.SSSSSS", "C".repeat(33)))]
    {
        let message = format!("`dram.address.fields` has 33 bits {letter}, more than 32");
        refused(&[&format!("dram.address.fields={fields}")], &message);
    }
    refused(
        &["sm.warp_width=4", "sm.simd_width=4", "sm.slices=8", "sm.issue.schedulers=16"],
        "`sm.issue.schedulers` is 16 in each of 8 slices; an SM has at most 64",
    );
    refused(&["l2.slices=32"], "`l2.slices` is 32, but bits of the bank select the slice and there are 16 banks");
    refused(
        &["interconnect.input_buffer=3"],
        "`interconnect.input_buffer` is 3, but a packet with 128 bytes of data has 4 flits",
    );
}

/// Nothing that is allocated for by a number may be as large as it likes.
#[test]
fn every_number_has_an_upper_bound() {
    for preset in PRESETS {
        for field in keys().fields.iter().filter(|field| field.kind == Kind::Count) {
            for value in ["4294967295", "2147483647", "16777217"] {
                let set = format!("{}={value}", field.path);
                assert!(Machine::load(Source::Preset(preset.name), &[&set]).is_err(), "{}: {set}", preset.name);
            }
        }
    }
}

#[test]
fn large_machines_are_refused() {
    let ports = "`dram.channels` is 256, with 16 slices of the L2 each (`l2.slices`): the interconnect has ports for 1024 \
                 slices, not 4096";
    refused(&["dram.channels=256", "l2.slices=16"], ports);
    refused(
        &["l2.sector=8"],
        "`l2.sector` is 8, so that a line (`l2.line`), 128, has 16 sectors, more than 8; it must be at least 16",
    );
    refused(&["l2.line=256"], "`l2.line` must be a power of two from 32 to 128, not 256");
    refused(&["l2.inbox=4294967295"], "`l2.inbox` must be from 1 to 65536, not 4294967295");
    refused(&["l2.inbox=0"], "`l2.inbox` must be from 1 to 65536, not 0");
    refused(
        &["sm.l1d.mshr_entries=65536", "sm.l1d.mshr_merges=65536"],
        "`sm.l1d.mshr_merges` times `sm.l1d.mshr_entries` is 4294967296; at most 1048576 accesses can wait",
    );
    refused(
        &["gpu.sms=1024", "sm.l1t.sets=65536", "sm.l1t.ways=4"],
        "`sm.l1t.sets` and what multiplies it make a machine that needs about 26 GiB of the host's memory, 24 of them \
         for this; at most 4 are allowed: make it smaller, or use fewer SMs (`gpu.sms`) or channels \
         (`dram.channels`)",
    );
}

/// Whatever single number is put to an extreme, the answer is a verdict.
#[test]
fn extremes_do_not_panic() {
    for preset in PRESETS {
        for field in &keys().fields {
            for value in ["0", "1", "3", "4294967295", "\"\"", "RBCS", "true"] {
                let set = format!("{}={value}", field.path);
                if let Ok(machine) = Machine::load(Source::Preset(preset.name), &[set]) {
                    assert_eq!(validate(&machine.config), Ok(()));
                }
            }
        }
    }
}
