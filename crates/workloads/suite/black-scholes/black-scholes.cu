// Prices of options by the formula of Black and Scholes.
#include "raddle.cuh"

// The normal distribution, by a polynomial that is good to seven places.
static __device__ __forceinline__ float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float sum = 1.330274429f;
    sum = sum * k - 1.821255978f;
    sum = sum * k + 1.781477937f;
    sum = sum * k - 0.356563782f;
    sum = sum * k + 0.319381530f;
    float tail = 0.39894228040f * __expf(-0.5f * d * d) * k * sum;
    return d > 0.0f ? 1.0f - tail : tail;
}

// A thread has every option that is as many apart as there are threads.
__global__ void prices(const float *__restrict__ stock, const float *__restrict__ strike, const float *__restrict__ years,
                       int count, float rate, float volatility, float *__restrict__ call, float *__restrict__ put) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float root = sqrtf(years[i]);
        float d1 = (__logf(stock[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
        float d2 = d1 - volatility * root;
        float n1 = normal(d1), n2 = normal(d2);
        float discounted = strike[i] * __expf(-rate * years[i]);
        call[i] = stock[i] * n1 - discounted * n2;
        put[i] = discounted * (1.0f - n2) - stock[i] * (1.0f - n1);
    }
}
