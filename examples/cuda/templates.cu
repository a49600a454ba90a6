// One kernel for several types and operations, chosen at compile time.
#include <cstdio>
#include <type_traits>
#include <vector>

struct Add {
    template <class T> __host__ __device__ T operator()(T a, T b) const { return a + b; }
};
struct Larger {
    template <class T> __host__ __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

template <class T, class Op, int BLOCK> __global__ void reduce(const T *in, int n, T first, T *out, Op op) {
    __shared__ T part[BLOCK];
    T own = first;
    for (int i = threadIdx.x; i < n; i += BLOCK) own = op(own, in[i]);
    part[threadIdx.x] = own;
    __syncthreads();
#pragma unroll
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] = op(part[threadIdx.x], part[threadIdx.x + half]);
        __syncthreads();
    }
    if (threadIdx.x == 0) *out = part[0];
}

template <class T, class Op> bool is_right(const char *name, T first, Op op) {
    const int n = 1000;
    std::vector<T> in(n);
    T want = first, got, *din, *dout;
    for (int i = 0; i < n; i++) {
        in[i] = T(i * 37 % 101);
        want = op(want, in[i]);
    }
    cudaMalloc(&din, n * sizeof(T));
    cudaMalloc(&dout, sizeof(T));
    cudaMemcpy(din, in.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    reduce<T, Op, 128><<<1, 128>>>(din, n, first, dout, op);
    cudaMemcpy(&got, dout, sizeof(T), cudaMemcpyDeviceToHost);
    cudaFree(din);
    cudaFree(dout);
    printf("%s: %g\n", name, double(got));
    static_assert(std::is_arithmetic<T>::value, "numbers only");
    return got == want;
}

int main() {
    bool all = is_right("sum of int", 0, Add()) & is_right("sum of float", 0.0f, Add()) &
               is_right("sum of double", 0.0, Add()) & is_right("largest short", short(0), Larger()) &
               is_right("largest long long", 0LL, Larger());
    printf("%s\n", all ? "PASS" : "FAIL");
    return !all;
}
