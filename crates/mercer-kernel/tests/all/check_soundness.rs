//! No proof of a false claim: random proven formulas have no negative eigenvalue, and the checker rejects every proof
//! that was tampered with and every single step that does not follow.

use mercer_kernel::check::exact::{from_decimal, int, ratio};
use mercer_kernel::check::form::{Atom, Form, Fun, Space};
use mercer_kernel::check::proof::{Claim, Proof, Property, Rule};
use mercer_kernel::check::{Checked, Dim, Domain, Verdict, verify};
use mercer_kernel::formula::Written;
use mercer_kernel::named::Allowed;
use mercer_kernel::{Expr, FAMILIES, FamilyId, Kernel, Named, Value};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

fn proven(text: &str, dim: Dim, domain: Domain) -> (Kernel, Proof) {
    let kernel: Kernel = text.parse().unwrap();
    match kernel.check(dim, domain).unwrap() {
        Verdict::Proven(proof) => (kernel, proof),
        other => panic!("{text}: {other}"),
    }
}

/// A random formula, kernels and others alike.
fn random_formula(random: &mut impl Rng, depth: usize) -> String {
    let leaves = [
        "<x,z>",
        "|x-z|",
        "|x-z|_1",
        "|x-z|^2",
        "|x|*|z|",
        "rbf",
        "laplacian",
        "0.5",
        "2",
        "1",
        "cosine",
        "min(|x|,|z|)",
        "|x|+|z|",
        "matern(nu=2.5)",
        "linear[0]",
    ];
    if depth == 0 {
        return leaves[random.random_range(0..leaves.len())].into();
    }
    let part = |random: &mut _| random_formula(random, depth - 1);
    match random.random_range(0..16) {
        0..=2 => format!("({} + {})", part(random), part(random)),
        3 => format!("({} - 0.3*{})", part(random), part(random)),
        4..=5 => format!("({})*({})", part(random), part(random)),
        6 => format!("({})^2", part(random)),
        7 => format!("exp(0.3*({}))", part(random)),
        8..=9 => format!("exp(-({}))", part(random)),
        10 => format!("1/(1+abs({}))", part(random)),
        11 => format!("log(1+abs({}))", part(random)),
        12 => format!("cosh(0.3*({}))", part(random)),
        13 => format!("cos({})", part(random)),
        14 => format!("sqrt(abs({}))", part(random)),
        _ => format!("(sin({0}) + exp({0}))", part(random)),
    }
}

fn random_point(random: &mut impl Rng, dim: usize, domain: Domain, spread: f64) -> Vec<f64> {
    let mut p: Vec<f64> = (0..dim).map(|_| random.random_range(-spread..spread)).collect();
    let norm = p.iter().map(|c| c * c).sum::<f64>().sqrt();
    match domain {
        Domain::All => {}
        Domain::Orthant => p.iter_mut().for_each(|c| *c = c.abs()),
        Domain::Sphere => p.iter_mut().for_each(|c| *c /= norm),
        Domain::Box(low, high) => p.iter_mut().for_each(|c| *c = random.random_range(low..=high)),
        Domain::Ball(radius) => {
            let scale = radius * random.random_range(0.0..1.0) / norm;
            p.iter_mut().for_each(|c| *c *= scale);
        }
    }
    p
}

/// Whether all eigenvalues of a symmetric matrix of order `n` exceed `bound`: A − bound·I has a Cholesky factor.
fn eigenvalues_exceed(bound: f64, n: usize, entry: impl Fn(usize, usize) -> f64) -> bool {
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            let left = entry(i, j) - if i == j { bound } else { 0.0 } - known;
            if i == j && (left <= 0.0 || left.is_nan()) {
                return false;
            }
            l[i][j] = if i == j { left.sqrt() } else { left / l[j][j] };
        }
    }
    true
}

#[test]
fn bounds_of_eigenvalues_are_seen() {
    // J − I has the eigenvalues 7, once, and −1.
    let entry = |i: usize, j: usize| f64::from(i != j);
    assert!(eigenvalues_exceed(-1.0 - 1e-9, 8, entry));
    assert!(!eigenvalues_exceed(-1.0 + 1e-9, 8, entry));
    assert!(!eigenvalues_exceed(-1.0, 2, |_, _| f64::NAN));
}

