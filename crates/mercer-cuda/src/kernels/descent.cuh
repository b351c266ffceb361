// A quadratic problem in a box, solved one working set at a time:
//
//     minimise 1/2 b'Kb + sum(q b + kink |b|) over lower <= b <= upper, with sum(b) over each group as at the start.
//
// f = Kb. A variable may grow along the slope f + up and shrink along f + low, infinite at the bounds of the box; b is optimal
// if the least f + up of a group is not below its greatest f + low. A round is
//
//     rank, choose    the variables that violate this most, from both ends of each group
//     seat            the working set, and the kernel rows that it needs and that are not cached
//     pick, fill_rows these rows, over all variables
//     gather          the matrix of the working set
//     exchange        steps of two variables by one block of threads
//     sum_rows        the contribution of the changed variables to f, in parts
//     advance, judge  f, its ends, and whether to continue
//
// Sums run in a fixed order and ties go to the lowest index, so every run has the same bits. A working set has SET variables;
// CHOOSERS threads choose it and SOLVERS threads solve it. Everything except the kernel rows is in double precision.

#define CONVERGED 1
#define OUT_OF_STEPS 2
#define STALLED 3
#define FUTILE 4
#define NOT_FINITE 5

// Number of rounds without progress after which the solver stops.
#define PATIENCE 400
// Steps of a round for each variable of the working set.
#define STEPS_PER_MEMBER 10
// The least curvature of a pair.
#define CURVATURE_FLOOR 1e-12

struct Problem {
    const double *linear, *lower, *upper;
    double *beta, *f;
    double kink, tolerance;
    long long most_steps;
    // Variables, and those of the first group.
    int count, first;
};

FUNCTION double endless() { return __longlong_as_double(0x7ff0000000000000LL); }

// The slopes of the separable part at b for growing and for shrinking.
FUNCTION double slope_up(double b, double q, double kink, double upper) { return b >= upper ? endless() : b >= 0 ? q + kink : q - kink; }
FUNCTION double slope_low(double b, double q, double kink, double lower) { return b <= lower ? -endless() : b > 0 ? q + kink : q - kink; }

// Where one slope ends.
FUNCTION double ceiling(double b, double kink, double upper) { return kink > 0 && b < 0 && upper > 0 ? 0 : upper; }
FUNCTION double ground(double b, double kink, double lower) { return kink > 0 && b > 0 && lower < 0 ? 0 : lower; }

// Whole numbers in the order of single-precision numbers, and back.
FUNCTION word ordered(float a)
{
    word bits = __float_as_uint(a);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
FUNCTION float number_of(word key) { return __uint_as_float(key & 0x80000000u ? key & 0x7fffffffu : ~key); }

// The violation of the conditions by a variable, from 1 to 2^32 - 1 in proportion to the largest violation of its group; 0 for none.
extern "C" __global__ void rank(Problem p, const State *state, word *keys)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x, group = v >= p.first;
    if (v >= p.count || state->done) return;
    double least = state->least[group], most = state->most[group], scale = 4294967040.0 / (most - least);
    double b = p.beta[v], f = p.f[v], q = p.linear[v];
    double grow = most - (f + slope_up(b, q, p.kink, p.upper[v])), shrink = f + slope_low(b, q, p.kink, p.lower[v]) - least;
    if (!(scale < 1e300)) scale = 1e300;
    keys[v] = grow > 0 ? 1 + (word)(grow * scale) : 0;
    keys[p.count + v] = shrink > 0 ? 1 + (word)(shrink * scale) : 0;
}

#define BINS 2048

