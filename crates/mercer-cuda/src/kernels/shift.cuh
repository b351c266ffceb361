// Adds a number to the diagonal of a matrix of `order` rows.
extern "C" __global__ void shift(real *matrix, long long order, double by)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < order) matrix[i * (order + 1)] = (real)((double)matrix[i * (order + 1)] + by);
}
