//! Kernels: parsing and printing, algebra, and kernel matrices.

use std::collections::BTreeMap;
use std::str::FromStr;

use mercer::data::AnySamples;
use mercer::design::FeatureMap;
use mercer::gram::{GramError, Part, ValuesMut, Wanted, kernel_to_distance};
use mercer::kernel::check::{Certificate, Dim, Domain};
use mercer::kernel::named::{Argument, Named, Slot, Spelling, Value};
use mercer::kernel::{ComposeError, Expr, FamilyId, Kernel, ResolveError, SearchSpace, Tunable, check_size};
use mercer::learn::search::Axis;
use mercer::learn::{CheckedKernel, KernelCheck, LearnError};
use mercer::memory;
use mercer::session::Session;
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;

use crate::errors::{NotAKernel, gram_error, learn_error, value_error};
use crate::rows::Rows;
use crate::work::{Job, run_or_leave};

/// The most bytes that are allocated without checking the memory budget.
const SMALL: u64 = 64 << 20;

/// A kernel expression.
#[pyclass(frozen, name = "Kernel", module = "mercer._native")]
#[derive(Debug, Clone)]
pub struct NativeKernel(pub Kernel);

#[pymethods]
impl NativeKernel {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        Kernel::from_str(text).map(Self).map_err(value_error)
    }

    /// The kernel with the text printed by [`text`](Self::text), of any length.
    #[staticmethod]
    fn from_printed(text: String) -> PyResult<Self> {
        serde_json::from_value(serde_json::Value::String(text)).map(Self).map_err(value_error)
    }

    /// The named kernel with these hyper-parameters, each in one of its spellings; the others take their defaults.
    #[staticmethod]
    fn named(name: &str, numbers: BTreeMap<String, f64>) -> PyResult<Self> {
        let absent = || value_error(format!("there is no kernel {name} of {numbers:?}"));
        let family = FamilyId::from_name(name).ok_or_else(absent)?;
        let mut named = Named::with_defaults(family);
        for (parameter, &value) in &numbers {
            let spelling = |slot: &Slot| slot.spellings.iter().position(|s| s.name == parameter);
            let places = family.slots().iter().enumerate();
            let (slot, spelling) =
                places.filter_map(|(i, slot)| Some((i, spelling(slot)?))).next().ok_or_else(absent)?;
            named.arguments[slot] = Argument { spelling, value: Value::Number(value) };
            let Spelling { name: parameter, allowed, .. } = named.spelling(slot);
            if !allowed.contains(value) {
                let (family, allowed) = (family.name(), allowed.describe());
                return Err(value_error(ComposeError::OutOfRange { family, parameter, allowed, value }));
            }
        }
        Ok(Self(Kernel::from_expr(Expr::Named(named))))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        Ok((slf.get_type().getattr("from_printed")?, (slf.get().text(),)))
    }

    /// The text that reads back as the same kernel.
    fn text(&self) -> String {
        self.0.to_string()
    }

    /// Whether every hyper-parameter is a number.
    fn is_resolved(&self) -> bool {
        self.0.is_resolved()
    }

    /// Whether a hyper-parameter is `?`.
    fn has_tunables(&self) -> PyResult<bool> {
        Ok(!self.0.tunables().map_err(value_error)?.is_empty())
    }

    /// The kernel with every `auto` a number; the seed of the job chooses the rows that lengths are taken from.
    fn resolve(&self, py: Python<'_>, rows: Rows<'_>, job: Job<'_>) -> PyResult<Self> {
        let samples = rows.samples()?;
        self.0.check_columns(samples.ncols()).map_err(value_error)?;
        job.run(py, |session| self.0.resolve_auto(&session.scales(&samples)))?.map(Self).map_err(value_error)
    }

    /// The grid of kernels for every `?`, with `points` values on each range; the rows resolve `auto` and default
    /// ranges.
    fn candidates(&self, py: Python<'_>, rows: Rows<'_>, points: usize, job: Job<'_>) -> PyResult<Vec<Self>> {
        let samples = rows.samples()?;
        self.0.check_columns(samples.ncols()).map_err(value_error)?;
        job.run(py, |session| {
            let scales = session.scales(&samples);
            let open = self.0.resolve_auto(&scales)?;
            let axes: Vec<Vec<f64>> =
                Axis::of_kernel(&open, &scales)?.iter().map(|axis| axis.grid(points)).collect();
            let resolve = |values: Vec<f64>| open.with_values(&values).map(Self);
            combinations(&axes).into_iter().map(resolve).collect::<Result<Vec<_>, ResolveError>>()
        })?
        .map_err(value_error)
    }

    /// Each `?` in order: the name of its parameter and the ends of its range, which default to ranges from the rows.
    fn unknowns(&self, py: Python<'_>, rows: Rows<'_>, job: Job<'_>) -> PyResult<Vec<(String, f64, f64)>> {
        let samples = rows.samples()?;
        let tunables = self.0.tunables().map_err(value_error)?;
        job.run(py, |session| {
            let scales = session.scales(&samples);
            let ends = |tunable: &Tunable| match tunable.search_space(&scales) {
                SearchSpace::Between(low, high) => Ok((tunable.parameter.to_owned(), low, high)),
                SearchSpace::OneOf(_) => Err(value_error(format!(
                    "{} is a choice among numbers, which a likelihood has no derivative in: give it a number or a range",
                    tunable.parameter
                ))),
            };
            tunables.iter().map(ends).collect()
        })?
    }

    /// Whether it has a derivative in every `?` on rows of `columns` columns, at these numbers.
    fn has_gradient(&self, values: Vec<f64>, columns: usize) -> bool {
        self.0.gradient(&values, columns).is_ok()
    }

    /// Decides whether it may be trained with on these rows: the domain it is proven on, if any, and a warning, if any.
    fn check_on(
        &self,
        py: Python<'_>,
        rows: Rows<'_>,
        job: Job<'_>,
    ) -> PyResult<(Option<String>, Option<String>)> {
        let samples = rows.samples()?;
        match job.run(py, |_| KernelCheck::Check.decide(&self.0, &samples))? {
            Ok(CheckedKernel { domain, warning }) => Ok((domain.map(|domain| domain.to_string()), warning)),
            Err(error @ LearnError::NotAKernel { .. }) => Err(NotAKernel::new_err(error.to_string())),
            Err(error) => Err(learn_error(error)),
        }
    }

    /// The kernel with these numbers for each `?`.
    fn with_values(&self, values: Vec<f64>) -> PyResult<Self> {
        self.0.with_values(&values).map(Self).map_err(value_error)
    }

    /// The text of the kernel's finite feature map.
    fn features(&self) -> PyResult<String> {
        let map = FeatureMap::of_kernel(&self.0, self.0.required_columns().max(1));
        map.map(|map| map.to_string())
            .ok_or_else(|| value_error(format!("{} has no finite list of features that is known", self.0)))
    }

    fn plus(&self, other: &Self) -> PyResult<Self> {
        Kernel::sum(&[self.0.clone(), other.0.clone()]).map(Self).map_err(value_error)
    }

    fn times(&self, other: &Self) -> PyResult<Self> {
        Kernel::product(&[self.0.clone(), other.0.clone()]).map(Self).map_err(value_error)
    }

    /// The canonical form, which equal kernels share.
    fn canonical(&self) -> Self {
        Self(self.0.canonical())
    }

    fn power(&self, exponent: f64) -> PyResult<Self> {
        let expr = Expr::Pow(Box::new(self.0.expr().clone()), Box::new(Expr::Number(exponent)));
        check_size(&expr).map_err(value_error)?;
        Ok(Self(Kernel::from_expr(expr)))
    }

    /// Whether it is positive semidefinite: the document that `mercer check --json` prints, the same in words, and the
    /// certificate where there is one.
    fn check(&self, py: Python<'_>, dim: &str, domain: &str) -> PyResult<(String, String, Option<String>)> {
        let dim: Dim = dim.parse().map_err(value_error)?;
        let domain: Domain = domain.parse().map_err(value_error)?;
        let kernel = self.0.clone();
        let findings = run_or_leave(py, move || kernel.findings(dim, domain))?
            .map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        let text = self.text();
        // A number with more digits than a double holds is not printed as written.
        let is_exact = text.parse::<Kernel>().is_ok_and(|printed| printed.formula() == self.0.formula());
        let certificate = Certificate::of(&text, dim, domain, &findings.verdict).filter(|_| is_exact);
        let certificate = certificate.and_then(|c| serde_json::to_string_pretty(&c).ok());
        let document = serde_json::to_string(&findings.to_json(&text, dim, domain)).map_err(value_error)?;
        Ok((document, findings.to_string(), certificate))
    }

    /// The kernel matrix of `rows` with `columns`, or with themselves, in the precision of `rows`.
    fn matrix<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        columns: Option<Rows<'py>>,
        job: Job<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (x, z) = (rows.samples()?, columns.as_ref().map(Rows::samples).transpose()?);
        match &x {
            AnySamples::F32(_) => Ok(self.filled::<f32>(py, &x, z.as_ref(), &job)?.into_any()),
            AnySamples::F64(_) => Ok(self.filled::<f64>(py, &x, z.as_ref(), &job)?.into_any()),
        }
    }

    /// √(k(x,x) − 2k(x,z) + k(z,z)) for every row and column, in double precision.
    fn distance<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        columns: Option<Rows<'py>>,
        job: Job<'py>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (x, z) = (rows.samples()?, columns.as_ref().map(Rows::samples).transpose()?);
        let out = self.filled::<f64>(py, &x, z.as_ref(), &job)?;
        // SAFETY: the array was created here and is not shared yet.
        let entries = unsafe { out.as_slice_mut() }.map_err(value_error)?;
        job.run(py, |session| -> Result<(), GramError> {
            let xx = self.diagonal_of(&x, session)?;
            match &z {
                Some(z) => kernel_to_distance(entries, &xx, &self.diagonal_of(z, session)?),
                None => kernel_to_distance(entries, &xx, &xx),
            }
            Ok(())
        })?
        .map_err(gram_error)?;
        Ok(out)
    }

    /// k(x,x) for every row.
    fn diagonal<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        job: Job<'py>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let x = rows.samples()?;
        let diagonal = job.run(py, |session| self.diagonal_of(&x, session))?.map_err(gram_error)?;
        Ok(PyArray1::from_vec(py, diagonal))
    }
}

