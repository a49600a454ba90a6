//! Processes that points run as, each in a group of its own: what a program starts ends with it, and all end with us.

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Bytes that are kept of the end of an output.
const TAIL: usize = 4 << 10;

/// How long an output is read after its process has ended: somebody that the process started may still hold it.
const AFTER: Duration = Duration::from_secs(1);

/// Processes that run now.
#[derive(Default)]
struct Running {
    ids: BTreeSet<u32>,
    has_ended: bool,
}

static RUNNING: Mutex<Running> = Mutex::new(Running { ids: BTreeSet::new(), has_ended: false });

fn running() -> MutexGuard<'static, Running> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all of them; from here on none is started, and nobody hears of their end. For those who end the process in the
/// midst of the work.
pub(crate) fn end_all() {
    let mut running = running();
    running.has_ended = true;
    running.ids.iter().for_each(|id| kill(*id));
}

/// Ends a process and those it started.
#[cfg(unix)]
fn kill(id: u32) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    // It may have ended by itself.
    let _ = i32::try_from(id).map(|id| killpg(Pid::from_raw(id), Signal::SIGKILL));
}

#[cfg(not(unix))]
fn kill(_id: u32) {}

/// How a process came to its end.
pub(crate) enum End {
    /// By itself.
    Own(ExitStatus),
    /// Its time was up.
    Late,
    /// Somebody asked for the end of all work.
    Stopped,
}

/// What a process has written.
#[derive(Default)]
pub(crate) struct Written {
    /// The end of it.
    pub tail: Vec<u8>,
    /// Whether the text that was looked for is in it.
    pub has_text: bool,
    is_whole: bool,
}

/// Runs a command to its end, at most for `limit`, unless `is_stopping` says so before. With the end comes what it wrote
/// to stdout, in which `text` is looked for, and to stderr.
///
/// # Errors
/// When it cannot be started.
pub(crate) fn run(
    mut command: Command,
    text: &str,
    limit: Duration,
    is_stopping: &dyn Fn() -> bool,
) -> io::Result<(End, [Written; 2])> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let begun = Instant::now();
    let mut child = start(&mut command)?;
    let outputs = [reader(child.stdout.take(), text), reader(child.stderr.take(), "")];
    let end = wait(&mut child, begun, limit, is_stopping);
    let is_read = |within: Duration| {
        let begun = Instant::now();
        while !outputs.iter().all(|output| lock(output).is_whole) {
            if begun.elapsed() > within {
                return false;
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        true
    };
    if !is_read(AFTER) {
        // What it has started and left behind.
        kill(child.id());
        is_read(AFTER);
    }
    Ok((end?, outputs.map(|output| std::mem::take(&mut *lock(&output)))))
}

/// Starts a process, unless the whole process ends.
fn start(command: &mut Command) -> io::Result<Child> {
    let mut running = going_on();
    let child = command.spawn()?;
    running.ids.insert(child.id());
    Ok(child)
}

/// The processes that run now. Where they were all told to end, this does not return: what comes next would be mistaken
/// for a result, or for the end of the work.
fn going_on() -> MutexGuard<'static, Running> {
    let running = running();
    if running.has_ended {
        drop(running);
        loop {
            std::thread::park();
        }
    }
    running
}

fn wait(child: &mut Child, begun: Instant, limit: Duration, is_stopping: &dyn Fn() -> bool) -> io::Result<End> {
    loop {
        // Under the lock: nobody else gets a signal that is meant for this process.
        let mut running = going_on();
        if let Some(status) = child.try_wait()? {
            running.ids.remove(&child.id());
            return Ok(End::Own(status));
        }
        drop(running);
        let elapsed = begun.elapsed();
        let early = match (is_stopping(), elapsed > limit) {
            (true, _) => Some(End::Stopped),
            (false, true) => Some(End::Late),
            (false, false) => None,
        };
        if let Some(early) = early {
            kill(child.id());
            let _ = child.kill();
            let mut running = self::running();
            child.wait()?;
            running.ids.remove(&child.id());
            return Ok(early);
        }
        // A short run is noticed at once, and a long one costs nothing.
        std::thread::sleep((elapsed / 50).clamp(Duration::from_micros(500), Duration::from_millis(20)));
    }
}

