// K·V with inner products by tensor cores. A block of 8 warps, 4 x 2, computes tiles of 128 x 128 values; a warp 32 x 64. Every
// feature is a sum of two half-precision numbers, high + low; of their four products the one of both low parts is left out.
//
// The fragments of a block's rows stay in registers if they have few features: a warp then multiplies for 16 columns while it
// turns the sums of the 16 columns before into values. Otherwise rows and columns go through shared memory in chunks.
//
// If PACKED, the three products are one, of rows (high, high, low) and columns (high, low, high): fewer steps of 16 features.

#define TILE 128
// Groups of 8 columns of a warp.
#define NT 8
#define THREADS 256
#define ROWS_KEPT (PACKED || K_STEPS <= 4)
#define STEPS_PER_CHUNK (ROWS_KEPT ? K_STEPS : 2)
#define CHUNKS ((K_STEPS + STEPS_PER_CHUNK - 1) / STEPS_PER_CHUNK)
// 16-byte pieces of one chunk of a tile.
#define PIECES (16 * STEPS_PER_CHUNK * 32 / (PACKED ? 2 : 1))
#define NUMBERS_OF_TILE ((SCALARS + RHS) * TILE)

#if PACKED
typedef uint2 Fragment;
#else
typedef uint4 Fragment;
#endif

// The sums of 32 rows and 16 columns: of 16 rows m and 8 columns j, in the order of the tensor cores.
typedef float Quad[2][2][4];

// The rows of a warp for 16 features.
struct Rows {
    word high[2][4];
#if !PACKED
    word low[2][4];
#endif
};

FUNCTION void multiply(float (&c)[4], const word (&a)[4], word b0, word b1)
{
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Rows m * 16 to m * 16 + 15 from two groups of 8, `apart` fragments apart.
FUNCTION void read_rows(Rows &rows, const Fragment *from, int apart)
{
#pragma unroll
    for (int m = 0; m < 2; ++m) {
        Fragment upper = from[2 * m * apart], lower = from[(2 * m + 1) * apart];
        rows.high[m][0] = upper.x, rows.high[m][1] = lower.x, rows.high[m][2] = upper.y, rows.high[m][3] = lower.y;
#if !PACKED
        rows.low[m][0] = upper.z, rows.low[m][1] = lower.z, rows.low[m][2] = upper.w, rows.low[m][3] = lower.w;
#endif
    }
}

// Adds the products of 16 features; four independent sums keep the tensor cores busy.
FUNCTION void add_products(Quad &s, const Rows &a, const Fragment *b, int apart)
{
    Fragment z[2] = {b[0], b[apart]};
#if !PACKED
#pragma unroll
    for (int i = 0; i < 4; ++i) multiply(s[i / 2][i % 2], a.low[i % 2], z[i / 2].x, z[i / 2].y);
#pragma unroll
    for (int i = 0; i < 4; ++i) multiply(s[i / 2][i % 2], a.high[i % 2], z[i / 2].z, z[i / 2].w);
#endif
#pragma unroll
    for (int i = 0; i < 4; ++i) multiply(s[i / 2][i % 2], a.high[i % 2], z[i / 2].x, z[i / 2].y);
}

// Numbers of the two columns of a thread among 8.
FUNCTION float2 two(const float *numbers, int which, int group) { return *(const float2 *)(numbers + which * TILE + group * 8); }

// Initial values of the sums of 16 columns. Row 16 * m + 8 * h + lane/4 of the warp is number 2 * m + h of the thread.
FUNCTION void begin(Quad &s, const float (&xs)[4][NSCALARS], const float *numbers, int t)
{
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        float z[2][NSCALARS];
#pragma unroll
        for (int n = 0; n < SCALARS; ++n) {
            float2 both = two(numbers, n, 2 * t + j);
            z[0][n] = both.x, z[1][n] = both.y;
        }
#pragma unroll
        for (int r = 0; r < 4; ++r)
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                float one[1];
                start(one, xs[r], z[c]);
                s[j][r / 2][(r % 2) * 2 + c] = one[0];
            }
    }
}

