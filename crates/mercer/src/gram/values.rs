//! Kernel values in single or double precision: the type of the buffer chooses the precision, not the name of a method.

use std::ops::Range;

use crate::data::Matrix;
use crate::linalg::{Scalar, zeroed};
use crate::real::{Precision, Real};

/// The number type of kernel values: `f32` or `f64`.
pub trait Value: Scalar {
    /// The slice with its precision erased.
    fn erase(values: &[Self]) -> ValuesRef<'_>;

    /// The mutable slice with its precision erased.
    fn erase_mut(values: &mut [Self]) -> ValuesMut<'_>;
}

macro_rules! value {
    ($type:ty, $precision:ident) => {
        impl Value for $type {
            fn erase(values: &[Self]) -> ValuesRef<'_> {
                ValuesRef::$precision(values)
            }

            fn erase_mut(values: &mut [Self]) -> ValuesMut<'_> {
                ValuesMut::$precision(values)
            }
        }
    };
}

value!(f32, F32);
value!(f64, F64);

/// Values to read, in either precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValuesRef<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
}

/// A buffer to write values to, in either precision. Values are rounded to the precision of the buffer.
#[derive(Debug, PartialEq)]
pub enum ValuesMut<'a> {
    /// Single precision.
    F32(&'a mut [f32]),
    /// Double precision.
    F64(&'a mut [f64]),
}

/// Runs `$body` with `$values` bound to the typed contents of a [`ValuesMut`], [`ValuesRef`] or [`Values`].
macro_rules! with_values {
    ($kind:ident, $any:expr, $values:ident => $body:expr) => {
        match $any {
            $crate::gram::$kind::F32($values) => $body,
            $crate::gram::$kind::F64($values) => $body,
        }
    };
}
pub(crate) use with_values;

macro_rules! size_and_precision {
    ($kind:ident) => {
        impl $kind<'_> {
            /// Number of values.
            #[must_use]
            pub fn len(&self) -> usize {
                with_values!($kind, self, values => values.len())
            }

            /// Whether there are no values.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The precision of the values.
            #[must_use]
            pub fn precision(&self) -> Precision {
                match self {
                    Self::F32(_) => Precision::Single,
                    Self::F64(_) => Precision::Double,
                }
            }
        }
    };
}

size_and_precision!(ValuesRef);
size_and_precision!(ValuesMut);

impl<'a> ValuesRef<'a> {
    /// A range of the values.
    ///
    /// # Panics
    /// If the range is not within them.
    #[must_use]
    pub fn slice(self, range: Range<usize>) -> ValuesRef<'a> {
        with_values!(ValuesRef, self, values => (&values[range]).into())
    }
}

impl ValuesMut<'_> {
    /// The same buffer, borrowed for a shorter time.
    pub fn reborrow(&mut self) -> ValuesMut<'_> {
        with_values!(ValuesMut, self, values => (&mut **values).into())
    }

    /// A range of the buffer.
    ///
    /// # Panics
    /// If the range is not within the buffer.
    pub fn slice(&mut self, range: Range<usize>) -> ValuesMut<'_> {
        with_values!(ValuesMut, self, values => (&mut values[range]).into())
    }

    /// Writes as many values as the buffer holds, rounded to its precision.
    ///
    /// # Panics
    /// If there are fewer values.
    pub fn copy_from(&mut self, values: ValuesRef<'_>) {
        with_values!(ValuesMut, self, to => with_values!(ValuesRef, values, from => {
            let from = &from[..to.len()];
            to.iter_mut().zip(from).for_each(|(to, v)| *to = Real::from_f64(v.to_f64()));
        }));
    }
}

macro_rules! erased_from {
    ($($slice:ty => $values:ident by $erase:ident),*) => {$(
        impl<'a, T: Value> From<$slice> for $values<'a> {
            fn from(values: $slice) -> Self {
                T::$erase(values)
            }
        }
    )*};
}

erased_from!(
    &'a [T] => ValuesRef by erase,
    &'a Vec<T> => ValuesRef by erase,
    &'a mut [T] => ValuesMut by erase_mut,
    &'a mut Vec<T> => ValuesMut by erase_mut
);

/// A row-major matrix of values in either precision.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Single precision.
    F32(Matrix<f32>),
    /// Double precision.
    F64(Matrix<f64>),
}

impl Values {
    /// A matrix of zeros.
    #[must_use]
    pub fn zeros(precision: Precision, nrows: usize, ncols: usize) -> Self {
        match precision {
            Precision::Single => Self::F32(Matrix::from_entries(nrows, ncols, zeroed(nrows * ncols))),
            Precision::Double => Self::F64(Matrix::from_entries(nrows, ncols, zeroed(nrows * ncols))),
        }
    }

    /// Number of rows.
    #[must_use]
    pub fn nrows(&self) -> usize {
        with_values!(Values, self, values => values.nrows())
    }

    /// Number of columns.
    #[must_use]
    pub fn ncols(&self) -> usize {
        with_values!(Values, self, values => values.ncols())
    }

