//! Printed source, compiled as C++ for the host with a small shim in place of CUDA, gives the values of `Kernel::eval`.
//!
//! The tests need a C++20 compiler: `CXX`, or `c++`. They are skipped with a line where there is none.

use std::fmt::Write as _;

use mercer::data::{AnySamples, Samples};
use mercer::kernel::random::{self, Shape};
use mercer::kernel::{Kernel, Named, family::FAMILIES};
use mercer::real::Precision;
use mercer::tile::{Plan, Program};
use mercer_cuda::source::{Entry, Source};

#[path = "shim/compile.rs"]
mod compile;
use compile::{list, run};

const COLUMNS: usize = 4;

/// One of every statistic, embedding and node.
const KERNELS: &[&str] = &[
    "<x,z>",
    "(0.5*<x,z> + 1)^3",
    "(<x,z> + 4)^-2",
    "rbf(sigma=0.8)",
    "rbf(sigma=[0.8,1,2,0.5])",
    "2*rbf(sigma=0.8) + 0.3*laplacian(gamma=0.4)",
    "laplacian",
    "matern(nu=0.5)",
    "matern(nu=1.5)",
    "matern(nu=4.5)",
    "matern(nu=0.9)",
    "matern(nu=20)",
    "rq(alpha=0.7)",
    "periodic(period=1.3)",
    "cosine",
    "arccos(order=0)",
    "arccos(order=1)",
    "arccos(order=2)",
    "chi2(gamma=0.3)[0..2]",
    "sigmoid(gamma=0.1)",
    "spline",
    "wendland(radius=2)",
    "min(|x-z|, 0.5*|x-z|_1)",
    "max(<x,z>, rbf)",
    "rbf[0] * matern(nu=1.5)[1..3] + cos(<x,z>)",
    "sqrt(|x-z|_1 + 1)/(1 + |x-z|^2)",
    "(1 + |x-z|)^(0.5*<x,z>)",
    "tanh(0.2*<x,z>) + log(3 + |x-z|^2)",
    "sin(<x,z>) + tan(0.3*<x,z>) + sinh(0.2*<x,z>) + cosh(0.1*<x,z>) + asin(0.1*<x,z>)",
    "acos(0.1*<x,z>) + atan(<x,z>) + abs(<x,z> - 1) + exp(-0.2*|x-z|)",
    "|x|*|z|*rbf[3,0] + 2",
];

/// Rows with entries from 0.05 to 1, so that every kernel is defined; one row of zeros.
fn rows(count: usize) -> Vec<Vec<f64>> {
    let entry = |k: usize| 0.05 + ((k * 7919) % 97) as f64 / 100.0;
    let row = |i: usize| (COLUMNS * i..COLUMNS * (i + 1)).map(entry).collect();
    (0..count - 1).map(row).chain([vec![0.0; COLUMNS]]).collect()
}

fn printed(kernel: &Kernel, rows: &[Vec<f64>], precision: Precision) -> Source {
    let program = Program::compile(kernel, COLUMNS).unwrap();
    let samples = AnySamples::F64(Samples::dense(rows.len(), COLUMNS, rows.concat()).unwrap());
    let plan = Plan::dense(&program, &[&samples], &[0.5; COLUMNS], Some(precision));
    Source::new(&program, &plan)
}

/// The text of `entry` in a namespace of its own.
fn in_namespace(name: &str, source: &Source, entry: Entry) -> String {
    compile::in_namespace(name, &source.text(entry))
}

/// Statements that map the rows: `features`, `scalars` and `side` of the namespace `name`.
fn mapped(name: &str, source: &Source, count: usize) -> String {
    let padded = count.div_ceil(128) * 128;
    let (width, scalars) = (source.layout.width().max(1), source.layout.scalars.len().max(1));
    let numbers = if source.numbers.is_empty() { "0".to_owned() } else { list(&source.numbers) };
    format!(
        "    vector<double> table{{{}}};\n\
         \x20   vector<{name}::real> features({width} * {padded} + 8), scalars({scalars} * {padded} + 8);\n\
         \x20   auto aligned = [](auto &v) {{ return v.data() + (16 - (size_t)v.data() % 16) % 16 / sizeof(v[0]); }};\n\
         \x20   {name}::real *to = aligned(features), *of_rows = aligned(scalars);\n\
         \x20   launch_blocks({padded} / 128, 1, 128, false, [&] {{ {name}_embed::embed(samples, 0, {count}, {padded}, table.data(), to, of_rows); }});\n\
         \x20   {name}::Side side = {{to, of_rows, 0, {padded}}};\n\
         \x20   {name}::Numbers p = {{{{{}}}}};\n",
        list(&source.table),
        cast_list(name, &numbers)
    )
}

fn cast_list(name: &str, numbers: &str) -> String {
    numbers.split(", ").map(|n| format!("({name}::real){n}")).collect::<Vec<_>>().join(", ")
}

