//! Device variables, identified by the address of their host counterpart.

use crate::abi::{Out, Pointer};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};
use raddle_exec::memory::CONST_WINDOW;
use raddle_ptx::ir::Space;
use raddle_runtime::device::ModuleId;

/// Where a variable is.
struct Place {
    module: ModuleId,
    space: Space,
    at: u64,
    size: usize,
}

impl Context {
    fn place(&mut self, symbol: Pointer) -> Result<Place> {
        let (module, symbol) = self.variable(symbol)?;
        let place = self.device.place(module, &symbol.name).map_err(|_| Error::INVALID_SYMBOL)?;
        Ok(Place { module, space: place.space, at: place.at, size: place.size as usize })
    }

    fn write_symbol(&mut self, symbol: Pointer, from: Pointer, bytes: usize, offset: usize, direction: i32) -> Result {
        let place = self.place(symbol)?;
        if offset.saturating_add(bytes) > place.size {
            return Err(Error::INVALID_VALUE);
        }
        let at = place.at + offset as u64;
        if place.space != Space::Const {
            return self.copy("cudaMemcpyToSymbol", Pointer(at), from, bytes, direction);
        }
        let mut data = vec![0; bytes];
        match self.device.memory().read(from.0, &mut data) {
            Ok(()) => {}
            // SAFETY: the program says that its memory has so many bytes.
            Err(_) => data.copy_from_slice(unsafe { from.host(bytes) }),
        }
        self.device.write_constants(place.module, at, &data);
        Ok(())
    }

    fn read_symbol(&mut self, to: Pointer, symbol: Pointer, bytes: usize, offset: usize, direction: i32) -> Result {
        let place = self.place(symbol)?;
        if offset.saturating_add(bytes) > place.size {
            return Err(Error::INVALID_VALUE);
        }
        let at = place.at + offset as u64;
        if place.space != Space::Const {
            return self.copy("cudaMemcpyFromSymbol", to, Pointer(at), bytes, direction);
        }
        let data = self.device.constants(place.module)[at as usize..][..bytes].to_vec();
        let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        if memory.write(to.0, &data).is_err() {
            // SAFETY: the program says that its memory has room for so many bytes.
            unsafe { to.host_mut(bytes) }.copy_from_slice(&data);
        }
        Ok(())
    }
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpyToSymbol(
    symbol: Pointer,
    from: Pointer,
    bytes: usize,
    offset: usize,
    direction: i32,
) -> Code {
    api(|context| context.write_symbol(symbol, from, bytes, offset, direction))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpyToSymbolAsync(
    symbol: Pointer,
    from: Pointer,
    bytes: usize,
    offset: usize,
    direction: i32,
    _stream: Pointer,
) -> Code {
    cudaMemcpyToSymbol(symbol, from, bytes, offset, direction)
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpyFromSymbol(
    to: Pointer,
    symbol: Pointer,
    bytes: usize,
    offset: usize,
    direction: i32,
) -> Code {
    api(|context| context.read_symbol(to, symbol, bytes, offset, direction))
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaMemcpyFromSymbolAsync(
    to: Pointer,
    symbol: Pointer,
    bytes: usize,
    offset: usize,
    direction: i32,
    _stream: Pointer,
) -> Code {
    cudaMemcpyFromSymbol(to, symbol, bytes, offset, direction)
}

/// Constants are seen by kernels in a window of their own.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGetSymbolAddress(out: Out<Pointer>, symbol: Pointer) -> Code {
    api(|context| {
        let place = context.place(symbol)?;
        let window = if place.space == Space::Const { CONST_WINDOW } else { 0 };
        out.put(Pointer(window + place.at))
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGetSymbolSize(out: Out<usize>, symbol: Pointer) -> Code {
    api(|context| out.put(context.place(symbol)?.size))
}