/// Gram matrices of random points, near and far.
fn has_no_negative_eigenvalue(
    text: &str,
    kernel: &Kernel,
    dim: usize,
    domain: Domain,
    random: &mut impl Rng,
) {
    for spread in [0.5, 2.0] {
        let points: Vec<_> = (0..16).map(|_| random_point(random, dim, domain, spread)).collect();
        let entry = |i: usize, j: usize| kernel.eval(&points[i], &points[j]).unwrap();
        // Terms of size 1 may cancel to a kernel that is 0 but for rounding.
        let scale = (0..points.len()).map(|i| entry(i, i)).fold(1e-6, f64::max);
        if !scale.is_finite() {
            continue;
        }
        let symmetric = |i: usize, j: usize| 0.5 * (entry(i, j) + entry(j, i));
        // n·eps with room for the formula's own rounding, which acos near 1 spends on √eps.
        let bound = -1e-7 * scale;
        assert!(
            eigenvalues_exceed(bound, points.len(), symmetric),
            "{text} on {domain} in R^{dim}: an eigenvalue is below {bound}"
        );
    }
}

/// Sums with mixed signs, where one wrong comparison would prove a falsehood.
#[test]
fn proven_differences_have_no_negative_eigenvalue() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(99);
    let families: [(&[&str], Domain); 6] = [
        (&["exp(-4*|x-z|^2)", "exp(-2*|x-z|^2)", "exp(-|x-z|^2)", "exp(-|x-z|^2/2)"], Domain::All),
        (&["exp(-|x-z|)", "|x-z|*exp(-|x-z|)", "|x-z|^2*exp(-|x-z|)", "exp(-2*|x-z|)"], Domain::All),
        (&["exp(<x,z>)", "sin(<x,z>)", "cos(<x,z>)", "<x,z>", "<x,z>^3", "exp(2*<x,z>)"], Domain::All),
        (
            &["1/(1-<x,z>)", "-log(1-<x,z>)", "sqrt(1-<x,z>)", "asin(<x,z>)", "exp(<x,z>)", "1"],
            Domain::Ball(0.9),
        ),
        (&["1", "<x,z>", "<x,z>^2", "<x,z>^3", "<x,z>^4"], Domain::Sphere),
        (&["1", "|x|*|z|", "|x|^2*|z|^2", "|x|+|z|", "min(|x|,|z|)"], Domain::All),
    ];
    let mut seen = [0; 2];
    for round in 0..360 {
        let (parts, domain) = families[round % families.len()];
        let dim = 1 + random.random_range(0..4_usize);
        let terms: Vec<String> = (0..3)
            .map(|_| {
                let weight = f64::from(random.random_range(-6..11_i32)) / 10.0;
                format!("{weight}*{}", parts[random.random_range(0..parts.len())])
            })
            .collect();
        let text = terms.join(" + ");
        let kernel: Kernel = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        match kernel.check_within(Dim::Exactly(dim), domain, 800_000).unwrap().verdict {
            Verdict::Proven(_) => {
                seen[0] += 1;
                has_no_negative_eigenvalue(&text, &kernel, dim, domain, &mut random);
            }
            Verdict::Refuted(_) => seen[1] += 1,
            Verdict::Undefined(_) | Verdict::Undecided(_) => {}
        }
    }
    assert!(seen[0] > 60 && seen[1] > 100, "{seen:?} of 360 were proven and refuted");
}

#[test]
fn proven_formulas_have_no_negative_eigenvalue() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2024);
    let domains = [
        Domain::All,
        Domain::All,
        Domain::Orthant,
        Domain::Sphere,
        Domain::Ball(0.8),
        Domain::Box(-0.3, 0.9),
    ];
    let mut seen = 0;
    for round in 0..260 {
        let text = random_formula(&mut random, 1 + round % 3);
        let domain = domains[round % domains.len()];
        let dim = 1 + round % 3;
        // A text may fold to an infinite constant, which the parser refuses.
        let Ok(kernel) = text.parse::<Kernel>() else { continue };
        let verdict = kernel.check_within(Dim::Exactly(dim), domain, 600_000).unwrap().verdict;
        if !verdict.is_proven() {
            continue;
        }
        seen += 1;
        has_no_negative_eigenvalue(&text, &kernel, dim, domain, &mut random);
    }
    assert!(seen > 60, "only {seen} formulas were proven");
}

