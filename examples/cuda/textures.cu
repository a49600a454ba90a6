// A picture is rotated with linear filtering, blurred from array to array through surfaces, and looked up in a table.
// The CPU does the same; the results must agree.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t status = (call);                                                                                   \
        if (status != cudaSuccess) {                                                                                   \
            printf("%s: %s\n", #call, cudaGetErrorString(status));                                                     \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

const int WIDTH = 64, HEIGHT = 32;
const float ANGLE = 0.5f;

// Every thread finds where its pixel was before, in coordinates from 0 to 1.
__global__ void rotate(cudaTextureObject_t picture, float *out, float angle) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = x / (float)WIDTH - 0.5f, v = y / (float)HEIGHT - 0.5f;
    out[y * WIDTH + x] =
        tex2D<float>(picture, u * cosf(angle) - v * sinf(angle) + 0.5f, v * cosf(angle) + u * sinf(angle) + 0.5f);
}

// Surfaces count x in bytes. What lies outside is the nearest pixel inside.
__global__ void blur(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) sum += surf2Dread<float>(from, (x + j) * 4, y + i, cudaBoundaryModeClamp);
    surf2Dwrite(sum / 9.0f, to, x * 4, y);
}

// Levels of grey become colours by a table in linear memory.
__global__ void colour(cudaTextureObject_t picture, cudaTextureObject_t table, uchar4 *out) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int level = (int)tex2D<float>(picture, x + 0.5f, y + 0.5f);
    out[y * WIDTH + x] = tex1Dfetch<uchar4>(table, level);
}

static cudaResourceDesc resource(cudaArray_t array) {
    cudaResourceDesc description = {};
    description.resType = cudaResourceTypeArray;
    description.res.array.array = array;
    return description;
}

static cudaTextureObject_t texture_of(cudaArray_t array, bool filtered) {
    cudaResourceDesc from = resource(array);
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = filtered ? cudaAddressModeWrap : cudaAddressModeClamp;
    how.filterMode = filtered ? cudaFilterModeLinear : cudaFilterModePoint;
    how.normalizedCoords = filtered;
    cudaTextureObject_t texture;
    CHECK(cudaCreateTextureObject(&texture, &from, &how, nullptr));
    return texture;
}

static cudaSurfaceObject_t surface_of(cudaArray_t array) {
    cudaResourceDesc from = resource(array);
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &from));
    return surface;
}

static int wrapped(int i, int size) { return ((i % size) + size) % size; }
static int clamped(int i, int size) { return i < 0 ? 0 : i >= size ? size - 1 : i; }

static float rotated(const std::vector<float> &picture, int x, int y) {
    float u = x / (float)WIDTH - 0.5f, v = y / (float)HEIGHT - 0.5f;
    float s = (u * cosf(ANGLE) - v * sinf(ANGLE) + 0.5f) * WIDTH - 0.5f;
    float t = (v * cosf(ANGLE) + u * sinf(ANGLE) + 0.5f) * HEIGHT - 0.5f;
    int i = (int)floorf(s), j = (int)floorf(t);
    float a = s - i, b = t - j;
    auto pixel = [&](int x, int y) { return picture[wrapped(y, HEIGHT) * WIDTH + wrapped(x, WIDTH)]; };
    return (1 - a) * (1 - b) * pixel(i, j) + a * (1 - b) * pixel(i + 1, j) + (1 - a) * b * pixel(i, j + 1) +
           a * b * pixel(i + 1, j + 1);
}

static float blurred(const std::vector<float> &picture, int x, int y) {
    float sum = 0.0f;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++) sum += picture[clamped(y + i, HEIGHT) * WIDTH + clamped(x + j, WIDTH)];
    return sum / 9.0f;
}

int main() {
    std::vector<float> picture(WIDTH * HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; i++) picture[i] = (float)((i % WIDTH / 8 + i / WIDTH / 4) % 2 * 200 + i % 50);
    std::vector<uchar4> colours(256);
    for (int i = 0; i < 256; i++) colours[i] = make_uchar4(i, 255 - i, i / 2, 255);

    cudaChannelFormatDesc grey = cudaCreateChannelDesc<float>();
    cudaArray_t first, second;
    CHECK(cudaMallocArray(&first, &grey, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    CHECK(cudaMallocArray(&second, &grey, WIDTH, HEIGHT, cudaArraySurfaceLoadStore));
    const size_t row = WIDTH * sizeof(float);
    CHECK(cudaMemcpy2DToArray(first, 0, 0, picture.data(), row, row, HEIGHT, cudaMemcpyHostToDevice));
    float *turned;
    uchar4 *table, *painted;
    CHECK(cudaMalloc(&turned, row * HEIGHT));
    CHECK(cudaMalloc(&painted, WIDTH * HEIGHT * sizeof(uchar4)));
    CHECK(cudaMalloc(&table, 256 * sizeof(uchar4)));
    CHECK(cudaMemcpy(table, colours.data(), 256 * sizeof(uchar4), cudaMemcpyHostToDevice));

    cudaTextureObject_t smooth = texture_of(first, true), plain = texture_of(second, false), lookup;
    cudaResourceDesc linear = {};
    linear.resType = cudaResourceTypeLinear;
    linear.res.linear.devPtr = table;
    linear.res.linear.desc = cudaCreateChannelDesc<uchar4>();
    linear.res.linear.sizeInBytes = 256 * sizeof(uchar4);
    cudaTextureDesc by_number = {};
    CHECK(cudaCreateTextureObject(&lookup, &linear, &by_number, nullptr));
    cudaSurfaceObject_t from = surface_of(first), to = surface_of(second);

    dim3 block(16, 8), grid(WIDTH / block.x, HEIGHT / block.y);
    rotate<<<grid, block>>>(smooth, turned, ANGLE);
    blur<<<grid, block>>>(from, to);
    colour<<<grid, block>>>(plain, lookup, painted);
    CHECK(cudaGetLastError());

    std::vector<float> turned_back(WIDTH * HEIGHT), blurred_back(WIDTH * HEIGHT);
    std::vector<uchar4> painted_back(WIDTH * HEIGHT);
    CHECK(cudaMemcpy(turned_back.data(), turned, row * HEIGHT, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy2DFromArray(blurred_back.data(), row, second, 0, 0, row, HEIGHT, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(painted_back.data(), painted, WIDTH * HEIGHT * sizeof(uchar4), cudaMemcpyDeviceToHost));

    int wrong = 0;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            int i = y * WIDTH + x;
            // Weights of texels have eight bits: a pixel may be off by as much as that is of the range.
            wrong += fabsf(turned_back[i] - rotated(picture, x, y)) > 250.0f / 128;
            wrong += fabsf(blurred_back[i] - blurred(picture, x, y)) > 1e-3f;
            uchar4 want = colours[(int)blurred_back[i]], have = painted_back[i];
            wrong += want.x != have.x || want.y != have.y || want.z != have.z || want.w != have.w;
        }
    CHECK(cudaDestroyTextureObject(smooth));
    CHECK(cudaDestroyTextureObject(plain));
    CHECK(cudaDestroyTextureObject(lookup));
    CHECK(cudaDestroySurfaceObject(from));
    CHECK(cudaDestroySurfaceObject(to));
    CHECK(cudaFreeArray(first));
    CHECK(cudaFreeArray(second));
    CHECK(cudaFree(turned));
    CHECK(cudaFree(painted));
    CHECK(cudaFree(table));
    printf("%s\n", wrong ? "FAIL" : "PASS");
    return wrong != 0;
}
