//! The perceptron against a few lines of itself, and against the theorem.

use std::sync::atomic::AtomicBool;

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::learn::{BudgetedPerceptron, LearnError, Perceptron, Rule, Standing};
use mercer::pool;
use mercer::session::Session;
use mercer::solve::Status;

/// Whole numbers from −9 to 9 that look random: products and sums of them are exact, so that dual and primal must agree
/// to the last mistake.
fn whole(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            ((state >> 11) % 19) as f64 - 9.0
        })
        .collect()
}

/// Rows of four columns, the last always 1, labelled by the largest of a few linear functions: separable.
fn separable(rows: usize, classes: usize, seed: u64) -> (Matrix<f64>, Vec<usize>) {
    let mut entries = whole(rows * 4, seed);
    entries.chunks_mut(4).for_each(|row| row[3] = 1.0);
    let planes = whole(classes * 4, seed + 50);
    let codes = entries
        .chunks(4)
        .map(|x| {
            let score = |k: usize| x.iter().zip(&planes[k * 4..]).map(|(x, w)| x * w).sum::<f64>();
            (1..classes).fold(0, |best, k| if score(k) > score(best) { k } else { best })
        })
        .collect();
    (Matrix::from_entries(rows, 4, entries), codes)
}

fn samples(features: &Matrix<f64>) -> AnySamples<'static> {
    AnySamples::F64(Samples::dense(features.nrows(), features.ncols(), features.entries().to_vec()).unwrap())
}

fn linear() -> Kernel {
    "linear".parse().unwrap()
}

fn dot(u: &[f64], v: &[f64]) -> f64 {
    u.iter().zip(v).map(|(u, v)| u * v).sum()
}

/// The algorithm as books have it, on explicit features, one w per class: the rows mistaken, in order, and every w after
/// each visit.
fn reference(
    x: &Matrix<f64>,
    codes: &[usize],
    classes: usize,
    rule: Rule,
    passes: usize,
) -> (Vec<usize>, Vec<Matrix<f64>>) {
    let outputs = if classes == 2 { 1 } else { classes };
    let (mut w, mut mistaken, mut stood) = (Matrix::zeros(outputs, x.ncols()), Vec::new(), Vec::new());
    for _ in 0..passes {
        let before = mistaken.len();
        for i in 0..x.nrows() {
            let f: Vec<f64> = (0..outputs).map(|k| dot(w.row(k), x.row(i))).collect();
            let own = codes[i];
            let signs: Vec<f64> = if outputs == 1 {
                vec![if (if own == 1 { f[0] } else { -f[0] }) <= 0.0 { own as f64 * 2.0 - 1.0 } else { 0.0 }]
            } else if rule == Rule::OneVsRest {
                (0..outputs)
                    .map(|k| if k == own { f64::from(f[k] <= 0.0) } else { -f64::from(f[k] >= 0.0) })
                    .collect()
            } else {
                let others = (0..outputs).filter(|&k| k != own);
                let best = others.rev().max_by(|&a, &b| f[a].partial_cmp(&f[b]).unwrap()).unwrap();
                let wrong = f64::from(f[own] <= f[best]);
                (0..outputs)
                    .map(|k| {
                        if k == own {
                            wrong
                        } else if k == best {
                            -wrong
                        } else {
                            0.0
                        }
                    })
                    .collect()
            };
            if signs.iter().any(|s| *s != 0.0) {
                mistaken.push(i);
            }
            (0..outputs)
                .for_each(|k| w.row_mut(k).iter_mut().zip(x.row(i)).for_each(|(w, x)| *w += signs[k] * x));
            stood.push(w.clone());
        }
        if mistaken.len() == before {
            break;
        }
    }
    (mistaken, stood)
}

fn plain(rule: Rule, standing: Standing) -> Perceptron {
    Perceptron { shuffle: None, passes: 2_000, rule, standing, ..Perceptron::new(linear()) }
}