impl NativeKernel {
    fn filled<'py, T: Element>(
        &self,
        py: Python<'py>,
        x: &AnySamples<'_>,
        z: Option<&AnySamples<'_>>,
        job: &Job<'py>,
    ) -> PyResult<Bound<'py, PyArray2<T>>>
    where
        for<'a> ValuesMut<'a>: From<&'a mut [T]>,
    {
        let out = allocate::<T>(py, [x.nrows(), z.unwrap_or(x).nrows()])?;
        // SAFETY: the array was created here and is not shared yet.
        let entries = unsafe { out.as_slice_mut() }.map_err(value_error)?;
        job.run(py, |session| -> Result<(), GramError> {
            let rows = session.load(x)?;
            match z {
                Some(z) => {
                    rows.cross(&self.0, &*session.load(z)?)?.fill(Part::Full, entries.into(), session)?
                }
                None => rows.gram(&self.0, Wanted::Exact)?.fill(Part::Full, entries.into(), session)?,
            }
            Ok(())
        })?
        .map_err(gram_error)?;
        Ok(out)
    }

    fn diagonal_of(&self, samples: &AnySamples<'_>, session: &Session<'_>) -> Result<Vec<f64>, GramError> {
        Ok(session.load(samples)?.gram(&self.0, Wanted::Exact)?.diagonal().into_owned())
    }
}

