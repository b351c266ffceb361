//! Times kernel matrices on this machine: `engine [THREADS] [REPEATS] [NAME]` prints the best of several runs in seconds.
//!
//! With one thread the time is what that thread ran for, so that other work on the machine disturbs it less. Each line is `name seconds`; `bench/` compares them with other programs on the same shapes.

use std::time::Instant;

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::{Part, Resident, Wanted};
use mercer::kernel::family::arc_cosine::ARC_COSINE;
use mercer::kernel::family::chi_squared::CHI_SQUARED;
use mercer::kernel::family::gaussian::GAUSSIAN;
use mercer::kernel::family::laplacian::LAPLACIAN;
use mercer::kernel::family::matern::MATERN;
use mercer::kernel::family::polynomial::POLYNOMIAL;
use mercer::kernel::family::rational_quadratic::RATIONAL_QUADRATIC;
use mercer::kernel::family::sigmoid::SIGMOID;
use mercer::kernel::{Expr, FamilyId, Kernel, Named, Value};
use mercer::linalg::zeroed;
use mercer::pool;
use mercer::session::Session;
use mercer::watch::Unwatched;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

fn normal(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..n * d).map(|_| random.sample::<f64, _>(rand_distr::StandardNormal)).collect()
}

fn load(n: usize, d: usize, single: bool, seed: u64) -> Box<dyn Resident> {
    let entries = normal(n, d, seed);
    let samples = if single {
        let entries: Vec<f32> = entries.iter().map(|v| *v as f32).collect();
        Samples::dense(n, d, entries).map(AnySamples::F32)
    } else {
        Samples::dense(n, d, entries).map(AnySamples::F64)
    };
    Session::default().load(&samples.expect("n·d entries")).expect("room")
}

fn kernel(family: FamilyId, slot: usize, value: f64) -> Kernel {
    let mut named = Named::with_defaults(family);
    named.arguments[slot].value = Value::Number(value);
    if family == GAUSSIAN {
        named.arguments[slot].spelling = 1;
    }
    Kernel::from_expr(Expr::Named(named))
}

/// Seconds this thread has run, not counting what it waited for a busy processor.
fn running() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
}

fn best(repeats: usize, mut work: impl FnMut()) -> f64 {
    (0..repeats)
        .map(|_| {
            let (start, ran) = (Instant::now(), running());
            work();
            match (ran, running()) {
                (Some(before), Some(after)) if rayon::current_num_threads() == 1 => after - before,
                _ => start.elapsed().as_secs_f64(),
            }
        })
        .fold(f64::INFINITY, f64::min)
}

pub fn run(arguments: &[String]) {
    let number = |i: usize, otherwise| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(otherwise);
    let (threads, repeats) = (number(0, 2), number(1, 5));
    let wanted = arguments.get(2).cloned().unwrap_or_default();
    pool::with(Some(threads), || {
        for (name, family, slot, value) in [
            ("rbf", GAUSSIAN, 0, None),
            ("laplacian", LAPLACIAN, 0, None),
            ("poly3", POLYNOMIAL, 1, None),
            ("sigmoid", SIGMOID, 0, Some(0.01)),
            ("matern05", MATERN, 0, Some(0.5)),
            ("rq0.7", RATIONAL_QUADRATIC, 0, Some(0.7)),
            ("chi2", CHI_SQUARED, 0, Some(0.1)),
            ("arccos1", ARC_COSINE, 0, Some(1.0)),
        ] {
            for d in [16, 128] {
                for single in [true, false] {
                    let label = format!("gram_{name}_{}_d{d}", if single { "f32" } else { "f64" });
                    if !label.contains(&wanted) {
                        continue;
                    }
                    let resident = load(8000, d, single, 1);
                    let kernel = kernel(family, slot, value.unwrap_or(1.0 / d as f64));
                    let seconds = best(repeats, || {
                        let fill = |watch| {
                            if single {
                                let mut out = zeroed::<f32>(8000 * 8000);
                                resident.gram(&kernel, Wanted::Exact).unwrap().fill(
                                    Part::Full,
                                    (&mut out).into(),
                                    watch,
                                )
                            } else {
                                let mut out = zeroed::<f64>(8000 * 8000);
                                resident.gram(&kernel, Wanted::Exact).unwrap().fill(
                                    Part::Full,
                                    (&mut out).into(),
                                    watch,
                                )
                            }
                        };
                        fill(&Unwatched).expect("the kernel fits");
                    });
                    println!("{label} {seconds:.4}");
                }
            }
        }
        for single in [true, false] {
            for outputs in [1, 10] {
                let label = format!("predict_rbf_{}_d10_m{outputs}", if single { "f32" } else { "f64" });
                if !label.contains(&wanted) {
                    continue;
                }
                let (rows, centres) = (load(10_000, 10, single, 1), load(10_000, 10, single, 2));
                let kernel = kernel(GAUSSIAN, 0, 0.1);
                let coefficients = Matrix::from_entries(10_000, outputs, normal(10_000, outputs, 3));
                let mut out = Matrix::zeros(10_000, outputs);
                let seconds = best(repeats, || {
                    let cross = rows.cross(&kernel, &*centres).expect("the kernel fits");
                    cross.apply(&mut out, &coefficients, &Unwatched).expect("never stopped");
                });
                println!("{label} {seconds:.4}");
                let seconds = best(repeats, || {
                    let gram = rows.gram(&kernel, Wanted::Exact).expect("the kernel fits");
                    gram.apply(&mut out, &coefficients, &Unwatched).expect("never stopped");
                });
                println!("apply_{} {seconds:.4}", &label[8..]);
            }
        }
    });
}
