//! The positions of requested rows and columns in a tile.

use mercer::gram::{Segment, TileMut};

/// The row of the output of each of `rows` requested rows, and the segments of the `columns` requested columns.
///
/// # Panics
/// If the segments do not cover the request in order, or go beyond the stride or the buffer.
pub(crate) fn places(tile: &TileMut<'_>, rows: usize, columns: usize) -> (Vec<usize>, Vec<Segment>) {
    let rows: Vec<usize> = covering(tile.rows, rows).iter().flat_map(|s| s.at..s.at + s.from.len()).collect();
    let columns = covering(tile.columns, columns);
    let width = columns.iter().map(|s| s.at + s.from.len()).max().unwrap_or(0);
    let height = rows.iter().map(|r| r + 1).max().unwrap_or(0);
    assert!(width <= tile.stride, "columns up to {width} in rows of {} entries", tile.stride);
    let needed = if width == 0 || height == 0 { 0 } else { (height - 1) * tile.stride + width };
    assert!(needed <= tile.values.len(), "{needed} entries in a buffer of {}", tile.values.len());
    (rows, columns)
}

/// The segments, or one for all of `count` where there are none.
fn covering(segments: &[Segment], count: usize) -> Vec<Segment> {
    if segments.is_empty() {
        return vec![Segment { from: 0..count, at: 0 }];
    }
    let end = segments.iter().fold(0, |end, segment| {
        assert!(
            segment.from.start == end && segment.from.end >= end,
            "segments that cover the request in order"
        );
        segment.from.end
    });
    assert_eq!(end, count, "segments that cover the request");
    segments.to_vec()
}
