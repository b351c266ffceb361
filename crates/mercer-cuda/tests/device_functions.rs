//! Device functions that do not depend on a kernel, compiled as C++ for the host, against plain loops.
//!
//! The tests need a C++20 compiler: `CXX`, or `c++`. They are skipped with a line where there is none.

use mercer::gram::Metric;
use mercer::real::Precision;
use mercer_cuda::source::{REDUCE, nearest};

#[path = "shim/compile.rs"]
mod compile;
use compile::{in_namespace, list, run};

const DENSE: &str = include_str!("../src/kernels/dense.cuh");
const WAVES: &str = include_str!("../src/kernels/waves.cuh");

/// Numbers from −1 to 1 that repeat in every run and are exact in single precision.
fn numbers(count: usize, first: usize) -> Vec<f64> {
    (first..first + count)
        .map(|k| f64::from((k * 7919 + k * k % 104_729) as u32 % 1024) / 512.0 - 1.0)
        .collect()
}

/// A program with the arrays `data`, which runs `body`.
fn program(functions: &str, data: &[(&str, &[f64])], body: &str) -> Option<Vec<f64>> {
    let arrays: String = data
        .iter()
        .map(|(name, values)| format!("static vector<double> {name}{{{}}};\n", list(values)))
        .collect();
    let body = format!(
        "{arrays}static void print(const vector<double> &all) {{ for (double value : all) print(value); }}\n\
         static void print(const vector<float> &all) {{ for (float value : all) print(value); }}\n\
         static vector<float> narrow(const vector<double> &all) {{ return vector<float>(all.begin(), all.end()); }}\n\
         int main()\n{{\n{body}}}\n"
    );
    run(functions, &body, &[vec![0.0]])
}

fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= tolerance * (1.0 + expected.abs()), "{k}: {found} {expected}");
    }
}

/// One thread for each of `count` items.
fn over(count: usize, call: &str) -> String {
    format!("    launch_blocks({}, 1, 256, false, [&] {{ {call}; }});\n", count.div_ceil(256))
}

/// A block of threads for each of `count` items.
fn each(count: usize, call: &str) -> String {
    format!("    launch_blocks({count}, 1, 256, true, [&] {{ {call}; }});\n")
}

#[test]
fn square_matrices() {
    const N: usize = 300;
    let (matrix, roots, noise) = (numbers(N * N, 0), numbers(N, 7), numbers(N, 99));
    for precision in ["double", "float"] {
        let functions = in_namespace("device", &format!("typedef {precision} real;\n{DENSE}"));
        let body = [
            "    using namespace device;\n    vector<real> a(matrix.begin(), matrix.end()), unit(3 * 300, 5), to(2 * 40, 5);\n\
             \x20   vector<double> diagonal(300), squares(300);\n"
                .to_owned(),
            each(N, "regularise(a.data(), 300, 0.25, roots.data(), noise.data())"),
            each(N, "row_squares(a.data(), 300, squares.data())"),
            each(N, "clear_upper(a.data(), 300)"),
            over(N, "diagonal_of(a.data(), 300, diagonal.data())"),
            over(3 * N, "unit_columns(unit.data(), 300, 298, 3)"),
            over(2 * 30, "copy_columns(a.data(), to.data(), 30, 2, 40)"),
            each(N, "regularise(a.data(), 300, 1, 0, 0)"),
            "    print(a), print(squares), print(diagonal), print(unit), print(to);\n".to_owned(),
        ]
        .concat();
        let data: [(&str, &[f64]); 3] = [("matrix", &matrix), ("roots", &roots), ("noise", &noise)];
        let Some(found) = program(&functions, &data, &body) else { return };
        let lower = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            order => {
                let own = matrix[i * N + j] * roots[i] * roots[j];
                own + if order.is_eq() { 0.25 + noise[i] } else { 0.0 }
            }
        };
        let diagonal = |i: usize| if i < N { lower(i, i) } else { 0.0 };
        let entry = |k: usize| lower(k / N, k % N) + f64::from(u8::from(k / N == k % N));
        let squares = |i: usize| (0..i).map(|j| 2.0 * lower(i, j).powi(2)).sum::<f64>() + diagonal(i).powi(2);
        // Column 300 of the identity has no entry.
        let unit = |k: usize| f64::from(u8::from(k % N == 298 + k / N));
        let copied = |k: usize| if k % 40 < 30 { lower(0, k / 40 * 30 + k % 40) } else { 5.0 };
        let mut expected: Vec<f64> = (0..N * N).map(entry).collect();
        expected.extend((0..N).map(squares));
        expected.extend((0..N).map(diagonal));
        expected.extend((0..3 * N).map(unit));
        expected.extend((0..2 * 40).map(copied));
        assert_close(&found, &expected, if precision == "float" { 1e-5 } else { 1e-12 });
    }
}