/// A matrix of zeros, or `MemoryError` if it exceeds the memory budget.
fn allocate<T: Element>(py: Python<'_>, shape: [usize; 2]) -> PyResult<Bound<'_, PyArray2<T>>> {
    let [rows, columns] = shape;
    let needed = (rows as u64).saturating_mul(columns as u64).saturating_mul(size_of::<T>() as u64);
    // Querying the memory takes longer than filling a small matrix.
    let budget = if needed > SMALL { memory::default_budget() } else { SMALL };
    if needed > budget {
        let (needed, budget) = (memory::human(needed), memory::human(budget));
        return Err(PyMemoryError::new_err(format!(
            "a matrix of {rows} × {columns} takes {needed}, but the memory limit is {budget}"
        )));
    }
    // NumPy's own function raises if the array cannot be allocated.
    Ok(py.import("numpy")?.call_method1("zeros", (shape, numpy::dtype::<T>(py)))?.cast_into()?)
}

/// One value of each axis, in every combination.
fn combinations(axes: &[Vec<f64>]) -> Vec<Vec<f64>> {
    axes.iter().fold(vec![Vec::new()], |found, axis| {
        found.iter().flat_map(|start| axis.iter().map(move |v| [start.as_slice(), &[*v]].concat())).collect()
    })
}
