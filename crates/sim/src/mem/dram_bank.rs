//! The banks of a channel: open rows and when each command may next be given.
//!
//! Every constraint is kept as the first tick of the command clock at which it no longer holds, so waiting costs
//! nothing.

use crate::config::DramTiming;
use crate::saved;

/// A request at the channel.
#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Access {
    /// Who asked: comes back with the reply.
    pub tag: u64,
    /// Row.
    pub row: u32,
    /// Bank.
    pub bank: u8,
    /// Slice of the channel that asked.
    pub slice: u8,
    /// Column commands it still needs.
    pub bursts: u8,
    /// It writes.
    pub write: bool,
    /// The slice wants to hear of it.
    pub reply: bool,
    /// The operation that caused it, as in [`Request::origin`](crate::packet::Request::origin).
    pub origin: u32,
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Bank {
    group: usize,
    /// The open row, or the one that was open last.
    row: u32,
    work: Access,
    activate_at: u64,
    read_at: u64,
    write_at: u64,
    precharge_at: u64,
}

#[derive(Clone, Copy, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Group {
    column_at: u64,
    precharge_at: u64,
}

/// What a bank needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Opens a row.
    Activate,
    /// Closes it.
    Precharge,
    /// Moves one burst.
    Column,
}

/// Banks a channel can have.
pub const MAX_BANKS: u32 = 64;

/// The banks of a channel.
#[derive(Clone, Debug)]
pub struct Banks {
    timing: DramTiming,
    banks: Vec<Bank>,
    groups: Vec<Group>,
    column_at: u64,
    activate_at: u64,
    read_at: u64,
    write_at: u64,
    /// Banks with work, one bit each.
    busy: u64,
    /// Banks with an open row.
    open: u64,
    /// Banks whose work is in the row that is open.
    in_row: u64,
    /// Banks whose work writes.
    writing: u64,
}

saved!(Banks {
    values: banks, groups, column_at, activate_at, read_at, write_at, busy, open, in_row, writing;
    fixed: timing;
});

impl Banks {
    /// Closed banks.
    ///
    /// # Panics
    /// When there are more than 64 banks or no bank or group.
    #[must_use]
    pub fn new(timing: &DramTiming, banks: u32, groups: u32) -> Self {
        assert!((1..=MAX_BANKS).contains(&banks) && groups > 0, "1 to {MAX_BANKS} banks in at least one group");
        Self {
            timing: timing.clone(),
            banks: (0..banks).map(|number| Bank { group: (number % groups) as usize, ..Bank::default() }).collect(),
            groups: vec![Group::default(); groups as usize],
            column_at: 0,
            activate_at: 0,
            read_at: 0,
            write_at: 0,
            busy: 0,
            open: 0,
            in_row: 0,
            writing: 0,
        }
    }

    /// Banks with work, one bit each.
    #[must_use]
    pub fn busy(&self) -> u64 {
        self.busy
    }

    /// The row that is or was last open in a bank.
    #[must_use]
    pub fn row(&self, bank: u32) -> u32 {
        self.banks[bank as usize].row
    }

    /// Gives a bank without work an access.
    pub fn assign(&mut self, access: Access) {
        let bank = &mut self.banks[usize::from(access.bank)];
        let bit = 1 << access.bank;
        debug_assert!(self.busy & bit == 0);
        bank.work = access;
        self.busy |= bit;
        set(&mut self.in_row, bit, self.open & bit != 0 && bank.row == access.row);
        set(&mut self.writing, bit, access.write);
    }

    /// Banks with work that may get a command at a tick as far as the channel goes, and the first tick at which one of
    /// the others may.
    #[inline]
    #[must_use]
    pub fn candidates(&self, tick: u64) -> (u64, u64) {
        let (mut all, mut soonest) = (self.busy & self.open & !self.in_row, u64::MAX);
        let columns = self.busy & self.in_row;
        let mut add = |banks: u64, at: u64| {
            if at <= tick {
                all |= banks;
            } else if banks != 0 {
                soonest = soonest.min(at);
            }
        };
        add(self.busy & !self.open, self.activate_at);
        add(columns & !self.writing, self.column_at.max(self.read_at));
        add(columns & self.writing, self.column_at.max(self.write_at));
        (all, soonest)
    }

