//! Copies and fills of every shape: rows of planes. Both sides of a copy are checked whole before a byte is moved.

use crate::abi::{Pointer, Size};
use crate::addresses::is_reserved;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::runtime::memory::Extent;
use raddle_runtime::device::ModuleId;

/// Bytes moved on the device at once.
const PIECE: usize = 1 << 20;
/// The largest pitch there is.
const MAX_PITCH: usize = i32::MAX as usize;
/// No address of the host is beyond this.
const HOST_END: u64 = 1 << 47;

/// Which sides of a copy are said to be on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    HostToHost,
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    /// The addresses say it.
    Default,
}

impl Direction {
    /// A direction by its number.
    pub(crate) fn of(number: i32) -> Result<Self> {
        Ok(match number {
            0 => Self::HostToHost,
            1 => Self::HostToDevice,
            2 => Self::DeviceToHost,
            3 => Self::DeviceToDevice,
            4 => Self::Default,
            _ => return Err(Error::INVALID_DIRECTION),
        })
    }

    fn to(self) -> Stated {
        match self {
            Self::HostToHost | Self::DeviceToHost => Stated::Host,
            Self::HostToDevice | Self::DeviceToDevice => Stated::Device,
            Self::Default => Stated::Nothing,
        }
    }

    fn from(self) -> Stated {
        match self {
            Self::HostToHost | Self::HostToDevice => Stated::Host,
            Self::DeviceToHost | Self::DeviceToDevice => Stated::Device,
            Self::Default => Stated::Nothing,
        }
    }
}

/// What a direction says of one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stated {
    Host,
    Device,
    Nothing,
}

/// Where rows start.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    Address(Pointer),
    /// In an array, which is on the device whatever a direction says of it.
    Array(Pointer),
    /// Bytes into the constants of a module.
    Constant(ModuleId, Size),
}

/// One side of a copy: where it starts, and bytes from row to row and from plane to plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) at: Start,
    pub(crate) pitch: Size,
    pub(crate) plane: Size,
}

impl Rows {
    /// Rows of a single plane.
    pub(crate) fn new(at: Pointer, pitch: Size) -> Self {
        Self { at: Start::Address(at), pitch, plane: Size::ZERO }
    }

    /// A single row.
    pub(crate) fn line(at: Start) -> Self {
        Self { at, pitch: Size::ZERO, plane: Size::ZERO }
    }

    /// Bytes from the start of the first row to the end of the last.
    fn span(&self, extent: Extent) -> Result<Size> {
        let Extent { width, height, depth } = extent;
        let steps = |count: Size, step: Size| step.times(Size::new(count.get() - 1));
        steps(depth, self.plane)?.plus(steps(height, self.pitch)?)?.plus(width)
    }

    /// From the first row to another.
    fn offset(&self, y: usize, z: usize) -> u64 {
        (z * self.plane.get() + y * self.pitch.get()) as u64
    }
}

/// Nothing is to be copied.
fn is_empty(extent: Extent) -> bool {
    extent.width.is_zero() || extent.height.is_zero() || extent.depth.is_zero()
}

/// Refuses rows or planes that overlap.
fn check_steps(rows: &Rows, extent: Extent) -> Result {
    if extent.width > rows.pitch || rows.pitch.get() > MAX_PITCH {
        return Err(Error::INVALID_PITCH);
    }
    match extent.depth > Size::ONE && rows.plane < rows.pitch.times(extent.height)? {
        true => Err(Error::INVALID_VALUE),
        false => Ok(()),
    }
}

/// Rows that are copied. The width is in bytes.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    to: Rows,
    from: Rows,
    extent: Extent,
}

/// A copy.
#[derive(Clone, Debug)]
pub(crate) struct Copy {
    call: &'static str,
    transfers: Vec<Transfer>,
    direction: Direction,
}

/// One side of a copy, found and checked.
#[derive(Clone, Copy, Debug)]
enum Side {
    /// Memory that kernels see: of the device, or of both.
    Memory(u64),
    Constants(ModuleId, u64),
    Host(Pointer),
}

impl Side {
    fn plus(self, bytes: u64) -> Self {
        match self {
            Self::Memory(at) => Self::Memory(at + bytes),
            Self::Constants(module, at) => Self::Constants(module, at + bytes),
            Self::Host(at) => Self::Host(Pointer(at.0 + bytes)),
        }
    }
}

