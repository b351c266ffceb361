use super::*;
use crate::data::{AnySamples, Samples};
use crate::gram::{
    CpuEngine, DenseGram, Engine, HostFactor, Resident, TileMut, Wanted, low_rank_factor, randomly_pivoted,
};
use crate::kernel::Kernel;
use crate::pool;
use crate::solve::{Factor, Regularised, solve_direct};
use crate::watch::Unwatched;

fn points(n: usize, d: usize) -> Vec<f64> {
    (0..n * d).map(|k| ((k * 7919 + k * k % 104_729) % 1000) as f64 / 500.0 - 1.0).collect()
}

fn double(n: usize, d: usize) -> Box<dyn Resident> {
    CpuEngine.load(&AnySamples::F64(Samples::dense(n, d, points(n, d)).unwrap())).unwrap()
}

fn single(n: usize, d: usize) -> Box<dyn Resident> {
    let narrow: Vec<f32> = points(n, d).into_iter().map(|v| v as f32).collect();
    CpuEngine.load(&AnySamples::F32(Samples::dense(n, d, narrow).unwrap())).unwrap()
}

fn rhs(n: usize) -> Matrix<f64> {
    Matrix::from_entries(n, 2, (0..2 * n).map(|k| if k % 2 == 0 { (k as f64).sin() } else { 1.0 }).collect())
}

fn kernel() -> Kernel {
    "rbf(sigma=0.7)".parse().unwrap()
}

fn low_rank(resident: &dyn Resident, rank: usize, lambda: f64) -> LowRank {
    let gram = resident.gram(&kernel(), Wanted::Exact).unwrap();
    let factor = low_rank_factor(&*gram, rank, 1e-7, 1, &Unwatched).unwrap();
    LowRank::new(factor.factor, lambda, None, &Unwatched).unwrap()
}

fn distance(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
    let size: f64 = b.entries().iter().map(|v| v * v).sum::<f64>().sqrt();
    a.entries().iter().zip(b.entries()).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt() / size
}

#[test]
fn equals_cholesky_to_the_tolerance() {
    let n = 400;
    let resident = double(n, 3);
    let gram = resident.gram(&kernel(), Wanted::Exact).unwrap();
    for lambda in [1.0, 1e-2] {
        let system = Regularised::new(&*gram, lambda, None);
        let (expected, _) = solve_direct(&system, &rhs(n), Factor::Double, &Unwatched).unwrap();
        let conditioner = low_rank(&*resident, 100, lambda);
        let problem = CgProblem {
            coarse: None,
            operator: &system,
            exact: None,
            rhs: &rhs(n),
            preconditioner: &conditioner,
        };
        let solver = ConjugateGradient { tolerance: 1e-11, ..Default::default() };
        let (found, report) = solver.solve(&problem, &Unwatched).unwrap();
        assert_eq!(report.status, Status::Converged);
        assert!(report.residual <= 1e-11 && distance(&found, &expected) < 1e-7, "{lambda}: {report:?}");
    }
}

#[test]
fn the_preconditioner_saves_steps() {
    let (n, lambda) = (600, 1e-3);
    let resident = double(n, 3);
    let gram = resident.gram(&kernel(), Wanted::Exact).unwrap();
    let system = Regularised::new(&*gram, lambda, None);
    let steps = |preconditioner: &dyn Preconditioner| {
        let problem =
            CgProblem { coarse: None, operator: &system, exact: None, rhs: &rhs(n), preconditioner };
        let (_, report) = ConjugateGradient::default().solve(&problem, &Unwatched).unwrap();
        assert_eq!(report.status, Status::Converged, "{report:?}");
        report.iterations
    };
    let (with, without) = (steps(&low_rank(&*resident, 250, lambda)), steps(&Unconditioned));
    assert!(4 * with < without, "{with} {without}");
}

/// P⁻¹(FFᵀ + λI)v = v.
#[test]
fn the_preconditioner_inverts_its_low_rank_matrix() {
    let (n, lambda) = (300, 1e-2);
    let resident = double(n, 2);
    let gram = resident.gram(&kernel(), Wanted::Exact).unwrap();
    let f = randomly_pivoted::<f32>(&*gram, 40, 1e-7, 1, &Unwatched).unwrap().factor;
    let factor = Box::new(HostFactor::from(f.clone()));
    let conditioner = LowRank::new(factor, lambda, None, &Unwatched).unwrap();
    let v: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
    let inner: Vec<f64> =
        (0..f.ncols()).map(|j| (0..n).map(|i| f64::from(f.row(i)[j]) * v[i]).sum()).collect();
    let product: Vec<f64> = (0..n)
        .map(|i| f.row(i).iter().zip(&inner).map(|(f, s)| f64::from(*f) * s).sum::<f64>() + lambda * v[i])
        .collect();
    let mut out = Matrix::zeros(n, 1);
    conditioner.apply(&mut out, &Matrix::from_entries(n, 1, product), &Unwatched).unwrap();
    assert!(distance(&out, &Matrix::from_entries(n, 1, v)) < 1e-9);
}

