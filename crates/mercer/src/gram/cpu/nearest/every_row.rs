//! The nearest rows by distances that no tile computes.

use std::collections::BinaryHeap;

use rayon::prelude::*;

use crate::gram::engine::GramError;
use crate::watch::Watch;

use super::{BAND, Near, Search};

/// The nearest rows of every query. O(mnd) time for m queries and n rows, O(k) memory for each query.
pub(super) fn search(search: &Search<'_>, watch: &dyn Watch) -> Result<Vec<Vec<Near>>, GramError> {
    let queries: Vec<usize> = (0..search.queries.nrows()).collect();
    watch.begin("neighbours", queries.len().div_ceil(BAND) as u64);
    let of_bands = queries.par_chunks(BAND).map(|band| {
        watch.check()?;
        let found: Vec<Vec<Near>> = band.iter().map(|&query| nearest(search, query)).collect();
        watch.advance(1);
        Ok(found)
    });
    let found: Result<Vec<Vec<Vec<Near>>>, GramError> = of_bands.collect();
    Ok(found?.into_iter().flatten().collect())
}

fn nearest(search: &Search<'_>, query: usize) -> Vec<Near> {
    let mut kept = BinaryHeap::with_capacity(search.k + 1);
    for row in 0..search.rows.nrows() {
        let near = Near { measure: search.measure(query, row), row };
        if kept.len() < search.k {
            kept.push(near);
        } else if kept.peek().is_some_and(|last| near < *last) {
            kept.pop();
            kept.push(near);
        }
    }
    kept.into_sorted_vec()
}
