//! The lines that reproduce a picture: for a shell, and for Python.

use mercer::model::Method;
use serde::Serialize;

use super::points::Values;
use super::prepared::{FILE, Prepared};

/// Lines to copy.
#[derive(Debug, Serialize)]
pub struct Lines {
    /// For a shell.
    shell: String,
    /// For Python.
    python: String,
}

/// The lines for a fit.
pub fn lines(prepared: &Prepared, method: Method) -> Lines {
    let fit: Vec<String> = prepared.words.iter().map(|word| quoted(word)).collect();
    let shell = format!("mercer {}\nmercer plot model.mercer {FILE} -o picture.svg", fit.join(" "));
    Lines { shell, python: python(prepared, method) }
}

/// A word, quoted for a shell.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The value of a flag.
fn value<'a>(words: &'a [String], flag: &str) -> Option<&'a str> {
    let place = words.iter().position(|word| word == flag)?;
    words.get(place + 1).map(String::as_str)
}

fn python(prepared: &Prepared, method: Method) -> String {
    let words = &prepared.words;
    let get = |flag: &str| value(words, flag).unwrap_or_default();
    let is_classes = matches!(prepared.points.values, Values::Classes { .. });
    let kernel = format!("kernel={:?}", get("--kernel"));
    let bias = format!("bias={:?}", value(words, "--bias").unwrap_or("centred"));
    let estimator = match method {
        Method::Ridge => format!("KernelRidge({kernel}, alpha={}, {bias})", get("--lambda")),
        Method::Lms => {
            let step = value(words, "--step").filter(|step| *step != "auto");
            let step = step.map(|step| format!(", step={step}")).unwrap_or_default();
            format!("KernelLMS({kernel}, max_iter={}{step}, {bias})", get("--epochs"))
        }
        Method::Smoother => format!("KernelSmoother({kernel})"),
        Method::Knn if is_classes => format!("KNeighborsClassifier({})", get("-k")),
        Method::Knn => format!("KNeighborsRegressor({})", get("-k")),
        Method::Perceptron => {
            format!("KernelPerceptron({kernel}, max_iter={}, random_state=0)", get("--epochs"))
        }
        Method::Logistic => format!("KernelLogisticRegression({kernel}, C=1 / {})", get("--lambda")),
        Method::Svc => format!("SVC({kernel}, C={})", get("--C")),
        Method::NuSvc => format!("NuSVC({kernel}, nu={})", get("--nu")),
        Method::Svr => format!("SVR({kernel}, C={}, epsilon={})", get("--C"), get("--epsilon")),
        Method::NuSvr => format!("NuSVR({kernel}, C={}, nu={})", get("--C"), get("--nu")),
        _ => format!("OneClassSVM({kernel}, nu={})", get("--nu")),
    };
    let dims = prepared.points.names.len();
    let columns: Vec<String> = (0..dims).map(|column| column.to_string()).collect();
    let columns = if dims == 1 { "[0]".to_owned() } else { format!("({})", columns.join(", ")) };
    let options = "delimiter=\",\", skiprows=1";
    let mut lines = vec![
        "import mercer".to_owned(),
        "import numpy as np".to_owned(),
        String::new(),
        format!("X = np.loadtxt({FILE:?}, {options}, usecols={columns}, ndmin=2)"),
    ];
    if method != Method::OneClass {
        let dtype = if is_classes { ", dtype=str" } else { "" };
        lines.push(format!("y = np.loadtxt({FILE:?}, {options}, usecols={dims}{dtype})"));
    }
    if value(words, "--scale") == Some("standard") {
        lines.push("X = (X - X.mean(axis=0)) / X.std(axis=0)".to_owned());
    }
    if method == Method::Gp {
        lines.push("model = mercer.load(\"model.mercer\")".to_owned());
        lines.push("model.predict(X[:5])".to_owned());
        return lines.join("\n");
    }
    if method == Method::Smoother && is_classes {
        // The estimator predicts numbers: the shares of the classes.
        lines.push("classes = np.unique(y)".to_owned());
        lines.push(format!("model = mercer.{estimator}.fit(X, (y[:, None] == classes).astype(float))"));
        lines.push("classes[model.predict(X[:5]).argmax(axis=1)]".to_owned());
        return lines.join("\n");
    }
    let fit = if method == Method::OneClass { "fit(X)" } else { "fit(X, y)" };
    lines.push(format!("model = mercer.{estimator}.{fit}"));
    lines.push("model.predict(X[:5])".to_owned());
    lines.join("\n")
}
