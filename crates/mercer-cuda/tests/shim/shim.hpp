// Just enough of CUDA for printed source to be compiled as C++: a block is run by as many threads of the host as it has.

#define MERCER_HOST 1
#include <barrier>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

using namespace std;

#define __global__ static
#define __launch_bounds__(...)

struct uint4 {
    unsigned x, y, z, w;
};
struct Index {
    unsigned x = 0, y = 0;
};
static thread_local Index threadIdx, blockIdx, blockDim;
alignas(64) static char shared_memory[1 << 18];
static barrier<> *block_barrier;

static void __syncthreads() { block_barrier->arrive_and_wait(); }

// Runs `call` for every thread of every block; threads of a block wait for each other only where `together`.
static void launch_blocks(unsigned columns, unsigned rows, unsigned threads, bool together, const function<void()> &call)
{
    for (unsigned y = 0; y < rows; ++y)
        for (unsigned x = 0; x < columns; ++x) {
            auto run = [&, x, y](unsigned t) {
                blockIdx.x = x, blockIdx.y = y, threadIdx.x = t, blockDim.x = threads;
                call();
            };
            if (!together) {
                for (unsigned t = 0; t < threads; ++t) run(t);
                continue;
            }
            barrier<> all(threads);
            block_barrier = &all;
            vector<thread> running;
            for (unsigned t = 0; t < threads; ++t) running.emplace_back(run, t);
            for (auto &one : running) one.join();
        }
}

static void print(double value) { printf("%a\n", value); }
