//! Files as people have them, and names that are mixed up.

use crate::bench::{Bench, table};

#[test]
fn columns_that_are_not_features_are_left_out() {
    let bench = Bench::new();
    let rows = table(60);
    let with_id: String = rows
        .lines()
        .enumerate()
        .map(
            |(i, line)| if i == 0 { format!("id,when,{line}\n") } else { format!("{i},2024-01-01,{line}\n") },
        )
        .collect();
    bench.write("d.csv", with_id);
    let fit = ["fit", "ridge", "d.csv", "--target", "y", "--lambda", "0.1", "-o", "m.mercer"];
    let error = bench.fails(2, &fit);
    assert!(
        error.contains("`when`") && error.contains("--dates days") && error.contains("--drop when"),
        "{error}"
    );
    let note = bench.ok(&[&fit[..], &["--drop", "when"]].concat());
    assert!(note.contains("`id` looks like row numbers") && note.contains("--drop id"), "{note}");
    for choice in [["--drop", "when,id"], ["--columns", "a,b"]] {
        let output = bench.run(&[&fit[..], &choice].concat());
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        bench.write("new.csv", "b,a\n1,2\n");
        assert_eq!(bench.ok(&["predict", "m.mercer", "new.csv"]).lines().count(), 2);
    }
    bench.ok(&[&fit[..], &["--dates", "days", "--drop", "id"]].concat());
    assert_eq!(bench.ok(&["predict", "m.mercer", "d.csv", "--quiet"]).lines().count(), 61);
}

#[test]
fn input_files_are_not_overwritten() {
    let bench = Bench::new();
    let text = table(30);
    bench.write("d.csv", &text);
    bench.write("d.txt", &text);
    bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "--lambda", "1", "-o", "m.mercer"]);
    let model = std::fs::read(bench.path("m.mercer")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(bench.path("d.csv"), bench.path("link.csv")).unwrap();
    for arguments in [
        &["fit", "ridge", "d.csv", "--target", "y", "--lambda", "1", "-o", "d.csv"][..],
        &["fit", "ridge", "d.csv", "--target", "y", "--lambda", "1", "-o", "./d.csv"],
        &["tune", "ridge", "d.csv", "--target", "y", "-o", "d.csv"],
        &["predict", "m.mercer", "d.csv", "-o", "d.csv"],
        &["predict", "m.mercer", "d.csv", "-o", "m.mercer"],
        &["gram", "d.csv", "--kernel", "rbf", "-o", "d.csv"],
        &["tune", "ridge", "d.csv", "--target", "y", "--checkpoint", "d.csv", "-o", "t.mercer"],
        &["tune", "ridge", "d.txt", "--target", "y", "--plot", "d.txt", "-o", "t.mercer"],
        &[
            "fit",
            "ridge",
            "d.csv",
            "--target",
            "y",
            "--approx",
            "fourier:8",
            "--checkpoint",
            "d.csv",
            "-o",
            "t.mercer",
        ],
        #[cfg(unix)]
        &["predict", "m.mercer", "d.csv", "-o", "link.csv"],
        #[cfg(unix)]
        &["predict", "m.mercer", "link.csv", "-o", "d.csv"],
    ] {
        let error = bench.fails(2, arguments);
        assert!(error.contains("would overwrite"), "{error}");
    }
    assert_eq!(bench.read("d.csv"), text);
    assert_eq!(bench.read("d.txt"), text);
    assert_eq!(std::fs::read(bench.path("m.mercer")).unwrap(), model);
}

/// A checkpoint is removed at the end of a fit, so it must not be the model.
#[test]
fn two_outputs_are_two_files() {
    let bench = Bench::new();
    bench.write("d.csv", table(30));
    for arguments in [
        &["fit", "ridge", "d.csv", "--approx", "fourier:8", "--checkpoint", "m.mercer", "-o", "./m.mercer"][..],
        &["tune", "ridge", "d.csv", "--checkpoint", "m.mercer", "-o", "m.mercer"],
        &["tune", "ridge", "d.csv", "--plot", "m.svg", "-o", "m.svg"],
    ] {
        let error = bench.fails(2, &[arguments, &["--target", "y"]].concat());
        assert!(error.contains("and --output name the same file"), "{error}");
    }
    assert_eq!(bench.files(), ["d.csv"]);
}

