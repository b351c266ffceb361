#define ALL_LANES 0xffffffffu

// For two flags of every thread of a block: how many threads before this one, and in all, have them set. `counts` has 64 entries; `turn`
// alternates between calls.
struct Ranks {
    int before[2], total[2];
};
FUNCTION Ranks ranks(bool a, bool b, int *counts, int turn)
{
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32, warps = blockDim.x / 32;
    word here[2] = {__ballot_sync(ALL_LANES, a), __ballot_sync(ALL_LANES, b)}, earlier = (1u << lane) - 1;
    int *to = counts + (turn & 1) * 32;
    if (lane == 0) to[warp] = __popc(here[0]) | __popc(here[1]) << 16;
    __syncthreads();
    word mine = lane < warps ? (word)to[lane] : 0;
    word before = __reduce_add_sync(ALL_LANES, lane < warp ? mine : 0), total = __reduce_add_sync(ALL_LANES, mine);
    return {{(int)(before & 0xffff) + __popc(here[0] & earlier), (int)(before >> 16) + __popc(here[1] & earlier)},
            {(int)(total & 0xffff), (int)(total >> 16)}};
}
