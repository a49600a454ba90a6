//! Device variables, identified by the address of their host counterpart.

use super::stream::copy::{Copy, Start};
use super::stream::{DEFAULT, Operation, enqueued};
use crate::abi::{Out, Pointer, Size};
use crate::context::{Context, api};
use crate::error::{Code, Error, Result};
use raddle_exec::memory::CONST_WINDOW;
use raddle_ptx::ir::Space;
use raddle_runtime::device::ModuleId;

/// Where a variable is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable {
    module: ModuleId,
    space: Space,
    at: Size,
    size: Size,
}

/// Constants whose addresses the program has asked for: those of all modules are in one window.
pub(crate) type Constants = Vec<Variable>;

/// Directions in which a variable is written and read, by their numbers; beside them those between two places on the
/// device, and what the addresses say.
const HOST_TO_DEVICE: i32 = 1;
const DEVICE_TO_HOST: i32 = 2;
const EITHER: std::ops::RangeInclusive<i32> = 3..=4;

/// A variable is on the device.
fn check_direction(direction: i32, wanted: i32) -> Result {
    if direction == wanted || EITHER.contains(&direction) { Ok(()) } else { Err(Error::INVALID_DIRECTION) }
}

impl Variable {
    /// Bytes of it.
    fn part(&self, [bytes, offset]: [Size; 2]) -> Result<Start> {
        if offset.plus(bytes)? > self.size {
            return Err(Error::INVALID_VALUE);
        }
        let at = self.at.plus(offset)?;
        Ok(match self.space {
            Space::Const => Start::Constant(self.module, at),
            _ => Start::Address(Pointer(at.wide())),
        })
    }

    /// Its address for kernels.
    fn address(&self) -> Pointer {
        Pointer(self.at.wide() + if self.space == Space::Const { CONST_WINDOW } else { 0 })
    }

    /// The bytes of a constant.
    fn range(&self) -> std::ops::Range<u64> {
        self.address().0..self.address().0 + self.size.wide()
    }
}

impl Context {
    /// A variable of a module by its name.
    pub(crate) fn named_variable(&self, module: ModuleId, name: &str) -> Result<Variable> {
        let place = self.device.place(module, name).map_err(|_| Error::NOT_FOUND)?;
        let [at, size] = [place.at, place.size].map(|value| Size::new(value as usize));
        Ok(Variable { module, space: place.space, at, size })
    }

    fn symbol(&mut self, host: Pointer) -> Result<Variable> {
        let (module, symbol) = self.variable(host)?;
        self.named_variable(module, &symbol.name).map_err(|_| Error::INVALID_SYMBOL)
    }

    /// Tells where a variable is. Constants are then known by that address.
    pub(crate) fn tell_address(&mut self, variable: Variable, at: Out<Pointer>, bytes: Out<usize>) {
        let is_new = |known: &Variable| (known.module, known.at) != (variable.module, variable.at);
        if variable.space == Space::Const && self.constants.iter().all(is_new) {
            self.constants.push(variable);
        }
        at.put_if_wanted(variable.address());
        bytes.put_if_wanted(variable.size.get());
    }

    /// Forgets those of a module that goes.
    pub(crate) fn forget_constants(&mut self, module: ModuleId) {
        self.constants.retain(|known| known.module != module);
    }

    /// Whether a constant is at an address that the program has been told.
    pub(super) fn is_constant(&self, at: Pointer) -> bool {
        self.constants.iter().any(|known| known.range().contains(&at.0))
    }

    /// The constants at an address that the program has been told: their module, and where they are in it.
    pub(super) fn constant_at(&mut self, call: &str, at: Pointer, bytes: Size) -> Result<Option<(ModuleId, u64)>> {
        let range = at.range(bytes)?;
        let is_here = |known: &&Variable| known.range().start <= range.start && range.end <= known.range().end;
        let modules: Vec<ModuleId> = self.constants.iter().filter(is_here).map(|known| known.module).collect();
        match modules[..] {
            [] => Ok(None),
            [module] => Ok(Some((module, at.0 - CONST_WINDOW))),
            _ => {
                let text = "constants of several files have this address: copy to and from the symbols";
                self.guest.note(&format!("{call}: {:#x}: {text}", at.0));
                Err(Error::INVALID_VALUE)
            }
        }
    }

    /// A copy to a variable: so many bytes, at an offset.
    pub(crate) fn copy_to_symbol(
        &mut self,
        call: &'static str,
        symbol: Pointer,
        from: Pointer,
        part: [Size; 2],
        direction: i32,
    ) -> Result<Operation> {
        check_direction(direction, HOST_TO_DEVICE)?;
        let to = self.symbol(symbol)?.part(part)?;
        Copy::line(call, to, Start::Address(from), part[0], direction).map(Operation::Copy)
    }

    /// A copy from a variable.
    pub(crate) fn copy_from_symbol(
        &mut self,
        call: &'static str,
        to: Pointer,
        symbol: Pointer,
        part: [Size; 2],
        direction: i32,
    ) -> Result<Operation> {
        check_direction(direction, DEVICE_TO_HOST)?;
        let from = self.symbol(symbol)?.part(part)?;
        Copy::line(call, Start::Address(to), from, part[0], direction).map(Operation::Copy)
    }
}

enqueued! {
    fn cudaMemcpyToSymbol / cudaMemcpyToSymbol_ptds(
        symbol: Pointer, from: Pointer, bytes: Size, offset: Size, direction: i32,
    ) on DEFAULT => |context| context.copy_to_symbol("cudaMemcpyToSymbol", symbol, from, [bytes, offset], direction);

    fn cudaMemcpyToSymbolAsync / cudaMemcpyToSymbolAsync_ptsz(
        symbol: Pointer, from: Pointer, bytes: Size, offset: Size, direction: i32, stream: Pointer,
    ) on stream => |context| context.copy_to_symbol("cudaMemcpyToSymbolAsync", symbol, from, [bytes, offset], direction);

    fn cudaMemcpyFromSymbol / cudaMemcpyFromSymbol_ptds(
        to: Pointer, symbol: Pointer, bytes: Size, offset: Size, direction: i32,
    ) on DEFAULT => |context| context.copy_from_symbol("cudaMemcpyFromSymbol", to, symbol, [bytes, offset], direction);

    fn cudaMemcpyFromSymbolAsync / cudaMemcpyFromSymbolAsync_ptsz(
        to: Pointer, symbol: Pointer, bytes: Size, offset: Size, direction: i32, stream: Pointer,
    ) on stream => |context| context.copy_from_symbol("cudaMemcpyFromSymbolAsync", to, symbol, [bytes, offset], direction);
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGetSymbolAddress(out: Out<Pointer>, symbol: Pointer) -> Code {
    api(|context| {
        let found = context.symbol(symbol)?;
        out.check()?;
        context.tell_address(found, out, Out::NULL);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) extern "C" fn cudaGetSymbolSize(out: Out<usize>, symbol: Pointer) -> Code {
    api(|context| out.put(context.symbol(symbol)?.size.get()))
}
