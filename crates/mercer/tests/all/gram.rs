//! Every path of the engine against the kernel's own definition at one pair.

use std::sync::atomic::AtomicBool;

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::{
    CpuEngine, DenseGram, Engine, Gram, GramError, LinearOperator, Part, Resident, TileMut, ValuesMut, Wanted,
};
use mercer::kernel::family::arc_cosine::ARC_COSINE;
use mercer::kernel::family::chi_squared::CHI_SQUARED;
use mercer::kernel::family::gaussian::GAUSSIAN;
use mercer::kernel::family::laplacian::LAPLACIAN;
use mercer::kernel::family::matern::MATERN;
use mercer::kernel::family::periodic::PERIODIC;
use mercer::kernel::family::polynomial::POLYNOMIAL;
use mercer::kernel::family::rational_quadratic::RATIONAL_QUADRATIC;
use mercer::kernel::family::sigmoid::SIGMOID;
use mercer::kernel::named::Search;
use mercer::kernel::{Columns, Expr, FAMILIES, FamilyId, Function, Kernel, Named, Value};
use mercer::pool;
use mercer::watch::{Stopped, Unwatched};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

type Random = Xoshiro256PlusPlus;

/// Largest error allowed, relative to 1 + the largest entry: the single-precision bound the engine states, and a
/// double-precision one with room for the expression's own conditioning.
const SINGLE: f64 = 2e-5;
const DOUBLE: f64 = 1e-9;

fn named(family: FamilyId, values: &[f64]) -> Expr {
    let mut named = Named::with_defaults(family);
    for (argument, value) in named.arguments.iter_mut().zip(values) {
        argument.value = Value::Number(*value);
    }
    Expr::Named(named)
}

fn per_column(family: FamilyId, slot: usize, values: Vec<f64>) -> Expr {
    let mut named = Named::with_defaults(family);
    named.arguments[slot].value = Value::PerColumn(values);
    Expr::Named(named)
}

fn rows(random: &mut Random, n: usize, d: usize, zeros: f64, positive: bool) -> Vec<f64> {
    (0..n * d)
        .map(|_| {
            let value = random.random_range(if positive { 0.0..2.0 } else { -2.0..2.0 });
            if random.random_bool(zeros) { 0.0 } else { f64::from(value as f32) }
        })
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    Dense64,
    Dense32,
    Sparse64,
    Sparse32,
}

const FORMS: [Form; 4] = [Form::Dense64, Form::Dense32, Form::Sparse64, Form::Sparse32];

fn load(form: Form, n: usize, d: usize, entries: &[f64]) -> Box<dyn Resident> {
    let (mut indptr, mut indices, mut values) = (vec![0usize], Vec::new(), Vec::new());
    for i in 0..n {
        for j in 0..d {
            if entries[i * d + j] != 0.0 {
                indices.push(j as u32);
                values.push(entries[i * d + j]);
            }
        }
        indptr.push(values.len());
    }
    let single = |v: &[f64]| v.iter().map(|v| *v as f32).collect::<Vec<_>>();
    let samples = match form {
        Form::Dense64 => AnySamples::F64(Samples::dense(n, d, entries).unwrap()),
        Form::Dense32 => AnySamples::F32(Samples::dense(n, d, single(entries)).unwrap()),
        Form::Sparse64 => AnySamples::F64(Samples::sparse(d, indptr, indices, values).unwrap()),
        Form::Sparse32 => AnySamples::F32(Samples::sparse(d, indptr, indices, single(&values)).unwrap()),
    };
    CpuEngine.load(&samples).unwrap()
}

/// Sums over every third row at every second column, against the values of the matrix.
fn check_apply_part(what: &str, gram: &dyn Gram, full: &[f64]) {
    let n = gram.nrows();
    let (rows, columns): (Vec<_>, Vec<_>) = ((0..n).step_by(3).collect(), (0..n).step_by(2).collect());
    let rhs = Matrix::from_entries(rows.len(), 2, (0..2 * rows.len()).map(|k| (k as f64).cos()).collect());
    let mut found = Matrix::zeros(columns.len(), 2);
    gram.apply_part(&columns, &rows, &rhs, &mut found, &Unwatched).unwrap();
    for (c, &column) in columns.iter().enumerate() {
        for o in 0..2 {
            let terms = rows.iter().enumerate().map(|(r, &row)| rhs.row(r)[o] * full[row * n + column]);
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), t| (sum + t, size + t.abs()));
            assert!((found.row(c)[o] - sum).abs() <= 1e-13 * size, "{what}: column {column}, output {o}");
        }
    }
}