/// The values of every pair of rows, kernel after kernel, by the printed source.
fn values(sources: &[Source], rows: &[Vec<f64>]) -> Option<Vec<f64>> {
    let (mut functions, mut body) = (String::new(), String::new());
    for (k, source) in sources.iter().enumerate() {
        functions += &in_namespace(&format!("k{k}"), source, Entry::Diagonal);
        functions +=
            &in_namespace(&format!("k{k}_embed"), source, Entry::Embed { samples: Precision::Double });
        let n = rows.len();
        let _ = write!(
            body,
            "static void run{k}()\n{{\n{}    for (int i = 0; i < {n}; ++i)\n        for (int j = 0; j < {n}; ++j) \
             print((double)k{k}::pair(side, i, side, j, p));\n}}\n",
            mapped(&format!("k{k}"), source, n)
        );
    }
    let calls: String = (0..sources.len()).map(|k| format!("    run{k}();\n")).collect();
    run(&functions, &format!("{body}int main()\n{{\n{calls}}}\n"), rows)
}

/// Compares printed source with the kernels themselves, with errors of `tolerance` relative to the larger of 1 and the value.
fn assert_close(kernels: &[Kernel], precision: Precision, tolerance: impl Fn(&Kernel) -> f64) {
    let rows = rows(7);
    let sources: Vec<Source> = kernels.iter().map(|kernel| printed(kernel, &rows, precision)).collect();
    let Some(found) = values(&sources, &rows) else { return };
    assert_eq!(found.len(), kernels.len() * rows.len() * rows.len());
    let mut found = found.into_iter();
    for kernel in kernels {
        for x in &rows {
            for z in &rows {
                let (found, expected) = (found.next().unwrap(), kernel.eval(x, z).unwrap());
                let close = (found - expected).abs() <= tolerance(kernel) * (1.0 + expected.abs());
                let neither = !found.is_finite() && !expected.is_finite();
                assert!(close || neither, "{kernel} at {x:?}, {z:?}: {found} is not {expected}");
            }
        }
    }
}

fn all_kernels() -> Vec<Kernel> {
    // The host computes what has to do with the identity of rows.
    let defaults = FAMILIES
        .iter()
        .filter(|family| family.name() != "noise")
        .map(|family| Kernel::from_expr(mercer::kernel::Expr::Named(Named::with_defaults(*family))));
    KERNELS
        .iter()
        .map(|text| text.parse().unwrap_or_else(|e| panic!("{text}: {e}")))
        .chain(defaults)
        .collect()
}

#[test]
fn every_family_in_double_precision() {
    // An angle near 0 has the square root of a rounding error.
    assert_close(&all_kernels(), Precision::Double, |kernel| {
        if kernel.to_string().starts_with("arccos") { 1e-7 } else { 1e-12 }
    });
}

#[test]
fn every_family_in_single_precision() {
    // Kernels that single precision is too coarse for are printed in double precision by their plan.
    assert_close(&all_kernels(), Precision::Single, |_| 2e-3);
}

#[test]
fn random_expressions() {
    let shape = Shape { depth: 3, columns: COLUMNS, unresolved: false };
    let rows = rows(7);
    // Where a change of the last digits of the data changes the value, rounding does, too: such expressions say nothing.
    let steady = |kernel: &Kernel| {
        rows.iter().all(|x| {
            rows.iter().all(|z| {
                let moved = |row: &[f64]| row.iter().map(|v| v * (1.0 + 1e-11)).collect::<Vec<f64>>();
                let [a, b] =
                    [(x.clone(), z.clone()), (moved(x), moved(z))].map(|(x, z)| kernel.eval(&x, &z).unwrap());
                a.is_finite() && (a - b).abs() <= 1e-8 * (1.0 + a.abs())
            })
        })
    };
    let kernels: Vec<Kernel> = (0..80)
        .map(|seed| Kernel::from_expr(random::expr(seed, shape)))
        .filter(|kernel| !kernel.to_string().contains("noise"))
        .filter(steady)
        .take(24)
        .collect();
    assert!(kernels.len() >= 20, "only {} of the expressions are of use", kernels.len());
    assert_close(&kernels, Precision::Double, |_| 1e-6);
}

/// The shared memory of a block, which is least on cards of compute capability 8.6, 8.9 and 12.0.
#[test]
fn tiles_of_any_width_fit_shared_memory() {
    const LARGEST: usize = 99 << 10;
    let entries = [1, 4].map(|rhs| Entry::ApplyByTensorCores { rhs });
    let entries: Vec<Entry> = entries
        .into_iter()
        .chain([1, 4].map(|rhs| Entry::Apply { rhs }))
        .chain([Entry::Fill, Entry::FillRows])
        .collect();
    let kernels = ["rbf(sigma=3)", "(0.1*<x,z> + 1)^2", "|x|*|z|*laplacian + <x,z>"];
    for kernel in kernels.map(|text| text.parse::<Kernel>().unwrap()) {
        for width in 2..=4096 {
            let program = Program::compile(&kernel, width).unwrap();
            let samples = AnySamples::F32(Samples::dense(1, width, vec![0.5; width]).unwrap());
            for precision in [Precision::Single, Precision::Double] {
                let plan = Plan::dense(&program, &[&samples], &vec![0.0; width], Some(precision));
                let source = Source::new(&program, &plan);
                for &entry in &entries {
                    let shared = source.shape(entry).shared;
                    assert!(shared <= LARGEST, "{kernel} of {width} columns: {entry:?} takes {shared} bytes");
                }
            }
        }
    }
}