#[test]
fn dual_primal_and_the_book_make_the_same_mistakes_in_the_same_order() {
    for (classes, rule) in [(2, Rule::Direct), (3, Rule::Direct), (4, Rule::Direct), (3, Rule::OneVsRest)] {
        for seed in 1..5 {
            let (x, codes) = separable(60, classes, seed);
            let codes_present = (0..classes).all(|k| codes.contains(&k));
            if !codes_present {
                continue;
            }
            let perceptron = plain(rule, Standing::Last);
            let (mistaken, stood) = reference(&x, &codes, classes, rule, perceptron.passes);
            let (model, dual) = perceptron.fit(&samples(&x), &codes, classes, &Session::default()).unwrap();
            let primal = perceptron.fit_features(&x, &codes, classes, &Session::default()).unwrap();
            assert_eq!(dual.mistaken, mistaken);
            assert_eq!(primal.report, dual);
            let f = model.predict(&samples(&x), &Session::default()).unwrap();
            let last = stood.last().unwrap();
            for i in 0..60 {
                for k in 0..f.ncols() {
                    assert_eq!(f.row(i)[k], dot(last.row(k), x.row(i)));
                }
            }
            for j in 0..4 {
                (0..f.ncols()).for_each(|k| assert_eq!(primal.weights.row(j)[k], last.row(k)[j]));
            }
        }
    }
}

#[test]
fn mistakes_stay_within_novikoffs_bound() {
    for (classes, rule) in [(2, Rule::Direct), (3, Rule::Direct)] {
        for seed in 1..6 {
            let (x, codes) = separable(80, classes, seed);
            let perceptron = Perceptron { shuffle: Some(seed), ..plain(rule, Standing::Last) };
            let Ok((model, report)) = perceptron.fit(&samples(&x), &codes, classes, &Session::default())
            else {
                continue;
            };
            assert_eq!(report.status, Status::Converged);
            let (margin, bound) = (report.margin.unwrap(), report.bound.unwrap());
            assert!(margin > 0.0 && report.mistakes as f64 <= bound, "{} > {bound}", report.mistakes);
            let radius = (0..80).map(|i| dot(x.row(i), x.row(i))).fold(0.0, f64::max).sqrt();
            assert!((report.radius - radius).abs() < 1e-12 * radius);
            // The margin again, from the weights: w = Σ aᵢxᵢ.
            let outputs = model.noutputs();
            let mut w = Matrix::zeros(outputs, 4);
            let mut centre = [0.0; 4];
            for i in 0..model.centres.nrows() {
                model.centres.copy_row(i, &mut centre);
                for k in 0..outputs {
                    let a = model.coefficients.row(i)[k];
                    w.row_mut(k).iter_mut().zip(&centre).for_each(|(w, x)| *w += a * x);
                }
            }
            let length = dot(w.entries(), w.entries()).sqrt();
            let smallest = (0..80)
                .map(|i| {
                    let f: Vec<f64> = (0..outputs).map(|k| dot(w.row(k), x.row(i))).collect();
                    let own = codes[i];
                    if outputs == 1 {
                        return if own == 1 { f[0] } else { -f[0] };
                    }
                    let others = (0..outputs).filter(|&k| k != own).map(|k| f[k]);
                    f[own] - others.fold(f64::MIN, f64::max)
                })
                .fold(f64::INFINITY, f64::min);
            assert!((margin - smallest / length).abs() < 1e-9 * margin);
        }
    }
}

#[test]
fn the_average_is_of_the_functions_after_each_visit() {
    let (x, mut codes) = separable(40, 3, 2);
    codes[5] = (codes[5] + 1) % 3;
    for rule in [Rule::Direct, Rule::OneVsRest] {
        let perceptron = Perceptron { passes: 4, ..plain(rule, Standing::Averaged) };
        let (_, stood) = reference(&x, &codes, 3, rule, 4);
        let (model, report) = perceptron.fit(&samples(&x), &codes, 3, &Session::default()).unwrap();
        assert_eq!((report.status, report.margin, report.bound), (Status::OutOfIterations, None, None));
        let f = model.predict(&samples(&x), &Session::default()).unwrap();
        let primal = perceptron.fit_features(&x, &codes, 3, &Session::default()).unwrap();
        for k in 0..3 {
            for j in 0..4 {
                let mean = stood.iter().map(|w| w.row(k)[j]).sum::<f64>() / stood.len() as f64;
                assert!((primal.weights.row(j)[k] - mean).abs() < 1e-10);
            }
            for i in 0..40 {
                let mean = stood.iter().map(|w| dot(w.row(k), x.row(i))).sum::<f64>() / stood.len() as f64;
                assert!((f.row(i)[k] - mean).abs() < 1e-9 * (1.0 + mean.abs()));
            }
        }
    }
}