fn oracle(kernel: &Kernel, d: usize, x: &[f64], z: &[f64]) -> Vec<f64> {
    let mut values = Vec::new();
    for i in 0..x.len() / d {
        for j in 0..z.len() / d {
            values.push(kernel.eval(&x[i * d..(i + 1) * d], &z[j * d..(j + 1) * d]).unwrap());
        }
    }
    values
}

#[track_caller]
fn assert_close(what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().filter(|v| v.is_finite()).fold(0.0, |m: f64, v| m.max(v.abs()));
    for (k, (f, e)) in found.iter().zip(expected).enumerate() {
        let close = (f - e).abs() <= tolerance * (1.0 + largest) || f == e || (f.is_nan() && e.is_nan());
        assert!(close, "{what}: entry {k} is {f}, should be {e} (largest {largest})");
    }
}

/// Compares every way to read the matrix of `x` with itself and with `z`.
fn check(kernel: &Kernel, d: usize, x: &[f64], z: &[f64], tolerance: impl Fn(Form) -> f64) {
    let (n, m) = (x.len() / d, z.len() / d);
    let (expected, expected_cross) = (oracle(kernel, d, x, x), oracle(kernel, d, x, z));
    for form in FORMS {
        let tolerance = tolerance(form);
        let what = format!("{form:?} {:?}", kernel.expr());
        let (x, z) = (load(form, n, d, x), load(form, m, d, z));
        let mut full = vec![f64::NAN; n * n];
        x.gram(kernel, Wanted::Exact).unwrap().fill(Part::Full, (&mut full).into(), &Unwatched).unwrap();
        assert_close(&what, &full, &expected, tolerance);
        let mut lower = vec![f64::NAN; n * n];
        x.gram(kernel, Wanted::Exact).unwrap().fill(Part::Lower, (&mut lower).into(), &Unwatched).unwrap();
        let mut single = vec![f32::NAN; n * n];
        x.gram(kernel, Wanted::Exact).unwrap().fill(Part::Full, (&mut single).into(), &Unwatched).unwrap();
        let gram = x.gram(kernel, Wanted::Exact).unwrap();
        let diagonal = gram.diagonal();
        for i in 0..n {
            assert!((0..=i).all(|j| same(lower[i * n + j], full[i * n + j])), "lower {what}");
            assert!(same(diagonal[i], full[i * n + i]), "diagonal {what}");
        }
        assert!(single.iter().zip(&full).all(|(s, f)| same(f64::from(*s), f64::from(*f as f32))), "{what}");
        let (rows, cols): (Vec<_>, Vec<_>) = ((0..n).rev().collect(), (0..n).step_by(2).collect());
        let mut block = vec![f64::NAN; rows.len() * cols.len()];
        gram.block(&rows, &cols, TileMut::new(&mut block, cols.len()));
        for (r, &i) in rows.iter().enumerate() {
            for (c, &j) in cols.iter().enumerate() {
                assert!(same(block[r * cols.len() + c], full[i * n + j]), "block {what}");
            }
        }
        let mut cross = vec![f64::NAN; n * m];
        x.cross(kernel, &*z).unwrap().fill(Part::Full, (&mut cross).into(), &Unwatched).unwrap();
        assert_close(&what, &cross, &expected_cross, tolerance);
        if full.iter().chain(&cross).all(|v| v.is_finite()) {
            check_apply(&what, &*gram, &full);
            check_apply_part(&what, &*gram, &full);
            check_apply(&what, &DenseGram::<f64>::compute(&*x, kernel, &Unwatched).unwrap(), &full);
            let rounded: Vec<f64> = single.iter().map(|v| f64::from(*v)).collect();
            check_apply(&what, &DenseGram::<f32>::compute(&*x, kernel, &Unwatched).unwrap(), &rounded);
            check_apply(&what, &*x.cross(kernel, &*z).unwrap(), &cross);
        }
    }
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

fn check_apply(what: &str, operator: &dyn LinearOperator, entries: &[f64]) {
    let (n, m) = (operator.nrows(), operator.ncols());
    for outputs in [1, 3] {
        let rhs: Vec<f64> = (0..m * outputs).map(|k| ((k * 7 + 3) % 11) as f64 - 5.0).collect();
        let rhs = Matrix::from_entries(m, outputs, rhs);
        let mut out = Matrix::zeros(n, outputs);
        operator.apply(&mut out, &rhs, &Unwatched).unwrap();
        for i in 0..n {
            for o in 0..outputs {
                let terms = (0..m).map(|j| entries[i * m + j] * rhs.row(j)[o]);
                let (sum, size) = terms.fold((0.0, 1.0), |(s, a), t| (s + t, a + f64::abs(t)));
                // m terms, each rounded once.
                let error = (out.row(i)[o] - sum).abs();
                assert!(error <= 1e-14 * size * m as f64, "{what}: row {i}, {} ≠ {sum}", out.row(i)[o]);
            }
        }
    }
}

fn by_precision(form: Form) -> f64 {
    if matches!(form, Form::Dense32 | Form::Sparse32) { SINGLE } else { DOUBLE }
}

/// The families whose values follow from the points. Rows with few numbers may coincide, and `noise` tells them apart.
fn of_points() -> impl Iterator<Item = &'static FamilyId> {
    FAMILIES.iter().filter(|family| family.name() != "noise")
}

