// A portfolio of swaptions in the LIBOR market model, by Monte Carlo: a thread follows one path of the forward rates.
#include "raddle.cuh"

#define MAX_RATES 80
#define MAX_STEPS 40
#define MAX_OPTIONS 15
#define NOTIONAL 100.0f
// An SM holds 8 blocks of either kernel: Table 1 of the TBC paper.
#define BLOCK 64

__constant__ float initial_rates[MAX_RATES];
__constant__ float volatilities[MAX_RATES];
__constant__ int maturities[MAX_OPTIONS];
__constant__ float swap_rates[MAX_OPTIONS];

// Moves the rates that are not fixed yet by one accrual period.
static __device__ __forceinline__ void evolve(const float *from, float *to, int step, int rates, float delta,
                                              float noise) {
    float drift = 0.0f;
    for (int i = step + 1; i < rates; i++) {
        float volatility = volatilities[i - step - 1];
        float scaled = delta * volatility;
        float rate = from[i];
        drift += __fdividef(scaled * rate, 1.0f + delta * rate);
        to[i] = rate * __expf(scaled * drift + volatility * (noise - 0.5f * scaled));
    }
}

// What the portfolio is worth with these rates. `bonds` and `swaps` get the prices of bonds and annuities.
static __device__ __forceinline__ float portfolio(const float *rate, float *bonds, float *swaps, int steps, int rates,
                                                  int options, float delta) {
    float bond = 1.0f, swap = 0.0f;
    for (int i = steps; i < rates; i++) {
        bond = __fdividef(bond, 1.0f + delta * rate[i]);
        swap += delta * bond;
        bonds[i - steps] = bond;
        swaps[i - steps] = swap;
    }
    float value = 0.0f;
    for (int i = 0; i < options; i++) {
        int last = maturities[i] - 1;
        float worth = bonds[last] + swap_rates[i] * swaps[last] - 1.0f;
        if (worth < 0.0f) {
            value -= NOTIONAL * worth;
        }
    }
    for (int i = 0; i < steps; i++) {
        value = __fdividef(value, 1.0f + delta * rate[i]);
    }
    return value;
}

// The discounted payoff of each path.
__global__ void __launch_bounds__(BLOCK, 8)
    path_values(const float *__restrict__ noise, float *__restrict__ values, int paths, int steps, int rates,
                int options, float delta) {
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    float rate[MAX_RATES], bonds[MAX_RATES], swaps[MAX_RATES];
    for (int i = 0; i < rates; i++) {
        rate[i] = initial_rates[i];
    }
    float root = sqrtf(delta);
    for (int step = 0; step < steps; step++) {
        evolve(rate, rate, step, rates, delta, root * noise[step * paths + path]);
    }
    values[path] = portfolio(rate, bonds, swaps, steps, rates, options, delta);
}

// The same, and how it changes with every initial rate: the path backwards, by its adjoint.
__global__ void __launch_bounds__(BLOCK, 8)
    path_greeks(const float *__restrict__ noise, float *__restrict__ values, float *__restrict__ greeks, int paths,
                int steps, int rates, int options, float delta) {
    const int path = blockIdx.x * blockDim.x + threadIdx.x;
    float history[(MAX_STEPS + 1) * MAX_RATES], adjoint[MAX_RATES], bonds[MAX_RATES], swaps[MAX_RATES];
    for (int i = 0; i < rates; i++) {
        history[i] = initial_rates[i];
    }
    float root = sqrtf(delta);
    for (int step = 0; step < steps; step++) {
        const float *from = history + step * rates;
        float *to = history + (step + 1) * rates;
        for (int i = 0; i <= step; i++) {
            to[i] = from[i];
        }
        evolve(from, to, step, rates, delta, root * noise[step * paths + path]);
    }
    const float *rate = history + steps * rates;
    float value = portfolio(rate, bonds, swaps, steps, rates, options, delta);
    values[path] = value;

    // Back through the discount.
    float discount = 1.0f;
    for (int i = 0; i < steps; i++) {
        float factor = __fdividef(1.0f, 1.0f + delta * rate[i]);
        discount *= factor;
        adjoint[i] = -delta * value * factor;
    }

    // Back through the swaptions to the prices of bonds and annuities.
    float bond_adjoint[MAX_RATES], swap_adjoint[MAX_RATES];
    for (int i = 0; i < rates - steps; i++) {
        bond_adjoint[i] = 0.0f;
        swap_adjoint[i] = 0.0f;
    }
    for (int i = 0; i < options; i++) {
        int last = maturities[i] - 1;
        float worth = bonds[last] + swap_rates[i] * swaps[last] - 1.0f;
        if (worth < 0.0f) {
            bond_adjoint[last] -= NOTIONAL * discount;
            swap_adjoint[last] -= NOTIONAL * discount * swap_rates[i];
        }
    }
    float of_swap = 0.0f, of_bond = 0.0f;
    for (int i = rates - steps - 1; i >= 0; i--) {
        float factor = __fdividef(1.0f, 1.0f + delta * rate[steps + i]);
        of_swap += swap_adjoint[i];
        of_bond += bond_adjoint[i] + delta * of_swap;
        adjoint[steps + i] = -delta * of_bond * bonds[i] * factor;
        of_bond *= factor;
    }

    // Back through the steps.
    for (int step = steps - 1; step >= 0; step--) {
        const float *from = history + step * rates;
        const float *to = history + (step + 1) * rates;
        float of_drift = 0.0f;
        for (int i = rates - 1; i > step; i--) {
            float scaled = delta * volatilities[i - step - 1];
            float factor = __fdividef(1.0f, 1.0f + delta * from[i]);
            of_drift += scaled * to[i] * adjoint[i];
            adjoint[i] = adjoint[i] * __fdividef(to[i], from[i]) + of_drift * scaled * factor * factor;
        }
    }
    for (int i = 0; i < rates; i++) {
        greeks[i * paths + path] = adjoint[i];
    }
}
