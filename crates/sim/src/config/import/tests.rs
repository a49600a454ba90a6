use super::*;
use crate::config::{Source, validate};

const SAMPLE: &str = r#"
# a small machine
-gpgpu_n_clusters 4
-gpgpu_n_cores_per_cluster 2   # two SMs each
-gpgpu_n_mem 3
-gpgpu_n_sub_partition_per_mchannel 1
-gpgpu_clock_domains 607.5:607.5:607.5:900.0
-gpgpu_shader_core_pipeline 512:32
-gpgpu_pipeline_widths 1,0,0,1,1,1,0,0,1,1,2
-ptx_opcode_latency_int 6,12,6,7,90
-ptx_opcode_initiation_int 1,2,2,2,4
-gpgpu_cache:dl1 16:128:4,L:B:f:N:L,A:32:6,8
-gpgpu_cache:il1 N:8:128:4,L:R:f:N:L,S:2:48,4
-gpgpu_cache:dl2 N:128:128:16,L:B:m:W:L,A:64:4,8:0,32
-gpgpu_tex_cache:l1 none
-gpgpu_shmem_size 32768
-gpgpu_coalesce_arch 13
-gpgpu_dram_buswidth 4
-gpgpu_n_mem_per_ctrlr 2
-gpgpu_dram_burst_length 4
-dram_data_command_freq_ratio 2
-gpgpu_mem_addr_mapping dramid@8;00000000.00000000.00000000.00000000.0000RRRR.RRRRRRRR.RBBBCCCC.CCCSSSSS
-gpgpu_dram_timing_opt "nbk=8:CCD=2:RRD=8:RCD=11:RAS=20:RP=9:RC=29:
                        CL=9:WL=3:CDLR=6:WR=10:nbkgrp=1:CCDL=0:RTPL=0"
-gpgpu_scheduler two_level_active:6:0:1
-gpgpu_scheduler lrr
-visualizer_enabled 0
-gpgpu_frfcfs_dram_sched_queue_size 0
"#;

#[test]
fn a_sample_becomes_a_machine() {
    let text = SAMPLE.replace("-gpgpu_tex_cache:l1 none", "");
    let imported = import(&text).unwrap();
    let config = &imported.machine.config;
    assert_eq!(config.gpu.sms, 8);
    assert_eq!((config.dram.channels, config.l2.slices, config.dram.banks), (3, 1, 8));
    assert_eq!((config.clock.core, config.clock.dram), (6075, 9000));
    assert_eq!((config.sm.threads, config.sm.latency.int_div.interval), (512, 4));
    assert_eq!((config.sm.l1d.sets, config.sm.l1d.mshr_merges, config.sm.l1d.allocate_on_miss), (16, 6, false));
    assert_eq!((config.dram.burst_bytes, config.dram.timing.burst, config.dram.timing.rcdwr), (32, 2, 7));
    assert_eq!(config.dram.address.fields, "RRRR.RRRRRRRR.RBBBCCCC.CCCSSSSS");
    assert_eq!(config.mechanism.issue.name(), "lrr");
    assert_eq!(imported.machine.origin("gpu.sms"), Some(&Origin::Option("-gpgpu_n_clusters".to_owned())));
    assert_eq!(imported.machine.origin("sm.ctas"), Some(&Origin::Preset("gtx480")));
    let show = |left: &Left| format!("{} {} {}: {}", left.line, left.option, left.value, left.reason);
    let unknown: Vec<String> = imported.without_counterpart.iter().map(show).collect();
    assert_eq!(unknown, ["27 -visualizer_enabled 0: "]);
    let not_taken: Vec<String> = imported.not_taken.iter().map(show).collect();
    assert_eq!(
        not_taken,
        [
            "14 -gpgpu_cache:dl2 N:128:128:16,L:B:m:W:L,A:64:4,8:0,32: lines are fetched in sectors of 64 bytes, the \
             shortest line of the SM's caches",
            "25 -gpgpu_scheduler two_level_active:6:0:1: it is set again later in the file",
            "28 -gpgpu_frfcfs_dram_sched_queue_size 0: there are no queues without bound",
        ]
    );
}

