//! NumPy's `.npy` files: the part of the format that plain arrays use.
//!
//! Versions 1.0, 2.0 and 3.0, little-endian, C order, integers, floating point and booleans. A
//! file that is anything else gives an error that says what it is; no input makes this panic.

use std::fmt;

/// What the elements of a file are: kind and size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    /// Signed integer of 1, 2, 4 or 8 bytes.
    Int(u8),
    /// Unsigned integer of 1, 2, 4 or 8 bytes.
    Uint(u8),
    /// Floating point of 2, 4 or 8 bytes.
    Float(u8),
    /// One byte, 0 or 1.
    Bool,
}

impl Dtype {
    /// Size in bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Int(n) | Self::Uint(n) | Self::Float(n) => usize::from(n),
            Self::Bool => 1,
        }
    }

    /// The type NumPy writes as `descr`, such as `<f4`.
    fn from_descr(descr: &str) -> Result<Self, NpyError> {
        let unsupported = || NpyError::Dtype(descr.to_owned());
        let mut letters = descr.chars();
        let order = letters.next().ok_or_else(unsupported)?;
        let kind = letters.next().ok_or_else(unsupported)?;
        let size = match letters.as_str() {
            "1" => 1,
            "2" => 2,
            "4" => 4,
            "8" => 8,
            _ => return Err(unsupported()),
        };
        if order == '>' && size > 1 {
            return Err(NpyError::BigEndian(descr.to_owned()));
        }
        match (order, kind, size) {
            ('<' | '|' | '>' | '=', 'i', _) => Ok(Self::Int(size)),
            ('<' | '|' | '>' | '=', 'u', _) => Ok(Self::Uint(size)),
            ('<' | '=', 'f', 2..) => Ok(Self::Float(size)),
            ('<' | '|' | '>' | '=', 'b', 1) => Ok(Self::Bool),
            _ => Err(unsupported()),
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = if self.bytes() == 1 { '|' } else { '<' };
        match self {
            Self::Int(n) => write!(f, "{order}i{n}"),
            Self::Uint(n) => write!(f, "{order}u{n}"),
            Self::Float(n) => write!(f, "{order}f{n}"),
            Self::Bool => write!(f, "|b1"),
        }
    }
}

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NpyError {
    /// The first bytes are not those of the format.
    #[error("not a .npy file (it does not start with \\x93NUMPY)")]
    Magic,
    /// A version not known.
    #[error("version {0}.{1} of the format is not supported")]
    Version(u8, u8),
    /// The file ends inside the header.
    #[error("the file ends inside its header")]
    ShortHeader,
    /// The header is not the dictionary it should be.
    #[error("malformed header: {0}")]
    Header(&'static str),
    /// An element type we have no use for.
    #[error(
        "element type `{0}` is not supported; integers and floating point of up to 8 bytes and booleans are, one per element"
    )]
    Dtype(String),
    /// Most significant byte first.
    #[error("the elements are big-endian (`{0}`); convert them with `a.astype(a.dtype.newbyteorder('<'))`")]
    BigEndian(String),
    /// Columns first.
    #[error("the array is in Fortran order; save it with `numpy.ascontiguousarray`")]
    FortranOrder,
    /// More or fewer bytes than the shape needs.
    #[error("the shape needs {wanted} bytes of data, the file has {found}")]
    Size {
        /// Bytes the shape asks for.
        wanted: String,
        /// Bytes there are.
        found: usize,
    },
}

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Npy {
    /// Element type.
    pub dtype: Dtype,
    /// Dimensions, slowest first; empty for a single value.
    pub shape: Vec<u64>,
    /// Elements, little-endian, the last dimension fastest.
    pub data: Vec<u8>,
}

const MAGIC: &[u8] = b"\x93NUMPY";
/// Data starts at a multiple of this, so that it can be mapped.
const ALIGN: usize = 64;

