//! Gaussian processes on the command line: fit, predict with standard deviations, plan, plot, discover.

use crate::bench::Bench;
use serde_json::Value;

/// A noisy sine of the first of two columns.
fn waves(rows: usize) -> String {
    let mut text = "x,other,y\n".to_owned();
    for i in 0..rows {
        let (x, other) = (i as f64 * 0.07, ((i * 37) % 11) as f64);
        let noise = (((i * 7919) % 97) as f64 / 97.0 - 0.5) * 0.2;
        text.push_str(&format!("{x},{other},{}\n", 3.0 + x.sin() + noise));
    }
    text
}

fn column(out: &str, name: &str) -> Vec<f64> {
    let place = out.lines().next().unwrap().split(',').position(|field| field == name).unwrap();
    out.lines().skip(1).map(|line| line.split(',').nth(place).unwrap().parse().unwrap()).collect()
}

#[test]
fn fit_reports_what_it_learnt_and_predict_writes_deviations() {
    let bench = Bench::new();
    bench.write("d.csv", waves(90));
    let text = bench.ok(&["fit", "gp", "d.csv", "--target", "y", "-o", "m.mercer"]);
    for part in ["log-likelihood", "noise", "rbf sigma [x]", "NLPD", "intervals of 50/90/95%"] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let (x, other) = (text.find("rbf sigma [x]").unwrap(), text.find("rbf sigma [other]").unwrap());
    assert!(x < other, "the column that matters comes first:\n{text}");
    let out = bench.ok(&["predict", "m.mercer", "d.csv", "--std", "--interval", "0.9"]);
    assert_eq!(out.lines().next(), Some("std,lower,upper,prediction"));
    let (std, lower, upper, mean) =
        (column(&out, "std"), column(&out, "lower"), column(&out, "upper"), column(&out, "prediction"));
    for i in 0..90 {
        assert!(std[i] > 0.03 && std[i] < 0.2, "{}", std[i]);
        // The normal quantile of 0.95.
        assert!((upper[i] - mean[i] - 1.644_853_626_951_472_2 * std[i]).abs() < 1e-9);
        assert!((mean[i] - lower[i] - (upper[i] - mean[i])).abs() < 1e-9);
    }
    let info: Value = serde_json::from_str(&bench.ok(&["info", "m.mercer", "--json"])).unwrap();
    assert_eq!((&info["method"], &info["variance"]), (&"gp".into(), &true.into()));
    let plan = bench.ok(&["plan", "gp", "d.csv", "--target", "y", "--kernel", "?*rbf(sigma=[?])"]);
    assert!(plan.contains("evaluations of the likelihood"), "{plan}");
}

#[test]
fn without_variance_there_are_no_deviations() {
    let bench = Bench::new();
    bench.write("d.csv", waves(30));
    bench.ok(&[
        "fit",
        "gp",
        "d.csv",
        "--target",
        "y",
        "--kernel",
        "?*rbf(sigma=?)",
        "--no-variance",
        "-o",
        "m.mercer",
    ]);
    let error = bench.fails(2, &["predict", "m.mercer", "d.csv", "--std"]);
    assert!(error.contains("--no-variance"), "{error}");
    bench.ok(&["fit", "ridge", "d.csv", "--target", "y", "--lambda", "1", "-o", "r.mercer"]);
    let error = bench.fails(2, &["predict", "r.mercer", "d.csv", "--interval", "0.9"]);
    assert!(error.contains("fit gp"), "{error}");
    let error = bench
        .fails(2, &["fit", "gp", "d.csv", "--target", "y", "--kernel", "matern(nu=?)", "-o", "n.mercer"]);
    assert!(error.contains("nu is a choice"), "{error}");
    let error = bench.fails(2, &["fit", "ridge", "d.csv", "--target", "y", "--noise", "1", "-o", "n.mercer"]);
    assert!(error.contains("--noise does not apply to ridge"), "{error}");
}

#[test]
fn a_curve_shows_its_band_and_posterior_samples() {
    let bench = Bench::new();
    bench.write("d.csv", waves(40));
    bench.ok(&["fit", "gp", "d.csv", "--target", "y", "--drop", "other", "-o", "m.mercer"]);
    bench.ok(&["plot", "m.mercer", "d.csv", "-o", "p.svg"]);
    let svg = bench.read("p.svg");
    assert!(svg.contains("95% of new data") && svg.contains("draws from the posterior"), "{svg}");
}

