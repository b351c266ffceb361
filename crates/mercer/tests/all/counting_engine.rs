//! A second engine: it counts calls and passes them on to another. Every learner fits on it and gives the same bits.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::oracle;
use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::Approximation;
use mercer::gram::{
    BoxProblem, CpuEngine, Descent, Ends, Engine, Gram, GramError, KeepRows, KernelGradient, KernelValues,
    LinearOperator, LowRankFactor, Metric, Nearest, Part, Penalty, Resident, RowSums, StoreAs, Stored,
    TileMut, ValuesMut, ValuesRef, Wanted, WaveSums,
};
use mercer::kernel::Kernel;
use mercer::learn::svm::{Machine, Svm};
use mercer::learn::{
    Gp, GpSolver, Knn, Learner, Lms, LmsSolver, Logistic, Perceptron, Problem, Ridge, RidgeSolver, Smoother,
    Targets,
};
use mercer::linalg::SymmetricMatrix;
use mercer::real::Precision;
use mercer::session::Session;
use mercer::watch::{Stopped, Watch};

/// The number of calls of each operation.
#[derive(Debug, Default)]
struct Calls {
    loads: AtomicU64,
    grams: AtomicU64,
    crosses: AtomicU64,
    nearest: AtomicU64,
    applies: AtomicU64,
    /// Columns packed for sums of rows.
    row_sums: AtomicU64,
    adds: AtomicU64,
    blocks: AtomicU64,
    fills: AtomicU64,
    stores: AtomicU64,
    /// Matrices to be factored, of the engine or of a kernel.
    symmetric: AtomicU64,
    /// Questions for sums over random features.
    wave_sums: AtomicU64,
}

fn count(calls: &AtomicU64) {
    calls.fetch_add(1, Ordering::Relaxed);
}

fn counted(calls: &AtomicU64) -> u64 {
    calls.load(Ordering::Relaxed)
}

struct CountingEngine {
    inner: Box<dyn Engine>,
    calls: Arc<Calls>,
}

impl Engine for CountingEngine {
    fn name(&self) -> &'static str {
        "counting"
    }

    fn symmetric(&self, order: usize, lower: Vec<f64>) -> Box<dyn SymmetricMatrix> {
        count(&self.calls.symmetric);
        self.inner.symmetric(order, lower)
    }

    fn wave_sums(&self) -> Option<&dyn WaveSums> {
        count(&self.calls.wave_sums);
        self.inner.wave_sums()
    }

    fn load(&self, samples: &AnySamples<'_>) -> Result<Box<dyn Resident>, GramError> {
        count(&self.calls.loads);
        Ok(Box::new(CountingResident { inner: self.inner.load(samples)?, calls: Arc::clone(&self.calls) }))
    }

    fn adopt<'a>(&self, order: usize, values: ValuesRef<'a>) -> Result<Box<dyn Gram + 'a>, GramError> {
        Ok(Box::new(Counting { inner: self.inner.adopt(order, values)?, calls: Arc::clone(&self.calls) }))
    }
}

struct CountingResident {
    inner: Box<dyn Resident>,
    calls: Arc<Calls>,
}

/// The samples as the inner engine knows them.
fn unwrap(other: &dyn Resident) -> Result<&dyn Resident, GramError> {
    let any: &dyn Any = other;
    any.downcast_ref::<CountingResident>().map(|counting| &*counting.inner).ok_or(GramError::Elsewhere)
}

impl Resident for CountingResident {
    fn nrows(&self) -> usize {
        self.inner.nrows()
    }

    fn ncols(&self) -> usize {
        self.inner.ncols()
    }

    fn select(&self, rows: &[usize]) -> Box<dyn Resident> {
        Box::new(Self { inner: self.inner.select(rows), calls: Arc::clone(&self.calls) })
    }

    fn gram<'a>(&'a self, kernel: &Kernel, wanted: Wanted) -> Result<Box<dyn Gram + 'a>, GramError> {
        count(&self.calls.grams);
        Ok(Box::new(Counting { inner: self.inner.gram(kernel, wanted)?, calls: Arc::clone(&self.calls) }))
    }

    fn cross<'a>(
        &'a self,
        kernel: &Kernel,
        other: &'a dyn Resident,
    ) -> Result<Box<dyn KernelValues + 'a>, GramError> {
        count(&self.calls.crosses);
        let inner = self.inner.cross(kernel, unwrap(other)?)?;
        Ok(Box::new(Counting { inner, calls: Arc::clone(&self.calls) }))
    }

    fn gradient<'a>(
        &'a self,
        derivatives: &[Kernel],
        other: Option<&'a dyn Resident>,
    ) -> Result<Box<dyn KernelGradient + 'a>, GramError> {
        self.inner.gradient(derivatives, other.map(unwrap).transpose()?)
    }

    fn nearest(
        &self,
        queries: &dyn Resident,
        k: usize,
        metric: Metric,
        watch: &dyn Watch,
    ) -> Result<Nearest, GramError> {
        count(&self.calls.nearest);
        self.inner.nearest(unwrap(queries)?, k, metric, watch)
    }
}

