//! Interconnect, L2 and DRAM.

use super::{Check, MAX_LATENCY, MAX_LINE, MIN_LINE};
use crate::config::{InterconnectConfig, L2Config, MachineConfig, SliceHash};
use crate::mem::cache::MAX_SECTORS;
use crate::mem::dram_bank::MAX_BANKS;
use crate::mem::ports::MAX_PORTS;

/// Checks `[interconnect]`, `[l2]` and `[dram]`.
pub fn check(check: &mut Check, config: &MachineConfig) {
    interconnect(check, &config.interconnect);
    l2(check, &config.l2);
    dram(check, config);
    if check.problems.is_empty() {
        address(check, config);
    }
}

fn interconnect(check: &mut Check, net: &InterconnectConfig) {
    let has_flits = check.range("interconnect.flit_bytes", net.flit_bytes, 1, 4096)
        & check.range("interconnect.header_bytes", net.header_bytes, 1, 4096)
        & check.range("interconnect.reply_header_bytes", net.reply_header_bytes, 0, 4096);
    check.range("interconnect.speedup", net.speedup, 1, 64);
    check.range("interconnect.latency", net.latency, 1, MAX_LATENCY);
    let buffers = [
        ("interconnect.injection_buffer", net.injection_buffer),
        ("interconnect.input_buffer", net.input_buffer),
        ("interconnect.output_buffer", net.output_buffer),
    ];
    for (path, flits) in buffers {
        if check.queue(path, flits) && has_flits {
            let needed = (net.header_bytes.max(net.reply_header_bytes) + MAX_LINE).div_ceil(net.flit_bytes);
            check.rule(flits >= needed, path, || {
                format!("is {flits}, but a packet with {MAX_LINE} bytes of data has {needed} flits")
            });
        }
    }
}

fn l2(check: &mut Check, l2: &L2Config) {
    check.power("l2.slices", l2.slices, 1, MAX_BANKS);
    if check.power("l2.line", l2.line, MIN_LINE, MAX_LINE) & check.power("l2.sector", l2.sector, 8, MAX_LINE) {
        check.rule(l2.sector <= l2.line, "l2.sector", || {
            format!("is {}, more than a line (`l2.line`), {}", l2.sector, l2.line)
        });
        check.rule(l2.line / l2.sector <= MAX_SECTORS, "l2.sector", || {
            format!(
                "is {}, so that a line (`l2.line`), {}, has {} sectors, more than {MAX_SECTORS}; it must be at least {}",
                l2.sector,
                l2.line,
                l2.line / l2.sector,
                l2.line / MAX_SECTORS
            )
        });
    }
    if l2.sets > 0 {
        check.power("l2.sets", l2.sets, 1, 1 << 16);
        check.range("l2.ways", l2.ways, 1, 1024);
        let lines = u64::from(l2.sets) * u64::from(l2.ways);
        check.rule(lines <= 1 << 20, "l2.ways", || format!("makes {lines} lines with `l2.sets`, which is too many"));
        check.index("l2.index", l2.index, l2.sets, l2.line);
    }
    check.misses("l2", l2.mshr_entries, l2.mshr_merges);
    if check.queue("l2.miss_queue", l2.miss_queue) {
        check.rule(l2.miss_queue >= 2, "l2.miss_queue", || {
            "is 1, but a miss may need room for the line it replaces and for its own request".to_owned()
        });
    }
    check.latency("l2.rop_latency", l2.rop_latency);
    check.queue("l2.inbox", l2.inbox);
    check.queue("l2.input_queue", l2.input_queue);
    check.queue("l2.to_dram_queue", l2.to_dram_queue);
    check.queue("l2.from_dram_queue", l2.from_dram_queue);
    check.queue("l2.output_queue", l2.output_queue);
}