#[test]
fn discover_finds_and_reports_a_cycle() {
    let bench = Bench::new();
    let mut text = "t,y\n".to_owned();
    for i in 0..96 {
        let t = i as f64 / 12.0;
        let noise = (((i * 7919) % 97) as f64 / 97.0 - 0.5) * 0.2;
        let y = 1.5 * t + 4.0 * (2.0 * std::f64::consts::PI * t).sin() + noise;
        text.push_str(&format!("{t:.6},{y:.6}\n"));
    }
    bench.write("d.csv", text);
    let arguments = ["discover", "d.csv", "--target", "t_", "-o", "m.mercer"];
    bench.fails(2, &arguments);
    let document: Value = serde_json::from_str(&bench.ok(&[
        "discover",
        "d.csv",
        "--target",
        "y",
        "--candidates",
        "24",
        "--plot",
        "parts.svg",
        "--json",
        "-o",
        "m.mercer",
    ]))
    .unwrap();
    let words = document["words"].to_string();
    assert!(words.contains("cycle") && words.contains("noise"), "{words}");
    let ladder = document["ladder"].as_array().unwrap();
    let score = |step: &Value| step["score"].as_f64().unwrap();
    assert!(ladder.windows(2).all(|pair| score(&pair[0]) < score(&pair[1])), "{ladder:?}");
    assert!(document["tried"].as_u64().unwrap() <= 24);
    assert!(bench.read("parts.svg").contains("The parts of y"));
    let r2 = document["holdout"][0]["r2"].as_f64().unwrap();
    assert!(r2 > 0.95, "{r2}");
    bench.ok(&["predict", "m.mercer", "d.csv", "--std", "-o", "out.csv"]);
}

#[test]
fn conjugate_gradients_report_the_error_of_the_likelihood() {
    let bench = Bench::new();
    bench.write("d.csv", waves(150));
    let fit = ["fit", "gp", "d.csv", "--target", "y", "--kernel", "?*rbf(sigma=?)", "--drop", "other"];
    let exact: Value = serde_json::from_str(
        &bench.ok(&[&fit[..], &["--solver", "cholesky", "--json", "-o", "e.mercer"]].concat()),
    )
    .unwrap();
    let found: Value = serde_json::from_str(
        &bench.ok(&[&fit[..], &["--solver", "cg", "--json", "-o", "m.mercer"]].concat()),
    )
    .unwrap();
    let likelihood = |document: &Value| document["log_likelihood"].as_f64().unwrap();
    let error = found["log_likelihood_error"].as_f64().unwrap();
    assert!((likelihood(&found) - likelihood(&exact)).abs() < 1.0 + 4.0 * error, "{found}");
    assert_eq!(found["solver"], "cg");
    assert!(found["report"]["solver"].as_str().unwrap().contains("conjugate gradients"));
    let text = bench.ok(&[&fit[..], &["--solver", "cg", "-o", "m.mercer"]].concat());
    assert!(text.contains("10 random probes with a standard error of"), "{text}");
    assert!(!text.contains("left out"), "predict --std works below:\n{text}");
    let deviations = |model: &str| column(&bench.ok(&["predict", model, "d.csv", "--std"]), "std");
    for (cg, cholesky) in deviations("m.mercer").iter().zip(deviations("e.mercer")) {
        assert!((cg / cholesky - 1.0).abs() < 0.1, "{cg} and {cholesky}");
    }
    for (flags, expected) in [
        (&["--solver", "newton"][..], "auto, cholesky or cg"),
        (&["--solver", "cg", "--approx", "nystrom:20"], "without inducing points"),
        (&["--solver", "cg", "--objective", "loo"], "Cholesky solver"),
        (&["--solver", "cg", "--noise", "0"], "noise above 0"),
        (&["--approx", "fourier:20"], "nystrom:M"),
    ] {
        let error = bench.fails(2, &[&fit[..], flags, &["-o", "n.mercer"]].concat());
        assert!(error.contains(expected), "{flags:?}: {error}");
    }
}

#[test]
fn the_leave_one_out_density_is_an_objective() {
    let bench = Bench::new();
    bench.write("d.csv", waves(60));
    let fit = ["fit", "gp", "d.csv", "--target", "y", "--json"];
    let document =
        |flags: &[&str]| -> Value { serde_json::from_str(&bench.ok(&[&fit[..], flags].concat())).unwrap() };
    let likelihood = document(&["-o", "a.mercer"]);
    let loo = document(&["--objective", "loo", "-o", "b.mercer"]);
    assert_eq!(
        (&likelihood["objective"], &loo["objective"]),
        (&"likelihood".into(), &"leave-one-out".into())
    );
    // Each maximises its own objective: the maximum of the likelihood has the larger likelihood.
    let value = |document: &Value| document["log_likelihood"].as_f64().unwrap();
    assert!(value(&likelihood) >= value(&loo) && likelihood["parameters"] != loo["parameters"]);
}

