//! Verdicts that are known: each refutation's points are computed again with the kernel's own values, each proof is
//! checked again, and none needs more than a quarter of the steps there are.

use mercer_kernel::Kernel;
use mercer_kernel::check::exact::{Q, to_f64};
use mercer_kernel::check::{Checked, Dim, Domain, MOST_STEPS, Refutation, Verdict, verify};
use serde_json::json;

fn ask(question: &str) -> (Kernel, Dim, Domain, Verdict) {
    let mut parts = question.split(';').map(str::trim);
    let kernel: Kernel = parts.next().unwrap().parse().unwrap_or_else(|e| panic!("{question}: {e}"));
    let word =
        |text: Option<&str>, default: &str| text.filter(|t| !t.is_empty()).unwrap_or(default).to_string();
    let dim: Dim = word(parts.next(), "any").parse().unwrap();
    let domain: Domain = word(parts.next(), "all").parse().unwrap();
    let Checked { verdict, steps, .. } = kernel.check_within(dim, domain, MOST_STEPS).unwrap();
    assert!(4 * steps <= MOST_STEPS, "{question} took {steps} steps");
    (kernel, dim, domain, verdict)
}

fn all_proven(questions: &str) {
    let mut wrong = Vec::new();
    for question in questions.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (kernel, dim, domain, verdict) = ask(question);
        match &verdict {
            Verdict::Proven(proof) => {
                // A list of values fixes the dimension.
                let dim = if proof.claim.dim == dim { dim } else { proof.claim.dim };
                verify::verify(proof, &kernel.formula(), dim, domain)
                    .unwrap_or_else(|e| panic!("{question}: {e}"));
            }
            other => wrong.push(format!("{question}: {other}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn all_refuted(questions: &str) {
    let mut wrong = Vec::new();
    for question in questions.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (kernel, dim, domain, verdict) = ask(question);
        match &verdict {
            Verdict::Refuted(refutation) | Verdict::Undefined(refutation) => {
                recompute(question, &kernel, dim, domain, refutation);
            }
            other => wrong.push(format!("{question}: {other}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn doubles(point: &[Q]) -> Vec<f64> {
    point.iter().map(to_f64).collect()
}

fn lies_in(point: &[f64], dim: Dim, domain: Domain) -> bool {
    let norm = point.iter().map(|c| c * c).sum::<f64>().sqrt();
    let inside = match domain {
        Domain::All => true,
        Domain::Ball(radius) => norm <= radius * (1.0 + 1e-12),
        Domain::Sphere => (norm - 1.0).abs() < 1e-12,
        Domain::Orthant => point.iter().all(|c| *c >= 0.0),
        Domain::Box(low, high) => point.iter().all(|c| (low..=high).contains(c)),
    };
    inside && (dim == Dim::Any || dim == Dim::Exactly(point.len()))
}

fn recompute(question: &str, kernel: &Kernel, dim: Dim, domain: Domain, refutation: &Refutation) {
    match refutation {
        Refutation::Points { points, weights, value, filled, .. } => {
            let filled: Option<Kernel> = filled.as_ref().map(|text| text.parse().unwrap());
            let kernel = filled.as_ref().unwrap_or(kernel);
            let points: Vec<Vec<f64>> = points.iter().map(|p| doubles(p)).collect();
            assert!(points.iter().all(|p| lies_in(p, dim, domain)), "{question}: a point lies outside");
            let weights = doubles(weights);
            let (mut form, mut size) = (0.0, 0.0);
            for (x, a) in points.iter().zip(&weights) {
                for (z, b) in points.iter().zip(&weights) {
                    let k = kernel.eval(x, z).unwrap();
                    form += a * b * k;
                    size += (a * b * k).abs();
                }
            }
            assert!(*value < 0.0, "{question}: {value}");
            assert!(
                (form - value).abs() <= 1e-12 * size + 1e-9 * value.abs(),
                "{question}: {form} is not {value}"
            );
        }
        Refutation::Undefined { x, z, .. } => {
            let (x, z) = (doubles(x), doubles(z));
            assert!(lies_in(&x, dim, domain) && lies_in(&z, dim, domain));
            assert!(!kernel.eval(&x, &z).unwrap().is_finite(), "{question}: defined at {x:?}, {z:?}");
        }
        Refutation::Asymmetric { x, z, .. } => {
            let (x, z) = (doubles(x), doubles(z));
            let (there, back) = (kernel.eval(&x, &z).unwrap(), kernel.eval(&z, &x).unwrap());
            assert!((there - back).abs() > 1e-9, "{question}: symmetric at {x:?}, {z:?}");
        }
        Refutation::Theorem(theorem) => assert!(!theorem.reference.is_empty()),
        _ => panic!("{question}: an unknown kind of refutation"),
    }
}

#[test]
fn named_kernels_of_some_dimensions_and_domains() {
    all_proven(
        "const
        const(value=?)*linear
        wendland; 3
        wendland(k=?, radius=auto)*rbf + const; 4
        wendland(k=0, radius=2)[0,1]; 5
        spline; any; orthant
        spline*rbf + chi2; 3; orthant",
    );
    all_refuted(
        "spline
        spline; 3; ball:1
        1 - wendland; 2
        rbf - const(value=0.5)",
    );
}

#[test]
fn formulas_that_are_kernels() {
    all_proven(
        "<x,z>
        (<x,z>+1)^3
        1+<x,z>+<x,z>^2+<x,z>^3
        exp(-|x-z|^2/2)
        sin(<x,z>)+exp(<x,z>)
        cos(<x,z>)+exp(<x,z>)
        cosh(<x,z>)
        exp(<x,z>)-1-<x,z>
        exp(-|x-z|)
        exp(-|x-z|^1.5)
        1/(1+|x-z|^2)
        1/(1+|x-z|)
        exp(-|x-z|_1)
        <x,z>/(|x|*|z|);;sphere
        -log(1-<x,z>);;ball:0.9
        1/(1-<x,z>);;ball:0.9
        max(0,1-|x-z|);1
        0.5*exp(-|x-z|^2)-0.1*exp(-|x-z|^2/2);4
        |x|+|z|-|x-z|",
    );
}

#[test]
fn every_named_kernel_where_it_is_one() {
    all_proven(
        "linear
        poly
        rbf
        laplacian
        matern
        matern(nu=0.7)
        rq
        periodic
        cosine
        chi2;;orthant
        arccos(order=0)
        arccos(order=1)
        arccos(order=2)",
    );
}

#[test]
fn open_hyper_parameters_stand_for_every_allowed_value() {
    all_proven(
        "rbf(sigma=auto)
        rbf(gamma=?)
        rbf(sigma=[1,2,3])*laplacian
        matern(nu=?, length=auto)*linear
        rq(alpha=0.3,length=auto)
        poly(degree=?{1,2,3}, gamma=auto, c=?)",
    );
}

#[test]
fn formulas_that_are_not_kernels() {
    all_refuted(
        "exp(|x-z|^2/2)
        tanh(<x,z>)
        sin(<x,z>)
        |x-z|
        -|x-z|^2
        exp(-|x-z|^3)
        exp(-<x,z>)
        (<x,z>-1)^2
        cos(|x-z|);2
        max(0,1-|x-z|);2
        0.5*exp(-|x-z|^2)-0.4*exp(-2*|x-z|^2)
        log(1+<x,z>);;orthant
        0.5*exp(-|x-z|^2)-0.1*exp(-|x-z|^2/2);5
        exp(-|x-z|_1^2)
        chi2
        exp(-2*sin(|x-z|)^2);2
        1/(1-<x,z>)
        sigmoid",
    );
}

#[test]
fn a_longer_list_of_kernels() {
    all_proven(include_str!("../check_formulas/proven.txt"));
}

#[test]
fn a_longer_list_of_other_formulas() {
    all_refuted(include_str!("../check_formulas/refuted.txt"));
}

#[test]
fn only_the_theorem_refutes_where_points_are_out_of_reach() {
    let (_, _, _, verdict) = ask("0.5*exp(-|x-z|^2)-0.1*exp(-|x-z|^2/2);5");
    assert!(matches!(verdict, Verdict::Refuted(Refutation::Theorem(_))), "{verdict}");
    let (_, _, _, verdict) = ask("max(0,1-|x-z|);2");
    assert!(matches!(verdict, Verdict::Refuted(Refutation::Points { .. })), "{verdict}");
}

#[test]
fn boxes_are_checked() {
    all_proven(
        "1/(1-<x,z>); 3; box:-0.5..0.5
        1/(2-<x,z>); 1; box:0..1.4
        min(|x|,|z|)-|x|*|z|; 1; box:0..1
        chi2; any; box:0..1
        spline; 2; box:0.5..2
        -log(1-<x,z>/2); 2; box:0..0.9
        log(<x,z>)^2-log(<x,z>)^2 + rbf; 3; box:1..2
        exp(-|x-z|); any; box:-1..1",
    );
    all_refuted(
        "1/(1-<x,z>); 3; box:-0.6..0.6
        1/(1-<x,z>); any; box:-0.5..0.5
        chi2; 2; box:-1..1
        -|x-z|; 2; box:3..4
        cos(<x,z>); 1; box:1..2
        tanh(<x,z>); 2; box:0..1
        min(|x|,|z|)-|x|*|z|; 1; box:0..1.5",
    );
}

#[test]
fn a_formula_without_a_value_somewhere_is_undefined() {
    for question in [
        "1/(1-<x,z>)",
        "sin(|x-z|)/|x-z|",
        "log(<x,z>)",
        "sqrt(<x,z>);2",
        "acos(<x,z>);2",
        "1/(1-<x,z>);1;box:-1..1",
    ] {
        let (kernel, dim, domain, verdict) = ask(question);
        let Verdict::Undefined(refutation) = &verdict else { panic!("{question}: {verdict}") };
        assert!(matches!(refutation, Refutation::Undefined { .. }), "{verdict}");
        recompute(question, &kernel, dim, domain, refutation);
        assert!(!verdict.is_refuted() && verdict.to_string().starts_with("undefined at x = "), "{verdict}");
        let document = json!(verdict.to_json("k", dim, domain));
        assert_eq!(document["verdict"], "undefined");
        assert_eq!(document["refutation"]["kind"], "undefined");
    }
}

#[test]
fn undecided_verdicts_list_what_was_tried() {
    for question in ["1/(sqrt(1+|x|^2)*sqrt(1+|z|^2)-<x,z>)", "1/(1+cosh(|x-z|))"] {
        let (_, _, _, verdict) = ask(question);
        let Verdict::Undecided(evidence) = &verdict else { panic!("{question}: {verdict}") };
        assert!(evidence.lowest_relative_eigenvalue.is_some_and(|v| v > -1e-7), "{verdict}");
        assert!(!evidence.tried.is_empty());
    }
}

#[test]
fn the_limit_on_the_steps_is_kept() {
    let kernel: Kernel = "0.5*exp(-|x-z|^2)-0.1*exp(-|x-z|^2/2)*cos(<x,z>)".parse().unwrap();
    let ask = |most_steps| kernel.check_within(Dim::Exactly(7), Domain::All, most_steps).unwrap();
    let all = ask(MOST_STEPS);
    for most_steps in [0, 1_000, 100_000] {
        let Checked { steps, .. } = ask(most_steps);
        assert!(steps <= all.steps && steps < most_steps + 1_000_000, "{steps} of {most_steps}");
    }
    // The same question takes the same steps.
    assert_eq!(ask(100_000).steps, ask(100_000).steps);
}

#[test]
fn the_document_has_its_fields() {
    let (_, dim, domain, verdict) = ask("exp(|x-z|^2/2)");
    let document = json!(verdict.to_json("exp(|x-z|^2/2)", dim, domain));
    assert_eq!(document["verdict"], "refuted");
    assert_eq!(document["dim"], "any");
    assert_eq!(document["domain"], "all");
    assert_eq!(document["refutation"]["kind"], "points");
    assert_eq!(document["refutation"]["points"], json!([[0.0], [1.0]]));
    assert!((document["refutation"]["value"].as_f64().unwrap() + 1.297).abs() < 1e-3);
    assert_eq!(
        verdict.to_string(),
        "refuted: x₁ = (0), x₂ = (1) give K = [[1, 1.649], [1.649, 1]]; w = (1, −1) gives wᵀKw = −1.297"
    );
    assert!(verdict.html().contains("refuted</b>"));
    let (_, dim, domain, verdict) = ask("sin(<x,z>)+exp(<x,z>);3;ball:2");
    assert!(verdict.html().contains("&lt;x,z&gt;"), "{}", verdict.html());
    let document = json!(verdict.to_json("k", dim, domain));
    assert_eq!(document["verdict"], "proven");
    assert_eq!(document["dim"], 3);
    assert_eq!(document["domain"], "ball:2");
    assert!(document["proof"]["premises"].as_array().is_some_and(|p| !p.is_empty()));
    assert!(document["proof"]["reference"].is_string());
}
