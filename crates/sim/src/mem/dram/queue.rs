//! Requests that wait for a bank, by row.
//!
//! A bank takes all requests for a row before it turns to another one, so those that wait for a row are taken together
//! and only whole rows have an order: that of their oldest requests.

use crate::mem::dram_bank::Access;
use raddle_ptx::num::fit;

/// No request.
const NONE: u32 = u32::MAX;

/// A request and the one after it that waits for the same row.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Waiting {
    access: Access,
    next: u32,
}

/// The requests for a row.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
struct Row {
    number: u32,
    first: u32,
    last: u32,
}

/// Waiting requests of all banks.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct RowQueues {
    /// The rows of each bank: the one whose requests it is taking, then those that wait longest.
    rows: Vec<Vec<Row>>,
    /// Requests by number, and the first free number.
    requests: Vec<Waiting>,
    free: u32,
    len: u32,
    /// Banks with requests.
    banks: u64,
    /// Banks that have begun with their first row.
    serving: u64,
}

impl RowQueues {
    pub(super) fn new(banks: u32) -> Self {
        let rows = vec![Vec::with_capacity(8); banks as usize];
        Self { rows, requests: Vec::new(), free: NONE, len: 0, banks: 0, serving: 0 }
    }

    /// How many requests wait.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Banks with requests, one bit each.
    #[inline]
    pub(super) fn banks(&self) -> u64 {
        self.banks
    }

    /// Adds a request.
    pub(super) fn push(&mut self, access: Access) {
        let waiting = Waiting { access, next: NONE };
        let number = match self.requests.get_mut(self.free as usize) {
            Some(place) => std::mem::replace(&mut self.free, std::mem::replace(place, waiting).next),
            None => {
                self.requests.push(waiting);
                fit(self.requests.len() - 1)
            }
        };
        let rows = &mut self.rows[usize::from(access.bank)];
        match rows.iter_mut().find(|row| row.number == access.row) {
            Some(row) => self.requests[std::mem::replace(&mut row.last, number) as usize].next = number,
            None => rows.push(Row { number: access.row, first: number, last: number }),
        }
        self.banks |= 1 << access.bank;
        self.len += 1;
    }

    /// Takes the next request of a bank that has some: of the row it is taking, of the one that is `open`, or the
    /// oldest. Says whether it was one of the first two.
    pub(super) fn pop(&mut self, bank: u32, open: u32) -> (Access, bool) {
        let rows = &mut self.rows[bank as usize];
        let mut hit = self.serving >> bank & 1 != 0;
        if !hit && let Some(place) = rows.iter().position(|row| row.number == open) {
            hit = true;
            if place > 0 {
                rows[..=place].rotate_right(1);
            }
        }
        let row = &mut rows[0];
        let number = row.first;
        let request = &mut self.requests[number as usize];
        let access = request.access;
        row.first = std::mem::replace(&mut request.next, self.free);
        self.free = number;
        self.len -= 1;
        if row.first != NONE {
            self.serving |= 1 << bank;
            return (access, hit);
        }
        self.serving &= !(1 << bank);
        if rows.len() > 1 {
            rows.remove(0);
        } else {
            rows.clear();
            self.banks &= !(1 << bank);
        }
        (access, hit)
    }
}