impl Npy {
    /// Reads a file's bytes.
    ///
    /// # Errors
    /// When they are not an array we can use; the message says why.
    pub fn read(bytes: &[u8]) -> Result<Self, NpyError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(NpyError::Magic)?;
        let (&[major, minor], rest) = rest.split_first_chunk().ok_or(NpyError::ShortHeader)?;
        let (length, rest) = match (major, minor) {
            (1, 0) => {
                let (length, rest) = rest.split_first_chunk().ok_or(NpyError::ShortHeader)?;
                (usize::from(u16::from_le_bytes(*length)), rest)
            }
            (2 | 3, 0) => {
                let (length, rest) = rest.split_first_chunk().ok_or(NpyError::ShortHeader)?;
                (u32::from_le_bytes(*length) as usize, rest)
            }
            _ => return Err(NpyError::Version(major, minor)),
        };
        let (header, data) = rest.split_at_checked(length).ok_or(NpyError::ShortHeader)?;
        let header = std::str::from_utf8(header).map_err(|_| NpyError::Header("it is not text"))?;
        let header = Header::parse(header)?;
        if header.fortran_order && header.shape.len() > 1 {
            return Err(NpyError::FortranOrder);
        }
        let wanted = header.shape.iter().try_fold(header.dtype.bytes() as u64, |n, d| n.checked_mul(*d));
        if wanted != Some(data.len() as u64) {
            let wanted = wanted.map_or_else(|| "more than 2^64".to_owned(), |n| n.to_string());
            return Err(NpyError::Size { wanted, found: data.len() });
        }
        Ok(Self { dtype: header.dtype, shape: header.shape, data: data.to_vec() })
    }

    /// The bytes of a file with this array, in version 1.0 of the format, or 2.0 if it must be.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let dims: Vec<String> = self.shape.iter().map(u64::to_string).collect();
        let comma = if dims.len() == 1 { "," } else { "" };
        let mut header =
            format!("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{comma}), }}", self.dtype, dims.join(", "));
        let long = header.len() + ALIGN > usize::from(u16::MAX);
        let before = MAGIC.len() + 2 + if long { 4 } else { 2 };
        // The header ends in a newline, with blanks before it up to the alignment.
        let padding = (before + header.len() + 1).next_multiple_of(ALIGN) - before - header.len() - 1;
        header.extend(std::iter::repeat_n(' ', padding));
        header.push('\n');
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(if long { &[2, 0] } else { &[1, 0] });
        let length = (header.len() as u32).to_le_bytes();
        bytes.extend_from_slice(if long { &length } else { &length[..2] });
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(&self.data);
        bytes
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.data.len() / self.dtype.bytes()
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }
}

/// The three entries of the header's dictionary.
struct Header {
    dtype: Dtype,
    fortran_order: bool,
    shape: Vec<u64>,
}

impl Header {
    /// Reads the Python dictionary literal `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
    fn parse(text: &str) -> Result<Self, NpyError> {
        let mut scan = Scan(text);
        let (mut dtype, mut fortran_order, mut shape) = (None, None, None);
        scan.expect("{", "it is not a dictionary")?;
        while !scan.accept("}") {
            let key = scan.string()?;
            scan.expect(":", "a key has no value")?;
            match key {
                "descr" if scan.accept("[") => return Err(NpyError::Dtype("a structure".to_owned())),
                "descr" => dtype = Some(Dtype::from_descr(scan.string()?)?),
                "fortran_order" => fortran_order = Some(scan.boolean()?),
                "shape" => shape = Some(scan.tuple()?),
                _ => return Err(NpyError::Header("unknown key")),
            }
            if !scan.accept(",") {
                scan.expect("}", "entries are not separated by commas")?;
                break;
            }
        }
        if !scan.0.trim().is_empty() {
            return Err(NpyError::Header("text follows the dictionary"));
        }
        Ok(Self {
            dtype: dtype.ok_or(NpyError::Header("`descr` is missing"))?,
            fortran_order: fortran_order.ok_or(NpyError::Header("`fortran_order` is missing"))?,
            shape: shape.ok_or(NpyError::Header("`shape` is missing"))?,
        })
    }
}

/// What is left of a header.
struct Scan<'a>(&'a str);

impl<'a> Scan<'a> {
    fn accept(&mut self, token: &str) -> bool {
        let rest = self.0.trim_start().strip_prefix(token);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, token: &str, otherwise: &'static str) -> Result<(), NpyError> {
        if self.accept(token) { Ok(()) } else { Err(NpyError::Header(otherwise)) }
    }

