// Tiles of kernel values by 16 x 16 threads, each of which computes TR x TC of them in registers. Features go through shared
// memory a chunk at a time, the next chunk on its way while one is worked on.

#define TILE_ROWS (16 * TR)
#define TILE_COLS (16 * TC)
#define THREADS 256
#define MAX(a, b) ((a) > (b) ? (a) : (b))

// Entries of shared memory: two chunks of columns with their rows, and two sets of numbers and right-hand sides.
#define Z_CHUNK (CHUNK * TILE_COLS)
#define X_CHUNK (CHUNK * TILE_ROWS)
#define Z_NUMBERS ((SCALARS + RHS) * TILE_COLS)

// Place of the c-th column of a thread in the tile: threads side by side read neighbouring packs.
FUNCTION int column_of(int tx, int c)
{
    const int width = TC < PACK ? TC : PACK;
    return (c / width) * (16 * width) + tx * width + c % width;
}

FUNCTION void copy_features(real *to, const Side &side, long long first, int tile, int k, int count, int thread)
{
    const real *from = side.features + (first / BLOCK * WIDTH + k) * BLOCK + first % BLOCK;
    int packs = tile / PACK;
    for (int i = thread; i < count * packs; i += THREADS) {
        int row = i / packs, at = (i % packs) * PACK;
        copy_async(to + row * tile + at, from + (long long)row * BLOCK + at);
    }
}

// The terms of COUNT features of one segment.
template <int SEGMENT, int COUNT>
FUNCTION void terms(const real *xf, const real *zf, int tx, int ty, real (&s)[TR][TC][NSTATS], const Numbers &p)
{
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
        real a[TR], b[TC];
#pragma unroll
        for (int r = 0; r < TR; ++r) a[r] = xf[k * TILE_ROWS + ty * TR + r];
#pragma unroll
        for (int c = 0; c < TC; ++c) b[c] = zf[k * TILE_COLS + column_of(tx, c)];
#pragma unroll
        for (int r = 0; r < TR; ++r)
#pragma unroll
            for (int c = 0; c < TC; ++c) term<SEGMENT>(s[r][c], a[r], b[c], p);
    }
}

CHUNK_TERMS

// Calls `use(s, xs, zs, first column of the tile, numbers and right-hand sides of the tile)` for every tile of the columns
// from `first` to `end`, multiples of TILE_COLS.
template <class Use>
FUNCTION void for_tiles(const Side &x, const Side &z, const real *rhs, const Numbers &p, long long row, long long first,
                        long long end, real *shared, Use &use)
{
    int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
    real *z_chunks = shared, *z_numbers = shared + 2 * Z_CHUNK;
    real *x_chunks = z_numbers + 2 * Z_NUMBERS;
    real xs[TR][NSCALARS], s[TR][TC][NSTATS];
#pragma unroll
    for (int r = 0; r < TR; ++r)
#pragma unroll
        for (int i = 0; i < SCALARS; ++i) xs[r][i] = x.scalars[i * x.padded + row + ty * TR + r];
    int stages = (int)((end - first) / TILE_COLS) * CHUNKS;
    auto load = [&](int stage) {
        int chunk = stage % CHUNKS, tile = stage / CHUNKS;
        long long column = first + (long long)tile * TILE_COLS;
        int k = chunk_first(chunk), count = chunk_count(chunk);
        copy_features(z_chunks + (stage & 1) * Z_CHUNK, z, column, TILE_COLS, k, count, thread);
        if (CHUNKS > 1 || stage == 0)
            copy_features(x_chunks + (CHUNKS > 1 ? (stage & 1) * X_CHUNK : 0), x, row, TILE_ROWS, k, count, thread);
        if (chunk == 0) {
            real *to = z_numbers + (tile & 1) * Z_NUMBERS;
            const int packs = TILE_COLS / PACK;
            for (int i = thread; i < (SCALARS + RHS) * packs; i += THREADS) {
                int which = i / packs, at = (i % packs) * PACK;
                const real *from = which < SCALARS ? z.scalars + which * z.padded : rhs + (which - SCALARS) * z.padded;
                copy_async(to + which * TILE_COLS + at, from + column + at);
            }
        }
    };
    if (stages > 0) load(0);
    for (int stage = 0; stage < stages; ++stage) {
        copies_done();
        __syncthreads();
        if (stage + 1 < stages) load(stage + 1);
        int chunk = stage % CHUNKS, tile = stage / CHUNKS;
        const real *numbers = z_numbers + (tile & 1) * Z_NUMBERS;
        if (chunk == 0) {
#pragma unroll
            for (int c = 0; c < TC; ++c) {
                real zs[NSCALARS];
#pragma unroll
                for (int i = 0; i < SCALARS; ++i) zs[i] = numbers[i * TILE_COLS + column_of(tx, c)];
#pragma unroll
                for (int r = 0; r < TR; ++r) start(s[r][c], xs[r], zs);
            }
        }
        chunk_terms(chunk, x_chunks + (CHUNKS > 1 ? (stage & 1) * X_CHUNK : 0), z_chunks + (stage & 1) * Z_CHUNK, tx, ty, s, p);
        if (chunk == CHUNKS - 1) use(s, xs, numbers, first + (long long)tile * TILE_COLS);
    }
}

