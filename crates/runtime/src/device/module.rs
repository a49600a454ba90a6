//! Modules on a device: where their variables are, and their kernels made ready.

use super::{Device, RunOptions};
use crate::engine::{Engine, EngineOptions, Kernel};
use crate::error::{Error, Problem};
use crate::ptx_file::PtxFile;
use crate::value::{Value, from_bytes, to_bytes};
use raddle_exec::texture::Texture;
use raddle_exec::{DeviceMemory, Image, KernelLayout};
use raddle_ptx::ir::{Space, Var, VarId};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

/// A module of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModuleId(pub(super) usize);

impl ModuleId {
    /// The module a device was made with.
    pub const FIRST: Self = Self(0);
}

/// The file of a module.
#[derive(Clone, Debug)]
pub enum ModuleFile<'d> {
    /// It outlives the device.
    Lent(&'d PtxFile),
    /// It is there as long as a reference to it is kept.
    Kept(Arc<PtxFile>),
}

impl Deref for ModuleFile<'_> {
    type Target = PtxFile;

    fn deref(&self) -> &PtxFile {
        match self {
            Self::Lent(file) => file,
            Self::Kept(file) => file,
        }
    }
}

/// A kernel that has been made ready.
pub(super) struct Prepared {
    pub(super) layout: KernelLayout,
    pub(super) kernel: Kernel,
    /// The same for the reference interpreter, if launches are to be made there too.
    pub(super) reference: Option<(KernelLayout, Kernel)>,
}

/// A module in memory.
pub(super) struct Loaded<'d> {
    pub(super) ptx: ModuleFile<'d>,
    pub(super) image: Image,
    /// Addresses of the variables that were allocated for it.
    own: Vec<u64>,
    /// For the reference interpreter: the module as it was written, where kernels have been virtualised.
    original: Option<Image>,
    pub(super) kernels: BTreeMap<String, Prepared>,
    /// By the names of the `.texref` and `.surfref` variables they are bound to.
    textures: Arc<Vec<(String, Texture)>>,
}

/// Where a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Constant or global memory.
    pub space: Space,
    /// Offset in the constants of its module, or address.
    pub at: u64,
    /// Bytes.
    pub size: u64,
}

/// What is said of a module that was removed.
pub(super) fn gone() -> Problem {
    Problem::new("its module has been unloaded")
}

impl Loaded<'_> {
    /// Where a variable is that must hold so many bytes.
    fn variable(&self, name: &str, bytes: u64) -> Result<Place, Problem> {
        let vars = &self.image.module.vars;
        let is_one = |space| matches!(space, Space::Const | Space::Global);
        let found = vars.iter().enumerate().filter(|(_, v)| v.owner.is_none() && is_one(v.space));
        let mut names = found.clone().map(|(_, v)| v.name.as_str());
        for (i, var) in found.filter(|(_, v)| v.name == name) {
            let Some(at) = self.image.address(VarId(i as u32)) else { continue };
            if bytes > var.size {
                return Err(Problem::new(format!("variable `{name}` has {} bytes, not {bytes}", var.size)));
            }
            return Ok(Place { space: var.space, at, size: var.size });
        }
        let problem = Problem::new(format!("{} has no variable `{name}`", self.ptx.path));
        Err(match raddle_ptx::diag::closest(name, &mut names) {
            Some(close) => problem.help(format!("did you mean `{close}`?")),
            None => problem,
        })
    }

    /// Makes a kernel ready, unless it is.
    pub(super) fn prepare(&mut self, name: &str, options: &RunOptions) -> Result<&Prepared, Error> {
        if !self.kernels.contains_key(name) {
            let name = self.ptx.kernel(Some(name))?;
            let layout = self.image.kernel(name)?;
            let kernel = Kernel::new(&self.image, &layout, &options.engine)?;
            let slow = EngineOptions { engine: Engine::Reference, warp_width: options.warp_width() };
            let reference = match &self.original {
                Some(image) => {
                    let layout = image.kernel(name)?;
                    let kernel = Kernel::new(image, &layout, &slow)?;
                    Some((layout, kernel))
                }
                None => None,
            };
            self.kernels.insert(name.to_owned(), Prepared { layout, kernel, reference });
        }
        Ok(&self.kernels[name])
    }

    /// Writes constants, also those that kernels have been made ready with.
    fn write_constants(&mut self, at: usize, bytes: &[u8]) {
        let images = [Some(&mut self.image), self.original.as_mut()].into_iter().flatten();
        let kernels = self.kernels.values_mut();
        let kernels = kernels.flat_map(|k| [Some(&mut k.kernel), k.reference.as_mut().map(|r| &mut r.1)]).flatten();
        for image in images.chain(kernels.map(Kernel::image_mut)) {
            image.const_bank[at..][..bytes.len()].copy_from_slice(bytes);
        }
    }
}

impl<'d> Device<'d> {
    /// Loads one more module.
    ///
    /// # Errors
    /// When a variable is too large.
    pub fn add_module(&mut self, ptx: &'d PtxFile) -> Result<ModuleId, Error> {
        self.add(ModuleFile::Lent(ptx), &BTreeMap::new())
    }

    /// As above for a file that only the device keeps, with some of its global variables, by name, at addresses where there is
    /// memory for them.
    ///
    /// # Errors
    /// When a variable is too large.
    pub fn keep_module(&mut self, ptx: PtxFile, placed: &BTreeMap<String, u64>) -> Result<ModuleId, Error> {
        self.add(ModuleFile::Kept(Arc::new(ptx)), placed)
    }