fn families(d: usize) -> Vec<Expr> {
    let ramp = |from: f64| (0..d).map(|j| from + 0.25 * j as f64).collect::<Vec<_>>();
    let mut all: Vec<Expr> = of_points().map(|f| Expr::Named(Named::with_defaults(*f))).collect();
    all.extend([
        named(POLYNOMIAL, &[5.0, 0.2, -0.5]),
        named(POLYNOMIAL, &[2.5, 0.1, 9.0]),
        named(GAUSSIAN, &[3.0]),
        named(LAPLACIAN, &[0.2]),
        named(MATERN, &[0.5, 2.0]),
        named(MATERN, &[2.5, 2.0]),
        named(RATIONAL_QUADRATIC, &[0.3, 2.0]),
        named(PERIODIC, &[3.0, 1.5]),
        named(ARC_COSINE, &[0.0]),
        named(ARC_COSINE, &[2.0]),
        named(SIGMOID, &[0.1, -0.3]),
        per_column(GAUSSIAN, 0, ramp(1.0)),
        per_column(LAPLACIAN, 0, ramp(0.1)),
        per_column(MATERN, 1, ramp(1.0)),
        per_column(RATIONAL_QUADRATIC, 1, ramp(1.0)),
        per_column(PERIODIC, 0, ramp(2.0)),
    ]);
    all
}

/// Every family with its hyper-parameters at values of their search ranges: defaults, then each choice of each of them.
fn searched() -> Vec<Expr> {
    let mut all = Vec::new();
    for &family in of_points() {
        for (slot, declared) in family.slots().iter().enumerate() {
            let values = match &declared.spellings[0].search {
                Search::AroundAuto(..) => vec![0.7, 4.0],
                Search::Between(low, high) => vec![(low * high).sqrt() * 1.5],
                Search::OneOf(choices) => choices.to_vec(),
            };
            all.extend(values.into_iter().map(|value| {
                let mut named = Named::with_defaults(family);
                for (argument, spellings) in named.arguments.iter_mut().zip(family.slots()) {
                    if matches!(spellings.spellings[0].search, Search::AroundAuto(..)) {
                        argument.value = Value::Number(3.0);
                    }
                }
                named.arguments[slot].value = Value::Number(value);
                Expr::Named(named)
            }));
        }
    }
    all
}

#[test]
fn named_kernels_on_every_path() {
    let mut random = Random::seed_from_u64(1);
    // With few zeros sparse rows are filled in; with many they are walked over.
    let shapes = [(70, 41, 5, 0.3), (19, 33, 1, 0.1), (1, 3, 9, 0.9), (300, 20, 3, 0.5), (40, 21, 17, 0.95)];
    for (n, m, d, zeros) in shapes {
        let (mut x, z) = (rows(&mut random, n, d, zeros, true), rows(&mut random, m, d, zeros, true));
        x[..d].fill(0.0);
        for family in families(d) {
            check(&Kernel::from_expr(family), d, &x, &z, by_precision);
        }
    }
}

#[test]
fn hyper_parameters_of_every_family() {
    let mut random = Random::seed_from_u64(11);
    for (d, zeros, positive) in [(3, 0.2, true), (4, 0.3, false), (12, 0.9, true)] {
        let (x, z) = (rows(&mut random, 21, d, zeros, positive), rows(&mut random, 10, d, zeros, positive));
        for family in searched() {
            if positive || !matches!(&family, Expr::Named(n) if n.family == CHI_SQUARED) {
                check(&Kernel::from_expr(family), d, &x, &z, by_precision);
            }
        }
    }
}

