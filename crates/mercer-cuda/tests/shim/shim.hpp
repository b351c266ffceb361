// Just enough of CUDA for printed source to be compiled as C++. The threads of a block take turns: each runs until it waits for others.

#define MERCER_HOST 1
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <ucontext.h>
#include <vector>

using namespace std;

#define __global__ static
#define __device__ static
#define __shared__ static
#define __launch_bounds__(...)

struct uint4 {
    unsigned x, y, z, w;
};
struct Index {
    unsigned x = 0, y = 0;
};
static Index threadIdx, blockIdx, blockDim, gridDim;
alignas(64) static char shared_memory[1 << 18];

#define STACK (1 << 16)

// A thread of a block, and the one whose turn it is.
struct Thread {
    ucontext_t context;
    unique_ptr<char[]> stack{new char[STACK]};
    bool is_done = false;
};
static ucontext_t block_context;
static Thread *running;
static const function<void()> *body;

static void enter()
{
    (*body)();
    running->is_done = true;
    swapcontext(&running->context, &block_context);
}

// Threads that wait for each other.
struct Barrier {
    unsigned expected, arrived = 0, turn = 0;
    void wait()
    {
        unsigned now = turn;
        if (++arrived == expected) {
            arrived = 0, ++turn;
            return;
        }
        while (turn == now) swapcontext(&running->context, &block_context);
    }
};
static Barrier of_block;

static void __syncthreads() { of_block.wait(); }

// 32 threads that exchange words.
struct Warp {
    Barrier all = {32};
    unsigned words[32];
};
static vector<Warp> warps_of_block;

// Puts a word of every thread of the warp side by side and returns what `use` makes of them.
template <class Use> static auto together(unsigned mine, Use use)
{
    Warp &warp = warps_of_block[threadIdx.x / 32];
    warp.words[threadIdx.x % 32] = mine;
    warp.all.wait();
    auto result = use(warp.words);
    warp.all.wait();
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
static long long __double_as_longlong(double a) { return bit_cast<long long>(a); }
static double __longlong_as_double(long long a) { return bit_cast<double>(a); }
static float __fdividef(float a, float b) { return a / b; }
static float __frcp_rn(float a) { return 1 / a; }
static double __dadd_rn(double a, double b) { return a + b; }
static double __dmul_rn(double a, double b) { return a * b; }
static void sincospi(double a, double *sine, double *cosine) { *sine = sin(M_PI * a), *cosine = cos(M_PI * a); }
static int atomicAdd(int *to, int a) { return __atomic_fetch_add(to, a, __ATOMIC_SEQ_CST); }

// Runs `call` for every thread of every block; threads of a block wait for each other only where `wait`.
static void launch_blocks(unsigned columns, unsigned rows, unsigned threads, bool wait, const function<void()> &call)
{
    gridDim = {columns, rows}, blockDim = {threads, 1};
    for (unsigned y = 0; y < rows; ++y)
        for (unsigned x = 0; x < columns; ++x) {
            blockIdx = {x, y};
            if (!wait) {
                for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) call();
                continue;
            }
            of_block = {threads}, body = &call;
            warps_of_block.assign(threads / 32, Warp());
            vector<Thread> all(threads);
            for (Thread &one : all) {
                getcontext(&one.context);
                one.context.uc_stack.ss_sp = one.stack.get(), one.context.uc_stack.ss_size = STACK;
                makecontext(&one.context, enter, 0);
            }
            for (unsigned left = threads; left > 0;)
                for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) {
                    running = &all[threadIdx.x];
                    if (running->is_done) continue;
                    swapcontext(&block_context, &running->context);
                    left -= running->is_done;
                }
        }
}

static void print(double value) { printf("%a\n", value); }
