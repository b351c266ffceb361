//! The quadratic program of support vector machines, against the optimality conditions, an independent solver and known answers.

use mercer::data::{AnySamples, Samples};
use mercer::gram::{CpuEngine, DenseGram, Engine, Gram, Wanted};
use mercer::kernel::Kernel;
use mercer::pool;
use mercer::solve::SolveError;
use mercer::solve::Status;
use mercer::solve::svm::{BoxQp, Solution, SvmSettings};
use mercer::watch::{Stopped, Unwatched};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::atomic::AtomicBool;

fn random(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn points(n: usize, d: usize, seed: u64) -> Vec<f64> {
    let mut random = random(seed);
    (0..n * d).map(|_| random.random_range(-1.0..1.0)).collect()
}

/// The kernel matrix by the definition of the kernel.
fn oracle(kernel: &Kernel, x: &[f64], d: usize) -> Vec<f64> {
    let rows: Vec<&[f64]> = x.chunks_exact(d).collect();
    rows.iter().flat_map(|a| rows.iter().map(|b| kernel.eval(a, b).unwrap())).collect()
}

fn settings(tol: f64) -> SvmSettings {
    SvmSettings { tol, cache: Some(64 << 20), ..SvmSettings::default() }
}

/// A problem as LIBSVM states it: minimise ½αᵀQα + pᵀα with 0 ≤ α ≤ C and, within each group, yᵀα as at the start.
struct Textbook {
    q: Vec<f64>,
    p: Vec<f64>,
    y: Vec<f64>,
    c: Vec<f64>,
    group: Vec<usize>,
    start: Vec<f64>,
}

impl Textbook {
    fn new(k: &[f64], rows: &[usize], n: usize, y: Vec<f64>, p: Vec<f64>, c: Vec<f64>) -> Self {
        let m = y.len();
        let q = (0..m * m).map(|e| y[e / m] * y[e % m] * k[rows[e / m] * n + rows[e % m]]).collect();
        Self { q, p, y, c, group: vec![0; m], start: vec![0.0; m] }
    }

    fn gradient(&self, alpha: &[f64]) -> Vec<f64> {
        let m = alpha.len();
        (0..m).map(|i| self.p[i] + (0..m).map(|j| self.q[i * m + j] * alpha[j]).sum::<f64>()).collect()
    }

    fn objective(&self, alpha: &[f64]) -> f64 {
        self.gradient(alpha).iter().zip(&self.p).zip(alpha).map(|((g, p), a)| 0.5 * a * (g + p)).sum()
    }

    /// The nearest feasible point: α = clip(a − λy) with λ by bisection in each group.
    fn project(&self, a: &[f64]) -> Vec<f64> {
        let mut out = a.to_vec();
        for group in 0..2 {
            let members: Vec<usize> = (0..a.len()).filter(|&i| self.group[i] == group).collect();
            let at = |lambda: f64, i: usize| (a[i] - lambda * self.y[i]).clamp(0.0, self.c[i]);
            let wanted: f64 = members.iter().map(|&i| self.y[i] * self.start[i]).sum();
            // Beyond these ends every variable is at a bound.
            let far = members.iter().map(|&i| a[i].abs() + self.c[i]).fold(0.0, f64::max);
            let (mut low, mut high) = (-far, far);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                let sum: f64 = members.iter().map(|&i| self.y[i] * at(middle, i)).sum();
                if sum > wanted { low = middle } else { high = middle }
            }
            members.iter().for_each(|&i| out[i] = at(0.5 * (low + high), i));
        }
        out
    }

    /// Accelerated projected gradient with restarts: slow, and nothing like the solver under test. It ends where a thousand steps
    /// have gained nothing; a value above the minimum would fail the comparison, not pass it.
    fn minimum(&self) -> f64 {
        let m = self.p.len();
        let size = (0..m).map(|i| (0..m).map(|j| self.q[i * m + j].abs()).sum::<f64>()).fold(1e-9, f64::max);
        let mut x = self.project(&self.start);
        let (mut z, mut t, mut best) = (x.clone(), 1.0f64, self.objective(&x));
        let mut before = f64::INFINITY;
        for step in 0..6000 {
            if step % 1000 == 999 {
                if before - best <= 1e-12 * (1.0 + best.abs()) {
                    break;
                }
                before = best;
            }
            let g = self.gradient(&z);
            let next = self.project(&z.iter().zip(&g).map(|(z, g)| z - g / size).collect::<Vec<_>>());
            let value = self.objective(&next);
            let t_next = 0.5 * (1.0 + (1.0 + 4.0 * t * t).sqrt());
            let restart = value > best;
            let momentum = if restart { 0.0 } else { (t - 1.0) / t_next };
            z = next.iter().zip(&x).map(|(n, x)| n + momentum * (n - x)).collect();
            t = if restart { 1.0 } else { t_next };
            x = next;
            best = best.min(value);
        }
        best
    }
}

