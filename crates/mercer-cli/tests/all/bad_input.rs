//! Bad input: a clear message, exit code 1 or 2, nothing half-written.

use std::process::Stdio;

use crate::bench::{Bench, table};

const FIT: [&str; 7] = ["fit", "ridge", "d.csv", "--target", "y", "-o", "m.mercer"];

/// Fits on a table that must be refused with this code and these words, leaving no model behind.
fn refused(text: impl AsRef<[u8]>, code: i32, words: &[&str]) {
    let bench = Bench::new();
    bench.write("d.csv", text);
    let error = bench.fails(code, &FIT);
    for word in words {
        assert!(error.contains(word), "`{word}` is not in: {error}");
    }
    assert_eq!(bench.files(), ["d.csv"]);
}

#[test]
fn an_unknown_instruction_set_is_an_error() {
    let bench = Bench::new();
    bench.write("d.csv", table(20));
    for (value, code) in [("sse9", Some(2)), ("portable", Some(0)), ("", Some(0))] {
        let output = bench.command(&FIT).env("MERCER_SIMD", value).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), code, "{error}");
        assert_eq!(error.contains("`avx512`, `avx2`, `neon` and `portable`"), code == Some(2), "{error}");
    }
}

#[test]
fn an_absent_device_is_an_error() {
    let bench = Bench::new();
    bench.write("d.csv", table(20));
    let fit = |device: &str| {
        let output = bench.command(&[&FIT[..], &["--device", device]].concat()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, error) = fit("gpu");
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("auto, cpu, cuda and cuda:N"), "{error}");
    // No machine has this many.
    let (code, error) = fit("cuda:4096");
    assert_eq!(code, Some(2), "{error}");
    assert!(error.contains("--device cuda:4096: no "), "{error}");
    for (device, message) in [
        ("cuda:+1", "`cuda:+1`; the devices are"),
        ("cuda:9999999999999999", "`cuda:9999999999999999`; GPUs are counted from 0"),
    ] {
        let (code, error) = fit(device);
        assert!(code == Some(2) && error.contains(message), "{error}");
    }
    assert_eq!(bench.files(), ["d.csv"]);
    assert_eq!(fit("cpu").0, Some(0));
}

#[test]
fn empty_file() {
    refused("", 2, &["d.csv"]);
}

#[test]
fn header_alone() {
    refused("a,b,y\n", 2, &["d.csv"]);
}

#[test]
fn ragged_row() {
    refused("a,b,y\n1,2,3\n1,2\n", 2, &["d.csv", "line 3"]);
}

#[test]
fn not_a_number_and_infinity() {
    refused("a,b,y\n1,2,3\n1,nan,3\n", 2, &["line 3", "b"]);
    refused("a,b,y\n1,2,3\n1,inf,3\n", 2, &["line 3", "b"]);
    refused("a,b,y\n1,2,3\n1,2,nan\n", 2, &["line 3", "y"]);
}

#[test]
fn text_in_a_number_column() {
    refused("a,b,y\n1,2,3\n1,red,3\n", 2, &["line 3", "b", "red", "categorical"]);
}

#[test]
fn text_target() {
    refused("a,b,y\n1,2,no\n1,3,yes\n", 2, &["y", "text, such as `no`", "mercer fit svc"]);
    refused("a,b,y\n1,2,3\n1,3,$4\n", 2, &["text, such as `$4`", "without signs such as % or $"]);
}

#[test]
fn target_missing_lists_the_columns() {
    let bench = Bench::new();
    bench.write("d.csv", table(5));
    for arguments in [
        vec!["fit", "ridge", "d.csv", "-o", "m.mercer"],
        vec!["fit", "ridge", "d.csv", "--target", "z", "-o", "m.mercer"],
    ] {
        let error = bench.fails(2, &arguments);
        assert!(["`a`", "`b`", "`y`"].iter().all(|column| error.contains(column)), "{error}");
    }
}

#[test]
fn one_row_is_a_model() {
    let bench = Bench::new();
    bench.write("d.csv", "a,b,y\n1,2,3\n");
    bench.ok(&FIT);
    assert_eq!(bench.ok(&["predict", "m.mercer", "d.csv"]), "prediction\n3\n");
}

#[test]
fn a_constant_column_is_accepted_with_a_note() {
    let bench = Bench::new();
    bench.write("d.csv", "a,b,y\n1,2,3\n2,2,4\n3,2,5\n");
    let report = bench.ok(&FIT);
    assert!(report.contains("constant") && report.contains('b'), "{report}");
}

