//! Fits whose passes over the rows are made by Python: the solver of the library runs on a separate thread, requests
//! sums over the rows or products with their kernel matrix, and waits for them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use mercer::data::Matrix;
use mercer::design::{DesignError, LabelledRows, Loss, LossSums, Rounding};
use mercer::learn::{AnyLearner, Fitted, LearnError, Learner, Origin, Problem, cost};
use mercer::pool;
use mercer::session::Session;
use mercer::solve::RowSlopes;
use mercer::watch::{Stopped, Watch};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{learn_error, value_error};
use crate::process::{RemoteProcess, SampleParts, gp};
use crate::remote_gram::RemoteEngine;
use crate::rows::{Rows, from_matrix, matrix};
use crate::settings::read;
use crate::sums::{NativeSums, PreparedParts, ridge};
use crate::train::{Trained, trained};
use crate::work::{Job, LISTEN, internal_error};

/// A request of a solver. The answer is an array of numbers that is additive over parts of the rows.
pub enum Request {
    /// Σℓ, Σ of the curvatures (NaN without curvatures), its derivative in the intercepts and in the weights.
    Loss { loss: Loss, weights: Matrix<f64>, intercepts: Vec<f64> },
    /// The amount that rounding the hinge over a width subtracts from the loss, and the number of outputs in the rounded part.
    Rounding { width: f64, weights: Matrix<f64>, intercepts: Vec<f64> },
    /// The kernel matrix times `rhs`, in single or double precision.
    Product { double: bool, rhs: Matrix<f64> },
    /// The sums over rows of a Gaussian process at values of its kernel's unknowns; with slopes, the gradient in their logarithms.
    Process { values: Vec<f64>, slopes: Option<RowSlopes> },
}

impl Request {
    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let dict = PyDict::new(py);
        let (kind, numbers, weights, intercepts) = match self {
            Self::Loss { loss: Loss::Logistic, weights, intercepts } => {
                ("logistic", vec![], weights, intercepts)
            }
            Self::Loss { loss: Loss::SmoothHinge { width, share }, weights, intercepts } => {
                ("smooth hinge", vec![width, share], weights, intercepts)
            }
            Self::Rounding { width, weights, intercepts } => ("rounding", vec![width], weights, intercepts),
            Self::Product { double, rhs } => {
                dict.set_item("kind", "product")?;
                dict.set_item("double", double)?;
                dict.set_item("rhs", from_matrix(py, rhs)?)?;
                return Ok(dict);
            }
            Self::Process { values, slopes } => {
                let slopes = slopes.map(|slopes| {
                    let parts = PyDict::new(py);
                    parts.set_item("twice_by_products", from_matrix(py, slopes.twice_by_products)?)?;
                    parts.set_item("by_cross", from_matrix(py, slopes.by_cross)?)?;
                    parts.set_item("by_diagonal", slopes.by_diagonal)?;
                    Ok::<_, PyErr>(parts)
                });
                dict.set_item("kind", if slopes.is_some() { "process gradient" } else { "process sums" })?;
                dict.set_item("values", values)?;
                dict.set_item("slopes", slopes.transpose()?)?;
                return Ok(dict);
            }
        };
        dict.set_item("kind", kind)?;
        dict.set_item("numbers", numbers)?;
        dict.set_item("weights", from_matrix(py, weights)?)?;
        dict.set_item("intercepts", PyArray1::from_vec(py, intercepts))?;
        Ok(dict)
    }
}

/// The solver's end of the connection.
pub struct Asker {
    requests: Sender<Request>,
    answers: Mutex<Receiver<Vec<f64>>>,
}

impl Asker {
    /// Sends a request, and waits for an answer of `expected` numbers.
    ///
    /// # Errors
    /// [`Stopped`] if the other end was dropped, or if the answer has another length.
    pub fn ask(&self, request: Request, expected: usize) -> Result<Vec<f64>, Stopped> {
        self.requests.send(request).map_err(|_| Stopped)?;
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = answers.recv().map_err(|_| Stopped)?;
        if answer.len() == expected { Ok(answer) } else { Err(Stopped) }
    }
}

/// Labelled rows whose sums Python computes.
struct RemoteRows {
    asker: Arc<Asker>,
    rows: u64,
    features: usize,
    outputs: usize,
}

impl LabelledRows for RemoteRows {
    fn nrows(&self) -> u64 {
        self.rows
    }