// The variables of one end of one group with the largest keys, in the order of their numbers; of equal keys the first.
extern "C" __global__ void __launch_bounds__(CHOOSERS, 1) choose(Problem p, State *state, const word *keys, int *lists)
{
    if (state->done) return;
    __shared__ int bins[BINS], counts[64], found[3];
    int thread = threadIdx.x, lane = thread % 32, group = blockIdx.x / 2;
    int from = group == 0 ? 0 : p.first, to = group == 0 ? p.first : p.count;
    const word *key = keys + (blockIdx.x % 2) * (long long)p.count;
    // The last key that is taken, digit by digit, and the number of equal keys that are.
    int left = (state->rounds == 0 ? SET : SET / 2) / (2 * GROUPS);
    word last = 0, known = 0;
    for (int digit = 0; digit < 3; ++digit) {
        int shift = digit == 0 ? 21 : digit == 1 ? 10 : 0;
        word mask = digit < 2 ? 2047 : 1023;
        for (int i = thread; i < BINS; i += CHOOSERS) bins[i] = 0;
        __syncthreads();
        for (int v = from + thread; v < to; v += CHOOSERS) {
            word k = key[v];
            if (k != 0 && (k & known) == last) atomicAdd(bins + (k >> shift & mask), 1);
        }
        __syncthreads();
        if (thread < 32) {
            const int each = BINS / 32;
            int sum = 0, above = 0;
            for (int i = 0; i < each; ++i) sum += bins[lane * each + (i + lane) % each];
            for (int other = 0; other < 32; ++other) {
                int of_other = __shfl_sync(ALL_LANES, sum, other);
                if (other > lane) above += of_other;
            }
            if (lane == 0) found[2] = above + sum;
            if (above < left && above + sum >= left) {
                int bin = lane * each + each - 1;
                for (; above + bins[bin] < left; --bin) above += bins[bin];
                found[0] = bin, found[1] = above;
            }
        }
        __syncthreads();
        if (found[2] < left) {
            // There is room for all.
            last = 1, left = p.count;
            break;
        }
        last |= (word)found[0] << shift, known |= mask << shift, left -= found[1];
        __syncthreads();
    }
    int over = 0, equal = 0, turn = 0;
    int *list = lists + blockIdx.x * (SET / 2);
    for (int first = from; first < to; first += CHOOSERS, ++turn) {
        int v = first + thread;
        word k = v < to ? key[v] : 0;
        bool is_over = k > last, is_equal = k != 0 && k == last;
        Ranks r = ranks(is_over, is_equal, counts, turn);
        int equal_before = equal + r.before[1];
        if (is_over || (is_equal && equal_before < left)) list[over + r.before[0] + (equal_before < left ? equal_before : left)] = v;
        over += r.total[0], equal += r.total[1];
    }
    if (thread == 0) state->chosen[blockIdx.x] = over + (equal < left ? equal : left);
}

// The working set: what was chosen from both ends of each group, then the set before, its newest members first. `sets` holds
// this set and the one before; -1 is no variable. `seen` is the round in which a variable was last taken.
extern "C" __global__ void __launch_bounds__(CHOOSERS, 1)
    seat(Problem p, State *state, const int *lists, int *sets, int *seen, int *slots, int *fresh, int capacity)
{
    if (state->done) return;
    __shared__ int counts[64];
    const int room = SET / GROUPS;
    int thread = threadIdx.x, round = state->rounds, turn = 0;
    int *now = sets + (round % 2) * SET, *before = sets + ((round + 1) % 2) * SET;
    for (int group = 0; group < GROUPS; ++group) {
        int placed = 0;
        for (int source = 0; source < 3; ++source) {
            const int *from = source < 2 ? lists + (2 * group + source) * (SET / 2) : before + group * room;
            int count = source < 2 ? state->chosen[2 * group + source] : round == 0 ? 0 : room;
            for (int first = 0; first < count; first += CHOOSERS, ++turn) {
                int v = first + thread < count ? from[first + thread] : -1;
                bool wanted = v >= 0 && seen[v] != round + 1;
                Ranks r = ranks(wanted, false, counts, turn);
                int at = placed + r.before[0];
                if (wanted && at < room) now[group * room + at] = v, seen[v] = round + 1;
                placed += r.total[0];
                __syncthreads();
            }
        }
        for (int i = placed + thread; i < room; i += CHOOSERS) now[group * room + i] = -1;
    }
    __syncthreads();
    int base = state->kept, missing = 0;
    for (int first = 0; first < SET; first += CHOOSERS, ++turn) {
        int v = first + thread < SET ? now[first + thread] : -1;
        missing += ranks(v >= 0 && slots[v] < 0, false, counts, turn).total[0];
    }
    if (base + missing > capacity) {
        __syncthreads();
        for (int v = thread; v < p.count; v += CHOOSERS) slots[v] = -1;
        base = 0;
    }
    __syncthreads();
    int placed = 0;
    for (int first = 0; first < SET; first += CHOOSERS, ++turn) {
        int v = first + thread < SET ? now[first + thread] : -1;
        bool wanted = v >= 0 && slots[v] < 0;
        Ranks r = ranks(wanted, false, counts, turn);
        int at = placed + r.before[0];
        if (wanted) slots[v] = base + at, fresh[at] = v;
        placed += r.total[0];
    }
    if (thread == 0) {
        state->base = base, state->fresh = placed, state->kept = base + placed;
        state->evaluations += (long long)placed * p.count;
    }
}

