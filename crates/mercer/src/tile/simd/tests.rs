//! The operations of every instruction set against those of [`Portable`](super::Portable).

use super::{Element, InstructionSet, Simd, Vectorized, each_instruction_set, run_at};

/// As many elements as fill a whole number of vectors of every instruction set.
const COUNT: usize = 16;

/// The results of the operations on pairs of elements, one list for each operation.
struct Operations<'a, T> {
    a: &'a [T; COUNT],
    b: &'a [T; COUNT],
    /// Whole numbers from −100 to 100.
    n: &'a [T; COUNT],
    short: &'a [i16; COUNT],
}

impl<T: Element> Vectorized<T> for Operations<'_, T> {
    type Output = Vec<Vec<f64>>;

    #[inline(always)]
    fn run<S: Simd<T = T>>(self, s: S) -> Self::Output {
        let mut lists: Vec<Vec<f64>> = Vec::new();
        for place in (0..COUNT).step_by(S::LANES) {
            // SAFETY: every array has COUNT elements, a multiple of LANES.
            let (a, b, n, short) = unsafe {
                (
                    s.load(self.a.as_ptr().add(place)),
                    s.load(self.b.as_ptr().add(place)),
                    s.load(self.n.as_ptr().add(place)),
                    s.load_short(self.short.as_ptr().add(place)),
                )
            };
            let positive = s.max(s.abs(a), s.number(1e-30));
            let finite = s.min(positive, s.number(1e30));
            let (mantissa, exponent) = s.split(finite);
            let vectors = [
                s.add(a, b),
                s.sub(a, b),
                s.mul(a, b),
                s.div(a, b),
                s.sqrt(s.abs(a)),
                s.abs(a),
                s.min(a, b),
                s.max(a, b),
                s.select(s.lt(a, b), a, b),
                s.select(s.eq(a, b), s.number(1.0), s.number(2.0)),
                s.round(a),
                s.scale(a, n),
                s.with_sign(a, b),
                mantissa,
                exponent,
                short,
                s.narrow(s.widen(a)),
                s.in_double(a, |wide, a| wide.add(a, a)),
                // Small whole numbers have the same product and sum however often they are rounded.
                s.mul_add(n, n, short),
            ];
            lists.resize(vectors.len() + 2, Vec::new());
            for (list, v) in lists.iter_mut().zip(vectors) {
                let mut lanes = [T::default(); COUNT];
                // SAFETY: there is room for LANES elements.
                unsafe { s.store(lanes.as_mut_ptr(), v) };
                list.extend(lanes[..S::LANES].iter().map(|v| v.to_f64()));
            }
            let (below, equal) = (s.lt(a, b), s.eq(a, b));
            let index = lists.len() - 2;
            lists[index].extend((0..S::LANES).map(|lane| (s.bits(below) >> lane & 1) as f64));
            lists[index + 1].extend((0..S::LANES).map(|lane| (s.bits(equal) >> lane & 1) as f64));
            assert_eq!(s.any(below), s.bits(below) != 0);
            assert!(s.bits(below) >> S::LANES == 0);
        }
        lists
    }
}

fn agrees_with_portable<T: Element>() {
    let inputs = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.5,
        3.5,
        -0.5,
        1e-30,
        7.25e20,
        -1e9,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        3.0,
        -4.0,
        0.1,
    ];
    let of = |values: [f64; COUNT]| values.map(T::from_f64);
    for turn in 0..COUNT {
        let a = of(inputs);
        let b = of(std::array::from_fn(|i| inputs[(i + turn) % COUNT]));
        let n = of(std::array::from_fn(|i| ((i * 13 + turn * 7) % 201) as f64 - 100.0));
        let short = std::array::from_fn(|i| (i as i16 - 8) * 4001);
        let on = |set| run_at(set, Operations { a: &a, b: &b, n: &n, short: &short });
        let expected: Vec<Vec<f64>> = on(InstructionSet::Portable);
        each_instruction_set(|set| {
            for (operation, (found, expected)) in on(set).iter().zip(&expected).enumerate() {
                for (lane, (f, e)) in found.iter().zip(expected).enumerate() {
                    let same = f.to_bits() == e.to_bits() || (f.is_nan() && e.is_nan());
                    assert!(same, "{set}, operation {operation}, lane {lane}, turn {turn}: {f:e} for {e:e}");
                }
            }
        });
    }
}

#[test]
fn every_instruction_set_agrees_with_the_portable_code() {
    agrees_with_portable::<f32>();
    agrees_with_portable::<f64>();
}
