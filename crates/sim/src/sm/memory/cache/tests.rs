use super::*;
use crate::config::SetIndex;

fn cache(ways: u32, on_miss: bool) -> Cache {
    let config = CacheConfig {
        sets: 2,
        line: 128,
        ways,
        index: SetIndex::Linear,
        write: WritePolicy::GlobalThroughLocalBack,
        mshr_entries: 2,
        mshr_merges: 2,
        miss_queue: 8,
        latency: 1,
        allocate_on_miss: on_miss,
    };
    Cache::new(&config, 0, 32)
}

fn read(c: &mut Cache, address: u64, waiter: u32) -> Answer {
    c.read(address, Purpose::GlobalRead, Token(waiter), u64::from(waiter))
}

fn come(c: &mut Cache) {
    let token = c.queue.pop_front().unwrap().token;
    (0..4).for_each(|_| c.fill(token, 9));
}

#[test]
fn a_line_is_sent_for_once_and_serves_all_who_wait() {
    for on_miss in [true, false] {
        let mut c = cache(1, on_miss);
        assert_eq!(read(&mut c, 4, 1), Answer::Miss);
        assert_eq!(read(&mut c, 100, 2), Answer::Pending);
        assert_eq!(read(&mut c, 64, 3), Answer::Fail, "two may wait for a line");
        come(&mut c);
        assert_eq!([c.next_ready(), c.next_ready(), c.next_ready()], [Some(Token(1)), Some(Token(2)), None]);
        assert_eq!(read(&mut c, 8, 4), Answer::Hit);
        let counters = &c.counters;
        assert_eq!([counters.accesses, counters.hits, counters.pending_hits, counters.misses], [3, 1, 1, 1]);
        assert_eq!((counters.reservation_fails, c.in_flight()), (1, 0));
    }
}

#[test]
fn a_set_of_reserved_lines_refuses() {
    let mut c = cache(1, true);
    assert_eq!(read(&mut c, 0, 1), Answer::Miss);
    assert_eq!(read(&mut c, 256, 2), Answer::Fail);
    assert_eq!(read(&mut c, 128, 3), Answer::Miss, "the other set");
    assert_eq!(read(&mut c, 384, 4), Answer::Fail, "no entry left");
}

#[test]
fn the_line_used_longest_ago_goes() {
    let mut c = cache(2, true);
    for (n, address) in [0, 256].into_iter().enumerate() {
        read(&mut c, address, n as u32 + 1);
        come(&mut c);
        c.next_ready();
    }
    assert_eq!(read(&mut c, 0, 20), Answer::Hit);
    assert_eq!(read(&mut c, 512, 30), Answer::Miss);
    assert_eq!((read(&mut c, 0, 31), read(&mut c, 256, 32)), (Answer::Hit, Answer::Miss));
}

#[test]
fn global_writes_go_through_and_local_ones_stay() {
    let mut c = cache(1, true);
    let write = |c: &mut Cache, purpose| {
        let request = Request { purpose, ..c.request(0, 32) };
        c.write(request, 5)
    };
    assert_eq!(write(&mut c, Purpose::LocalWrite), Answer::Miss, "no line is taken for a write");
    c.queue.clear();
    read(&mut c, 0, 1);
    come(&mut c);
    c.next_ready();
    assert_eq!(write(&mut c, Purpose::LocalWrite), Answer::Hit);
    read(&mut c, 256, 2);
    assert!(c.queue[0].posted && c.counters.write_backs == 1, "the changed line is written back first");
    c.queue.clear();
    (0..4).for_each(|_| c.fill(Token(0), 9));
    c.next_ready();
    assert_eq!(write(&mut c, Purpose::GlobalWrite), Answer::Miss);
    assert_eq!(c.queue.len(), 1);
    assert_eq!(read(&mut c, 256, 3), Answer::Hit, "another line");
}

