//! Copies and fills. Each is made into an operation, which the stream performs.

use super::array::Array;
use super::memory::{Extent, Kind, PitchedPointer};
use super::stream::copy::{Copy, Fill, Rows, Start};
use super::stream::{DEFAULT, Operation, enqueued};
use crate::abi::{In, Pointer, Size};
use crate::context::Context;
use crate::error::{Error, Result};

/// The direction that the addresses say.
pub(crate) const BY_ADDRESS: i32 = 4;

/// A copy of bytes.
pub(crate) fn line(call: &'static str, to: Pointer, from: Pointer, bytes: Size, direction: i32) -> Result<Operation> {
    Copy::line(call, Start::Address(to), Start::Address(from), bytes, direction).map(Operation::Copy)
}

/// A copy of rows, each side with its pitch.
fn plane(
    call: &'static str,
    (to, to_pitch): (Pointer, Size),
    (from, from_pitch): (Pointer, Size),
    [width, height]: [Size; 2],
    direction: i32,
) -> Result<Operation> {
    let (to, from) = (Rows::new(to, to_pitch), Rows::new(from, from_pitch));
    Copy::rows(call, to, from, Extent { width, height, depth: Size::ONE }, direction).map(Operation::Copy)
}

fn set_plane(call: &'static str, at: Pointer, pitch: Size, value: i32, size: [Size; 2]) -> Result<Operation> {
    let extent = Extent { width: size[0], height: size[1], depth: Size::ONE };
    Fill::rows(call, Rows::new(at, pitch), extent, value as u8).map(Operation::Fill)
}