/// A matrix whose operations are counted.
struct Counting<T> {
    inner: T,
    calls: Arc<Calls>,
}

macro_rules! counting_operator {
    ($inner:ty) => {
        impl LinearOperator for Counting<$inner> {
            fn nrows(&self) -> usize {
                self.inner.nrows()
            }

            fn ncols(&self) -> usize {
                self.inner.ncols()
            }

            fn apply(
                &self,
                out: &mut Matrix<f64>,
                rhs: &Matrix<f64>,
                watch: &dyn Watch,
            ) -> Result<(), Stopped> {
                count(&self.calls.applies);
                self.inner.apply(out, rhs, watch)
            }
        }
    };
}

macro_rules! counting_values {
    ($inner:ty) => {
        counting_operator!($inner);

        impl KernelValues for Counting<$inner> {
            fn fill(&self, part: Part, out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), Stopped> {
                count(&self.calls.fills);
                self.inner.fill(part, out, watch)
            }
        }
    };
}

counting_operator!(Box<dyn LinearOperator>);
counting_values!(Box<dyn KernelValues + '_>);
counting_values!(Box<dyn Gram + '_>);

impl Gram for Counting<Box<dyn Gram + '_>> {
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
        count(&self.calls.blocks);
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
        count(&self.calls.applies);
        self.inner.apply_part(columns, rows, rhs, out, watch)
    }

    fn row_sums<'a>(&'a self, columns: &[usize], keep: KeepRows) -> Box<dyn RowSums + 'a> {
        count(&self.calls.row_sums);
        Box::new(CountingSums { inner: self.inner.row_sums(columns, keep), calls: &self.calls })
    }

    fn descend(
        &self,
        problem: &BoxProblem<'_>,
        beta: &mut [f64],
        f: &mut [f64],
        watch: &dyn Watch,
    ) -> Result<Option<Descent>, Stopped> {
        self.inner.descend(problem, beta, f, watch)
    }

    fn regularised(
        &self,
        penalty: Penalty<'_>,
        precision: Precision,
        watch: &dyn Watch,
    ) -> Result<Box<dyn SymmetricMatrix>, Stopped> {
        count(&self.calls.symmetric);
        self.inner.regularised(penalty, precision, watch)
    }

    fn low_rank(&self, rank: usize) -> Result<Box<dyn LowRankFactor>, Stopped> {
        self.inner.low_rank(rank)
    }

    fn store(&self, form: StoreAs, watch: &dyn Watch) -> Result<Stored, Stopped> {
        count(&self.calls.stores);
        let calls = Arc::clone(&self.calls);
        Ok(match self.inner.store(form, watch)? {
            Stored::Gram(inner) => Stored::Gram(Box::new(Counting { inner: inner as Box<dyn Gram>, calls })),
            Stored::Products { operator: inner, rounding } => {
                Stored::Products { operator: Box::new(Counting { inner, calls }), rounding }
            }
        })
    }
}

struct CountingSums<'a> {
    inner: Box<dyn RowSums + 'a>,
    calls: &'a Calls,
}

impl RowSums for CountingSums<'_> {
    fn add(
        &mut self,
        terms: &[(usize, f64)],
        f: &mut [f64],
        ends: Option<Ends<'_>>,
        watch: &dyn Watch,
    ) -> Result<Vec<(f64, f64)>, Stopped> {
        count(&self.calls.adds);
        self.inner.add(terms, f, ends, watch)
    }

    fn rows(&mut self, rows: &[usize], out: TileMut<'_>) {
        self.inner.rows(rows, out);
    }

    fn narrow(&mut self, kept: &[usize]) {
        self.inner.narrow(kept);
    }

    fn evaluations(&self) -> u64 {
        self.inner.evaluations()
    }
}

const ROWS: usize = 620;
const CLASSES: usize = 3;

fn number(k: usize) -> f64 {
    ((k * 7919 + k * k % 104_729) % 1000) as f64 / 500.0 - 1.0
}

fn samples(rows: usize, first: usize) -> AnySamples<'static> {
    AnySamples::F64(
        Samples::dense(rows, 3, (first..first + rows * 3).map(number).collect::<Vec<_>>()).unwrap(),
    )
}

fn row(i: usize) -> [f64; 3] {
    [number(3 * i), number(3 * i + 1), number(3 * i + 2)]
}