/// A step of a trace: at this time, read or write a line, with the answer.
fn follow(c: &mut Cache, trace: &[(u64, &str, u64, Answer)]) {
    for (at, what, line, wanted) in trace {
        let found = match *what {
            "read" => c.read(line * 128, Purpose::GlobalRead, Token(1), *at),
            "store" => c.write(Request { purpose: Purpose::GlobalWrite, ..c.request(line * 128, 32) }, *at),
            _ => c.write(Request { purpose: Purpose::LocalWrite, ..c.request(line * 128, 32) }, *at),
        };
        assert_eq!(found, *wanted, "{what} of line {line} at {at}");
    }
}

/// All lines that were requested come at this time, the first first.
fn all_come(c: &mut Cache, at: u64) {
    while let Some(request) = c.queue.pop_front() {
        if !request.purpose.is_write() {
            (0..4).for_each(|_| c.fill(request.token, at));
        }
    }
    while c.next_ready().is_some() {}
}

#[test]
fn lines_go_by_their_last_access_and_not_by_when_they_came() {
    use Answer::{Hit, Miss};
    // Two ways: lines 0, 2, 4 are of one set.
    let mut c = cache(2, true);
    follow(&mut c, &[(1, "read", 0, Miss), (2, "read", 2, Miss)]);
    // Line 2 was asked for last; that line 0 comes long after it is no use of it.
    let second = c.queue.pop_back().unwrap();
    (0..4).for_each(|_| c.fill(second.token, 10));
    all_come(&mut c, 50);
    follow(&mut c, &[(60, "read", 4, Miss)]);
    all_come(&mut c, 70);
    follow(&mut c, &[(80, "read", 2, Hit), (81, "read", 4, Hit), (82, "read", 0, Miss)]);
    all_come(&mut c, 90);
    follow(&mut c, &[(91, "read", 4, Hit), (92, "read", 0, Hit), (93, "read", 2, Miss)]);
}

#[test]
fn stores_throw_lines_out_and_local_ones_stay_in_them() {
    use Answer::{Hit, Miss, Pending};
    let mut c = cache(2, true);
    follow(&mut c, &[(1, "read", 0, Miss), (2, "store", 0, Miss), (3, "read", 0, Pending)]);
    all_come(&mut c, 10);
    follow(&mut c, &[(11, "read", 0, Hit), (12, "store", 0, Miss), (13, "read", 0, Miss)]);
    all_come(&mut c, 20);
    follow(&mut c, &[(21, "local", 0, Hit), (22, "local", 2, Miss), (23, "store", 4, Miss), (24, "read", 0, Hit)]);
    let CacheCounters { accesses, hits, pending_hits, misses, .. } = c.counters;
    // The line of the store at 2 was outstanding, that of the store at 12 was there.
    assert_eq!([accesses, hits, pending_hits, misses], [10, 4, 2, 4]);
}

#[test]
fn a_cache_that_takes_lines_when_they_come_throws_out_nothing_before() {
    use Answer::{Hit, Miss};
    let mut c = cache(1, false);
    follow(&mut c, &[(1, "read", 0, Miss)]);
    all_come(&mut c, 10);
    follow(&mut c, &[(11, "read", 0, Hit), (12, "read", 2, Miss), (13, "read", 0, Hit)]);
    all_come(&mut c, 20);
    follow(&mut c, &[(21, "read", 2, Hit), (22, "read", 0, Miss), (23, "read", 2, Hit), (24, "read", 1, Miss)]);
    all_come(&mut c, 30);
    follow(&mut c, &[(31, "read", 0, Hit), (32, "read", 1, Hit)]);
}

#[test]
fn a_launch_begins_with_the_lines_and_without_those_who_waited() {
    let mut c = cache(2, true);
    follow(&mut c, &[(1, "read", 0, Answer::Miss)]);
    all_come(&mut c, 5);
    follow(&mut c, &[(6, "read", 2, Answer::Miss)]);
    c.start_launch();
    assert!(c.is_quiet() && c.in_flight() == 0 && c.counters == CacheCounters::default());
    follow(&mut c, &[(7, "read", 0, Answer::Hit), (8, "read", 2, Answer::Miss)]);
    all_come(&mut c, 9);
    c.invalidate();
    follow(&mut c, &[(10, "read", 0, Answer::Miss)]);
}