    fn features(&self) -> usize {
        self.features
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn loss(
        &self,
        loss: Loss,
        weights: &Matrix<f64>,
        intercepts: &[f64],
        gradient: &mut Matrix<f64>,
        _watch: &dyn Watch,
    ) -> Result<LossSums, DesignError> {
        let request = Request::Loss { loss, weights: weights.clone(), intercepts: intercepts.to_vec() };
        let answer = self.asker.ask(request, 2 + self.outputs * (1 + self.features))?;
        let (head, rest) = answer.split_at(2);
        let (pull, of_weights) = rest.split_at(self.outputs);
        gradient.entries_mut().copy_from_slice(of_weights);
        let curvature = Some(head[1]).filter(|curvature| !curvature.is_nan());
        Ok(LossSums { value: head[0], pull: pull.to_vec(), curvature })
    }

    fn rounding(
        &self,
        width: f64,
        weights: &Matrix<f64>,
        intercepts: &[f64],
        _watch: &dyn Watch,
    ) -> Result<Rounding, DesignError> {
        let request = Request::Rounding { width, weights: weights.clone(), intercepts: intercepts.to_vec() };
        let answer = self.asker.ask(request, 2)?;
        Ok(Rounding { taken: answer[0], rounded: answer[1] as u64 })
    }
}

/// A fit whose solver runs on a separate thread: `next` returns its requests, until there is a result.
#[pyclass(name = "RemoteFit", module = "mercer._native")]
pub struct RemoteFit {
    requests: Mutex<Receiver<Request>>,
    /// `None` after the fit was abandoned.
    answers: Option<Sender<Vec<f64>>>,
    stop: Arc<AtomicBool>,
    solver: Option<JoinHandle<thread::Result<Result<Fitted, LearnError>>>>,
}

impl RemoteFit {
    fn start(
        job: &Job<'_>,
        work: impl FnOnce(Arc<Asker>, &Session<'_>) -> Result<Fitted, LearnError> + Send + 'static,
    ) -> PyResult<Self> {
        let ((requests, asked), (answers, answered)) = (channel(), channel());
        let stop = Arc::new(AtomicBool::new(false));
        let (threads, seed, watch) = (job.threads(), job.seed(), Arc::clone(&stop));
        let asker = Arc::new(Asker { requests, answers: Mutex::new(answered) });
        let compute = move || {
            catch_unwind(AssertUnwindSafe(|| {
                let session = Session::default().with_watch(&*watch).with_seed(seed);
                pool::apart(threads, || work(asker, &session))
            }))
        };
        let solver = thread::Builder::new().name("mercer".into()).spawn(compute)?;
        Ok(Self { requests: Mutex::new(asked), answers: Some(answers), stop, solver: Some(solver) })
    }
}

#[pymethods]
impl RemoteFit {
    /// The fit of a classifier to this many labelled rows of features, whose weights are C times those of their classes and
    /// their own; `sums` are over the features with these weights.
    #[staticmethod]
    fn classes<'py>(
        settings: &Bound<'py, PyAny>,
        prepared: PreparedParts<'py>,
        sums: &NativeSums,
        rows: u64,
        classes: usize,
        job: Job<'py>,
    ) -> PyResult<Self> {
        let learner: AnyLearner = read(settings)?;
        let (prepared, sums) = (prepared.prepared()?, sums.0.clone());
        let (features, outputs) = (sums.features(), if classes == 2 { 1 } else { classes });
        Self::start(&job, move |asker, session| {
            let rows = RemoteRows { asker, rows, features, outputs };
            learner.train_on_sums(&prepared, &rows, &sums, classes, session)
        })
    }

    /// Ridge regression on the kernel itself by conjugate gradients, whose products with the kernel matrix Python
    /// computes.
    #[staticmethod]
    fn ridge<'py>(
        settings: &Bound<'py, PyAny>,
        rows: Rows<'py>,
        targets: PyReadonlyArray2<'py, f64>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        outputs: Vec<String>,
        job: Job<'py>,
    ) -> PyResult<Self> {
        let (ridge, samples) = (ridge(settings)?, rows.samples()?.into_owned());
        let targets = matrix(&targets)?;
        let weights = weights.map(|w| w.as_slice().map(<[f64]>::to_vec)).transpose().map_err(value_error)?;
        Self::start(&job, move |asker, session| {
            let rows = samples.nrows();
            let rank = ridge.rank.unwrap_or_else(|| cost::preconditioner_rank(rows));
            // The budget leaves nothing for storing the matrix: its tiles are computed where the products are.
            let memory = session.memory().min(cost::cg_bytes(rows, rank, targets.ncols()));
            let session = Session::new(Arc::new(RemoteEngine::new(asker, rows)))
                .with_watch(session)
                .with_seed(session.seed());
            let origin = Origin { outputs, ..Origin::default() };
            let problem = Problem::new(samples, &targets).weighted(weights).with_origin(origin);
            ridge.train(&problem, &session.with_memory(memory))
        })
    }

    /// A Gaussian process on inducing points, from sums over rows that Python computes.
    #[staticmethod]
    fn process<'py>(
        settings: &Bound<'py, PyAny>,
        sample: SampleParts<'py>,
        outputs: Vec<String>,
        job: Job<'py>,
    ) -> PyResult<Self> {
        let (gp, (sample, moments)) = (gp(settings)?, sample.problem(outputs)?);
        let (points, targets) = (gp.inducing.unwrap_or(0), moments.means.len());
        Self::start(&job, move |asker, session| {
            let rows = RemoteProcess { asker: &asker, points, outputs: targets };
            gp.train_on_sums(&sample, &moments, &rows, session)
        })
    }

    /// Sends the answer to the last request, and returns the next request; `None` if the fit has ended.
    #[pyo3(signature = (answer=None))]
    fn next<'py>(
        &self,
        py: Python<'py>,
        answer: Option<PyReadonlyArray1<'py, f64>>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        if let (Some(answer), Some(answers)) = (answer, &self.answers) {
            // If the solver has ended meanwhile, `result` returns why.
            let _ = answers.send(answer.as_slice().map_err(value_error)?.to_vec());
        }
        loop {
            let heard = py
                .detach(|| self.requests.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LISTEN));
            match heard {
                Ok(request) => return request.into_python(py).map(Some),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            }
        }
    }

    /// The parts of the predictor, the report of the solver, and the words of its model file, after `next` has returned
    /// `None`.
    fn result<'py>(&mut self, py: Python<'py>) -> PyResult<Trained<'py>> {
        let solver = self.solver.take().ok_or_else(|| PyRuntimeError::new_err("the result was taken"))?;
        match py.detach(|| solver.join().unwrap_or_else(Err)) {
            Ok(fitted) => trained(py, fitted.map_err(learn_error)?),
            Err(panic) => Err(internal_error(&*panic)),
        }
    }
}

impl Drop for RemoteFit {
    fn drop(&mut self) {
        // The solver ends at its next request, or earlier.
        self.stop.store(true, Ordering::Relaxed);
        self.answers = None;
    }
}
