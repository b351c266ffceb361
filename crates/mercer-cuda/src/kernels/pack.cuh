// Fragments of features for tensor cores: each feature times `scale` as a sum of two half-precision numbers.

#ifdef ENTRY_SPLIT
FUNCTION word half_of(float a)
{
    unsigned short h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(a));
    return h;
}
FUNCTION float float_of(word h)
{
    float a;
    asm("cvt.f32.f16 %0, %1;" : "=f"(a) : "h"((unsigned short)h));
    return a;
}

// Rows 8t to 8t + 7 and features 16s to 16s + 15 are the 32 entries (t * K_STEPS + s) * 32 of `fragments`. If PACKED, the features of
// rows are (high, high, low), those of columns (high, low, high).
extern "C" __global__ void split(const real *features, void *fragments, float scale, int columns, long long count)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int lane = (int)(i % 32), step = (int)(i / 32 % K_STEPS);
    long long row = i / 32 / K_STEPS * 8 + lane / 4;
    const real *from = features + (row / BLOCK * WIDTH) * BLOCK + row % BLOCK;
    word high[4], low[4];
#pragma unroll
    for (int f = 0; f < 4; ++f) {
        int k = step * 16 + (lane % 4) * 2 + (f % 2) + (f / 2) * 8, part = PACKED ? k / WIDTH : 0, at = k - part * WIDTH;
        float a = at < WIDTH && part < 3 ? (float)from[(long long)at * BLOCK] * scale : 0.0f;
        high[f] = half_of(a);
        low[f] = half_of(a - float_of(high[f]));
        if (PACKED && part == (columns ? 1 : 2)) high[f] = low[f];
    }
    uint4 all = make_uint4(high[0] | high[1] << 16, high[2] | high[3] << 16, low[0] | low[1] << 16, low[2] | low[3] << 16);
#if PACKED
    ((uint2 *)fragments)[i] = make_uint2(all.x, all.y);
#else
    ((uint4 *)fragments)[i] = all;
#endif
}
#endif