#[test]
fn duplicate_rows_without_a_penalty() {
    let bench = Bench::new();
    bench.write("d.csv", "a,y\n1,3\n1,4\n2,4\n3,5\n");
    let error =
        bench.fails(1, &["fit", "ridge", "d.csv", "--target", "y", "--lambda", "0", "-o", "m.mercer"]);
    assert!(error.contains("rank is 3 of 4") && error.contains("--lambda"), "{error}");
    let suggested = error.split("--lambda ").nth(1).unwrap().split_whitespace().next().unwrap();
    bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "--lambda", suggested, "-o", "m.mercer"]);
}

#[test]
fn invalid_kernel_texts_are_refused() {
    let bench = Bench::new();
    bench.write("d.csv", table(5));
    let long = "1+".repeat(500_000);
    let deep = "(".repeat(20_000);
    for kernel in
        ["rbf(sigma=", "rbf(sigma=-1)", "foo", "", &long[..100_000], &deep, "rbf(sigma=?)", "linear[9]"]
    {
        let error =
            bench.fails(2, &["fit", "ridge", "d.csv", "--target", "y", "--kernel", kernel, "-o", "m.mercer"]);
        assert!(error.len() < 2_000, "a message, not the text again: {} characters", error.len());
    }
    let error = bench
        .fails(2, &["fit", "ridge", "d.csv", "--target", "y", "--kernel", "rbf(sigma=2", "-o", "m.mercer"]);
    assert!(error.contains('^'), "a caret points at the place: {error}");
}

#[test]
fn numbers_out_of_range() {
    let bench = Bench::new();
    bench.write("d.csv", table(20));
    for flags in [
        ["--lambda", "-1"],
        ["--lambda", "nan"],
        ["--holdout", "1.5"],
        ["--threads", "0"],
        ["--threads", "-2"],
        ["--seed", "-1"],
        ["--scale", "log"],
        ["--memory", "lots"],
        ["--bias", "maybe"],
    ] {
        let arguments = [&FIT[..], &flags[..]].concat();
        let output = bench.run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
    }
    let error = bench.fails(1, &[&FIT[..], &["--memory", "1k"][..]].concat());
    assert!(error.contains("3.2 kB") && error.contains("1.0 kB"), "{error}");
}

#[test]
fn missing_files_and_impossible_outputs_are_errors() {
    let bench = Bench::new();
    bench.fails(2, &FIT);
    bench.write("d.csv", table(5));
    bench.fails(2, &["fit", "ridge", "d.csv", "--target", "y", "-o", "no/such/folder/m.mercer"]);
    bench.fails(2, &["fit", "ridge", "d.csv", "--target", "y", "-o", "."]);
    bench.fails(2, &["info", "nothing.mercer"]);
    bench.ok(&FIT);
    for arguments in [
        &["predict", "m.mercer", "d.csv", "-o", "no/such/folder/out.csv"][..],
        &["gram", "d.csv", "-o", "no/such/folder/K.npy"],
        &["plot", "m.mercer", "-o", "no/such/folder/p.svg"],
        &["info", "m.mercer", "--coefficients", "-o", "no/such/folder/c.csv"],
        &["tune", "ridge", "d.csv", "--target", "y", "--plot", "no/such/folder/p.svg", "-o", "t.mercer"],
    ] {
        let error = bench.fails(2, arguments);
        assert!(error.contains("there is no folder no/such/folder"), "{error}");
    }
    assert_eq!(bench.files(), ["d.csv", "m.mercer"]);
}

#[test]
fn damaged_models_are_refused() {
    let bench = Bench::new();
    bench.write("d.csv", table(12));
    bench.ok(&FIT);
    let whole = std::fs::read(bench.path("m.mercer")).unwrap();
    for length in [0, 1, 7, 8, 9, whole.len() / 3, whole.len() - 1] {
        bench.write("cut.mercer", &whole[..length]);
        assert!(bench.fails(2, &["predict", "cut.mercer", "d.csv"]).contains("cut.mercer"));
    }
    bench.write("long.mercer", [&whole[..], b"more"].concat());
    bench.fails(2, &["info", "long.mercer"]);
    for place in (0..whole.len()).step_by(whole.len() / 60) {
        let mut flipped = whole.clone();
        flipped[place] ^= 1 << (place % 8);
        bench.write("flipped.mercer", &flipped);
        bench.fails(2, &["predict", "flipped.mercer", "d.csv", "-o", "out.csv"]);
    }
    bench.write("text.mercer", "not a model");
    assert!(bench.fails(2, &["info", "text.mercer"]).contains("not a mercer model"));
    assert!(!bench.files().contains(&"out.csv".to_owned()));
}

