//! Copies and fills. Memory of the device is reached by its address; everything else is the program's own.

use super::array::{Array, Texel};
use super::memory::{Extent, PitchedPointer};
use crate::abi::{In, Pointer};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};
use crate::runtime::graph::Step;

/// Directions, as the program says them.
const HOST_TO_HOST: i32 = 0;
const HOST_TO_DEVICE: i32 = 1;
const DEVICE_TO_HOST: i32 = 2;
const DEVICE_TO_DEVICE: i32 = 3;
const DEFAULT: i32 = 4;

/// Bytes copied on the device at once.
const PIECE: usize = 1 << 20;

/// One side of a copy in rows: where it starts, and bytes from row to row and from plane to plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) at: Pointer,
    pub(crate) pitch: usize,
    pub(crate) plane: usize,
}

impl Context {
    /// Whether kernels' memory is at an address: of memory that both see, the device's side is not meant.
    fn is_device(&self, at: Pointer) -> bool {
        self.device.memory().holder(at.0).is_some_and(|holder| !holder.is_host())
    }

    /// Whether an address can be the device's side of a copy.
    fn can_be_device(&self, at: Pointer) -> bool {
        self.device.memory().holder(at.0).is_some()
    }

    /// Copies bytes.
    pub(crate) fn copy(&mut self, call: &str, to: Pointer, from: Pointer, bytes: usize, direction: i32) -> Result {
        self.copy_piece(call, to, from, bytes, direction)?;
        self.copied(to, from, bytes);
        Ok(())
    }

    /// Takes note of a copy.
    fn copied(&mut self, to: Pointer, from: Pointer, bytes: usize) {
        let (to, from) = (self.is_device(to), self.is_device(from));
        if bytes > 0 {
            self.guest.copied(to, from, bytes as u64);
        }
    }

    /// Copies bytes, which may be a part of what is to be copied.
    fn copy_piece(&mut self, call: &str, to: Pointer, from: Pointer, bytes: usize, direction: i32) -> Result {
        if bytes == 0 {
            return Ok(());
        }
        if !(HOST_TO_HOST..=DEFAULT).contains(&direction) {
            return Err(Error::INVALID_DIRECTION);
        }
        let wants = [
            (to, matches!(direction, HOST_TO_DEVICE | DEVICE_TO_DEVICE)),
            (from, matches!(direction, DEVICE_TO_HOST | DEVICE_TO_DEVICE)),
        ];
        for (at, is_wanted) in wants {
            if is_wanted && !self.can_be_device(at) {
                return Err(self.outside(call, at, bytes));
            }
        }
        if to == Pointer::NULL || from == Pointer::NULL {
            return Err(Error::INVALID_VALUE);
        }
        match (self.is_device(to), self.is_device(from)) {
            (true, true) => return self.copy_on_device(call, to, from, bytes),
            (true, false) => {
                // SAFETY: the program says that its memory has so many bytes.
                let bytes = unsafe { from.host(bytes) };
                let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
                memory.write(to.0, bytes).map_err(|_| ())
            }
            (false, true) => {
                // SAFETY: the program says that its memory has room for so many bytes.
                let room = unsafe { to.host_mut(bytes) };
                self.device.memory().read(from.0, room).map_err(|_| ())
            }
            (false, false) => {
                // SAFETY: the program says that both are there; they may overlap.
                unsafe { std::ptr::copy(from.host(bytes).as_ptr(), to.host_mut(bytes).as_mut_ptr(), bytes) };
                Ok(())
            }
        }
        .map_err(|()| self.outside(call, if self.is_device(to) { to } else { from }, bytes))
    }

    fn copy_on_device(&mut self, call: &str, to: Pointer, from: Pointer, bytes: usize) -> Result {
        let mut piece = vec![0; bytes.min(PIECE)];
        // Where they overlap, what is read must not have been written.
        let is_backward = to > from;
        let pieces = bytes.div_ceil(PIECE);
        for number in 0..pieces {
            let number = if is_backward { pieces - 1 - number } else { number };
            let at = number * PIECE;
            let piece = &mut piece[..PIECE.min(bytes - at)];
            let (to, from) = (to.add(at as u64), from.add(at as u64));
            let read = self.device.memory().read(from.0, piece).is_ok();
            let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
            if !read || memory.write(to.0, piece).is_err() {
                return Err(self.outside(call, if read { to } else { from }, bytes));
            }
        }
        Ok(())
    }