/// Solves with a stored matrix in double precision.
fn solve(qp: &BoxQp, k: &[f64], n: usize, tol: f64) -> Solution {
    let gram = DenseGram::new(n, k.to_vec());
    let solution = qp.solve(&gram, None, &settings(tol), &Unwatched).unwrap();
    assert_eq!(solution.report.status, Status::Converged);
    solution
}

fn assert_close(found: f64, expected: f64, relative: f64, what: &str) {
    let allowed = relative * (1.0 + expected.abs());
    assert!((found - expected).abs() <= allowed, "{what}: {found} is not {expected}");
}

#[test]
fn every_problem_has_the_objective_of_projected_gradient() {
    for seed in 0..40 {
        let mut random = random(1000 + seed);
        let n = random.random_range(2..14);
        let kernel: Kernel = ["rbf(gamma=0.7)", "linear", "poly(degree=2)", "laplacian(gamma=1)"]
            [seed as usize % 4]
            .parse()
            .unwrap();
        let mut x = points(n, 2, seed);
        if seed % 5 == 0 {
            let (first, second) = x.split_at_mut(2);
            second[..2].copy_from_slice(first);
        }
        let k = oracle(&kernel, &x, 2);
        let rows: Vec<usize> = (0..n).collect();
        let twice: Vec<usize> = (0..2 * n).map(|i| i % n).collect();
        let mut positive: Vec<bool> = (0..n).map(|_| random.random_range(0.0..1.0) < 0.5).collect();
        (positive[0], positive[1]) = (true, false);
        let y: Vec<f64> = positive.iter().map(|&p| if p { 1.0 } else { -1.0 }).collect();
        let z: Vec<f64> = (0..n).map(|_| random.random_range(-2.0..2.0)).collect();
        let c: Vec<f64> = (0..n).map(|_| random.random_range(0.1..3.0)).collect();
        let signs: Vec<f64> = (0..2 * n).map(|i| if i < n { 1.0 } else { -1.0 }).collect();
        let nu = 0.3;

        let textbook = Textbook::new(&k, &rows, n, y.clone(), vec![-1.0; n], c.clone());
        let found = solve(&BoxQp::classify(&rows, &positive, &c).unwrap(), &k, n, 1e-9);
        assert_close(found.report.objective, textbook.minimum(), 1e-8, &format!("classification {seed}"));

        let epsilon = 0.2;
        let p = (0..2 * n).map(|i| epsilon - signs[i] * z[i % n]).collect();
        let textbook = Textbook::new(&k, &twice, n, signs.clone(), p, [c.clone(), c.clone()].concat());
        let found = solve(&BoxQp::regress(&rows, &z, epsilon, &c).unwrap(), &k, n, 1e-9);
        assert_close(found.report.objective, textbook.minimum(), 1e-8, &format!("regression {seed}"));

        let qp = BoxQp::one_class(&rows, nu, &c).unwrap();
        let mut textbook = Textbook::new(&k, &rows, n, vec![1.0; n], vec![0.0; n], c.clone());
        textbook.start = solve(&qp, &k, n, 1e9).beta;
        assert_close(textbook.start.iter().sum(), nu * c.iter().sum::<f64>(), 1e-12, "Σα");
        let found = solve(&qp, &k, n, 1e-9);
        assert_close(found.report.objective, textbook.minimum(), 1e-8, &format!("one class {seed}"));

        let plus: f64 = (0..n).filter(|&i| positive[i]).map(|i| c[i]).sum();
        let nu_c = 0.9 * 2.0 * plus.min(c.iter().sum::<f64>() - plus) / c.iter().sum::<f64>();
        let qp = BoxQp::nu_classify(&rows, &positive, nu_c, &c).unwrap();
        let order: Vec<usize> = qp.rows().to_vec();
        let pick = |v: &[f64]| order.iter().map(|&i| v[i]).collect::<Vec<f64>>();
        let mut textbook = Textbook::new(&k, &order, n, pick(&y), vec![0.0; n], pick(&c));
        textbook.group = order.iter().map(|&i| usize::from(!positive[i])).collect();
        let start = solve(&qp, &k, n, 1e9).beta;
        textbook.start = start.iter().map(|b| b.abs()).collect();
        let found = solve(&qp, &k, n, 1e-9);
        assert_close(found.report.objective, textbook.minimum(), 1e-8, &format!("ν-classification {seed}"));

        let qp = BoxQp::nu_regress(&rows, &z, nu, &c).unwrap();
        let p = (0..2 * n).map(|i| -signs[i] * z[i % n]).collect();
        let mut textbook = Textbook::new(&k, &twice, n, signs.clone(), p, [c.clone(), c.clone()].concat());
        textbook.group = (0..2 * n).map(|i| i / n).collect();
        textbook.start = solve(&qp, &k, n, 1e9).beta.iter().map(|b| b.abs()).collect();
        let found = solve(&qp, &k, n, 1e-9);
        assert_close(found.report.objective, textbook.minimum(), 1e-8, &format!("ν-regression {seed}"));
    }
}

