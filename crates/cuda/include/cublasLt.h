// Names of cuBLASLt, without the library, as cublas_v2.h has those of cuBLAS: descriptions can be made, products are refused.
#pragma once

#include "cublas_v2.h"

struct cublasLtContext;
typedef struct cublasLtContext *cublasLtHandle_t;
typedef void *cublasLtMatmulDesc_t;
typedef void *cublasLtMatmulPreference_t;
typedef void *cublasLtMatrixLayout_t;
typedef struct {
    unsigned long long data[8];
} cublasLtMatmulAlgo_t;
typedef struct {
    cublasLtMatmulAlgo_t algo;
    size_t workspaceSize;
    cublasStatus_t state;
    float wavesCount;
    int reserved[4];
} cublasLtMatmulHeuristicResult_t;
typedef enum {
    CUBLASLT_MATMUL_DESC_TRANSA = 3,
    CUBLASLT_MATMUL_DESC_TRANSB = 4,
    CUBLASLT_MATMUL_DESC_EPILOGUE = 7,
    CUBLASLT_MATMUL_DESC_BIAS_POINTER = 8
} cublasLtMatmulDescAttributes_t;
typedef enum { CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = 1 } cublasLtMatmulPreferenceAttributes_t;
typedef enum {
    CUBLASLT_EPILOGUE_DEFAULT = 1,
    CUBLASLT_EPILOGUE_RELU = 2,
    CUBLASLT_EPILOGUE_BIAS = 4,
    CUBLASLT_EPILOGUE_RELU_BIAS = 6,
    CUBLASLT_EPILOGUE_GELU = 32,
    CUBLASLT_EPILOGUE_GELU_BIAS = 36
} cublasLtEpilogue_t;

#ifdef __cplusplus

static inline cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
    if (!handle) return CUBLAS_STATUS_INVALID_VALUE;
    *handle = reinterpret_cast<cublasLtHandle_t>(handle);
    return CUBLAS_STATUS_SUCCESS;
}
static inline cublasStatus_t cublasLtDestroy(cublasLtHandle_t) { return CUBLAS_STATUS_SUCCESS; }

RADDLE_NO_CUBLAS(cublasLtMatmul)
RADDLE_NO_CUBLAS(cublasLtMatmulAlgoGetHeuristic)
RADDLE_NO_CUBLAS(cublasLtMatmulDescCreate)
RADDLE_NO_CUBLAS(cublasLtMatmulDescDestroy)
RADDLE_NO_CUBLAS(cublasLtMatmulDescSetAttribute)
RADDLE_NO_CUBLAS(cublasLtMatmulPreferenceCreate)
RADDLE_NO_CUBLAS(cublasLtMatmulPreferenceDestroy)
RADDLE_NO_CUBLAS(cublasLtMatmulPreferenceSetAttribute)
RADDLE_NO_CUBLAS(cublasLtMatrixLayoutCreate)
RADDLE_NO_CUBLAS(cublasLtMatrixLayoutDestroy)
RADDLE_NO_CUBLAS(cublasLtMatrixLayoutSetAttribute)

#endif