fn lock(written: &Mutex<Written>) -> MutexGuard<'_, Written> {
    written.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads an output to its end, in a thread of its own.
fn reader(output: Option<impl Read + Send + 'static>, text: &str) -> Arc<Mutex<Written>> {
    let written = Arc::new(Mutex::new(Written { has_text: text.is_empty(), ..Written::default() }));
    let (own, text) = (Arc::clone(&written), text.as_bytes().to_vec());
    std::thread::spawn(move || {
        let mut bytes = vec![0; 64 << 10];
        if let Some(mut output) = output {
            loop {
                match output.read(&mut bytes) {
                    Ok(0) => break,
                    Ok(count) => lock(&own).add(&bytes[..count], &text),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        }
        lock(&own).is_whole = true;
    });
    written
}

impl Written {
    /// The text may begin in one piece and end in the next.
    fn add(&mut self, piece: &[u8], text: &[u8]) {
        self.tail.extend_from_slice(piece);
        self.has_text = self.has_text || self.tail.windows(text.len().max(1)).any(|window| window == text);
        let kept = TAIL.max(text.len());
        self.tail.drain(..self.tail.len().saturating_sub(kept));
    }

    /// The last lines, each behind `indent`; nothing where nothing was written.
    pub(crate) fn last_lines(&self, most: usize, indent: &str) -> String {
        let text = String::from_utf8_lossy(&self.tail);
        let lines: Vec<&str> = text.trim_end().lines().collect();
        let last = &lines[lines.len().saturating_sub(most)..];
        last.iter().map(|line| format!("\n{indent}{line}")).collect()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, text: &str, limit: Duration) -> (End, [Written; 2]) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, text, limit, &|| false).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn outputs_are_searched_and_their_ends_are_kept() {
        let (end, [out, err]) = shell("seq 100000; echo one two >&2; exit 3", "\n7000\n", LONG);
        let End::Own(status) = end else { panic!("it ends by itself") };
        assert_eq!(status.code(), Some(3));
        assert!(out.has_text && out.tail.len() <= TAIL);
        assert_eq!(out.last_lines(2, "  "), "\n  99999\n  100000");
        assert_eq!(err.last_lines(5, ""), "\none two");
        let (_, [out, _]) = shell("seq 100000", "\n7000\n7002", LONG);
        assert!(!out.has_text);
    }

    #[test]
    fn a_text_in_two_pieces_is_found() {
        let mut written = Written::default();
        written.add(b"PAS", b"PASSED");
        assert!(!written.has_text);
        written.add(b"SED\n", b"PASSED");
        assert!(written.has_text);
    }

    #[test]
    fn what_takes_too_long_ends_with_all_it_has_started() {
        let begun = Instant::now();
        let (end, [out, _]) = shell("sleep 50 & echo $!; sleep 50", "", Duration::from_millis(200));
        assert!(matches!(end, End::Late) && begun.elapsed() < Duration::from_secs(10));
        let id = String::from_utf8(out.tail).unwrap();
        // What is gone has no state, or waits for its parent to hear of it.
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
        let is_gone = |state: &str| state.is_empty() || state.contains(") Z ");
        while !is_gone(&state()) {
            assert!(begun.elapsed() < Duration::from_secs(30), "{}", state());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn what_is_left_behind_does_not_hold_up_the_end() {
        let begun = Instant::now();
        let (end, [out, _]) = shell("sleep 50 & echo done", "done", LONG);
        assert!(matches!(end, End::Own(_)) && out.has_text && begun.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn it_stops_when_it_is_told_to() {
        let mut command = Command::new("sleep");
        command.arg("50");
        let (end, _) = run(command, "", LONG, &|| true).unwrap();
        assert!(matches!(end, End::Stopped));
    }
}
