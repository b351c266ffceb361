//! Certificates: accepted as they were written, rejected as soon as anything in them is changed.

use mercer_kernel::Kernel;
use mercer_kernel::check::{Certificate, CertificateError, Dim, Domain};
use serde_json::{Value, json};

/// The certificate of a question `kernel; dim; domain`, as the document that a file holds.
fn certificate(question: &str) -> Value {
    let mut parts = question.split(';').map(str::trim);
    let text = parts.next().unwrap();
    let word =
        |part: Option<&str>, default: &str| part.filter(|p| !p.is_empty()).unwrap_or(default).to_string();
    let dim: Dim = word(parts.next(), "any").parse().unwrap();
    let domain: Domain = word(parts.next(), "all").parse().unwrap();
    let verdict = text.parse::<Kernel>().unwrap().check_within(dim, domain, 3_000_000).unwrap().verdict;
    let certificate = Certificate::of(text, dim, domain, &verdict);
    serde_json::to_value(certificate.unwrap_or_else(|| panic!("{question}: {verdict}"))).unwrap()
}

fn verify(document: &Value) -> Result<usize, CertificateError> {
    Certificate::parse(&serde_json::to_string_pretty(document).unwrap())?.verify()
}

const QUESTIONS: [&str; 50] = [
    "max(0,1-|x-z|)^2*(1+|x-z|/2);3",
    "max(0,1-|x-z|)^2*(1+|x-z|/2);4",
    "exp(-|x-z|)*cos(|x-z|);1",
    "sinc(2*|x-z|);3",
    "matern(nu=0.5)^0.5",
    "min(|x|,|z|)^2*(3*max(|x|,|z|)-min(|x|,|z|))/6;1;orthant",
    "linear - linear[0,1];4",
    "max(0,1-|x-z|)^1.999;3",
    "cos(|x-z|)^3-0.75*cos(|x-z|);1",
    "1+(|x-z|^2-|x-z|+1/6)/2;1;box:0..1",
    "2-|x-z|;1;ball:1",
    "min(|x|,|z|)-2*|x|*|z|;1;ball:0.5",
    "min(exp(|x|),exp(|z|))-1",
    "1/cosh(sqrt(|x-z|));2",
    "max(0,<x,z>)*abs(1+<x,z>);2;orthant",
    "log(1/(1-<x,z>));3;ball:0.9",
    "sin(<x,z>) + exp(<x,z>)",
    "exp(-|x-z|^1.5)",
    "(1+|x-z|^2)^(-1/3)",
    "0.5*exp(-|x-z|^2)-0.1*exp(-|x-z|^2/2);4",
    "max(0,1-|x-z|)^2;3",
    "-log(1-<x,z>);;ball:0.9",
    "1/(1-<x,z>);3;box:-0.5..0.5",
    "<x,z>^2-0.25;4;sphere",
    "matern(nu=?, length=auto)*linear[0,2]",
    "rbf(sigma=[1,2,3])*laplacian",
    "wendland(k=1, radius=2)[0,1] + rbf(gamma=1/3);4",
    "min(|x|,|z|)-|x|*|z|;1;box:0..1",
    "chi2*spline;2;orthant",
    "|x|+|z|-|x-z|",
    "1-2*acos(<x,z>)/pi;;sphere",
    "cos(2*|x-z|);1",
    "rbf(sigma=sqrt(2))",
    "exp(|x-z|^2/2)",
    "tanh(<x,z>)",
    "|x|;2",
    "1/(1-<x,z>)",
    "rbf(sigma=?) - 2*rbf(sigma=?)",
    "0.5*exp(-|x-z|^2)-0.1*exp(-|x-z|^2/2);5",
    "max(0,1-|x-z|)^2;4",
    "exp(-|x-z|)-0.001*exp(-|x-z|^2)",
    "<x,z>^2-0.250001;4;sphere",
    "-1e-400",
    "pi-3.2",
    "exp(-|x-z|)-1e-12;2",
    "100-log(1+|x-z|_1);3;orthant",
    "sinc(|x-z|)",
    "max(0,1-|x-z|)^20",
    "exp(-|x-z|)-0.6*exp(-2*|x-z|)",
    "exp(-?*|x-z|^2)",
];

#[test]
fn written_certificates_are_accepted() {
    for question in QUESTIONS {
        let document = certificate(question);
        let steps = verify(&document).unwrap_or_else(|e| panic!("{question}: {e}\n{document:#}"));
        assert!(steps > 0);
        assert_eq!(document["kernel"], question.split(';').next().unwrap().trim());
    }
}