#[test]
fn single_precision_tiles_give_the_double_precision_answer() {
    let (n, lambda) = (500, 1e-2);
    let (fast, exact) = (single(n, 3), double(n, 3));
    let (fast_gram, exact_gram) =
        (fast.gram(&kernel(), Wanted::Exact).unwrap(), exact.gram(&kernel(), Wanted::Exact).unwrap());
    let (operator, true_operator) =
        (Regularised::new(&*fast_gram, lambda, None), Regularised::new(&*exact_gram, lambda, None));
    let (expected, _) = solve_direct(&true_operator, &rhs(n), Factor::Double, &Unwatched).unwrap();
    let conditioner = low_rank(&*fast, 100, lambda);
    let solver = ConjugateGradient { tolerance: 1e-10, ..Default::default() };
    let b = rhs(n);
    let problem = CgProblem {
        coarse: None,
        operator: &operator,
        exact: Some(&true_operator),
        rhs: &b,
        preconditioner: &conditioner,
    };
    let (found, report) = solver.solve(&problem, &Unwatched).unwrap();
    assert_eq!(report.status, Status::Converged, "{report:?}");
    assert!(distance(&found, &expected) < 1e-6);
    // Without the exact operator, the solution is that of the rounded tiles.
    let (rounded, _) = solver.solve(&CgProblem { exact: None, ..problem }, &Unwatched).unwrap();
    assert!(distance(&rounded, &expected) > 1e-8);
}

/// An operator that is accurate to seven digits, so that the residual stops falling.
struct Rounded<'a>(&'a dyn LinearOperator);

impl LinearOperator for Rounded<'_> {
    fn nrows(&self) -> usize {
        self.0.nrows()
    }

    fn ncols(&self) -> usize {
        self.0.ncols()
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.0.apply(out, rhs, watch)?;
        out.entries_mut().iter_mut().for_each(|v| *v = f64::from(*v as f32));
        Ok(())
    }
}

#[test]
fn stagnation_is_noticed_and_told() {
    let (n, lambda) = (300, 1e-4);
    let resident = double(n, 3);
    let gram = resident.gram(&kernel(), Wanted::Exact).unwrap();
    let system = Regularised::new(&*gram, lambda, None);
    let coarse = Rounded(&system);
    let conditioner = low_rank(&*resident, 100, lambda);
    let b = rhs(n);
    let problem =
        CgProblem { coarse: None, operator: &coarse, exact: None, rhs: &b, preconditioner: &conditioner };
    let solver = ConjugateGradient { tolerance: 1e-14, ..Default::default() };
    let (_, report) = solver.solve(&problem, &Unwatched).unwrap();
    assert_eq!(report.status, Status::Stagnated);
    assert!(report.residual > 1e-14 && report.reasons[0].contains("stagnates"), "{report:?}");
    let short = ConjugateGradient { tolerance: 1e-9, iterations: 2, ..Default::default() };
    let (_, report) = short.solve(&problem, &Unwatched).unwrap();
    assert_eq!((report.status, report.iterations), (Status::OutOfIterations, 2));
}

/// A plus errors of this size, symmetric and of both signs.
fn disturbed(gram: &dyn crate::gram::Gram, size: f64) -> DenseGram<'static, f64> {
    let n = gram.nrows();
    let all: Vec<usize> = (0..n).collect();
    let mut entries = vec![0.0; n * n];
    gram.block(&all, &all, TileMut::new(&mut entries, n));
    for i in 0..n {
        for j in 0..n {
            let (low, high) = (i.min(j) as f64, i.max(j) as f64);
            entries[i * n + j] += size * (12.9898 * low + 78.233 * high + low * high).sin();
        }
    }
    DenseGram::new(n, entries)
}

#[test]
fn a_coarse_operator_is_corrected_or_given_up() {
    let (n, lambda) = (400, 1e-2);
    let resident = double(n, 3);
    let gram = resident.gram(&kernel(), Wanted::Exact).unwrap();
    let system = Regularised::new(&*gram, lambda, None);
    let (b, conditioner) = (rhs(n), low_rank(&*resident, 100, lambda));
    let (expected, _) = solve_direct(&system, &b, Factor::Double, &Unwatched).unwrap();
    // Errors of norm about λ/20, λ/2 and 20λ.
    for (size, given_up) in [(2e-5, Some(false)), (2e-4, None), (8e-3, Some(true))] {
        let near = disturbed(&*gram, size);
        let near = Regularised::new(&near, lambda, None);
        let problem = CgProblem {
            coarse: Some(Coarse { operator: &near, rounding: size * (0.5 * n as f64).sqrt() }),
            operator: &system,
            exact: None,
            rhs: &b,
            preconditioner: &conditioner,
        };
        let solver = ConjugateGradient { tolerance: 1e-9, ..Default::default() };
        let mut state = CgState::start(&b);
        let mut saved = Vec::new();
        let report =
            solver.run(&problem, &mut state, &Unwatched, &mut |state| saved.push(state.to_bytes())).unwrap();
        assert_eq!(report.status, Status::Converged, "{size}: {report:?}");
        assert!(given_up.is_none_or(|given_up| given_up == state.gave_up_coarse()), "{size}: {report:?}");
        assert!(distance(state.solution(), &expected) < 1e-6, "{size}");
        // The same bits from every state at which it resumes.
        for bytes in saved.iter().step_by(saved.len().div_ceil(7)) {
            let mut again = CgState::from_bytes(bytes).unwrap();
            assert_eq!(solver.run(&problem, &mut again, &Unwatched, &mut |_| {}).unwrap(), report);
            assert!(again.solution() == state.solution());
        }
    }
}