/// Classifies on samples held by the engine; single precision where `single`.
fn classify(
    x: &[f64],
    d: usize,
    kernel: &str,
    positive: &[bool],
    c: f64,
    single: bool,
    with: &SvmSettings,
) -> Solution {
    let n = positive.len();
    let kernel: Kernel = kernel.parse().unwrap();
    let resident = CpuEngine.load(&AnySamples::F64(Samples::dense(n, d, x.to_vec()).unwrap())).unwrap();
    let exact = resident.gram(&kernel, Wanted::Double).unwrap();
    let fast = resident.gram(&kernel, Wanted::Single).ok();
    let gram: &dyn Gram = if single { fast.as_deref().unwrap_or(&*exact) } else { &*exact };
    let rows: Vec<usize> = (0..n).collect();
    let qp = BoxQp::classify(&rows, positive, &vec![c; n]).unwrap();
    qp.solve(gram, Some(&*exact), with, &Unwatched).unwrap()
}

/// The violation of the optimality conditions of C-classification, from the definition of the kernel.
fn violation(x: &[f64], d: usize, kernel: &str, positive: &[bool], c: f64, beta: &[f64]) -> f64 {
    let kernel: Kernel = kernel.parse().unwrap();
    let rows: Vec<&[f64]> = x.chunks_exact(d).collect();
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for (i, a) in rows.iter().enumerate() {
        let f: f64 = rows
            .iter()
            .zip(beta)
            .filter(|(_, b)| **b != 0.0)
            .map(|(r, b)| b * kernel.eval(a, r).unwrap())
            .sum();
        let (y, alpha) = if positive[i] { (1.0, beta[i]) } else { (-1.0, -beta[i]) };
        assert!((0.0..=c).contains(&alpha), "α = {alpha} is outside of the box");
        let (may_grow, may_shrink) =
            if positive[i] { (alpha < c, alpha > 0.0) } else { (alpha > 0.0, alpha < c) };
        if may_grow {
            least = least.min(f - y);
        }
        if may_shrink {
            most = most.max(f - y);
        }
    }
    assert!(beta.iter().sum::<f64>().abs() < 1e-9 * (1.0 + c) * beta.len() as f64, "Σyα = 0");
    most - least
}

