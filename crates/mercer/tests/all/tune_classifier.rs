//! Choosing the hyper-parameters of classifiers: scores against fits made one by one.

use mercer::data::{AnySamples, Samples};
use mercer::kernel::{Kernel, SearchSpace};
use mercer::learn::search::{Criterion, Measure, Strategy, Tunable, stratify_folds};
use mercer::learn::{LearnError, Learner, Logistic, Perceptron, Problem, Targets};
use mercer::model::probabilities;
use mercer::select::{Tune, Tuned};
use mercer::session::Session;

const ROWS: usize = 60;

fn session() -> Session<'static> {
    Session::default().with_seed(5)
}

fn samples() -> AnySamples<'static> {
    let entry = |i: usize| ((i * 7919 % 1000) as f64 / 500.0 - 1.0) * 1.5;
    AnySamples::F64(Samples::dense(ROWS, 2, (0..2 * ROWS).map(entry).collect::<Vec<f64>>()).unwrap())
}

fn codes(classes: usize) -> Vec<usize> {
    let samples = samples();
    let mut row = [0.0; 2];
    let class = |i: usize| {
        samples.copy_row(i, &mut row);
        let wave = row[0] * row[0] + row[1] + if i.is_multiple_of(9) { 1.0 } else { 0.0 };
        if wave > 0.8 { classes - 1 } else { usize::from(row[1] < -0.5) % classes }
    };
    (0..ROWS).map(class).collect()
}

fn tune<L: Tunable>(learner: L, measure: Measure) -> Tune<L> {
    Tune {
        criterion: Criterion::Folds(4),
        measure: Some(measure),
        strategy: Some(Strategy::Grid { points: 2, refinements: 0 }),
        shared: Some(SearchSpace::OneOf(vec![0.1, 3.0])),
        ..Tune::new(learner)
    }
}

fn run<L: Tunable>(tune: &Tune<L>, codes: &[usize]) -> Result<Tuned<L>, LearnError> {
    let classes = codes.iter().max().unwrap() + 1;
    tune.run(&Problem::new(samples(), Targets::codes(codes, classes.max(2))), &session())
}

fn logistic(kernel: &str) -> Logistic {
    Logistic::new(kernel.parse::<Kernel>().unwrap())
}

#[test]
fn scores_match_fits_without_the_fold() {
    let samples = samples();
    for classes in [2, 3] {
        let codes = codes(classes);
        let kernel: Kernel = "rbf(sigma=?{0.5,2})".parse().unwrap();
        for measure in [Measure::LogLoss, Measure::Wrong] {
            let mut tight = Logistic::new(kernel.clone());
            tight.tol = 1e-10;
            let tuned = run(&tune(tight, measure), &codes).unwrap();
            assert_eq!(tuned.trials.rows.len(), 4);
            let folds = stratify_folds(&codes, 4, Some(5)).unwrap();
            for trial in &tuned.trials.rows {
                let kernel = kernel.with_values(&trial.values).unwrap();
                let mut loss = 0.0;
                for fold in 0..4 {
                    let train: Vec<usize> = (0..ROWS).filter(|&i| folds[i] != fold).collect();
                    let held: Vec<usize> = (0..ROWS).filter(|&i| folds[i] == fold).collect();
                    let labels: Vec<usize> = train.iter().map(|&i| codes[i]).collect();
                    let mut one = Logistic::new(kernel.clone()).lambda(trial.setting);
                    one.tol = 1e-10;
                    let targets = Targets::codes(labels, classes);
                    let fitted = one.fit(samples.select(&train), targets).unwrap();
                    let shares = probabilities(&fitted.predict(samples.select(&held)).unwrap());
                    for (place, &i) in held.iter().enumerate() {
                        let row = shares.row(place);
                        let best = (0..classes).fold(0, |b, k| if row[k] > row[b] { k } else { b });
                        loss += match measure {
                            Measure::LogLoss => -row[codes[i]].ln(),
                            _ => f64::from(best != codes[i]),
                        };
                    }
                }
                let expected = loss / ROWS as f64;
                assert!(
                    (trial.score.unwrap() - expected).abs() < 1e-7,
                    "{} is not {expected}",
                    trial.score.unwrap()
                );
            }
            let least = tuned.trials.rows.iter().filter_map(|t| t.score).fold(f64::INFINITY, f64::min);
            assert_eq!(tuned.score, least);
        }
    }
}

#[test]
fn a_class_of_one_row_is_wrong_when_it_is_left_out() {
    let mut codes = codes(2);
    codes[17] = 2;
    let tuned = run(&tune(logistic("rbf(sigma=1)"), Measure::LogLoss), &codes).unwrap();
    // The row alone costs −log 10⁻¹⁵.
    assert!(tuned.score > 34.0 / ROWS as f64 && tuned.score < 2.0, "{}", tuned.score);
}

#[test]
fn a_weight_of_zero_takes_a_row_out_of_fits_and_scores() {
    let mut codes = codes(2);
    let weights: Vec<f64> = (0..ROWS).map(|i| f64::from(i % 5 != 0)).collect();
    let mut search = tune(logistic("rbf(sigma=1)"), Measure::LogLoss);
    search.criterion = Criterion::Given((0..ROWS).map(|i| Some(i % 3)).collect());
    let run = |codes: &[usize]| {
        let problem = Problem::new(samples(), Targets::codes(codes, 2)).weighted(Some(&weights[..]));
        search.run(&problem, &session()).unwrap().score
    };
    let score = run(&codes);
    (0..ROWS).step_by(5).for_each(|i| codes[i] = 1 - codes[i]);
    assert_eq!(score, run(&codes));
}

#[test]
fn unsupported_scores_are_refused() {
    let codes = codes(2);
    let perceptron = Perceptron::new("rbf(sigma=1)".parse::<Kernel>().unwrap());
    let unjudged = |measure| run(&tune(perceptron.clone(), measure), &codes);
    for measure in [Measure::LogLoss, Measure::SquaredError] {
        assert!(matches!(unjudged(measure), Err(LearnError::Unsupported(_))), "{measure:?}");
    }
    assert!(unjudged(Measure::Wrong).unwrap().score < 0.5);
    let many = Tune { criterion: Criterion::Folds(ROWS + 1), ..tune(perceptron.clone(), Measure::Wrong) };
    assert!(matches!(run(&many, &codes), Err(LearnError::Parameter { parameter: "folds", .. })));
    let alone = Tune { criterion: Criterion::LeaveOneOut, ..many };
    assert!(run(&alone, &codes).unwrap_err().to_string().contains("folds or held-out rows"));
    assert!(run(&tune(perceptron, Measure::Wrong), &vec![0; ROWS]).is_err());
    let problem = Problem::new(samples(), Targets::codes(&codes, 2));
    let small = session().with_memory(1 << 10);
    let tuned = tune(logistic("rbf(sigma=1)"), Measure::Wrong).run(&problem, &small);
    assert!(matches!(tuned, Err(LearnError::Memory { .. })));
}