/// The fit to all rows starts where the one without the held-out rows ended, and tells the same settings.
#[test]
fn the_second_fit_starts_where_the_first_ended() {
    let bench = Bench::new();
    bench.write("d.csv", waves(90));
    let steps = |holdout: &str| -> (u64, f64, Value) {
        let fit = ["fit", "gp", "d.csv", "--target", "y", "--restarts", "2", "--json", "-o", "m.mercer"];
        let text = bench.ok(&[&fit[..], &["--holdout", holdout]].concat());
        let document: Value = serde_json::from_str(&text).unwrap();
        let steps = document["report"]["iterations"].as_u64().unwrap();
        (steps, document["log_likelihood"].as_f64().unwrap(), document["restarts"].clone())
    };
    let ((alone, best, asked), (after, near, kept)) = (steps("0"), steps("0.2"));
    assert!(after < alone, "{after} steps after the held-out fit, {alone} without it");
    assert!(near > best - 0.5, "{near} against {best}");
    assert_eq!((asked, kept), (2.into(), 2.into()));
    let rows: String = (0..60)
        .map(|i| format!("{},{}\n", i % 30, if (i % 30) * 7 % 30 < 15 { "low" } else { "high" }))
        .collect();
    bench.write("c.csv", format!("x,y\n{rows}"));
    let steps = |holdout: &str| {
        let fit = ["fit", "gp", "c.csv", "--target", "y", "--json", "-o", "m.mercer", "--holdout", holdout];
        let document: Value = serde_json::from_str(&bench.ok(&fit)).unwrap();
        document["report"]["iterations"].as_u64().unwrap()
    };
    let (alone, after) = (steps("0"), steps("0.2"));
    assert!(after < alone, "classes: {after} steps after the held-out fit, {alone} without it");
}

#[test]
fn a_plan_chooses_the_solver_of_the_fit() {
    let bench = Bench::new();
    let plan = |shape: &str, more: &[&str]| -> Value {
        let plan = ["plan", "gp", "--shape", shape, "--kernel", "?*rbf(sigma=?)", "--json"];
        serde_json::from_str(&bench.ok(&[&plan[..], more].concat())).unwrap()
    };
    for (shape, more, way) in [
        ("2000,4", &[][..], "dual-double"),
        ("5000,4", &["--memory", "300M"], "conjugate-gradients"),
        ("200000,4", &[], "landmarks"),
    ] {
        let plan = plan(shape, more);
        assert_eq!(plan["chosen"]["way"]["name"], way, "{shape}: {plan}");
        assert_eq!(plan["alternatives"].as_array().unwrap().len(), 2);
        assert!(plan["reasons"].to_string().contains("Cholesky factor is used if"), "{plan}");
    }
}

