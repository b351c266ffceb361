//! The perceptron against a few lines of itself, and against the theorem.

use std::sync::atomic::AtomicBool;

use mercer::data::{AnySamples, Matrix, Samples};
use mercer::design::FeatureMap;
use mercer::gram::DenseGram;
use mercer::kernel::Kernel;
use mercer::learn::{
    BudgetedPerceptron, Fitted, Inputs, LearnError, Learner, Perceptron, Problem, Rule, Targets,
};
use mercer::model::{Expansion, Predictor};
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

fn plain(rule: Rule, averaged: bool) -> Perceptron {
    Perceptron::new(linear()).shuffle(false).passes(2_000).rule(rule).averaged(averaged)
}

fn fit(
    perceptron: &Perceptron,
    x: &Matrix<f64>,
    codes: &[usize],
    classes: usize,
) -> Result<Fitted, LearnError> {
    perceptron.fit(x, Targets::codes(codes, classes))
}

fn status(fitted: &Fitted) -> Status {
    fitted.report.as_ref().unwrap().status
}

fn fact(fitted: &Fitted, name: &str) -> Option<f64> {
    fitted.facts.number(name)
}

fn expansion(fitted: &Fitted) -> &Expansion {
    let Predictor::Expansion(expansion) = &fitted.model.predictor else { panic!("an expansion") };
    expansion
}

/// The same perceptron on the columns themselves as features.
fn on_columns(perceptron: &Perceptron) -> Perceptron {
    perceptron.clone().lift("x0, x1, x2, x3".parse::<FeatureMap>().unwrap().into())
}

/// One row per feature, one column per output.
fn weights(fitted: &Fitted) -> &Matrix<f64> {
    let Predictor::Linear(linear) = &fitted.model.predictor else { panic!("linear in features") };
    &linear.weights
}

/// The rows mistaken, in order: a step of a vote with its votes ends each mistake.
fn mistaken(perceptron: &Perceptron, x: &Matrix<f64>, codes: &[usize], classes: usize) -> Vec<usize> {
    let fitted = fit(&perceptron.clone().vote(true), x, codes, classes).unwrap();
    let Predictor::Voted(voted) = &fitted.model.predictor else { panic!("votes") };
    let centres = fitted.centres.as_ref().unwrap();
    let last = voted.steps.iter().filter(|step| step.votes > 0);
    last.map(|step| centres[step.centre as usize]).collect()
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
            let perceptron = plain(rule, false);
            let (mistaken, stood) = reference(&x, &codes, classes, rule, perceptron.passes);
            let dual = fit(&perceptron, &x, &codes, classes).unwrap();
            let primal = fit(&on_columns(&perceptron), &x, &codes, classes).unwrap();
            assert_eq!(crate::perceptron::mistaken(&perceptron, &x, &codes, classes), mistaken);
            assert_eq!((&primal.report, &primal.facts), (&dual.report, &dual.facts));
            let f = dual.predict(samples(&x)).unwrap();
            let last = stood.last().unwrap();
            for i in 0..60 {
                for k in 0..f.ncols() {
                    assert_eq!(f.row(i)[k], dot(last.row(k), x.row(i)));
                }
            }
            for j in 0..4 {
                (0..f.ncols()).for_each(|k| assert_eq!(weights(&primal).row(j)[k], last.row(k)[j]));
            }
        }
    }
}

