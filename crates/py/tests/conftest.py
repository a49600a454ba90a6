"""What the tests share: a small machine, and kernels in PTX, so that no compiler is needed."""

import numpy as np
import pytest

import raddle

HEAD = ".version 6.0\n.target sm_50\n.address_size 64\n"

#: Doubles each of `n` words of a buffer.
TWICE = HEAD + """
.visible .entry twice(.param .u64 p, .param .u32 n) {
  .reg .pred %q; .reg .b32 %r<6>; .reg .b64 %d<5>;
  ld.param.u64 %d1, [p]; ld.param.u32 %r5, [n];
  mov.u32 %r1, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r1, %r3, %r4, %r1;
  setp.ge.u32 %q, %r1, %r5; @%q bra END;
  mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
  ld.global.u32 %r2, [%d3]; add.u32 %r2, %r2, %r2; st.global.u32 [%d3], %r2;
END:
  ret;
}
"""

#: Copies `n` bytes, whatever they are.
COPY = HEAD + """
.visible .entry copy(.param .u64 to, .param .u64 from, .param .u32 n) {
  .reg .pred %q; .reg .b16 %h; .reg .b32 %r<6>; .reg .b64 %d<8>;
  ld.param.u64 %d1, [to]; ld.param.u64 %d2, [from]; ld.param.u32 %r5, [n];
  mov.u32 %r1, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r1, %r3, %r4, %r1;
  setp.ge.u32 %q, %r1, %r5; @%q bra END;
  cvt.u64.u32 %d3, %r1; add.s64 %d4, %d2, %d3; add.s64 %d5, %d1, %d3;
  ld.global.u8 %h, [%d4]; st.global.u8 [%d5], %h;
END:
  ret;
}
"""

#: Counts to `n`, and stores that.
LOOP = HEAD + """
.visible .entry loop(.param .u64 p, .param .u32 n) {
  .reg .pred %q; .reg .b32 %r<3>; .reg .b64 %d;
  ld.param.u64 %d, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, 0;
HERE:
  add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, %r1; @%q bra HERE;
  st.global.u32 [%d], %r2;
  ret;
}
"""

#: Never ends.
ENDLESS = HEAD + ".visible .entry endless() {\nHERE:\n  bra HERE;\n}\n"

#: Stores what it was given, each value to its place.
STORE = HEAD + """
.visible .entry store(.param .u64 p, .param .u32 i, .param .f32 f, .param .f64 d, .param .u64 l) {
  .reg .b32 %r<3>; .reg .f32 %f; .reg .f64 %g; .reg .b64 %d<3>;
  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [i]; ld.param.f32 %f, [f]; ld.param.f64 %g, [d]; ld.param.u64 %d2, [l];
  st.global.u32 [%d1], %r1; st.global.f32 [%d1+4], %f; st.global.f64 [%d1+8], %g; st.global.u64 [%d1+16], %d2;
  ret;
}
"""


@pytest.fixture(scope="session")
def machine() -> raddle.Machine:
    return raddle.Machine("gtx480", set={"gpu.sms": 2})


@pytest.fixture
def gpu(machine: raddle.Machine) -> raddle.Device:
    return machine.device()


@pytest.fixture
def fast(machine: raddle.Machine) -> raddle.Device:
    return machine.device(engine="fast")


@pytest.fixture
def words() -> np.ndarray:
    return np.arange(300, dtype=np.uint32)
