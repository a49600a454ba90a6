//! Arrays: memory for textures and surfaces, in rows.

use super::memory::{Extent, Kind, check_flags};
use crate::abi::{In, Out, Pointer, Size};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};

/// Bits of the channels of an element, and what they mean: signed, unsigned, floating point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Texel {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) z: i32,
    pub(crate) w: i32,
    pub(crate) kind: i32,
}

impl Texel {
    /// Bytes of an element.
    pub(crate) fn bytes(self) -> usize {
        ([self.x, self.y, self.z, self.w].iter().sum::<i32>().max(0) as usize).div_ceil(8)
    }

    fn check(self) -> Result {
        let is_size = |bits: &i32| [0, 8, 16, 32].contains(bits);
        let all = [self.x, self.y, self.z, self.w];
        if all.iter().all(is_size) && self.x > 0 { Ok(()) } else { Err(Error::INVALID_CHANNEL) }
    }
}

/// Flags of arrays: for surfaces, for gathers, sparse, mapped later.
const FLAGS: u32 = 0x02 | 0x08 | 0x40 | 0x80;
/// Those of `cudaMalloc3DArray`: layers and cubes too.
const FLAGS_3D: u32 = FLAGS | 0x01 | 0x04;

/// An array.
#[derive(Clone, Debug)]
pub(crate) struct Array {
    pub(crate) at: Pointer,
    /// Bytes from row to row.
    pub(crate) pitch: usize,
    /// In elements; 0 for dimensions it does not have.
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
    pub(crate) texel: Texel,
    pub(crate) flags: u32,
}

impl Context {
    fn new_array(&mut self, call: &str, texel: Texel, extent: Extent, flags: u32) -> Result<Pointer> {
        texel.check()?;
        let Extent { width, height, depth } = extent;
        if width.is_zero() {
            return Err(Error::INVALID_VALUE);
        }
        let pitch = width.times(Size::new(texel.bytes())).and_then(|row| row.rounded_up(32));
        let plane = pitch.and_then(|pitch| pitch.times(height.or_one()));
        let bytes = plane.and_then(|plane| plane.times(depth.or_one()));
        let at = self.alloc(call, bytes.or(Err(Error::MEMORY_ALLOCATION))?, Kind::Array)?;
        let (pitch, [width, height, depth]) = (pitch?.get(), [width, height, depth].map(Size::get));
        let handle = self.new_handle();
        self.arrays.insert(handle, Array { at, pitch, width, height, depth, texel, flags });
        Ok(Pointer(handle))
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaMallocArray(out: Out<Pointer>, texel: In<Texel>, width: Size, height: Size, flags: u32) -> Code {
    api(|context| {
        out.check()?;
        check_flags(flags, FLAGS)?;
        let extent = Extent { width, height, depth: Size::ZERO };
        out.put(context.new_array("cudaMallocArray", texel.get()?, extent, flags)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaMalloc3DArray(out: Out<Pointer>, texel: In<Texel>, extent: Extent, flags: u32) -> Code {
    api(|context| {
        out.check()?;
        check_flags(flags, FLAGS_3D)?;
        out.put(context.new_array("cudaMalloc3DArray", texel.get()?, extent, flags)?)
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaFreeArray(array: Pointer) -> Code {
    api(|context| match context.arrays.remove(&array.0) {
        Some(found) => context.free("cudaFreeArray", found.at, &[Kind::Array]),
        None if array == Pointer::NULL => Ok(()),
        None => Err(Error::INVALID_HANDLE),
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaArrayGetInfo(texel: Out<Texel>, extent: Out<Extent>, flags: Out<u32>, array: Pointer) -> Code {
    api(|context| {
        let array = context.arrays.get(&array.0).ok_or(Error::INVALID_HANDLE)?;
        texel.put_if_wanted(array.texel);
        let [width, height, depth] = [array.width, array.height, array.depth].map(Size::new);
        extent.put_if_wanted(Extent { width, height, depth });
        flags.put_if_wanted(array.flags);
        Ok(())
    })
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetChannelDesc(texel: Out<Texel>, array: Pointer) -> Code {
    api(|context| texel.put(context.arrays.get(&array.0).ok_or(Error::INVALID_HANDLE)?.texel))
}

#[unsafe(no_mangle)]
extern "C" fn cudaCreateChannelDesc(x: i32, y: i32, z: i32, w: i32, kind: i32) -> Texel {
    Texel { x, y, z, w, kind }
}