    /// The first tick at which a bank may get a command.
    #[must_use]
    pub fn next_command(&self) -> u64 {
        let (mut left, mut first) = (self.busy, u64::MAX);
        while left != 0 {
            let number = left.trailing_zeros();
            left &= left - 1;
            let (command, at) = self.need(number);
            let direction = if self.writing >> number & 1 != 0 { self.write_at } else { self.read_at };
            first = first.min(match command {
                Command::Activate => at.max(self.activate_at),
                Command::Precharge => at,
                Command::Column => at.max(self.column_at).max(direction),
            });
        }
        first
    }

    /// What a bank with work needs next, and the first tick at which it may be given as far as the bank and its group go.
    #[inline]
    #[must_use]
    pub fn need(&self, number: u32) -> (Command, u64) {
        let bank = &self.banks[number as usize];
        let bit = 1 << number;
        if self.open & bit == 0 {
            return (Command::Activate, bank.activate_at);
        }
        let group = &self.groups[bank.group];
        if self.in_row & bit == 0 {
            return (Command::Precharge, bank.precharge_at.max(group.precharge_at));
        }
        let own = if self.writing & bit != 0 { bank.write_at } else { bank.read_at };
        (Command::Column, own.max(group.column_at))
    }

    /// Opens the row a bank's work is in.
    pub fn activate(&mut self, number: u32, tick: u64) {
        let timing = &self.timing;
        let bank = &mut self.banks[number as usize];
        self.open |= 1 << number;
        self.in_row |= 1 << number;
        bank.row = bank.work.row;
        bank.read_at = tick + u64::from(timing.rcd);
        bank.write_at = tick + u64::from(timing.rcdwr);
        bank.precharge_at = bank.precharge_at.max(tick + u64::from(timing.ras));
        bank.activate_at = bank.activate_at.max(tick + u64::from(timing.rc));
        self.activate_at = tick + u64::from(timing.rrd);
    }

    /// Closes a bank's row.
    pub fn precharge(&mut self, number: u32, tick: u64) {
        let bank = &mut self.banks[number as usize];
        self.open &= !(1 << number);
        self.in_row &= !(1 << number);
        bank.activate_at = bank.activate_at.max(tick + u64::from(self.timing.rp));
    }

    /// Moves one burst of a bank's work, which is returned; with its last burst the bank is free.
    pub fn column(&mut self, number: u32, tick: u64) -> Access {
        let timing = &self.timing;
        let bank = &mut self.banks[number as usize];
        let group = &mut self.groups[bank.group];
        debug_assert!(self.busy >> number & 1 != 0, "a column command is for an access");
        bank.work.bursts -= 1;
        let access = bank.work;
        if access.bursts == 0 {
            self.busy &= !(1 << number);
        }
        self.column_at = tick + u64::from(timing.ccd);
        group.column_at = tick + u64::from(timing.ccdl);
        if access.write {
            self.read_at = tick + u64::from(timing.wl + timing.burst + timing.cdlr);
            bank.precharge_at = bank.precharge_at.max(tick + u64::from(timing.wl + timing.burst + timing.wr));
        } else {
            self.write_at = tick + u64::from((timing.cl + timing.burst + 2).saturating_sub(timing.wl));
            bank.precharge_at = bank.precharge_at.max(tick + u64::from(timing.burst));
            group.precharge_at = tick + u64::from(timing.rtpl);
        }
        access
    }
}

/// Puts bits into a set, or takes them out.
fn set(all: &mut u64, bits: u64, to: bool) {
    *all = if to { *all | bits } else { *all & !bits };
}
