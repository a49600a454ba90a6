//! Devices, their memory, modules and launches.

use crate::error;
use crate::machine::Machine;
use crate::run::Run;
use crate::trouble::{Trouble, refuse_callbacks};
use crate::workload::options;
use numpy::{PyReadonlyArray1, PyReadwriteArray1};
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use raddle_cli::embed;
use raddle_ptx::ir::Space;
use raddle_runtime::device::{Arg, ModuleId, RunOptions, Setup, Shape};
use raddle_runtime::issue_record::IssueRecord;
use raddle_runtime::timing::Watch;
use raddle_runtime::{Element, Error, Problem, PtxFile};
use self_cell::self_cell;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

/// Bytes that were compared, how many differ, and the first of those: its buffer and its place there.
type Difference = (u64, u64, Option<(String, usize)>);

/// A kernel's symbol, its readable name, and the type and name of each parameter.
type KernelNames = (String, String, Vec<(String, String)>);

/// The modules of a device, one behind another: each stays where it is.
#[derive(Default)]
struct Files(OnceLock<Box<(Arc<PtxFile>, Self)>>);

impl Files {
    fn add(&self, file: Arc<PtxFile>) -> &PtxFile {
        let mut last = self;
        while let Some(next) = last.0.get() {
            last = &next.1;
        }
        &last.0.get_or_init(|| Box::new((file, Self::default()))).0
    }
}

/// What a device refers to.
struct Ground {
    setup: Setup,
    files: Files,
}

type Simulated<'a> = raddle_runtime::Device<'a>;

self_cell!(
    struct Seat {
        owner: Ground,
        #[not_covariant]
        dependent: Simulated,
    }
);

/// A device, and why it launches nothing any more, if it does not.
struct Inner {
    seat: Seat,
    broken: Option<String>,
    modules: Vec<ModuleId>,
}

/// A simulated GPU with its memory.
#[pyclass(frozen, module = "raddle._raddle")]
pub struct Device {
    inner: Mutex<Inner>,
    machine: Py<Machine>,
    trouble: Trouble,
    is_timed: bool,
    /// Instructions of each launch that are recorded for a picture of lanes.
    columns: usize,
    /// The process that made it: a fork has its memory but not what other threads had begun.
    process: u32,
}

/// A module on a device.
#[pyclass(frozen, module = "raddle._raddle")]
pub struct Module {
    #[pyo3(get)]
    device: Py<Device>,
    id: usize,
    ptx: Arc<PtxFile>,
    cuda: Option<(String, String)>,
}

/// An argument of a launch.
enum Given {
    /// A value, or a pointer.
    Value(Arg),
    /// Bytes of an array of the host, and whether what the kernel writes to them is given back.
    Bytes(Vec<u8>, bool),
    /// The same array as an earlier argument.
    Same(usize),
}

/// An argument as the Python half hands it over: a number, bytes of a structure, a typed number or address as
/// `(type, bits)`, an array as `(bytes, is_written)`, or the same array as argument `n` as `(n,)`. The bytes are a copy:
/// memory of an array may move or go away while the kernel runs.
fn given(value: &Bound<'_, PyAny>) -> PyResult<Given> {
    if value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() {
        return Ok(Given::Value(Arg::number(value.str()?.to_string())));
    }
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Given::Value(Arg::bytes(bytes.as_bytes().to_vec())));
    }
    if let Ok((same,)) = value.extract::<(usize,)>() {
        return Ok(Given::Same(same));
    }
    let (first, second): (Bound<'_, PyAny>, Bound<'_, PyAny>) = value.cast::<PyTuple>()?.extract()?;
    if let Ok(name) = first.extract::<String>() {
        let element = Element::from_name(&name).map_err(|error| PyTypeError::new_err(error.to_string()))?;
        return Ok(Given::Value(Arg::bits(element, second.extract()?)));
    }
    Ok(Given::Bytes(first.cast::<PyBytes>()?.as_bytes().to_vec(), second.extract()?))
}

