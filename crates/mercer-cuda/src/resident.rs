//! Samples on a device.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use mercer::data::AnySamples;
use mercer::gram::{
    Gram, GramError, KernelGradient, KernelValues, Metric, Nearest, Resident, Wanted, default_engine,
};
use mercer::kernel::Kernel;
use mercer::real::Precision;
use mercer::tile::{Plan, Program};
use mercer::watch::Watch;
use rayon::prelude::*;

use crate::device::Device;
use crate::error::CudaError;
use crate::matrix::Matrix;
use crate::nearest::{is_suited, nearest};
use crate::rows::Rows;
use crate::source::{Source, is_printable};

/// Samples of a [`CudaEngine`](crate::CudaEngine), on the host and on the device.
///
/// Sparse samples are stored as dense ones on the device; if that takes more than half of its room, the host engine does all work
/// with them.
pub(crate) struct CudaResident {
    device: Arc<Device>,
    samples: AnySamples<'static>,
    /// `None` if the host does the work.
    rows: Option<Arc<Rows>>,
    /// Column means, rounded to single precision so that subtracting them from nearby values is exact.
    means: Vec<f64>,
    /// The same samples for the host engine, loaded on first use.
    host: OnceLock<Box<dyn Resident>>,
}

/// The most constants of a kernel that fit the arguments of a launch.
const MOST_NUMBERS: usize = 400;

impl CudaResident {
    pub fn new(device: &Arc<Device>, samples: AnySamples<'static>) -> Result<Self, CudaError> {
        let size = if matches!(samples, AnySamples::F32(_)) { 4 } else { 8 };
        let bytes = (samples.nrows() as u64).saturating_mul(samples.ncols() as u64).saturating_mul(size);
        let too_large = samples.is_sparse() && bytes > device.room() / 2;
        let rows = if too_large || samples.nrows() > i32::MAX as usize {
            None
        } else {
            Some(Arc::new(Rows::new(device, &samples)?))
        };
        let means = means(&samples);
        Ok(Self { device: Arc::clone(device), samples, rows, means, host: OnceLock::new() })
    }

    /// The samples on the host engine.
    fn host(&self) -> Result<&dyn Resident, GramError> {
        if self.host.get().is_none() {
            let _ = self.host.set(default_engine().load(&self.samples)?);
        }
        self.host.get().map(|host| &**host).ok_or(GramError::Elsewhere)
    }

    /// The matrix of these samples with themselves or `other`; `None` if the host computes it.
    pub fn matrix(
        &self,
        kernel: &Kernel,
        other: Option<&Self>,
        wanted: Wanted,
    ) -> Result<Option<Matrix>, GramError> {
        let (rows, cols) = (self.ncols(), other.map_or(self.ncols(), Resident::ncols));
        if rows != cols {
            return Err(GramError::Columns { rows, cols });
        }
        let program = Program::compile(kernel, rows)?;
        let (Some(x), Some(z)) = (&self.rows, &other.unwrap_or(self).rows) else { return Ok(None) };
        let precision = match wanted {
            Wanted::Exact => None,
            Wanted::Single => Some(Precision::Single),
            Wanted::Double => Some(Precision::Double),
        };
        let sides: Vec<&AnySamples<'_>> =
            std::iter::once(&self.samples).chain(other.map(|other| &other.samples)).collect();
        let plan = Plan::dense(&program, &sides, &self.means, precision);
        if plan.double && wanted == Wanted::Single {
            return Err(GramError::TooCoarse);
        }
        let source = Source::new(&program, &plan);
        if !is_printable(&program) || source.numbers.len() > MOST_NUMBERS {
            return Ok(None);
        }
        let largest = if source.layout.is_one_product() { largest_feature(&source, &sides) } else { 0.0 };
        Ok(Some(Matrix::new(source, Arc::clone(x), other.map(|_| Arc::clone(z)), largest)?))
    }
}

pub(crate) fn on_device<'a>(
    other: &'a dyn Resident,
    device: &Arc<Device>,
) -> Result<&'a CudaResident, GramError> {
    let any: &dyn Any = other;
    any.downcast_ref::<CudaResident>()
        .filter(|other| Arc::ptr_eq(&other.device, device))
        .ok_or(GramError::Elsewhere)
}