// Copies the features and numbers of the rows that are to be computed.
extern "C" __global__ void __launch_bounds__(BLOCK)
    pick(const State *state, const int *fresh, const real *features, const real *scalars, long long padded, real *to_features,
         real *to_scalars, int width, int numbers)
{
    int count = state->fresh, r = blockIdx.x * BLOCK + threadIdx.x;
    if (state->done || blockIdx.x * BLOCK >= count) return;
    long long v = fresh[r < count ? r : count - 1];
    for (int k = blockIdx.y; k < width + numbers; k += gridDim.y) {
        if (k < width)
            to_features[((long long)blockIdx.x * width + k) * BLOCK + threadIdx.x] = features[(v / BLOCK * width + k) * BLOCK + v % BLOCK];
        else
            to_scalars[(long long)(k - width) * SET + r] = scalars[(k - width) * padded + v];
    }
}

// The matrix of the working set.
extern "C" __global__ void gather(const State *state, const int *sets, const int *slots, const real *rows, long long stride, real *tile)
{
    if (state->done) return;
    const int *now = sets + (state->rounds % 2) * SET;
    int v = now[blockIdx.x];
    const real *row = rows + (v < 0 ? 0 : slots[v]) * stride;
    for (int i = threadIdx.x; i < SET; i += blockDim.x) {
        int w = now[i];
        tile[blockIdx.x * SET + i] = v < 0 || w < 0 ? (real)0 : row[w];
    }
}

#define WARPS (SOLVERS / 32)
// Variables of a thread.
#define ITEMS (SET / SOLVERS)

// The best variable of a warp for one side of a step.
struct Offer {
    // f + up or f + low, and the distance that the variable can move.
    double value, room;
    real diagonal, cross;
    int at;
    word key;
};

FUNCTION Offer offer(double value, double room, real diagonal, real cross, int at, word key) { return {value, room, diagonal, cross, at, key}; }

// The first warp among those of `key` that has the greatest, or the least, key.
FUNCTION int greatest_of(word key, word &found)
{
    found = __reduce_max_sync(ALL_LANES, key);
    return __ffs(__ballot_sync(ALL_LANES, key == found)) - 1;
}
FUNCTION int least_of(word key, word &found)
{
    found = __reduce_min_sync(ALL_LANES, key);
    return __ffs(__ballot_sync(ALL_LANES, key == found)) - 1;
}

struct alignas(ITEMS * sizeof(real) < 16 ? ITEMS * sizeof(real) : 16) Items {
    real at[ITEMS];
};