FUNCTION void numbers_of(const real *numbers, int column, real (&zs)[NSCALARS])
{
#pragma unroll
    for (int i = 0; i < SCALARS; ++i) zs[i] = numbers[i * TILE_COLS + column];
}

// Sums of values times right-hand sides: in the precision of the tiles over a few tiles, in double precision across them.
struct Sums {
    real sum[TR][MAX(RHS, 1)];
    double total[TR][MAX(RHS, 1)];
    int pending, tx;
    const Numbers &p;

    FUNCTION Sums(int tx, const Numbers &p) : pending(0), tx(tx), p(p)
    {
#pragma unroll
        for (int r = 0; r < TR; ++r)
#pragma unroll
            for (int m = 0; m < RHS; ++m) sum[r][m] = 0, total[r][m] = 0;
    }
    FUNCTION void flush()
    {
#pragma unroll
        for (int r = 0; r < TR; ++r)
#pragma unroll
            for (int m = 0; m < RHS; ++m) total[r][m] += (double)sum[r][m], sum[r][m] = 0;
        pending = 0;
    }
    FUNCTION void operator()(real (&s)[TR][TC][NSTATS], real (&xs)[TR][NSCALARS], const real *numbers, long long)
    {
#pragma unroll
        for (int c = 0; c < TC; ++c) {
            int column = column_of(tx, c);
            real zs[NSCALARS], v[MAX(RHS, 1)];
            numbers_of(numbers, column, zs);
#pragma unroll
            for (int m = 0; m < RHS; ++m) v[m] = numbers[(SCALARS + m) * TILE_COLS + column];
#pragma unroll
            for (int r = 0; r < TR; ++r) {
                real k = value(s[r][c], xs[r], zs, p);
#pragma unroll
                for (int m = 0; m < RHS; ++m) sum[r][m] = fused(k, v[m], sum[r][m]);
            }
        }
        if (++pending == 4) flush();
    }
};

#ifdef ENTRY_APPLY
// out[(split * RHS + m) * x.padded + i] = sum over the columns j of a split of k(x_i, z_j) rhs[m][j].
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    apply(Side x, Side z, const real *rhs, double *out, Numbers p, long long first_block, long long per_split)
{
    SHARED_PACKS;
    real *shared = (real *)shared_packs;
    int thread = threadIdx.x, tx = thread % 16, ty = thread / 16;
    long long row = (first_block + blockIdx.x) * TILE_ROWS, first = blockIdx.y * per_split;
    long long end = first + per_split < z.padded ? first + per_split : z.padded;
    Sums sums(tx, p);
    for_tiles(x, z, rhs, p, row, first, end, shared, sums);
    sums.flush();
    double *columns = (double *)shared;
#pragma unroll
    for (int m = 0; m < RHS; ++m) {
        __syncthreads();
#pragma unroll
        for (int r = 0; r < TR; ++r) columns[(ty * TR + r) * 17 + tx] = sums.total[r][m];
        __syncthreads();
        if (thread < TILE_ROWS) {
            double total = 0;
            for (int c = 0; c < 16; ++c) total += columns[thread * 17 + c];
            out[((long long)blockIdx.y * RHS + m) * x.padded + row + thread] = total;
        }
    }
}
#endif

