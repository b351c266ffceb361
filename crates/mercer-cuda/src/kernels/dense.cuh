// Operations on dense matrices in addition to cuBLAS and cuSOLVER. `real` is defined before this text. Square matrices are stored by rows,
// and only their lower triangle is used.

#define THREADS 256

// matrix = SKS + lambda I + N; S is the identity if there are no roots.
extern "C" __global__ void regularise(real *matrix, long long order, double lambda, const double *roots, const double *noise)
{
    long long row = blockIdx.x;
    real *entries = matrix + row * order;
    if (roots) {
        double root = roots[row];
        for (long long j = threadIdx.x; j <= row; j += THREADS) entries[j] = (real)((double)entries[j] * roots[j] * root);
        __syncthreads();
    }
    if (threadIdx.x == 0) entries[row] = (real)((double)entries[row] + (lambda + (noise ? noise[row] : 0.0)));
}

// Zeros above the diagonal.
extern "C" __global__ void clear_upper(real *matrix, long long order)
{
    long long row = blockIdx.x;
    for (long long j = row + 1 + threadIdx.x; j < order; j += THREADS) matrix[row * order + j] = (real)0;
}

// Columns `first` to `first + count` of the identity, one after the other.
extern "C" __global__ void unit_columns(real *out, long long order, long long first, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < order * count) out[i] = i % order == first + i / order ? (real)1 : (real)0;
}

// Copies columns of `rows` numbers to columns `stride` numbers apart.
extern "C" __global__ void copy_columns(const real *from, real *to, long long rows, long long columns, long long stride)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * columns) to[i / rows * stride + i % rows] = from[i];
}

// out[i] = matrix[i, i].
extern "C" __global__ void diagonal_of(const real *matrix, long long order, double *out)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < order) out[i] = (double)matrix[i * (order + 1)];
}

// The sum of a block's numbers, in a fixed order; returned to thread 0.
__device__ double block_sum(double own)
{
    __shared__ double sums[THREADS];
    sums[threadIdx.x] = own;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
    double all = sums[0];
    __syncthreads();
    return all;
}

// The share of each row in the squared Frobenius norm of the symmetric matrix.
extern "C" __global__ void row_squares(const real *matrix, long long order, double *out)
{
    long long row = blockIdx.x;
    double sum = 0;
    for (long long j = threadIdx.x; j <= row; j += THREADS) {
        double v = (double)matrix[row * order + j];
        sum += j < row ? 2 * v * v : v * v;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) out[row] = sum;
}

// `count` numbers in another precision.
extern "C" __global__ void to_double(const float *from, double *to, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = (double)from[i];
}
extern "C" __global__ void to_single(const double *from, float *to, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) to[i] = (float)from[i];
}

// F: single precision, stored by columns of `rows` entries each.

// Some rows of the first `columns` columns, one after the other.
extern "C" __global__ void gather_rows(const float *factor, long long rows, const int *chosen, long long count, long long columns,
                                       float *out)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count * columns) out[i] = factor[i % columns * rows + chosen[i / columns]];
}

// Subtracts the squares of `columns` new columns from the residual.
extern "C" __global__ void subtract_squares(const float *added, long long rows, long long columns, double *residual)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    double sum = 0;
    for (long long c = 0; c < columns; ++c) {
        double v = (double)added[c * rows + i];
        sum += v * v;
    }
    double left = residual[i] - sum;
    residual[i] = left < 0 ? 0 : left;
}

// Multiplies every row by its factor.
extern "C" __global__ void scale_rows(float *factor, long long rows, long long columns, const double *factors)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    float by = (float)factors[i];
    for (long long c = 0; c < columns; ++c) factor[c * rows + i] *= by;
}

// Rows `first` to `first + height` of all columns in double precision, as columns of `height`.
extern "C" __global__ void widen_rows(const float *factor, long long rows, long long first, long long height, long long columns,
                                      double *out)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < height * columns) out[i] = (double)factor[i / height * rows + first + i % height];
}

// out[j, o] = sum over i of F[i, j] v[i, o]; a block of threads for each column.
extern "C" __global__ void transposed_times(const float *factor, long long rows, const double *v, long long outputs, double *out)
{
    const float *column = factor + blockIdx.x * rows;
    for (long long o = 0; o < outputs; ++o) {
        double sum = 0;
        for (long long i = threadIdx.x; i < rows; i += THREADS) sum += (double)column[i] * v[i * outputs + o];
        sum = block_sum(sum);
        if (threadIdx.x == 0) out[blockIdx.x * outputs + o] = sum;
    }
}

// out[i, o] -= sum over j of F[i, j] u[j, o].
extern "C" __global__ void subtract_product(const float *factor, long long rows, long long columns, const double *u,
                                            long long outputs, double *out)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows) return;
    for (long long o = 0; o < outputs; ++o) {
        double sum = 0;
        for (long long j = 0; j < columns; ++j) sum += (double)factor[j * rows + i] * u[j * outputs + o];
        out[i * outputs + o] -= sum;
    }
}