#[test]
fn votes_are_those_of_the_functions_after_each_visit() {
    for classes in [2, 3] {
        let (x, codes) = separable(40, classes, 3);
        let perceptron = Perceptron { passes: 3, ..plain(Rule::Direct, Standing::Last) };
        let (_, stood) = reference(&x, &codes, classes, Rule::Direct, 3);
        let (model, _) = perceptron.fit_voted(&samples(&x), &codes, classes, &Session::default()).unwrap();
        let votes = model.predict(&samples(&x), &Session::default()).unwrap();
        for i in 0..40 {
            let mut expected = vec![0.0; classes];
            for w in &stood {
                let f: Vec<f64> = (0..w.nrows()).map(|k| dot(w.row(k), x.row(i))).collect();
                let winner = if classes == 2 {
                    usize::from(f[0] > 0.0)
                } else {
                    (1..classes).fold(0, |best, k| if f[k] > f[best] { k } else { best })
                };
                expected[winner] += 1.0 / stood.len() as f64;
            }
            for (found, expected) in votes.row(i).iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-12, "row {i}");
            }
        }
    }
}

#[test]
fn a_kernel_separates_what_no_line_does() {
    // The corners of a square, crosswise.
    let x = Matrix::from_entries(4, 2, vec![-1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0]);
    let codes = [0, 0, 1, 1];
    let line = Perceptron { passes: 50, ..Perceptron::new("linear + 1".parse().unwrap()) };
    let (_, report) = line.fit(&samples(&x), &codes, 2, &Session::default()).unwrap();
    assert_eq!((report.status, report.passes), (Status::OutOfIterations, 50));
    let curve = Perceptron { kernel: "(<x,z>+1)^2".parse().unwrap(), ..line };
    let (model, report) = curve.fit(&samples(&x), &codes, 2, &Session::default()).unwrap();
    assert_eq!(report.status, Status::Converged);
    let f = model.predict(&samples(&x), &Session::default()).unwrap();
    assert!((0..4).all(|i| (f.row(i)[0] > 0.0) == (codes[i] == 1)));
}

#[test]
fn neither_the_memory_nor_the_threads_change_the_answer() {
    let (x, codes) = separable(90, 3, 4);
    let perceptron =
        Perceptron { kernel: "rbf(sigma=8)".parse().unwrap(), passes: 20, ..Perceptron::new(linear()) };
    let fit_in = |perceptron: &Perceptron, threads, session: &Session<'_>| {
        pool::with(Some(threads), || perceptron.fit(&samples(&x), &codes, 3, session).unwrap())
    };
    let fit = |perceptron: &Perceptron, threads| fit_in(perceptron, threads, &Session::default());
    let expected = fit(&perceptron, 1);
    assert!(expected == fit(&perceptron, 3));
    assert!(expected == fit_in(&perceptron, 2, &Session::default().with_memory(0)));
    let other = fit(&Perceptron { shuffle: Some(1), ..perceptron }, 1);
    assert_ne!(expected.1.mistaken, other.1.mistaken, "another seed, another order");
}

#[test]
fn a_budget_that_is_not_reached_changes_nothing() {
    let (x, codes) = separable(60, 3, 5);
    let kernel: Kernel = "rbf(sigma=4)".parse().unwrap();
    let perceptron = Perceptron { kernel: kernel.clone(), passes: 1, ..plain(Rule::Direct, Standing::Last) };
    let (model, report) = perceptron.fit(&samples(&x), &codes, 3, &Session::default()).unwrap();
    let mut stream = BudgetedPerceptron::new(kernel, 4, 3, Rule::Direct, 1_000).unwrap();
    let wrong: Vec<usize> = (0..60).filter(|&i| stream.update(x.row(i), codes[i]).unwrap()).collect();
    assert_eq!(wrong, report.mistaken);
    assert_eq!((stream.seen(), stream.mistakes() as usize), (60, report.mistakes));
    let (expected, found) = (
        model.predict(&samples(&x), &Session::default()).unwrap(),
        stream.expansion().unwrap().predict(&samples(&x), &Session::default()).unwrap(),
    );
    for (e, f) in expected.entries().iter().zip(found.entries()) {
        assert!((e - f).abs() < 1e-6, "{e} {f}");
    }
}