#[test]
fn low_rank_factors() {
    const ROWS: usize = 290;
    const COLUMNS: usize = 5;
    // Column after column.
    let (factor, v, u) = (numbers(ROWS * COLUMNS, 0), numbers(ROWS * 2, 40), numbers(COLUMNS * 2, 80));
    let residual: Vec<f64> = numbers(ROWS, 3).iter().map(|r| 1.5 + r).collect();
    let functions = in_namespace("device", &format!("typedef float real;\n{DENSE}"));
    let body = [
        "    using namespace device;\n    vector<float> f = narrow(factor), some(3 * 5);\n    int chosen[] = {4, 289, 0};\n\
         \x20   vector<double> sums(5 * 2), wide(20 * 5), back(3 * 5);\n"
            .to_owned(),
        over(3 * COLUMNS, "gather_rows(f.data(), 290, chosen, 3, 5, some.data())"),
        over(3 * COLUMNS, "to_double(some.data(), back.data(), 15)"),
        over(3 * COLUMNS, "to_single(back.data(), some.data(), 15)"),
        over(ROWS, "subtract_squares(f.data(), 290, 5, residual.data())"),
        over(20 * COLUMNS, "widen_rows(f.data(), 290, 270, 20, 5, wide.data())"),
        each(COLUMNS, "transposed_times(f.data(), 290, v.data(), 2, sums.data())"),
        over(ROWS, "subtract_product(f.data(), 290, 5, u.data(), 2, v.data())"),
        over(ROWS, "scale_rows(f.data(), 290, 5, by.data())"),
        "    print(some), print(residual), print(wide), print(sums), print(v), print(f);\n".to_owned(),
    ]
    .concat();
    let by = numbers(ROWS, 17);
    let data: [(&str, &[f64]); 5] =
        [("factor", &factor), ("v", &v), ("u", &u), ("residual", &residual), ("by", &by)];
    let Some(found) = program(&functions, &data, &body) else { return };
    let f = |i: usize, j: usize| factor[j * ROWS + i];
    let row = |i: usize| (0..COLUMNS).map(move |j| f(i, j));
    let mut expected: Vec<f64> = [4, 289, 0].into_iter().flat_map(row).collect();
    expected.extend((0..ROWS).map(|i| (residual[i] - row(i).map(|f| f * f).sum::<f64>()).max(0.0)));
    expected.extend((0..20 * COLUMNS).map(|k| f(270 + k % 20, k / 20)));
    expected.extend((0..COLUMNS * 2).map(|k| (0..ROWS).map(|i| f(i, k / 2) * v[i * 2 + k % 2]).sum::<f64>()));
    expected.extend(
        (0..ROWS * 2).map(|k| v[k] - (0..COLUMNS).map(|j| f(k / 2, j) * u[j * 2 + k % 2]).sum::<f64>()),
    );
    expected.extend((0..ROWS * COLUMNS).map(|k| factor[k] * by[k % ROWS]));
    assert_close(&found, &expected, 1e-6);
}

#[test]
fn sums_of_parts() {
    let parts = numbers(3 * 700, 0);
    let functions = in_namespace("device", REDUCE);
    let body = format!(
        "    vector<double> out(700);\n{}    print(out);\n",
        over(700, "device::add_splits(parts.data(), out.data(), 700, 3)")
    );
    let Some(found) = program(&functions, &[("parts", &parts)], &body) else { return };
    let expected: Vec<f64> = (0..700).map(|i| parts[i] + parts[700 + i] + parts[1400 + i]).collect();
    assert_close(&found, &expected, 0.0);
}