/// A proof of one formula does not prove another one, however little they differ and however rarely.
#[test]
fn a_proof_of_another_formula_is_rejected() {
    let bump = |norm: &str| format!("1e-12-abs({norm}-5)");
    let with_bump = |norm: &str| format!("max(0,max(3-{norm},{}))", bump(norm));
    let rooted = |norm: &str| format!("({0}+sqrt(({0})^2))", bump(norm));
    for (proven, other) in [
        ("0", format!("max(0,3-|x|)*max(0,3-|z|)-{}*{}", with_bump("|x|"), with_bump("|z|"))),
        ("0", format!("-{}*{}", rooted("|x|"), rooted("|z|"))),
        ("0", "-exp(-1e6)".into()),
        ("max(0,3-|x|)*max(0,3-|z|)", format!("max(0,3-|x|)*{}", with_bump("|z|"))),
        ("exp(-|x-z|)", "exp(-|x-z|)-exp(-1e6)".into()),
        ("exp(-|x-z|)", "exp(-|x-z|)-exp(-exp(14))".into()),
        ("exp(-|x-z|)", format!("exp(-|x-z|)*(1-max(0,{})/2)", bump("|x-z|"))),
        ("exp(<x,z>)", "exp(<x,z>)-exp(-1e6)*<x,z>^3".into()),
        ("min(|x|,|z|)", "min(|x|,|z|)-exp(-1e6)".into()),
    ] {
        let mut document = certificate(&format!("{proven};1"));
        verify(&document).unwrap_or_else(|e| panic!("{proven}: {e}"));
        document["kernel"] = json!(other);
        assert!(verify(&document).is_err(), "the proof of {proven} was accepted for {other}");
    }
}

/// Points do not show a constant as small as that; the value at the origin is below zero with it.
#[test]
fn a_reflection_hides_no_small_constant() {
    for proven in [
        "log(1+|x|+|z|)-log(1+|x-z|)",
        "exp(-|x-z|)-exp(-|x|-|z|)",
        "sqrt(|x|+|z|)-sqrt(|x-z|)",
        "|x|^1.5+|z|^1.5-0.5*((|x|+|z|)^1.5+|x-z|^1.5)",
    ] {
        let document = certificate(&format!("{proven};1;orthant"));
        assert!(
            document["steps"].as_array().unwrap().iter().any(|step| step["rule"] == "reflection"),
            "{proven}"
        );
        verify(&document).unwrap_or_else(|e| panic!("{proven}: {e}"));
        let other: Kernel = format!("{proven}-exp(-1e6)").parse().unwrap();
        let verdict = other.check_within(Dim::Exactly(1), Domain::Orthant, 3_000_000).unwrap().verdict;
        assert!(!verdict.to_string().starts_with("proven"), "{other}: {verdict}");
    }
}

/// What refutes a function of distances on all of R^d, or in every dimension, says nothing about a ball or three dimensions.
#[test]
fn a_theorem_is_not_accepted_on_a_smaller_set() {
    for (refuted, member, other) in [
        ("exp(-|x-z|)-1e-12;1", "domain", json!("ball:1")),
        ("exp(-|x-z|)-1e-12;1", "domain", json!("box:0..1")),
        ("sinc(|x-z|)", "dim", json!(3)),
        ("sinc(|x-z|)", "domain", json!("ball:9")),
        ("max(0,1-|x-z|)^20", "dim", json!(39)),
        ("sinc(|x-z|)", "kernel", json!("sinc(|x-z|)+1")),
        ("exp(-|x-z|)-1e-12;1", "kernel", json!("exp(-|x-z|)")),
    ] {
        let mut document = certificate(refuted);
        assert_eq!(document["verdict"], "refuted");
        verify(&document).unwrap_or_else(|e| panic!("{refuted}: {e}"));
        document[member] = other.clone();
        assert!(verify(&document).is_err(), "the refutation of {refuted} was accepted for {other}");
    }
    for kernel in [
        "exp(-|x-z|)-1e-12;1;ball:1",
        "sinc(|x-z|);3",
        "max(0,1-|x-z|)^20;39",
        "exp(-|x-z|)-0.4*exp(-2*|x-z|)",
    ] {
        let mut parts = kernel.split(';');
        let text: Kernel = parts.next().unwrap().parse().unwrap();
        let dim: Dim = parts.next().unwrap_or("any").parse().unwrap();
        let domain: Domain = parts.next().unwrap_or("all").parse().unwrap();
        assert!(!text.check(dim, domain).unwrap().is_refuted(), "{kernel}");
    }
}

/// Every place in a document that holds something of the proof or of the counter-example.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, inside) in map {
                // What only people read.
                if !["reference", "text", "reason", "step"].contains(&key.as_str()) {
                    places(inside, &format!("{path}/{key}"), found);
                }
            }
        }
        Value::Array(list) => {
            (0..list.len()).for_each(|i| places(&list[i], &format!("{path}/{i}"), found));
        }
        _ => found.push(path.into()),
    }
}

