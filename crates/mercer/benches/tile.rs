//! Micro-benchmarks of tiles: a 1,024 × 1,024 cross matrix per kernel family, so that all of it stays in cache.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::{CpuEngine, Engine, Part, Resident};
use mercer::kernel::{Expr, Family, Kernel, Named};
use mercer::pool;
use mercer::watch::Unwatched;

const ROWS: usize = 1024;

fn resident(d: usize, single: bool) -> Box<dyn Resident> {
    let entries = (0..ROWS * d).map(|i| ((i * 2_654_435_761) % 1009) as f64 / 1009.0);
    let samples = if single {
        AnySamples::F32(Samples::dense(ROWS, d, entries.map(|v| v as f32).collect::<Vec<_>>()).expect("n·d"))
    } else {
        AnySamples::F64(Samples::dense(ROWS, d, entries.collect::<Vec<_>>()).expect("n·d"))
    };
    CpuEngine.load(&samples)
}

fn families(criterion: &mut Criterion) {
    for d in [16, 128] {
        for single in [true, false] {
            let precision = if single { "f32" } else { "f64" };
            let mut group = criterion.benchmark_group(format!("tile/{precision}/d={d}"));
            group.throughput(Throughput::Elements((ROWS * ROWS) as u64)).sample_size(20);
            let (x, z) = (resident(d, single), resident(d, single));
            for family in Family::ALL {
                let kernel = Kernel::from_expr(Expr::Named(Named::with_defaults(family)));
                let mut out = vec![0.0f32; ROWS * ROWS];
                let mut out64 = vec![0.0f64; ROWS * ROWS];
                group.bench_function(family.name(), |bencher| {
                    bencher.iter(|| {
                        pool::with(Some(1), || {
                            if single {
                                x.cross(&kernel, &*z).unwrap().fill(Part::Full, (&mut out).into(), &Unwatched)
                            } else {
                                x.cross(&kernel, &*z).unwrap().fill(
                                    Part::Full,
                                    (&mut out64).into(),
                                    &Unwatched,
                                )
                            }
                        })
                    });
                });
            }
            group.finish();
        }
    }
}

fn apply(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("apply/f32/d=16");
    group.throughput(Throughput::Elements((ROWS * ROWS) as u64)).sample_size(20);
    let x = resident(16, true);
    let kernel = Kernel::from_expr(Expr::Named(Named::with_defaults(Family::Gaussian)));
    let gram = x.gram(&kernel, Wanted::Exact).expect("the kernel fits");
    for outputs in [1, 8] {
        let rhs = Matrix::from_entries(ROWS, outputs, vec![1.0; ROWS * outputs]);
        let mut out = Matrix::zeros(ROWS, outputs);
        group.bench_function(format!("rbf, {outputs} outputs"), |bencher| {
            bencher.iter(|| pool::with(Some(1), || gram.apply(&mut out, &rhs, &Unwatched)));
        });
    }
    group.finish();
}

criterion_group!(benches, families, apply);
criterion_main!(benches);
