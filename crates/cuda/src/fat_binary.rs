//! The container in which CUDA programs carry their kernels: images for several machines, one behind the other, some of
//! them as PTX. Compilers compress them in two ways.

use std::borrow::Cow;

/// The first four bytes of a container.
const MAGIC: u32 = 0xBA55_ED50;
/// Its header, and the least a header of an image has.
const HEADER: usize = 16;
const IMAGE_HEADER: usize = 64;
/// Kinds of images.
const PTX: u16 = 1;
/// Flags of images.
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
/// No kernel's text is longer.
const MAX_TEXT: u64 = 1 << 30;

/// What is wrong with a container.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It does not begin like one, or ends too early.
    #[error("the program's fat binary is damaged: {0}")]
    Damaged(&'static str),
    /// There is nothing in it that could be read.
    #[error(
        "the program carries machine code for {} and no PTX; compile it with PTX, as nvcc does for \
         -gencode arch=compute_70,code=compute_70 or -arch=sm_70",
        machines(.0)
    )]
    NoPtx(Vec<u32>),
}

fn machines(list: &[u32]) -> String {
    if list.is_empty() {
        "nothing".to_owned()
    } else {
        list.iter().map(|sm| format!("sm_{sm}")).collect::<Vec<_>>().join(", ")
    }
}