// Turns the sums of 16 columns into values and adds these, times the right-hand sides.
FUNCTION void use(const Quad &s, const float (&xs)[4][NSCALARS], const float *numbers, int t, float (&sum)[4][RHS],
                  const Numbers &p, float unscale)
{
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        float z[2][NSCALARS];
        float2 v[RHS];
#pragma unroll
        for (int n = 0; n < SCALARS; ++n) {
            float2 both = two(numbers, n, 2 * t + j);
            z[0][n] = both.x, z[1][n] = both.y;
        }
#pragma unroll
        for (int m = 0; m < RHS; ++m) v[m] = two(numbers, SCALARS + m, 2 * t + j);
#pragma unroll
        for (int r = 0; r < 4; ++r)
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                float one[1] = {s[j][r / 2][(r % 2) * 2 + c]};
                if (!STARTED) one[0] *= unscale;
                float k = value(one, xs[r], z[c], p);
#pragma unroll
                for (int m = 0; m < RHS; ++m) sum[r][m] = fused(k, c == 0 ? v[m].x : v[m].y, sum[r][m]);
            }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    apply(Side x, Side z, const real *rhs, double *out, Numbers p, long long first_block, long long per_split, float unscale)
{
    extern __shared__ uint4 shared[];
    uint4 *z_chunks = shared, *x_chunks = shared + 2 * PIECES;
    float *z_numbers = (float *)(x_chunks + (ROWS_KEPT ? 0 : 2 * PIECES));
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, wr = warp / 2, wc = warp % 2;
    long long row = (first_block + blockIdx.x) * TILE, first = blockIdx.y * per_split;
    long long end = first + per_split < z.padded ? first + per_split : z.padded;
    const Fragment *x_all = (const Fragment *)x.fragments, *z_all = (const Fragment *)z.fragments;

    auto load_fragments = [&](uint4 *to, const Fragment *from, long long at, int chunk) {
        const uint4 *first_piece = (const uint4 *)(from + at / 8 * (K_STEPS * 32));
        for (int i = thread; i < PIECES; i += THREADS) {
            if (ROWS_KEPT) {
                copy_async(to + i, first_piece + i);
            } else {
                int l = i % 32, step = i / 32 % STEPS_PER_CHUNK, t = i / 32 / STEPS_PER_CHUNK, k = chunk * STEPS_PER_CHUNK + step;
                if (k < K_STEPS) copy_async(to + i, first_piece + (t * K_STEPS + k) * 32 + l);
            }
        }
    };
    int stages = (int)((end - first) / TILE) * CHUNKS;
    auto load = [&](int stage) {
        int chunk = stage % CHUNKS, tile = stage / CHUNKS;
        long long column = first + (long long)tile * TILE;
        load_fragments(z_chunks + (stage & 1) * PIECES, z_all, column, chunk);
        if (!ROWS_KEPT) load_fragments(x_chunks + (stage & 1) * PIECES, x_all, row, chunk);
        if (chunk == 0) {
            float *to = z_numbers + (tile & 1) * NUMBERS_OF_TILE;
            for (int i = thread; i < (SCALARS + RHS) * (TILE / 4); i += THREADS) {
                int which = i / (TILE / 4), at = i % (TILE / 4) * 4;
                const float *from = which < SCALARS ? z.scalars + which * z.padded : rhs + (which - SCALARS) * z.padded;
                copy_async(to + which * TILE + at, from + column + at);
            }
        }
    };

    float xs[4][NSCALARS], sum[4][RHS];
    double total[4][RHS];
#pragma unroll
    for (int r = 0; r < 4; ++r) {
        long long i = row + wr * 32 + (r / 2) * 16 + (r % 2) * 8 + lane / 4;
#pragma unroll
        for (int n = 0; n < SCALARS; ++n) xs[r][n] = x.scalars[n * x.padded + i];
#pragma unroll
        for (int m = 0; m < RHS; ++m) sum[r][m] = 0, total[r][m] = 0;
    }
#if ROWS_KEPT
    Rows rows[K_STEPS];
#pragma unroll
    for (int k = 0; k < K_STEPS; ++k) read_rows(rows[k], x_all + ((row / 8 + wr * 4) * K_STEPS + k) * 32 + lane, K_STEPS * 32);
#else
    Quad acc[NT / 2];
#endif
    if (stages > 0) load(0);
    int pending = 0;
    for (int stage = 0; stage < stages; ++stage) {
        copies_done();
        __syncthreads();
        if (stage + 1 < stages) load(stage + 1);
        int chunk = stage % CHUNKS, tile = stage / CHUNKS;
        const float *numbers = z_numbers + (tile & 1) * NUMBERS_OF_TILE + wc * (8 * NT) + (lane % 4) * 2;
        const Fragment *zf = (const Fragment *)(z_chunks + (stage & 1) * PIECES) + wc * NT * STEPS_PER_CHUNK * 32 + lane;
#if ROWS_KEPT
        Quad s[2];
        begin(s[0], xs, numbers, 0);
#pragma unroll
        for (int k = 0; k < K_STEPS; ++k) add_products(s[0], rows[k], zf + k * 32, K_STEPS * 32);
#pragma unroll
        for (int t = 0; t < NT / 2; ++t) {
            if (t + 1 < NT / 2) {
                begin(s[(t + 1) % 2], xs, numbers, t + 1);
#pragma unroll
                for (int k = 0; k < K_STEPS; ++k)
                    add_products(s[(t + 1) % 2], rows[k], zf + (2 * (t + 1) * K_STEPS + k) * 32, K_STEPS * 32);
            }
            use(s[t % 2], xs, numbers, t, sum, p, unscale);
        }
#else
        const Fragment *xf = (const Fragment *)(x_chunks + (stage & 1) * PIECES) + wr * 4 * STEPS_PER_CHUNK * 32 + lane;
        if (chunk == 0) {
#pragma unroll
            for (int t = 0; t < NT / 2; ++t) begin(acc[t], xs, numbers, t);
        }
#pragma unroll
        for (int step = 0; step < STEPS_PER_CHUNK; ++step) {
            if (chunk * STEPS_PER_CHUNK + step >= K_STEPS) break;
            Rows rows;
            read_rows(rows, xf + step * 32, STEPS_PER_CHUNK * 32);
#pragma unroll
            for (int t = 0; t < NT / 2; ++t)
                add_products(acc[t], rows, zf + (2 * t * STEPS_PER_CHUNK + step) * 32, STEPS_PER_CHUNK * 32);
        }
        if (chunk < CHUNKS - 1) continue;
#pragma unroll
        for (int t = 0; t < NT / 2; ++t) use(acc[t], xs, numbers, t, sum, p, unscale);
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