#[test]
fn models_and_data_passed_in_the_wrong_place_are_named() {
    let bench = Bench::new();
    bench.write("d.csv", table(30));
    bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "--lambda", "1", "-o", "m.mercer"]);
    let error = bench.fails(2, &["predict", "d.csv", "m.mercer"]);
    assert!(error.contains("d.csv: not a mercer model") && error.contains("text file"), "{error}");
    let error = bench.fails(2, &["predict", "m.mercer", "m.mercer"]);
    assert!(error.contains("this is a mercer model, not data"), "{error}");
    let output = bench.run(&["predict", "m.mercer", "m.mercer"]);
    assert!(output.stdout.is_empty(), "no header before there are predictions");
}

#[test]
fn a_kernel_matrix_with_a_csv_name_is_written_as_csv() {
    let bench = Bench::new();
    bench.write("d.csv", "a\n0\n2\n");
    bench.ok(&["gram", "d.csv", "--kernel", "1+<x,z>", "-o", "K.csv"]);
    assert_eq!(bench.read("K.csv"), "1,1\n1,5\n");
}

#[test]
fn requests_that_cannot_be_met_are_refused() {
    let bench = Bench::new();
    bench.write("d.csv", table(30));
    let error = bench.fails(
        2,
        &["fit", "ridge", "d.csv", "--target", "y", "--lambda", "1", "--holdout", "0.99", "-o", "m"],
    );
    assert!(error.contains("a held-out fraction of 0.99 leaves fewer than two of the 30 rows"), "{error}");
    // The same for a file that is read in passes.
    let approx = ["--approx", "fourier:8", "-o", "m"];
    for arguments in [
        &["fit", "ridge", "d.csv", "--target", "y", "--lambda", "1", "--holdout", "0.99"][..],
        &["tune", "ridge", "d.csv", "--target", "y", "--outer", "0.99"],
    ] {
        let error = bench.fails(2, &[arguments, &approx].concat());
        assert!(error.contains("leaves fewer than two of the 30 rows"), "{error}");
    }
    let error = bench.fails(
        2,
        &["tune", "ridge", "d.csv", "--target", "y", "--outer", "1.5", "--approx", "fourier:8", "-o", "m"],
    );
    assert!(error.contains("at least 0 and less than 1"), "{error}");
    bench.fails(
        2,
        &["tune", "ridge", "d.csv", "--target", "y", "--folds", "3", "--holdout", "0.2", "-o", "m"],
    );
    let error = bench.fails(2, &["fit", "one-class", "d.csv", "--target", "y", "-o", "m"]);
    assert!(error.contains("1 for inliers and -1 for outliers") && error.contains("--drop y"), "{error}");
    assert_eq!(bench.files(), ["d.csv"]);
}