/// Numbers made larger, smaller and negative: none of the changed documents may prove another formula than its own, so each
/// is rejected, or what it says is true all the same.
#[test]
fn a_changed_proof_is_rejected() {
    let mut rejected = 0;
    for question in
        ["0.5*exp(-|x-z|^2)-0.1*exp(-|x-z|^2/2);4", "sin(<x,z>) + exp(<x,z>)", "max(0,1-|x-z|)^2;3"]
    {
        let document = certificate(question);
        let mut found = Vec::new();
        places(&document["steps"], "/steps", &mut found);
        for path in found {
            let mut changed = document.clone();
            let place = changed.pointer_mut(&path).unwrap();
            *place = match place.clone() {
                Value::String(text) if text.parse::<i64>().is_ok() || text.contains('/') => {
                    json!(format!("-{text}7").replace("--", ""))
                }
                Value::String(text) if text == "positive semidefinite" => json!("negative type"),
                Value::String(text) if text == "all" => json!("ball:2"),
                Value::Number(n) => json!(n.as_u64().unwrap() + 1),
                Value::String(text) if text == "any" => json!(2),
                _ => continue,
            };
            let error = verify(&changed).expect_err(&format!("{question}: {path} was changed\n{changed:#}"));
            if matches!(error, CertificateError::Step { .. }) {
                rejected += 1;
            }
        }
    }
    assert!(rejected > 40, "{rejected}");
}

/// A proof of the Gaussian does not prove formulas that differ from it far away, or close to a point, only.
#[test]
fn a_proof_is_rejected_for_a_formula_with_another_branch() {
    let mut document = certificate("exp(-|x-z|^2/2);1");
    assert!(verify(&document).is_ok());
    for other in [
        "exp(-|x-z|^2/2) - max(0,|x-z|-20)",
        "exp(-|x-z|^2/2) - max(0,|x-z|-1000000)",
        "exp(-|x-z|^2/2) - max(0,|x-z|-1e30)",
        "exp(-|x-z|^2/2) - 1e-9*max(0,<x,z>-100)",
        "exp(-|x-z|^2/2) - max(0,0.0001-|x|)*max(0,0.0001-|z|)",
        "exp(-|x-z|^2/2) - abs(|x-z|-1000) - |x-z| + 1000",
        "exp(-|x-z|^2/2) - ((|x-z|-1000)^2)^0.5 - |x-z| + 1000",
        "exp(-|x-z|^2/2) + min(0,20-|x-z|)*max(0,30-|x-z|)",
    ] {
        document["kernel"] = other.into();
        assert!(verify(&document).is_err(), "{other}");
    }
}

#[test]
fn another_question_is_rejected() {
    let document = certificate("max(0,1-|x-z|)^2;3");
    for (member, value) in [
        ("kernel", json!("max(0,1-|x-z|)")),
        ("kernel", json!("max(0,1-|x-z|)^1.999")),
        ("dim", json!(4)),
        ("dim", json!("any")),
        ("verdict", json!("refuted")),
        ("steps", json!([])),
    ] {
        let mut changed = document.clone();
        changed[member] = value;
        assert!(verify(&changed).is_err(), "{changed:#}");
    }
    let mut changed = document.clone();
    changed["kernel"] = json!("max(0,1-|x-z|)^1.999");
    let error = verify(&changed).unwrap_err();
    assert!(matches!(&error, CertificateError::Step { .. }), "{error}");
    assert!(error.to_string().starts_with("step "), "{error}");
}

#[test]
fn a_changed_counter_example_is_rejected() {
    let document = certificate("exp(|x-z|^2/2);1");
    for (path, value) in [
        ("/refutation/weights/0", json!("-1")),
        ("/refutation/points/1/0", json!("0")),
        ("/refutation/at_most", json!("-100")),
        ("/refutation/points/1", json!(["1", "0"])),
        ("/domain", json!("ball:0.5")),
        ("/kernel", json!("exp(-|x-z|^2/2)")),
        ("/verdict", json!("undefined")),
    ] {
        let mut changed = document.clone();
        *changed.pointer_mut(path).unwrap() = value;
        assert!(verify(&changed).is_err(), "{path}\n{changed:#}");
    }
    let mut theorem = certificate("0.5*exp(-|x-z|^2)-0.1*exp(-|x-z|^2/2);5");
    theorem["dim"] = json!(4);
    assert!(matches!(verify(&theorem), Err(CertificateError::CounterExample { .. })));
}

#[test]
fn other_files_are_distinguished() {
    let not_one =
        |text: &str| matches!(Certificate::parse(text), Err(CertificateError::NotACertificate { .. }));
    for text in ["", "x,y\n1,2", "{}", "[]", "{\"format\": \"mercer certificate\"}", "{\"kernel\": 1"] {
        assert!(not_one(text), "{text}");
    }
    let mut later = certificate("linear");
    later["version"] = json!(9);
    assert!(matches!(verify(&later), Err(CertificateError::Version { found: 9 })));
    let mut document = certificate("min(|x|,|z|)");
    let text = document.to_string().replace("\"min\"", "\"minimum\"");
    assert!(not_one(&text));
    document["kernel"] = json!("min(|x|");
    assert!(matches!(verify(&document), Err(CertificateError::Kernel(_))));
    // Arguments that the checker would ask for and that are not there.
    let text = certificate("min(|x|,|z|)").to_string();
    let broken = text.replace("[\"min\",[", "[\"cos\",[");
    assert!(broken != text && not_one(&broken), "{text}");
}