/// More columns than are read at a time, frequencies for two blocks of threads, and a first row.
#[test]
fn random_features() {
    const D: usize = 70;
    const M: usize = 130;
    const FIRST: usize = 3;
    const COUNT: usize = 20;
    let (rows, frequencies) = (numbers((FIRST + COUNT) * D, 0), numbers(D * M, 500));
    let (shifts, amplitudes) = (numbers(M, 9), numbers(M, 33));
    let roots: Vec<f64> = numbers(FIRST + COUNT, 71).iter().map(|r| 1.0 + r).collect();
    for (sample, pairs) in [("double", true), ("float", false)] {
        let functions = in_namespace("device", &format!("typedef {sample} sample;\n{WAVES}"));
        let width = if pairs { 2 * M } else { M };
        let (shift, root) = if pairs { ("0", "roots.data()") } else { ("shifts.data()", "0") };
        let body = format!(
            "    vector<device::sample> x(rows.begin(), rows.end());\n    vector<double> out({COUNT} * {width});\n\
             \x20   launch_blocks(2, 2, 128, true, [&] {{ device::waves(x.data(), {FIRST}, {COUNT}, {D}, frequencies.data(), {shift}, \
             amplitudes.data(), {M}, {}, {root}, out.data()); }});\n    print(out);\n",
            u8::from(pairs)
        );
        let data: [(&str, &[f64]); 5] = [
            ("rows", &rows),
            ("frequencies", &frequencies),
            ("shifts", &shifts),
            ("amplitudes", &amplitudes),
            ("roots", &roots),
        ];
        let Some(found) = program(&functions, &data, &body) else { return };
        let expected: Vec<f64> = (0..COUNT * width)
            .map(|k| {
                let (i, j) = (FIRST + k / width, k % width % M);
                let turns: f64 = (0..D).map(|c| rows[i * D + c] * frequencies[c * M + j]).sum();
                let phase = std::f64::consts::TAU * (turns + if pairs { 0.0 } else { shifts[j] });
                let root = if pairs { roots[i] } else { 1.0 };
                amplitudes[j] * root * if k % width < M { phase.cos() } else { phase.sin() }
            })
            .collect();
        assert_close(&found, &expected, 1e-12);
    }
}

/// Ties, which the first rows win, among more rows than a block reads at a time.
#[test]
fn nearest_rows() {
    const D: usize = 18;
    const N: usize = 300;
    const ASKED: usize = 70;
    const FIRST: usize = 66;
    const K: usize = 9;
    let mut rows = numbers(N * D, 0);
    rows.copy_within(0..100 * D, 150 * D);
    let queries = numbers(ASKED * D, 777);
    for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Chebyshev] {
        let text = nearest(metric, Precision::Single, Precision::Double).unwrap();
        let functions = in_namespace("device", &text);
        let here = ASKED - FIRST;
        let body = format!(
            "    vector<float> q = narrow(queries);\n    vector<double> all({here} * {N}), least({here} * {K});\n    vector<int> numbers({here} * {K});\n\
             \x20   launch_blocks({}, 1, 256, true, [&] {{ device::distances(q.data(), {FIRST}, {ASKED}, rows.data(), {N}, {D}, all.data()); }});\n\
             {}    for (int n : numbers) print((double)n);\n    print(least);\n",
            N.div_ceil(64),
            each(here, &format!("device::nearest(all.data(), {N}, {K}, numbers.data(), least.data())"))
        );
        let Some(found) = program(&functions, &[("queries", &queries), ("rows", &rows)], &body) else {
            return;
        };
        let distance = |q: usize, r: usize| {
            let differences = (0..D).map(|c| (queries[q * D + c] - rows[r * D + c]).abs());
            match metric {
                Metric::Euclidean => differences.map(|d| d * d).sum(),
                Metric::Manhattan => differences.sum(),
                _ => differences.fold(0.0, f64::max),
            }
        };
        let (mut chosen, mut least) = (Vec::new(), Vec::<f64>::new());
        for q in FIRST..ASKED {
            let mut order: Vec<usize> = (0..N).collect();
            order.sort_by(|&a, &b| f64::total_cmp(&distance(q, a), &distance(q, b)));
            order.truncate(K);
            // In the order of their rows.
            order.sort_unstable();
            chosen.extend(order.iter().map(|&r| r as f64));
            least.extend(order.iter().map(|&r| distance(q, r)));
        }
        assert_eq!(found, [chosen, least].concat(), "{metric:?}");
    }
}
