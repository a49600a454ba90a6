/* What a program tells the runtime before it starts. clang writes the calls that register kernels and variables
 * itself; managed variables it does not know.
 *
 * Their host copies lie in a section of their own (see host_defines.h), whose bounds the linker provides. The runtime
 * is told of them first, so that it knows a managed variable when it is registered. A runtime without the function,
 * and a program without managed variables, leave it at that. */
#ifndef __HOST_RUNTIME_H__
#define __HOST_RUNTIME_H__

#if defined(__cplusplus) && defined(__CUDA__) && defined(__linux__)

extern "C" {
extern char __start_raddle_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_raddle_managed[] __attribute__((weak, visibility("hidden")));
__attribute__((host, weak)) void __raddleRegisterManaged(void *start, void *stop);
}
static __attribute__((host, constructor(200), used)) void raddle_register_managed(void) {
    if (__start_raddle_managed && __raddleRegisterManaged)
        __raddleRegisterManaged(__start_raddle_managed, __stop_raddle_managed);
}

#endif

#endif
