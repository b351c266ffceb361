//! An engine whose kernel matrices are applied elsewhere; everything else is computed on this machine.

use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

use mercer::data::{AnySamples, Matrix};
use mercer::gram::{
    Engine, Gram, GramError, KeepRows, KernelValues, LinearOperator, Metric, Nearest, Part, Resident,
    RowSums, StoreAs, Stored, TileMut, ValuesMut, ValuesRef, Wanted, default_engine,
};
use mercer::kernel::Kernel;
use mercer::real::Precision;
use mercer::watch::{Stopped, Watch};

use crate::remote::{Asker, Request};

/// Computes on this machine's cores, except for products with the kernel matrix of all rows of the problem.
pub struct RemoteEngine {
    asker: Arc<Asker>,
    /// The number of rows of the problem.
    rows: usize,
}

impl RemoteEngine {
    /// The engine of a problem with this many rows.
    pub fn new(asker: Arc<Asker>, rows: usize) -> Self {
        Self { asker, rows }
    }
}

impl Engine for RemoteEngine {
    fn name(&self) -> &'static str {
        "remote"
    }

    fn load(&self, samples: &AnySamples<'_>) -> Result<Box<dyn Resident>, GramError> {
        let here = default_engine().load(samples)?;
        if samples.nrows() != self.rows {
            return Ok(here);
        }
        let double = matches!(samples, AnySamples::F64(_));
        Ok(Box::new(RemoteResident { here, double, asker: Arc::clone(&self.asker) }))
    }

    fn adopt<'a>(&self, order: usize, values: ValuesRef<'a>) -> Result<Box<dyn Gram + 'a>, GramError> {
        default_engine().adopt(order, values)
    }
}

/// All rows of the problem in one precision.
struct RemoteResident {
    here: Box<dyn Resident>,
    double: bool,
    asker: Arc<Asker>,
}

/// The samples on this machine.
fn here(resident: &dyn Resident) -> &dyn Resident {
    let any: &dyn Any = resident;
    any.downcast_ref::<RemoteResident>().map_or(resident, |remote| &*remote.here)
}

impl Resident for RemoteResident {
    fn nrows(&self) -> usize {
        self.here.nrows()
    }

    fn ncols(&self) -> usize {
        self.here.ncols()
    }

    fn select(&self, rows: &[usize]) -> Box<dyn Resident> {
        self.here.select(rows)
    }

    fn gram<'a>(&'a self, kernel: &Kernel, wanted: Wanted) -> Result<Box<dyn Gram + 'a>, GramError> {
        let here = self.here.gram(kernel, wanted)?;
        Ok(Box::new(RemoteGram { here, double: self.double, asker: Arc::clone(&self.asker) }))
    }

    fn cross<'a>(
        &'a self,
        kernel: &Kernel,
        other: &'a dyn Resident,
    ) -> Result<Box<dyn KernelValues + 'a>, GramError> {
        self.here.cross(kernel, here(other))
    }

    fn nearest(
        &self,
        queries: &dyn Resident,
        k: usize,
        metric: Metric,
        watch: &dyn Watch,
    ) -> Result<Nearest, GramError> {
        self.here.nearest(here(queries), k, metric, watch)
    }
}

/// A kernel matrix that is applied elsewhere; single values are computed here.
struct RemoteGram<'a> {
    here: Box<dyn Gram + 'a>,
    double: bool,
    asker: Arc<Asker>,
}

impl LinearOperator for RemoteGram<'_> {
    fn nrows(&self) -> usize {
        self.here.nrows()
    }

    fn ncols(&self) -> usize {
        self.here.ncols()
    }

    fn apply(&self, out: &mut Matrix<f64>, rhs: &Matrix<f64>, watch: &dyn Watch) -> Result<(), Stopped> {
        watch.check()?;
        let request = Request::Product { double: self.double, rhs: rhs.clone() };
        let product = self.asker.ask(request, out.entries().len())?;
        out.entries_mut().copy_from_slice(&product);
        Ok(())
    }
}

impl KernelValues for RemoteGram<'_> {
    fn fill(&self, part: Part, out: ValuesMut<'_>, watch: &dyn Watch) -> Result<(), Stopped> {
        self.here.fill(part, out, watch)
    }
}

impl Gram for RemoteGram<'_> {
    fn precision(&self) -> Precision {
        self.here.precision()
    }

    fn cost(&self) -> usize {
        self.here.cost()
    }

    fn diagonal(&self) -> Cow<'_, [f64]> {
        self.here.diagonal()
    }

    fn block(&self, rows: &[usize], columns: &[usize], out: TileMut<'_>) {
        self.here.block(rows, columns, out);
    }

    fn apply_part(
        &self,
        columns: &[usize],
        rows: &[usize],
        rhs: &Matrix<f64>,
        out: &mut Matrix<f64>,
        watch: &dyn Watch,
    ) -> Result<(), Stopped> {
        self.here.apply_part(columns, rows, rhs, out, watch)
    }

    fn row_sums<'a>(&'a self, columns: &[usize], keep: KeepRows) -> Box<dyn RowSums + 'a> {
        self.here.row_sums(columns, keep)
    }

    fn store(&self, form: StoreAs, watch: &dyn Watch) -> Result<Stored, Stopped> {
        self.here.store(form, watch)
    }
}
