// Names of cuBLAS, without the library: handles can be made and set up, so that programs which only carry them along compile and
// run. A call that would compute says that it is not there and returns CUBLAS_STATUS_NOT_SUPPORTED.
#pragma once

#include <stdio.h>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"
#include "library_types.h"

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef cublasStatus_t cublasStatus;

typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2 } cublasOperation_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_GEMM_DFALT = -1, CUBLAS_GEMM_DEFAULT = -1, CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99 } cublasGemmAlgo_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;

struct cublasContext;
typedef struct cublasContext *cublasHandle_t;

#ifdef __cplusplus

static inline cublasStatus_t cublasCreate(cublasHandle_t *handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = reinterpret_cast<cublasHandle_t>(handle);
    return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }
static inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
static inline cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t) { return CUBLAS_STATUS_SUCCESS; }
static inline cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t) { return CUBLAS_STATUS_SUCCESS; }
static inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *, size_t) { return CUBLAS_STATUS_SUCCESS; }
static inline const char *cublasGetStatusString(cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS         ? "success"
           : status == CUBLAS_STATUS_NOT_SUPPORTED ? "not supported"
                                                   : "cuBLAS error";
}

/// Says once for each name that it is not there.
#define RADDLE_NO_CUBLAS(name)                                                                                       \
    template <class... Args>                                                                                         \
    static inline cublasStatus_t name(Args &&...) {                                                                  \
        static bool is_said = false;                                                                                 \
        if (!is_said) fprintf(stderr, "raddle: %s is not supported: cuBLAS is not part of this toolkit\n", #name);   \
        is_said = true;                                                                                              \
        return CUBLAS_STATUS_NOT_SUPPORTED;                                                                          \
    }

RADDLE_NO_CUBLAS(cublasSgemm)
RADDLE_NO_CUBLAS(cublasDgemm)
RADDLE_NO_CUBLAS(cublasHgemm)
RADDLE_NO_CUBLAS(cublasGemmEx)
RADDLE_NO_CUBLAS(cublasSgemmEx)
RADDLE_NO_CUBLAS(cublasSgemmBatched)
RADDLE_NO_CUBLAS(cublasDgemmBatched)
RADDLE_NO_CUBLAS(cublasSgemmStridedBatched)
RADDLE_NO_CUBLAS(cublasDgemmStridedBatched)
RADDLE_NO_CUBLAS(cublasHgemmStridedBatched)
RADDLE_NO_CUBLAS(cublasGemmBatchedEx)
RADDLE_NO_CUBLAS(cublasGemmStridedBatchedEx)
RADDLE_NO_CUBLAS(cublasSgemv)
RADDLE_NO_CUBLAS(cublasDgemv)
RADDLE_NO_CUBLAS(cublasSgeam)
RADDLE_NO_CUBLAS(cublasDgeam)
RADDLE_NO_CUBLAS(cublasSdot)
RADDLE_NO_CUBLAS(cublasDdot)
RADDLE_NO_CUBLAS(cublasSaxpy)
RADDLE_NO_CUBLAS(cublasDaxpy)
RADDLE_NO_CUBLAS(cublasSscal)
RADDLE_NO_CUBLAS(cublasDscal)
RADDLE_NO_CUBLAS(cublasScopy)
RADDLE_NO_CUBLAS(cublasDcopy)
RADDLE_NO_CUBLAS(cublasSnrm2)
RADDLE_NO_CUBLAS(cublasDnrm2)
RADDLE_NO_CUBLAS(cublasSasum)
RADDLE_NO_CUBLAS(cublasIsamax)
RADDLE_NO_CUBLAS(cublasIdamax)
RADDLE_NO_CUBLAS(cublasStrsm)
RADDLE_NO_CUBLAS(cublasDtrsm)
RADDLE_NO_CUBLAS(cublasSsyrk)
RADDLE_NO_CUBLAS(cublasDsyrk)

#endif