/// A noisy ring: about half the points within a circle, a tenth of the labels wrong.
fn ring(n: usize, seed: u64) -> (Vec<f64>, Vec<bool>) {
    let x = points(n, 2, seed);
    let mut random = random(seed + 77);
    let positive =
        x.chunks_exact(2).map(|p| (p[0].hypot(p[1]) < 0.8) ^ (random.random_range(0.0..1.0) < 0.1)).collect();
    (x, positive)
}

#[test]
fn large_problems_meet_the_conditions_in_double_precision() {
    let (x, positive) = ring(2200, 1);
    for (c, gamma, tol) in [(1.0, 1.0, 1e-3), (100.0, 4.0, 1e-3), (10.0, 2.0, 1e-6)] {
        for single in [true, false] {
            for shrinking in [true, false] {
                let kernel = format!("rbf(gamma={gamma})");
                let with = SvmSettings { shrinking, ..settings(tol) };
                let found = classify(&x, 2, &kernel, &positive, c, single, &with);
                assert_eq!(found.report.status, Status::Converged);
                let worst = violation(&x, 2, &kernel, &positive, c, &found.beta);
                // Single-precision tiles are checked where it matters and trusted elsewhere to their observed error.
                assert!(worst <= tol * 1.001, "C = {c}, γ = {gamma}, single {single}: {worst} > {tol}");
                assert!(found.report.gap >= -1e-9 && found.report.gap <= 10.0 * tol * c * 2200.0);
            }
        }
    }
}

#[test]
fn badly_conditioned_free_variables_do_not_take_millions_of_steps() {
    // Columns of very different widths: two variables at a time, LIBSVM takes millions of steps on these.
    let (n, d, c) = (200, 8, 100.0);
    for seed in 0..3 {
        let widths: Vec<f64> = (0..d).map(|j| 0.25 * f64::from(1 << j)).collect();
        let unit = points(n, d, seed);
        let noise = points(n, 1, seed + 50);
        let x: Vec<f64> = unit.iter().enumerate().map(|(k, x)| x * widths[k % d]).collect();
        let positive: Vec<bool> =
            unit.chunks_exact(d).zip(&noise).map(|(x, e)| x.iter().sum::<f64>() + 0.3 * e > 0.0).collect();
        for single in [false, true] {
            let found = classify(&x, d, "linear", &positive, c, single, &settings(1e-3));
            assert_eq!(found.report.status, Status::Converged);
            assert!(found.report.iterations < 200_000, "{}", found.report.iterations);
            assert!(violation(&x, d, "linear", &positive, c, &found.beta) <= 1e-3 * (1.0 + 1e-6));
        }
    }
}

#[test]
fn small_and_large_caches_give_the_same_solution() {
    let (x, positive) = ring(1500, 2);
    let run = |cache| {
        let with = SvmSettings { cache: Some(cache), ..settings(1e-4) };
        classify(&x, 2, "rbf(gamma=2)", &positive, 10.0, true, &with).report.objective
    };
    let (none, some, all) = (run(0), run(1 << 20), run(1 << 30));
    assert_close(none, all, 1e-6, "no cache");
    assert_close(some, all, 1e-6, "a small cache");
}