/// Tiles, their chunks and their sums, by threads of the host in place of a block's.
#[test]
fn products_by_tiles() {
    let texts = [
        "rbf(sigma=0.8)",
        "2*rbf(sigma=0.8) + 0.3*laplacian(gamma=0.4)",
        "|x|*|z|*rbf[3,0] + <x,z>",
        "matern(nu=0.9)",
    ];
    let rows = rows(200);
    let count = rows.len();
    let (mut functions, mut body, mut expected) = (String::new(), String::new(), Vec::new());
    let v: Vec<f64> = (0..count).map(|j| ((j * 37) % 11) as f64 / 10.0 - 0.4).collect();
    for (k, text) in texts.iter().enumerate() {
        let kernel: Kernel = text.parse().unwrap();
        let source = printed(&kernel, &rows, Precision::Double);
        let (entry, name) = (Entry::Apply { rhs: 1 }, format!("k{k}"));
        let shape = source.shape(entry);
        assert!(shape.shared <= 1 << 18);
        functions += &in_namespace(&name, &source, entry);
        functions +=
            &in_namespace(&format!("{name}_embed"), &source, Entry::Embed { samples: Precision::Double });
        // One block of rows, two parts of the columns.
        let _ = write!(
            body,
            "static void run{k}()\n{{\n{}    vector<{name}::real> rhs{{{}}};\n    rhs.resize(256 + 8);\n\
             \x20   memmove(aligned(rhs), rhs.data(), 256 * sizeof(rhs[0]));\n\
             \x20   vector<double> out(2 * 256);\n\
             \x20   launch_blocks(1, 2, 256, true, [&] {{ {name}::apply(side, side, aligned(rhs), out.data(), p, 1, 128); }});\n\
             \x20   for (int i = 0; i < {rows}; ++i) print(out[{rows} + i] + out[256 + {rows} + i]);\n}}\n",
            mapped(&name, &source, count),
            cast_list(&name, &list(&v)),
            rows = shape.rows,
        );
        for i in shape.rows..2 * shape.rows {
            let x = &rows[i.min(count - 1)];
            expected.push(rows.iter().zip(&v).map(|(z, v)| kernel.eval(x, z).unwrap() * v).sum::<f64>());
        }
    }
    let calls: String = (0..texts.len()).map(|k| format!("    run{k}();\n")).collect();
    let Some(found) = run(&functions, &format!("{body}int main()\n{{\n{calls}}}\n"), &rows) else { return };
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() <= 1e-10 * count as f64, "{found} is not {expected}");
    }
}

/// Values written by tiles: a block of rows that ends early, in two parts of the columns.
#[test]
fn values_by_tiles() {
    let rows = rows(200);
    let (mut functions, mut body, mut expected) = (String::new(), String::new(), Vec::new());
    let texts = ["rbf(sigma=0.8)", "|x|*|z|*rbf[3,0] + <x,z>", "matern(nu=0.9)"];
    for (k, text) in texts.iter().enumerate() {
        let kernel: Kernel = text.parse().unwrap();
        let source = printed(&kernel, &rows, Precision::Double);
        let (name, height) = (format!("k{k}"), source.shape(Entry::Fill).rows);
        let (first, end) = (height, (height + 50).min(2 * height));
        functions += &in_namespace(&name, &source, Entry::Fill);
        functions +=
            &in_namespace(&format!("{name}_embed"), &source, Entry::Embed { samples: Precision::Double });
        let count = (end - first) * rows.len();
        let _ = write!(
            body,
            "static void run{k}()\n{{\n{}    vector<double> out({count} + 1, -7);\n\
             \x20   launch_blocks(1, 2, 256, true, [&] {{ {name}::fill(side, side, out.data(), p, 1, 128, {end}, 200, 200); }});\n\
             \x20   for (double value : out) print(value);\n}}\n",
            mapped(&name, &source, rows.len()),
        );
        for x in &rows[first..end] {
            expected.extend(rows.iter().map(|z| kernel.eval(x, z).unwrap()));
        }
        // Nothing is written after the last row.
        expected.push(-7.0);
    }
    let calls: String = (0..texts.len()).map(|k| format!("    run{k}();\n")).collect();
    let Some(found) = run(&functions, &format!("{body}int main()\n{{\n{calls}}}\n"), &rows) else { return };
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() <= 1e-10, "{found} is not {expected}");
    }
}