    /// What is wrong with an address is said once.
    fn outside(&mut self, call: &str, at: Pointer, bytes: usize) -> Error {
        let found = self.device.memory().find(at.0, u32::try_from(bytes).unwrap_or(u32::MAX));
        if let Err(why) = found {
            self.guest.note(&format!("{call}: {why}"));
        }
        Error::INVALID_VALUE
    }

    /// Sets bytes.
    pub(crate) fn fill(&mut self, call: &str, at: Pointer, value: u8, bytes: usize) -> Result {
        if bytes == 0 {
            return Ok(());
        }
        let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        let piece = vec![value; bytes.min(PIECE)];
        let mut done = 0;
        while done < bytes {
            let next = PIECE.min(bytes - done);
            if memory.write(at.0 + done as u64, &piece[..next]).is_err() {
                return Err(self.outside(call, at, bytes));
            }
            done += next;
        }
        Ok(())
    }

    /// Copies rows of planes, `extent.width` in bytes.
    pub(crate) fn copy_rows(&mut self, call: &str, to: Rows, from: Rows, extent: Extent, direction: i32) -> Result {
        let Extent { width, height, depth } = extent;
        if height > 1 && (width > to.pitch || width > from.pitch) {
            return Err(Error::INVALID_PITCH);
        }
        if height > 1 && depth <= 1 && width == to.pitch && width == from.pitch {
            return self.copy(call, to.at, from.at, width * height, direction);
        }
        for z in 0..depth.max(1) {
            for y in 0..height {
                let at = |side: Rows| side.at.add((z * side.plane + y * side.pitch) as u64);
                self.copy_piece(call, at(to), at(from), width, direction)?;
            }
        }
        self.copied(to.at, from.at, width * height * depth.max(1));
        Ok(())
    }