// Steps of two variables of the working set: i with the least f + up grows, j with the largest b^2 / a shrinks by the same amount,
// b = f_j + low_j - (f_i + up_i), a = K_ii + K_jj - 2 K_ij (Fan, Chen and Lin 2005). The pair is chosen in single precision, relative
// to the middle of the group's gradient; the step is computed in double precision.
extern "C" __global__ void __launch_bounds__(SOLVERS, 1)
    exchange(Problem p, State *state, const int *sets, const int *slots, const real *tile, int *changed_rows, double *changes)
{
    if (state->done) return;
    __shared__ Offer firsts[WARPS], seconds[WARPS];
    __shared__ word greatest[WARPS];
    __shared__ int counts[64];
    int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    // A warp belongs to one group.
    const int warps_of_group = WARPS / GROUPS;
    int group = warp / warps_of_group;
    const int *now = sets + (state->rounds % 2) * SET;

    int v[ITEMS];
    double f[ITEMS], b[ITEMS], up[ITEMS], low[ITEMS], q[ITEMS], upper[ITEMS], lower[ITEMS];
    real diagonal[ITEMS];
    double violation = 0, middles[GROUPS];
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        double least = state->least[g], most = state->most[g];
        if (most - least > violation) violation = most - least;
        middles[g] = least < endless() && most > -endless() ? 0.5 * (least + most) : 0;
    }
    double middle = GROUPS > 1 && group > 0 ? middles[GROUPS - 1] : middles[0];
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        int s = thread * ITEMS + k;
        v[k] = now[s];
        bool there = v[k] >= 0;
        f[k] = there ? p.f[v[k]] : 0, b[k] = there ? p.beta[v[k]] : 0, q[k] = there ? p.linear[v[k]] : 0;
        upper[k] = there ? p.upper[v[k]] : 0, lower[k] = there ? p.lower[v[k]] : 0;
        up[k] = there ? slope_up(b[k], q[k], p.kink, upper[k]) : endless();
        low[k] = there ? slope_low(b[k], q[k], p.kink, lower[k]) : -endless();
        diagonal[k] = tile[s * (SET + 1)];
    }
    double rest = p.tolerance * 0.5;
    float tolerance = (float)(EAGERNESS * violation > rest ? EAGERNESS * violation : rest);
    long long allowed = p.most_steps - state->steps;
    int most_steps = allowed < STEPS_PER_MEMBER * SET ? (int)allowed : STEPS_PER_MEMBER * SET, steps = 0;

    while (steps < most_steps) {
        // The ends of the gradient in this warp.
        word lowest = ALL_LANES, highest = 0;
        int at = 0;
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) {
            word grows = ordered((float)(f[k] + up[k] - middle)), shrinks = ordered((float)(f[k] + low[k] - middle));
            if (grows < lowest) lowest = grows, at = k;
            if (shrinks > highest) highest = shrinks;
        }
        word key, top = __reduce_max_sync(ALL_LANES, highest);
        if (least_of(lowest, key) == lane) {
#pragma unroll
            for (int k = 0; k < ITEMS; ++k)
                if (k == at)
                    firsts[warp] = offer(f[k] + up[k], ceiling(b[k], p.kink, upper[k]) - b[k], diagonal[k], 0, thread * ITEMS + k, key);
            greatest[warp] = top;
        }
        __syncthreads();

        // The variable to grow in each group.
        word key_of_warp = lane < WARPS ? firsts[lane].key : ALL_LANES, top_of_warp = lane < WARPS ? greatest[lane] : 0;
        Offer first[GROUPS];
        bool active[GROUPS], any = false;