#[test]
fn negative_coordinates() {
    let mut random = Random::seed_from_u64(2);
    let (x, z) = (rows(&mut random, 30, 4, 0.2, false), rows(&mut random, 17, 4, 0.2, false));
    for family in families(4) {
        if !matches!(&family, Expr::Named(n) if n.family == CHI_SQUARED) {
            check(&Kernel::from_expr(family), 4, &x, &z, by_precision);
        }
    }
}

/// A random expression of bounded depth on `d` columns, tame enough that f64 rounding stays below [`DOUBLE`].
fn expression(random: &mut Random, d: usize, depth: usize) -> Expr {
    let leaf = depth == 0 || random.random_bool(0.2);
    let number = |random: &mut Random| Expr::Number(f64::from(random.random_range(1..20)) / 8.0);
    if leaf {
        return match random.random_range(0..8) {
            0 => number(random),
            1 => Expr::Dot,
            2 => Expr::Distance,
            3 => Expr::Distance1,
            4 => Expr::Product(vec![Expr::NormX, Expr::NormZ]),
            5 => Expr::Sum(vec![Expr::NormX, Expr::NormZ]),
            _ => {
                let all = families(d);
                all[random.random_range(0..all.len())].clone()
            }
        };
    }
    let mut sub = |d: usize| expression(random, d, depth - 1);
    let (a, b) = (sub(d), sub(d));
    match random.random_range(0..12) {
        0 | 1 => Expr::Sum(vec![a, b, number(random)]),
        2 | 3 => Expr::Product(vec![number(random), a, b]),
        4 => Expr::Neg(Box::new(a)),
        5 => {
            let positive = Expr::Sum(vec![Expr::Call(Function::Abs, vec![b]), Expr::Number(1.0)]);
            Expr::Div(Box::new(a), Box::new(positive))
        }
        6 => Expr::Pow(Box::new(a), Box::new(Expr::Number(f64::from(random.random_range(0..4))))),
        7 => {
            let positive = Expr::Sum(vec![Expr::Call(Function::Abs, vec![a]), Expr::Number(1.0)]);
            let power = Expr::Number(f64::from(random.random_range(-12..12)) / 8.0);
            Expr::Pow(Box::new(positive), Box::new(power))
        }
        8 => Expr::Call(Function::Min, vec![a, b, number(random)]),
        9 => Expr::Call(Function::Max, vec![a, b]),
        10 => {
            let bounded = Expr::Call(Function::Tanh, vec![a]);
            let function = Function::ALL[random.random_range(0..13)];
            let argument = match function {
                Function::Log | Function::Sqrt => Expr::Sum(vec![bounded, Expr::Number(1.5)]),
                Function::Asin | Function::Acos => Expr::Product(vec![bounded, Expr::Number(0.9)]),
                _ => bounded,
            };
            Expr::Call(function, vec![argument])
        }
        _ => {
            let from = random.random_range(0..d);
            let to = random.random_range(from + 1..=d);
            let inner = expression(random, to - from, depth - 1);
            Expr::Columns(Box::new(inner), columns(from..to))
        }
    }
}

fn columns(range: std::ops::Range<usize>) -> Columns {
    Columns::from_ranges(vec![range])
}

#[test]
fn random_expressions() {
    let mut random = Random::seed_from_u64(3);
    for round in 0..150 {
        let d = random.random_range(1..7);
        let (n, m) = (random.random_range(1..40), random.random_range(1..40));
        let zeros = [0.0, 0.5, 0.95][round % 3];
        let (x, z) = (rows(&mut random, n, d, zeros, true), rows(&mut random, m, d, zeros, true));
        let kernel = Kernel::from_expr(expression(&mut random, d, 3));
        check(&kernel, d, &x, &z, by_precision);
    }
}

#[test]
fn nested_column_subsets_count_within_the_outer_choice() {
    let inner = Expr::Columns(Box::new(named(GAUSSIAN, &[1.0])), columns(1..3));
    let kernel = Kernel::from_expr(Expr::Columns(Box::new(inner), Columns::from_ranges(vec![3..6, 0..1])));
    let mut random = Random::seed_from_u64(4);
    let (x, z) = (rows(&mut random, 12, 7, 0.2, false), rows(&mut random, 9, 7, 0.2, false));
    check(&kernel, 7, &x, &z, by_precision);
}

#[test]
fn undefined_values_are_nan() {
    let kernel = Kernel::from_expr(Expr::Call(Function::Log, vec![Expr::Neg(Box::new(Expr::Distance1))]));
    check(&kernel, 2, &[0.0, 1.0, 2.0, 3.0], &[1.0, 1.0], by_precision);
}