fn target(i: usize) -> f64 {
    let [a, b, c] = row(i);
    (2.0 * a).sin() + b * c + 0.1 * number(i + 17)
}

fn targets() -> Matrix<f64> {
    Matrix::from_entries(ROWS, 1, (0..ROWS).map(target).collect())
}

fn code(i: usize) -> usize {
    match target(i) {
        ..-0.4 => 0,
        0.4.. => 2,
        _ => 1,
    }
}

fn codes() -> Vec<usize> {
    (0..ROWS).map(code).collect()
}

/// Whether a row is above the middle.
fn sides() -> Vec<usize> {
    (0..ROWS).map(|i| usize::from(target(i) > 0.0)).collect()
}

fn kernel() -> Kernel {
    "rbf(sigma=0.7)".parse().unwrap()
}

/// The result of a learner on the data in a session, with every digit of every number.
type Fit = fn(&AnySamples<'_>, &AnySamples<'_>, &Session<'_>) -> String;

/// A learner's model, report and predictions.
fn trained(
    learner: &dyn Learner,
    (x, targets): (&AnySamples<'_>, Targets<'_>),
    z: &AnySamples<'_>,
    session: &Session<'_>,
) -> String {
    let fitted = learner.train(&Problem::new(x, targets), session).unwrap();
    format!("{fitted:?} {:?}", fitted.model.predict(z, session).unwrap())
}

fn gp(gp: &Gp, x: &AnySamples<'_>, z: &AnySamples<'_>, session: &Session<'_>) -> String {
    trained(&gp.clone().max_iter(3), (x, targets().into()), z, session)
}

fn process() -> Gp {
    Gp::new("?*rbf(sigma=?)".parse().unwrap())
}

/// All that learn from a kernel matrix, from distances, or from features that approximate a kernel.
const LEARNERS: &[(&str, Fit)] = &[
    ("ridge", |x, z, session| trained(&Ridge::new(kernel()).lambda(0.1), (x, targets().into()), z, session)),
    ("ridge, conjugate gradients", |x, z, session| {
        let ridge = Ridge::new(kernel()).lambda(0.01).solver(RidgeSolver::Cg);
        trained(&ridge, (x, targets().into()), z, session)
    }),
    ("lms", |x, z, session| trained(&Lms::new(kernel()), (x, targets().into()), z, session)),
    ("lms, sample by sample", |x, z, session| {
        let lms = Lms::new(kernel()).solver(LmsSolver::Sgd).epochs(3);
        trained(&lms, (x, targets().into()), z, session)
    }),
    ("logistic", |x, z, session| {
        let classes = Targets::codes(codes(), CLASSES);
        trained(&Logistic::new(kernel()).lambda(0.1), (x, classes), z, session)
    }),
    ("perceptron", |x, z, session| {
        let classes = Targets::codes(codes(), CLASSES);
        trained(&Perceptron::new(kernel()).passes(5), (x, classes), z, session)
    }),
    ("voted perceptron", |x, z, session| {
        let perceptron = Perceptron::new(kernel()).passes(3).vote(true);
        trained(&perceptron, (x, Targets::codes(sides(), 2)), z, session)
    }),
    ("svc", |x, _, session| svm(Machine::Svc { c: 1.0 }, x, Targets::codes(codes(), CLASSES), session)),
    ("svc, two classes", |x, _, session| {
        svm(Machine::Svc { c: 1.0 }, x, Targets::codes(sides(), 2), session)
    }),
    ("ridge on landmarks", |x, z, session| {
        let ridge = Ridge::on((kernel(), Approximation::nystrom(40))).lambda(0.1);
        trained(&ridge, (x, targets().into()), z, session)
    }),
    ("ridge on random features", |x, z, session| {
        let ridge = Ridge::on((kernel(), Approximation::fourier(40))).lambda(0.1);
        trained(&ridge, (x, targets().into()), z, session)
    }),
    ("logistic on landmarks", |x, z, session| {
        let logistic = Logistic::on((kernel(), Approximation::nystrom(40))).lambda(0.1);
        trained(&logistic, (x, Targets::codes(codes(), CLASSES)), z, session)
    }),
    ("svc on landmarks", |x, z, session| {
        let svm = Svm::on((kernel(), Approximation::nystrom(40)), Machine::Svc { c: 1.0 });
        trained(&svm, (x, Targets::codes(sides(), 2)), z, session)
    }),
    ("gp", |x, z, session| gp(&process().solver(GpSolver::Cholesky), x, z, session)),
    ("gp, conjugate gradients", |x, z, session| gp(&process().solver(GpSolver::Cg), x, z, session)),
    ("gp, inducing points", |x, z, session| gp(&process().inducing(Some(30)), x, z, session)),
    ("gp, classes", |x, z, session| {
        trained(&process().max_iter(1), (x, Targets::codes(sides(), 2)), z, session)
    }),
    ("k-nn", |x, z, session| trained(&Knn::new(5), (x, targets().into()), z, session)),
    ("smoother", |x, z, session| trained(&Smoother::new(kernel()), (x, targets().into()), z, session)),
    ("nu-svc", |x, _, session| svm(Machine::NuSvc { nu: 0.3 }, x, Targets::codes(sides(), 2), session)),
    ("svr", |x, _, session| svm(Machine::Svr { c: 1.0, epsilon: 0.1 }, x, targets().into(), session)),
    ("nu-svr", |x, _, session| svm(Machine::NuSvr { c: 1.0, nu: 0.4 }, x, targets().into(), session)),
    ("one-class", |x, _, session| svm(Machine::OneClass { nu: 0.2 }, x, Targets::None, session)),
];

fn svm(machine: Machine, x: &AnySamples<'_>, targets: Targets<'_>, session: &Session<'_>) -> String {
    let problem = Problem::new(x.view(), targets);
    format!("{:?}", Svm::new(kernel(), machine).machines(&problem, session).unwrap())
}

fn counting(calls: &Arc<Calls>) -> Session<'static> {
    Session::new(Arc::new(CountingEngine { inner: Box::new(CpuEngine), calls: Arc::clone(calls) }))
}

