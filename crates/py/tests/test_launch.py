"""Launches, and arrays of every type and layout."""

import numpy as np
import pytest
from conftest import COPY, STORE, TWICE

import raddle

DTYPES = [
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64",
    "longdouble", "complex64", "complex128", "datetime64[s]", "timedelta64[s]", "S5", "U3", "i4,f8",
]  # fmt: skip


def test_a_launch_changes_arrays_of_the_host(gpu, words):
    run = gpu.compile(TWICE).twice[3, 128](words, 300)
    assert (words == 2 * np.arange(300)).all()
    assert run.cycles > 0 and run.launches == 1 and run.thread_insts > 300
    assert run.counters["sm.warp_insts"] == run.warp_insts
    assert sum(run.slots.values()) == run.counters["cycles"] * 2 * 2, "every slot of two SMs has one use"
    assert set(run.stalls) <= set(run.slots)
    assert 0 < run.ipc and 0 < run.simd_efficiency <= 1 and run.time > 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type(fast, dtype):
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(1)
    source = rng.integers(0, 256, 40 * dtype.itemsize, dtype=np.uint8).view(dtype)
    target = np.zeros(40, dtype)
    fast.compile(COPY).copy[dtype.itemsize, 40](target, source, source.nbytes)
    assert target.tobytes() == source.tobytes()


def layouts():
    base = np.arange(24, dtype=np.uint32)
    big = np.arange(96, dtype=np.uint32)
    read_only = base.copy()
    read_only.flags.writeable = False
    return {
        "flat": base,
        "rows": base.reshape(4, 6).copy(),
        "columns": np.asfortranarray(base.reshape(4, 6)),
        "transposed": base.reshape(4, 6).copy().T,
        "strided": big[::4],
        "reversed": base.copy()[::-1],
        "part": big.reshape(8, 12)[1:5, 2:8],
        "broadcast": np.broadcast_to(base, (2, 24)),
        "scalar": np.array(7, np.uint32),
        "empty": np.empty(0, np.uint32),
        "no rows": np.empty((0, 3), np.uint32),
        "read-only": read_only,
        "many dimensions": base.reshape(1, 2, 3, 1, 4).copy(),
    }


@pytest.mark.parametrize("name", layouts())
def test_every_layout(fast, name):
    array = layouts()[name]
    before, writeable = array.copy(), array.flags.writeable
    fast.compile(TWICE).twice[1, 64](array, array.size)
    assert (array == (2 * before if writeable else before)).all()


def test_numbers_have_the_types_of_the_kernel(fast):
    store = fast.compile(STORE).store[1, 1]
    out = np.zeros(24, np.uint8)
    store(out, 7, 1.5, 2.5, 1 << 40)
    kinds = (out[:4].view("u4")[0], out[4:8].view("f4")[0], out[8:16].view("f8")[0], out[16:].view("u8")[0])
    assert kinds == (7, 1.5, 2.5, 1 << 40)
    store(out, np.uint32(9), np.float32(0.1), np.float64(0.1), np.uint64(3))
    assert out[4:8].view("f4")[0] == np.float32(0.1) and out[:4].view("u4")[0] == 9
    store(out, True, 3, 4, np.int64(-1))
    assert out[16:].view("i8")[0] == -1 and out[4:8].view("f4")[0] == 3


@pytest.mark.parametrize(
    "args, text",
    [
        ((np.zeros(3, np.uint32),), "too few arguments"),
        ((np.zeros(3, np.uint32), 3, 4), "arguments"),
        ((np.zeros(3, np.uint32), 1.5), "not an integer"),
        ((np.zeros(3, np.uint32), -1 << 40), "u32"),
        ((np.zeros(3, np.uint32), np.zeros(3)), "u32"),
        ((np.zeros(3, np.uint32), np.float32(3)), "u32"),
    ],
)
def test_wrong_arguments_are_refused(fast, args, text):
    with pytest.raises(raddle.Error, match=text):
        fast.compile(TWICE).twice[1, 32](*args)
    words = np.ones(3, np.uint32)
    fast.compile(TWICE).twice[1, 32](words, 3)
    assert (words == 2).all(), "the device still works"


@pytest.mark.parametrize(
    "value, text",
    [
        ([1, 2], "make an array"),
        (np.array([object()]), "Python objects"),
        (np.arange(4, dtype=">u4"), "another order"),
        (None, "NoneType"),
        ("text", "make an array"),
        (np.str_("a"), "scalar"),
    ],
)
def test_what_is_no_argument(fast, value, text):
    with pytest.raises(TypeError, match=text):
        fast.compile(TWICE).twice[1, 32](value, 3)


@pytest.mark.parametrize(
    "shape, error",
    [
        ((0, 32), ValueError),
        ((1, 0), ValueError),
        ((1, -1), ValueError),
        ((1.5, 32), TypeError),
        ((True, 32), TypeError),
        (((1, 1, 1, 1), 32), ValueError),
        (((), 32), ValueError),
        ((1, 2048), raddle.Error),
        (((1, 1 << 20), 32), raddle.Error),
        ((1, 32, -1), TypeError),
        ((1, 32, 1 << 30), raddle.Error),
        ((1 << 40, 32), ValueError),
    ],
)
def test_wrong_shapes_are_refused(fast, shape, error):
    with pytest.raises(error):
        fast.compile(TWICE).twice[shape](np.zeros(3, np.uint32), 3)