fn means(samples: &AnySamples<'_>) -> Vec<f64> {
    let (n, d) = (samples.nrows(), samples.ncols());
    if samples.is_sparse() || n == 0 {
        return vec![0.0; d];
    }
    // Pieces of a fixed size, added in their order.
    const PIECE: usize = 16_384;
    let parts: Vec<Vec<f64>> = (0..n.div_ceil(PIECE))
        .into_par_iter()
        .map(|piece| {
            let mut sums = vec![0.0; d];
            for row in piece * PIECE..n.min((piece + 1) * PIECE) {
                samples.visit_row(row, |column, value| sums[column] += value);
            }
            sums
        })
        .collect();
    let mut sums = vec![0.0; d];
    parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, p)| *sum += p));
    sums.into_iter().map(|sum| f64::from((sum / n as f64) as f32)).collect()
}

/// The largest feature of the only segment, by its absolute value.
fn largest_feature(source: &Source, sides: &[&AnySamples<'_>]) -> f64 {
    let segment = &source.layout.segments[0];
    let of_row = |samples: &AnySamples<'_>, i: usize, row: &mut Vec<f64>| {
        row.resize(samples.ncols(), 0.0);
        samples.copy_row(i, row);
        let norm = segment.group.columns.iter().map(|&c| row[c] * row[c]).sum::<f64>().sqrt();
        let mut largest = 0.0f64;
        for (j, &c) in segment.group.columns.iter().enumerate() {
            let centre = segment.centre.as_ref().map_or(0.0, |centre| centre[j]);
            segment.group.features(j, row[c] - centre, norm, |_, value| largest = largest.max(value.abs()));
        }
        largest * segment.scale
    };
    let of_side = |samples: &AnySamples<'_>| {
        (0..samples.nrows())
            .into_par_iter()
            .map_init(Vec::new, |row, i| of_row(samples, i, row))
            .reduce(|| 0.0, f64::max)
    };
    sides.iter().map(|samples| of_side(samples)).fold(0.0, f64::max)
}

impl Resident for CudaResident {
    fn nrows(&self) -> usize {
        self.samples.nrows()
    }

    fn ncols(&self) -> usize {
        self.samples.ncols()
    }

    /// If the device has no room for the chosen rows, the host does the work with them.
    fn select(&self, rows: &[usize]) -> Box<dyn Resident> {
        let samples = self.samples.select(rows);
        let means = means(&samples);
        let on_device = self.rows.is_some().then(|| Rows::new(&self.device, &samples).ok()).flatten();
        Box::new(Self {
            device: Arc::clone(&self.device),
            rows: on_device.map(Arc::new),
            samples,
            means,
            host: OnceLock::new(),
        })
    }

    fn gram<'a>(&'a self, kernel: &Kernel, wanted: Wanted) -> Result<Box<dyn Gram + 'a>, GramError> {
        match self.matrix(kernel, None, wanted)? {
            Some(matrix) => Ok(Box::new(matrix)),
            None => self.host()?.gram(kernel, wanted),
        }
    }

    fn cross<'a>(
        &'a self,
        kernel: &Kernel,
        other: &'a dyn Resident,
    ) -> Result<Box<dyn KernelValues + 'a>, GramError> {
        let other = on_device(other, &self.device)?;
        match self.matrix(kernel, Some(other), Wanted::Exact)? {
            Some(matrix) => Ok(Box::new(matrix)),
            None => self.host()?.cross(kernel, other.host()?),
        }
    }

    fn gradient<'a>(
        &'a self,
        derivatives: &[Kernel],
        other: Option<&'a dyn Resident>,
    ) -> Result<Box<dyn KernelGradient + 'a>, GramError> {
        let other = other.map(|other| on_device(other, &self.device)?.host()).transpose()?;
        self.host()?.gradient(derivatives, other)
    }

    fn nearest(
        &self,
        queries: &dyn Resident,
        k: usize,
        metric: Metric,
        watch: &dyn Watch,
    ) -> Result<Nearest, GramError> {
        let queries = on_device(queries, &self.device)?;
        let (rows, cols) = (queries.ncols(), self.ncols());
        if rows != cols {
            return Err(GramError::Columns { rows, cols });
        }
        let few = k.min(self.nrows());
        if let (Some(rows), Some(asked)) = (&self.rows, &queries.rows)
            && few > 0
            && asked.count > 0
            && is_suited(&self.samples, &queries.samples)
            && let Some(found) = nearest(&self.device, rows, asked, cols, (few, metric), watch)?
        {
            return Ok(found);
        }
        self.host()?.nearest(queries.host()?, k, metric, watch)
    }
}
