//! `__managed__` variables: the program has them in a section of its own, where kernels use them too.
//!
//! The compiler leaves the host's bytes zero and puts first values into the device code only. They are taken from there before
//! `main`, so that host code finds them; when the module is loaded, what host code has written since then stays.

use crate::abi::{Pointer, Size};
use crate::context::{Context, Module};
use crate::error::{Error, Result};
use crate::registered::{Symbol, registered};
use crate::runtime::memory::Kind;
use raddle_cuda::fat_binary;
use raddle_ptx::ir;
use std::collections::BTreeMap;

/// The first value of a variable, if it is known before the module is loaded: it has no addresses in it.
fn first_value<'m>(module: &'m ir::Module, name: &str) -> Option<&'m [u8]> {
    let var = module.vars.iter().find(|var| var.owner.is_none() && var.name == name)?;
    var.init.as_ref().filter(|init| init.relocations.is_empty()).map(|init| init.bytes.as_slice())
}

/// Gives managed variables of a fat binary the first values that the last of its texts has for them.
pub(crate) fn set_first_values(binary: usize) {
    let (managed, container) = {
        let registered = registered();
        (registered.managed(binary), registered.containers(binary).pop().unwrap_or_default())
    };
    if managed.is_empty() {
        return;
    }
    // What is wrong with the text is said when it is used.
    let Ok(text) = fat_binary::ptx(&container) else { return };
    let (module, _) = raddle_ptx::load(&text);
    for (host, symbol) in managed {
        if let Some(value) = first_value(&module, &symbol.name) {
            // SAFETY: the variable is the program's own, has so many bytes, and nothing of the program runs yet that uses it;
            // the value is ours.
            unsafe { Pointer(host).write(&value[..value.len().min(symbol.size)]) };
        }
    }
}

impl Context {
    /// Loads a module whose managed variables, those of a fat binary, stay where the host has them and as they are.
    pub(crate) fn load_managed(&mut self, text: String, binary: usize) -> Result<Module> {
        let managed = registered().managed(binary);
        let mut placed = BTreeMap::new();
        let mut kept = Vec::new();
        for (host, Symbol { name, size, .. }) in managed {
            // SAFETY: the variable is the program's own and has this size.
            kept.push((host, name.clone(), unsafe { Pointer(host).read(size) }?));
            self.map_host(format!("{name} (__managed__)"), Pointer(host), Size::new(size), Kind::Variable)?;
            placed.insert(name, host);
        }
        let managed = placed.values().copied().collect();
        let loaded = self.load_placed(text, &placed);
        let id = match loaded {
            Ok(id) => id,
            Err(error) => {
                self.forget_managed(managed);
                return Err(error);
            }
        };
        let file = self.device.module_file(id).map_err(|_| Error::UNKNOWN)?;
        let memory = self.device.memory_mut().map_err(|_| Error::UNKNOWN)?;
        for (host, _, bytes) in kept.iter().filter(|(_, name, _)| first_value(&file.module, name).is_some()) {
            memory.write(*host, bytes).map_err(|_| Error::UNKNOWN)?;
        }
        Ok(Module { id, managed })
    }

    /// Takes managed variables from the device. Their bytes may be gone.
    pub(crate) fn forget_managed(&mut self, addresses: Vec<u64>) {
        for address in addresses {
            self.allocated.remove(&address);
            self.device.memory_mut().map(|memory| memory.free(address)).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_values_with_addresses_are_known_only_when_loaded() {
        let text = ".version 6.0\n.target sm_50\n.address_size 64\n.global .u32 a = 7;\n.global .u32 b;\n.global .u64 c = a;\n";
        let (module, _) = raddle_ptx::load(text);
        assert_eq!(first_value(&module, "a"), Some(&[7, 0, 0, 0][..]));
        assert_eq!([first_value(&module, "b"), first_value(&module, "c"), first_value(&module, "d")], [None; 3]);
    }
}