#[test]
fn every_learner_gives_the_same_bits_on_another_engine() {
    let (x, z) = (samples(ROWS, 0), samples(50, 5_000));
    for (name, fit) in LEARNERS {
        let calls = Arc::new(Calls::default());
        let [own, other] = [Session::default(), counting(&calls)].map(|session| fit(&x, &z, &session));
        assert!(own == other, "{name}: {own} is not {other}");
        assert!(
            counted(&calls.loads) + counted(&calls.wave_sums) > 0,
            "{name} does not use the engine of its session"
        );
    }
}

#[test]
fn a_pair_of_classes_packs_its_columns_once() {
    let calls = Arc::new(Calls::default());
    svm(Machine::Svc { c: 1.0 }, &samples(ROWS, 0), Targets::codes(sides(), 2), &counting(&calls));
    assert_eq!([&calls.loads, &calls.grams, &calls.row_sums].map(counted), [1, 2, 1]);
}

#[test]
fn a_perceptron_packs_its_columns_once() {
    let calls = Arc::new(Calls::default());
    let samples = samples(ROWS, 0);
    let problem = Problem::new(&samples, Targets::codes(sides(), 2));
    Perceptron::new(kernel()).train(&problem, &counting(&calls)).unwrap();
    assert_eq!(counted(&calls.row_sums), 1);
    assert!(counted(&calls.adds) > 10);
}

#[test]
fn a_direct_solution_fills_the_matrix_once() {
    let calls = Arc::new(Calls::default());
    let ridge = Ridge::new(kernel()).lambda(0.1);
    oracle::train(&ridge, &samples(ROWS, 0), &targets(), None, &counting(&calls)).unwrap();
    assert_eq!([&calls.loads, &calls.symmetric, &calls.fills, &calls.blocks].map(counted), [1, 1, 0, 0]);
}

#[test]
fn many_products_are_made_with_a_stored_matrix() {
    let calls = Arc::new(Calls::default());
    let samples = samples(ROWS, 0);
    let problem = Problem::new(&samples, Targets::codes(codes(), CLASSES));
    Logistic::new(kernel()).lambda(0.1).train(&problem, &counting(&calls)).unwrap();
    assert_eq!(counted(&calls.stores), 1);
    assert!(counted(&calls.applies) > 5);
}

#[test]
fn neighbours_are_one_search() {
    let calls = Arc::new(Calls::default());
    let fitted = Knn::new(5).fit(samples(ROWS, 0), targets()).unwrap();
    fitted.model.predict(&samples(50, 5_000), &counting(&calls)).unwrap();
    assert_eq!([&calls.loads, &calls.nearest, &calls.crosses].map(counted), [2, 1, 0]);
}

#[test]
fn samples_of_two_engines_do_not_mix() {
    let (x, z) = (samples(20, 0), samples(5, 100));
    let session = counting(&Arc::default());
    let (counting, plain) = (session.load(&x).unwrap(), CpuEngine.load(&z).unwrap());
    assert!(matches!(counting.cross(&kernel(), &*plain), Err(GramError::Elsewhere)));
    assert!(matches!(plain.cross(&kernel(), &*counting), Err(GramError::Elsewhere)));
}