    fn string(&mut self) -> Result<&'a str, NpyError> {
        let quote = if self.accept("\"") { '"' } else { '\'' };
        if quote == '\'' {
            self.expect("'", "a string was expected")?;
        }
        let (text, rest) = self.0.split_once(quote).ok_or(NpyError::Header("a string does not end"))?;
        self.0 = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        match (self.accept("True"), self.accept("False")) {
            (true, _) => Ok(true),
            (_, true) => Ok(false),
            _ => Err(NpyError::Header("`fortran_order` is neither True nor False")),
        }
    }

    fn tuple(&mut self) -> Result<Vec<u64>, NpyError> {
        let bad = NpyError::Header("`shape` is not a tuple of sizes");
        self.expect("(", "`shape` is not a tuple of sizes")?;
        let (inside, rest) = self.0.split_once(')').ok_or(bad.clone())?;
        self.0 = rest;
        let inside = inside.trim();
        let inside = inside.strip_suffix(',').unwrap_or(inside);
        if inside.trim().is_empty() {
            return Ok(Vec::new());
        }
        // Python 2 wrote long integers with an `L`.
        let size = |d: &str| d.trim().trim_end_matches('L').parse().map_err(|_| bad.clone());
        inside.split(',').map(size).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn error(header: &str, data: &[u8]) -> String {
        Npy::read(&file(header, data)).unwrap_err().to_string()
    }

    #[test]
    fn what_numpy_writes_is_read() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }          \n";
        let array = Npy::read(&file(header, &[0; 8])).unwrap();
        assert_eq!((array.dtype, array.shape, array.data.len()), (Dtype::Float(4), vec![2, 1], 8));
        let scalar = Npy::read(&file("{'shape': (), 'descr': '|b1', 'fortran_order': True}", &[1])).unwrap();
        assert_eq!((scalar.dtype, scalar.shape), (Dtype::Bool, vec![]));
    }

    #[test]
    fn data_starts_at_a_multiple_of_64() {
        let bytes = Npy { dtype: Dtype::Uint(2), shape: vec![3], data: vec![1, 2, 3, 4, 5, 6] }.write();
        assert_eq!(bytes.len() % 64, 6);
        assert_eq!(bytes[bytes.len() - 7], b'\n');
        let header = std::str::from_utf8(&bytes[10..bytes.len() - 6]).unwrap().trim_end();
        assert_eq!(header, "{'descr': '<u2', 'fortran_order': False, 'shape': (3,), }");
    }

    #[test]
    fn messages_say_what_the_file_is() {
        assert_eq!(Npy::read(b"PK\x03\x04").unwrap_err(), NpyError::Magic);
        assert_eq!(Npy::read(b"\x93NUMPY\x09\x00\x00\x00").unwrap_err(), NpyError::Version(9, 0));
        assert_eq!(Npy::read(b"\x93NUMPY\x01\x00\xff\xffx").unwrap_err(), NpyError::ShortHeader);
        let ok = |descr: &str, shape: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}");
        assert!(error(&ok("'>f4'", "(1,)"), &[0; 4]).contains("big-endian (`>f4`)"));
        assert!(error(&ok("'<c8'", "(1,)"), &[0; 8]).contains("element type `<c8` is not supported"));
        assert!(error(&ok("[('a', '<f4')]", "(1,)"), &[0; 4]).contains("a structure"));
        assert!(
            error(&ok("'<f4'", "(1,)").replace("False", "True").replace("(1,)", "(1, 1)"), &[0; 4]).contains("Fortran")
        );
        assert_eq!(error(&ok("'<f4'", "(3,)"), &[0; 8]), "the shape needs 12 bytes of data, the file has 8");
        assert!(error(&ok("'<f4'", "(99999999999, 99999999999)"), &[0; 8]).contains("more than 2^64"));
        assert_eq!(error("{'descr': '<f4'}", &[]), "malformed header: `fortran_order` is missing");
        assert_eq!(error(&ok("'<f4'", "(-1,)"), &[]), "malformed header: `shape` is not a tuple of sizes");
        assert_eq!(error("[]", &[]), "malformed header: it is not a dictionary");
    }

    fn dtypes() -> impl Strategy<Value = Dtype> {
        let size = prop::sample::select(vec![1u8, 2, 4, 8]);
        (0..4, size).prop_map(|(kind, n)| match kind {
            0 => Dtype::Int(n),
            1 => Dtype::Uint(n),
            2 => Dtype::Float(n.max(2)),
            _ => Dtype::Bool,
        })
    }

    proptest! {
        #[test]
        fn written_arrays_read_back(dtype in dtypes(), shape in prop::collection::vec(0u64..5, 0..4)) {
            let elements: u64 = shape.iter().product();
            let data: Vec<u8> = (0..elements as usize * dtype.bytes()).map(|i| i as u8).collect();
            let array = Npy { dtype, shape, data };
            prop_assert_eq!(Npy::read(&array.write()), Ok(array));
        }

        #[test]
        fn mutated_files_never_panic(
            edits in prop::collection::vec((0usize..140, any::<u8>()), 0..6),
            cut in 0usize..140,
        ) {
            let mut bytes = Npy { dtype: Dtype::Float(4), shape: vec![2, 2], data: vec![7; 16] }.write();
            for (at, value) in edits {
                let at = at % bytes.len();
                bytes[at] = value;
            }
            bytes.truncate(bytes.len() - cut % bytes.len());
            let _ = Npy::read(&bytes);
        }

        #[test]
        fn no_header_panics(text in "[{}()\\[\\]'\",:<>fiu|0-9 descr_shapTuFl]{0,80}") {
            let _ = Npy::read(&file(&text, &[0; 8]));
        }
    }
}
