//! Panics as results.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

thread_local! {
    /// The last panic of this thread, while it is listened to.
    static HEARD: RefCell<Option<String>> = const { RefCell::new(None) };
}

static LISTEN: Once = Once::new();

/// What `f` returns.
///
/// # Errors
/// If it panics, the message and the place of the panic, which is not printed.
pub fn caught<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    LISTEN.call_once(|| {
        let others = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_ours = HEARD.with_borrow_mut(|heard| heard.as_mut().map(|text| *text = describe(info)).is_some());
            if !is_ours {
                others(info);
            }
        }));
    });
    let outer = HEARD.replace(Some(String::new()));
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    let text = HEARD.replace(outer);
    result.map_err(|_| format!("panic {}", text.unwrap_or_default()))
}

fn describe(info: &PanicHookInfo<'_>) -> String {
    let place = info.location().map(|at| format!("at {}:{}: ", at.file(), at.line())).unwrap_or_default();
    place + info.payload_as_str().unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::caught;

    #[test]
    fn a_panic_becomes_its_text() {
        assert_eq!(caught(|| 3), Ok(3));
        let text = caught(|| panic!("number {}", 7)).unwrap_err();
        assert!(text.contains("panics.rs") && text.ends_with("number 7"), "{text}");
    }
}