#pragma unroll
        for (int g = 0; g < GROUPS; ++g) {
            bool here = lane / warps_of_group == g;
            first[g] = firsts[least_of(here ? key_of_warp : ALL_LANES, key)];
            active[g] = number_of(__reduce_max_sync(ALL_LANES, here ? top_of_warp : 0)) - number_of(key) > tolerance;
            any = any || active[g];
        }
        if (!any) break;

        // The variable to shrink: the one with the largest expected decrease.
        Offer mine = GROUPS > 1 && group > 0 ? first[GROUPS - 1] : first[0];
        Items own = *(const Items *)(tile + mine.at * SET + thread * ITEMS);
        word best = 0;
        at = 0;
        if (GROUPS > 1 && group > 0 ? active[GROUPS - 1] : active[0]) {
#pragma unroll
            for (int k = 0; k < ITEMS; ++k) {
                float slope = (float)(f[k] + low[k] - mine.value);
                if (!(slope > 0)) continue;
                float curvature = (float)(mine.diagonal + diagonal[k] - 2 * own.at[k]);
                word gain = __float_as_uint(slope * __fdividef(slope, curvature > (float)CURVATURE_FLOOR ? curvature : (float)CURVATURE_FLOOR));
                if (gain > best) best = gain, at = k;
            }
        }
        if (greatest_of(best, key) == lane) {
#pragma unroll
            for (int k = 0; k < ITEMS; ++k)
                if (k == at)
                    seconds[warp] = offer(f[k] + low[k], b[k] - ground(b[k], p.kink, lower[k]), diagonal[k], own.at[k], thread * ITEMS + k, key);
        }
        __syncthreads();
        int chosen = greatest_of(lane < WARPS ? seconds[lane].key : 0, key);
        if (key == 0) break;
        Offer second = seconds[chosen];
        int of = chosen / warps_of_group;
        Offer one = GROUPS > 1 && of > 0 ? first[GROUPS - 1] : first[0];
        if (GROUPS > 1 && of != group) own = *(const Items *)(tile + one.at * SET + thread * ITEMS);
        Items other = *(const Items *)(tile + second.at * SET + thread * ITEMS);
        double slope = second.value - one.value, curvature = (double)one.diagonal + (double)second.diagonal - 2 * (double)second.cross;
        // A step that is accurate to seven digits reduces the slope by as many digits.
        double step = slope * (double)__frcp_rn((float)(curvature > CURVATURE_FLOOR ? curvature : CURVATURE_FLOOR));
        if (one.room < step) step = one.room;
        if (second.room < step) step = second.room;
        if (!(step > 0)) break;
        ++steps;
#pragma unroll
        for (int k = 0; k < ITEMS; ++k) {
            int s = thread * ITEMS + k;
            f[k] += step * ((double)own.at[k] - (double)other.at[k]);
            if (s == one.at || s == second.at) {
                // Bounds are reached exactly: a remainder from rounding would look like room to move.
                if (s == one.at)
                    b[k] = step >= one.room ? ceiling(b[k], p.kink, upper[k]) : b[k] + step;
                else
                    b[k] = step >= second.room ? ground(b[k], p.kink, lower[k]) : b[k] - step;
                up[k] = slope_up(b[k], q[k], p.kink, upper[k]), low[k] = slope_low(b[k], q[k], p.kink, lower[k]);
            }
        }
    }

    int placed = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; ++k) {
        double change = v[k] >= 0 ? b[k] - p.beta[v[k]] : 0;
        Ranks r = ranks(change != 0, false, counts, k);
        if (change != 0) {
            int at = placed + r.before[0];
            changed_rows[at] = slots[v[k]], changes[at] = change, p.beta[v[k]] = b[k];
        }
        placed += r.total[0];
    }
    if (thread == 0) state->changed = placed, state->steps += steps, state->stalled = steps == 0, state->rounds += 1;
}

