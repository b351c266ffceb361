// K·V with inner products by tensor cores. A block of 8 warps, 4 x 2, computes tiles of 128 x 128 values; a warp 32 x 64. Every
// feature is a sum of two half-precision numbers, high + low; of their four products the one of both low parts is left out.
//
// The fragments of a block's rows stay in registers where they have at most 64 features: a warp then multiplies for 8 columns
// while it turns the sums of the 8 columns before into values. Otherwise rows and columns go through shared memory in chunks.

#define TILE 128
#ifndef NT
// Groups of 8 columns of a warp.
#define NT 8
#endif
#define TILE_COLS (16 * NT)
#define THREADS 256
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ROWS_KEPT (K_STEPS <= 4)
#define STEPS_PER_CHUNK (ROWS_KEPT ? K_STEPS : 2)
#define CHUNKS ((K_STEPS + STEPS_PER_CHUNK - 1) / STEPS_PER_CHUNK)
// Fragments of one chunk of a tile, 16 bytes each.
#define X_FRAGMENTS (16 * STEPS_PER_CHUNK * 32)
#define Z_FRAGMENTS (2 * NT * STEPS_PER_CHUNK * 32)
#define NUMBERS_OF_TILE ((SCALARS + RHS) * TILE_COLS)

FUNCTION void multiply(float (&c)[4], const word (&a)[4], word b0, word b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

FUNCTION void rows_from(const uint4 &upper, const uint4 &lower, word (&high)[4], word (&low)[4])
{
    high[0] = upper.x, high[1] = lower.x, high[2] = upper.y, high[3] = lower.y;
    low[0] = upper.z, low[1] = lower.z, low[2] = upper.w, low[3] = lower.w;
}

// Numbers of the two columns of a thread among 8.
FUNCTION float2 two(const float *numbers, int which, int t) { return *(const float2 *)(numbers + which * TILE_COLS + t * 8); }

// What the sums of 8 columns start at. Row 16·m + 8·h + lane/4 of the warp is number 2·m + h of the thread.
FUNCTION void begin(float (&s)[2][4], const float (&xs)[4][NSCALARS], const float *numbers, int t)
{
    float left[NSCALARS], right[NSCALARS];
#pragma unroll
    for (int n = 0; n < SCALARS; ++n) {
        float2 z = two(numbers, n, t);
        left[n] = z.x, right[n] = z.y;
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        float a[1], b[1];
        start(a, xs[r], left);
        start(b, xs[r], right);
        s[r / 2][(r % 2) * 2] = a[0], s[r / 2][(r % 2) * 2 + 1] = b[0];
    }
}

// Turns the sums of 8 columns into values and adds these, times the right-hand sides.
FUNCTION void use(const float (&s)[2][4], const float (&xs)[4][NSCALARS], const float *numbers, int t, float (&sum)[4][RHS],
                  const Numbers &p, float unscale)
{
    float z[2][NSCALARS];
    float2 v[RHS];
#pragma unroll
    for (int n = 0; n < SCALARS; ++n) {
        float2 both = two(numbers, n, t);
        z[0][n] = both.x, z[1][n] = both.y;
    }
#pragma unroll
    for (int m = 0; m < RHS; ++m) v[m] = two(numbers, SCALARS + m, t);
#pragma unroll
    for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
            float one[1] = {s[r / 2][(r % 2) * 2 + c]};
            if (!STARTED) one[0] *= unscale;
            float k = value(one, xs[r], z[c], p);
#pragma unroll
            for (int m = 0; m < RHS; ++m) sum[r][m] = fused(k, c == 0 ? v[m].x : v[m].y, sum[r][m]);
        }
}

