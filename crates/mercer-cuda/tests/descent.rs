//! The device's solver of quadratic problems, compiled as C++ for the host, against the library's own solver.
//!
//! The tests need a C++20 compiler: `CXX`, or `c++`. They are skipped with a line where there is none.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use mercer::data::Matrix;
use mercer::gram::{
    BoxProblem, CpuEngine, Descent, Engine, Gram, KeepRows, KernelValues, LinearOperator, Part, RowSums,
    StoreAs, Stored, TileMut, ValuesMut,
};
use mercer::real::Precision;
use mercer::solve::Status;
use mercer::solve::svm::{BoxQp, Solution, SvmSettings};
use mercer::watch::{Stopped, Unwatched, Watch};
use mercer_cuda::source::{DescentShape, descent};

#[path = "shim/number.rs"]
mod number;

/// The solver as a program, and how many kernel rows it keeps.
struct Program {
    directory: tempfile::TempDir,
    capacity: usize,
    calls: AtomicUsize,
}

impl Program {
    /// None where there is no compiler.
    fn new(precision: Precision, groups: usize, capacity: usize) -> Option<Self> {
        let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
        let mut version = Command::new(&compiler);
        if version.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
            eprintln!("skipped: there is no C++ compiler");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let [file, program] = ["descent.cpp", "descent"].map(|name| directory.path().join(name));
        let shape = DescentShape { groups, set: 128, choosers: 64, solvers: 64 };
        let text = descent(precision, shape).replace("extern \"C\"", "");
        let (shim, body) = (include_str!("shim/shim.hpp"), include_str!("shim/descent.cpp"));
        std::fs::write(&file, format!("{shim}\nnamespace device {{\n{text}\n}}\n{body}")).unwrap();
        let flags = ["-std=c++20", "-O1", "-pthread", "-w", "-ffp-contract=off", "-o"];
        let built = Command::new(&compiler).args(flags).arg(&program).arg(&file).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Some(Self { directory, capacity, calls: AtomicUsize::new(0) })
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("descent")
    }

    /// The last β and f, and what they took.
    fn run(&self, gram: &dyn Gram, problem: &BoxProblem<'_>, beta: &mut [f64], f: &mut [f64]) -> Descent {
        let n = problem.rows.len();
        let mut values = vec![0.0; n * n];
        gram.block(problem.rows, problem.rows, TileMut::new(&mut values, n));
        let first = if problem.first == 0 { n } else { problem.first };
        let mut input = format!("{n} {first} {}\n", self.capacity);
        let numbers = [problem.kink, problem.tolerance, problem.steps as f64];
        let all = [&numbers[..], problem.linear, problem.lower, problem.upper, beta, f, &values];
        all.iter().flat_map(|part| part.iter()).for_each(|value| {
            let _ = writeln!(input, "{value:e}");
        });
        let mut child =
            Command::new(self.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "the program ends with {:?}", output.status);
        let found: Vec<f64> =
            String::from_utf8(output.stdout).unwrap().lines().map(number::hexadecimal).collect();
        assert_eq!(found.len(), 4 + 2 * n);
        self.calls.fetch_add(1, Ordering::Relaxed);
        assert_eq!(found[0], 1.0, "the solver did not converge");
        beta.copy_from_slice(&found[4..4 + n]);
        f.copy_from_slice(&found[4 + n..]);
        Descent { steps: found[1] as u64, rounds: found[2] as u64, evaluations: found[3] as u64 }
    }
}

/// A matrix of the host whose problems the program solves.
struct Solving<'a> {
    inner: Box<dyn Gram + 'a>,
    program: &'a Program,
}

impl LinearOperator for Solving<'_> {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.inner.apply(out, rhs, watch)
    }
}

impl KernelValues for Solving<'_> {
    fn fill(&self, part: Part, out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.inner.fill(part, out, watch)
    }
}

impl Gram for Solving<'_> {
    fn precision(&self) -> Precision {
        self.inner.precision()
    }

    fn cost(&self) -> usize {
        self.inner.cost()
    }

    fn diagonal(&self) -> Cow<'_, [f64]> {
        self.inner.diagonal()
    }

    fn block(&self, rows: &[usize], columns: &[usize], out: TileMut<'_>) {
        self.inner.block(rows, columns, out);
    }

    fn apply_part(
        &self,
        columns: &[usize],
        rows: &[usize],
        rhs: &Matrix<f64>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        self.inner.apply_part(columns, rows, rhs, out, watch)
    }

    fn row_sums<'a>(&'a self, columns: &[usize], keep: KeepRows) -> Box<dyn RowSums + 'a> {
        self.inner.row_sums(columns, keep)
    }

    fn descend(
        &self,
        problem: &BoxProblem<'_>,
        beta: &mut [f64],
        f: &mut [f64],
        _: &dyn Watch,
    ) -> Result<Option<Descent>, Stopped> {
        Ok(Some(self.program.run(&*self.inner, problem, beta, f)))
    }

    fn store(&self, form: StoreAs, watch: &dyn Watch) -> Result<Stored, Stopped> {
        self.inner.store(form, watch)
    }
}