#[test]
fn every_thread_count_gives_the_same_bits() {
    let mut random = Random::seed_from_u64(5);
    let (n, d) = (700, 6);
    let x = rows(&mut random, n, d, 0.4, true);
    let sum = Expr::Sum(families(d));
    for form in FORMS {
        let run = |threads| {
            pool::with(Some(threads), || {
                let resident = load(form, n, d, &x);
                let kernel = Kernel::from_expr(sum.clone());
                let mut entries = vec![0.0; n * n];
                resident
                    .gram(&kernel, Wanted::Exact)
                    .unwrap()
                    .fill(Part::Full, (&mut entries).into(), &Unwatched)
                    .unwrap();
                let gram = resident.gram(&kernel, Wanted::Exact).unwrap();
                let rhs = Matrix::from_entries(n, 2, x[..2 * n].to_vec());
                let mut out = Matrix::zeros(n, 2);
                gram.apply(&mut out, &rhs, &Unwatched).unwrap();
                entries.extend_from_slice(out.entries());
                entries.iter().map(|v| v.to_bits()).collect::<Vec<_>>()
            })
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3), "{form:?}");
    }
}

#[test]
fn duplicates_are_at_distance_zero_and_near_ones_never_below() {
    let mut random = Random::seed_from_u64(6);
    let (n, d) = (60, 13);
    let mut x = rows(&mut random, n, d, 0.2, false);
    x.copy_within(..d, 20 * d);
    for j in 0..d {
        x[40 * d + j] = f64::from((x[j] as f32).next_up());
    }
    for form in FORMS {
        let resident = load(form, n, d, &x);
        for expr in [
            Expr::Distance,
            Expr::Distance1,
            Expr::Pow(Box::new(Expr::Distance), Box::new(Expr::Number(2.0))),
        ] {
            let mut entries = vec![f64::NAN; n * n];
            resident
                .gram(&Kernel::from_expr(expr), Wanted::Exact)
                .unwrap()
                .fill(Part::Full, (&mut entries).into(), &Unwatched)
                .unwrap();
            assert!((0..n).all(|i| entries[i * n + i] == 0.0), "{form:?}");
            assert_eq!((entries[20], entries[20 * n]), (0.0, 0.0), "{form:?}");
            assert!(entries.iter().all(|v| *v >= 0.0));
            assert!(entries[40] < 1e-5, "{form:?}: {}", entries[40]);
        }
    }
}

#[test]
fn values_near_a_million() {
    let mut random = Random::seed_from_u64(7);
    let (n, d) = (80, 6);
    let x: Vec<f64> =
        rows(&mut random, n, d, 0.0, false).iter().map(|v| f64::from((1e6 + 8.0 * v) as f32)).collect();
    for expr in [
        named(GAUSSIAN, &[10.0]),
        named(LAPLACIAN, &[0.05]),
        named(MATERN, &[1.5, 10.0]),
        named(MATERN, &[0.5, 10.0]),
        named(PERIODIC, &[30.0, 1.0]),
        per_column(GAUSSIAN, 0, vec![4.0, 5.0, 6.0, 7.0, 8.0, 9.0]),
    ] {
        let kernel = Kernel::from_expr(expr);
        let expected = oracle(&kernel, d, &x, &x);
        for form in [Form::Dense32, Form::Dense64, Form::Sparse32] {
            let mut entries = vec![f64::NAN; n * n];
            load(form, n, d, &x)
                .gram(&kernel, Wanted::Exact)
                .unwrap()
                .fill(Part::Full, (&mut entries).into(), &Unwatched)
                .unwrap();
            // Sparse rows cannot be centred: |x|² is 10¹³, of which f64 keeps 10⁻³.
            let tolerance = if form == Form::Sparse32 { 1e-4 } else { 1e-5 };
            assert_close(&format!("{form:?} {kernel:?}"), &entries, &expected, tolerance);
        }
    }
}