#[test]
fn unusable_data_is_reported() {
    let bench = Bench::new();
    let fit = |rows: &str, flags: &[&str]| {
        bench.write("d.csv", format!("x,y\n{rows}"));
        [&["fit", "gp", "d.csv", "--target", "y", "-o", "m.mercer"], flags]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let few: String = (0..12).map(|i| format!("{i},{}\n", f64::from(i).sin())).collect();
    let constant: String = (0..12).map(|i| format!("{i},4\n")).collect();
    let twice: String = (0..12).map(|i| format!("{},{i}\n", i / 2)).collect();
    for (rows, flags, code, expected) in [
        (&constant, &[][..], 0, "same in every row"),
        (
            &twice,
            &["--kernel", "rbf", "--noise", "0", "--holdout", "0"],
            0,
            "rows 0 and 1 (counted from 0) are equal but have different targets",
        ),
        (&"1,2\n".to_owned(), &[], 0, "same in every row"),
        // With the noise to be learnt, all would be noise.
        (
            &few,
            &["--kernel", "rbf(sigma=?5..10)", "--noise", "0.01", "--holdout", "0"],
            0,
            "rbf sigma is at its lower bound",
        ),
        (
            &few,
            &["--kernel", "rbf(sigma=[?5..10])", "--noise", "0.01", "--holdout", "0"],
            0,
            "rbf sigma is at its lower bound",
        ),
        (&few, &["--kernel", "?*sigmoid(gamma=1,c=-1)"], 1, "--assume-psd"),
        (&few, &["--noise", "-1"], 2, "noise is -1"),
        (&few, &["--kernel", "poly(degree=?)"], 2, "degree is a choice"),
        (&"1,2\n2,nan\n3,4\n".to_owned(), &[], 2, "line 3"),
    ] {
        let command = fit(rows, flags);
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let said = match code {
            0 => {
                let output = bench.run(&command);
                assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
                String::from_utf8(output.stderr).unwrap()
            }
            code => bench.fails(code, &command),
        };
        assert!(said.contains(expected), "{flags:?}: {said}");
    }
}

#[test]
fn unusable_data_for_discover_is_reported() {
    let bench = Bench::new();
    let constant: String = (0..12).map(|i| format!("{i},4\n")).collect();
    for (rows, flags, code, expected) in [
        (&constant, &[][..], 1, "the target is 4 in every row"),
        (&"1,2\n".to_owned(), &[], 1, "the target is 2 in every row"),
        (&"1,2\n2,5\n4,7\n".to_owned(), &["--candidates", "0"], 2, "--candidates is `0`"),
        (&"1,2\n2,nan\n3,4\n".to_owned(), &[], 2, "line 3"),
    ] {
        bench.write("d.csv", format!("x,y\n{rows}"));
        let discover = ["discover", "d.csv", "--target", "y", "-o", "m.mercer"];
        let error = bench.fails(code, &[&discover[..], flags].concat());
        assert!(error.contains(expected), "{error}");
        assert_eq!(bench.files(), ["d.csv"]);
    }
}

/// However short the time is, one formula is tried.
#[test]
fn discover_has_a_result_after_its_seconds() {
    let bench = Bench::new();
    bench.write("d.csv", waves(40));
    let text = bench.ok(&["discover", "d.csv", "--target", "y", "--seconds", "1e-6", "-o", "m.mercer"]);
    assert!(text.contains("1 formula compared on 32 rows; ended early, the best so far is kept"), "{text}");
    bench.ok(&["predict", "m.mercer", "d.csv", "--std", "-o", "out.csv"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_discovery_and_keeps_the_best_formula() {
    use std::process::{Command, Stdio};
    let bench = Bench::new();
    // All formulas would take minutes.
    bench.write("d.csv", waves(600));
    let discover = ["discover", "d.csv", "--target", "y", "--candidates", "1000", "--json", "-o", "m.mercer"];
    // The first formula takes longer on a busy machine; without one nothing is written.
    for seconds in [2, 4, 8, 16, 32, 64] {
        let mut command = bench.command(&discover);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(seconds));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        if output.status.code() == Some(130) {
            assert_eq!(bench.files(), ["d.csv"]);
            continue;
        }
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(document["ended_early"], true, "{document}");
        assert!(document["holdout"][0]["rmse"].as_f64().unwrap().is_finite(), "{document}");
        bench.ok(&["predict", "m.mercer", "d.csv", "--std", "-o", "out.csv"]);
        return;
    }
    panic!("no formula was tried within 64 seconds");
}

/// A period that is a number is in the unit of its column, a year here.
#[test]
fn a_period_keeps_the_columns_in_their_units() {
    let bench = Bench::new();
    let mut text = "t,y\n".to_owned();
    for i in 0..96 {
        let t = 1990.0 + i as f64 / 12.0;
        let noise = (((i * 7919) % 97) as f64 / 97.0 - 0.5) * 0.2;
        let y = 1.5 * (t - 1990.0) + 4.0 * (2.0 * std::f64::consts::PI * t).sin() + noise;
        text.push_str(&format!("{t:.6},{y:.6}\n"));
    }
    bench.write("d.csv", text);
    let kernel = "?*rbf(sigma=?) + ?*periodic(period=1,length=?)*rbf(sigma=?)";
    let fit = ["fit", "gp", "d.csv", "--target", "y", "--kernel", kernel, "--json", "-o", "m.mercer"];
    let document =
        |flags: &[&str]| -> Value { serde_json::from_str(&bench.ok(&[&fit[..], flags].concat())).unwrap() };
    let found = document(&[]);
    assert_eq!(found["scaling"], "none");
    assert!(
        found["notes"].to_string().contains("the kernel's period is in their unit"),
        "{}",
        found["notes"]
    );
    assert!(found["holdout"][0]["rmse"].as_f64().unwrap() < 0.15, "{found}");
    assert_eq!(document(&["--scale", "standard"])["scaling"], "standardised");
}

/// The kernel is proven with the values that are learnt.
#[test]
fn the_kernel_is_checked_once_it_is_learnt() {
    let bench = Bench::new();
    bench.write("d.csv", waves(40));
    for (kernel, method) in [
        ("?*exp(-?*|x-z|^2)", &[][..]),
        ("exp(-|x-z|^2/?)", &[]),
        ("exp(-|x-z|^2/?)", &["--approx", "nystrom:20"]),
        ("exp(-|x-z|^2/?)", &["--solver", "cg"]),
        ("exp(-|x-z|^?0.5..1.9)", &[]),
    ] {
        let fit = ["fit", "gp", "d.csv", "--target", "y", "--kernel", kernel, "-o", "m.mercer"];
        let output = bench.run(&[&fit[..], method].concat());
        let (out, error) = (String::from_utf8(output.stdout), String::from_utf8(output.stderr));
        let (out, error) = (out.unwrap(), error.unwrap());
        assert!(output.status.success(), "{kernel} {method:?}: {error}");
        assert!(!error.contains("undecided"), "{kernel} {method:?}: {error}");
        assert!(out.contains("proven positive semidefinite"), "{kernel} {method:?}: {out}");
    }
}

/// At the usual start the function is no kernel of four columns.
#[test]
fn a_start_without_a_likelihood_is_replaced_by_another() {
    let bench = Bench::new();
    bench.write("d.csv", include_str!("../../../../examples/data/greenhouse.csv"));
    let kernel = "max(0,1-|x-z|/4)^?";
    let text = bench.ok(&["fit", "gp", "d.csv", "--target", "-1", "--kernel", kernel, "-o", "m.mercer"]);
    assert!(text.contains("const value"), "{text}");
}

#[test]
fn only_the_ratios_of_weights_matter() {
    let bench = Bench::new();
    let weighted = |factor: f64| {
        let rows = waves(60);
        let mut lines = rows.lines();
        let mut text = format!("{},w\n", lines.next().unwrap());
        for (i, line) in lines.enumerate() {
            text.push_str(&format!("{line},{}\n", factor * (1.0 + (i % 2) as f64)));
        }
        bench.write("d.csv", text);
        let fit = ["fit", "gp", "d.csv", "--target", "y", "--sample-weight", "w", "--json", "-o", "m.mercer"];
        let document: Value = serde_json::from_str(&bench.ok(&fit)).unwrap();
        [document["noise"].as_f64().unwrap(), document["holdout"][0]["nlpd"].as_f64().unwrap()]
    };
    let (one, many) = (weighted(1.0), weighted(1024.0));
    for (one, many) in one.iter().zip(many) {
        assert!((one - many).abs() < 1e-6 * one.abs(), "{one} and {many}");
    }
}

#[test]
fn hyper_parameters_have_names_of_their_own() {
    let bench = Bench::new();
    bench.write("d.csv", waves(40));
    let kernel = "?*rbf(sigma=[?]) + ?*linear";
    let text = bench.ok(&["fit", "gp", "d.csv", "--target", "y", "--kernel", kernel, "-o", "m.mercer"]);
    for text in [text, bench.ok(&["info", "m.mercer"])] {
        for name in ["const value_1 ", "const value_2 ", "rbf sigma [other] ", "noise variance "] {
            assert!(text.contains(name), "{name} is missing in\n{text}");
        }
        assert!(!text.contains("parameters kernel"), "{text}");
    }
}

#[test]
fn little_memory_takes_few_inducing_points() {
    let bench = Bench::new();
    bench.write("d.csv", waves(600));
    let fit = ["fit", "gp", "d.csv", "--target", "y", "--kernel", "?*rbf(sigma=?)", "--memory", "5M"];
    let text = bench.ok(&[&fit[..], &["--json", "-o", "m.mercer"]].concat());
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["inducing_points"], 64, "{document}");
    for (flags, expected) in [
        (["--approx", "nystrom:400"], "fewer inducing points"),
        (["--solver", "cholesky"], "--approx nystrom:512"),
        (["--solver", "cg"], "--approx nystrom:512"),
    ] {
        let error = bench.fails(1, &[&fit[..], &flags, &["-o", "n.mercer"]].concat());
        assert!(error.contains(expected) && !error.contains("fourier"), "{error}");
    }
    let help = bench.ok(&["fit", "gp", "--help"]);
    assert!(help.contains("--approx <nystrom:M|none>") && !help.contains("fourier"), "{help}");
}

#[test]
fn classes_have_no_standard_deviations() {
    let bench = Bench::new();
    let rows: String = (0..20).map(|i| format!("{i},{}\n", if i < 10 { "low" } else { "high" })).collect();
    bench.write("d.csv", format!("x,y\n{rows}"));
    bench.ok(&["fit", "gp", "d.csv", "--target", "y", "--holdout", "0", "-o", "m.mercer"]);
    let error = bench.fails(2, &["predict", "m.mercer", "d.csv", "--std"]);
    assert!(error.contains("predicts classes") && error.contains("--proba"), "{error}");
}