impl Copy {
    /// Nothing as yet.
    pub(crate) fn new(call: &'static str, direction: i32) -> Result<Self> {
        Ok(Self { call, transfers: Vec::new(), direction: Direction::of(direction)? })
    }

    /// A copy of one row.
    pub(crate) fn line(call: &'static str, to: Start, from: Start, bytes: Size, direction: i32) -> Result<Self> {
        let extent = Extent { width: bytes, height: Size::ONE, depth: Size::ONE };
        Ok(Self::new(call, direction)?.and(Rows::line(to), Rows::line(from), extent))
    }

    /// A copy of rows, which must not overlap on either side.
    pub(crate) fn rows(call: &'static str, to: Rows, from: Rows, extent: Extent, direction: i32) -> Result<Self> {
        check_steps(&to, extent)?;
        check_steps(&from, extent)?;
        Ok(Self::new(call, direction)?.and(to, from, extent))
    }

    /// More rows.
    pub(crate) fn and(mut self, to: Rows, from: Rows, extent: Extent) -> Self {
        if !is_empty(extent) {
            self.transfers.push(Transfer { to, from, extent });
        }
        self
    }

    /// Both sides of everything that is to be copied.
    fn sides(&self, context: &mut Context) -> Result<Vec<(Side, Side)>> {
        let side = |context: &mut Context, rows: &Rows, extent, stated| context.side(self.call, rows, extent, stated);
        let both = |transfer: &Transfer| {
            let to = side(context, &transfer.to, transfer.extent, self.direction.to())?;
            Ok((to, side(context, &transfer.from, transfer.extent, self.direction.from())?))
        };
        self.transfers.iter().map(both).collect()
    }

    /// Refuses what cannot be copied.
    pub(super) fn check(&self, context: &mut Context) -> Result {
        self.sides(context).map(drop)
    }

    pub(super) fn perform(self, context: &mut Context) -> Result {
        let sides = self.sides(context)?;
        let mut bytes = 0;
        for (Transfer { to, from, extent }, sides) in self.transfers.iter().zip(&sides) {
            let (width, rows) = packed(extent, &[to, from]);
            for row in 0..rows {
                let (y, z) = (row % extent.height.get(), row / extent.height.get());
                context.move_bytes(sides.0.plus(to.offset(y, z)), sides.1.plus(from.offset(y, z)), width);
            }
            bytes += (width * rows) as u64;
        }
        if let Some((to, from)) = sides.first() {
            let is_device = |side: &Side| context.is_device(side);
            let (to, from) = (is_device(to), is_device(from));
            context.guest.copied(to, from, bytes);
        }
        Ok(())
    }
}

/// Bytes in a row and the number of rows: all of it in one where nothing is between rows.
fn packed(extent: &Extent, sides: &[&Rows]) -> (usize, usize) {
    let [width, height, depth] = [extent.width, extent.height, extent.depth].map(Size::get);
    let is_dense =
        |rows: &&Rows| (height == 1 || rows.pitch.get() == width) && (depth == 1 || rows.plane.get() == width * height);
    if sides.iter().all(is_dense) { (width * height * depth, 1) } else { (width, height * depth) }
}

impl Context {
    /// Whether a side is memory of the device alone.
    fn is_device(&self, side: &Side) -> bool {
        match side {
            Side::Memory(at) => self.device.memory().holder(*at).is_some_and(|holder| !holder.is_host()),
            Side::Constants(..) => true,
            Side::Host(_) => false,
        }
    }

    /// Finds and checks one side of a copy.
    fn side(&mut self, call: &str, rows: &Rows, extent: Extent, stated: Stated) -> Result<Side> {
        let span = rows.span(extent)?;
        match rows.at {
            // A graph may have been made before its module was unloaded.
            Start::Constant(module, _) if !self.device.has_module(module) => Err(Error::INVALID_VALUE),
            Start::Constant(module, at) => {
                let is_inside = at.plus(span)?.get() <= self.device.constants(module).len();
                if is_inside { Ok(Side::Constants(module, at.wide())) } else { Err(Error::INVALID_VALUE) }
            }
            Start::Array(at) => self.side_at(call, at, span, Stated::Device),
            Start::Address(at) => self.side_at(call, at, span, stated),
        }
    }

