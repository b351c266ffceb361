// The nearest rows of queries, by differences of coordinates in double precision: the same arithmetic, and results, as on the host.
// METRIC is 0 for squared Euclidean, 1 for Manhattan and 2 for Chebyshev distances.

typedef unsigned long long Bits;

#define SIDE 64
#define CHUNK 16
#define THREADS 256

FUNCTION double fold(double folded, double difference)
{
#if METRIC == 0
    // Not fused.
    return __dadd_rn(folded, __dmul_rn(difference, difference));
#elif METRIC == 1
    return folded + fabs(difference);
#else
    return fmax(folded, fabs(difference));
#endif
}

// out[(i - first) * n + j] = the distance of query i and row j, for SIDE queries and rows per block, four by four per thread.
extern "C" __global__ void __launch_bounds__(THREADS)
    distances(const query_sample *queries, long long first, long long asked, const row_sample *rows, long long n, long long columns,
              double *out)
{
    __shared__ double of_queries[CHUNK][SIDE + 1], of_rows[CHUNK][SIDE + 1];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    long long query = first + (long long)blockIdx.y * SIDE, row = (long long)blockIdx.x * SIDE;
    double folded[4][4];
#pragma unroll
    for (int i = 0; i < 16; ++i) folded[i / 4][i % 4] = 0;
    for (long long column = 0; column < columns; column += CHUNK) {
        __syncthreads();
        for (int i = threadIdx.x; i < SIDE * CHUNK; i += THREADS) {
            int at = i / CHUNK, k = i % CHUNK;
            bool there = column + k < columns;
            of_queries[k][at] = there && query + at < asked ? (double)queries[(query + at) * columns + column + k] : 0.0;
            of_rows[k][at] = there && row + at < n ? (double)rows[(row + at) * columns + column + k] : 0.0;
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
            double a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) a[i] = of_queries[k][ty * 4 + i], b[i] = of_rows[k][tx + 16 * i];
#pragma unroll
            for (int i = 0; i < 16; ++i) folded[i / 4][i % 4] = fold(folded[i / 4][i % 4], a[i / 4] - b[i % 4]);
        }
    }
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        long long q = query + ty * 4 + i / 4, r = row + tx + 16 * (i % 4);
        if (q < asked && r < n) out[(q - first) * n + r] = folded[i / 4][i % 4];
    }
}

#define BINS 256

// The k least distances of each query, one block per query, in the order of their rows; ties go to the first row.
extern "C" __global__ void __launch_bounds__(THREADS) nearest(const double *all, long long n, int k, int *numbers, double *least)
{
    __shared__ int bins[BINS], counts[64], found[2];
    int thread = threadIdx.x, lane = thread % 32;
    const double *of = all + blockIdx.x * n;
    // The last distance that is taken, digit by digit, and the number of equal distances that are. No distance is below 0, so bits are in the order of numbers.
    Bits last = 0, known = 0;
    int left = k;
    for (int shift = 56; shift >= 0; shift -= 8) {
        bins[thread] = 0;
        __syncthreads();
        for (long long r = thread; r < n; r += THREADS) {
            Bits bits = __double_as_longlong(of[r]);
            if ((bits & known) == last) atomicAdd(bins + (int)(bits >> shift & 255), 1);
        }
        __syncthreads();
        if (thread < 32) {
            int sum = 0, below = 0;
            for (int i = 0; i < 8; ++i) sum += bins[lane * 8 + i];
            for (int other = 0; other < 32; ++other) {
                int of_other = __shfl_sync(ALL_LANES, sum, other);
                if (other < lane) below += of_other;
            }
            if (below < left && below + sum >= left) {
                int bin = lane * 8;
                for (; below + bins[bin] < left; ++bin) below += bins[bin];
                found[0] = bin, found[1] = below;
            }
        }
        __syncthreads();
        last |= (Bits)found[0] << shift, known |= (Bits)255 << shift, left -= found[1];
        __syncthreads();
    }
    int under = 0, equal = 0, turn = 0;
    for (long long first = 0; first < n; first += THREADS, ++turn) {
        long long r = first + thread;
        Bits bits = r < n ? __double_as_longlong(of[r]) : ~(Bits)0;
        bool is_under = bits < last, is_equal = bits == last;
        Ranks ranked = ranks(is_under, is_equal, counts, turn);
        int equal_before = equal + ranked.before[1];
        if (is_under || (is_equal && equal_before < left)) {
            long long at = (long long)blockIdx.x * k + under + ranked.before[0] + (equal_before < left ? equal_before : left);
            numbers[at] = (int)r, least[at] = of[r];
        }
        under += ranked.total[0], equal += ranked.total[1];
    }
}
