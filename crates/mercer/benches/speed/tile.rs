//! Times tiles on one thread: `tile [NAME]` prints nanoseconds per kernel value, the best of 20 runs on a 1,024 × 1,024 cross matrix, all of it
//! in cache, for every family of kernels.

use std::time::Instant;

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::{Part, Resident, Wanted};
use mercer::kernel::family::gaussian::GAUSSIAN;
use mercer::kernel::{Expr, FAMILIES, Kernel, Named};
use mercer::pool;
use mercer::session::Session;
use mercer::watch::Unwatched;

const ROWS: usize = 1024;

fn resident(d: usize, single: bool) -> Box<dyn Resident> {
    let entries = (0..ROWS * d).map(|i| ((i * 2_654_435_761) % 1009) as f64 / 1009.0);
    let samples = if single {
        AnySamples::F32(Samples::dense(ROWS, d, entries.map(|v| v as f32).collect::<Vec<_>>()).expect("n·d"))
    } else {
        AnySamples::F64(Samples::dense(ROWS, d, entries.collect::<Vec<_>>()).expect("n·d"))
    };
    Session::default().load(&samples).expect("room")
}

/// Prints what one kernel value takes.
fn report(wanted: &str, name: &str, mut work: impl FnMut() + Send) {
    if !name.contains(wanted) {
        return;
    }
    let seconds = |_| {
        let start = Instant::now();
        pool::with(Some(1), &mut work);
        start.elapsed().as_secs_f64()
    };
    let best = (0..20).map(seconds).fold(f64::INFINITY, f64::min);
    println!("{name:<32} {:8.3} ns", best * 1e9 / (ROWS * ROWS) as f64);
}

pub fn run(arguments: &[String]) {
    let wanted = arguments.first().map_or("", String::as_str);
    for d in [16, 128] {
        for single in [true, false] {
            let (x, z) = (resident(d, single), resident(d, single));
            let (mut out, mut out64) = (vec![0.0f32; ROWS * ROWS], vec![0.0f64; ROWS * ROWS]);
            for &family in FAMILIES {
                let kernel = Kernel::from_expr(Expr::Named(Named::with_defaults(family)));
                let precision = if single { "f32" } else { "f64" };
                report(wanted, &format!("fill/{precision}/d={d}/{}", family.name()), || {
                    let cross = x.cross(&kernel, &*z).expect("the kernel fits");
                    let done = if single {
                        cross.fill(Part::Full, (&mut out).into(), &Unwatched)
                    } else {
                        cross.fill(Part::Full, (&mut out64).into(), &Unwatched)
                    };
                    done.expect("never stopped");
                });
            }
        }
    }
    let x = resident(16, true);
    let kernel = Kernel::from_expr(Expr::Named(Named::with_defaults(GAUSSIAN)));
    let gram = x.gram(&kernel, Wanted::Exact).expect("the kernel fits");
    for outputs in [1, 8] {
        let rhs = Matrix::from_entries(ROWS, outputs, vec![1.0; ROWS * outputs]);
        let mut out = Matrix::zeros(ROWS, outputs);
        report(wanted, &format!("apply/f32/d=16/rbf, {outputs} outputs"), || {
            gram.apply(&mut out, &rhs, &Unwatched).expect("never stopped");
        });
    }
}