#[test]
fn a_machine_that_cannot_work_is_refused() {
    let problems = import(SAMPLE).unwrap_err();
    let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(messages, ["-gpgpu_tex_cache:l1: `sm.l1t.sets` is 0, and only the others can be left out"]);
}

/// The options from which the preset was made give the preset.
#[test]
fn the_reference_machine_comes_out_as_the_preset() {
    let text = "-gpgpu_cache:dl1 N:32:128:4,L:L:m:N:H,S:64:8,8 -gpgpu_cache:dl2 S:64:128:8,L:B:m:L:L,A:256:4,4:0,32 \
        -gpgpu_n_clusters 15 -gpgpu_n_cores_per_cluster 1 -gpgpu_clock_domains 700.0:700.0:700.0:924.0 \
        -ptx_opcode_latency_int 4,13,4,5,145,32 -ptx_opcode_initiation_dp 8,16,8,8,130 -gpgpu_n_mem_per_ctrlr 2 \
        -gpgpu_dram_burst_length 8 -dram_data_command_freq_ratio 4 -gpgpu_coalesce_arch 20 \
        -gpgpu_dram_timing_opt nbk=16:CCD=2:RRD=6:RCD=12:RAS=28:RP=12:RC=40:CL=12:WL=4:CDLR=5:WR=12:nbkgrp=4 \
        -gpgpu_mem_addr_mapping dramid@8;0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS";
    let imported = import(text).unwrap();
    assert_eq!(imported.not_taken, []);
    assert_eq!(imported.machine.config, Machine::load(Source::default(), &[""; 0]).unwrap().config);
}

#[test]
fn an_empty_text_gives_the_preset() {
    assert_eq!(import("").unwrap().machine.config, Machine::load(Source::default(), &[""; 0]).unwrap().config);
}

#[test]
fn no_text_panics() {
    let junk = ["", ":", ",", "-", "4294967295", "\"", "0", "nan", "é", "=", "@", ";", "N:::", "-1", "1e300"];
    for (number, (at, _)) in SAMPLE.char_indices().enumerate() {
        let mut text = SAMPLE.to_owned();
        text.insert_str(at, junk[number % junk.len()]);
        for text in [&text, &SAMPLE[..at], &SAMPLE[at..]] {
            if let Ok(imported) = import(text) {
                assert_eq!(validate(&imported.machine.config), Ok(()));
            }
        }
    }
}

#[test]
fn a_text_of_version_3_stands_on_its_own_preset() {
    let text = "-gpgpu_pipeline_widths 2,1,1,2,1,1,2 -rop_latency 90 -gpgpu_cache:dl1 32:128:4,L:L:m:N,A:32:8,8 \
        -gpgpu_cache:dl2 64:128:8,L:B:m:W,A:32:4,4:0,32 -gpgpu_const_cache:l1 32:128:2,L:R:f:N,A:2:32,4";
    let imported = import(text).unwrap();
    let config = &imported.machine.config;
    assert_eq!((imported.base, imported.not_taken.as_slice()), ("gtx480-v3", &[][..]));
    assert_eq!((config.l2.rop_latency, config.l2.sector, config.sm.l1d.mshr_entries), (90, 128, 32));
    assert_eq!((config.sm.shared.latency, config.sm.l1d.latency, config.sm.issue.rotate), (3, 0, false));
    for assumed in ["sm.shared.latency", "sm.l1d.latency", "sm.issue.rotate", "sm.units.sfu_int_mul"] {
        assert!(imported.assumed.iter().any(|path| path == assumed), "{assumed} is assumed");
    }
    assert!(!imported.assumed.iter().any(|path| path == "l2.rop_latency"), "the text says it");
    assert!(import("").unwrap().assumed.is_empty(), "an empty text is the preset, nothing is assumed");
}
