//! Data that repeat in every run, and comparisons that are counted.

#![allow(clippy::print_stdout)]

use mercer::data::{AnySamples, Samples};
use mercer::real::Precision;

/// Numbers from 0 to 1 that repeat in every run.
pub fn number(k: usize) -> f64 {
    let mixed = (k as u64 ^ 0x9e37_79b9).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    ((mixed ^ (mixed >> 29)) >> 11) as f64 / (1u64 << 53) as f64
}

pub fn rows(count: usize, columns: usize, first: usize) -> Vec<f64> {
    (0..count * columns).map(|k| 0.05 + 0.9 * number(first + k)).collect()
}

pub fn samples(values: &[f64], columns: usize, precision: Precision) -> AnySamples<'static> {
    let count = values.len() / columns;
    match precision {
        Precision::Double => AnySamples::F64(Samples::dense(count, columns, values.to_vec()).unwrap()),
        Precision::Single => {
            let values: Vec<f32> = values.iter().map(|v| *v as f32).collect();
            AnySamples::F32(Samples::dense(count, columns, values).unwrap())
        }
    }
}

/// How many comparisons were made, and how many of them failed.
#[derive(Default)]
pub struct Checks {
    pub failed: usize,
    pub done: usize,
}

impl Checks {
    /// Compares numbers, with errors relative to the largest of 1 and the largest of them.
    pub fn close(&mut self, what: &str, found: &[f64], expected: &[f64], tolerance: f64) {
        let size = expected.iter().filter(|e| e.is_finite()).fold(1.0f64, |s, e| s.max(e.abs()));
        let pairs = || found.iter().zip(expected).filter(|(_, e)| e.is_finite());
        let worst =
            pairs().map(|(f, e)| (f - e).abs() / size).fold(0.0f64, |w, e| if e <= w { w } else { e });
        let nan = pairs().any(|(f, _)| !f.is_finite());
        self.done += 1;
        if worst > tolerance || nan || found.len() != expected.len() {
            self.failed += 1;
            println!(
                "FAILED {what}: error {worst:.1e}, allowed {tolerance:.1e}{}",
                if nan { ", not finite" } else { "" }
            );
        }
    }
}
