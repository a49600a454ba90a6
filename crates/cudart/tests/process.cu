// Ways for a process to begin and to end with the device. What each must print and return is in the program that runs it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

__global__ void add_one(int *p) { atomicAdd(p, 1); }

static const char *way = "";
static bool is(const char *name) { return !strcmp(way, name); }

// Launches once, and says what came out.
static void launch(const char *where) {
    int *device = nullptr, host = 41;
    int error = cudaMalloc(&device, sizeof host);
    if (!error) error = cudaMemcpy(device, &host, sizeof host, cudaMemcpyHostToDevice);
    if (!error) add_one<<<1, 1>>>(device);
    if (!error) error = cudaDeviceSynchronize();
    if (!error) error = cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost);
    if (!error) error = cudaFree(device);
    printf("%s: error %d, %d\n", where, error, host);
}

struct Static {
    ~Static() {
        if (is("static") || is("only-static")) launch("destructor");
        if (is("failed")) printf("destructor: %d\n", cudaFree(nullptr));
    }
} object;

struct Local {
    ~Local() {
        if (is("thread-local")) launch("destructor of a thread");
    }
};
static thread_local Local local;

int main(int, char **args) {
    way = args[1];
    setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
    printf("begins\n");
    if (is("only-static")) return 0;
    if (is("only-atexit")) {
        atexit([] { launch("atexit"); });
        return 0;
    }
    if (is("threads")) {
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; i++) threads.emplace_back([] { launch("thread"); });
        for (auto &thread : threads) thread.join();
        return 0;
    }
    if (is("thread-local")) {
        std::thread([] {
            (void)&local;
            launch("thread");
        }).join();
        return 0;
    }
    if (is("blocked")) {
        // A thread that waits for input holds the stream.
        std::thread([] { getchar(); }).detach();
        usleep(100000);
    }
    bool is_late = is("fork-before");
    if (!is_late) launch("main");
    if (is("atexit")) atexit([] { launch("atexit"); });
    if (is("fork") || is_late) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            launch("child");
            printf("last %d, count %d\n", cudaGetLastError(), cudaGetDeviceCount(nullptr));
            exit(0);
        }
        int status = 1;
        waitpid(child, &status, 0);
        printf("child ended with %d\n", status);
        launch("parent");
    }
    if (is("quick")) {
        fflush(stdout);
        quick_exit(3);
    }
    if (is("throws")) {
        // A function of the program that is called by the library must not be left by an exception.
        fflush(stdout);
        try {
            cudaLaunchHostFunc(0, [](void *) { throw 1; }, nullptr);
        } catch (int) {
            printf("caught\n");
        }
    }
    if (is("exit")) exit(3);
    if (is("abort")) {
        fflush(stdout);
        abort();
    }
    if (is("_exit")) {
        fflush(stdout);
        _exit(3);
    }
    return 0;
}
