//! Samples: rows of features, dense or sparse, owned or borrowed.

use std::borrow::Cow;

use crate::real::Real;

/// Rows of features, one sample a row. One type for borrowed and owned (`Samples<'static, T>`) buffers.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples<'a, T: Real> {
    nrows: usize,
    ncols: usize,
    storage: Storage<'a, T>,
}

/// The storage of [`Samples`].
#[derive(Debug, Clone, PartialEq)]
pub enum Storage<'a, T: Real> {
    /// Every entry, row after row.
    Dense(Cow<'a, [T]>),
    /// Compressed sparse rows: row `i` has columns `indices[indptr[i]..indptr[i+1]]`, ascending, and the values beside them.
    Sparse {
        /// The start of each row; one more entry than there are rows.
        indptr: Cow<'a, [usize]>,
        /// Column of each stored entry.
        indices: Cow<'a, [u32]>,
        /// Value of each stored entry.
        values: Cow<'a, [T]>,
    },
}

/// The most columns of sparse samples: a sparse file can name four billion columns in one line, and work with a few
/// numbers per column must fit the memory.
pub const MAX_COLUMNS: usize = 1 << 27;

/// Why a buffer is not a set of samples.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSamples {
    /// The buffer's length is not rows × columns.
    #[error("{nrows} rows of {ncols} columns need {expected} entries, but the buffer has {found}")]
    Length {
        /// Rows requested.
        nrows: usize,
        /// Columns requested.
        ncols: usize,
        /// rows × columns.
        expected: usize,
        /// Entries found.
        found: usize,
    },
    /// `indptr` does not start at 0, does not end at the number of entries, or decreases.
    #[error(
        "sparse rows: indptr must have {expected} non-decreasing entries from 0 to the number of stored values"
    )]
    Indptr {
        /// rows + 1.
        expected: usize,
    },
    /// Too many columns.
    #[error("there are {ncols} columns; at most {MAX_COLUMNS} are supported")]
    TooManyColumns {
        /// Number of columns.
        ncols: usize,
    },
    /// A column index is out of range, repeated, or out of order.
    #[error("sparse row {row}: column indices must ascend and be below {ncols}")]
    Indices {
        /// The row, from 0.
        row: usize,
        /// Number of columns.
        ncols: usize,
    },
}

impl<'a, T: Real> Samples<'a, T> {
    /// Dense samples from a row-major buffer.
    pub fn dense(
        nrows: usize,
        ncols: usize,
        entries: impl Into<Cow<'a, [T]>>,
    ) -> Result<Self, InvalidSamples> {
        let entries = entries.into();
        let expected = nrows.saturating_mul(ncols);
        if entries.len() != expected {
            return Err(InvalidSamples::Length { nrows, ncols, expected, found: entries.len() });
        }
        Ok(Self { nrows, ncols, storage: Storage::Dense(entries) })
    }

    /// Sparse samples from compressed rows with ascending column indices.
    pub fn sparse(
        ncols: usize,
        indptr: impl Into<Cow<'a, [usize]>>,
        indices: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [T]>>,
    ) -> Result<Self, InvalidSamples> {
        let (indptr, indices, values) = (indptr.into(), indices.into(), values.into());
        if ncols > MAX_COLUMNS {
            return Err(InvalidSamples::TooManyColumns { ncols });
        }
        let nrows = indptr.len().saturating_sub(1);
        let well_formed = indptr.first() == Some(&0)
            && indptr.last() == Some(&values.len())
            && indices.len() == values.len()
            && indptr.windows(2).all(|w| w[0] <= w[1]);
        if !well_formed {
            return Err(InvalidSamples::Indptr { expected: nrows + 1 });
        }
        for row in 0..nrows {
            let columns = &indices[indptr[row]..indptr[row + 1]];
            let ascending = columns.windows(2).all(|w| w[0] < w[1]);
            if !ascending || columns.last().is_some_and(|&c| c as usize >= ncols) {
                return Err(InvalidSamples::Indices { row, ncols });
            }
        }
        Ok(Self { nrows, ncols, storage: Storage::Sparse { indptr, indices, values } })
    }

