//! The errors of the runtime, with their numbers.

/// What a function of the API returns.
pub(crate) type Code = i32;

/// An error of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error(pub(crate) Code);

pub(crate) type Result<T = ()> = std::result::Result<T, Error>;

macro_rules! errors {
    ($($constant:ident = $code:literal, $name:literal, $text:literal;)*) => {
        #[allow(dead_code, reason = "all that programs may ask for are listed, also those that never happen here")]
        impl Error {
            $(pub(crate) const $constant: Self = Self($code);)*
        }
        /// Number, name and text of each, the name and the text ended for C.
        const LIST: &[(Code, &str, &str)] = &[$(($code, concat!($name, "\0"), concat!($text, "\0"))),*];
    };
}

errors! {
    SUCCESS = 0, "cudaSuccess", "no error";
    INVALID_VALUE = 1, "cudaErrorInvalidValue", "invalid argument";
    MEMORY_ALLOCATION = 2, "cudaErrorMemoryAllocation", "out of memory";
    INITIALIZATION = 3, "cudaErrorInitializationError", "initialization error";
    INVALID_CONFIGURATION = 9, "cudaErrorInvalidConfiguration", "invalid configuration argument";
    INVALID_PITCH = 12, "cudaErrorInvalidPitchValue", "invalid pitch argument";
    INVALID_SYMBOL = 13, "cudaErrorInvalidSymbol", "invalid device symbol";
    INVALID_TEXTURE = 18, "cudaErrorInvalidTexture", "invalid texture reference";
    INVALID_TEXTURE_BINDING = 19, "cudaErrorInvalidTextureBinding", "texture is not bound to a pointer";
    INVALID_CHANNEL = 20, "cudaErrorInvalidChannelDescriptor", "invalid channel descriptor";
    INVALID_DIRECTION = 21, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy";
    INSUFFICIENT_DRIVER = 35, "cudaErrorInsufficientDriver", "CUDA driver version is insufficient for CUDA runtime version";
    INVALID_SURFACE = 37, "cudaErrorInvalidSurface", "invalid surface reference";
    MISSING_CONFIGURATION = 52, "cudaErrorMissingConfiguration", "__global__ function call is not configured";
    INVALID_FUNCTION = 98, "cudaErrorInvalidDeviceFunction", "invalid device function";
    NO_DEVICE = 100, "cudaErrorNoDevice", "no CUDA-capable device is detected";
    INVALID_DEVICE = 101, "cudaErrorInvalidDevice", "invalid device ordinal";
    INVALID_IMAGE = 200, "cudaErrorInvalidKernelImage", "device kernel image is invalid";
    NO_IMAGE = 209, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device";
    UNSUPPORTED_LIMIT = 215, "cudaErrorUnsupportedLimit", "limit is not supported on this architecture";
    INVALID_PTX = 218, "cudaErrorInvalidPtx", "a PTX JIT compilation failed";
    INVALID_HANDLE = 400, "cudaErrorInvalidResourceHandle", "invalid resource handle";
    NOT_FOUND = 500, "cudaErrorSymbolNotFound", "named symbol not found";
    NOT_READY = 600, "cudaErrorNotReady", "device not ready";
    ILLEGAL_ADDRESS = 700, "cudaErrorIllegalAddress", "an illegal memory access was encountered";
    OUT_OF_RESOURCES = 701, "cudaErrorLaunchOutOfResources", "too many resources requested for launch";
    LAUNCH_TIMEOUT = 702, "cudaErrorLaunchTimeout", "the launch timed out and was terminated";
    PEER_ALREADY = 704, "cudaErrorPeerAccessAlreadyEnabled", "peer access is already enabled";
    PEER_NOT_ENABLED = 705, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled";
    ASSERT = 710, "cudaErrorAssert", "device-side assert triggered";
    ALREADY_REGISTERED = 712, "cudaErrorHostMemoryAlreadyRegistered", "part or all of the requested memory range is already mapped";
    NOT_REGISTERED = 713, "cudaErrorHostMemoryNotRegistered", "pointer does not correspond to a registered memory region";
    STACK = 714, "cudaErrorHardwareStackError", "hardware stack error";
    MISALIGNED = 716, "cudaErrorMisalignedAddress", "misaligned address";
    INVALID_PC = 718, "cudaErrorInvalidPc", "invalid program counter";
    LAUNCH_FAILURE = 719, "cudaErrorLaunchFailure", "unspecified launch failure";
    COOPERATIVE_TOO_LARGE = 720, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch";
    NOT_SUPPORTED = 801, "cudaErrorNotSupported", "operation not supported";
    CAPTURE_UNSUPPORTED = 900, "cudaErrorStreamCaptureUnsupported", "operation not permitted when stream is capturing";
    CAPTURE_UNMATCHED = 903, "cudaErrorStreamCaptureUnmatched", "the stream is not part of a capture sequence";
    UNKNOWN = 999, "cudaErrorUnknown", "unknown error";
}

/// Name and text of an error, ended for C.
pub(crate) fn describe(code: Code) -> (&'static str, &'static str) {
    let found = LIST.iter().find(|(number, ..)| *number == code);
    found.map_or(("unrecognized error code\0", "unrecognized error code\0"), |(_, name, text)| (name, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_order_and_texts_end() {
        assert!(LIST.is_sorted_by_key(|(code, ..)| *code));
        assert!(LIST.iter().all(|(_, name, text)| name.ends_with('\0') && text.ends_with('\0')));
        assert_eq!(describe(700).0, "cudaErrorIllegalAddress\0");
        assert_eq!(describe(12345).0, "unrecognized error code\0");
    }
}
