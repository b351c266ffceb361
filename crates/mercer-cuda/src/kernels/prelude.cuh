// Building blocks of printed source: functions of one or two values in the precision of the tiles, and copies to shared memory.
// `real` is defined before this text. MERCER_HOST is defined where the text is compiled as C++ for the host.

#ifndef MERCER_HOST
#define FUNCTION __device__ __forceinline__
#define SLOW_FUNCTION static __device__ __noinline__
#define SHARED_PACKS extern __shared__ Pack shared_packs[]
#else
#define FUNCTION inline
#define SLOW_FUNCTION static
#define SHARED_PACKS Pack *shared_packs = (Pack *)shared_memory
#endif

#define BLOCK 128

typedef unsigned int word;

// The values of a few neighbours, read and written as one.
struct alignas(16) Pack {
    real at[16 / sizeof(real)];
};
#define PACK ((int)(16 / sizeof(real)))

// One set of samples, mapped: features in blocks of 128 rows, feature after feature; numbers of a row, each for all rows.
struct Side {
    const real *features;
    const real *scalars;
    const uint4 *fragments;
    long long padded;
};

#ifndef MERCER_HOST
FUNCTION float power_of_two(float a)
{
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
    return result;
}
FUNCTION float root(float a)
{
    float result;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(a));
    return result;
}
FUNCTION void copy_async(void *to, const void *from)
{
    word at = (word)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
}
FUNCTION void copies_done()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}
#else
FUNCTION float power_of_two(float a) { return exp2f(a); }
FUNCTION float root(float a) { return sqrtf(a); }
FUNCTION void copy_async(void *to, const void *from) { memcpy(to, from, 16); }
FUNCTION void copies_done() {}
#endif
FUNCTION double power_of_two(double a) { return exp2(a); }
FUNCTION double root(double a) { return sqrt(a); }

// sin a / a, 1 at 0.
FUNCTION float sinc(float a) { return a == 0.0f ? 1.0f : sinf(a) / a; }
FUNCTION double sinc(double a) { return a == 0.0 ? 1.0 : sin(a) / a; }

// e^a: in single precision within a unit of the exponent's rounding.
FUNCTION float exponential(float a) { return power_of_two(a * 1.44269504088896340736f); }
FUNCTION double exponential(double a) { return exp(a); }

FUNCTION float fused(float a, float b, float c) { return fmaf(a, b, c); }
FUNCTION double fused(double a, double b, double c) { return fma(a, b, c); }

// The lesser and the greater; NaN if either is.
FUNCTION real least(real a, real b) { return a < b ? a : (a == a ? b : a); }
FUNCTION real greatest(real a, real b) { return b < a ? a : (a == a ? b : a); }

FUNCTION real not_negative(real a) { return a < (real)0 ? (real)0 : a; }

// (a - b)^2 / (a + b), with 0/0 = 0.
FUNCTION real chi_squared(real a, real b)
{
    real sum = a + b, difference = a - b;
    return sum == (real)0 && difference == (real)0 ? (real)0 : difference * difference / sum;
}

// J_n / pi of Cho and Saul for unit vectors at squared distance `chord`.
template <int ORDER> FUNCTION real arc_cosine(real chord)
{
    const real pi = (real)3.14159265358979323846;
    chord = least(not_negative(chord), (real)4);
    real cosine = (real)1 - (real)0.5 * chord;
    // pi minus the angle, from the half angle whose sine is small.
    real rest = chord > (real)2 ? (real)2 * asin(sqrt(not_negative((real)1 - (real)0.25 * chord)))
                                : pi - (real)2 * asin((real)0.5 * sqrt(chord));
    real sine = sqrt(not_negative(chord * ((real)1 - (real)0.25 * chord)));
    if (ORDER == 0) return rest / pi;
    if (ORDER == 1) return (sine + rest * cosine) / pi;
    return ((real)3 * sine * cosine + rest * ((real)1 + (real)2 * cosine * cosine)) / pi;
}

// The Matern function of order STEPS + 1/2 at s = sqrt(squared): a polynomial times e^-s.
template <int STEPS> FUNCTION real matern_half(real squared)
{
    real s = root(not_negative(squared)), before = (real)1, now = STEPS == 0 ? (real)1 : (real)1 + s;
#pragma unroll
    for (int i = 1; i < STEPS; ++i) {
        real order = (real)i + (real)0.5;
        real next = now + squared / ((real)4 * order * (order - (real)1)) * before;
        before = now;
        now = next;
    }
    real value = now * exponential(-s);
    // Where e^-s is below the smallest number, so is the value within the precision of the tiles.
    return value != value && s == s ? (real)0 : least(value, (real)1);
}

// As special::matern: the ratio of two integrals by the trapezoidal rule, for orders below 16.
SLOW_FUNCTION real matern_integral(double nu, real squared)
{
    double s = sqrt((double)squared);
    if (s != s) return (real)s;
    if (s == 0) return (real)1;
    if (s > 1500) return (real)0;
    double width = 0.5 / sqrt(sqrt(nu * nu + s * s));
    double h = width < 0.2 ? width : 0.2, log_half = log(0.5 * s), peak = asinh(nu / s);
    double sum = 0.5 * 2 * exp(nu * log_half);
    for (int k = 1; k < 100000; ++k) {
        double t = h * k, half = sinh(0.5 * t), decay = -2 * s * half * half;
        double term = exp(decay + nu * (log_half + t)) + exp(decay + nu * (log_half - t));
        sum += term;
        if (t > peak && term <= 1e-18 * sum) break;
    }
    double damped = s < 700 ? exp(-s) : exp(-0.5 * s) * exp(-0.5 * s);
    double value = h * sum * damped / tgamma(nu);
    return (real)(value < 1 ? value : 1);
}

#ifdef DEBYE
// Debye's sum at t: `coefficients` holds the polynomials u_k one after the other, each from its constant term on.
FUNCTION double debye(double nu, double t, const double *coefficients)
{
    double sum = 0;
    for (int k = DEBYE - 1; k >= 0; --k) {
        const double *u = coefficients + k * (3 * k - 1) / 2;
        double value = 0;
        for (int i = 3 * k; i >= 0; --i) value = value * t + u[i];
        sum = value - sum / nu;
    }
    return sum;
}
// As special::matern for orders from 16 on.
SLOW_FUNCTION real matern_large(double nu, real squared, const double *coefficients)
{
    double s = sqrt((double)squared), z = s / nu, w = sqrt(1 + z * z), a = z * (z / (1 + w));
    double exponent = nu * (log1p(0.5 * a) - a);
    if (s != s) return squared;
    if (s == 0) return (real)1;
    if (isinf(exponent) || isinf(w)) return (real)0;
    double value = exp(exponent) / sqrt(w) * (debye(nu, 1 / w, coefficients) / debye(nu, 1, coefficients));
    return (real)(value < 1 ? value : 1);
}
#endif