    /// Number of rows.
    #[must_use]
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Number of columns.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// The storage of the entries.
    #[must_use]
    pub fn storage(&self) -> &Storage<'a, T> {
        &self.storage
    }

    /// The stored entries.
    #[must_use]
    pub fn into_storage(self) -> Storage<'a, T> {
        self.storage
    }

    /// Whether only non-zero entries are stored.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        matches!(self.storage, Storage::Sparse { .. })
    }

    /// The stored values, without the zeros of sparse rows.
    #[must_use]
    pub fn stored_values(&self) -> &[T] {
        match &self.storage {
            Storage::Dense(entries) => entries,
            Storage::Sparse { values, .. } => values,
        }
    }

    /// A borrowed view of the same samples.
    #[must_use]
    pub fn view(&self) -> Samples<'_, T> {
        let storage = match &self.storage {
            Storage::Dense(entries) => Storage::Dense(Cow::Borrowed(entries)),
            Storage::Sparse { indptr, indices, values } => Storage::Sparse {
                indptr: Cow::Borrowed(indptr),
                indices: Cow::Borrowed(indices),
                values: Cow::Borrowed(values),
            },
        };
        Samples { nrows: self.nrows, ncols: self.ncols, storage }
    }

    /// The same samples in an owned buffer.
    #[must_use]
    pub fn into_owned(self) -> Samples<'static, T> {
        let storage = match self.storage {
            Storage::Dense(entries) => Storage::Dense(Cow::Owned(entries.into_owned())),
            Storage::Sparse { indptr, indices, values } => Storage::Sparse {
                indptr: Cow::Owned(indptr.into_owned()),
                indices: Cow::Owned(indices.into_owned()),
                values: Cow::Owned(values.into_owned()),
            },
        };
        Samples { nrows: self.nrows, ncols: self.ncols, storage }
    }

    /// The stored entries of row `row`, widened to `f64`: its column and value, every one of a dense row.
    pub fn stored_row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (columns, values) = match &self.storage {
            Storage::Dense(entries) => (None, &entries[row * self.ncols..(row + 1) * self.ncols]),
            Storage::Sparse { indptr, indices, values } => {
                let stored = indptr[row]..indptr[row + 1];
                (Some(&indices[stored.clone()]), &values[stored])
            }
        };
        let column = move |place: usize| columns.map_or(place, |columns| columns[place] as usize);
        values.iter().enumerate().map(move |(place, value)| (column(place), value.to_f64()))
    }

    /// Writes row `row`, widened to `f64` and with zeros filled in, into `out` of length [`ncols`](Self::ncols).
    pub fn copy_row(&self, row: usize, out: &mut [f64]) {
        match &self.storage {
            Storage::Dense(entries) => {
                for (o, v) in out.iter_mut().zip(&entries[row * self.ncols..(row + 1) * self.ncols]) {
                    *o = v.to_f64();
                }
            }
            Storage::Sparse { indptr, indices, values } => {
                out.fill(0.0);
                for k in indptr[row]..indptr[row + 1] {
                    out[indices[k] as usize] = values[k].to_f64();
                }
            }
        }
    }

    /// The rows at `indices`, in that order, as samples of the same form.
    ///
    /// # Panics
    /// If an index is not below [`nrows`](Self::nrows).
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Samples<'static, T> {
        match &self.storage {
            Storage::Dense(entries) => {
                let mut chosen = Vec::with_capacity(rows.len() * self.ncols);
                for &row in rows {
                    chosen.extend_from_slice(&entries[row * self.ncols..(row + 1) * self.ncols]);
                }
                Samples { nrows: rows.len(), ncols: self.ncols, storage: Storage::Dense(Cow::Owned(chosen)) }
            }
            Storage::Sparse { indptr, indices, values } => {
                let (mut p, mut i, mut v) = (vec![0], Vec::new(), Vec::new());
                for &row in rows {
                    let stored = indptr[row]..indptr[row + 1];
                    i.extend_from_slice(&indices[stored.clone()]);
                    v.extend_from_slice(&values[stored]);
                    p.push(v.len());
                }
                let storage = Storage::Sparse { indptr: p.into(), indices: i.into(), values: v.into() };
                Samples { nrows: rows.len(), ncols: self.ncols, storage }
            }
        }
    }
}

