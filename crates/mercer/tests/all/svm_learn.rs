//! Support vector machines as learners: the layout of their answers and what they say of new points.

use mercer::data::{AnySamples, Samples};
use mercer::kernel::Kernel;
use mercer::learn::svm::{NuSvc, NuSvr, OneClass, OneVsOne, Svc, Svr};
use mercer::pool;
use mercer::session::Session;

/// Three clusters of twelve points around (0, 0), (4, 0) and (0, 4), in turns.
fn clusters() -> (Vec<f64>, Vec<usize>) {
    let codes: Vec<usize> = (0..36).map(|i| i % 3).collect();
    let x = (0..36).flat_map(|i| {
        let (a, r) = (i as f64 * 2.4, 0.3 + 0.02 * i as f64);
        [[0.0, 4.0, 0.0][i % 3] + r * a.cos(), [0.0, 0.0, 4.0][i % 3] + r * a.sin()]
    });
    (x.collect(), codes)
}

fn samples(x: &[f64]) -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(x.len() / 2, 2, x.to_vec()).unwrap())
}

fn kernel() -> Kernel {
    "rbf(gamma=0.5)".parse().unwrap()
}

/// The class with most votes at `point`, from LIBSVM's layout.
fn vote(fitted: &OneVsOne, x: &[f64], nclasses: usize, point: &[f64]) -> usize {
    let starts: Vec<usize> = (0..nclasses).map(|c| fitted.per_class[..c].iter().sum()).collect();
    let (mut votes, mut pair) = (vec![0; nclasses], 0);
    for i in 0..nclasses {
        for j in i + 1..nclasses {
            let mut f = -fitted.rho[pair];
            for (class, column) in [(i, j - 1), (j, i)] {
                for s in starts[class]..starts[class] + fitted.per_class[class] {
                    let row = fitted.support[s];
                    f += fitted.coefficients.row(s)[column]
                        * kernel().eval(&x[2 * row..2 * row + 2], point).unwrap();
                }
            }
            votes[if f > 0.0 { i } else { j }] += 1;
            pair += 1;
        }
    }
    (0..nclasses).rev().max_by_key(|&c| votes[c]).unwrap()
}

#[test]
fn classes_are_told_apart_by_the_compact_layout() {
    let (x, codes) = clusters();
    let by_c = Svc::new(kernel(), 10.0).fit(&samples(&x), &codes, 3, None, &Session::default()).unwrap();
    let by_nu = NuSvc::new(kernel(), 0.2).fit(&samples(&x), &codes, 3, None, &Session::default()).unwrap();
    for fitted in [by_c, by_nu] {
        assert_eq!(fitted.support.len(), fitted.per_class.iter().sum::<usize>());
        assert_eq!((fitted.rho.len(), fitted.coefficients.ncols()), (3, 2));
        for (i, point) in x.chunks_exact(2).enumerate() {
            assert_eq!(vote(&fitted, &x, 3, point), codes[i]);
        }
    }
}

#[test]
fn pairs_in_parallel_give_the_same_bits() {
    let (x, codes) = clusters();
    let run = |threads| {
        pool::with(Some(threads), || {
            Svc::new(kernel(), 1.0).fit(&samples(&x), &codes, 3, None, &Session::default()).unwrap()
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(3));
}

#[test]
fn a_weight_counts_as_copies_do() {
    let (x, codes) = clusters();
    let weights: Vec<f64> = (0..36).map(|i| if i % 5 == 0 { 2.0 } else { 1.0 }).collect();
    let copies: Vec<usize> = (0..36).chain((0..36).step_by(5)).collect();
    let twice: Vec<f64> = copies.iter().flat_map(|&i| [x[2 * i], x[2 * i + 1]]).collect();
    let twice_codes: Vec<usize> = copies.iter().map(|&i| codes[i]).collect();
    let mut machine = Svc::new(kernel(), 0.3);
    machine.settings.tol = 1e-8;
    let weighted = machine.fit(&samples(&x), &codes, 3, Some(&weights), &Session::default()).unwrap();
    let copied = machine.fit(&samples(&twice), &twice_codes, 3, None, &Session::default()).unwrap();
    for (a, b) in weighted.reports.iter().zip(&copied.reports) {
        assert!((a.objective - b.objective).abs() < 1e-6 * (1.0 + b.objective.abs()), "{a:?} {b:?}");
    }
}

#[test]
fn regression_stays_in_its_tube() {
    let x: Vec<f64> = (0..40).flat_map(|i| [f64::from(i) / 10.0, 0.0]).collect();
    let z: Vec<f64> = x.chunks_exact(2).map(|p| p[0].sin()).collect();
    let at = |support: &[usize], coefficients: &[f64], rho: f64, point: &[f64]| {
        let terms = support.iter().zip(coefficients);
        terms.map(|(&s, a)| a * kernel().eval(&x[2 * s..2 * s + 2], point).unwrap()).sum::<f64>() - rho
    };
    let fitted = Svr::new(kernel(), 1e3, 0.1).fit(&samples(&x), &z, None, &Session::default()).unwrap();
    let (tube, epsilon) =
        NuSvr::new(kernel(), 1e3, 0.2).fit(&samples(&x), &z, None, &Session::default()).unwrap();
    assert!(epsilon > -1e-3, "ε = {epsilon}");
    for (point, z) in x.chunks_exact(2).zip(&z) {
        let f = at(&fitted.support, &fitted.coefficients, fitted.rho, point);
        assert!((f - z).abs() < 0.1 + 2e-3, "{f} at {point:?} is not {z}");
        let f = at(&tube.support, &tube.coefficients, tube.rho, point);
        assert!((f - z).abs() < epsilon.max(0.0) + 0.1, "{f} at {point:?} is not {z}");
    }
}

#[test]
fn one_class_leaves_a_part_outside() {
    let (x, _) = clusters();
    let fitted = OneClass::new(kernel(), 0.25).fit(&samples(&x), None, &Session::default()).unwrap();
    let outside = x.chunks_exact(2).filter(|point| {
        let terms = fitted.support.iter().zip(&fitted.coefficients);
        let f: f64 = terms.map(|(&s, a)| a * kernel().eval(&x[2 * s..2 * s + 2], point).unwrap()).sum();
        f - fitted.rho < -1e-3
    });
    let count = outside.count();
    assert!((1..=9).contains(&count), "{count} of 36 outside for ν = ¼");
    assert!(fitted.support.len() >= 9);
}