#[test]
fn the_same_bits_for_every_number_of_threads() {
    let (x, positive) = ring(1800, 3);
    let run = |threads| {
        pool::with(Some(threads), || classify(&x, 2, "rbf(gamma=3)", &positive, 10.0, true, &settings(1e-4)))
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn a_start_is_continued() {
    let (x, positive) = ring(1000, 4);
    let n = positive.len();
    let k = oracle(&"rbf(gamma=2)".parse().unwrap(), &x, 2);
    let rows: Vec<usize> = (0..n).collect();
    let qp = BoxQp::classify(&rows, &positive, &vec![5.0; n]).unwrap();
    let first = solve(&qp, &k, n, 1e-5);
    let again = solve(&qp.clone().starting_from(&first.beta).unwrap(), &k, n, 1e-4);
    assert_eq!(again.report.iterations, 0);
    assert_eq!(again.beta, first.beta);
    assert!(matches!(qp.starting_from(&vec![9.0; n]), Err(SolveError::Start { variable: 0, .. })));
}

#[test]
fn hard_cases_end_with_an_honest_answer() {
    let (mut x, positive) = ring(1100, 5);
    // Three in ten rows are copies, some with the other label.
    for i in 0..330 {
        let from = x[2 * (i + 400)..2 * (i + 400) + 2].to_vec();
        x[2 * i..2 * i + 2].copy_from_slice(&from);
    }
    let random_labels: Vec<bool> = {
        let mut random = random(9);
        (0..1100).map(|_| random.random_range(0.0..1.0) < 0.5).collect()
    };
    let equal = vec![0.5; 2200];
    for (name, x, positive, kernel, c) in [
        ("copies", &x, &positive, "rbf(gamma=5)", 10.0),
        ("large C", &x, &positive, "rbf(gamma=1)", 1e6),
        ("tiny gamma", &x, &positive, "rbf(gamma=1e-6)", 1.0),
        ("huge gamma", &x, &positive, "rbf(gamma=1e6)", 1.0),
        ("random labels", &x, &random_labels, "rbf(gamma=10)", 100.0),
        ("all equal", &equal, &positive, "rbf(gamma=1)", 1.0),
        ("linear", &x, &positive, "linear", 10.0),
    ] {
        for single in [true, false] {
            let with = SvmSettings { max_iter: Some(300_000), ..settings(1e-3) };
            let found = classify(x, 2, kernel, positive, c, single, &with);
            let report = &found.report;
            assert!(found.beta.iter().all(|b| b.is_finite()) && found.rho().is_finite(), "{name}");
            let truth = violation(x, 2, kernel, positive, c, &found.beta);
            // f is a sum of terms of the size of C.
            let rounding = 1e-12 * c * 1100.0;
            if report.status == Status::Converged {
                assert!(truth <= 1e-3 * 1.01 + rounding, "{name}, single {single}: {truth}");
            } else {
                assert!(report.iterations >= 300_000 || !report.reasons.is_empty(), "{name}: {report:?}");
                assert!(
                    (truth - report.violation).abs() <= 1e-4 * truth + rounding,
                    "{name}: {report:?} {truth}"
                );
            }
        }
    }
}

#[test]
fn two_points_have_a_closed_form() {
    // x = ±1 on a line: w = 1, so α = ½ each, the objective is −½, and the hyperplane is at 0.
    let k = [1.0, -1.0, -1.0, 1.0];
    let qp = BoxQp::classify(&[0, 1], &[true, false], &[10.0, 10.0]).unwrap();
    let found = solve(&qp, &k, 2, 1e-10);
    assert_close(found.report.objective, -0.5, 1e-12, "objective");
    assert_close(found.beta[0], 0.5, 1e-12, "α");
    assert_close(found.rho(), 0.0, 1e-12, "ρ");
    // With C = ¼ both are at the bound, no variable is free, and the level is in the middle.
    let qp = BoxQp::classify(&[0, 1], &[true, false], &[0.25, 0.25]).unwrap();
    let found = solve(&qp, &k, 2, 1e-10);
    assert_eq!(found.beta, [0.25, -0.25]);
    assert_close(found.rho(), 0.0, 1e-12, "ρ");
}

#[test]
fn one_class_of_samples_needs_no_work() {
    let qp = BoxQp::classify(&[0, 1, 2], &[true; 3], &[1.0; 3]).unwrap();
    let found = solve(&qp, &[1.0; 9], 3, 1e-3);
    assert_eq!(found.beta, [0.0; 3]);
    assert!(found.rho().is_finite());
}

#[test]
fn wrong_input_is_refused_by_name() {
    assert_eq!(BoxQp::classify(&[], &[], &[]), Err(SolveError::Empty));
    assert!(matches!(
        BoxQp::classify(&[0], &[true, false], &[1.0]),
        Err(SolveError::Shape { what: "labels", .. })
    ));
    assert!(matches!(BoxQp::classify(&[0], &[true], &[-1.0]), Err(SolveError::Value { row: 0, .. })));
    assert!(matches!(
        BoxQp::regress(&[0], &[f64::NAN], 0.1, &[1.0]),
        Err(SolveError::Value { what: "target", .. })
    ));
    let infeasible = BoxQp::nu_classify(&[0, 1, 2, 3], &[true, false, false, false], 0.6, &[1.0; 4]);
    assert_eq!(infeasible, Err(SolveError::InfeasibleNu { nu: 0.6, largest: 0.5 }));
    let gram = DenseGram::new(1, vec![1.0]);
    let qp = BoxQp::classify(&[0, 1], &[true, false], &[1.0; 2]).unwrap();
    let error = qp.solve(&gram, None, &SvmSettings::default(), &Unwatched).unwrap_err();
    assert_eq!(error, SolveError::Row { variable: 1, row: 1, rows: 1 });
    let gram = DenseGram::new(2, vec![1.0, f64::NAN, f64::NAN, 1.0]);
    let error = qp.solve(&gram, None, &SvmSettings::default(), &Unwatched).unwrap_err();
    assert!(matches!(error, SolveError::KernelValue { .. }));
}

#[test]
fn stops_when_asked() {
    let (x, positive) = ring(1000, 6);
    let k = oracle(&"rbf(gamma=2)".parse().unwrap(), &x, 2);
    let rows: Vec<usize> = (0..1000).collect();
    let qp = BoxQp::classify(&rows, &positive, &[1.0; 1000]).unwrap();
    let stop = AtomicBool::new(true);
    let error = qp.solve(&DenseGram::new(1000, k), None, &SvmSettings::default(), &stop).unwrap_err();
    assert_eq!(error, SolveError::Stopped(Stopped));
}

#[test]
fn leaving_variables_out_changes_the_way_and_not_the_answer() {
    let (x, positive) = ring(400, 77);
    let kernel: Kernel = "rbf(gamma=3)".parse().unwrap();
    let n = positive.len();
    let gram = DenseGram::new(n, oracle(&kernel, &x, x.len() / n));
    let rows: Vec<usize> = (0..n).collect();
    let targets: Vec<f64> = (0..n).map(|i| (3.0 * x[2 * i]).sin() + 0.1 * f64::from(i as u32 % 7)).collect();
    let problems = [
        BoxQp::classify(&rows, &positive, &vec![1e4; n]).unwrap(),
        BoxQp::nu_classify(&rows, &positive, 0.3, &vec![1.0; n]).unwrap(),
        BoxQp::regress(&rows, &targets, 0.05, &vec![1e3; n]).unwrap(),
        BoxQp::nu_regress(&rows, &targets, 0.5, &vec![1e3; n]).unwrap(),
    ];
    let mut longest = 0;
    for qp in &problems {
        let with = |shrinking| {
            qp.solve(&gram, None, &SvmSettings { shrinking, ..settings(1e-6) }, &Unwatched).unwrap()
        };
        let (left_out, all) = (with(true), with(false));
        longest = longest.max(left_out.report.iterations);
        assert_eq!(left_out.report.status, Status::Converged);
        // Neither is further from the minimum than its gap; where the gradient is small, a tolerance of 1e-6 is not.
        let (a, b) = (left_out.report.objective, all.report.objective);
        let allowed = left_out.report.gap.max(all.report.gap).max(1e-8 * (1.0 + b.abs()));
        assert!((a - b).abs() <= allowed && allowed < 1e-4 * (1.0 + b.abs()), "{a}, {b}: {allowed}");
        // f is the matrix times β, whatever shrinking has skipped.
        let beta = &left_out.beta;
        let again = qp.clone().starting_from(beta).unwrap();
        let checked = again.solve(&gram, None, &settings(2e-6), &Unwatched).unwrap();
        assert_eq!((checked.report.iterations, &checked.beta), (0, beta), "nothing is left to do");
    }
    assert!(longest > 4000, "long enough to leave something out: {longest}");
}