/// A kernel of the family with random hyper-parameters, one value per column now and then.
fn random_named(random: &mut impl Rng, family: FamilyId, dim: usize) -> Kernel {
    let mut named = Named::with_defaults(family);
    for (argument, slot) in named.arguments.iter_mut().zip(family.slots()) {
        argument.spelling = random.random_range(0..slot.spellings.len());
        let spelling = &slot.spellings[argument.spelling];
        let mut number = || {
            let positive = f64::from(random.random_range(1..40_u8)) / 8.0;
            match spelling.allowed {
                Allowed::Finite => positive - 1.5,
                Allowed::NonNegative => f64::from(random.random_range(0..5_u8)),
                Allowed::Positive => positive,
                Allowed::Order => f64::from(random.random_range(0..3_u8)),
            }
        };
        argument.value = Value::Number(number());
        if spelling.per_column && dim > 1 {
            argument.value = Value::PerColumn((0..dim).map(|_| number()).collect());
        }
    }
    Kernel::from_expr(Expr::Named(named))
}

#[test]
fn families_are_proven_only_where_they_have_no_negative_eigenvalue() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let domains = [Domain::All, Domain::Orthant, Domain::Sphere, Domain::Ball(1.5)];
    for &family in FAMILIES {
        let mut seen = 0;
        for round in 0..16 {
            let (dim, domain) = (1 + round % 5, domains[round % domains.len()]);
            let kernel = random_named(&mut random, family, if round % 3 == 0 { dim } else { 1 });
            let verdict = kernel.check_within(Dim::Exactly(dim), domain, 600_000).unwrap().verdict;
            if verdict.is_proven() {
                seen += 1;
                has_no_negative_eigenvalue(&kernel.to_string(), &kernel, dim, domain, &mut random);
            }
        }
        assert!(seen > 2 || family.name() == "sigmoid", "{} was proven {seen} times of 16", family.name());
    }
}

#[test]
fn enclosures_and_ranges_of_families_hold_their_values() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
    for &family in FAMILIES {
        for round in 0..30 {
            let (dim, domain) = (1 + round % 4, if round % 2 == 0 { Domain::Orthant } else { Domain::All });
            let kernel = random_named(&mut random, family, if round % 3 == 0 { dim } else { 1 });
            let Expr::Named(named) = kernel.expr() else { unreachable!("a named kernel") };
            let written = Written::of(named);
            // Points of few digits, that are the same exactly and in doubles.
            let mut point = || -> Vec<f64> {
                let p = random_point(&mut random, dim, domain, 1.5);
                p.iter().map(|c| (c * 64.0).round() / 64.0).collect()
            };
            let (x, z) = (point(), point());
            let value = kernel.eval(&x, &z).unwrap();
            let exactly = |p: &[f64]| p.iter().map(|c| from_decimal(*c).unwrap()).collect::<Vec<_>>();
            let space = Space { dim: Dim::Exactly(dim), domain };
            if let Ok(enclosure) = named.family.enclose(&written, &exactly(&x), &exactly(&z), 128) {
                let error = (enclosure.midpoint() - value).abs();
                assert!(error <= 1e-12 * (1.0 + value.abs()), "{kernel}: {value} at {x:?}, {z:?}");
            }
            if let (Some((low, high)), false) = (named.family.range(&written, &space), value.is_nan()) {
                let room = 1e-12;
                assert!(low - room <= value && value <= high + room, "{kernel}: {value} at {x:?}, {z:?}");
            }
        }
    }
}

#[test]
fn strange_formulas_neither_panic_nor_take_long() {
    let strange = [
        "0/0",
        "0^(1-|x|)",
        "(<x,z>)^(<x,z>)",
        "1e300*exp(1e300*<x,z>)",
        "(abs((chi2-rq(alpha=?))^17))^17",
        "((<x,z>+|x|+|z|+|x-z|+1)^20)^20",
        "log(log(log(<x,z>)))",
        "min(<x,z>,|x|,|z|,0)",
        "tan(1.5707963267948966)",
        "exp(exp(exp(exp(<x,z>))))",
        "(|x-z|-|x-z|)^0.5/(|x|-|x|)",
        "rbf(sigma=[1,2])[0,1]+rbf(sigma=[1,2,3])",
        "1/(1-cos(|x|-|z|))",
        "(-1)^<x,z>",
    ];
    for text in strange {
        let Ok(kernel) = text.parse::<Kernel>() else { continue };
        for (dim, domain) in [
            (Dim::Any, Domain::All),
            (Dim::Exactly(1), Domain::Sphere),
            (Dim::Exactly(600), Domain::Ball(1e-9)),
        ] {
            let Checked { verdict, steps, .. } = kernel.check_within(dim, domain, 1_000_000).unwrap();
            // What has begun when the limit is reached is finished: a few confirmations, a few large forms.
            assert!(steps < 20_000_000, "{text}: {steps} steps");
            assert!(!verdict.to_string().is_empty() && json!(verdict.to_json(text, dim, domain)).is_object());
        }
    }
}