#[test]
fn models_of_a_later_format_are_refused() {
    let bench = Bench::new();
    bench.write("d.csv", table(12));
    bench.ok(&FIT);
    let whole = std::fs::read(bench.path("m.mercer")).unwrap();
    let replace = |from: &str, to: &str| {
        let at = whole.windows(from.len()).position(|w| w == from.as_bytes()).expect(from);
        let mut changed = whole.clone();
        changed[at..at + from.len()].copy_from_slice(to.as_bytes());
        changed
    };
    bench.write("later.mercer", replace(r#"\"format\":1"#, r#"\"format\":9"#));
    assert!(bench.fails(2, &["info", "later.mercer"]).contains("newer"));
    bench.write("feature.mercer", replace(r#"[\"expansion\"]"#, r#"[\"sorcery!!\"]"#));
    assert!(bench.fails(2, &["info", "feature.mercer"]).contains("sorcery!!"));
}

#[test]
fn the_wrong_columns_at_predict() {
    let bench = Bench::new();
    bench.write("d.csv", table(12));
    bench.ok(&FIT);
    bench.write("missing.csv", "a,c\n1,2\n");
    assert!(bench.fails(2, &["predict", "m.mercer", "missing.csv", "-o", "out.csv"]).contains('b'));
    bench.write("narrow.csv", "1\n2\n");
    bench.fails(2, &["predict", "m.mercer", "narrow.csv", "-o", "out.csv"]);
    bench.write("wide.csv", "1,2,3,4,5\n");
    bench.fails(2, &["predict", "m.mercer", "wide.csv", "-o", "out.csv"]);
    let late: String = (0..10_000).map(|i| format!("{i},1\n")).collect();
    bench.write("late.csv", format!("a,b\n{late}1,2,3\n"));
    assert!(bench.fails(2, &["predict", "m.mercer", "late.csv", "-o", "out.csv"]).contains("10002"));
    assert!(
        !bench.files().contains(&"out.csv".to_owned()),
        "an error in the last row leaves no predictions behind"
    );
}

#[test]
fn a_closed_pipe_does_not_panic() {
    let bench = Bench::new();
    bench.write("d.csv", table(20_000));
    bench.write("s.csv", table(20));
    bench.ok(&["fit", "ridge", "s.csv", "--target", "y", "-o", "m.mercer"]);
    let mut child = bench
        .command(&["predict", "m.mercer", "d.csv"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("closed") && !error.contains("panicked"), "{error}");
}

#[test]
fn a_formula_that_is_undefined_on_the_data() {
    let bench = Bench::new();
    bench.write("d.csv", table(12));
    let kernel = ["--kernel", "log(<x,z>)", "--assume-psd"];
    let error = bench.fails(1, &[&FIT[..], &kernel[..]].concat());
    assert!(error.contains("no finite value"), "{error}");
}

#[test]
fn huge_values_do_not_overflow_silently() {
    let bench = Bench::new();
    bench.write("d.csv", "a,y\n1e300,1\n-1e300,2\n5e299,3\n");
    let fit = bench.run(&FIT);
    let error = String::from_utf8_lossy(&fit.stderr).into_owned();
    assert!(fit.status.success() || fit.status.code() == Some(1) || fit.status.code() == Some(2), "{error}");
    assert!(!error.contains("panicked"), "{error}");
    if fit.status.success() {
        let out = bench.ok(&["predict", "m.mercer", "d.csv"]);
        assert!(!out.contains("NaN") && !out.contains("inf"), "{out}");
    }
}

#[test]
fn files_that_are_no_models_are_called_what_they_are() {
    let bench = Bench::new();
    bench.write("d.csv", table(20));
    bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "--lambda", "1", "--quiet", "-o", "whole.mercer"]);
    let whole = std::fs::read(bench.path("whole.mercer")).unwrap();
    let files: [(&str, &[u8], &str); 8] = [
        ("t.xlsx", b"PK\x03\x04\x14\0\x06\0\x08\0\0\0", "this is a spreadsheet\n"),
        ("K.npy", b"\x93NUMPY\x01\0v\0{'descr': '<f8'}", "this is a NumPy array; is it the data?"),
        ("m.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "this is a picture, not a table\n"),
        ("m.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03", "compressed with gzip"),
        ("empty", b"", "the file is empty"),
        ("short", &whole[..7], "cut short or damaged"),
        ("cut", &whole[..whole.len() / 2], "cut short or damaged"),
        ("noise", b"\x81\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b", "its format is unknown"),
    ];
    for (name, bytes, words) in files {
        bench.write(name, bytes);
        let error = bench.fails(2, &["predict", name, "d.csv"]);
        assert!(error.contains(&format!("{name}: not a mercer model: ")) && error.contains(words), "{error}");
        assert!(!error.contains("header"), "{error}");
    }
    let absent = bench.fails(2, &["predict", "none.mercer", "d.csv"]);
    assert!(absent.contains("No such file or directory") && !absent.contains("os error"), "{absent}");
    let absent = bench.fails(2, &["predict", "whole.mercer", "none.csv"]);
    assert!(absent.contains("No such file or directory") && !absent.contains("os error"), "{absent}");
}

#[test]
fn values_out_of_range_name_the_flag_that_has_them() {
    let bench = Bench::new();
    bench.write("d.csv", table(20));
    let of_fit = |method: &'static str, flags: &[&'static str]| {
        [&["fit", method, "d.csv", "--target", "y", "-o", "m.mercer"], flags].concat()
    };
    let of_tune = |flags: &[&'static str]| {
        let kernel = "rbf(sigma=?)";
        [&["tune", "ridge", "d.csv", "--target", "y", "--kernel", kernel, "-o", "m.mercer"], flags].concat()
    };
    for (arguments, message) in [
        (of_fit("perceptron", &["--epochs", "0"]), "--epochs is `0`; it must be a whole number, 1 or more"),
        (of_fit("knn", &["-k", "-3"]), "-k is `-3`; it must be a whole number, 1 or more"),
        (of_fit("knn", &["-k", "2.5"]), "-k is `2.5`; it must be a whole number, 1 or more"),
        (of_fit("gp", &["--restarts", "-1"]), "--restarts is `-1`; it must be a whole number, 0 or more"),
        (of_fit("ridge", &["--memory", "-5G"]), "--memory is `-5G`; expected a number and a unit"),
        (
            of_fit("ridge", &["--device", "tpu"]),
            "--device is `tpu`; the devices are auto, cpu, cuda and cuda:N",
        ),
        (of_fit("ridge", &["--seed", "99999999999999999999"]), "; the number is too large"),
        (of_fit("ridge", &["--threads", "99999999"]), "; it must be a whole number from 1 to 1024"),
        (of_fit("ridge", &["--json=1"]), "--json takes no value"),
        (of_tune(&["--trials", "0"]), "--trials is `0`; it must be a whole number, 1 or more"),
        (of_tune(&["--points", "10000000"]), "; it must be a whole number from 1 to 10000"),
        (vec!["check", "linear", "--dim", "-1"], "--dim is `-1`; allowed are `any` and whole numbers from 1"),
    ] {
        let output = bench.run(&arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(message), "{arguments:?}: {error}");
    }
    let kernel = "rbf(sigma=?)*rbf(sigma=?)[0]*rbf(sigma=?)[1]";
    let tune =
        ["tune", "ridge", "d.csv", "--target", "y", "--search", "grid", "--points", "1000", "--kernel"];
    let error = bench.fails(2, &[&tune[..], &[kernel, "-o", "m.mercer"]].concat());
    assert!(error.contains("1000 points for each of 3 unknowns"), "{error}");
}

#[test]
fn a_step_that_is_too_large_is_a_wrong_argument_everywhere() {
    let bench = Bench::new();
    let rows: String =
        (0..40).map(|i| format!("{},{}\n", f64::from(i) * 0.1, if i % 3 == 0 { "a" } else { "b" })).collect();
    bench.write("d.csv", format!("x,y\n{rows}"));
    let fit = ["fit", "logistic", "d.csv", "--target", "y", "--solver", "gd", "--lambda", "1"];
    let error = bench.fails(2, &[&fit[..], &["--step", "1e9", "-o", "m.mercer"]].concat());
    let safe = error.split("steps up to ").nth(1).unwrap().split(' ').next().unwrap();
    assert!(safe.len() <= 8 && safe.parse::<f64>().is_ok(), "{error}");
}
