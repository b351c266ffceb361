//! Device functions as programs of the host.

use std::process::{Command, Stdio};

#[path = "number.rs"]
mod number;
use number::hexadecimal;

/// A list of numbers as C++ writes it.
pub fn list(values: &[f64]) -> String {
    let number = |v: &f64| match v {
        v if v.is_nan() => "NAN".to_owned(),
        v if v.is_infinite() => format!("{}INFINITY", if *v < 0.0 { "-" } else { "" }),
        v => format!("{v:e}"),
    };
    values.iter().map(number).collect::<Vec<_>>().join(", ")
}

/// Device functions in a namespace of their own.
pub fn in_namespace(name: &str, text: &str) -> String {
    let text = text.replace("extern \"C\"", "");
    let mut defined: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("#define "))
        .filter_map(|rest| rest.split([' ', '(']).next())
        .collect();
    defined.sort_unstable();
    defined.dedup();
    let undefined: String = defined.iter().map(|name| format!("#undef {name}\n")).collect();
    format!("namespace {name} {{\n{text}\n}}\n{undefined}")
}

/// Compiles and runs a program whose `main` prints numbers.
pub fn run(functions: &str, body: &str, rows: &[Vec<f64>]) -> Option<Vec<f64>> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    if Command::new(&compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err()
    {
        eprintln!("skipped: there is no C++ compiler");
        return None;
    }
    let directory = tempfile::tempdir().unwrap();
    let [file, program] = ["printed.cpp", "printed"].map(|name| directory.path().join(name));
    let text = format!(
        "{}\n{functions}\nstatic double samples[] = {{{}}};\n{body}",
        include_str!("shim.hpp"),
        list(&rows.concat())
    );
    std::fs::write(&file, text).unwrap();
    let flags = ["-std=c++20", "-O0", "-pthread", "-w", "-ffp-contract=off", "-o"];
    let built = Command::new(&compiler).args(flags).arg(&program).arg(&file).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let run = Command::new(&program).output().unwrap();
    assert!(run.status.success(), "the program ends with {:?}", run.status);
    Some(String::from_utf8(run.stdout).unwrap().lines().map(hexadecimal).collect())
}