/// The prediction is the sum of what `info --coefficients` prints.
#[test]
fn coefficients_match_the_predictions() {
    let bench = Bench::new();
    bench.write("d.csv", table(12));
    let fit =
        ["fit", "ridge", "d.csv", "--target", "y", "--lambda", "0.1", "--scale", "none", "-o", "m.mercer"];
    bench.ok(&[&fit[..], &["--kernel", "<x,z>", "--solver", "cholesky"]].concat());
    bench.ok(&["info", "m.mercer", "--coefficients", "-o", "c.csv"]);
    let text = bench.read("c.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("term,coefficient,a,b"));
    let number = |field: &str| field.parse::<f64>().unwrap();
    let mut f = number(lines.next().unwrap().strip_prefix("intercept,").unwrap().trim_end_matches(','));
    for line in lines {
        let fields: Vec<f64> = line.split(',').map(number).collect();
        f += fields[1] * (2.0 * fields[2] + 0.5 * fields[3]);
    }
    bench.write("new.csv", "a,b\n2,0.5\n");
    let predicted = bench.ok(&["predict", "m.mercer", "new.csv"]);
    let predicted = number(predicted.lines().nth(1).unwrap());
    assert!((f - predicted).abs() < 1e-9, "{f} {predicted}");
    let error = bench.fails(2, &["info", "m.mercer", "--coefficients", "-o", "m.mercer"]);
    assert!(error.contains("would overwrite"), "{error}");
}

#[test]
fn the_help_of_a_method_shows_what_applies_to_it() {
    let bench = Bench::new();
    for (method, has, lacks) in [
        ("svc", "--probability", "--epsilon"),
        ("ridge", "--lambda", "--nu"),
        ("knn", "-k <N>", "--kernel"),
        ("one-class", "--nu", "--C "),
    ] {
        let help = bench.ok(&["fit", method, "--help"]);
        assert!(help.contains(has) && !help.contains(lacks), "{help}");
        assert!(help.lines().count() < 80, "{} lines\n{help}", help.lines().count());
        assert_eq!(help.matches(&format!("  mercer fit {method} data.csv")).count(), 2, "{help}");
        for group in ["Data:", "Method:", "Output:"] {
            assert!(help.contains(group), "{help}");
        }
    }
    assert!(bench.ok(&["tune", "svc", "--help"]).lines().count() < 80);
    for (method, has, lacks) in [("knn", "--queries", "--lambda "), ("ridge", "--lambda ", "--epochs")] {
        let help = bench.ok(&["plan", method, "--help"]);
        assert!(help.contains(has) && !help.contains(lacks) && help.contains("Data:"), "{help}");
        assert!(help.lines().count() < 80, "{help}");
    }
}

#[test]
fn the_help_of_a_method_says_what_can_be_typed() {
    let bench = Bench::new();
    for subcommand in ["fit", "tune"] {
        let methods = [
            "ridge",
            "svc",
            "nu-svc",
            "svr",
            "nu-svr",
            "logistic",
            "perceptron",
            "one-class",
            "knn",
            "smoother",
        ];
        for method in methods.into_iter().chain(["lms", "gp"].into_iter().filter(|_| subcommand == "fit")) {
            let help = bench.ok(&[subcommand, method, "--help"]);
            assert!(help.lines().count() < 80, "{} lines\n{help}", help.lines().count());
            assert!(!help.contains("`gram`") && !help.contains('Λ'), "{help}");
            let data = help.split("Data:\n").nth(1).unwrap();
            assert!(data.trim_start().starts_with("--target"), "{help}");
            // Each example is one line, to be copied.
            let examples = help.split("Examples:\n").nth(1).unwrap().lines();
            let examples: Vec<&str> = examples.take_while(|line| !line.is_empty()).collect();
            assert!(
                examples.len() == 2 && examples.iter().all(|line| line.ends_with("-o m.mercer")),
                "{help}"
            );
        }
    }
    assert!(bench.ok(&["fit", "svc", "--help"]).contains("`precomputed`"));
    assert!(!bench.ok(&["fit", "ridge", "--help"]).contains("precomputed"));
    let gp = bench.ok(&["fit", "gp", "--help"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(gp.contains("[default: ?*rbf(sigma=[?])]"), "{gp}");
    assert!(bench.ok(&["tune", "ridge", "--help"]).contains("loo|gcv|folds|holdout"));
}

#[test]
fn flags_of_other_programs_are_translated() {
    let bench = Bench::new();
    bench.write("d.csv", table(10));
    let fit = ["fit", "ridge", "d.csv", "--target", "y", "-o", "m.mercer"];
    for (flag, value, hint) in [
        ("--gamma", "0.1", "rbf(gamma=0.1)"),
        ("--alpha", "1", "--lambda"),
        ("--lambda", "?", "mercer tune"),
        ("--n-jobs", "2", "--threads"),
        ("--folds", "5", "mercer tune"),
        ("--lamda", "1", "did you mean --lambda?"),
        ("--frobnicate", "1", "`mercer fit ridge --help` lists the options"),
        ("y", "x", "`mercer fit ridge --help` lists the options"),
    ] {
        let error = bench.fails(2, &[&fit[..], &[flag, value]].concat());
        assert!(error.contains("hint: ") && error.contains(hint), "{error}");
        assert!(error.lines().count() == 2, "{error}");
    }
    for (method, hint) in [("svm", "svc classifies"), ("krr", "ridge"), ("ridg", "did you mean ridge?")] {
        let error = bench.fails(2, &["fit", method, "d.csv", "--target", "y", "-o", "m.mercer"]);
        assert!(error.contains(&format!("there is no method {method}")) && error.contains(hint), "{error}");
    }
    for (flags, message) in [
        (&["--lambda", "much"][..], "--lambda is `much`; it must be a number\n"),
        (&["--threads", "0"], "--threads is `0`; it must be a whole number, 1 or more\n"),
        (&["--seed", "-1"], "--seed is `-1`; it must be a whole number, 0 or more\n"),
        (&["--scale", "log"], "--scale is `log`; it must be one of standard, minmax, none\n"),
        (&["--dates", "years"], "--dates is `years`; it must be days\n"),
        (&["--kernel", "rbf", "--features", "x"], "--kernel cannot be combined with --features\n"),
        (&["y"], "`mercer fit ridge` has no place for a further argument, `y`\n"),
    ] {
        let error = bench.fails(2, &[&fit[..], flags].concat());
        assert!(error.contains(message), "{error}");
    }
    let error = bench.fails(2, &fit[..5]);
    assert!(error.contains("`mercer fit ridge` needs --output <MODEL>\n  hint: "), "{error}");
    let error = bench.fails(2, &["ridge", "d.csv"]);
    assert!(error.contains("there is no command ridge") && error.contains("`mercer fit ridge`"), "{error}");
    let error = bench.fails(2, &["fit", "ridge", "d.csv", "--target", "Y", "-o", "m.mercer"]);
    assert!(error.contains("no column `Y` (did you mean `y`?)"), "{error}");
    let error = bench.fails(2, &["fit", "ridge", "d.csv", "--target", "9", "-o", "m.mercer"]);
    assert!(error.contains("no column `9` (columns are numbered from 0 to 2)"), "{error}");
}

#[test]
fn errors_are_json_with_the_json_flag() {
    let bench = Bench::new();
    for arguments in [
        &["fit", "ridge", "absent.csv", "--target", "y", "-o", "m.mercer", "--json"][..],
        &["fit", "ridge", "--gamma", "1", "--json"],
    ] {
        let output = bench.run(arguments);
        assert_eq!(output.status.code(), Some(2));
        let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(document["error"].is_string() && document["code"] == 2, "{document}");
        assert!(output.stderr.is_empty());
    }
}

#[test]
fn columns_of_a_kernel_go_by_their_names() {
    let bench = Bench::new();
    bench.write("d.csv", table(40));
    let fit = |kernel: &str, model: &str| {
        bench.ok(&[
            "fit", "ridge", "d.csv", "--target", "y", "--kernel", kernel, "--lambda", "0.1", "-o", model,
        ])
    };
    fit("rbf(sigma=1)[b] + linear[a..b]", "named.mercer");
    fit("rbf(sigma=1)[1] + linear[0..2]", "numbered.mercer");
    assert_eq!(
        std::fs::read(bench.path("named.mercer")).unwrap(),
        std::fs::read(bench.path("numbered.mercer")).unwrap()
    );
    bench.ok(&["gram", "d.csv", "--drop", "y", "--kernel", "rbf(sigma=1)[b]", "-o", "K.csv"]);
    let unknown =
        ["fit", "ridge", "d.csv", "--target", "y", "--kernel", "rbf[bb]", "--lambda", "0.1", "-o", "m"];
    let error = bench.fails(2, &unknown);
    assert!(
        error.contains("`bb`") && error.contains("did you mean `b`") && error.contains("a, b"),
        "{error}"
    );
    let error = bench.fails(2, &["check", "rbf(sigma=1)[crim]"]);
    assert!(error.contains("names of columns need data"), "{error}");
    for (kernel, near) in [("RBF", "`rbf`"), ("rbf(gamma=scale)", "`auto`")] {
        let error = bench.fails(2, &["check", kernel]);
        assert!(error.contains(&format!("did you mean {near}")), "{error}");
    }
}

#[test]
fn a_step_scales_the_perceptron_and_moves_logistic_regression() {
    let bench = Bench::new();
    let rows: String = (0..40)
        .map(|i| format!("{},{}\n", i as f64 * 0.1, if i % 40 < 20 { "low" } else { "high" }))
        .collect();
    bench.write("d.csv", format!("a,y\n{rows}"));
    let decision = |method: &str, more: &[&str]| {
        let fit = ["fit", method, "d.csv", "--target", "y", "--kernel", "rbf(sigma=1)", "-q", "-o", "m"];
        bench.run(&[&fit[..], more].concat());
        let text = bench.ok(&["predict", "m", "d.csv", "--decision", "-q"]);
        text.lines().nth(1).unwrap().split(',').rev().nth(1).unwrap().parse::<f64>().unwrap()
    };
    let (one, two) = (decision("perceptron", &[]), decision("perceptron", &["--step", "2"]));
    assert!((two - 2.0 * one).abs() < 1e-12 && one != 0.0, "{one} {two}");
    let gd = |step: &str| {
        decision("logistic", &["--lambda", "1", "--solver", "gd", "--epochs", "3", "--step", step])
    };
    assert_ne!(gd("0.01"), gd("0.02"));
    let newton = ["fit", "logistic", "d.csv", "--target", "y", "--C", "1", "--step", "1", "-o", "m"];
    assert!(bench.fails(2, &newton).contains("--solver gd and sgd"));
}

#[test]
fn rows_outside_the_domain_of_a_kernel_come_with_advice() {
    let bench = Bench::new();
    bench.write("d.csv", table(30));
    let fit = ["fit", "ridge", "d.csv", "--target", "y", "--lambda", "0.1", "-o", "m.mercer"];
    bench.ok(&[&fit[..], &["--kernel", "chi2", "--scale", "minmax"]].concat());
    bench.ok(&["predict", "m.mercer", "d.csv"]);
    let error = bench.fails(1, &[&fit[..], &["--kernel", "chi2"]].concat());
    assert!(error.contains("--scale minmax"), "{error}");
    bench.write("far.csv", "a,b\n-1000,-1000\n");
    bench.ok(&[&fit[..], &["--kernel", "chi2", "--scale", "none"]].concat());
    let error = bench.fails(2, &["predict", "m.mercer", "far.csv"]);
    assert!(error.contains("below 0") && error.contains("outside the range of the training rows"), "{error}");
}

#[test]
fn a_solution_spoiled_by_rounding_is_not_converged() {
    let bench = Bench::new();
    bench.write("d.csv", table(60));
    let fit = ["fit", "ridge", "d.csv", "--target", "y", "--kernel", "rbf(sigma=1e9)", "--lambda", "1e-12"];
    let output = bench.run(&[&fit[..], &["-o", "m.mercer", "--json"]].concat());
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_ne!(document["report"]["status"], "converged", "{document}");
}

#[test]
fn sparse_rows_are_not_reported_as_scaled_to_the_unit_interval() {
    let bench = Bench::new();
    bench.write("s.svm", "1 1:3 2:5\n-1 1:1\n1 2:4\n-1 1:2 2:1\n1 1:3 2:4\n-1 1:0.5 2:0.5\n");
    let report = bench
        .ok(&["fit", "svc", "s.svm", "--target", "label", "--scale", "minmax", "--C", "1", "-o", "m.mercer"]);
    assert!(report.contains("divided by the largest magnitude of each column"), "{report}");
}

#[test]
fn a_fit_without_a_target_says_so() {
    let bench = Bench::new();
    bench.write("d.csv", table(30));
    let report = bench.ok(&["fit", "one-class", "d.csv", "--nu", "0.2", "-o", "m.mercer"]);
    assert!(report.contains("30 rows, 3 features, no target\n"), "{report}");
    bench.write("c.csv", "a,y\n".to_owned() + &"1,5\n2,5\n".repeat(10));
    let report = bench.ok(&["fit", "ridge", "c.csv", "--target", "y", "-o", "m.mercer"]);
    assert!(
        report.contains(
            "the target is the same in every row, so nothing was chosen; the fixed defaults are used\n"
        ),
        "{report}"
    );
}

/// Names of files are bytes, which need not be UTF-8; the report repeats the command.
#[cfg(target_os = "linux")]
#[test]
fn the_name_of_a_file_may_be_any_bytes() {
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    bench.write("d.csv", table(40));
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.mercer");
    let output = bench.command(&["fit", "ridge", "d.csv", "--target", "y", "-o"]).arg(name).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let info = bench.command(&["info"]).arg(name).output().unwrap();
    assert!(info.status.success(), "{info:?}");
}

#[test]
fn a_file_without_a_header_and_text_that_is_not_utf8_are_named() {
    let bench = Bench::new();
    bench.write("plain.csv", "5.1,3.5,1\n4.9,3.0,2\n");
    let error = bench.fails(2, &["fit", "ridge", "plain.csv", "--target", "y", "-o", "m.mercer"]);
    assert!(error.contains("no header line was found, so the first line is data"), "{error}");
    bench.write("latin.csv", b"town,a,y\nK\xf6ln,1,2\nBonn,2,3\n");
    let error = bench.fails(2, &["fit", "ridge", "latin.csv", "--target", "y", "-o", "m.mercer"]);
    assert!(error.contains("line 2") && error.contains("the text is not UTF-8"), "{error}");
}

#[test]
fn days_are_not_taken_for_row_numbers() {
    let bench = Bench::new();
    let rows: String = (0..28).map(|i| format!("2024-02-{:02},{i},{}\n", i + 1, (i * 5) % 7)).collect();
    bench.write("d.csv", format!("day,n,y\n{rows}"));
    let report = bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "--dates", "days", "-o", "m.mercer"]);
    assert!(
        !report.contains("`day` looks like") && report.contains("`n` looks like row numbers"),
        "{report}"
    );
}

#[cfg(unix)]
#[test]
fn hard_links_of_the_input_are_not_overwritten() {
    let bench = Bench::new();
    let data = bench.write("d.csv", table(20));
    std::fs::hard_link(&data, bench.path("link.csv")).unwrap();
    let error = bench.fails(2, &["fit", "ridge", "d.csv", "--target", "y", "-o", "link.csv"]);
    assert!(error.contains("would overwrite the input"), "{error}");
    assert_eq!(bench.read("d.csv"), table(20));
}

#[test]
fn the_ending_of_a_matrix_file_names_its_format() {
    let bench = Bench::new();
    bench.write("d.csv", table(5));
    for output in ["K.txt", "K", "-"] {
        let error = bench.fails(2, &["gram", "d.csv", "--kernel", "linear", "-o", output]);
        assert!(error.contains("must be .npy or .csv"), "{output}: {error}");
    }
    assert_eq!(bench.files(), ["d.csv"]);
}

#[test]
fn quiet_commands_print_errors_only() {
    let bench = Bench::new();
    bench.write("d.csv", table(20));
    let fit = ["fit", "svr", "d.csv", "--target", "y", "--epsilon", "100", "-o", "m.mercer"];
    assert!(String::from_utf8(bench.run(&fit).stderr).unwrap().contains("warning: "));
    let output = bench.run(&[&fit[..], &["-q"]].concat());
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn the_bare_command_prints_its_help_without_an_error() {
    let output = Bench::new().run(&[]);
    let help = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!help.contains("error:") && help.contains("Usage: mercer"), "{help}");
}
