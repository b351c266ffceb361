//! Times ridge regression without approximation by conjugate gradients: `cg [N] [D] [LAMBDA] [RANK] [TOLERANCE]`.

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::{LinearOperator, StoreAs, Stored, Wanted, low_rank_factor};
use mercer::kernel::Kernel;
use mercer::pool;
use mercer::session::Session;
use mercer::solve::{CgProblem, Coarse, ConjugateGradient, LowRank, Penalised, Regularised};
use mercer::watch::Unwatched;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::clock::timed;

pub fn run(arguments: &[String]) {
    let number =
        |i: usize, otherwise: f64| arguments.get(i).and_then(|a| a.parse().ok()).unwrap_or(otherwise);
    let (n, d) = (number(0, 20_000.0) as usize, number(1, 9.0) as usize);
    let (lambda, rank, tolerance) = (number(2, 1.0), number(3, 500.0) as usize, number(4, 1e-3));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let entries: Vec<f32> = (0..n * d).map(|_| rng.sample(rand_distr::StandardNormal)).collect();
    let mut rhs = Matrix::zeros(n, 2);
    for (i, x) in entries.chunks_exact(d).enumerate() {
        let noise: f64 = rng.sample(rand_distr::StandardNormal);
        rhs.row_mut(i)
            .copy_from_slice(&[f64::from(x[0] * 2.0).sin() + f64::from(x[d - 1]) + 0.3 * noise, 1.0]);
    }
    let wide: Vec<f64> = entries.iter().map(|v| f64::from(*v)).collect();
    let single = AnySamples::F32(Samples::dense(n, d, entries).expect("n·d entries"));
    let double = AnySamples::F64(Samples::dense(n, d, wide).expect("n·d entries"));
    // The median distance of standard normal points.
    let kernel: Kernel =
        format!("rbf(sigma={})", (2.0 * d as f64 - 4.0 / 3.0).sqrt()).parse().expect("a kernel");
    pool::with(None, || {
        let (fast, exact) = (
            Session::default().load(&single).expect("room"),
            Session::default().load(&double).expect("room"),
        );
        let (fast, exact) = (
            fast.gram(&kernel, Wanted::Exact).expect("a matrix"),
            exact.gram(&kernel, Wanted::Exact).expect("a matrix"),
        );
        let (operator, true_operator) =
            (Regularised::new(&*fast, lambda, None), Regularised::new(&*exact, lambda, None));
        let mut out = Matrix::zeros(n, 2);
        timed("apply f32, 2 columns", || operator.apply(&mut out, &rhs, &Unwatched).expect("not stopped"));
        timed("apply f64, 2 columns", || {
            true_operator.apply(&mut out, &rhs, &Unwatched).expect("not stopped")
        });
        let stored = timed("store in 16 bits", || fast.store(StoreAs::I16, &Unwatched).expect("not stopped"));
        let Stored::Products { operator: stored, rounding } = stored else { return };
        let coarse = Penalised { matrix: &*stored, lambda, root_weights: None };
        timed("apply 16 bits, 2 columns", || coarse.apply(&mut out, &rhs, &Unwatched).expect("not stopped"));
        let factor = timed("pivoted Cholesky", || {
            low_rank_factor(&*fast, rank, 1e-6, 0, &Unwatched).expect("not stopped")
        });
        println!("residual trace {:.2e}", factor.residual);
        let preconditioner =
            timed("preconditioner", || LowRank::new(factor.factor, lambda, None, &Unwatched).expect("λ > 0"));
        let problem = CgProblem {
            coarse: None,
            operator: &operator,
            exact: Some(&true_operator),
            rhs: &rhs,
            preconditioner: &preconditioner,
        };
        let with_store = CgProblem { coarse: Some(Coarse { operator: &coarse, rounding }), ..problem };
        let solver = ConjugateGradient { tolerance, ..Default::default() };
        for (what, problem) in [("steps on tiles", problem), ("steps on 16 bits", with_store)] {
            let (_, report) = timed(what, || solver.solve(&problem, &Unwatched).expect("an answer"));
            println!("{report:?}");
        }
    });
}