/// Device memory for arrays of the host, for one launch.
fn put(device: &mut Simulated<'_>, arrays: &[(usize, Vec<u8>)]) -> Result<Vec<u64>, Error> {
    let mut addresses = Vec::new();
    for (number, bytes) in arrays {
        match device.alloc_at(&format!("argument {}", number + 1), bytes.len() as u64) {
            Ok(address) => addresses.push(address),
            Err(error) => {
                for address in addresses {
                    device.free_at(address);
                }
                return Err(error);
            }
        }
        if let Some(address) = addresses.last() {
            device.write_at(*address, bytes)?;
        }
    }
    Ok(addresses)
}

/// A launch as it is asked for.
struct Asked<'a> {
    module: ModuleId,
    kernel: &'a str,
    shape: Shape,
    args: Vec<Arg>,
    /// Arrays of the host, by number of the argument.
    arrays: Vec<(usize, Vec<u8>)>,
    /// Arguments that are the array of another one.
    same: Vec<(usize, usize)>,
}

impl Asked<'_> {
    /// Makes the launch; arrays of the host then have what the kernel left in them.
    fn make(&mut self, device: &mut Simulated<'_>, record: Option<&mut IssueRecord>) -> Result<(), Error> {
        let addresses = put(device, &self.arrays)?;
        for ((number, _), address) in self.arrays.iter().zip(&addresses) {
            self.args[*number] = Arg::from(*address);
        }
        for (number, other) in &self.same {
            self.args[*number] = self.args[*other].clone();
        }
        let mut watch = record.map(|record| Watch { observer: Some(record), progress: None });
        let mut result = device.launch_in(self.module, self.kernel, self.shape, &self.args, watch.as_mut());
        for ((_, bytes), address) in self.arrays.iter_mut().zip(&addresses) {
            result = result.and(device.read_at(*address, bytes));
            device.free_at(*address);
        }
        result
    }
}

impl Device {
    /// Calls a function with the device, without the lock of the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&Ground, &mut Simulated<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        self.check()?;
        py.detach(|| {
            let mut inner = self.trouble.lock(&self.inner)?;
            inner.seat.with_dependent_mut(|ground, device| call(ground, device)).map_err(error::of)
        })
    }

    fn check(&self) -> PyResult<()> {
        refuse_callbacks()?;
        if self.process != std::process::id() {
            let text = "this device was made before the process was forked; make a new one in the new process";
            return Err(PyRuntimeError::new_err(text));
        }
        Ok(())
    }
}

/// Why a device launches nothing any more, after this ended a launch; nothing where it goes on.
fn breaks(error: &Error) -> Option<&'static str> {
    match error {
        Error::Stopped { .. } => Some("a kernel did not complete"),
        Error::Interrupted { .. } => Some("a launch was interrupted"),
        _ => None,
    }
}

#[pymethods]
impl Device {
    #[new]
    #[pyo3(signature = (machine, engine, threads, profile, check, columns))]
    fn new(
        py: Python<'_>,
        machine: Py<Machine>,
        engine: &str,
        threads: usize,
        profile: bool,
        check: bool,
        columns: usize,
    ) -> PyResult<Self> {
        let of = machine.get();
        let trouble = Trouble::default();
        let options = options(of, engine, threads, profile, &trouble)?;
        let is_timed = options.timing.is_some();
        let setup = Setup::with_registry(RunOptions { check, ..options }, Arc::clone(&of.registry));
        let ground = Ground { setup, files: Files::default() };
        let open = || Seat::try_new(ground, |ground| Simulated::open(&ground.setup, true));
        let opened = py.detach(|| trouble.during(open));
        trouble.raise()?;
        let seat = opened.map_err(error::of)?;
        let inner = Mutex::new(Inner { seat, broken: None, modules: Vec::new() });
        Ok(Self { inner, machine, trouble, is_timed, columns, process: std::process::id() })
    }

