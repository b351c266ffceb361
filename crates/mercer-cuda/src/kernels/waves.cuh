// Random Fourier features of rows, in double precision. `sample` is defined before this text.

#define ROWS 16
#define COLUMNS 64

// Rows `first` to `first + count` as rows of `width` features, times the roots of their weights: amplitude * cos(2 pi (<omega, x> + shift)) and,
// where there are pairs, the sines after all cosines. Frequencies are in turns, one a column of `frequencies`.
extern "C" __global__ void waves(const sample *rows, long long first, long long count, long long d, const double *frequencies,
                                 const double *shifts, const double *amplitudes, long long m, int pairs, const double *roots,
                                 double *out)
{
    __shared__ double x[ROWS][COLUMNS];
    long long j = (long long)blockIdx.x * blockDim.x + threadIdx.x, row = (long long)blockIdx.y * ROWS;
    double phase[ROWS];
    for (int r = 0; r < ROWS; ++r) phase[r] = j < m && shifts ? shifts[j] : 0.0;
    for (long long start = 0; start < d; start += COLUMNS) {
        __syncthreads();
        for (int k = threadIdx.x; k < ROWS * COLUMNS; k += blockDim.x) {
            long long r = row + k / COLUMNS, c = start + k % COLUMNS;
            x[k / COLUMNS][k % COLUMNS] = r < count && c < d ? (double)rows[(first + r) * d + c] : 0.0;
        }
        __syncthreads();
        int columns = d - start < COLUMNS ? (int)(d - start) : COLUMNS;
        if (j < m)
            for (int c = 0; c < columns; ++c) {
                double omega = frequencies[(start + c) * m + j];
                for (int r = 0; r < ROWS; ++r) phase[r] = fma(omega, x[r][c], phase[r]);
            }
    }
    if (j >= m) return;
    long long width = pairs ? 2 * m : m;
    for (int r = 0; r < ROWS && row + r < count; ++r) {
        double sine, cosine, by = amplitudes[j] * (roots ? roots[first + row + r] : 1.0);
        double turns = phase[r] - rint(phase[r]);
        sincospi(2 * turns, &sine, &cosine);
        double *to = out + (row + r) * width;
        to[j] = by * cosine;
        if (pairs) to[m + j] = by * sine;
    }
}