fn dram(check: &mut Check, config: &MachineConfig) {
    let (dram, t) = (&config.dram, &config.dram.timing);
    if check.range("dram.channels", dram.channels, 1, 256) {
        let ports = dram.channels.saturating_mul(config.l2.slices);
        check.rule(ports <= MAX_PORTS, "dram.channels", || {
            format!(
                "is {}, with {} slices of the L2 each (`l2.slices`): the interconnect has ports for {MAX_PORTS} slices, \
                 not {ports}",
                dram.channels, config.l2.slices
            )
        });
    }
    check.power("dram.burst_bytes", dram.burst_bytes, 4, 4096);
    check.latency("dram.latency", dram.latency);
    check.queue("dram.queue", dram.queue);
    check.queue("dram.return_queue", dram.return_queue);
    if check.power("dram.banks", dram.banks, 1, MAX_BANKS)
        & check.power("dram.bank_groups", dram.bank_groups, 1, MAX_BANKS)
    {
        check.rule(dram.bank_groups <= dram.banks, "dram.bank_groups", || {
            format!("is {}, more than the banks (`dram.banks`), {}", dram.bank_groups, dram.banks)
        });
        check.rule(config.l2.slices <= dram.banks, "l2.slices", || {
            format!("is {}, but bits of the bank select the slice and there are {} banks", config.l2.slices, dram.banks)
        });
    }
    check.range("dram.timing.ccd", t.ccd, 1, MAX_LATENCY);
    check.range("dram.timing.burst", t.burst, 1, MAX_LATENCY);
    for (name, value) in [("ccdl", t.ccdl)].into_iter().chain(t.waits()) {
        check.latency(&format!("dram.timing.{name}"), value);
    }
}

/// The address map, once the sizes it must agree with are known to be good.
fn address(check: &mut Check, config: &MachineConfig) {
    const PATH: &str = "dram.address.fields";
    let address = &config.dram.address;
    let letters: Vec<char> = address.fields.chars().filter(|c| *c != '.').rev().collect();
    if let Some(odd) = letters.iter().find(|letter| !"SCBR".contains(**letter)) {
        return check.refuse(PATH, format!("may have the letters R, B, C and S and dots, not `{odd}`"));
    }
    if letters.len() > 48 {
        return check.refuse(PATH, format!("has {} bits, more than 48", letters.len()));
    }
    let count = |letter| letters.iter().filter(|l| **l == letter).count();
    let log = |value: u32| value.trailing_zeros() as usize;
    check.rule(count('B') == log(config.dram.banks), PATH, || {
        let (bits, banks) = (count('B'), config.dram.banks);
        format!("has {bits} bits B, but {banks} banks (`dram.banks`) need {}", log(banks))
    });
    check.rule(count('S') == log(config.dram.burst_bytes), PATH, || {
        let (bits, burst) = (count('S'), config.dram.burst_bytes);
        format!("has {bits} bits S, but bursts of {burst} bytes (`dram.burst_bytes`) need {}", log(burst))
    });
    check.rule(letters.iter().take(count('S')).all(|l| *l == 'S'), PATH, || "must have the bits S lowest".to_owned());
    for letter in ['R', 'C'] {
        check.rule(count(letter) <= 32, PATH, || format!("has {} bits {letter}, more than 32", count(letter)));
    }
    check.rule(count('R') > 0, PATH, || "has no bit R: there must be rows".to_owned());
    let (hash, channels) = (address.slice_hash, config.dram.channels);
    check.rule(hash == SliceHash::None || channels.is_power_of_two(), "dram.address.slice_hash", || {
        format!("needs a power of two of channels (`dram.channels`), not {channels}")
    });
    // A request must stay in one channel and in one slice, whatever its address.
    let line = config.l2.line;
    check.range("dram.address.channel_shift", address.channel_shift, 0, 40);
    check.rule(address.channel_shift as usize >= log(line), "dram.address.channel_shift", || {
        format!("is {}, so that a line of the L2, {line} bytes, is in several channels", address.channel_shift)
    });
    check.rule(letters.len() > address.channel_shift as usize, PATH, || {
        format!("has {} bits, no more than `dram.address.channel_shift`", letters.len())
    });
    let first_bank = letters.iter().position(|l| *l == 'B').unwrap_or(usize::MAX);
    check.rule(config.l2.slices == 1 || first_bank >= log(line), PATH, || {
        format!("has its lowest bit B inside a line of the L2, {line} bytes, and that bit selects the slice")
    });
}
