//! Model files of every kind that an earlier version wrote still load, describe themselves, predict what they did, and are
//! saved to the same bytes. `golden/models/fits.txt` says how each was fitted (with `--holdout 0 --seed 1` as well).

use std::path::{Path, PathBuf};

use crate::bench::Bench;
use mercer::model::Model;
use serde_json::Value;

/// A line of `fits.txt`.
struct Case {
    name: String,
    data: PathBuf,
    flags: Vec<String>,
    method: String,
}

impl Case {
    fn model(&self) -> PathBuf {
        folder().join(format!("{}.mercer", self.name))
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/models")
}

fn cases() -> Vec<Case> {
    let text = std::fs::read_to_string(folder().join("fits.txt")).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let cases: Vec<Case> = lines
        .map(|line| {
            let [name, data, flags, fit] = line.splitn(4, '|').map(str::trim).collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            Case {
                name: name.to_owned(),
                data: folder().join(data),
                flags: flags.split_whitespace().map(str::to_owned).collect(),
                method: fit.split_whitespace().next().unwrap().to_owned(),
            }
        })
        .collect();
    assert!(cases.len() >= 40);
    cases
}

#[test]
fn stored_models_predict_what_they_did() {
    let bench = Bench::new();
    for case in cases() {
        let (model, data) = (case.model(), case.data.display().to_string());
        let mut arguments = vec!["predict", model.to_str().unwrap(), &data, "--quiet"];
        arguments.extend(case.flags.iter().map(String::as_str));
        let found = bench.ok(&arguments);
        let expected = std::fs::read_to_string(folder().join(format!("{}.csv", case.name))).unwrap();
        assert_eq!(found.lines().count(), expected.lines().count(), "{}", case.name);
        let fields = |text: &str| text.split(['\n', ',']).map(str::to_owned).collect::<Vec<_>>();
        for (place, (f, e)) in fields(&found).iter().zip(fields(&expected)).enumerate() {
            match (f.parse::<f64>(), e.parse::<f64>()) {
                // The vector units of another machine may round the kernel's last digit another way.
                (Ok(f), Ok(e)) => assert!(
                    (f - e).abs() <= 1e-12 * e.abs().max(1.0),
                    "{}, field {place}: {f} is not {e}",
                    case.name
                ),
                _ => assert_eq!(*f, e, "{}, field {place}", case.name),
            }
        }
    }
}

#[test]
fn stored_models_describe_themselves() {
    let bench = Bench::new();
    for case in cases() {
        let text = bench.ok(&["info", case.model().to_str().unwrap(), "--json"]);
        let info: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(info["method"], case.method, "{}", case.name);
    }
}

#[test]
fn stored_models_are_saved_to_the_same_bytes() {
    let bench = Bench::new();
    for case in cases() {
        let again = bench.path("again.mercer");
        Model::load(&case.model()).unwrap().save(&again).unwrap();
        assert!(
            std::fs::read(&again).unwrap() == std::fs::read(case.model()).unwrap(),
            "{} has changed",
            case.name
        );
    }
}
