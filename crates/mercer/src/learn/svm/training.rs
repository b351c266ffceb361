//! The training data of support vector machines.

use crate::gram::{Gram, GramError, Part, Resident, StoreAs, Stored, Wanted};
use crate::kernel::Kernel;
use crate::learn::error::LearnError;
use crate::linalg::zeroed;
use crate::session::Session;
use crate::solve::svm::{BoxQp, Solution, SvmSettings};

/// The most variables for which kernel values are in double precision from the start: single precision would save less
/// than the pass that checks the solution, and the result then does not depend on the precision of the samples.
const SMALL: usize = 500;

/// A kernel matrix to train on: from samples, in single precision next to double, or given.
pub(crate) struct Training<'a> {
    fast: Option<Box<dyn Gram + 'a>>,
    exact: Exact<'a>,
}

enum Exact<'a> {
    Computed(Box<dyn Gram + 'a>),
    Given(&'a dyn Gram),
}

impl<'a> Training<'a> {
    /// On resident samples. Folds, class pairs and values of C share one.
    ///
    /// # Errors
    /// If the kernel does not fit the samples.
    pub fn new(samples: &'a dyn Resident, kernel: &Kernel) -> Result<Self, LearnError> {
        let fast = match samples.gram(kernel, Wanted::Single) {
            Err(GramError::TooCoarse) => None,
            fast => Some(fast?),
        };
        let exact = samples.gram(kernel, Wanted::Double)?;
        Ok(Self { fast, exact: Exact::Computed(exact) })
    }

    /// As [`new`](Self::new), with every kernel value computed now and stored, in single precision where that is enough, if they
    /// take at most `bytes`: for many problems over the same samples. `store` is the buffer, which is reused for the
    /// next kernel: fresh memory is slow.
    ///
    /// # Errors
    /// If the kernel does not fit the samples, or if the session is stopped.
    pub fn stored(
        samples: &'a dyn Resident,
        kernel: &Kernel,
        bytes: u64,
        store: &'a mut Vec<f32>,
        session: &Session<'_>,
    ) -> Result<Self, LearnError> {
        let mut training = Self::new(samples, kernel)?;
        let n = samples.nrows();
        if let Some(fast) = &training.fast {
            if StoreAs::F32.bytes(n) <= bytes {
                if store.len() != n * n {
                    *store = zeroed(n * n);
                }
                fast.fill(Part::Full, (&mut *store).into(), session).map_err(GramError::from)?;
                training.fast = Some(session.engine().adopt(n, (&*store).into())?);
            }
        } else if StoreAs::F64.bytes(n) <= bytes
            && let Stored::Gram(stored) =
                training.exact().store(StoreAs::F64, session).map_err(GramError::from)?
        {
            training.exact = Exact::Computed(stored);
        }
        Ok(training)
    }

    /// On a given matrix, which counts as exact in either precision.
    #[must_use]
    pub fn precomputed(gram: &'a dyn Gram) -> Self {
        Self { fast: None, exact: Exact::Given(gram) }
    }

    /// Number of samples.
    #[must_use]
    pub fn nrows(&self) -> usize {
        self.exact().nrows()
    }

    pub(super) fn exact(&self) -> &dyn Gram {
        match &self.exact {
            Exact::Computed(gram) => &**gram,
            Exact::Given(gram) => *gram,
        }
    }

    /// The matrix that provides kernel rows.
    pub(super) fn rows(&self) -> &dyn Gram {
        self.fast.as_deref().unwrap_or_else(|| self.exact())
    }

    pub(super) fn solve_path(
        &self,
        qp: &BoxQp,
        scales: &[f64],
        settings: &SvmSettings,
        session: &Session<'_>,
    ) -> Result<Vec<Solution>, LearnError> {
        let exact = self.fast.is_some().then(|| self.exact());
        Ok(qp.solve_path(scales, self.rows(), exact, settings, session)?)
    }

    pub(super) fn solve(
        &self,
        qp: &BoxQp,
        settings: &SvmSettings,
        session: &Session<'_>,
    ) -> Result<Solution, LearnError> {
        if qp.len() <= SMALL {
            return Ok(qp.solve(self.exact(), None, settings, session)?);
        }
        let exact = self.fast.is_some().then(|| self.exact());
        Ok(qp.solve(self.rows(), exact, settings, session)?)
    }
}