    fn side_at(&mut self, call: &str, at: Pointer, span: Size, stated: Stated) -> Result<Side> {
        let range = at.range(span)?;
        if at == Pointer::NULL {
            return Err(Error::INVALID_VALUE);
        }
        if let Some(holder) = self.device.memory().holder(at.0) {
            let text = match () {
                () if span.wide() > holder.base + holder.len() - at.0 => "reach past the end of",
                () if stated == Stated::Host && !holder.is_host() => "are said to be the host's, and are in",
                () => return Ok(Side::Memory(at.0)),
            };
            let text = format!("{call}: {} bytes at {:#x} {text} `{}`", span.get(), at.0, holder.name);
            self.guest.note(&text);
            return Err(Error::INVALID_VALUE);
        }
        if stated != Stated::Host
            && let Some((module, offset)) = self.constant_at(call, at, span)?
        {
            return Ok(Side::Constants(module, offset));
        }
        let is_host = stated != Stated::Device && !is_reserved(&range) && range.end <= HOST_END;
        if is_host && !self.device.memory().overlaps(&range) {
            return Ok(Side::Host(at));
        }
        if let Err(why) = self.device.memory().find(at.0, u32::try_from(span.get()).unwrap_or(u32::MAX)) {
            self.guest.note(&format!("{call}: {why}"));
        }
        Err(Error::INVALID_VALUE)
    }

    /// Moves bytes between two sides that have them.
    fn move_bytes(&mut self, to: Side, from: Side, bytes: usize) {
        match (to, from) {
            // SAFETY: the program says that both are there; they may overlap.
            (Side::Host(to), Side::Host(from)) => unsafe { std::ptr::copy(from.bytes(), to.bytes(), bytes) },
            (to, Side::Host(from)) => {
                // SAFETY: the program says that its memory has so many bytes; none of them are in an allocation.
                let bytes = unsafe { from.host(bytes) };
                self.write_side(to, bytes);
            }
            (Side::Host(to), from) => {
                // SAFETY: the program says that its memory has room for so many bytes; none are in an allocation.
                let room = unsafe { to.host_mut(bytes) };
                self.read_side(from, room);
            }
            (to, from) => self.move_on_device(to, from, bytes),
        }
    }

    fn move_on_device(&mut self, to: Side, from: Side, bytes: usize) {
        let mut piece = vec![0; bytes.min(PIECE)];
        // Where they overlap, what is read must not have been written.
        let is_backward = matches!((to, from), (Side::Memory(to), Side::Memory(from)) if to > from);
        let pieces = bytes.div_ceil(PIECE);
        for number in 0..pieces {
            let at = if is_backward { pieces - 1 - number } else { number } * PIECE;
            let piece = &mut piece[..PIECE.min(bytes - at)];
            self.read_side(from.plus(at as u64), piece);
            self.write_side(to.plus(at as u64), piece);
        }
    }

    fn read_side(&self, side: Side, into: &mut [u8]) {
        match side {
            Side::Memory(at) => self.device.memory().read(at, into).expect("it has been checked"),
            Side::Constants(module, at) => {
                into.copy_from_slice(&self.device.constants(module)[at as usize..][..into.len()]);
            }
            Side::Host(_) => unreachable!("it is copied by the caller"),
        }
    }

    fn write_side(&mut self, side: Side, from: &[u8]) {
        match side {
            Side::Memory(at) => {
                let memory = self.device.memory_mut().expect("there are no checkpoints");
                memory.write(at, from).expect("it has been checked");
            }
            Side::Constants(module, at) => self.device.write_constants(module, at, from),
            Side::Host(_) => unreachable!("it is copied by the caller"),
        }
    }
}

/// Rows that are set to a value.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    call: &'static str,
    to: Rows,
    extent: Extent,
    /// An element, little end first.
    value: [u8; 4],
    element: usize,
}

impl Fill {
    /// Sets rows, which must not overlap. The width is in bytes.
    pub(crate) fn rows(call: &'static str, to: Rows, extent: Extent, value: u8) -> Result<Self> {
        if extent.height > Size::ONE || extent.depth > Size::ONE {
            check_steps(&to, extent)?;
        }
        Ok(Self { call, to, extent, value: [value; 4], element: 1 })
    }

