//! Errors, versions and the profiler: what asks nothing of the device.

use crate::abi::{Out, Text};
use crate::context::{last_error, remember, with};
use crate::error::{Code, describe};

/// The version of CUDA whose interface this is.
const VERSION: i32 = 12030;

#[unsafe(no_mangle)]
extern "C" fn cudaGetLastError() -> Code {
    let sticky = with(|context| Ok(context.sticky)).unwrap_or_else(Some);
    let last = last_error(true);
    sticky.map_or(last, |error| error.0)
}

#[unsafe(no_mangle)]
extern "C" fn cudaPeekAtLastError() -> Code {
    let sticky = with(|context| Ok(context.sticky)).unwrap_or_else(Some);
    sticky.map_or_else(|| last_error(false), |error| error.0)
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorString(code: Code) -> Text {
    describe(code).1.into()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(code: Code) -> Text {
    describe(code).0.into()
}

#[unsafe(no_mangle)]
extern "C" fn cudaRuntimeGetVersion(version: Out<i32>) -> Code {
    remember(version.put(VERSION))
}

#[unsafe(no_mangle)]
extern "C" fn cudaDriverGetVersion(version: Out<i32>) -> Code {
    remember(version.put(VERSION))
}

#[unsafe(no_mangle)]
extern "C" fn cudaProfilerStart() -> Code {
    0
}

#[unsafe(no_mangle)]
extern "C" fn cudaProfilerStop() -> Code {
    0
}