impl<T: Real> Samples<'_, T> {
    /// The rows of several samples of the same form, one after the other; `None` if there are no samples, or they are
    /// dense and sparse or of different numbers of columns.
    #[must_use]
    pub fn stacked(parts: &[Self]) -> Option<Samples<'static, T>> {
        let first = parts.first()?;
        if parts.iter().any(|p| p.ncols != first.ncols || p.is_sparse() != first.is_sparse()) {
            return None;
        }
        let nrows = parts.iter().map(|part| part.nrows).sum();
        let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for part in parts {
            match &part.storage {
                Storage::Dense(entries) => values.extend_from_slice(entries),
                Storage::Sparse { indptr: p, indices: i, values: v } => {
                    let before = values.len();
                    indptr.extend(p[1..].iter().map(|end| before + end));
                    indices.extend_from_slice(i);
                    values.extend_from_slice(v);
                }
            }
        }
        let storage = if first.is_sparse() {
            Storage::Sparse { indptr: indptr.into(), indices: indices.into(), values: values.into() }
        } else {
            Storage::Dense(values.into())
        };
        Some(Samples { nrows, ncols: first.ncols, storage })
    }
}

/// Samples of either precision, as received from files, the command line and Python.
#[derive(Debug, Clone, PartialEq)]
pub enum AnySamples<'a> {
    /// Single precision.
    F32(Samples<'a, f32>),
    /// Double precision.
    F64(Samples<'a, f64>),
}

/// Runs `$body` with `$samples` bound to the typed samples inside an [`AnySamples`].
#[doc(hidden)]
#[macro_export]
macro_rules! with_samples {
    ($any:expr, $samples:ident => $body:expr) => {
        match $any {
            $crate::AnySamples::F32($samples) => $body,
            $crate::AnySamples::F64($samples) => $body,
        }
    };
}

impl AnySamples<'_> {
    /// The bytes of memory that the entries take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        with_samples!(self, samples => match samples.storage() {
            Storage::Dense(entries) => size_of_val(&entries[..]) as u64,
            Storage::Sparse { indptr, indices, values } => {
                (size_of_val(&indptr[..]) + size_of_val(&indices[..]) + size_of_val(&values[..])) as u64
            }
        })
    }

    /// Number of rows.
    #[must_use]
    pub fn nrows(&self) -> usize {
        with_samples!(self, s => s.nrows())
    }

    /// Number of columns.
    #[must_use]
    pub fn ncols(&self) -> usize {
        with_samples!(self, s => s.ncols())
    }

    /// Whether only non-zero entries are stored.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        with_samples!(self, s => s.is_sparse())
    }

    /// A borrowed view of the same samples.
    #[must_use]
    pub fn view(&self) -> AnySamples<'_> {
        with_samples!(self, s => s.view().into())
    }

    /// The same samples in an owned buffer.
    #[must_use]
    pub fn into_owned(self) -> AnySamples<'static> {
        with_samples!(self, s => s.into_owned().into())
    }

    /// The rows at `rows`, in that order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> AnySamples<'static> {
        with_samples!(self, s => s.select(rows).into())
    }

    /// The same samples in double precision, borrowed if they already are.
    #[must_use]
    pub fn widened(&self) -> AnySamples<'_> {
        let Self::F32(samples) = self else { return self.view() };
        let wide = |values: &[f32]| values.iter().map(|v| v.to_f64()).collect();
        let storage = match &samples.storage {
            Storage::Dense(entries) => Storage::Dense(wide(entries)),
            Storage::Sparse { indptr, indices, values } => Storage::Sparse {
                indptr: Cow::Borrowed(indptr),
                indices: Cow::Borrowed(indices),
                values: wide(values),
            },
        };
        AnySamples::F64(Samples { nrows: samples.nrows, ncols: samples.ncols, storage })
    }

    /// Calls `visit` with the column and value of every stored entry of row `row`.
    pub fn visit_row(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        with_samples!(self, s => s.stored_row(row).for_each(|(column, value)| visit(column, value)));
    }

    /// Writes row `row`, widened to `f64`, into `out`.
    pub fn copy_row(&self, row: usize, out: &mut [f64]) {
        with_samples!(self, s => s.copy_row(row, out));
    }
}

