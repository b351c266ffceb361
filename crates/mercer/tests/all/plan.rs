//! Plans: their choices, their text, and the direction in which their numbers change.

use std::sync::atomic::AtomicBool;

use mercer::data::{AnySamples, Samples};
use mercer::kernel::Kernel;
use mercer::learn::cost::{Algorithm, Size, Task};
use mercer::real::Precision;
use mercer::select::plan::{Candidate, Plan, PlanError};
use mercer::session::Session;

const RIDGE: Task = Task::Ridge { lambda: 1.0, features: None };

fn shape(rows: usize, columns: usize) -> Size {
    Size { rows, columns, targets: 1, dtype: Precision::Double }
}

fn kernel(text: &str) -> Kernel {
    text.parse().unwrap()
}

fn plan(task: Task, rows: usize, budget: u64) -> Plan {
    Plan::for_shape(task, &kernel("rbf(sigma=1)"), shape(rows, 5), &Session::default().with_memory(budget))
        .unwrap()
}

fn candidates(plan: &Plan) -> Vec<&Candidate> {
    std::iter::once(&plan.chosen).chain(&plan.alternatives).collect()
}

#[test]
fn conjugate_gradients_store_the_matrix_in_16_bits_if_it_fits() {
    let cg = |budget: u64| {
        let plan = plan(RIDGE, 40_000, budget);
        let cg = candidates(&plan)
            .into_iter()
            .find(|c| c.algorithm == Algorithm::ConjugateGradients)
            .unwrap()
            .clone();
        assert!(cg.fits, "{plan}");
        cg
    };
    let (stored, tiled) = (cg(4_000_000_000), cg(1_000_000_000));
    // n² bytes, and a few at the edges.
    assert!((1_600_000_000..1_640_000_000).contains(&(stored.memory - tiled.memory)), "{stored:?} {tiled:?}");
    let stages = |c: &Candidate| c.stages.iter().map(|stage| stage.name).collect::<Vec<_>>();
    assert_eq!(stages(&stored), ["preconditioner", "kernel matrix in 16 bits", "estimated number of steps"]);
    assert_eq!(stages(&tiled), ["preconditioner", "estimated number of steps"]);
}

#[test]
fn more_rows_cost_more() {
    let tasks = [
        Task::Gram,
        RIDGE,
        Task::RidgeFeatures { features: 50 },
        Task::Lms { epochs: 10, stochastic: false, features: None },
        Task::Lms { epochs: 10, stochastic: true, features: None },
        Task::TuneRidge { kernels: 10, lambdas: 20 },
        Task::Predict { queries: 100_000 },
        Task::Smoother { queries: 100_000 },
        Task::Neighbours { queries: 100_000, k: 7 },
    ];
    for task in tasks {
        let (small, large) = (plan(task, 1_000, u64::MAX), plan(task, 900_000, u64::MAX));
        assert!(small.chosen.seconds() > 0.0);
        // At least nine hundred times the work; each plan measures for itself, so most of that is left to noise.
        assert!(large.chosen.seconds() > 3.0 * small.chosen.seconds(), "{small}\n{large}");
        assert!(large.chosen.memory > small.chosen.memory);
        for plan in [&small, &large] {
            assert!(candidates(plan).iter().all(|c| c.seconds().is_finite() && c.fits), "{plan}");
            assert!(plan.alternatives.windows(2).all(|w| w[0].seconds() <= w[1].seconds()), "{plan}");
        }
    }
}

#[test]
fn the_budget_is_respected() {
    let n = 20_000;
    let double = (n * n * 8) as u64;
    let roomy = plan(RIDGE, n, 10 * double);
    assert_eq!(roomy.chosen.algorithm, Algorithm::DualMixed, "{roomy}");
    assert!(
        roomy.reasons.iter().any(|r| r.contains("20,000") && r.contains("3.2 GB of the 32.0 GB")),
        "{roomy}"
    );
    let tight = plan(RIDGE, n, double * 6 / 10);
    assert!(tight.chosen.algorithm == Algorithm::DualMixed && tight.chosen.fits, "{tight}");
    let no = plan(RIDGE, n, 1_000_000);
    assert!(!no.chosen.fits && no.to_string().contains("over the budget"), "{no}");
    let features = Task::Ridge { lambda: 1.0, features: Some(165) };
    let primal = plan(features, n, 100_000_000);
    assert_eq!(primal.chosen.algorithm, Algorithm::Primal { features: 165 }, "{primal}");
    assert!(primal.reasons.iter().any(|r| r.contains("features 165 < rows 20,000: primal is")), "{primal}");
    let lms = Task::Lms { epochs: 100, stochastic: false, features: None };
    assert_eq!(plan(lms, n, 2 * double).chosen.algorithm, Algorithm::Stored);
    let tiled = plan(lms, n, 100_000_000);
    assert!(tiled.chosen.algorithm == Algorithm::Tiled && tiled.chosen.fits, "{tiled}");
}

#[test]
fn more_features_than_rows_are_left_to_the_dual() {
    let task = Task::Ridge { lambda: 1.0, features: Some(1_000_000) };
    let plan = plan(task, 2_000, u64::MAX);
    assert!(matches!(plan.chosen.algorithm, Algorithm::DualDouble | Algorithm::DualMixed), "{plan}");
    assert!(plan.reasons.iter().any(|r| r.contains("dual is")), "{plan}");
}