    /// The precision of the values.
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.entries().precision()
    }

    /// The values, row after row.
    #[must_use]
    pub fn entries(&self) -> ValuesRef<'_> {
        with_values!(Values, self, values => values.entries().into())
    }

    /// The values in double precision.
    #[must_use]
    pub fn into_f64(self) -> Matrix<f64> {
        match self {
            Self::F32(values) => {
                let entries = values.entries().iter().map(|v| f64::from(*v)).collect();
                Matrix::from_entries(values.nrows(), values.ncols(), entries)
            }
            Self::F64(values) => values,
        }
    }

    /// The values, row after row, to write to.
    pub fn entries_mut(&mut self) -> ValuesMut<'_> {
        with_values!(Values, self, values => values.entries_mut().into())
    }
}

/// Consecutive rows or columns of a request, and their position in the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Places in the request.
    pub from: Range<usize>,
    /// The place of the first of them in the output.
    pub at: usize,
}

/// A rectangle of kernel values to write: a buffer of rows `stride` entries apart, and where requested rows and columns go in it.
/// Entries that no segment refers to, such as padding between groups of variables, stay as they are.
#[derive(Debug)]
pub struct TileMut<'a> {
    /// The buffer.
    pub values: ValuesMut<'a>,
    /// Entries from one row of the output to the next.
    pub stride: usize,
    /// Where requested rows go: segments that cover the request in order. Empty: row r goes to row r.
    pub rows: &'a [Segment],
    /// Where requested columns go: segments that cover the request in order. Empty: column c goes to column c.
    pub columns: &'a [Segment],
}

impl<'a> TileMut<'a> {
    /// A rectangle without padding: entry (r, c) of the request goes to row r, column c.
    pub fn new(values: impl Into<ValuesMut<'a>>, stride: usize) -> Self {
        Self { values: values.into(), stride, rows: &[], columns: &[] }
    }

    /// The row of the output of each of `rows` requested rows, and the segments of the `columns` requested columns.
    ///
    /// # Panics
    /// If the segments do not cover the request in order, or go beyond the stride or the buffer.
    #[must_use]
    pub fn places(&self, rows: usize, columns: usize) -> (Vec<usize>, Vec<Segment>) {
        let rows: Vec<usize> =
            covering(self.rows, rows).iter().flat_map(|s| s.at..s.at + s.from.len()).collect();
        let columns = covering(self.columns, columns);
        let width = columns.iter().map(|s| s.at + s.from.len()).max().unwrap_or(0);
        let height = rows.iter().map(|r| r + 1).max().unwrap_or(0);
        assert!(width <= self.stride, "columns up to {width} in rows of {} entries", self.stride);
        let needed = if width == 0 || height == 0 { 0 } else { (height - 1) * self.stride + width };
        assert!(needed <= self.values.len(), "{needed} entries in a buffer of {}", self.values.len());
        (rows, columns)
    }
}

/// The segments, or one for all of `count` where there are none.
fn covering(segments: &[Segment], count: usize) -> Vec<Segment> {
    let segments =
        if segments.is_empty() { vec![Segment { from: 0..count, at: 0 }] } else { segments.to_vec() };
    let end = segments.iter().fold(0, |end, segment| {
        assert!(
            segment.from.start == end && segment.from.end >= end,
            "segments that cover the request in order"
        );
        segment.from.end
    });
    assert_eq!(end, count, "segments that cover the request");
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precision_and_length_of_a_buffer() {
        let (mut single, mut double) = (vec![0f32; 3], vec![0f64; 2]);
        let mut buffer = ValuesMut::from(&mut single);
        assert_eq!((buffer.len(), buffer.precision()), (3, Precision::Single));
        assert_eq!(buffer.slice(1..3).len(), 2);
        assert_eq!(ValuesMut::from(&mut double[..]).precision(), Precision::Double);
        assert_eq!(ValuesRef::from(&double), ValuesRef::F64(&[0.0, 0.0]));
        let matrix = Values::zeros(Precision::Single, 2, 3);
        assert_eq!((matrix.nrows(), matrix.ncols(), matrix.entries().len()), (2, 3, 6));
    }

    #[test]
    fn segments_leave_room_for_padding() {
        let mut values = vec![0f64; 10];
        let segments = [Segment { from: 0..2, at: 0 }, Segment { from: 2..3, at: 4 }];
        let tile = TileMut { values: (&mut values).into(), stride: 5, rows: &[], columns: &segments };
        let (rows, columns) = tile.places(2, 3);
        assert_eq!((rows, columns.len()), (vec![0, 1], 2));
    }

    #[test]
    #[should_panic(expected = "segments that cover the request")]
    fn segments_must_cover_the_request() {
        let mut values = vec![0f64; 10];
        let segments = [Segment { from: 0..2, at: 0 }];
        let _ =
            TileMut { values: (&mut values).into(), stride: 5, rows: &[], columns: &segments }.places(2, 3);
    }
}
