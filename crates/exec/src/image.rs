//! A module placed in memory.
//!
//! Module-scope `.global` variables are allocated in device memory, `.const` variables in a bank
//! of their own, functions get addresses. What depends on the kernel (shared memory, parameters,
//! stack frames) is in its [`KernelLayout`].

#[cfg(test)]
mod tests;

use crate::calls::{Calls, MAX_STACK_BYTES};
use crate::memory::{AllocError, CONST_WINDOW, DeviceMemory, FUNCTION_WINDOW};
use crate::memory::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use raddle_ptx::analysis::{Allocation, Cfg, Liveness};
use raddle_ptx::ir::{FuncId, Function, Linkage, Module, Operand, Space, Symbol, Var, VarId};
use raddle_ptx::num::fit;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Why a module cannot be placed or a kernel cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// No such kernel.
    #[error("the module has no kernel `{name}`{}", others(.known))]
    NoKernel {
        /// Name asked for.
        name: String,
        /// Kernels there are.
        known: Vec<String>,
    },
    /// A function is called that has no body here.
    #[error("`{0}` is called but not defined in this module; link it in, or compile it into the same PTX file")]
    UndefinedFunction(String),
    /// A variable is used that is declared `.extern` only.
    #[error("variable `{0}` is declared `.extern` but not defined in this module")]
    UndefinedVariable(String),
    /// A variable that does not fit in its state space with those before it.
    #[error("variable `{name}` has {bytes} bytes, which makes {all} bytes of {space}; {most} are the most")]
    TooLarge {
        /// Its name.
        name: String,
        /// Its size.
        bytes: u64,
        /// Size of all that has been placed.
        all: u64,
        /// What it is in, such as "constant memory".
        space: &'static str,
        /// What there is room for.
        most: u64,
    },
    /// A variable for which there is no device memory.
    #[error("variable {0}")]
    Alloc(#[from] AllocError),
    /// Something valid that the machine does not do.
    #[error("{0}")]
    Unsupported(String),
}

fn others(known: &[String]) -> String {
    match known {
        [] => " (it has none)".to_owned(),
        _ => format!("; it has {}", known.join(", ")),
    }
}

/// The most shared memory of a block, static and dynamic: its window.
pub const MAX_SHARED_BYTES: u64 = LOCAL_WINDOW - SHARED_WINDOW;
/// The most constant memory: its window.
const MAX_CONST_BYTES: u64 = PARAM_WINDOW - CONST_WINDOW;
/// The most bytes of parameters: their window.
const MAX_PARAM_BYTES: u64 = FUNCTION_WINDOW - PARAM_WINDOW;

/// Places variables one after the other in a space of limited size.
struct Placer {
    space: &'static str,
    most: u64,
    end: u32,
}

impl Placer {
    fn new(space: &'static str, most: impl Into<u64>) -> Self {
        Self { space, most: most.into(), end: 0 }
    }

    /// The offset of the next variable.
    fn place(&mut self, var: &Var) -> Result<u32, LoadError> {
        let (bytes, most) = (var.size, self.most);
        let offset = u64::from(self.end).next_multiple_of(u64::from(var.align.max(1)));
        let all = offset.saturating_add(bytes);
        if all > most {
            return Err(LoadError::TooLarge { name: var.name.clone(), bytes, all, space: self.space, most });
        }
        self.end = fit(all);
        Ok(fit(offset))
    }
}

/// Functions the machine supplies itself.
pub const BUILTIN_FUNCTIONS: &[&str] = &["vprintf", "__assertfail", "malloc", "free"];

/// A module in memory.
#[derive(Clone, Debug)]
pub struct Image {
    /// The module.
    pub module: Arc<Module>,
    /// Address of each variable in its own space; `u64::MAX` for those that are laid out per
    /// kernel.
    addresses: Vec<u64>,
    /// Constant memory.
    pub const_bank: Vec<u8>,
}

impl Image {
    /// Places `module`, allocating its global variables in `memory`.
    ///
    /// # Errors
    /// When a variable is too large.
    pub fn load(module: Arc<Module>, memory: &mut DeviceMemory) -> Result<Self, LoadError> {
        Self::load_placed(module, memory, &BTreeMap::new())
    }