/// One image.
struct Image<'a> {
    is_ptx: bool,
    sm: u32,
    flags: u64,
    /// Bytes when it is not compressed, if it is.
    size: u64,
    payload: &'a [u8],
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Result<u64, Error> {
    let field = bytes.get(at..at + N).ok_or(Error::Damaged("it ends in a header"))?;
    Ok(field.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

/// The bytes of a container that starts here and may be followed by others: its length is in its header.
///
/// # Errors
/// When no container starts here.
pub fn length(start: &[u8]) -> Result<usize, Error> {
    if number::<4>(start, 0)? != u64::from(MAGIC) {
        return Err(Error::Damaged("it does not begin like one"));
    }
    let (header, rest) = (number::<2>(start, 6)?, number::<8>(start, 8)?);
    usize::try_from(header.saturating_add(rest)).map_err(|_| Error::Damaged("its length is too large"))
}

/// The header of a container, from which its length can be known.
pub const HEADER_BYTES: usize = HEADER;

/// The texts of the PTX images of a container; of the same kernels for several machines only the newest.
///
/// # Errors
/// When it is damaged, or has machine code only.
pub fn ptx(container: &[u8]) -> Result<String, Error> {
    let end = length(container)?.min(container.len());
    let mut at = number::<2>(container, 6)? as usize;
    let (mut best, mut others) = (None::<Image<'_>>, Vec::new());
    while at + IMAGE_HEADER <= end {
        let image = &container[at..end];
        let (header, payload) = (number::<4>(image, 4)? as usize, number::<8>(image, 8)?);
        if header < IMAGE_HEADER {
            return Err(Error::Damaged("an image's header is too short"));
        }
        let flags = number::<8>(image, 40)?;
        let stored = match (flags & (LZ4 | ZSTD) != 0, number::<4>(image, 16)?) {
            (true, compressed) if compressed > 0 => compressed,
            _ => payload,
        };
        let take = usize::try_from(stored.min(payload)).map_err(|_| Error::Damaged("an image is too large"))?;
        let payload_bytes =
            image.get(header..header.saturating_add(take)).ok_or(Error::Damaged("an image is cut off"))?;
        let (kind, sm) = (number::<2>(image, 0)?, number::<4>(image, 28)? as u32);
        let found =
            Image { is_ptx: kind == u64::from(PTX), sm, flags, size: number::<8>(image, 56)?, payload: payload_bytes };
        if !found.is_ptx {
            others.push(sm);
        } else if best.as_ref().is_none_or(|best| best.sm < sm) {
            best = Some(found);
        }
        at = usize::try_from(payload).ok().and_then(|bytes| at.checked_add(header)?.checked_add(bytes)).unwrap_or(end);
    }
    text(&best.ok_or(Error::NoPtx(others))?)
}

/// The text of a PTX image.
fn text(image: &Image<'_>) -> Result<String, Error> {
    let damaged = Error::Damaged("an image cannot be decompressed");
    if image.size > MAX_TEXT {
        return Err(Error::Damaged("an image is too large"));
    }
    let bytes: Cow<'_, [u8]> = if image.flags & ZSTD != 0 {
        let mut decoder = ruzstd::decoding::FrameDecoder::new();
        let mut out = vec![0; image.size as usize];
        let size = decoder.decode_all(image.payload, &mut out).map_err(|_| damaged)?;
        out.truncate(size);
        out.into()
    } else if image.flags & LZ4 != 0 {
        lz4_flex::block::decompress(image.payload, image.size as usize).map_err(|_| damaged)?.into()
    } else {
        image.payload.into()
    };
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    Ok(String::from_utf8_lossy(&bytes[..end]).into_owned())
}

/// A container with PTX images: each its text and the machine it is for.
#[must_use]
pub fn write(images: &[(String, u32)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (text, sm) in images {
        let mut payload = text.as_bytes().to_vec();
        payload.push(0);
        payload.resize(payload.len().next_multiple_of(8), 0);
        let (major, minor) = version(text);
        let mut header = [0u8; IMAGE_HEADER];
        header[..2].copy_from_slice(&PTX.to_le_bytes());
        header[2..4].copy_from_slice(&0x101u16.to_le_bytes());
        header[4..8].copy_from_slice(&(IMAGE_HEADER as u32).to_le_bytes());
        header[8..16].copy_from_slice(&(payload.len() as u64).to_le_bytes());
        header[24..26].copy_from_slice(&minor.to_le_bytes());
        header[26..28].copy_from_slice(&major.to_le_bytes());
        header[28..32].copy_from_slice(&sm.to_le_bytes());
        body.extend(header);
        body.extend(payload);
    }
    let mut all = Vec::new();
    all.extend(MAGIC.to_le_bytes());
    all.extend(1u16.to_le_bytes());
    all.extend((HEADER as u16).to_le_bytes());
    all.extend((body.len() as u64).to_le_bytes());
    all.extend(body);
    all
}

/// The numbers of the line `.version 7.0`.
fn version(text: &str) -> (u16, u16) {
    let found = text.lines().find_map(|line| line.trim().strip_prefix(".version")?.trim().split_once('.'));
    found.map_or((0, 0), |(major, minor)| (major.parse().unwrap_or(0), minor.parse().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = ".version 7.0\n.target sm_70\n";

    #[test]
    fn what_is_written_is_read() {
        let container = write(&[(TEXT.to_owned(), 50), (format!("{TEXT}// new"), 70)]);
        assert_eq!(ptx(&container).unwrap(), format!("{TEXT}// new"));
        assert_eq!(length(&container[..HEADER_BYTES]).unwrap(), container.len());
    }

    /// The container with its one image compressed.
    fn compressed(flag: u64, bytes: &[u8], size: usize) -> Vec<u8> {
        let mut container = write(&[(String::new(), 70)]);
        container.truncate(HEADER + IMAGE_HEADER);
        let padded = bytes.len().next_multiple_of(8);
        container[HEADER + 8..HEADER + 16].copy_from_slice(&(padded as u64).to_le_bytes());
        container[HEADER + 16..HEADER + 20].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        container[HEADER + 40..HEADER + 48].copy_from_slice(&flag.to_le_bytes());
        container[HEADER + 56..HEADER + 64].copy_from_slice(&(size as u64).to_le_bytes());
        container.extend(bytes);
        container.resize(HEADER + IMAGE_HEADER + padded, 0);
        let rest = (container.len() - HEADER) as u64;
        container[8..16].copy_from_slice(&rest.to_le_bytes());
        container
    }

    #[test]
    fn compressed_images_are_read() {
        let long = TEXT.repeat(100);
        let lz4 = lz4_flex::block::compress(long.as_bytes());
        assert_eq!(ptx(&compressed(LZ4, &lz4, long.len())).unwrap(), long);
        let zstd = ruzstd::encoding::compress_to_vec(long.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
        assert_eq!(ptx(&compressed(ZSTD, &zstd, long.len())).unwrap(), long);
    }

    #[test]
    fn machine_code_alone_is_refused_with_what_to_do() {
        let mut container = write(&[(TEXT.to_owned(), 80)]);
        container[HEADER] = 2;
        let error = ptx(&container).unwrap_err();
        assert_eq!(error, Error::NoPtx(vec![80]));
        assert!(error.to_string().contains("sm_80"), "{error}");
    }

    #[test]
    fn damaged_containers_are_refused() {
        let container = write(&[(TEXT.to_owned(), 70)]);
        for cut in 0..container.len() {
            let _ = ptx(&container[..cut]);
        }
        for at in 0..HEADER + IMAGE_HEADER {
            let mut wrong = container.clone();
            wrong[at] ^= 0xff;
            let _ = ptx(&wrong);
        }
        assert!(ptx(&[0; 100]).is_err());
    }
}