#if ROWS_KEPT
// Adds the products of all features for 8 columns.
FUNCTION void sums_of(float (&s)[2][4], const word (&high)[K_STEPS][2][4], const word (&low)[K_STEPS][2][4], const uint4 *zf, int t)
{
#pragma unroll
    for (int k = 0; k < K_STEPS; ++k) {
        uint4 b = zf[(t * K_STEPS + k) * 32];
#pragma unroll
        for (int m = 0; m < 2; ++m) multiply(s[m], low[k][m], b.x, b.y);
#pragma unroll
        for (int m = 0; m < 2; ++m) multiply(s[m], high[k][m], b.z, b.w);
#pragma unroll
        for (int m = 0; m < 2; ++m) multiply(s[m], high[k][m], b.x, b.y);
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    apply(Side x, Side z, const real *rhs, double *out, Numbers p, long long first_block, long long per_split, float unscale)
{
    extern __shared__ uint4 shared[];
    uint4 *z_chunks = shared, *x_chunks = shared + 2 * Z_FRAGMENTS;
    float *z_numbers = (float *)(x_chunks + (ROWS_KEPT ? 0 : 2 * X_FRAGMENTS));
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, wr = warp / 2, wc = warp % 2;
    long long row = (first_block + blockIdx.x) * TILE, first = blockIdx.y * per_split;
    long long end = first + per_split < z.padded ? first + per_split : z.padded;

    auto load_fragments = [&](uint4 *to, const Side &side, long long at, int chunk, int count) {
        for (int i = thread; i < count; i += THREADS) {
            int l = i % 32, step = i / 32 % STEPS_PER_CHUNK, t = i / 32 / STEPS_PER_CHUNK;
            int k = chunk * STEPS_PER_CHUNK + step;
            if (k < K_STEPS) copy_async(to + i, side.fragments + ((at / 8 + t) * K_STEPS + k) * 32 + l);
        }
    };
    int stages = (int)((end - first) / TILE_COLS) * CHUNKS;
    auto load = [&](int stage) {
        int chunk = stage % CHUNKS, tile = stage / CHUNKS;
        long long column = first + (long long)tile * TILE_COLS;
        load_fragments(z_chunks + (stage & 1) * Z_FRAGMENTS, z, column, chunk, Z_FRAGMENTS);
        if (!ROWS_KEPT) load_fragments(x_chunks + (stage & 1) * X_FRAGMENTS, x, row, chunk, X_FRAGMENTS);
        if (chunk == 0) {
            float *to = z_numbers + (tile & 1) * NUMBERS_OF_TILE;
            for (int i = thread; i < (SCALARS + RHS) * (TILE_COLS / 4); i += THREADS) {
                int which = i / (TILE_COLS / 4), at = i % (TILE_COLS / 4) * 4;
                const float *from = which < SCALARS ? z.scalars + which * z.padded : rhs + (which - SCALARS) * z.padded;
                copy_async(to + which * TILE_COLS + at, from + column + at);
            }
        }
    };

    float xs[4][NSCALARS], sum[4][RHS];
#if !ROWS_KEPT
    float acc[2][NT][4];
#endif
    double total[4][RHS];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        long long i = row + wr * 32 + (r / 2) * 16 + (r % 2) * 8 + lane / 4;
#pragma unroll
        for (int n = 0; n < SCALARS; ++n) xs[r][n] = x.scalars[n * x.padded + i];
#pragma unroll
        for (int m = 0; m < RHS; ++m) sum[r][m] = 0, total[r][m] = 0;
    }
    word high[ROWS_KEPT ? K_STEPS : 1][2][4], low[ROWS_KEPT ? K_STEPS : 1][2][4];
#if ROWS_KEPT
#pragma unroll
        for (int k = 0; k < K_STEPS; ++k)
#pragma unroll
            for (int m = 0; m < 2; ++m) {
                const uint4 *from = x.fragments + ((row / 8 + wr * 4 + m * 2) * K_STEPS + k) * 32 + lane;
                rows_from(from[0], from[K_STEPS * 32], high[k][m], low[k][m]);
            }
#endif
    if (stages > 0) load(0);
    int pending = 0;
    for (int stage = 0; stage < stages; ++stage) {
        copies_done();
        __syncthreads();
        if (stage + 1 < stages) load(stage + 1);
        int chunk = stage % CHUNKS, tile = stage / CHUNKS;
        const float *numbers = z_numbers + (tile & 1) * NUMBERS_OF_TILE + wc * (8 * NT) + (lane % 4) * 2;
        const uint4 *zf = z_chunks + (stage & 1) * Z_FRAGMENTS + wc * NT * STEPS_PER_CHUNK * 32 + lane;
        const uint4 *xf = x_chunks + (stage & 1) * X_FRAGMENTS + wr * 4 * STEPS_PER_CHUNK * 32 + lane;
#if ROWS_KEPT
        float now[2][4], next[2][4];
        begin(now, xs, numbers, 0);
        sums_of(now, high, low, zf, 0);
#pragma unroll
        for (int t = 0; t < NT; ++t) {
            if (t + 1 < NT) {
                begin(next, xs, numbers, t + 1);
                sums_of(next, high, low, zf, t + 1);
            }
            use(now, xs, numbers, t, sum, p, unscale);
#pragma unroll
            for (int i = 0; i < 8; ++i) now[i / 4][i % 4] = next[i / 4][i % 4];
        }
#else
        if (chunk == 0) {
#pragma unroll
            for (int t = 0; t < NT; ++t) {
                float s[2][4];
                begin(s, xs, numbers, t);
#pragma unroll
                for (int i = 0; i < 8; ++i) acc[i / 4][t][i % 4] = s[i / 4][i % 4];
            }
        }
#pragma unroll
        for (int step = 0; step < STEPS_PER_CHUNK; ++step) {
            if (chunk * STEPS_PER_CHUNK + step >= K_STEPS) break;
#pragma unroll
            for (int m = 0; m < 2; ++m) {
                const uint4 *from = xf + (m * 2 * STEPS_PER_CHUNK + step) * 32;
                rows_from(from[0], from[STEPS_PER_CHUNK * 32], high[0][m], low[0][m]);
            }
#pragma unroll
            for (int t = 0; t < NT; ++t) {
                uint4 b = zf[(t * STEPS_PER_CHUNK + step) * 32];
#pragma unroll
                for (int m = 0; m < 2; ++m) multiply(acc[m][t], low[0][m], b.x, b.y);
#pragma unroll
                for (int m = 0; m < 2; ++m) multiply(acc[m][t], high[0][m], b.z, b.w);
#pragma unroll
                for (int m = 0; m < 2; ++m) multiply(acc[m][t], high[0][m], b.x, b.y);
            }
        }
        if (chunk < CHUNKS - 1) continue;
#pragma unroll
        for (int t = 0; t < NT; ++t) {
            float s[2][4];
#pragma unroll
            for (int i = 0; i < 8; ++i) s[i / 4][i % 4] = acc[i / 4][t][i % 4];
            use(s, xs, numbers, t, sum, p, unscale);
        }
#endif
        if (++pending == 2) {
            pending = 0;
#pragma unroll
            for (int r = 0; r < 4; ++r)
#pragma unroll
                for (int m = 0; m < RHS; ++m) total[r][m] += (double)sum[r][m], sum[r][m] = 0;
        }
    }
    double *columns = (double *)shared;
#pragma unroll
    for (int m = 0; m < RHS; ++m) {
        __syncthreads();
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            int i = wr * 32 + (r / 2) * 16 + (r % 2) * 8 + lane / 4;
            columns[i * 9 + wc * 4 + lane % 4] = total[r][m] + (double)sum[r][m];
        }
        __syncthreads();
        if (thread < TILE) {
            double all = 0;
            for (int c = 0; c < 8; ++c) all += columns[thread * 9 + c];
            out[((long long)blockIdx.y * RHS + m) * x.padded + row + thread] = all;
        }
    }
}