#[test]
fn within_its_budget_a_stream_is_still_learnt() {
    let (x, codes) = separable(400, 2, 6);
    let kernel: Kernel = "linear".parse().unwrap();
    let mut stream = BudgetedPerceptron::new(kernel, 4, 2, Rule::Direct, 10).unwrap();
    for _ in 0..30 {
        for i in 0..400 {
            stream.update(x.row(i), codes[i]).unwrap();
            assert!(stream.ncentres() <= 10);
        }
    }
    // Four columns: four centres span every linear function, so nothing is ever lost.
    assert_eq!(stream.ncentres(), 4);
    let wrong = (0..400).filter(|&i| (stream.decide(x.row(i)).unwrap()[0] > 0.0) != (codes[i] == 1)).count();
    assert!(wrong <= 8, "{wrong} of 400 are wrong");

    let kernel: Kernel = "rbf(sigma=6)".parse().unwrap();
    let mut stream = BudgetedPerceptron::new(kernel, 4, 2, Rule::Direct, 25).unwrap();
    for _ in 0..10 {
        for i in 0..400 {
            stream.update(x.row(i), codes[i]).unwrap();
        }
    }
    assert_eq!(stream.ncentres(), 25);
    let wrong = (0..400).filter(|&i| (stream.decide(x.row(i)).unwrap()[0] > 0.0) != (codes[i] == 1)).count();
    assert!(wrong <= 60, "{wrong} of 400 are wrong");
}

#[test]
fn says_what_is_wrong_with_its_input() {
    let (x, codes) = separable(20, 2, 7);
    let perceptron = Perceptron::new(linear());
    let fit = |codes: &[usize], classes| {
        perceptron.fit(&samples(&x), codes, classes, &Session::default()).unwrap_err()
    };
    assert_eq!(fit(&[0; 20], 2), LearnError::Classes { found: 1 });
    assert_eq!(fit(&[0; 19], 2), LearnError::Length { what: "class labels", rows: 20, found: 19 });
    assert_eq!(fit(&[7; 20], 2), LearnError::Code { row: 0, code: 7, classes: 2 });
    let none = Perceptron { passes: 0, ..perceptron.clone() };
    assert!(
        none.fit(&samples(&x), &codes, 2, &Session::default()).unwrap_err().to_string().contains("passes")
    );
    let gram = DenseGram::<f64>::new(2, vec![1.0, f64::INFINITY, f64::INFINITY, 1.0]);
    let error = perceptron.fit_gram(&gram, &[0, 1], 2, &Session::default()).unwrap_err();
    assert!(matches!(error, LearnError::KernelValue { .. }));
    let features = Matrix::from_entries(2, 1, vec![1.0, f64::NAN]);
    let error = perceptron.fit_features(&features, &[0, 1], 2, &Session::default()).unwrap_err();
    assert!(matches!(error, LearnError::NonFinite { what: "feature", row: 1, .. }));
    let mut stream = BudgetedPerceptron::new(linear(), 2, 2, Rule::Direct, 3).unwrap();
    assert!(stream.update(&[1.0], 0).is_err() && stream.update(&[1.0, 1.0], 2).is_err());
    assert!(stream.expansion().is_err());
    assert!(BudgetedPerceptron::new(linear(), 2, 2, Rule::Direct, 0).is_err());
}

#[test]
fn stops_when_asked() {
    let (x, codes) = separable(30, 2, 8);
    let stop = AtomicBool::new(true);
    let error = Perceptron::new(linear())
        .fit(&samples(&x), &codes, 2, &Session::default().with_watch(&stop))
        .unwrap_err();
    assert!(error.is_stop());
}
