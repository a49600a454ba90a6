//! The errors of the runtime, with their numbers.

use std::sync::LazyLock;

/// What a function of the API returns.
pub(crate) type Code = i32;

/// An error of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error(pub(crate) Code);

pub(crate) type Result<T = ()> = std::result::Result<T, Error>;

#[allow(dead_code, reason = "those that happen here, and a few that programs compare with")]
impl Error {
    pub(crate) const SUCCESS: Self = Self(0);
    pub(crate) const INVALID_VALUE: Self = Self(1);
    pub(crate) const MEMORY_ALLOCATION: Self = Self(2);
    pub(crate) const INITIALIZATION: Self = Self(3);
    pub(crate) const INVALID_CONFIGURATION: Self = Self(9);
    pub(crate) const INVALID_PITCH: Self = Self(12);
    pub(crate) const INVALID_SYMBOL: Self = Self(13);
    pub(crate) const INVALID_TEXTURE: Self = Self(18);
    pub(crate) const INVALID_TEXTURE_BINDING: Self = Self(19);
    pub(crate) const INVALID_CHANNEL: Self = Self(20);
    pub(crate) const INVALID_DIRECTION: Self = Self(21);
    pub(crate) const INSUFFICIENT_DRIVER: Self = Self(35);
    pub(crate) const INVALID_SURFACE: Self = Self(37);
    pub(crate) const MISSING_CONFIGURATION: Self = Self(52);
    pub(crate) const INVALID_FUNCTION: Self = Self(98);
    pub(crate) const NO_DEVICE: Self = Self(100);
    pub(crate) const INVALID_DEVICE: Self = Self(101);
    pub(crate) const INVALID_IMAGE: Self = Self(200);
    pub(crate) const NO_IMAGE: Self = Self(209);
    pub(crate) const UNSUPPORTED_LIMIT: Self = Self(215);
    pub(crate) const INVALID_PTX: Self = Self(218);
    pub(crate) const INVALID_HANDLE: Self = Self(400);
    pub(crate) const ILLEGAL_STATE: Self = Self(401);
    pub(crate) const NOT_FOUND: Self = Self(500);
    pub(crate) const NOT_READY: Self = Self(600);
    pub(crate) const ILLEGAL_ADDRESS: Self = Self(700);
    pub(crate) const OUT_OF_RESOURCES: Self = Self(701);
    pub(crate) const LAUNCH_TIMEOUT: Self = Self(702);
    pub(crate) const PEER_ALREADY: Self = Self(704);
    pub(crate) const PEER_NOT_ENABLED: Self = Self(705);
    pub(crate) const ASSERT: Self = Self(710);
    pub(crate) const ALREADY_REGISTERED: Self = Self(712);
    pub(crate) const NOT_REGISTERED: Self = Self(713);
    pub(crate) const STACK: Self = Self(714);
    pub(crate) const MISALIGNED: Self = Self(716);
    pub(crate) const INVALID_PC: Self = Self(718);
    pub(crate) const LAUNCH_FAILURE: Self = Self(719);
    pub(crate) const COOPERATIVE_TOO_LARGE: Self = Self(720);
    pub(crate) const NOT_SUPPORTED: Self = Self(801);
    pub(crate) const CAPTURE_UNSUPPORTED: Self = Self(900);
    pub(crate) const CAPTURE_INVALIDATED: Self = Self(901);
    pub(crate) const CAPTURE_MERGE: Self = Self(902);
    pub(crate) const CAPTURE_UNMATCHED: Self = Self(903);
    pub(crate) const CAPTURE_UNJOINED: Self = Self(904);
    pub(crate) const CAPTURE_ISOLATION: Self = Self(905);
    pub(crate) const CAPTURE_IMPLICIT: Self = Self(906);
    pub(crate) const CAPTURED_EVENT: Self = Self(907);
    pub(crate) const CAPTURE_WRONG_THREAD: Self = Self(908);
    pub(crate) const GRAPH_UPDATE: Self = Self(910);
    pub(crate) const UNKNOWN: Self = Self(999);
}

/// Every error of the interface, with its names and its text.
const ERRORS: &str = include_str!("errors.txt");

/// What there is to say of an error, each text ended for C.
struct Described {
    code: Code,
    /// In the runtime.
    name: Option<String>,
    /// In the driver.
    driver_name: Option<String>,
    text: String,
}

static LIST: LazyLock<Vec<Described>> = LazyLock::new(|| ERRORS.lines().filter_map(described).collect());

fn described(line: &str) -> Option<Described> {
    let mut words = line.splitn(4, ' ');
    let code = words.next()?.parse().ok()?;
    let mut name = || words.next().map(|name| (name != "-").then(|| format!("{name}\0")));
    let (name, driver_name) = (name()?, name()?);
    Some(Described { code, name, driver_name, text: format!("{}\0", words.next()?) })
}

fn find(code: Code) -> Option<&'static Described> {
    LIST.iter().find(|error| error.code == code)
}

const UNKNOWN: &str = "unrecognized error code\0";

/// Name and text of an error of the runtime, ended for C.
pub(crate) fn describe(code: Code) -> (&'static str, &'static str) {
    let found = find(code).and_then(|error| Some((error.name.as_deref()?, error.text.as_str())));
    found.unwrap_or((UNKNOWN, UNKNOWN))
}

/// The same of the driver, with the runtime's name where only that has the number; `None` for a number of neither.
pub(crate) fn describe_driver(code: Code) -> Option<(&'static str, &'static str)> {
    let error = find(code)?;
    Some((error.driver_name.as_ref().or(error.name.as_ref())?, &error.text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The entries `NAME = NUMBER` of an enumeration in one of our headers.
    fn entries(header: &str, first: &str) -> BTreeSet<(Code, String)> {
        let body = &header[header.find(first).unwrap()..];
        let body = &body[..body.find('}').unwrap()];
        let entry = |text: &str| {
            let (name, code) = text.split_once(" = ")?;
            Some((code.trim().parse().ok()?, format!("{}\0", name.trim())))
        };
        body.split(',').filter_map(entry).collect()
    }

    #[test]
    fn every_error_of_the_headers_has_names_and_a_text() {
        let runtime = include_str!("../../cuda/include/driver_types.h");
        let driver = include_str!("../../cuda/include/cuda.h");
        let named = |name: fn(&Described) -> Option<&String>| -> BTreeSet<(Code, String)> {
            LIST.iter().filter_map(|error| Some((error.code, name(error)?.clone()))).collect()
        };
        assert_eq!(named(|error| error.name.as_ref()), entries(runtime, "cudaSuccess = 0"));
        assert_eq!(named(|error| error.driver_name.as_ref()), entries(driver, "CUDA_SUCCESS = 0"));
        assert!(LIST.len() > 120 && LIST.is_sorted_by_key(|error| error.code));
    }

    #[test]
    fn errors_are_described() {
        assert_eq!(describe(700), ("cudaErrorIllegalAddress\0", "an illegal memory access was encountered\0"));
        assert_eq!(describe(12345), (UNKNOWN, UNKNOWN));
        assert_eq!(describe_driver(2), Some(("CUDA_ERROR_OUT_OF_MEMORY\0", "out of memory\0")));
        assert_eq!(describe_driver(9).map(|error| error.0), Some("cudaErrorInvalidConfiguration\0"));
        assert_eq!(describe_driver(12345), None);
    }
}
