/* Marks and ranges for a profiler's time line. Nobody listens, so all of them do nothing. */
#ifndef NVTX_RADDLE_H
#define NVTX_RADDLE_H
#ifndef NVTOOLSEXT_H_
#define NVTOOLSEXT_H_
#endif

#include <stddef.h>
#include <stdint.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;
typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0, NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3,
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1, NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4, NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6,
} nvtxPayloadType_t;
typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#if defined(__GNUC__)
#define RADDLE_FN __attribute__((unused)) static __inline__
#else
#define RADDLE_FN static inline
#endif
RADDLE_FN void nvtxInitialize(const void *reserved) { (void)reserved; }
RADDLE_FN void nvtxMarkEx(const nvtxEventAttributes_t *a) { (void)a; }
RADDLE_FN int nvtxRangePushEx(const nvtxEventAttributes_t *a) { return (void)a, NVTX_NO_PUSH_POP_TRACKING; }
RADDLE_FN int nvtxRangePop(void) { return NVTX_NO_PUSH_POP_TRACKING; }
RADDLE_FN nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *a) { return (void)a, (nvtxRangeId_t)0; }
RADDLE_FN void nvtxRangeEnd(nvtxRangeId_t id) { (void)id; }
RADDLE_FN void nvtxDomainDestroy(nvtxDomainHandle_t d) { (void)d; }
RADDLE_FN void nvtxDomainMarkEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) { (void)d, (void)a; }
RADDLE_FN int nvtxDomainRangePushEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) {
    return (void)d, (void)a, NVTX_NO_PUSH_POP_TRACKING;
}
RADDLE_FN int nvtxDomainRangePop(nvtxDomainHandle_t d) { return (void)d, NVTX_NO_PUSH_POP_TRACKING; }
RADDLE_FN nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t d, const nvtxEventAttributes_t *a) {
    return (void)d, (void)a, (nvtxRangeId_t)0;
}
RADDLE_FN void nvtxDomainRangeEnd(nvtxDomainHandle_t d, nvtxRangeId_t id) { (void)d, (void)id; }
/* Names in narrow and in wide characters. */
#define RADDLE_NAMES(W, C)                                                                                             \
    RADDLE_FN void nvtxMark##W(const C *m) { (void)m; }                                                                \
    RADDLE_FN int nvtxRangePush##W(const C *m) { return (void)m, NVTX_NO_PUSH_POP_TRACKING; }                          \
    RADDLE_FN nvtxRangeId_t nvtxRangeStart##W(const C *m) { return (void)m, (nvtxRangeId_t)0; }                        \
    RADDLE_FN nvtxDomainHandle_t nvtxDomainCreate##W(const C *m) { return (void)m, (nvtxDomainHandle_t)0; }            \
    RADDLE_FN nvtxStringHandle_t nvtxDomainRegisterString##W(nvtxDomainHandle_t d, const C *m) {                       \
        return (void)d, (void)m, (nvtxStringHandle_t)0;                                                                \
    }                                                                                                                  \
    RADDLE_FN void nvtxDomainNameCategory##W(nvtxDomainHandle_t d, uint32_t id, const C *m) {                          \
        (void)d, (void)id, (void)m;                                                                                    \
    }                                                                                                                  \
    RADDLE_FN void nvtxNameOsThread##W(uint32_t id, const C *m) { (void)id, (void)m; }                                 \
    RADDLE_FN void nvtxNameCategory##W(uint32_t id, const C *m) { (void)id, (void)m; }
RADDLE_NAMES(A, char)
RADDLE_NAMES(W, wchar_t)
#undef RADDLE_NAMES
#undef RADDLE_FN

#define nvtxMark nvtxMarkA
#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxNameCategory nvtxNameCategoryA

#endif