#ifdef ENTRY_FILL
// Writes values into rows of `stride` entries.
struct Writer {
    real *out;
    long long stride, row, rows, columns;
    int tx, ty;
    const Numbers &p;

    FUNCTION void operator()(real (&s)[TR][TC][NSTATS], real (&xs)[TR][NSCALARS], const real *numbers, long long first)
    {
#pragma unroll
        for (int c = 0; c < TC; ++c) {
            int column = column_of(tx, c);
            real zs[NSCALARS];
            numbers_of(numbers, column, zs);
#pragma unroll
            for (int r = 0; r < TR; ++r) {
                long long i = row + ty * TR + r, j = first + column;
                if (i < rows && j < columns) out[i * stride + j] = value(s[r][c], xs[r], zs, p);
            }
        }
    }
};

// out[(i - first_row) * stride + j] = k(x_i, z_j) for the rows from first_row on.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    fill(Side x, Side z, real *out, Numbers p, long long first_block, long long per_split, long long rows, long long columns,
         long long stride)
{
    SHARED_PACKS;
    int thread = threadIdx.x;
    long long base = first_block * TILE_ROWS, row = base + blockIdx.x * (long long)TILE_ROWS, first = blockIdx.y * per_split;
    long long end = first + per_split < z.padded ? first + per_split : z.padded;
    Writer writer = {out - base * stride, stride, row, rows, columns, thread % 16, thread / 16, p};
    for_tiles(x, z, (const real *)0, p, row, first, end, (real *)shared_packs, writer);
}
#endif

#ifdef ENTRY_FILL_ROWS
// Writes the values of the first `rows` rows into rows of `stride` entries, padding and all.
struct RowWriter {
    real *out;
    long long stride;
    int row, rows, tx, ty;
    const Numbers &p;

    FUNCTION void operator()(real (&s)[TR][TC][NSTATS], real (&xs)[TR][NSCALARS], const real *numbers, long long first)
    {
        const int width = TC < PACK ? TC : PACK;
        struct alignas(sizeof(real) * width) Some {
            real at[width];
        };
#pragma unroll
        for (int c = 0; c < TC; c += width) {
            int column = column_of(tx, c);
            real zs[width][NSCALARS];
#pragma unroll
            for (int i = 0; i < width; ++i) numbers_of(numbers, column + i, zs[i]);
#pragma unroll
            for (int r = 0; r < TR; ++r) {
                Some some;
#pragma unroll
                for (int i = 0; i < width; ++i) some.at[i] = value(s[r][c + i], xs[r], zs[i], p);
                int i = row + ty * TR + r;
                if (i < rows) *(Some *)(out + i * stride + first + column) = some;
            }
        }
    }
};

// Row state->base + i of `out` becomes k(x_i, z) over all columns, for the first state->fresh rows.
extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    fill_rows(Side x, Side z, real *out, Numbers p, const State *state, long long per_split)
{
    SHARED_PACKS;
    int thread = threadIdx.x, row = blockIdx.x * TILE_ROWS;
    if (state->done || row >= state->fresh) return;
    long long first = blockIdx.y * per_split, end = first + per_split < z.padded ? first + per_split : z.padded;
    RowWriter writer = {out + state->base * z.padded, z.padded, row, state->fresh, thread % 16, thread / 16, p};
    for_tiles(x, z, (const real *)0, p, row, first, end, (real *)shared_packs, writer);
}
#endif

#ifdef ENTRY_DIAGONAL
// out[i] = k(x_i, x_i).
extern "C" __global__ void diagonal(Side x, double *out, Numbers p, long long rows)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    out[i] = (double)pair(x, i, x, i, p);
}
#endif