#[test]
fn a_saved_state_resumes_with_the_same_bits() {
    let (n, lambda) = (300, 1e-3);
    let resident = double(n, 3);
    let gram = resident.gram(&kernel(), Wanted::Exact).unwrap();
    let system = Regularised::new(&*gram, lambda, None);
    let conditioner = low_rank(&*resident, 30, lambda);
    let b = rhs(n);
    let problem =
        CgProblem { coarse: None, operator: &system, exact: None, rhs: &b, preconditioner: &conditioner };
    let solver = ConjugateGradient { tolerance: 1e-9, check_every: 7, ..Default::default() };
    let (whole, report) = solver.solve(&problem, &Unwatched).unwrap();
    let mut saved = Vec::new();
    solver
        .run(&problem, &mut CgState::start(&b), &Unwatched, &mut |state| saved.push(state.to_bytes()))
        .unwrap();
    assert_eq!(saved.len(), report.iterations);
    for bytes in [&saved[0], &saved[6], &saved[7], &saved[saved.len() - 1]] {
        let mut state = CgState::from_bytes(bytes).unwrap();
        let again = solver.run(&problem, &mut state, &Unwatched, &mut |_| {}).unwrap();
        assert!(state.solution() == &whole && again == report);
    }
    let mut damaged = saved[0].clone();
    damaged[100] ^= 4;
    assert!(CgState::from_bytes(&damaged).is_err() && CgState::from_bytes(&saved[0][..99]).is_err());
    let mut other = CgState::start(&Matrix::zeros(5, 2));
    assert!(matches!(
        solver.run(&problem, &mut other, &Unwatched, &mut |_| {}),
        Err(SolveError::Shape { found: 5, .. })
    ));
}

#[test]
fn has_the_same_bits_for_every_number_of_threads() {
    let (n, lambda) = (700, 1e-2);
    let resident = single(n, 3);
    let gram = resident.gram(&kernel(), Wanted::Exact).unwrap();
    let system = Regularised::new(&*gram, lambda, None);
    let b = rhs(n);
    let run = |threads| {
        pool::with(Some(threads), || {
            let conditioner = low_rank(&*resident, 60, lambda);
            let problem = CgProblem {
                coarse: None,
                operator: &system,
                exact: None,
                rhs: &b,
                preconditioner: &conditioner,
            };
            ConjugateGradient::default().solve(&problem, &Unwatched).unwrap()
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn unsolvable_systems_are_refused() {
    let resident = double(50, 2);
    let gram = resident.gram(&"-1*rbf".parse().unwrap(), Wanted::Exact).unwrap();
    let system = Regularised::new(&*gram, 0.1, None);
    let b = rhs(50);
    let problem =
        CgProblem { coarse: None, operator: &system, exact: None, rhs: &b, preconditioner: &Unconditioned };
    let error = ConjugateGradient::default().solve(&problem, &Unwatched).unwrap_err();
    assert!(matches!(error, SolveError::NegativeCurvature { .. }));
    let good = resident.gram(&kernel(), Wanted::Exact).unwrap();
    let factor = low_rank_factor(&*good, 5, 0.0, 0, &Unwatched).unwrap();
    assert!(matches!(LowRank::new(factor.factor, 0.0, None, &Unwatched), Err(SolveError::Parameter { .. })));
    // A right-hand side of zeros has the answer zero.
    let zeros = Matrix::zeros(50, 1);
    let (x, report) =
        ConjugateGradient::default().solve(&CgProblem { rhs: &zeros, ..problem }, &Unwatched).unwrap();
    assert!(x == zeros && report.iterations == 0 && report.status == Status::Converged);
    let stop = std::sync::atomic::AtomicBool::new(true);
    let problem = CgProblem { rhs: &b, ..problem };
    assert_eq!(
        ConjugateGradient::default().solve(&problem, &stop).unwrap_err(),
        SolveError::Stopped(Stopped)
    );
}