    /// Sets so many elements of 1, 2 or 4 bytes in each row.
    pub(crate) fn elements(
        call: &'static str,
        to: Rows,
        [count, height]: [Size; 2],
        value: u32,
        element: usize,
    ) -> Result<Self> {
        let Start::Address(at) = to.at else { return Err(Error::INVALID_VALUE) };
        let size = Size::new(element);
        if ![1, 2, 4].contains(&element) || !at.0.is_multiple_of(size.wide()) {
            return Err(Error::INVALID_VALUE);
        }
        let extent = Extent { width: count.times(size)?, height, depth: Size::ONE };
        if height.get() > 1 {
            check_steps(&to, extent)?;
        }
        Ok(Self { call, to, extent, value: value.to_le_bytes(), element })
    }

    /// Sets bytes.
    pub(crate) fn line(call: &'static str, at: Pointer, value: u8, bytes: Size) -> Self {
        let extent = Extent { width: bytes, height: Size::ONE, depth: Size::ONE };
        Self { call, to: Rows::line(Start::Address(at)), extent, value: [value; 4], element: 1 }
    }

    fn side(&self, context: &mut Context) -> Result<Option<Side>> {
        match is_empty(self.extent) {
            true => Ok(None),
            false => context.side(self.call, &self.to, self.extent, Stated::Device).map(Some),
        }
    }

    /// Refuses what cannot be set.
    pub(super) fn check(&self, context: &mut Context) -> Result {
        self.side(context).map(drop)
    }

    pub(super) fn perform(self, context: &mut Context) -> Result {
        let Some(side) = self.side(context)? else { return Ok(()) };
        let (width, rows) = packed(&self.extent, &[&self.to]);
        // A piece has whole elements.
        let piece: Vec<u8> = self.value[..self.element].iter().copied().cycle().take(width.min(PIECE)).collect();
        for row in 0..rows {
            let (y, z) = (row % self.extent.height.get(), row / self.extent.height.get());
            let side = side.plus(self.to.offset(y, z));
            for at in (0..width).step_by(PIECE) {
                context.write_side(side.plus(at as u64), &piece[..PIECE.min(width - at)]);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(width: usize, height: usize, depth: usize) -> Extent {
        Extent { width: Size::new(width), height: Size::new(height), depth: Size::new(depth) }
    }

    #[test]
    fn a_span_is_from_the_first_byte_to_the_last() {
        let rows = Rows { at: Start::Address(Pointer(16)), pitch: Size::new(10), plane: Size::new(100) };
        assert_eq!(rows.span(extent(4, 1, 1)), Ok(Size::new(4)));
        assert_eq!(rows.span(extent(4, 3, 1)), Ok(Size::new(24)));
        assert_eq!(rows.span(extent(4, 3, 2)), Ok(Size::new(124)));
        for huge in [extent(usize::MAX, 2, 1), extent(4, usize::MAX, 1), extent(4, 1, usize::MAX)] {
            assert_eq!(rows.span(huge), Err(Error::INVALID_VALUE));
        }
    }

    #[test]
    fn rows_without_gaps_are_moved_at_once() {
        let dense = Rows { at: Start::Address(Pointer(16)), pitch: Size::new(4), plane: Size::new(12) };
        let gaps = Rows { pitch: Size::new(5), plane: Size::new(15), ..dense };
        assert_eq!(packed(&extent(4, 3, 2), &[&dense, &dense]), (24, 1));
        assert_eq!(packed(&extent(4, 3, 2), &[&dense, &gaps]), (4, 6));
        assert_eq!(packed(&extent(4, 1, 1), &[&gaps]), (4, 1));
    }

    #[test]
    fn rows_and_planes_do_not_overlap() {
        let check = |pitch, plane, extent| {
            let at = Start::Address(Pointer(16));
            check_steps(&Rows { at, pitch: Size::new(pitch), plane: Size::new(plane) }, extent)
        };
        assert_eq!(check(16, 0, extent(16, 5, 1)), Ok(()));
        assert_eq!(check(16, 80, extent(16, 5, 2)), Ok(()));
        assert_eq!(check(16, 79, extent(16, 5, 2)), Err(Error::INVALID_VALUE));
        for (pitch, width) in [(15, 16), (MAX_PITCH + 1, 16), (16usize.wrapping_neg(), 8)] {
            assert_eq!(check(pitch, 0, extent(width, 1, 1)), Err(Error::INVALID_PITCH));
        }
    }
}
