// C++ on the device: a lambda as the body of a kernel, std::array, std::min, a structure as an argument.
#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

template <class F> __global__ void for_each(int n, F body) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) body(i);
}

struct Polynomial {
    std::array<int, 3> factors;
    __host__ __device__ constexpr int at(int x) const { return factors[0] + x * (factors[1] + x * factors[2]); }
};

int main() {
    const int n = 500;
    int *out;
    Polynomial polynomial{{5, -3, 2}};
    cudaMallocManaged(&out, n * sizeof(int));
    int most = 100000;
    for_each<<<(n + 63) / 64, 64>>>(n, [=] __device__(int i) { out[i] = std::min(polynomial.at(i), most); });
    cudaDeviceSynchronize();
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += out[i] != std::min(polynomial.at(i), most);
    printf("%d wrong\n%s\n", wrong, wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
