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
        cudaSignalExternalSemaphoresAsync_v2 cudaWaitExternalSemaphoresAsync_v2 cudaSignalExternalSemaphoresAsync
        cudaWaitExternalSemaphoresAsync;
    "memory is not shared with other processes":
        cudaIpcGetMemHandle cudaIpcOpenMemHandle cudaIpcCloseMemHandle cudaIpcGetEventHandle cudaIpcOpenEventHandle
        cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle cudaMemPoolExportPointer
        cudaMemPoolImportPointer;
    "the driver's functions are in libcuda.so under their own names":
        cudaGetDriverEntryPoint cudaGetExportTable;
    "what a node of a graph holds cannot be asked for in this form":
        cudaGraphKernelNodeGetParams cudaGraphMemcpyNodeGetParams cudaGraphMemsetNodeGetParams
        cudaGraphConditionalHandleCreate cudaGraphAddNode cudaGraphChildGraphNodeGetGraph cudaGraphDebugDotPrint
        cudaGraphExecNodeSetParams cudaGraphInstantiateWithParams cudaGraphKernelNodeCopyAttributes
        cudaGraphKernelNodeGetAttribute cudaGraphKernelNodeSetAttribute cudaGraphMemAllocNodeGetParams
        cudaGraphMemFreeNodeGetParams cudaGraphNodeSetParams;
    "a graph has kernels, copies, fills, host functions, events and other graphs":
        cudaGraphAddMemAllocNode cudaGraphAddMemFreeNode cudaDeviceGetGraphMemAttribute cudaDeviceSetGraphMemAttribute
        cudaUserObjectCreate cudaUserObjectRelease cudaUserObjectRetain cudaGraphReleaseUserObject
        cudaGraphRetainUserObject;
    "there is one device":
        cudaDeviceGetP2PAttribute cudaDeviceGetByPCIBusId cudaMemcpy3DPeer cudaMemcpy3DPeerAsync cuCtxEnablePeerAccess
        cuCtxDisablePeerAccess;
    "arrays are copied to and from other memory":
        cudaMemcpyArrayToArray cudaMemcpy2DArrayToArray cudaArrayGetMemoryRequirements cudaArrayGetPlane;
    "it is not simulated":
        cudaOccupancyMaxActiveClusters cudaOccupancyMaxPotentialClusterSize cudaDeviceGetTexture1DLinearMaxWidth
        cudaFuncGetName cudaMemPoolGetAccess cudaMemRangeGetAttributes cudaStreamGetAttribute cudaStreamGetId;
    "the driver's interface has it under the runtime's names only":
        cuArrayCreate_v2 cuArrayDestroy cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxGetFlags cuCtxGetSharedMemConfig
        cuDeviceGetProperties cuDeviceGetUuid cuDevicePrimaryCtxGetState cuFuncGetAttribute cuLaunchCooperativeKernel
        cuMemGetAddressRange_v2 cuMemHostGetFlags cuMemcpy2D_v2 cuMemcpy2DAsync_v2 cuMemsetD2D8_v2 cuMemsetD2D32_v2
        cuModuleGetSurfRef cuModuleGetTexRef cuOccupancyMaxActiveBlocksPerMultiprocessor
        cuOccupancyMaxPotentialBlockSize cuPointerGetAttribute;
    "PTX is linked by `raddle ptx link`":
        cuLinkCreate_v2 cuLinkAddData_v2 cuLinkAddFile_v2 cuLinkComplete cuLinkDestroy;
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