fn set_volume(call: &'static str, memory: PitchedPointer, value: i32, extent: Extent) -> Result<Operation> {
    let plane = memory.pitch.times(memory.height)?;
    let rows = Rows { at: Start::Address(memory.at), pitch: memory.pitch, plane };
    Fill::rows(call, rows, extent, value as u8).map(Operation::Fill)
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

/// A copy in three dimensions. With an array on one side the width is in elements, and each side is an array or memory.
pub(crate) fn volume(context: &Context, call: &'static str, what: In<Copy3D>) -> Result<Operation> {
    let what = what.get()?;
    let texel = |array: Pointer| context.arrays.get(&array.0).map(|array| Size::new(array.texel.bytes()));
    let (to, from) = (texel(what.to_array), texel(what.from_array));
    let bytes = to.or(from).unwrap_or(Size::ONE);
    // Two arrays must have elements of the same size.
    if from.is_some_and(|from| from != bytes) {
        return Err(Error::INVALID_VALUE);
    }
    let extent = Extent { width: what.extent.width.times(bytes)?, ..what.extent };
    let to = context.rows_of(what.to_array, what.to_place, what.to, extent)?;
    let from = context.rows_of(what.from_array, what.from_place, what.from, extent)?;
    Copy::rows(call, to, from, extent, what.direction).map(Operation::Copy)
}

impl Context {
    /// One side of a copy in three dimensions.
    fn rows_of(&self, array: Pointer, place: Extent, memory: PitchedPointer, extent: Extent) -> Result<Rows> {
        if array != Pointer::NULL {
            if memory.at != Pointer::NULL {
                return Err(Error::INVALID_VALUE);
            }
            let texel = Size::new(self.array(array)?.texel.bytes());
            return self.array_rows(array, Extent { width: place.width.times(texel)?, ..place }, extent);
        }
        let PitchedPointer { at, pitch, height, .. } = memory;
        let plane = pitch.times(height)?;
        let offset = plane.times(place.depth)?.plus(pitch.times(place.height)?)?.plus(place.width)?;
        let start = at.plus(offset)?;
        let is_past = self.device.memory().holder(at.0).is_some_and(|holder| start.0 >= holder.base + holder.len());
        // The program's own memory can continue after the part that is registered.
        let is_past = is_past && self.kind_at(at) != Some(Kind::Registered);
        if at == Pointer::NULL || is_past {
            return Err(Error::INVALID_VALUE);
        }
        Ok(Rows { at: Start::Address(start), pitch, plane })
    }

    fn array(&self, array: Pointer) -> Result<&Array> {
        self.arrays.get(&array.0).ok_or(Error::INVALID_HANDLE)
    }

    /// Rows of an array from a place on, which must have all that is copied; widths are in bytes.
    fn array_rows(&self, array: Pointer, place: Extent, extent: Extent) -> Result<Rows> {
        let array = self.array(array)?;
        let (pitch, height) = (Size::new(array.pitch), Size::new(array.height).or_one());
        let width = Size::new(array.width).times(Size::new(array.texel.bytes()))?;
        let is_inside = place.width.plus(extent.width)? <= width
            && place.height.plus(extent.height)? <= height
            && place.depth.plus(extent.depth)? <= Size::new(array.depth).or_one();
        if !is_inside {
            return Err(Error::INVALID_VALUE);
        }
        let plane = pitch.times(height)?;
        let offset = plane.times(place.depth)?.plus(pitch.times(place.height)?)?.plus(place.width)?;
        Ok(Rows { at: Start::Array(array.at.plus(offset)?), pitch, plane })
    }

    /// A copy between rows of memory and of an array; `is_to` where it is to the array.
    fn array_plane(
        &self,
        call: &'static str,
        (array, x, y): (Pointer, Size, Size),
        (memory, pitch): (Pointer, Size),
        [width, height]: [Size; 2],
        (direction, is_to): (i32, bool),
    ) -> Result<Operation> {
        let extent = Extent { width, height, depth: Size::ONE };
        let array = self.array_rows(array, Extent { width: x, height: y, depth: Size::ZERO }, extent)?;
        let memory = Rows::new(memory, pitch);
        let (to, from) = if is_to { (array, memory) } else { (memory, array) };
        Copy::rows(call, to, from, extent, direction).map(Operation::Copy)
    }

    /// A copy between memory and an array whose rows are taken as one behind the other: the rest of the first row, whole
    /// rows, the start of the last.
    fn array_line(
        &self,
        call: &'static str,
        (array, x, y): (Pointer, Size, Size),
        memory: Pointer,
        bytes: Size,
        (direction, is_to): (i32, bool),
    ) -> Result<Operation> {
        let found = self.array(array)?;
        let width = Size::new(found.width).times(Size::new(found.texel.bytes()))?.or_one();
        if x >= width {
            return Err(Error::INVALID_VALUE);
        }
        let first = (width.get() - x.get()).min(bytes.get());
        let (rest, row) = (bytes.get() - first, width.get());
        let pieces = [(x, 0, first, 1), (Size::ZERO, 1, row, rest / row), (Size::ZERO, 1 + rest / row, rest % row, 1)];
        let mut copy = Copy::new(call, direction)?;
        let mut done = Size::ZERO;
        for (x, down, width, height) in pieces {
            let extent = Extent { width: Size::new(width), height: Size::new(height), depth: Size::ONE };
            if width == 0 || height == 0 {
                continue;
            }
            let place = Extent { width: x, height: y.plus(Size::new(down))?, depth: Size::ZERO };
            let array = self.array_rows(array, place, extent)?;
            let memory = Rows::new(memory.plus(done)?, Size::new(width));
            let (to, from) = if is_to { (array, memory) } else { (memory, array) };
            copy = copy.and(to, from, extent);
            done = done.plus(extent.width.times(extent.height)?)?;
        }
        Ok(Operation::Copy(copy))
    }
}

enqueued! {
    fn cudaMemcpy / cudaMemcpy_ptds(to: Pointer, from: Pointer, bytes: Size, direction: i32) on DEFAULT =>
        |_| line("cudaMemcpy", to, from, bytes, direction);

    fn cudaMemcpyAsync / cudaMemcpyAsync_ptsz(
        to: Pointer, from: Pointer, bytes: Size, direction: i32, stream: Pointer,
    ) on stream => |_| line("cudaMemcpyAsync", to, from, bytes, direction);

    fn cudaMemcpyPeer / cudaMemcpyPeer_ptds(
        to: Pointer, to_device: i32, from: Pointer, from_device: i32, bytes: Size,
    ) on DEFAULT => |_| peer("cudaMemcpyPeer", (to, to_device), (from, from_device), bytes);

    fn cudaMemcpyPeerAsync / cudaMemcpyPeerAsync_ptsz(
        to: Pointer, to_device: i32, from: Pointer, from_device: i32, bytes: Size, stream: Pointer,
    ) on stream => |_| peer("cudaMemcpyPeerAsync", (to, to_device), (from, from_device), bytes);

    fn cudaMemcpy2D / cudaMemcpy2D_ptds(
        to: Pointer, to_pitch: Size, from: Pointer, from_pitch: Size, width: Size, height: Size, direction: i32,
    ) on DEFAULT => |_| plane("cudaMemcpy2D", (to, to_pitch), (from, from_pitch), [width, height], direction);

    fn cudaMemcpy2DAsync / cudaMemcpy2DAsync_ptsz(
        to: Pointer, to_pitch: Size, from: Pointer, from_pitch: Size, width: Size, height: Size, direction: i32,
        stream: Pointer,
    ) on stream => |_| plane("cudaMemcpy2DAsync", (to, to_pitch), (from, from_pitch), [width, height], direction);

    fn cudaMemcpy3D / cudaMemcpy3D_ptds(what: In<Copy3D>) on DEFAULT => |context| volume(context, "cudaMemcpy3D", what);

    fn cudaMemcpy3DAsync / cudaMemcpy3DAsync_ptsz(what: In<Copy3D>, stream: Pointer) on stream =>
        |context| volume(context, "cudaMemcpy3DAsync", what);

    fn cudaMemset / cudaMemset_ptds(at: Pointer, value: i32, bytes: Size) on DEFAULT =>
        |_| Ok(Operation::Fill(Fill::line("cudaMemset", at, value as u8, bytes)));

    fn cudaMemsetAsync / cudaMemsetAsync_ptsz(at: Pointer, value: i32, bytes: Size, stream: Pointer) on stream =>
        |_| Ok(Operation::Fill(Fill::line("cudaMemsetAsync", at, value as u8, bytes)));

    fn cudaMemset2D / cudaMemset2D_ptds(at: Pointer, pitch: Size, value: i32, width: Size, height: Size) on DEFAULT =>
        |_| set_plane("cudaMemset2D", at, pitch, value, [width, height]);

    fn cudaMemset2DAsync / cudaMemset2DAsync_ptsz(
        at: Pointer, pitch: Size, value: i32, width: Size, height: Size, stream: Pointer,
    ) on stream => |_| set_plane("cudaMemset2DAsync", at, pitch, value, [width, height]);

    fn cudaMemset3D / cudaMemset3D_ptds(memory: PitchedPointer, value: i32, extent: Extent) on DEFAULT =>
        |_| set_volume("cudaMemset3D", memory, value, extent);

    fn cudaMemset3DAsync / cudaMemset3DAsync_ptsz(
        memory: PitchedPointer, value: i32, extent: Extent, stream: Pointer,
    ) on stream => |_| set_volume("cudaMemset3DAsync", memory, value, extent);

    fn cudaMemcpy2DToArray / cudaMemcpy2DToArray_ptds(
        array: Pointer, x: Size, y: Size, from: Pointer, pitch: Size, width: Size, height: Size, direction: i32,
    ) on DEFAULT => |context| {
        context.array_plane("cudaMemcpy2DToArray", (array, x, y), (from, pitch), [width, height], (direction, true))
    };

    fn cudaMemcpy2DToArrayAsync / cudaMemcpy2DToArrayAsync_ptsz(
        array: Pointer, x: Size, y: Size, from: Pointer, pitch: Size, width: Size, height: Size, direction: i32,
        stream: Pointer,
    ) on stream => |context| {
        context.array_plane("cudaMemcpy2DToArrayAsync", (array, x, y), (from, pitch), [width, height], (direction, true))
    };

    fn cudaMemcpy2DFromArray / cudaMemcpy2DFromArray_ptds(
        to: Pointer, pitch: Size, array: Pointer, x: Size, y: Size, width: Size, height: Size, direction: i32,
    ) on DEFAULT => |context| {
        context.array_plane("cudaMemcpy2DFromArray", (array, x, y), (to, pitch), [width, height], (direction, false))
    };

    fn cudaMemcpy2DFromArrayAsync / cudaMemcpy2DFromArrayAsync_ptsz(
        to: Pointer, pitch: Size, array: Pointer, x: Size, y: Size, width: Size, height: Size, direction: i32,
        stream: Pointer,
    ) on stream => |context| {
        context.array_plane("cudaMemcpy2DFromArrayAsync", (array, x, y), (to, pitch), [width, height], (direction, false))
    };

    fn cudaMemcpyToArray / cudaMemcpyToArray_ptds(
        array: Pointer, x: Size, y: Size, from: Pointer, bytes: Size, direction: i32,
    ) on DEFAULT => |context| context.array_line("cudaMemcpyToArray", (array, x, y), from, bytes, (direction, true));

    fn cudaMemcpyToArrayAsync / cudaMemcpyToArrayAsync_ptsz(
        array: Pointer, x: Size, y: Size, from: Pointer, bytes: Size, direction: i32, stream: Pointer,
    ) on stream => |context| context.array_line("cudaMemcpyToArrayAsync", (array, x, y), from, bytes, (direction, true));

    fn cudaMemcpyFromArray / cudaMemcpyFromArray_ptds(
        to: Pointer, array: Pointer, x: Size, y: Size, bytes: Size, direction: i32,
    ) on DEFAULT => |context| context.array_line("cudaMemcpyFromArray", (array, x, y), to, bytes, (direction, false));

    fn cudaMemcpyFromArrayAsync / cudaMemcpyFromArrayAsync_ptsz(
        to: Pointer, array: Pointer, x: Size, y: Size, bytes: Size, direction: i32, stream: Pointer,
    ) on stream => |context| context.array_line("cudaMemcpyFromArrayAsync", (array, x, y), to, bytes, (direction, false));
}

/// A copy between devices, of which there is one.
fn peer(call: &'static str, to: (Pointer, i32), from: (Pointer, i32), bytes: Size) -> Result<Operation> {
    match (to.1, from.1) {
        (0, 0) => line(call, to.0, from.0, bytes, BY_ADDRESS),
        _ => Err(Error::INVALID_DEVICE),
    }
}