def test_a_launch_needs_a_shape(fast):
    twice = fast.compile(TWICE).twice
    with pytest.raises(TypeError, match="how many threads"):
        twice(np.zeros(3, np.uint32), 3)
    with pytest.raises(TypeError, match="grid, block"):
        twice[64]


def test_the_same_array_twice_is_one_array(fast):
    words = np.arange(64, dtype=np.uint8)
    fast.compile(COPY).copy[1, 64](words, words, 64)
    assert (words == np.arange(64)).all()
    with pytest.raises(ValueError, match="overlap"):
        fast.compile(COPY).copy[1, 32](words[1:33], words[:32], 32)


def test_arrays_on_the_device(gpu, words):
    array = gpu.array(words)
    twice = gpu.compile(TWICE).twice[3, 128]
    twice(array, 300)
    twice(array, 300)
    assert (array.numpy() == 4 * words).all() and (np.asarray(array) == 4 * words).all()
    assert len(array) == 300 and array.shape == (300,) and array.dtype == np.uint32
    twice(np.uint64(array.address + 4 * 299), 1)
    assert array.numpy()[-1] == 8 * 299
    array.set(5)
    assert (np.from_dlpack(array) == 5).all()


def test_freed_arrays_are_refused(gpu, words):
    array = gpu.array(words)
    array.free()
    for use in (array.numpy, array.free, lambda: array.set(1), lambda: gpu.compile(TWICE).twice[1, 1](array, 1)):
        with pytest.raises(ValueError, match="freed"):
            use()
    address = gpu.array(words).address
    gpu.zeros(3)
    with pytest.raises(raddle.KernelError, match="freed"):
        gpu.compile(TWICE).twice[1, 1](np.uint64(address), 1)


def test_memory_of_arrays_that_are_gone_is_freed(fast):
    for _ in range(40):
        fast.empty(1 << 28, np.uint8)
    with pytest.raises(raddle.Error, match="bytes"):
        fast.empty(1 << 40, np.uint8)
    with pytest.raises(TypeError, match="objects"):
        fast.empty(3, object)
    with pytest.raises(ValueError, match="shape"):
        fast.empty(-1)


def test_arrays_of_another_device_are_refused(machine, gpu, words):
    other = machine.device()
    with pytest.raises(ValueError, match="another device"):
        gpu.compile(TWICE).twice[1, 32](other.array(words), 3)


def test_faults_name_the_place_and_end_the_device(gpu):
    module = gpu.compile(TWICE)
    with pytest.raises(raddle.KernelError, match="argument 1") as caught:
        module.twice[1, 32](np.zeros(3, np.uint32), 32)
    assert caught.value.kind == "fault"
    with pytest.raises(raddle.Error, match="make a new one"):
        module.twice[1, 32](np.zeros(32, np.uint32), 32)


def test_errors_in_ptx_have_their_line(gpu):
    with pytest.raises(raddle.CompileError, match=r"bad\.ptx:5"):
        gpu.compile(TWICE.replace(".visible", "visible"), name="bad.ptx")
    with pytest.raises(FileNotFoundError):
        gpu.compile("there_is_no.ptx")


def test_kernels_by_name(gpu):
    module = gpu.compile(TWICE + COPY.replace(".version 6.0\n.target sm_50\n.address_size 64\n", ""))
    assert list(module.kernels) == ["twice", "copy"] and "twice" in dir(module)
    assert module["copy"].parameters[2] == ("u32", "n")
    with pytest.raises(AttributeError, match="it has twice, copy"):
        module.thrice


def test_memory_is_compared_with_the_reference_interpreter(machine, words):
    gpu = machine.device(check=True)
    gpu.compile(TWICE).twice[3, 128](words, 300)
    array = gpu.array(words)
    gpu.compile(COPY).copy[10, 128](array, words, 1200)
    gpu.check()
    with pytest.raises(raddle.Error, match="check=True"):
        machine.device().check()


def test_what_notebooks_show(gpu, words):
    run = gpu.compile(TWICE, name="twice.ptx").twice[3, 128](words, 300)
    html = run._repr_html_()
    assert "<svg" in html and "issued" in html and "cycles" in html
    assert run.lanes().svg.startswith("<svg") and "PTX line" in repr(run.lines())
    lines = run.lines()
    assert len(lines) == len(list(lines)) > 5 and sum(line["slots"] for line in lines) > 0
    assert "cycles" in repr(run) and run.json()[0]["kernel"] == "twice"
    with pytest.raises(raddle.Error, match="profile"):
        raddle.Machine().device(profile=False).compile(TWICE).twice[1, 1](words, 1).lines()


def test_variables(gpu):
    source = TWICE + ".visible .global .align 4 .b8 here[8];\n.visible .const .align 4 .b8 there[8];\n"
    module = gpu.compile(source)
    for name in ("here", "there"):
        module.set_variable(name, [1.5, 2.5], np.float32)
        assert (module.variable(name, np.float32) == [1.5, 2.5]).all()
        with pytest.raises(ValueError, match="8 bytes"):
            module.set_variable(name, np.zeros(3, np.float32))
    with pytest.raises(raddle.Error, match="no variable"):
        module.variable("nowhere")


def test_counters_that_are_not_there(gpu, words):
    counters = gpu.compile(TWICE).twice[1, 32](words, 3).counters
    assert counters["sm.stall_barrier"] == 0
    with pytest.raises(KeyError, match="did you mean 'sm.warp_insts'"):
        counters["sm.warp_inst"]
