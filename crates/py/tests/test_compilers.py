"""Kernels that compilers of Python made: the PTX in `examples/triton` and `examples/numba`, on NumPy arrays."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import raddle

EXAMPLES = Path(__file__).parents[3] / "examples"

#: The size of the blocks that Triton compiled for.
THREADS = 128


@pytest.fixture(scope="module")
def ampere() -> raddle.Machine:
    return raddle.Machine("rtx3070", set={"gpu.sms": 2})


@pytest.fixture(params=["timing", "fast"])
def gpu(ampere: raddle.Machine, request: pytest.FixtureRequest) -> raddle.Device:
    return ampere.device(engine=request.param, check=True)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def launch(gpu: raddle.Device, name: str, grid, shared: int, *args) -> raddle.Run:
    """Launches one of Triton's kernels. The last two parameters are scratch memory, which none of them needs."""
    kernel = gpu.compile(EXAMPLES / "triton" / f"{name}.ptx")[name]
    run = kernel[grid, THREADS, shared](*args, 0, 0)
    gpu.check()
    return run


def test_vector_add(gpu, rng):
    x, y, out = rng.random(1000, np.float32), rng.random(1000, np.float32), np.zeros(1000, np.float32)
    launch(gpu, "vector_add", 4, 0, x, y, out, 1000)
    assert (out == x + y).all()


def test_softmax(gpu, rng):
    x = rng.normal(size=(5, 300)).astype(np.float32)
    out = np.zeros_like(x)
    launch(gpu, "softmax", 5, 16, x, out, 300, 300)
    expected = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(out, expected / expected.sum(axis=1, keepdims=True), rtol=1e-5)


def test_layer_norm(gpu, rng):
    x = rng.normal(2, 3, size=(3, 700)).astype(np.float32)
    weight, bias = rng.random(700, np.float32), rng.random(700, np.float32)
    out = np.zeros_like(x)
    launch(gpu, "layer_norm", 3, 16, x, weight, bias, out, 700, 1e-5)
    wide = x.astype(np.float64)
    expected = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(wide.var(axis=1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(out, expected * weight + bias, rtol=1e-4, atol=1e-5)


def test_histogram(gpu, rng):
    values, counts = rng.integers(0, 64, 2000, dtype=np.int32), np.zeros(64, np.int32)
    launch(gpu, "histogram", 4, 0, values, counts, 2000)
    assert (counts == np.bincount(values, minlength=64)).all()


def test_prefix_sum(gpu, rng):
    x = rng.integers(-1000, 1000, (3, 400), dtype=np.int32)
    out = np.zeros_like(x)
    launch(gpu, "prefix_sum", 3, 64, x, out, 400)
    assert (out == x.cumsum(axis=1)).all()


def test_matmul(gpu, rng):
    m, n, k = 50, 70, 90
    a, b = rng.normal(size=(m, k)).astype(np.float16), rng.normal(size=(k, n)).astype(np.float16)
    c = np.zeros((m, n), np.float32)
    launch(gpu, "matmul", (2, 3), 4096, a, b, c, m, n, k, k, n, n)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-4, atol=1e-4)


def test_the_launch_file(ampere):
    run = ampere.run(EXAMPLES / "triton" / "prefix_sum.toml")
    assert run.checked == 1 and run.cycles > 0


class Compiled:
    """What `triton.compile` returns, as far as `Device.compile` looks at it."""

    def __init__(self, name: str, shared: int, **scratch: int) -> None:
        text = (EXAMPLES / "triton" / f"{name}.ptx").read_text(encoding="utf-8")
        self.asm = {"ttir": "", "ptx": text}
        self.metadata = SimpleNamespace(name=name, num_warps=THREADS // 32, shared=shared, **scratch)


def test_what_triton_returns(gpu, rng):
    x = rng.integers(-1000, 1000, (3, 400), dtype=np.int32)
    out = np.zeros_like(x)
    module = gpu.compile(Compiled("prefix_sum", 64, global_scratch_size=0, profile_scratch_size=0))
    assert list(module.kernels) == ["prefix_sum"]
    module.prefix_sum[3](x, out, 400)
    assert (out == x.cumsum(axis=1)).all()
    with pytest.raises(raddle.Error, match="too few arguments"):
        module.prefix_sum[3](x, out)
    with pytest.raises(TypeError, match="how many programs"):
        module.prefix_sum(x, out, 400)


def test_scratch_memory_of_triton(gpu, rng):
    counts, values = np.zeros(64, np.int32), rng.integers(0, 64, 2000, dtype=np.int32)
    module = gpu.compile(Compiled("histogram", 0, global_scratch_size=128, profile_scratch_size=16))
    module.histogram[2, 2](values, counts, 1024)
    assert counts.sum() == 2048, "each row of the grid counts once"
    module = gpu.compile(Compiled("histogram", 0, global_scratch_size=0))
    with pytest.raises(raddle.Error, match="too few arguments"):
        module.histogram[4](values, counts, 2000)


def array(value: np.ndarray) -> tuple:
    """An array as kernels of numba take it."""
    return (0, 0, value.size, value.itemsize, value, *value.shape, *value.strides)


def numba(gpu: raddle.Device, name: str, grid, block, *args) -> None:
    kernel = gpu.compile(EXAMPLES / "numba" / f"{name}.ptx")[name]
    flat = [part for arg in args for part in (array(arg) if isinstance(arg, np.ndarray) else (arg,))]
    kernel[grid, block](*flat)
    gpu.check()


def test_numba_saxpy(gpu, rng):
    x, y = rng.random(1000, np.float32), rng.random(1000, np.float32)
    expected = np.float32(2) * x + y
    numba(gpu, "saxpy", 8, 128, 2.0, x, y)
    assert (y == expected).all()


def test_numba_total(gpu):
    x, out = np.arange(1000, dtype=np.float32), np.zeros(1, np.float32)
    numba(gpu, "total", 8, 128, x, out)
    assert out[0] == x.sum()


def test_numba_matmul(gpu, rng):
    a, b = rng.random((32, 48), np.float32), rng.random((48, 64), np.float32)
    c = np.zeros((32, 64), np.float32)
    numba(gpu, "matmul", (4, 2), (16, 16), a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)


def test_numba_warps(gpu, rng):
    x = rng.integers(-50, 50, 256).astype(np.float32)
    sums, positive = np.zeros(8, np.float32), np.zeros(8, np.uint32)
    numba(gpu, "warps", 2, 128, x, sums, positive)
    assert (sums == x.reshape(8, 32).sum(axis=1)).all()
    assert (positive == (x.reshape(8, 32) > 0).sum(axis=1)).all()