#[test]
fn empty_samples() {
    for form in FORMS {
        let (none, some) = (load(form, 0, 3, &[]), load(form, 2, 3, &[1.0; 6]));
        let kernel = Kernel::from_expr(named(GAUSSIAN, &[1.0]));
        none.gram(&kernel, Wanted::Exact)
            .unwrap()
            .fill(Part::Full, ValuesMut::F64(&mut []), &Unwatched)
            .unwrap();
        none.cross(&kernel, &*some).unwrap().fill(Part::Full, ValuesMut::F64(&mut []), &Unwatched).unwrap();
        some.cross(&kernel, &*none).unwrap().fill(Part::Full, ValuesMut::F32(&mut []), &Unwatched).unwrap();
        let gram = none.gram(&kernel, Wanted::Exact).unwrap();
        assert!(gram.diagonal().is_empty());
        gram.apply(&mut Matrix::zeros(0, 2), &Matrix::zeros(0, 2), &Unwatched).unwrap();
        let mut out = Matrix::from_entries(2, 1, vec![f64::NAN; 2]);
        some.cross(&kernel, &*none).unwrap().apply(&mut out, &Matrix::zeros(0, 1), &Unwatched).unwrap();
        assert_eq!(out.entries(), [0.0, 0.0]);
    }
}

#[test]
fn no_columns_at_all() {
    let resident = load(Form::Dense64, 3, 0, &[]);
    let mut entries = vec![f64::NAN; 9];
    let kernel = Kernel::from_expr(named(GAUSSIAN, &[1.0]));
    resident
        .gram(&kernel, Wanted::Exact)
        .unwrap()
        .fill(Part::Full, (&mut entries).into(), &Unwatched)
        .unwrap();
    assert_eq!(entries, [1.0; 9]);
}

#[test]
fn selection_keeps_the_order_given() {
    let mut random = Random::seed_from_u64(8);
    let x = rows(&mut random, 10, 3, 0.3, true);
    let kernel = Kernel::from_expr(named(LAPLACIAN, &[1.0]));
    let rows = [7, 0, 7, 3];
    let chosen: Vec<f64> = rows.iter().flat_map(|r| x[r * 3..r * 3 + 3].to_vec()).collect();
    for form in FORMS {
        let mut entries = vec![f64::NAN; 16];
        let some = load(form, 10, 3, &x).select(&rows);
        some.gram(&kernel, Wanted::Exact)
            .unwrap()
            .fill(Part::Full, (&mut entries).into(), &Unwatched)
            .unwrap();
        assert_close("select", &entries, &oracle(&kernel, 3, &chosen, &chosen), by_precision(form));
    }
}

#[test]
fn mixed_dense_and_sparse_precisions() {
    let mut random = Random::seed_from_u64(9);
    let (x, z) = (rows(&mut random, 20, 5, 0.5, true), rows(&mut random, 30, 5, 0.5, true));
    let kernel = Kernel::from_expr(Expr::Sum(families(5)));
    let expected = oracle(&kernel, 5, &x, &z);
    for a in FORMS {
        for b in FORMS {
            let mut entries = vec![f64::NAN; 600];
            let (x, z) = (load(a, 20, 5, &x), load(b, 30, 5, &z));
            x.cross(&kernel, &*z).unwrap().fill(Part::Full, (&mut entries).into(), &Unwatched).unwrap();
            assert_close(&format!("{a:?} × {b:?}"), &entries, &expected, SINGLE);
        }
    }
}

#[test]
fn errors_and_stops() {
    let (a, b) = (load(Form::Dense64, 2, 2, &[0.0; 4]), load(Form::Dense64, 2, 3, &[0.0; 6]));
    let kernel = Kernel::from_expr(named(GAUSSIAN, &[1.0]));
    assert!(matches!(a.cross(&kernel, &*b), Err(GramError::Columns { rows: 2, cols: 3 })));
    let missing = Kernel::from_expr(Expr::Columns(Box::new(Expr::Dot), columns(1..3)));
    assert!(matches!(a.gram(&missing, Wanted::Exact), Err(GramError::Kernel(_))));
    let stop = AtomicBool::new(true);
    let stopped =
        a.gram(&kernel, Wanted::Exact).unwrap().fill(Part::Full, ValuesMut::F64(&mut [0.0; 4]), &stop);
    assert!(matches!(stopped, Err(Stopped)));
    let mut out = Matrix::zeros(2, 1);
    assert!(a.gram(&kernel, Wanted::Exact).unwrap().apply(&mut out, &Matrix::zeros(2, 1), &stop).is_err());
}

#[test]
fn an_expression_that_is_not_symmetric_is_not_mirrored() {
    let mut random = Random::seed_from_u64(10);
    let x = rows(&mut random, 9, 2, 0.0, true);
    let kernel = Kernel::from_expr(Expr::Product(vec![Expr::NormX, Expr::Dot]));
    check(&kernel, 2, &x, &x, by_precision);
}