/// Points of the plane, half of them noisy: labels and targets.
struct Data {
    kernel: Vec<f64>,
    rows: Vec<usize>,
    positive: Vec<bool>,
    targets: Vec<f64>,
}

fn data(n: usize) -> Data {
    let number = |k: usize| ((k * 7919 + 104_729 * (k / 7)) % 1009) as f64 / 1009.0;
    let points: Vec<[f64; 2]> = (0..n).map(|i| [number(2 * i), number(2 * i + 1)]).collect();
    let value = |x: &[f64; 2], z: &[f64; 2]| (-6.0 * ((x[0] - z[0]).powi(2) + (x[1] - z[1]).powi(2))).exp();
    let targets: Vec<f64> = (0..n)
        .map(|i| (5.0 * points[i][0]).sin() + points[i][1] - 1.0 + 0.6 * (number(5 * i + 3) - 0.5))
        .collect();
    Data {
        kernel: points.iter().flat_map(|x| points.iter().map(move |z| value(x, z))).collect(),
        rows: (0..n).collect(),
        positive: targets.iter().map(|t| *t > 0.0).collect(),
        targets,
    }
}

fn gram<'a>(data: &'a Data, singles: &'a [f32], precision: Precision) -> Box<dyn Gram + 'a> {
    let n = data.rows.len();
    match precision {
        Precision::Single => CpuEngine.adopt(n, singles.into()),
        Precision::Double => CpuEngine.adopt(n, (&data.kernel[..]).into()),
    }
    .unwrap()
}

/// Solves a problem by the program and by the library, and compares; the program must have left nothing to do.
fn compare(name: &str, qp: &BoxQp, data: &Data, precision: Precision, groups: usize, capacity: usize) {
    let singles: Vec<f32> = data.kernel.iter().map(|k| *k as f32).collect();
    let Some(program) = Program::new(precision, groups, capacity) else { return };
    let settings = SvmSettings { tol: 1e-4, ..SvmSettings::default() };
    let exact = gram(data, &singles, Precision::Double);
    let plain = gram(data, &singles, precision);
    let solving = Solving { inner: gram(data, &singles, precision), program: &program };
    let solve =
        |gram: &dyn Gram| -> Solution { qp.solve(gram, Some(&*exact), &settings, &Unwatched).unwrap() };
    let (found, expected) = (solve(&solving), solve(&*plain));
    assert!(program.calls.load(Ordering::Relaxed) > 0, "{name}");
    assert_eq!(found.report.status, Status::Converged, "{name}");
    assert!(found.report.violation <= settings.tol, "{name}: {:?}", found.report);
    assert!(found.report.rounds > 1, "{name}: the working set holds the whole problem");
    // Two answers within the tolerance differ in the objective by at most the gap of either.
    let (a, b) = (found.report.objective, expected.report.objective);
    let allowed = found.report.gap.abs() + expected.report.gap.abs() + 1e-9 * b.abs();
    assert!((a - b).abs() <= allowed, "{name}: {a} is not {b} within {allowed}");
    let sum = |solution: &Solution| solution.beta.iter().sum::<f64>();
    assert!((sum(&found) - sum(&expected)).abs() < 1e-9 * data.rows.len() as f64, "{name}");
    // The same bits again.
    assert_eq!(solve(&solving).beta, found.beta, "{name}");
}

const N: usize = 300;

#[test]
fn classification() {
    let data = data(N);
    let qp = BoxQp::classify(&data.rows, &data.positive, &[10.0; N]).unwrap();
    compare("single precision", &qp, &data, Precision::Single, 1, N);
}

#[test]
fn classification_in_double_precision_with_room_for_one_working_set() {
    let data = data(N);
    let qp = BoxQp::classify(&data.rows, &data.positive, &[10.0; N]).unwrap();
    compare("few rows", &qp, &data, Precision::Double, 1, 128);
}

#[test]
fn regression() {
    let data = data(N);
    let qp = BoxQp::regress(&data.rows, &data.targets, 0.1, &[2.0; N]).unwrap();
    compare("regression", &qp, &data, Precision::Single, 1, 200);
}

#[test]
fn one_class() {
    let data = data(N);
    let qp = BoxQp::one_class(&data.rows, 0.3, &[1.0; N]).unwrap();
    compare("one class", &qp, &data, Precision::Single, 1, N);
}

#[test]
fn two_groups() {
    let data = data(N);
    let qp = BoxQp::nu_classify(&data.rows, &data.positive, 0.4, &[1.0; N]).unwrap();
    compare("nu-classification", &qp, &data, Precision::Single, 2, N);
    let qp = BoxQp::nu_regress(&data.rows, &data.targets, 0.5, &[1.0; N]).unwrap();
    compare("nu-regression", &qp, &data, Precision::Single, 2, 2 * N);
}