/// A dense row-major matrix: Gram matrices, targets, coefficients.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Matrix<T> {
    nrows: usize,
    ncols: usize,
    entries: Vec<T>,
}

impl<T: Copy + Default> Matrix<T> {
    /// A matrix of zeros.
    #[must_use]
    pub fn zeros(nrows: usize, ncols: usize) -> Self {
        Self { nrows, ncols, entries: vec![T::default(); nrows * ncols] }
    }

    /// A matrix over an existing row-major buffer.
    ///
    /// # Panics
    /// If the buffer's length is not `nrows * ncols`.
    #[must_use]
    pub fn from_entries(nrows: usize, ncols: usize, entries: Vec<T>) -> Self {
        assert_eq!(entries.len(), nrows * ncols, "a {nrows} × {ncols} matrix");
        Self { nrows, ncols, entries }
    }

    /// Number of rows.
    #[must_use]
    pub fn nrows(&self) -> usize {
        self.nrows
    }

    /// Number of columns.
    #[must_use]
    pub fn ncols(&self) -> usize {
        self.ncols
    }

    /// The entries, row after row.
    #[must_use]
    pub fn entries(&self) -> &[T] {
        &self.entries
    }

    /// The entries, row after row, to write to.
    pub fn entries_mut(&mut self) -> &mut [T] {
        &mut self.entries
    }

    /// The entries as a vector, row after row.
    #[must_use]
    pub fn into_entries(self) -> Vec<T> {
        self.entries
    }

    /// Row `i`.
    #[must_use]
    pub fn row(&self, i: usize) -> &[T] {
        &self.entries[i * self.ncols..(i + 1) * self.ncols]
    }

    /// Row `i`, to write to.
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.entries[i * self.ncols..(i + 1) * self.ncols]
    }

    /// The rows at `rows`, in that order.
    ///
    /// # Panics
    /// If an index is not below [`nrows`](Self::nrows).
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let entries = rows.iter().flat_map(|&row| self.row(row).iter().copied()).collect();
        Self::from_entries(rows.len(), self.ncols, entries)
    }
}

impl<'a, T: Real> From<Samples<'a, T>> for AnySamples<'a> {
    fn from(samples: Samples<'a, T>) -> Self {
        T::any_samples(samples)
    }
}

impl<'a> From<&'a AnySamples<'_>> for AnySamples<'a> {
    fn from(samples: &'a AnySamples<'_>) -> Self {
        samples.view()
    }
}

/// Rows of `D` numbers each.
impl<'a, const D: usize> From<&'a [[f64; D]]> for AnySamples<'a> {
    fn from(rows: &'a [[f64; D]]) -> Self {
        Self::F64(Samples::dense(rows.len(), D, rows.as_flattened()).expect("D numbers in each row"))
    }
}

/// Rows of `D` numbers each.
impl<'a, const D: usize, const N: usize> From<&'a [[f64; D]; N]> for AnySamples<'a> {
    fn from(rows: &'a [[f64; D]; N]) -> Self {
        rows.as_slice().into()
    }
}

/// Rows of `D` numbers each.
impl<'a, const D: usize> From<&'a Vec<[f64; D]>> for AnySamples<'a> {
    fn from(rows: &'a Vec<[f64; D]>) -> Self {
        rows.as_slice().into()
    }
}

impl<'a> From<&'a Matrix<f64>> for AnySamples<'a> {
    fn from(rows: &'a Matrix<f64>) -> Self {
        Self::F64(
            Samples::dense(rows.nrows(), rows.ncols(), rows.entries()).expect("the entries of a matrix"),
        )
    }
}