/// Every proof that differs from `proof` in one node.
fn mutations(proof: &Proof) -> Vec<Proof> {
    let mut all = Vec::new();
    let mut change = |edit: &dyn Fn(&mut Proof)| {
        let mut changed = proof.clone();
        edit(&mut changed);
        if changed != *proof {
            all.push(changed);
        }
    };
    change(&|p| p.claim.form = p.claim.form.neg());
    change(&|p| p.claim.form = p.claim.form.scale(&ratio(3, 2)));
    change(&|p| p.claim.form = p.claim.form.sub(&Form::constant(int(1))));
    change(&|p| p.claim.form = p.claim.form.add(&Form::atom(Atom::Dot(None)).scale(&ratio(-1, 1000))));
    change(&|p| p.claim.dim = Dim::Exactly(777));
    change(&|p| {
        p.claim.domain = if p.claim.domain == Domain::Sphere { Domain::Orthant } else { Domain::Sphere }
    });
    change(&|p| {
        p.claim.property = match p.claim.property {
            Property::PositiveSemidefinite => Property::NegativeType,
            Property::NegativeType => Property::PositiveSemidefinite,
        };
    });
    change(&|p| {
        p.premises.pop();
    });
    change(&|p| {
        if let Some(first) = p.premises.first().cloned() {
            p.premises.push(first);
        }
    });
    change(&|p| p.rule = if p.rule == Rule::Schoenberg { Rule::Askey } else { Rule::Schoenberg });
    change(&|p| p.rule = if p.rule == Rule::Named { Rule::Gegenbauer } else { Rule::Named });
    change(&|p| match &mut p.rule {
        Rule::Sum { weights } => weights[0] = weights[0].neg(),
        Rule::PowerSeries { function } | Rule::RankOne { function } | Rule::Separable { function } => {
            *function = function.add(&Form::constant(ratio(1, 7)));
        }
        Rule::NegativePower { power } | Rule::FractionalPower { power } => *power += int(1),
        _ => {}
    });
    for index in 0..proof.premises.len() {
        for inner in mutations(&proof.premises[index]) {
            let mut changed = proof.clone();
            changed.premises[index] = inner;
            all.push(changed);
        }
    }
    all
}

#[test]
fn a_changed_proof_is_rejected() {
    let questions = [
        ("sin(<x,z>)+exp(<x,z>)", Dim::Any, Domain::All),
        ("exp(-|x-z|^1.5)*(1+<x,z>)^2", Dim::Any, Domain::All),
        ("1/(1+log(1+|x-z|^2))+0.5*rbf(sigma=auto)", Dim::Any, Domain::All),
        ("|x|+|z|-|x-z|", Dim::Any, Domain::All),
        ("(1+<x,z>)/sqrt((1+|x|^2)*(1+|z|^2))", Dim::Any, Domain::All),
        ("-log(1-<x,z>)", Dim::Any, Domain::Ball(0.9)),
        ("0.5*exp(-|x-z|^2)-0.1*exp(-|x-z|^2/2)", Dim::Exactly(4), Domain::All),
        ("max(0,1-|x-z|)*cos(|x-z|)", Dim::Exactly(1), Domain::All),
        ("3*<x,z>^2-1", Dim::Exactly(3), Domain::Sphere),
        ("2-|x-z|", Dim::Any, Domain::Sphere),
        ("exp(-max(|x|,|z|))*min(|x|,|z|)", Dim::Any, Domain::All),
        ("chi2*linear[0]", Dim::Any, Domain::Orthant),
    ];
    let mut tried = 0;
    for (text, dim, domain) in questions {
        let (kernel, proof) = proven(text, dim, domain);
        for changed in mutations(&proof) {
            tried += 1;
            let verdict = verify::verify(&changed, &kernel.formula(), dim, domain);
            assert!(verdict.is_err(), "{text}: accepted\n{changed:#?}");
        }
    }
    assert!(tried > 500, "only {tried} changes were tried");
}