    /// Where an array starts, and its rows.
    fn array_rows(&self, array: Pointer, x: usize, y: usize) -> Result<(Rows, Texel)> {
        let Array { at, pitch, height, texel, .. } = self.arrays.get(&array.0).ok_or(Error::INVALID_HANDLE)?;
        let rows = Rows { at: at.add((y * pitch + x) as u64), pitch: *pitch, plane: pitch * (*height).max(1) };
        Ok((rows, *texel))
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpy(to: Pointer, from: Pointer, bytes: usize, direction: i32) -> Code {
    api(|context| context.copy("cudaMemcpy", to, from, bytes, direction))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpyAsync(
    to: Pointer,
    from: Pointer,
    bytes: usize,
    direction: i32,
    stream: Pointer,
) -> Code {
    api(|context| context.submit(stream, Step::Copy { to, from, bytes, direction }))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpyPeer(
    to: Pointer,
    _to_device: i32,
    from: Pointer,
    _from_device: i32,
    bytes: usize,
) -> Code {
    cudaMemcpy(to, from, bytes, DEFAULT)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpyPeerAsync(
    to: Pointer,
    _to_device: i32,
    from: Pointer,
    _from_device: i32,
    bytes: usize,
    stream: Pointer,
) -> Code {
    cudaMemcpyAsync(to, from, bytes, DEFAULT, stream)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpy2D(
    to: Pointer,
    to_pitch: usize,
    from: Pointer,
    from_pitch: usize,
    width: usize,
    height: usize,
    direction: i32,
) -> Code {
    api(|context| {
        let [to, from] = [(to, to_pitch), (from, from_pitch)].map(|(at, pitch)| Rows { at, pitch, plane: 0 });
        context.copy_rows("cudaMemcpy2D", to, from, Extent { width, height, depth: 1 }, direction)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpy2DAsync(
    to: Pointer,
    to_pitch: usize,
    from: Pointer,
    from_pitch: usize,
    width: usize,
    height: usize,
    direction: i32,
    _stream: Pointer,
) -> Code {
    cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, direction)
}

/// What is copied in three dimensions.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Copy3D {
    from_array: Pointer,
    from_place: Extent,
    from: PitchedPointer,
    to_array: Pointer,
    to_place: Extent,
    to: PitchedPointer,
    extent: Extent,
    direction: i32,
}

impl Context {
    /// One side of a copy in three dimensions, and the size of an element if it is an array.
    fn side(&self, array: Pointer, place: Extent, memory: PitchedPointer) -> Result<(Rows, Option<usize>)> {
        if array != Pointer::NULL {
            let (rows, texel) = self.array_rows(array, 0, 0)?;
            let bytes = texel.bytes();
            let offset = place.depth * rows.plane + place.height * rows.pitch + place.width * bytes;
            return Ok((Rows { at: rows.at.add(offset as u64), ..rows }, Some(bytes)));
        }
        let plane = memory.pitch * memory.height;
        let offset = place.depth * plane + place.height * memory.pitch + place.width;
        Ok((Rows { at: memory.at.add(offset as u64), pitch: memory.pitch, plane }, None))
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpy3D(what: In<Copy3D>) -> Code {
    api(|context| {
        let what = what.get()?;
        let (to, to_bytes) = context.side(what.to_array, what.to_place, what.to)?;
        let (from, from_bytes) = context.side(what.from_array, what.from_place, what.from)?;
        // With an array on one side the width is in elements.
        let width = what.extent.width * to_bytes.or(from_bytes).unwrap_or(1);
        context.copy_rows("cudaMemcpy3D", to, from, Extent { width, ..what.extent }, what.direction)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpy3DAsync(what: In<Copy3D>, _stream: Pointer) -> Code {
    cudaMemcpy3D(what)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemset(at: Pointer, value: i32, bytes: usize) -> Code {
    api(|context| context.fill("cudaMemset", at, value as u8, bytes))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemsetAsync(at: Pointer, value: i32, bytes: usize, stream: Pointer) -> Code {
    api(|context| context.submit(stream, Step::Fill { at, value: value as u8, bytes }))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemset2D(at: Pointer, pitch: usize, value: i32, width: usize, height: usize) -> Code {
    api(|context| {
        (0..height).try_for_each(|y| context.fill("cudaMemset2D", at.add((y * pitch) as u64), value as u8, width))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemset2DAsync(
    at: Pointer,
    pitch: usize,
    value: i32,
    width: usize,
    height: usize,
    _stream: Pointer,
) -> Code {
    cudaMemset2D(at, pitch, value, width, height)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemset3D(memory: PitchedPointer, value: i32, extent: Extent) -> Code {
    api(|context| {
        for row in 0..extent.depth * extent.height {
            let (z, y) = (row / extent.height, row % extent.height);
            let offset = (z * memory.height + y) * memory.pitch;
            context.fill("cudaMemset3D", memory.at.add(offset as u64), value as u8, extent.width)?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemset3DAsync(
    memory: PitchedPointer,
    value: i32,
    extent: Extent,
    _stream: Pointer,
) -> Code {
    cudaMemset3D(memory, value, extent)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpy2DToArray(
    array: Pointer,
    x: usize,
    y: usize,
    from: Pointer,
    pitch: usize,
    width: usize,
    height: usize,
    direction: i32,
) -> Code {
    api(|context| {
        let (to, _) = context.array_rows(array, x, y)?;
        let from = Rows { at: from, pitch, plane: 0 };
        context.copy_rows("cudaMemcpy2DToArray", to, from, Extent { width, height, depth: 1 }, direction)
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpy2DFromArray(
    to: Pointer,
    pitch: usize,
    array: Pointer,
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    direction: i32,
) -> Code {
    api(|context| {
        let (from, _) = context.array_rows(array, x, y)?;
        let to = Rows { at: to, pitch, plane: 0 };
        context.copy_rows("cudaMemcpy2DFromArray", to, from, Extent { width, height, depth: 1 }, direction)
    })
}

impl Context {
    /// Copies bytes into or out of an array as if its rows had no gaps.
    fn copy_flat(
        &mut self,
        call: &str,
        (array, start): (Pointer, [usize; 2]),
        memory: Pointer,
        bytes: usize,
        direction: i32,
        is_to: bool,
    ) -> Result {
        let (rows, texel) = self.array_rows(array, 0, start[1])?;
        let width = self.arrays.get(&array.0).map_or(0, |array| array.width * texel.bytes()).max(1);
        let (mut done, mut x, mut row) = (0, start[0], 0);
        while done < bytes {
            let next = (width - x.min(width - 1)).min(bytes - done);
            let (at, other) = (rows.at.add((row * rows.pitch + x) as u64), memory.add(done as u64));
            let (to, from) = if is_to { (at, other) } else { (other, at) };
            self.copy_piece(call, to, from, next, direction)?;
            (done, x, row) = (done + next, 0, row + 1);
        }
        let (to, from) = if is_to { (rows.at, memory) } else { (memory, rows.at) };
        self.copied(to, from, bytes);
        Ok(())
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpyToArray(
    array: Pointer,
    x: usize,
    y: usize,
    from: Pointer,
    bytes: usize,
    direction: i32,
) -> Code {
    api(|context| context.copy_flat("cudaMemcpyToArray", (array, [x, y]), from, bytes, direction, true))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpyFromArray(
    to: Pointer,
    array: Pointer,
    x: usize,
    y: usize,
    bytes: usize,
    direction: i32,
) -> Code {
    api(|context| context.copy_flat("cudaMemcpyFromArray", (array, [x, y]), to, bytes, direction, false))
}
