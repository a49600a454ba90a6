//! Reading the files a user names: never a pipe that nobody writes to or a device without an end, and never more than
//! there is room for.

use raddle_exec::memory::MAX_DEVICE_BYTES;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a text: PTX, launches, machines, experiments.
pub const MAX_TEXT: u64 = 64 << 20;
/// The most bytes of a file of data: what device memory holds, and a header.
pub const MAX_DATA: u64 = MAX_DEVICE_BYTES + (1 << 20);

/// The text of a file.
///
/// # Errors
/// As [`bytes`], and when it is not UTF-8.
pub fn text(path: &Path) -> io::Result<String> {
    let bytes = bytes(path, MAX_TEXT)?;
    // What `fs::read_to_string` says.
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

/// The bytes of a file that has `most` at most.
///
/// # Errors
/// When it cannot be read, is longer, or is a pipe, a device or the like.
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let about = file.metadata()?;
    let too_long = || io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {most} bytes, the most"));
    if about.is_file() && about.len() > most {
        return Err(too_long());
    }
    // What a file says of its length is not always so: those in /proc say 0.
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) }
}

/// A file to read from. Opening a pipe would wait for somebody to write to it.
///
/// # Errors
/// When it cannot be opened, or is a pipe, a device or the like.
pub fn open(path: &Path) -> io::Result<File> {
    let kind = std::fs::metadata(path)?.file_type();
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a pipe, a device or a socket; write what it holds to a file, and name that",
        ));
    }
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_up_to_their_limit() {
        let path = std::env::temp_dir().join(format!("raddle-input-{}", std::process::id()));
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(bytes(&path, 5).unwrap(), b"12345");
        assert_eq!(text(&path).unwrap(), "12345");
        assert_eq!(bytes(&path, 4).unwrap_err().to_string(), "it has more than 4 bytes, the most");
        std::fs::write(&path, [0xff]).unwrap();
        assert_eq!(text(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        // Takes no room on disk, and must take none in memory.
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert_eq!(text(&path).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(text(&std::env::temp_dir()).is_err(), "a folder");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_no_file_is_refused() {
        for path in ["/dev/zero", "/dev/null", "/dev/full"] {
            let error = bytes(Path::new(path), 9).unwrap_err();
            assert!(error.to_string().starts_with("it is a pipe, a device or a socket"), "{error}");
        }
        assert!(bytes(Path::new("/proc/self/maps"), 9).is_err(), "longer than it says");
    }
}