    fn add(&mut self, ptx: ModuleFile<'d>, placed: &BTreeMap<String, u64>) -> Result<ModuleId, Error> {
        let image = Image::load_placed(ptx.module.clone(), &mut self.memory, placed)?;
        let original = match &mut self.shadow {
            Some(shadow) => {
                let module = ptx.original.as_ref().unwrap_or(&ptx.module);
                Some(Image::load(module.clone(), &mut shadow.memory)?)
            }
            None => None,
        };
        let is_own = |(_, v): &(usize, &Var)| {
            v.owner.is_none() && matches!(v.space, Space::Global | Space::Tex) && !placed.contains_key(&v.name)
        };
        let own = ptx.module.vars.iter().enumerate().filter(is_own);
        let own = own.filter_map(|(i, _)| image.address(VarId(i as u32))).collect();
        let id = self.next_module;
        self.next_module += 1;
        let (kernels, textures) = (BTreeMap::new(), Arc::default());
        self.modules.insert(id, Loaded { ptx, image, own, original, kernels, textures });
        Ok(ModuleId(id))
    }

    /// Takes a module from the device: its variables are freed, but for those that were placed, and its kernels can be
    /// launched no more. Nothing happens to one that is gone.
    ///
    /// # Errors
    /// When there are checkpoints or a check.
    pub fn remove_module(&mut self, id: ModuleId) -> Result<(), Error> {
        let own = self.modules.get(&id.0).map_or_else(Vec::new, |loaded| loaded.own.clone());
        let memory = self.memory_mut()?;
        for address in own {
            memory.free(address);
        }
        self.modules.remove(&id.0);
        Ok(())
    }

    /// Whether a module is on the device.
    #[must_use]
    pub fn has_module(&self, id: ModuleId) -> bool {
        self.modules.contains_key(&id.0)
    }

    /// A module, if it is there.
    pub(super) fn loaded(&mut self, id: ModuleId) -> Result<&mut Loaded<'d>, Problem> {
        self.modules.get_mut(&id.0).ok_or_else(gone)
    }

    fn find_module(&self, id: ModuleId) -> Result<&Loaded<'d>, Problem> {
        self.modules.get(&id.0).ok_or_else(gone)
    }

    pub(super) fn module(&self, id: ModuleId) -> &Loaded<'d> {
        &self.modules[&id.0]
    }

    /// The textures that are bound to variables of a module.
    pub(crate) fn textures(&self, id: ModuleId) -> Result<&Arc<Vec<(String, Texture)>>, Problem> {
        Ok(&self.find_module(id)?.textures)
    }

    pub(crate) fn textures_mut(&mut self, id: ModuleId) -> Result<&mut Arc<Vec<(String, Texture)>>, Problem> {
        Ok(&mut self.loaded(id)?.textures)
    }

    /// The file of a module.
    ///
    /// # Errors
    /// When the module is gone.
    pub fn module_file(&self, id: ModuleId) -> Result<ModuleFile<'d>, Error> {
        Ok(self.find_module(id)?.ptx.clone())
    }

    /// The layout of a kernel: its parameters, and what it takes.
    ///
    /// # Errors
    /// When there is no such kernel, or it cannot be run.
    pub fn layout(&mut self, module: ModuleId, kernel: &str) -> Result<&KernelLayout, Error> {
        let setup = self.setup;
        Ok(&self.loaded(module)?.prepare(kernel, &setup.options)?.layout)
    }

    /// Where a module's `.const` or `.global` variable is.
    ///
    /// # Errors
    /// When there is no such variable.
    pub fn place(&self, module: ModuleId, name: &str) -> Result<Place, Error> {
        Ok(self.find_module(module)?.variable(name, 0)?)
    }

    /// Writes into the constants of a module.
    ///
    /// # Panics
    /// When the module is gone.
    pub fn write_constants(&mut self, module: ModuleId, at: u64, bytes: &[u8]) {
        self.modules.get_mut(&module.0).expect("the module is there").write_constants(at as usize, bytes);
    }

    /// The constants of a module.
    ///
    /// # Panics
    /// When the module is gone.
    #[must_use]
    pub fn constants(&self, module: ModuleId) -> &[u8] {
        &self.module(module).image.const_bank
    }

    /// Writes the start of a `.const` or `.global` variable of the module the device was made with.
    ///
    /// # Errors
    /// When there is no such variable, or it is too small.
    pub fn set_variable<T: Value>(&mut self, name: &str, values: &[T]) -> Result<(), Error> {
        let bytes = to_bytes(values);
        let Place { space, at, .. } = self.module(ModuleId::FIRST).variable(name, bytes.len() as u64)?;
        self.act("set", &[u64::from(space == Space::Const), at], &bytes);
        if space == Space::Const {
            self.write_constants(ModuleId::FIRST, at, &bytes);
            return Ok(());
        }
        for memory in self.memories() {
            memory.write(at, &bytes).map_err(|e| Problem::new(e.to_string()))?;
        }
        Ok(())
    }

    /// The values of a `.const` or `.global` variable of the module the device was made with.
    ///
    /// # Errors
    /// When there is no such variable.
    pub fn variable_values<T: Value>(&self, name: &str) -> Result<Vec<T>, Error> {
        let Place { space, at, size } = self.module(ModuleId::FIRST).variable(name, 0)?;
        let size = size as usize;
        if space == Space::Const {
            return Ok(from_bytes(&self.module(ModuleId::FIRST).image.const_bank[at as usize..][..size]));
        }
        let mut bytes = vec![0; size];
        self.memory.read(at, &mut bytes).map_err(|e| Problem::new(e.to_string()))?;
        Ok(from_bytes(self.read(at, &bytes)))
    }

    /// Memory, and the reference interpreter's.
    pub(super) fn memories(&mut self) -> impl Iterator<Item = &mut DeviceMemory> {
        [Some(&mut self.memory), self.shadow.as_mut().map(|s| &mut s.memory)].into_iter().flatten()
    }
}