#[test]
fn a_proof_serves_one_question_only() {
    let (kernel, proof) = proven("max(0,1-|x-z|)", Dim::Exactly(1), Domain::All);
    assert!(verify::verify(&proof, &kernel.formula(), Dim::Exactly(1), Domain::All).is_ok());
    assert!(verify::verify(&proof, &kernel.formula(), Dim::Exactly(2), Domain::All).is_err());
    assert!(verify::verify(&proof, &kernel.formula(), Dim::Any, Domain::All).is_err());
    let other: Kernel = "max(0,1-|x-z|/2)".parse().unwrap();
    assert!(verify::verify(&proof, &other.formula(), Dim::Exactly(1), Domain::All).is_err());
}

/// Formula, claim, dimension, domain, rule, premises.
type Step = (&'static str, Property, Dim, Domain, Rule, Vec<(&'static str, Property)>);

/// One false step each, with premises that satisfy the rule in form.
#[test]
fn a_false_step_is_rejected() {
    let psd = Property::PositiveSemidefinite;
    let cnd = Property::NegativeType;
    let read =
        |text: &str, space: &Space| Form::of(&text.parse::<Kernel>().unwrap().formula(), space).unwrap();
    let t = |text: &str| match text {
        "sin" => {
            Form::call(Fun::Sin, vec![Form::var()], &Space { dim: Dim::Any, domain: Domain::All }).unwrap()
        }
        _ => Form::constant(int(1))
            .sub(&Form::var())
            .power(&int(-1), &Space { dim: Dim::Any, domain: Domain::All })
            .unwrap(),
    };
    let any = Dim::Any;
    let d = Dim::Exactly;
    let cases: Vec<Step> = vec![
        ("-1", psd, any, Domain::All, Rule::Constant, vec![]),
        ("-<x,z>", psd, any, Domain::All, Rule::InnerProduct, vec![]),
        (
            "|x|",
            psd,
            any,
            Domain::All,
            Rule::RankOne { function: read("|x|", &Space { dim: any, domain: Domain::All }) },
            vec![],
        ),
        ("min(|x-z|,1)", psd, any, Domain::All, Rule::Minimum, vec![]),
        ("min(-|x|,-|z|)", psd, any, Domain::All, Rule::Minimum, vec![]),
        ("cos(|x|+|z|)", psd, any, Domain::All, Rule::CosineOfDifference, vec![]),
        ("|x|^2+|z|^2", psd, any, Domain::All, Rule::FiniteRank, vec![]),
        ("sin(<x,z>)", psd, any, Domain::All, Rule::PowerSeries { function: t("sin") }, vec![("<x,z>", psd)]),
        ("1/(1-<x,z>)", psd, any, Domain::All, Rule::PowerSeries { function: t("") }, vec![("<x,z>", psd)]),
        (
            "1/(1-<x,z>)",
            psd,
            any,
            Domain::Ball(1.0),
            Rule::PowerSeries { function: t("") },
            vec![("<x,z>", psd)],
        ),
        ("exp(-<x,z>)", psd, any, Domain::All, Rule::Schoenberg, vec![("<x,z>", psd)]),
        ("1/|x-z|", psd, any, Domain::All, Rule::NegativePower { power: int(1) }, vec![("|x-z|", cnd)]),
        (
            "1/(1+|x-z|)",
            psd,
            any,
            Domain::All,
            Rule::NegativePower { power: int(-1) },
            vec![("1+|x-z|", cnd)],
        ),
        ("1-|x-z|", psd, any, Domain::All, Rule::Anchored, vec![("|x-z|-1", cnd)]),
        ("0.5*exp(-|x-z|^2)-0.1*exp(-|x-z|^2/2)", psd, d(5), Domain::All, Rule::SpectralDensity, vec![]),
        ("exp(-|x-z|^2)-0.5*exp(-2*|x-z|^2)", psd, any, Domain::All, Rule::SpectralDensity, vec![]),
        ("(1+2*|x-z|)*exp(-|x-z|)", psd, any, Domain::All, Rule::SpectralDensity, vec![]),
        ("(1-|x-z|^2)*exp(-|x-z|^2/2)", psd, d(2), Domain::All, Rule::SpectralDensity, vec![]),
        ("max(0,1-|x-z|)", psd, d(2), Domain::All, Rule::Askey, vec![]),
        ("max(0,1-|x-z|)^4*(4*|x-z|+1)", psd, d(4), Domain::All, Rule::Wendland, vec![]),
        ("max(exp(-|x-z|)-0.5,0)", psd, d(2), Domain::All, Rule::Polya, vec![]),
        ("max(1-|x-z|^2,0)", psd, d(1), Domain::All, Rule::Polya, vec![]),
        ("exp(-|x-z|)-0.5", psd, d(1), Domain::All, Rule::Polya, vec![]),
        ("exp(-|x-z|^1.5)", psd, d(1), Domain::All, Rule::Polya, vec![]),
        ("1+exp(|x-z|)", psd, d(1), Domain::All, Rule::Polya, vec![]),
        ("cos(|x-z|)", psd, d(2), Domain::All, Rule::CosineOnLine, vec![]),
        ("cosh(|x-z|)", psd, any, Domain::All, Rule::HyperbolicSecant, vec![]),
        ("1-tanh(|x-z|^2)", psd, any, Domain::All, Rule::BoundedBernstein, vec![]),
        ("min(|x|,|z|)-|x|*|z|", psd, any, Domain::All, Rule::BrownianBridge, vec![]),
        ("sigmoid(gamma=auto)", psd, any, Domain::All, Rule::Named, vec![]),
        ("chi2", psd, any, Domain::All, Rule::Named, vec![]),
        ("poly(degree=?0.5..3)", psd, any, Domain::All, Rule::Named, vec![]),
        ("2*<x,z>^2-1", psd, d(3), Domain::Sphere, Rule::Gegenbauer, vec![]),
        ("2*<x,z>^2-1", psd, d(2), Domain::All, Rule::Gegenbauer, vec![]),
        ("|x-z|^3", cnd, any, Domain::All, Rule::DistancePower, vec![]),
        ("|x-z|_1^2", cnd, d(2), Domain::All, Rule::DistancePower, vec![]),
        (
            "(1+|x-z|)^2",
            cnd,
            any,
            Domain::All,
            Rule::FractionalPower { power: int(2) },
            vec![("1+|x-z|", cnd)],
        ),
        ("log(1-<x,z>)", cnd, any, Domain::All, Rule::Logarithm, vec![("1-<x,z>", cnd)]),
        ("min(|x|,|z|)", cnd, any, Domain::All, Rule::Maximum, vec![]),
        ("abs(|x|-|z|)^3", cnd, any, Domain::All, Rule::DifferencePower, vec![]),
        ("<x,z>", cnd, any, Domain::All, Rule::NegatedKernel, vec![("<x,z>", psd)]),
    ];
    for (text, property, dim, domain, rule, premises) in cases {
        let space = Space { dim, domain };
        let claim = |text: &str, property| Claim { property, form: read(text, &space), dim, domain };
        let premises = premises
            .into_iter()
            .map(|(text, property)| Proof {
                claim: claim(text, property),
                rule: Rule::Named,
                premises: vec![],
                note: None,
            })
            .collect();
        let proof = Proof { claim: claim(text, property), rule, premises, note: None };
        assert!(!verify::follows(&proof), "{text} by {}", proof.rule.name());
    }
}

#[test]
fn the_checker_shares_no_code_with_the_search() {
    let mut folders =
        vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/check/verify"))];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let code = std::fs::read_to_string(&path).unwrap();
            let uses =
                code.lines().filter(|l| !l.trim_start().starts_with("//")).any(|l| l.contains("search::"));
            assert!(!uses, "{} uses the search", path.display());
        }
    }
    assert!(files > 10);
}

/// Points of many dimensions are compared in some of their coordinates: the work does not grow with the dimension.
#[test]
fn a_million_columns_cost_no_more_than_a_few_thousand() {
    for text in ["linear", "exp(-|x-z|^2)+<x,z>^2", "exp(-|x-z|)*(1+<x,z>[0])", "rbf(sigma=3)+min(|x|,|z|)"] {
        let kernel: Kernel = text.parse().unwrap();
        let verdict = kernel.check(Dim::Exactly(1_000_000), Domain::All).unwrap();
        assert!(matches!(verdict, Verdict::Proven(_)), "{text}: {verdict}");
    }
}