#[test]
fn mistakes_stay_within_novikoffs_bound() {
    for (classes, rule) in [(2, Rule::Direct), (3, Rule::Direct)] {
        for seed in 1..6 {
            let (x, codes) = separable(80, classes, seed);
            let perceptron = plain(rule, false).shuffle(true);
            let problem = Problem::new(&x, Targets::codes(&codes[..], classes));
            let Ok(fitted) = perceptron.train(&problem, &Session::default().with_seed(seed)) else {
                continue;
            };
            assert_eq!(status(&fitted), Status::Converged);
            let (margin, bound) = (fact(&fitted, "margin").unwrap(), fact(&fitted, "mistake_bound").unwrap());
            let mistakes = fact(&fitted, "mistakes").unwrap();
            assert!(margin > 0.0 && mistakes <= bound, "{mistakes} > {bound}");
            let radius = (0..80).map(|i| dot(x.row(i), x.row(i))).fold(0.0, f64::max).sqrt();
            assert!((fact(&fitted, "radius").unwrap() - radius).abs() < 1e-12 * radius);
            let model = expansion(&fitted);
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
        let perceptron = plain(rule, true).passes(4);
        let (_, stood) = reference(&x, &codes, 3, rule, 4);
        let dual = fit(&perceptron, &x, &codes, 3).unwrap();
        let known = (fact(&dual, "margin"), fact(&dual, "mistake_bound"));
        assert_eq!((status(&dual), known), (Status::OutOfIterations, (None, None)));
        let f = dual.predict(samples(&x)).unwrap();
        let primal = fit(&on_columns(&perceptron), &x, &codes, 3).unwrap();
        for k in 0..3 {
            for j in 0..4 {
                let mean = stood.iter().map(|w| w.row(k)[j]).sum::<f64>() / stood.len() as f64;
                assert!((weights(&primal).row(j)[k] - mean).abs() < 1e-10);
            }
            for i in 0..40 {
                let mean = stood.iter().map(|w| dot(w.row(k), x.row(i))).sum::<f64>() / stood.len() as f64;
                assert!((f.row(i)[k] - mean).abs() < 1e-9 * (1.0 + mean.abs()));
            }
        }
    }
}

#[test]
fn votes_match_the_functions_after_each_visit() {
    for classes in [2, 3] {
        let (x, codes) = separable(40, classes, 3);
        let perceptron = plain(Rule::Direct, false).passes(3).vote(true);
        let (_, stood) = reference(&x, &codes, classes, Rule::Direct, 3);
        let votes = fit(&perceptron, &x, &codes, classes).unwrap().predict(samples(&x)).unwrap();
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
fn a_kernel_separates_classes_that_no_line_separates() {
    // The corners of a square, crosswise.
    let x = Matrix::from_entries(4, 2, vec![-1.0, -1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0]);
    let codes = [0, 0, 1, 1];
    let kernel = |text: &str| text.parse::<Kernel>().unwrap();
    let line = fit(&Perceptron::new(kernel("linear + 1")).passes(50), &x, &codes, 2).unwrap();
    assert_eq!((status(&line), fact(&line, "passes")), (Status::OutOfIterations, Some(50.0)));
    let curve = fit(&Perceptron::new(kernel("(<x,z>+1)^2")).passes(50), &x, &codes, 2).unwrap();
    assert_eq!(status(&curve), Status::Converged);
    let f = curve.predict(samples(&x)).unwrap();
    assert!((0..4).all(|i| (f.row(i)[0] > 0.0) == (codes[i] == 1)));
}

#[test]
fn neither_the_memory_nor_the_threads_change_the_answer() {
    let (x, codes) = separable(90, 3, 4);
    let perceptron = Perceptron::new("rbf(sigma=8)".parse::<Kernel>().unwrap()).passes(20);
    let problem = Problem::new(&x, Targets::codes(&codes[..], 3));
    let fit = |session: &Session<'_>, threads| {
        pool::with(Some(threads), || perceptron.train(&problem, session).unwrap())
    };
    let session = Session::default();
    let expected = fit(&session, 1);
    assert!(expected == fit(&session, 3));
    assert!(expected == fit(&session.with_memory(0), 2));
    let other = fit(&session.with_seed(1), 1);
    assert_ne!(expected.model.predictor, other.model.predictor, "another seed, another order");
}

#[test]
fn a_budget_that_is_not_reached_changes_nothing() {
    let (x, codes) = separable(60, 3, 5);
    let kernel: Kernel = "rbf(sigma=4)".parse().unwrap();
    let perceptron = plain(Rule::Direct, false).lift(kernel.clone().into()).passes(1);
    let fitted = fit(&perceptron, &x, &codes, 3).unwrap();
    let mut stream = BudgetedPerceptron::new(kernel, 4, 3, Rule::Direct, 1_000).unwrap();
    let wrong: Vec<usize> = (0..60).filter(|&i| stream.update(x.row(i), codes[i]).unwrap()).collect();
    assert_eq!(wrong, mistaken(&perceptron, &x, &codes, 3));
    assert_eq!((stream.seen(), Some(stream.mistakes() as f64)), (60, fact(&fitted, "mistakes")));
    let session = Session::default();
    let budgeted = fit(&perceptron.budget(Some(1_000)), &x, &codes, 3).unwrap();
    assert_eq!(budgeted.facts.number("mistakes"), fitted.facts.number("mistakes"));
    let expected = fitted.predict(samples(&x)).unwrap();
    let streamed = stream.expansion().unwrap().predict(&samples(&x), &session).unwrap();
    for found in [streamed, budgeted.predict(samples(&x)).unwrap()] {
        for (e, f) in expected.entries().iter().zip(found.entries()) {
            assert!((e - f).abs() < 1e-6, "{e} {f}");
        }
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
fn invalid_input_is_reported() {
    let (x, codes) = separable(20, 2, 7);
    let perceptron = Perceptron::new(linear());
    let wrong = |codes: &[usize]| fit(&perceptron, &x, codes, 2).unwrap_err();
    assert_eq!(wrong(&[0; 20]), LearnError::Classes { found: 1 });
    assert_eq!(wrong(&[0; 19]), LearnError::Length { what: "class labels", rows: 20, found: 19 });
    assert_eq!(wrong(&[7; 20]), LearnError::Code { row: 0, code: 7, classes: 2 });
    let none = perceptron.clone().passes(0);
    assert!(fit(&none, &x, &codes, 2).unwrap_err().to_string().contains("passes"));
    let both = perceptron.clone().vote(true).budget(Some(3));
    assert!(matches!(fit(&both, &x, &codes, 2), Err(LearnError::Unsupported(_))));
    let gram = DenseGram::<f64>::new(2, vec![1.0, f64::INFINITY, f64::INFINITY, 1.0]);
    let error = perceptron.fit(Inputs::Gram(&gram), Targets::codes(vec![0, 1], 2)).unwrap_err();
    assert!(matches!(error, LearnError::KernelValue { .. }));
    let infinite = Perceptron::on("exp(1000*x0)".parse::<FeatureMap>().unwrap());
    let error = fit(&infinite, &Matrix::from_entries(2, 1, vec![-1.0, 1.0]), &[0, 1], 2).unwrap_err();
    assert!(error.to_string().contains("row 1"), "{error}");
    let mut stream = BudgetedPerceptron::new(linear(), 2, 2, Rule::Direct, 3).unwrap();
    assert!(stream.update(&[1.0], 0).is_err() && stream.update(&[1.0, 1.0], 2).is_err());
    assert!(stream.expansion().is_err());
    assert!(BudgetedPerceptron::new(linear(), 2, 2, Rule::Direct, 0).is_err());
}

#[test]
fn stops_when_asked() {
    let (x, codes) = separable(30, 2, 8);
    let stop = AtomicBool::new(true);
    let session = Session::default().with_watch(&stop);
    let problem = Problem::new(&x, Targets::codes(codes, 2));
    assert!(Perceptron::new(linear()).train(&problem, &session).unwrap_err().is_stop());
}