    /// The same with global variables, by name, in allocations that are there.
    ///
    /// # Errors
    /// When a variable is too large.
    pub fn load_placed(
        module: Arc<Module>,
        memory: &mut DeviceMemory,
        placed: &BTreeMap<String, u64>,
    ) -> Result<Self, LoadError> {
        let mut addresses = vec![u64::MAX; module.vars.len()];
        let mut constants = Placer::new("constant memory", MAX_CONST_BYTES);
        for (i, var) in module.vars.iter().enumerate() {
            match var.space {
                Space::Global | Space::Tex if var.owner.is_none() => {
                    addresses[i] = match placed.get(&var.name) {
                        Some(address) => *address,
                        None => {
                            let address = memory.alloc(var.name.clone(), var.size)?;
                            // What a module does not say of its variables is zero.
                            memory.count_as_written(address);
                            address
                        }
                    };
                }
                Space::Const => addresses[i] = u64::from(constants.place(var)?),
                _ => {}
            }
        }
        let mut image = Self { module: module.clone(), addresses, const_bank: vec![0; constants.end as usize] };
        for (i, var) in module.vars.iter().enumerate() {
            let Some(init) = &var.init else { continue };
            let mut bytes = init.bytes.clone();
            for r in &init.relocations {
                let value = image.symbol_address(r.target, r.generic).wrapping_add_signed(r.addend).to_le_bytes();
                let at: usize = fit(r.at);
                let width = (r.width as usize).min(8);
                bytes[at..at + width].copy_from_slice(&value[..width]);
            }
            let address = image.addresses[i];
            if var.space == Space::Const {
                image.const_bank[fit(address)..][..bytes.len()].copy_from_slice(&bytes);
            } else {
                // The allocation was made above with this size, or is the caller's.
                let _ = memory.write(address, &bytes);
            }
        }
        Ok(image)
    }

    /// The address of a module-scope global (an address) or const (an offset) variable.
    #[must_use]
    pub fn address(&self, var: VarId) -> Option<u64> {
        Some(self.addresses[var.index()]).filter(|a| *a != u64::MAX)
    }

    /// The address that function pointers to `func` hold.
    #[must_use]
    pub fn function_address(func: FuncId) -> u64 {
        FUNCTION_WINDOW + u64::from(func.0) * 16
    }

    /// The function a function pointer means.
    #[must_use]
    pub fn function_at(&self, address: u64) -> Option<FuncId> {
        let offset = address.checked_sub(FUNCTION_WINDOW)?;
        let index = u32::try_from(offset / 16).ok()?;
        (offset.is_multiple_of(16) && (index as usize) < self.module.functions.len()).then_some(FuncId(index))
    }

    fn symbol_address(&self, symbol: Symbol, generic: bool) -> u64 {
        match symbol {
            Symbol::Func(f) => Self::function_address(f),
            Symbol::Var(v) => {
                let address = self.address(v).unwrap_or(0);
                let is_const = self.module.var(v).space == Space::Const;
                if generic && is_const { CONST_WINDOW + address } else { address }
            }
        }
    }

    /// Lays out a kernel by name.
    ///
    /// # Errors
    /// When there is no such kernel, or it needs something that is not defined.
    pub fn kernel(&self, name: &str) -> Result<KernelLayout, LoadError> {
        match self.module.function(name) {
            Some(f) if self.module.func(f).is_entry && self.module.func(f).is_defined => KernelLayout::new(self, f),
            _ => {
                let known = self.module.kernels().map(|(_, f)| f.name.clone()).collect();
                Err(LoadError::NoKernel { name: name.to_owned(), known })
            }
        }
    }
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Variable.
    pub var: VarId,
    /// Byte offset in the parameter block.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
}

/// Where the variables of one function activation live, relative to its frame.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Offset of each variable in the frame: return values first, then parameters, then locals.
    offsets: HashMap<VarId, u32>,
    /// Size in bytes, a multiple of 16.
    pub size: u32,
    /// What a call from this function takes of the stack: the frame, and registers kept where functions may call
    /// themselves. Never nothing, so that recursion ends.
    pub call_bytes: u32,
}