// parts[split * stride + v] = the sum of change * K(row, v) over a part of the changed rows; PACK variables a thread.
extern "C" __global__ void __launch_bounds__(256)
    sum_rows(const State *state, const int *changed_rows, const double *changes, const real *rows, long long stride, double *parts)
{
    long long at = (blockIdx.x * 256LL + threadIdx.x) * PACK;
    if (state->done || at >= stride) return;
    int changed = state->changed, each = (changed + gridDim.y - 1) / gridDim.y, from = blockIdx.y * each;
    int to = from + each < changed ? from + each : changed;
    double sum[PACK];
#pragma unroll
    for (int i = 0; i < PACK; ++i) sum[i] = 0;
#pragma unroll 8
    for (int r = from; r < to; ++r) {
        Pack values = *(const Pack *)(rows + changed_rows[r] * stride + at);
        double change = changes[r];
#pragma unroll
        for (int i = 0; i < PACK; ++i) sum[i] += change * (double)values.at[i];
    }
#pragma unroll
    for (int i = 0; i < PACK; ++i) parts[blockIdx.y * stride + at + i] = sum[i];
}

#define ADVANCERS 256

// Adds the parts to f; the ends of f + up and f + low of each block's variables: least and most of each group.
extern "C" __global__ void __launch_bounds__(ADVANCERS)
    advance(Problem p, State *state, const double *parts, long long stride, int splits, double *ends)
{
    if (state->done) return;
    __shared__ double least[ADVANCERS], most[ADVANCERS];
    int thread = threadIdx.x, v = blockIdx.x * ADVANCERS + thread;
    double grow = endless(), shrink = -endless();
    if (v < p.count) {
        double sum = 0, b = p.beta[v], q = p.linear[v];
        for (int s = 0; s < splits; ++s) sum += parts[s * stride + v];
        double f = p.f[v] + sum;
        p.f[v] = f;
        if (!(f - f == 0)) state->broken = 1;
        grow = f + slope_up(b, q, p.kink, p.upper[v]), shrink = f + slope_low(b, q, p.kink, p.lower[v]);
    }
#pragma unroll
    for (int g = 0; g < GROUPS; ++g) {
        bool here = (v >= p.first) == (g == 1);
        __syncthreads();
        least[thread] = here ? grow : endless(), most[thread] = here ? shrink : -endless();
        for (int half = ADVANCERS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (thread < half) {
                least[thread] = fmin(least[thread], least[thread + half]);
                most[thread] = fmax(most[thread], most[thread + half]);
            }
        }
        if (thread == 0) ends[blockIdx.x * 4 + 2 * g] = least[0], ends[blockIdx.x * 4 + 2 * g + 1] = most[0];
    }
}

// The ends of every group, and whether to continue.
extern "C" __global__ void __launch_bounds__(ADVANCERS) judge(Problem p, State *state, const double *ends, int parts)
{
    if (state->done) return;
    __shared__ double least[ADVANCERS], most[ADVANCERS];
    int thread = threadIdx.x;
    double violation = -endless();
    for (int g = 0; g < GROUPS; ++g) {
        double a = endless(), b = -endless();
        for (int i = thread; i < parts; i += ADVANCERS) a = fmin(a, ends[i * 4 + 2 * g]), b = fmax(b, ends[i * 4 + 2 * g + 1]);
        __syncthreads();
        least[thread] = a, most[thread] = b;
        for (int half = ADVANCERS / 2; half > 0; half /= 2) {
            __syncthreads();
            if (thread < half) {
                least[thread] = fmin(least[thread], least[thread + half]);
                most[thread] = fmax(most[thread], most[thread + half]);
            }
        }
        if (thread == 0) {
            state->least[g] = least[0], state->most[g] = most[0];
            violation = fmax(violation, most[0] - least[0]);
        }
    }
    if (thread > 0) return;
    if (violation < 0.9 * state->best) state->best = violation, state->best_round = state->rounds;
    int done = 0;
    if (state->broken)
        done = NOT_FINITE;
    else if (!(violation > p.tolerance))
        done = CONVERGED;
    else if (state->steps >= p.most_steps)
        done = OUT_OF_STEPS;
    else if (state->stalled)
        done = STALLED;
    else if (state->rounds > state->best_round + PATIENCE)
        done = FUTILE;
    state->done = done;
}
