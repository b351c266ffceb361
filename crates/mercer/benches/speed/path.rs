//! Times the stages of a path of λ: `path [ORDER] [THREADS] [LAMBDAS] [FOLDS] [SIGMA…]`, data with 8 columns.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par};
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::pool;
use mercer::session::Session;
use mercer::solve::{PathProblem, RidgePath, cross_validate};
use mercer::watch::Unwatched;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::clock::timed;

pub fn run(arguments: &[String]) {
    let arguments: Vec<f64> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let argument = |k: usize, otherwise: f64| arguments.get(k).copied().unwrap_or(otherwise);
    let (n, threads) = (argument(0, 2_000.0) as usize, argument(1, 2.0) as usize);
    let (count, folds) = (argument(2, 20.0) as usize, argument(3, 5.0) as usize);
    let sigmas = if arguments.len() > 4 { arguments[4..].to_vec() } else { vec![0.3, 2.0, 4.0, 10.0, 40.0] };
    let d = 8;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let entries: Vec<f64> = (0..n * d).map(|_| random.sample::<f64, _>(rand_distr::StandardNormal)).collect();
    let targets: Vec<f64> =
        entries.chunks(d).map(|x| x[0].sin() + x[1] * x[2] + 0.1 * random.random::<f64>()).collect();
    let targets = Matrix::from_entries(n, 1, targets);
    let lambdas: Vec<f64> = (0..count).map(|k| 10f64.powf(-5.0 + 7.0 * k as f64 / count as f64)).collect();
    let samples = AnySamples::F64(Samples::dense(n, d, entries).expect("n·d entries"));
    let assignment: Vec<usize> = (0..n).map(|i| i % folds.max(1)).collect();
    pool::with(Some(threads), || {
        let resident = Session::default().load(&samples).expect("room");
        for sigma in sigmas {
            let kernel: Kernel = format!("rbf(sigma={sigma})").parse().expect("a kernel");
            println!("n = {n}, σ = {sigma}, {count} values of λ, {threads} threads");
            let gram = timed("gram", || DenseGram::<f64>::compute(&*resident, &kernel, &Unwatched));
            let entries = gram.expect("the kernel fits").into_entries();
            if std::env::var_os("EIGEN").is_some() {
                let a = Mat::from_fn(n, n, |i, j| entries[i * n + j]);
                timed("eigen-decomposition", || {
                    let (mut u, mut s) = (Mat::zeros(n, n), vec![0.0f64; n]);
                    let par = Par::rayon(threads);
                    let yes = ComputeEigenvectors::Yes;
                    let mut memory =
                        MemBuffer::new(self_adjoint_evd_scratch::<f64>(n, yes, par, Default::default()));
                    let s = faer::diag::DiagMut::from_slice_mut(&mut s);
                    let stack = MemStack::new(&mut memory);
                    self_adjoint_evd(a.as_ref(), s, Some(u.as_mut()), par, stack, Default::default())
                        .expect("it converges");
                });
            }
            let gram = Matrix::from_entries(n, n, entries);
            let again = gram.clone();
            let problem =
                PathProblem { targets: &targets, root_weights: None, intercept: true, lambdas: &lambdas };
            let mut path =
                timed("factor", || RidgePath::factor(gram, problem, &Unwatched)).expect("never stopped");
            println!("  rank {}", path.rank());
            timed("generalised", || path.generalised(&Unwatched)).expect("never stopped");
            timed("form Q, leave-one-out", || path.leave_one_out(&Unwatched)).expect("never stopped");
            timed("leave-one-out again", || path.leave_one_out(&Unwatched)).expect("never stopped");
            if folds > 0 {
                timed("k-fold by the formula", || path.k_fold(&assignment, &Unwatched))
                    .expect("never stopped");
                timed("k-fold", || cross_validate(again, problem, &assignment, &Unwatched))
                    .expect("never stopped");
            }
        }
    });
}