    /// Loads the kernels of PTX text, or of the CUDA file at a path, which may be in a folder that nobody needs to know.
    #[pyo3(signature = (name, ptx, cuda, folder=None))]
    fn load(
        slf: Py<Self>,
        py: Python<'_>,
        name: &str,
        ptx: Option<String>,
        cuda: Option<String>,
        folder: Option<&str>,
    ) -> PyResult<Module> {
        let this = slf.get();
        this.check()?;
        let (ptx, id) = py.detach(|| {
            let file = match (ptx, folder) {
                (Some(text), _) => PtxFile::parse(name, text),
                (None, Some(folder)) => embed::compile_in(Path::new(folder), Path::new(name)),
                (None, None) => embed::compile(Path::new(name)),
            };
            let file = Arc::new(file.map_err(error::of)?);
            let mut inner = this.trouble.lock(&this.inner)?;
            let added =
                inner.seat.with_dependent_mut(|ground, device| device.add_module(ground.files.add(Arc::clone(&file))));
            inner.modules.push(added.map_err(error::of)?);
            Ok::<_, PyErr>((file, inner.modules.len() - 1))
        })?;
        let cuda = cuda.map(|text| (name.to_owned(), text));
        Ok(Module { device: slf, id, ptx, cuda })
    }

    /// Allocates bytes, and gives their address.
    fn alloc(&self, py: Python<'_>, name: &str, bytes: u64) -> PyResult<u64> {
        self.with(py, |_, device| device.alloc_at(name, bytes))
    }

    /// Frees the allocation at an address.
    fn free(&self, py: Python<'_>, address: u64) -> PyResult<bool> {
        self.with(py, |_, device| Ok(device.free_at(address)))
    }

    /// Copies bytes to an address.
    fn write(&self, py: Python<'_>, address: u64, bytes: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let bytes = bytes.as_slice()?.to_vec();
        self.with(py, |_, device| device.write_at(address, &bytes))
    }

    /// Copies bytes from an address.
    fn read(&self, py: Python<'_>, address: u64, mut into: PyReadwriteArray1<'_, u8>) -> PyResult<()> {
        let mut bytes = vec![0; into.as_slice()?.len()];
        let bytes = self.with(py, |_, device| device.read_at(address, &mut bytes).map(|()| bytes))?;
        into.as_slice_mut()?.copy_from_slice(&bytes);
        Ok(())
    }

    /// Bytes of memory compared with the reference interpreter's, those that differ, and the first place that does.
    fn compare(&self, py: Python<'_>) -> PyResult<Option<Difference>> {
        let check = self.with(py, |_, device| Ok(device.check()))?;
        Ok(check.map(|check| (check.bytes, check.wrong, check.first.map(|first| (first.name, first.offset)))))
    }

    /// Whether it will launch anything, or why not.
    fn broken(&self, py: Python<'_>) -> PyResult<Option<String>> {
        py.detach(|| Ok(self.trouble.lock(&self.inner)?.broken.clone()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.machine)
    }

    /// Cycles, and whatever else a machine has.
    #[getter]
    fn machine(&self, py: Python<'_>) -> Py<Machine> {
        self.machine.clone_ref(py)
    }
}

/// The bytes of an array that a kernel may have written, with the number of the argument.
type Written<'py> = (usize, Bound<'py, PyBytes>);

#[pymethods]
impl Module {
    /// Symbol, name as in the source and parameters of every kernel.
    fn kernels(&self) -> Vec<KernelNames> {
        let module = &self.ptx.module;
        let param = |var: &raddle_ptx::ir::VarId| {
            let var = module.var(*var);
            (var.ty.name().to_owned(), var.name.clone())
        };
        let kernel = |name: &String, params: &[raddle_ptx::ir::VarId]| {
            (name.clone(), embed::short_name(name), params.iter().map(param).collect())
        };
        module.kernels().map(|(_, func)| kernel(&func.name, &func.params)).collect()
    }

    /// The text in PTX.
    #[getter]
    fn ptx(&self) -> &str {
        &self.ptx.source
    }

    /// Constant or global space, address and size of a variable.
    fn variable(&self, py: Python<'_>, name: &str) -> PyResult<(bool, u64, u64)> {
        let device = self.device.get();
        let id = device.module(py, self.id)?;
        let place = device.with(py, |_, device| device.place(id, name))?;
        Ok((place.space == Space::Const, place.at, place.size))
    }

