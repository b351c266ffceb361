//! The engine that computes on this machine's cores.

use std::any::Any;
use std::sync::Arc;

use crate::data::with_samples;
use crate::data::{AnySamples, Samples, Storage};
use crate::kernel::Kernel;
use crate::real::{Precision, Real};
use crate::tile::{Element, Extent, Filler, Known, Operand, Plan, Program};

use super::density::walks_sparse;
use super::engine::{Engine, GramError, Resident};
use super::operator::{Gram, KernelValues};
use super::tiled::KernelMatrix;

/// Computes kernel matrices on the threads of the pool it is called in.
#[derive(Debug, Clone, Copy, Default)]
pub struct CpuEngine;

/// The engine that a session uses unless told otherwise.
#[must_use]
pub fn default_engine() -> Arc<dyn Engine> {
    Arc::new(CpuEngine)
}

impl Engine for CpuEngine {
    fn load(&self, samples: &AnySamples<'_>) -> Box<dyn Resident> {
        Box::new(CpuResident::new(match samples {
            AnySamples::F32(s) => AnySamples::F32(s.view().into_owned()),
            AnySamples::F64(s) => AnySamples::F64(s.view().into_owned()),
        }))
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
}

impl CpuResident {
    fn new(samples: AnySamples<'static>) -> Self {
        let means = with_samples!(&samples, s => means(s));
        let zeros = with_samples!(&samples, s => zeros(s) > 0.6);
        Self { samples, means, zeros }
    }

    /// The matrix of these samples with themselves or `other`; `None` where single precision is wanted and not enough.
    fn matrix(
        &self,
        kernel: &Kernel,
        other: Option<&Self>,
        wanted: Option<Precision>,
    ) -> Result<Option<AnyMatrix>, GramError> {
        let (rows, cols) = (self.ncols(), other.map_or(self.ncols(), Resident::ncols));
        if rows != cols {
            return Err(GramError::Columns { rows, cols });
        }
        let program = Program::compile(kernel, rows)?;
        let sides = || std::iter::once(self).chain(other);
        // Sparse rows are not centred: their zeros would not stay zeros, and filled in they gain little by it.
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
        let plan = Plan::new(&program, known);
        Ok(match (plan.double, wanted) {
            (true, Some(Precision::Single)) => None,
            (true, _) => Some(AnyMatrix::Double(self.packed(program, plan, other))),
            (false, _) => Some(AnyMatrix::Single(self.packed(program, plan, other))),
        })
    }

    fn packed<T: Element>(&self, program: Program, plan: Plan, other: Option<&Self>) -> KernelMatrix<T> {
        let x = Operand::new(&program, &plan, &self.samples);
        let z = other.map(|o| Operand::new(&program, &plan, &o.samples));
        KernelMatrix::new(Filler::new(program, plan), x, z)
    }
}

/// A kernel matrix in the precision its plan chose.
enum AnyMatrix {
    Single(KernelMatrix<f32>),
    Double(KernelMatrix<f64>),
}

impl AnyMatrix {
    fn into_gram<'a>(self) -> Box<dyn Gram + 'a> {
        match self {
            Self::Single(matrix) => Box::new(matrix),
            Self::Double(matrix) => Box::new(matrix),
        }
    }
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
    means.into_iter().map(|sum| f64::from((sum / n) as f32)).collect()
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

    fn gram<'a>(&'a self, kernel: &Kernel) -> Result<Box<dyn Gram + 'a>, GramError> {
        Ok(self.matrix(kernel, None, None)?.expect("any precision will do").into_gram())
    }

    fn gram_in<'a>(
        &'a self,
        kernel: &Kernel,
        precision: Precision,
    ) -> Result<Option<Box<dyn Gram + 'a>>, GramError> {
        Ok(self.matrix(kernel, None, Some(precision))?.map(AnyMatrix::into_gram))
    }

    fn cross<'a>(
        &'a self,
        kernel: &Kernel,
        other: &'a dyn Resident,
    ) -> Result<Box<dyn KernelValues + 'a>, GramError> {
        let matrix = self.matrix(kernel, Some(on_cpu(other)?), None)?.expect("any precision will do");
        Ok(match matrix {
            AnyMatrix::Single(matrix) => Box::new(matrix),
            AnyMatrix::Double(matrix) => Box::new(matrix),
        })
    }

    fn select(&self, rows: &[usize]) -> Box<dyn Resident> {
        Box::new(Self::new(self.samples.select(rows)))
    }
}
