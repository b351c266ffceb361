//! Identifies a piece of work.

use crate::data::{AnySamples, Survey};

use super::problem::{Inputs, Problem, Targets};

/// A digest of settings and data (FNV-1a, 64 bits) that distinguishes problems; it is not cryptographic.
#[derive(Debug)]
pub(crate) struct Digest(u64);

impl Digest {
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    pub fn number(&mut self, number: f64) {
        self.bytes(&number.to_bits().to_le_bytes());
    }

    pub fn samples(&mut self, samples: &AnySamples<'_>) {
        for i in 0..samples.nrows() {
            samples.visit_row(i, |column, value| {
                self.bytes(&(column as u64).to_le_bytes());
                self.number(value);
            });
            self.bytes(b"row");
        }
    }

    /// Samples, targets and weights.
    pub fn problem(&mut self, problem: &Problem<'_>) {
        match &problem.inputs {
            Inputs::Samples(samples) => self.samples(samples),
            Inputs::Gram(_) => {}
            Inputs::Stream(passes) => {
                let Survey { rows, targets, content, scaling, sample, .. } = passes.survey();
                self.samples(sample);
                let text = format!("{rows} {} {targets:?} {content:x} {scaling:?}", targets.len());
                self.bytes(text.as_bytes());
            }
        }
        match &problem.targets {
            Targets::None => {}
            Targets::Numbers(numbers) => numbers.entries().iter().for_each(|y| self.number(*y)),
            Targets::Classes { codes, .. } => {
                codes.iter().for_each(|code| self.bytes(&(*code as u64).to_le_bytes()));
            }
        }
        problem.weights().into_iter().flatten().for_each(|w| self.number(*w));
    }

    pub fn value(&self) -> u64 {
        self.0
    }

    /// The value as hexadecimal digits.
    pub fn finish(self) -> String {
        format!("{:016x}", self.0)
    }
}