    /// Writes bytes to a constant variable of this module.
    fn write_constant(&self, py: Python<'_>, at: u64, bytes: Vec<u8>) -> PyResult<()> {
        let device = self.device.get();
        let id = device.module(py, self.id)?;
        device.with(py, |_, device| {
            device.write_constants(id, at, &bytes);
            Ok(())
        })
    }

    /// Reads bytes of a constant variable of this module.
    fn read_constant<'py>(&self, py: Python<'py>, at: u64, size: u64) -> PyResult<Bound<'py, PyBytes>> {
        let device = self.device.get();
        let id = device.module(py, self.id)?;
        let bytes =
            device.with(py, |_, device| Ok(device.constants(id)[at as usize..(at + size) as usize].to_vec()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.device)
    }

    /// Launches a kernel, waits for its end and gives what was counted, or the exception with which it ended, and the bytes
    /// of the arrays it may have written, by number of the argument.
    fn launch<'py>(
        &self,
        py: Python<'py>,
        kernel: &str,
        grid: [u32; 3],
        block: [u32; 3],
        shared: u32,
        args: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, Vec<Written<'py>>)> {
        let device = self.device.get();
        device.check()?;
        let (mut values, mut arrays, mut same, mut written) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (number, arg) in args.iter().enumerate() {
            match given(arg)? {
                Given::Value(value) => values.push(value),
                // Where an array will be is known when there is memory for it.
                Given::Same(other) => {
                    values.push(Arg::number("0".to_owned()));
                    same.push((number, other));
                }
                Given::Bytes(bytes, is_written) => {
                    values.push(Arg::number("0".to_owned()));
                    arrays.push((number, bytes));
                    written.extend(is_written.then_some(number));
                }
            }
        }
        let shape = Shape { grid, block, shared };
        let (result, launched, record, arrays) = py.detach(|| {
            let mut inner = device.trouble.lock(&device.inner)?;
            let Inner { seat, broken, modules } = &mut *inner;
            let mut asked = Asked { module: modules[self.id], kernel, shape, args: values, arrays, same };
            let mut record = (device.columns > 0 && device.is_timed).then(|| IssueRecord::new(None, 0, device.columns));
            if let Some(why) = broken {
                let problem = Problem::new(format!("{why} on this device before; make a new one"));
                return Err(error::problem(problem));
            }
            let (result, launched) = seat.with_dependent_mut(|_, simulated| {
                let result = device.trouble.during(|| asked.make(simulated, record.as_mut()));
                (result, simulated.take_launches())
            });
            *broken = result.as_ref().err().and_then(breaks).map(str::to_owned);
            // While no other thread can launch here: the exception is of this launch.
            device.trouble.raise()?;
            Ok((result, launched, record, asked.arrays))
        })?;
        let arrays = arrays.into_iter().filter(|(number, _)| written.contains(number));
        let arrays = arrays.map(|(number, bytes)| (number, PyBytes::new(py, &bytes))).collect();
        let wrong = match (result, launched.last().and_then(|last| last.stop.as_ref())) {
            (Err(_), Some(stop)) => Some(error::stopped(py, &embed::short_name(kernel), stop, &self.ptx)),
            (Err(other), None) => Some(error::of(other)),
            (Ok(()), _) => None,
        };
        if let Some(wrong) = wrong {
            return Ok((wrong.into_value(py).into_bound(py).into_any(), arrays));
        }
        let machine = device.is_timed.then(|| Arc::clone(&device.machine.get().machine));
        let (ptx, cuda) = (Arc::clone(&self.ptx), self.cuda.clone());
        let run = Run { launches: launched, ptx, cuda, machine, record, checked: 0 };
        Ok((Bound::new(py, run)?.into_any(), arrays))
    }
}

impl Device {
    /// A module by its number.
    fn module(&self, py: Python<'_>, id: usize) -> PyResult<ModuleId> {
        self.check()?;
        py.detach(|| Ok(self.trouble.lock(&self.inner)?.modules[id]))
    }
}