impl Frame {
    /// The offset of `var`, if it lives in this frame.
    #[must_use]
    pub fn offset(&self, var: VarId) -> Option<u32> {
        self.offsets.get(&var).copied()
    }
}

/// What one kernel needs and where its variables live.
#[derive(Clone, Debug)]
pub struct KernelLayout {
    /// The kernel.
    pub kernel: FuncId,
    /// The kernel and every function it may call, the kernel first.
    pub reachable: Vec<FuncId>,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Size of the parameter block.
    pub param_bytes: u32,
    /// Offsets of shared variables.
    shared: Vec<(VarId, u32)>,
    /// Static shared memory in bytes; dynamic shared memory starts here.
    pub static_shared: u32,
    /// Frames, in the order of `reachable`. A callee's frame starts where its caller's ends.
    frames: Vec<Frame>,
    /// The place of a function in `reachable`.
    place: HashMap<FuncId, u32>,
    /// Bytes of local memory a thread needs without recursion: the deepest chain of frames.
    pub local_bytes: u32,
    /// Whether some function may call itself, directly or not.
    pub recursive: bool,
}

impl KernelLayout {
    fn new(image: &Image, kernel: FuncId) -> Result<Self, LoadError> {
        let module = &image.module;
        let calls = Calls::new(module, kernel)?;
        let frames: Vec<Frame> = calls.reachable.iter().map(|f| frame(module, *f)).collect::<Result<_, _>>()?;
        let mut layout = Self {
            kernel,
            params: Vec::new(),
            param_bytes: 0,
            shared: Vec::new(),
            static_shared: 0,
            place: (0u32..).zip(&calls.reachable).map(|(n, f)| (*f, n)).collect(),
            local_bytes: calls.deepest(|n| frames[n].size).min(MAX_STACK_BYTES),
            recursive: calls.is_recursive,
            reachable: calls.reachable,
            frames,
        };
        layout.count_call_bytes(module);
        let mut parameters = Placer::new("parameters", MAX_PARAM_BYTES);
        for &var in &module.func(kernel).params {
            let v = module.var(var);
            let offset = parameters.place(v)?;
            layout.params.push(Param { var, offset, size: parameters.end - offset });
        }
        layout.param_bytes = parameters.end;
        layout.place_shared(module)?;
        Ok(layout)
    }

    fn count_call_bytes(&mut self, module: &Module) {
        for (func, frame) in self.reachable.iter().zip(&mut self.frames) {
            let kept = if self.recursive { registers(module, module.func(*func)).saturating_mul(4) } else { 0 };
            frame.call_bytes = frame.size.saturating_add(kept).clamp(16, MOST_FRAME_BYTES);
        }
    }

    fn place_shared(&mut self, module: &Module) -> Result<(), LoadError> {
        let mut used = vec![false; module.vars.len()];
        for f in &self.reachable {
            for inst in &module.func(*f).insts {
                inst.operands.iter().for_each(|o| mark_vars(o, &mut used));
            }
        }
        let is_shared = |i: &usize| used[*i] && module.vars[*i].space == Space::Shared;
        let mut dynamic = Vec::new();
        let mut placer = Placer::new("shared memory", MAX_SHARED_BYTES);
        for i in (0..module.vars.len()).filter(is_shared) {
            let var = &module.vars[i];
            let id = VarId::from_index(i);
            if var.size == 0 {
                dynamic.push(id);
                continue;
            }
            if var.linkage == Linkage::Extern {
                return Err(LoadError::UndefinedVariable(var.name.clone()));
            }
            self.shared.push((id, placer.place(var)?));
        }
        self.static_shared = placer.end;
        if !dynamic.is_empty() {
            self.static_shared = self.static_shared.next_multiple_of(16);
            self.shared.extend(dynamic.into_iter().map(|v| (v, self.static_shared)));
        }
        for i in (0..used.len()).filter(|i| used[*i]) {
            let var = &module.vars[i];
            let needs_definition = matches!(var.space, Space::Global | Space::Const) && var.size == 0;
            if needs_definition && var.linkage == Linkage::Extern {
                return Err(LoadError::UndefinedVariable(var.name.clone()));
            }
        }
        Ok(())
    }

