// Just enough of CUDA for printed source to be compiled as C++: a block is run by as many threads of the host as it has.

#define MERCER_HOST 1
#include <barrier>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

using namespace std;

#define __global__ static
#define __shared__ static
#define __launch_bounds__(...)

struct uint4 {
    unsigned x, y, z, w;
};
struct Index {
    unsigned x = 0, y = 0;
};
static thread_local Index threadIdx, blockIdx, blockDim, gridDim;
alignas(64) static char shared_memory[1 << 18];
static barrier<> *block_barrier;

static void __syncthreads() { block_barrier->arrive_and_wait(); }

// 32 threads that exchange words.
struct Warp {
    barrier<> all{32};
    unsigned words[32];
};
static vector<unique_ptr<Warp>> warps_of_block;

// Puts a word of every thread of the warp side by side and returns what `use` makes of them.
template <class Use> static auto together(unsigned mine, Use use)
{
    Warp &warp = *warps_of_block[threadIdx.x / 32];
    warp.words[threadIdx.x % 32] = mine;
    warp.all.arrive_and_wait();
    auto result = use(warp.words);
    warp.all.arrive_and_wait();
    return result;
}
template <class Join> static unsigned joined(unsigned mine, Join join)
{
    return together(mine, [&](const unsigned *words) {
        unsigned all = words[0];
        for (int lane = 1; lane < 32; ++lane) all = join(all, words[lane]);
        return all;
    });
}
static unsigned __reduce_add_sync(unsigned, unsigned a) { return joined(a, [](unsigned x, unsigned y) { return x + y; }); }
static unsigned __reduce_min_sync(unsigned, unsigned a) { return joined(a, [](unsigned x, unsigned y) { return x < y ? x : y; }); }
static unsigned __reduce_max_sync(unsigned, unsigned a) { return joined(a, [](unsigned x, unsigned y) { return x < y ? y : x; }); }
static unsigned __ballot_sync(unsigned, bool a) { return joined((unsigned)a << threadIdx.x % 32, [](unsigned x, unsigned y) { return x | y; }); }
static int __shfl_sync(unsigned, int a, int lane) { return together((unsigned)a, [&](const unsigned *words) { return (int)words[lane]; }); }
static int __popc(unsigned a) { return popcount(a); }
static int __ffs(unsigned a) { return a == 0 ? 0 : countr_zero(a) + 1; }
static unsigned __float_as_uint(float a) { return bit_cast<unsigned>(a); }
static float __uint_as_float(unsigned a) { return bit_cast<float>(a); }
static double __longlong_as_double(long long a) { return bit_cast<double>(a); }
static float __fdividef(float a, float b) { return a / b; }
static double __dadd_rn(double a, double b) { return a + b; }
static double __dmul_rn(double a, double b) { return a * b; }
static int atomicAdd(int *to, int a) { return __atomic_fetch_add(to, a, __ATOMIC_SEQ_CST); }

// Runs `call` for every thread of every block; threads of a block wait for each other only where `wait`.
static void launch_blocks(unsigned columns, unsigned rows, unsigned threads, bool wait, const function<void()> &call)
{
    for (unsigned y = 0; y < rows; ++y)
        for (unsigned x = 0; x < columns; ++x) {
            auto run = [&, x, y](unsigned t) {
                blockIdx = {x, y}, gridDim = {columns, rows}, threadIdx.x = t, blockDim.x = threads;
                call();
            };
            if (!wait) {
                for (unsigned t = 0; t < threads; ++t) run(t);
                continue;
            }
            barrier<> all(threads);
            block_barrier = &all;
            warps_of_block.clear();
            for (unsigned t = 0; t < threads; t += 32) warps_of_block.push_back(make_unique<Warp>());
            vector<thread> running;
            for (unsigned t = 0; t < threads; ++t) running.emplace_back(run, t);
            for (auto &one : running) one.join();
        }
}

static void print(double value) { printf("%a\n", value); }
