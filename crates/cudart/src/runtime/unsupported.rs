//! What there is no simulated counterpart of: each returns `cudaErrorNotSupported` and says so once.

use crate::context::api;
use crate::error::{Code, Error};

macro_rules! unsupported {
    ($($why:literal: $($name:ident)*;)*) => {
        $($(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> Code {
                api(|context| {
                    context.guest.note(concat!(stringify!($name), " is not supported: ", $why));
                    Err(Error::NOT_SUPPORTED)
                })
            }
        )*)*

        #[cfg(test)]
        const NAMES: &[&str] = &[$($(stringify!($name)),*),*];
    };
}

unsupported! {
    "there is no graphics":
        cudaGraphicsGLRegisterBuffer cudaGraphicsGLRegisterImage cudaGraphicsMapResources cudaGraphicsUnmapResources
        cudaGraphicsUnregisterResource cudaGraphicsResourceGetMappedPointer cudaGraphicsResourceSetMapFlags
        cudaGraphicsSubResourceGetMappedArray cudaGLSetGLDevice cudaGLGetDevices cudaGLMapBufferObject
        cudaGLUnmapBufferObject cudaGLRegisterBufferObject cudaGLUnregisterBufferObject;
    "memory and semaphores of other devices cannot be imported":
        cudaImportExternalMemory cudaImportExternalSemaphore cudaDestroyExternalMemory cudaDestroyExternalSemaphore
        cudaExternalMemoryGetMappedBuffer cudaExternalMemoryGetMappedMipmappedArray
        cudaSignalExternalSemaphoresAsync_v2 cudaWaitExternalSemaphoresAsync_v2
        cudaSignalExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync;
    "memory is not shared with other processes":
        cudaIpcGetMemHandle cudaIpcOpenMemHandle cudaIpcCloseMemHandle cudaIpcGetEventHandle cudaIpcOpenEventHandle
        cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle cudaMemPoolExportPointer
        cudaMemPoolImportPointer;
    "the driver's functions are in libcuda.so under their own names":
        cudaGetDriverEntryPoint cudaGetExportTable;
    "nodes of a graph cannot be looked at or changed once they are in it":
        cudaGraphKernelNodeGetParams cudaGraphKernelNodeSetParams cudaGraphExecKernelNodeSetParams
        cudaGraphMemcpyNodeGetParams cudaGraphMemcpyNodeSetParams cudaGraphExecMemcpyNodeSetParams
        cudaGraphMemsetNodeGetParams cudaGraphMemsetNodeSetParams cudaGraphExecMemsetNodeSetParams
        cudaGraphHostNodeSetParams cudaGraphExecHostNodeSetParams cudaGraphNodeGetType cudaGraphGetRootNodes
        cudaGraphGetEdges cudaGraphAddChildGraphNode cudaGraphConditionalHandleCreate cudaGraphAddNode;
    "a cooperative launch is on one device":
        cudaLaunchCooperativeKernelMultiDevice;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_given_once() {
        let mut names = NAMES.to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), NAMES.len());
    }
}