#[test]
fn single_precision_is_for_well_posed_problems() {
    let hard = plan(Task::Ridge { lambda: 1e-9, features: None }, 5_000, u64::MAX);
    assert_eq!(hard.chosen.algorithm, Algorithm::DualDouble, "{hard}");
    assert!(hard.to_string().contains("not exact enough"), "{hard}");
    let small = plan(RIDGE, 500, u64::MAX);
    assert_eq!(candidates(&small).len(), 1, "{small}");
}

#[test]
fn any_shape_has_a_plan() {
    for (rows, columns) in [(1, 1), (2, 3), (300, 100_000)] {
        let shape = shape(rows, columns);
        for task in [RIDGE, Task::Neighbours { queries: 1, k: 1 }] {
            let plan = Plan::for_shape(task, &kernel("rbf(sigma=1)"), shape, &Session::default()).unwrap();
            assert!(plan.chosen.seconds() > 0.0);
        }
    }
    let single = Size { dtype: Precision::Single, ..shape(1_000, 4) };
    let open = "rbf(sigma=auto) + matern(nu=?, length=?)";
    let tune = Task::TuneRidge { kernels: 10, lambdas: 10 };
    assert_eq!(
        Plan::for_shape(tune, &kernel(open), single, &Session::default()).unwrap().kernel,
        kernel(open)
    );
    assert!(Plan::for_shape(Task::Gram, &kernel("linear[0..4]"), single, &Session::default()).is_ok());
}

#[test]
fn costs_are_measured_on_the_samples() {
    let n = 600;
    let indptr: Vec<usize> = (0..=n).collect();
    let indices: Vec<u32> = (0..n as u32).map(|i| i * 1_000).collect();
    let sparse = AnySamples::F64(Samples::sparse(1_000_000, indptr, indices, vec![1.0; n]).unwrap());
    let plan =
        Plan::for_samples(RIDGE, &kernel("rbf(sigma=1)"), &sparse, (600, 2), &Session::default()).unwrap();
    assert_eq!((plan.shape.rows, plan.shape.columns, plan.shape.targets), (600, 1_000_000, 2));
    // Filled in, a million columns would take minutes.
    assert!(plan.chosen.seconds() < 10.0, "{plan}");
}

#[test]
fn a_plan_is_a_document_and_a_table() {
    let plan = plan(RIDGE, 4_000, 1 << 40);
    let json = serde_json::to_value(&plan).unwrap();
    assert_eq!(json["task"]["method"], "ridge");
    assert_eq!(json["kernel"], "rbf(sigma=1)");
    assert_eq!(json["shape"]["rows"], 4_000);
    assert!(json["chosen"]["stages"][0]["seconds"].as_f64().unwrap() > 0.0);
    assert!(json["chosen"]["way"]["name"].is_string() && json["reasons"].is_array());
    let text = plan.to_string();
    assert!(text.starts_with("fit ridge, λ = 1: n = 4,000, d = 5, rbf(sigma=1)\n"), "{text}");
    assert!(text.lines().any(|line| line.starts_with("> dual")) && text.contains("- n = 4,000"), "{text}");
}

#[test]
fn impossible_plans_are_reported() {
    let rbf = kernel("rbf(sigma=1)");
    let empty = Plan::for_shape(RIDGE, &rbf, shape(0, 5), &Session::default()).unwrap_err();
    assert_eq!(empty, PlanError::Empty { rows: 0, columns: 5, targets: 1 });
    let columns = Plan::for_shape(RIDGE, &kernel("linear[7]"), shape(10, 5), &Session::default());
    assert!(columns.unwrap_err().to_string().contains("column"));
    let stopped =
        Plan::for_shape(RIDGE, &rbf, shape(1_000, 5), &Session::default().with_watch(&AtomicBool::new(true)));
    assert!(stopped.unwrap_err().is_stop());
}

/// A machine's matrix is kept in single precision where it fits, and computed in parts where it does not.
#[test]
fn support_vectors_keep_what_fits() {
    let shape = Size { rows: 4_000, columns: 6, targets: 1, dtype: Precision::Double };
    let kernel: Kernel = "rbf(sigma=1)".parse().unwrap();
    let plan = |budget| {
        Plan::for_shape(Task::SupportVectors, &kernel, shape, &Session::default().with_memory(budget))
            .unwrap()
    };
    let roomy = plan(1 << 30);
    assert_eq!(roomy.chosen.algorithm, Algorithm::Stored);
    assert!(roomy.chosen.memory >= 4 * 4_000 * 4_000 && roomy.chosen.memory < 80_000_000);
    assert!(
        roomy.reasons.iter().any(|reason| reason.contains("not known in advance")),
        "{:?}",
        roomy.reasons
    );
    let narrow = plan(32 << 20);
    assert_eq!(narrow.chosen.algorithm, Algorithm::Tiled);
    assert!(narrow.chosen.fits && narrow.alternatives[0].algorithm == Algorithm::Stored);
}
