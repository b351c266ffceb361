//! The engine that computes on the processor's cores.

pub(super) mod accumulate;
pub(super) mod columns;
mod combine;
pub(super) mod compact;
mod density;
mod gradient;
mod nearest;
pub(super) mod part;
pub(super) mod row_sums;
mod store;
mod tiled;

use std::any::Any;
use std::sync::{Arc, OnceLock};

use crate::data::with_samples;
use crate::data::{AnySamples, Samples, Storage};
use crate::kernel::Kernel;
use crate::real::{Precision, Real};
use crate::tile::{Element, Extent, Filler, Known, Operand, Plan, Program};
use crate::watch::Watch;

use super::engine::{Engine, GramError, Resident, Wanted};
use super::nearest::{Metric, Nearest};
use super::operator::{Gram, KernelGradient, KernelValues};
use super::stored::DenseGram;
use super::values::ValuesRef;
use density::walks_sparse;
use gradient::GradientMatrix;
use nearest::Arranged;
use tiled::KernelMatrix;

pub(crate) use combine::{Combine, LeastAndGreatest, fold};

/// Computes kernel matrices on the threads of the pool it is called in.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuEngine;

/// The engine that a session uses unless told otherwise.
#[must_use]
pub fn default_engine() -> Arc<dyn Engine> {
    Arc::new(CpuEngine)
}

impl Engine for CpuEngine {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn load(&self, samples: &AnySamples<'_>) -> Result<Box<dyn Resident>, GramError> {
        Ok(Box::new(CpuResident::new(match samples {
            AnySamples::F32(s) => AnySamples::F32(s.view().into_owned()),
            AnySamples::F64(s) => AnySamples::F64(s.view().into_owned()),
        })))
    }

    fn adopt<'a>(&self, order: usize, values: ValuesRef<'a>) -> Result<Box<dyn Gram + 'a>, GramError> {
        if Some(values.len()) != order.checked_mul(order) {
            return Err(GramError::Entries { order, found: values.len() });
        }
        Ok(match values {
            ValuesRef::F32(entries) => Box::new(DenseGram::new(order, entries)),
            ValuesRef::F64(entries) => Box::new(DenseGram::new(order, entries)),
        })
    }
}

/// Samples in this machine's memory.
#[derive(Debug)]
struct CpuResident {
    samples: AnySamples<'static>,
    /// Column means, rounded to single precision so that subtracting them from nearby values is exact.
    means: Vec<f64>,
    /// Whether most entries are zeros.
    zeros: bool,
    /// The samples in the order used for neighbour searches; computed on first use.
    arranged: OnceLock<Arranged>,
}

impl CpuResident {
    fn new(samples: AnySamples<'static>) -> Self {
        let means = with_samples!(&samples, s => means(s));
        let zeros = with_samples!(&samples, s => zeros(s) > 0.6);
        Self { samples, means, zeros, arranged: OnceLock::new() }
    }

    /// The matrix of these samples with themselves or `other`.
    fn matrix(&self, kernel: &Kernel, other: Option<&Self>, wanted: Wanted) -> Result<AnyMatrix, GramError> {
        let (rows, cols) = (self.ncols(), other.map_or(self.ncols(), Resident::ncols));
        if rows != cols {
            return Err(GramError::Columns { rows, cols });
        }
        let program = Program::compile(kernel, rows)?;
        let precision = match wanted {
            Wanted::Exact => None,
            Wanted::Single => Some(Precision::Single),
            Wanted::Double => Some(Precision::Double),
        };
        let plan = self.planned(&program, other, precision, Plan::new);
        match (plan.double, wanted) {
            (true, Wanted::Single) => Err(GramError::TooCoarse),
            (true, _) => Ok(AnyMatrix::Double(self.packed(program, plan, other))),
            (false, _) => Ok(AnyMatrix::Single(self.packed(program, plan, other))),
        }
    }