    /// The frame of a reachable function.
    #[must_use]
    pub fn frame(&self, func: FuncId) -> &Frame {
        &self.frames[self.place.get(&func).map_or(0, |place| *place as usize)]
    }

    /// The offset of a shared variable.
    #[must_use]
    pub fn shared_offset(&self, var: VarId) -> Option<u32> {
        self.shared.iter().find(|(v, _)| *v == var).map(|(_, o)| *o)
    }

    /// The parameter that is `var`.
    #[must_use]
    pub fn param(&self, var: VarId) -> Option<&Param> {
        self.params.iter().find(|p| p.var == var)
    }

    /// The value of the address of `var` as `mov` gives it inside `func`: an address or offset in
    /// the variable's own state space. Variables in the frame count from the frame's start:
    /// `Err(offset)`.
    pub fn var_address(&self, image: &Image, func: FuncId, var: VarId) -> Result<u64, u32> {
        if let Some(address) = image.address(var) {
            return Ok(address);
        }
        if let Some(offset) = self.shared_offset(var) {
            return Ok(u64::from(offset));
        }
        if func == self.kernel
            && let Some(param) = self.param(var)
        {
            return Ok(u64::from(param.offset));
        }
        Err(self.frame(func).offset(var).unwrap_or(0))
    }
}

/// The start of the generic window of a state space.
#[must_use]
pub fn window(space: Space) -> u64 {
    match space {
        Space::Shared => SHARED_WINDOW,
        Space::Local => LOCAL_WINDOW,
        Space::Const => CONST_WINDOW,
        Space::Param => PARAM_WINDOW,
        Space::Global | Space::Tex | Space::Reg => 0,
    }
}

fn mark_vars(operand: &Operand, used: &mut [bool]) {
    use raddle_ptx::ir::{Address, Base};
    match operand {
        Operand::VarAddress(v, _) | Operand::Memory(Address { base: Base::Var(v), .. }) => used[v.index()] = true,
        Operand::Vector(list) | Operand::List(list) => list.iter().for_each(|o| mark_vars(o, used)),
        Operand::Pair(pair) => pair.iter().for_each(|o| mark_vars(o, used)),
        _ => {}
    }
}

fn frame(module: &Module, f: FuncId) -> Result<Frame, LoadError> {
    let function = module.func(f);
    let mut placer = Placer::new("local memory for each thread", MAX_STACK_BYTES);
    let mut frame = Frame::default();
    let own: &[VarId] = if function.is_entry { &[] } else { &function.params };
    for &var in function.returns.iter().chain(own).chain(&function.locals) {
        let v = module.var(var);
        if matches!(v.space, Space::Local | Space::Param) {
            frame.offsets.insert(var, placer.place(v)?);
        }
    }
    frame.size = placer.end.next_multiple_of(16);
    Ok(frame)
}

/// A frame of this size fits no stack, whatever else is in it.
const MOST_FRAME_BYTES: u32 = 1 << 30;

pub(crate) fn frame_bytes(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(MOST_FRAME_BYTES).min(MOST_FRAME_BYTES)
}

/// 32-bit registers that a function takes.
fn registers(module: &Module, function: &Function) -> u32 {
    let cfg = Cfg::new(function);
    Allocation::new(module, function, &cfg, &Liveness::new(function, &cfg)).registers
}

/// Offsets of values passed by prototype alone, as a callee's frame begins: returns, then
/// parameters. Given as (size, alignment).
#[must_use]
pub fn abi_offsets(shapes: impl IntoIterator<Item = (u64, u32)>) -> Vec<u32> {
    let mut end = 0u64;
    let place = |(size, align): (u64, u32)| {
        let offset = end.next_multiple_of(u64::from(align));
        end = offset.saturating_add(size).min(u64::from(MOST_FRAME_BYTES));
        frame_bytes(offset)
    };
    shapes.into_iter().map(place).collect()
}
