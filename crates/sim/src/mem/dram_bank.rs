//! The banks of a channel: open rows and when each command may next be given.
//!
//! Every constraint is kept as the first tick of the command clock at which it no longer holds, so waiting costs
//! nothing.

use crate::config::DramTiming;
use crate::saved;

/// A request at the channel.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
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
}

#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
struct Bank {
    group: usize,
    open: bool,
    /// The open row, or the one that was open last.
    row: u32,
    work: Option<Access>,
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
}

saved!(Banks {
    values: banks, groups, column_at, activate_at, read_at, write_at, busy;
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
        debug_assert!(bank.work.is_none());
        bank.work = Some(access);
        self.busy |= 1 << access.bank;
    }

    /// What a bank with work needs next and the first tick at which it may be given.
    #[must_use]
    pub fn need(&self, number: u32) -> Option<(Command, u64)> {
        let bank = &self.banks[number as usize];
        let work = bank.work.as_ref()?;
        let group = &self.groups[bank.group];
        Some(if !bank.open {
            (Command::Activate, self.activate_at.max(bank.activate_at))
        } else if bank.row != work.row {
            (Command::Precharge, bank.precharge_at.max(group.precharge_at))
        } else {
            let direction = if work.write { self.write_at.max(bank.write_at) } else { self.read_at.max(bank.read_at) };
            (Command::Column, direction.max(self.column_at).max(group.column_at))
        })
    }

    /// Opens the row a bank's work is in.
    pub fn activate(&mut self, number: u32, tick: u64) {
        let timing = &self.timing;
        let bank = &mut self.banks[number as usize];
        bank.open = true;
        bank.row = bank.work.as_ref().map_or(bank.row, |work| work.row);
        bank.read_at = tick + u64::from(timing.rcd);
        bank.write_at = tick + u64::from(timing.rcdwr);
        bank.precharge_at = bank.precharge_at.max(tick + u64::from(timing.ras));
        bank.activate_at = bank.activate_at.max(tick + u64::from(timing.rc));
        self.activate_at = tick + u64::from(timing.rrd);
    }

    /// Closes a bank's row.
    pub fn precharge(&mut self, number: u32, tick: u64) {
        let bank = &mut self.banks[number as usize];
        bank.open = false;
        bank.activate_at = bank.activate_at.max(tick + u64::from(self.timing.rp));
    }

    /// Moves one burst of a bank's work, which is returned; with its last burst the bank is free.
    ///
    /// # Panics
    /// When the bank has no work.
    pub fn column(&mut self, number: u32, tick: u64) -> Access {
        let timing = &self.timing;
        let bank = &mut self.banks[number as usize];
        let group = &mut self.groups[bank.group];
        let work = bank.work.as_mut().expect("a column command is for an access");
        work.bursts -= 1;
        let access = *work;
        if access.bursts == 0 {
            bank.work = None;
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