    /// The plan that `choose` makes from the extents of these samples and `other`.
    fn planned(
        &self,
        program: &Program,
        other: Option<&Self>,
        wanted: Option<Precision>,
        choose: fn(&Program, Known<'_>) -> Plan,
    ) -> Plan {
        let rows = self.ncols();
        let sides = || std::iter::once(self).chain(other);
        // Sparse rows are not centred: their zeros would not stay zeros, and dense copies of them gain little by it.
        let zeros;
        let means = if sides().any(|side| side.samples.is_sparse()) {
            zeros = vec![0.0; rows];
            &zeros
        } else {
            &self.means
        };
        let extents: Vec<Extent> = program
            .groups()
            .iter()
            .map(|group| {
                let of = |side: &Self| Extent::of(group, &side.samples, means);
                other.map_or(of(self), |other| of(self).union(of(other)))
            })
            .collect();
        let known = Known {
            extents: &extents,
            means,
            sparse: walks_sparse(&self.samples, &other.unwrap_or(self).samples),
            double: sides().any(|side| matches!(side.samples, AnySamples::F64(_))),
            zeros: sides().all(|side| side.zeros),
            wanted,
        };
        choose(program, known)
    }

    fn packed<T: Element>(&self, program: Program, plan: Plan, other: Option<&Self>) -> KernelMatrix<T> {
        let x = Operand::new(&program, &plan, &self.samples);
        let z = other.map(|o| Operand::new(&program, &plan, &o.samples).apart());
        KernelMatrix::new(Filler::new(program, plan), x, z)
    }
}

/// A kernel matrix in the precision its plan chose.
enum AnyMatrix {
    Single(KernelMatrix<f32>),
    Double(KernelMatrix<f64>),
}

pub(super) fn means<T: Real>(samples: &Samples<'_, T>) -> Vec<f64> {
    let ncols = samples.ncols();
    let mut means = vec![0.0; ncols];
    match samples.storage() {
        Storage::Dense(entries) => {
            for row in entries.chunks_exact(ncols.max(1)) {
                means.iter_mut().zip(row).for_each(|(m, v)| *m += v.to_f64());
            }
        }
        Storage::Sparse { indices, values, .. } => {
            indices.iter().zip(values.iter()).for_each(|(&c, v)| means[c as usize] += v.to_f64());
        }
    }
    let n = samples.nrows().max(1) as f64;
    // A mean outside the range of single precision is not subtracted: it would be infinite and destroy the values.
    let rounded = |sum: f64| f64::from((sum / n) as f32);
    means.into_iter().map(rounded).map(|mean| if mean.is_finite() { mean } else { 0.0 }).collect()
}

/// The fraction of entries that are zero.
fn zeros<T: Real>(samples: &Samples<'_, T>) -> f64 {
    let stored = samples.stored_values().iter().filter(|v| **v != T::default()).count();
    1.0 - stored as f64 / (samples.nrows() * samples.ncols()).max(1) as f64
}

fn on_cpu(other: &dyn Resident) -> Result<&CpuResident, GramError> {
    let any: &dyn Any = other;
    any.downcast_ref().ok_or(GramError::Elsewhere)
}

impl Resident for CpuResident {
    fn nrows(&self) -> usize {
        self.samples.nrows()
    }

    fn ncols(&self) -> usize {
        self.samples.ncols()
    }

    fn select(&self, rows: &[usize]) -> Box<dyn Resident> {
        Box::new(Self::new(self.samples.select(rows)))
    }

    fn gram<'a>(&'a self, kernel: &Kernel, wanted: Wanted) -> Result<Box<dyn Gram + 'a>, GramError> {
        Ok(match self.matrix(kernel, None, wanted)? {
            AnyMatrix::Single(matrix) => Box::new(matrix),
            AnyMatrix::Double(matrix) => Box::new(matrix),
        })
    }

    fn cross<'a>(
        &'a self,
        kernel: &Kernel,
        other: &'a dyn Resident,
    ) -> Result<Box<dyn KernelValues + 'a>, GramError> {
        Ok(match self.matrix(kernel, Some(on_cpu(other)?), Wanted::Exact)? {
            AnyMatrix::Single(matrix) => Box::new(matrix),
            AnyMatrix::Double(matrix) => Box::new(matrix),
        })
    }

    fn gradient<'a>(
        &'a self,
        derivatives: &[Kernel],
        other: Option<&'a dyn Resident>,
    ) -> Result<Box<dyn KernelGradient + 'a>, GramError> {
        let other = other.map(on_cpu).transpose()?;
        let (rows, cols) = (self.ncols(), other.map_or(self.ncols(), Resident::ncols));
        if rows != cols {
            return Err(GramError::Columns { rows, cols });
        }
        let program = Program::compile_all(derivatives.iter().map(Kernel::expr), rows)?;
        let plan = self.planned(&program, other, Some(Precision::Double), Plan::accurate);
        let x = Operand::new(&program, &plan, &self.samples);
        let z = other.map(|other| Operand::new(&program, &plan, &other.samples).apart());
        Ok(Box::new(GradientMatrix::new(Filler::new(program, plan), x, z)))
    }

    fn nearest(
        &self,
        queries: &dyn Resident,
        k: usize,
        metric: Metric,
        watch: &dyn Watch,
    ) -> Result<Nearest, GramError> {
        nearest::nearest(self, on_cpu(queries)?, k, metric, watch)
    }
}
