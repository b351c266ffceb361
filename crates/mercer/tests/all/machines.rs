//! The set-up of the tests of support vector machines.

use mercer::data::{AnySamples, Samples};
use mercer::kernel::Kernel;
use mercer::learn::svm::Machines;

/// Samples of two columns.
pub fn samples(x: &[f64]) -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(x.len() / 2, 2, x.to_vec()).unwrap())
}

/// The class with most votes at a point, the first of equals, by evaluating every machine in LIBSVM's layout.
pub fn vote(fitted: &Machines, kernel: &Kernel, x: &[f64], nclasses: usize, point: &[f64]) -> usize {
    let per_class = fitted.per_class.as_ref().unwrap();
    let starts: Vec<usize> = (0..nclasses).map(|c| per_class[..c].iter().sum()).collect();
    let (mut votes, mut pair) = (vec![0; nclasses], 0);
    for i in 0..nclasses {
        for j in i + 1..nclasses {
            let mut f = -fitted.rho[pair];
            for (class, column) in [(i, j - 1), (j, i)] {
                for s in starts[class]..starts[class] + per_class[class] {
                    let row = fitted.support[s];
                    f += fitted.coefficients.row(s)[column]
                        * kernel.eval(&x[2 * row..2 * row + 2], point).unwrap();
                }
            }
            votes[if f > 0.0 { i } else { j }] += 1;
            pair += 1;
        }
    }
    (0..nclasses).rev().max_by_key(|&c| votes[c]).unwrap()
}
