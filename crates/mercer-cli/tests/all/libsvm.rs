//! svm-train, svm-predict and svm-scale: LIBSVM's options, files, lines and exit codes.

use std::process::Command;

use crate::bench::Bench;

/// Two classes 1 and -1 that overlap a little, -1 first.
fn data() -> String {
    let row = |i: usize| {
        let (label, t) = (if i.is_multiple_of(2) { -1 } else { 1 }, i as f64 * 1.7);
        let (a, b) = (f64::from(label) * 0.6 + t.sin(), 0.5 * t.cos());
        if i.is_multiple_of(5) { format!("{label} 1:{a}\n") } else { format!("{label} 1:{a} 3:{b}\n") }
    };
    (0..80).map(row).collect()
}

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("d", data());
    bench
}

#[test]
fn lines_and_files_of_training_and_prediction() {
    let bench = bench();
    let told = bench.ok(&["svm-train", "-c", "2", "-g", "0.5", "-b", "1", "d"]);
    let starts = ["*", "optimization finished, #iter = ", "nu = 0.", "obj = -", "nSV = ", "Total nSV = "];
    assert_eq!(told.lines().count(), starts.len(), "{told}");
    told.lines().zip(starts).for_each(|(line, start)| assert!(line.starts_with(start), "{line}"));
    let model = bench.read("d.model");
    assert!(
        model.starts_with("svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv "),
        "{model}"
    );
    assert!(model.contains("\nlabel 1 -1\nprobA -"), "1 comes first whichever row is first: {model}");
    let told = bench.ok(&["svm-predict", "d", "d.model", "out"]);
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "Model supports probability estimates, but disabled in prediction.");
    assert!(lines[1].starts_with("Accuracy = ") && lines[1].ends_with("/80) (classification)"), "{told}");
    assert!(bench.read("out").lines().all(|line| line == "1" || line == "-1"));
    assert!(bench.ok(&["svm-predict", "-b", "1", "-q", "d", "d.model", "out"]).is_empty());
    let out = bench.read("out");
    assert!(out.starts_with("labels 1 -1\n"), "{out}");
    for line in out.lines().skip(1) {
        let fields: Vec<f64> = line.split(' ').map(|field| field.parse().unwrap()).collect();
        assert!(fields.len() == 3 && (fields[1] + fields[2] - 1.0).abs() < 1e-5);
        assert_eq!(fields[0], if fields[1] >= fields[2] { 1.0 } else { -1.0 });
    }
}

#[test]
fn every_type_trains_and_predicts() {
    let bench = bench();
    for kind in ["0", "1", "2", "3", "4"] {
        for kernel in ["0", "1", "2", "3"] {
            let told = bench.ok(&["svm-train", "-s", kind, "-t", kernel, "-g", "0.2", "-n", "0.3", "d", "m"]);
            assert!(told.contains("optimization finished") && told.contains("obj = "), "{told}");
            let told = bench.ok(&["svm-predict", "d", "m", "out"]);
            let line = if kind >= "3" { "Mean squared error = " } else { "Accuracy = " };
            assert!(told.starts_with(line), "{told}");
            assert_eq!(bench.read("out").lines().count(), 80);
        }
    }
    let told = bench.ok(&["svm-train", "-s", "2", "-n", "0.3", "-b", "1", "-q", "d", "m"]);
    assert!(told.is_empty(), "{told}");
    bench.ok(&["svm-predict", "-b", "1", "d", "m", "out"]);
    assert!(bench.read("out").starts_with("label normal outlier\n"));
}

#[test]
fn a_precomputed_kernel_is_the_same_machine() {
    let bench = Bench::new();
    let points: Vec<(f64, f64)> = (0..30).map(|i| ((i as f64 * 0.9).sin(), (i as f64 * 0.4).cos())).collect();
    let (mut plain, mut given) = (String::new(), String::new());
    for (i, (a, b)) in points.iter().enumerate() {
        let label = if a + b > 0.2 { 1 } else { 2 };
        plain.push_str(&format!("{label} 1:{a} 2:{b}\n"));
        given.push_str(&format!("{label} 0:{}", i + 1));
        points
            .iter()
            .enumerate()
            .for_each(|(j, (c, d))| given.push_str(&format!(" {}:{}", j + 1, a * c + b * d)));
        given.push('\n');
    }
    bench.write("plain", plain);
    bench.write("given", given);
    let objective = |told: String| told.lines().find(|line| line.starts_with("obj")).unwrap().to_owned();
    let linear = objective(bench.ok(&["svm-train", "-t", "0", "-e", "1e-6", "plain"]));
    assert_eq!(objective(bench.ok(&["svm-train", "-t", "4", "-e", "1e-6", "given"])), linear);
    assert!(
        bench.read("given.model").contains("kernel_type precomputed")
            && bench.read("given.model").contains(" 0:")
    );
    for kind in ["0", "1", "2", "3", "4"] {
        let validate = |kernel, file| {
            bench.ok(&["svm-train", "-s", kind, "-t", kernel, "-v", "5", "-e", "1e-9", "-q", file])
        };
        let digits =
            |told: String| told.split(&['=', '%', '\n']).nth(1).unwrap().trim().parse::<f64>().unwrap();
        let (plain, given) = (digits(validate("0", "plain")), digits(validate("4", "given")));
        // The best machine of two columns need not be the only one.
        assert!((plain - given).abs() < 1e-2 * plain.abs(), "-s {kind}: {plain} {given}");
    }
    bench.ok(&["svm-predict", "plain", "plain.model", "a"]);
    bench.ok(&["svm-predict", "given", "given.model", "b"]);
    assert_eq!(bench.read("a"), bench.read("b"));
}

#[test]
fn cross_validation_prints_its_line() {
    let bench = bench();
    let told = bench.ok(&["svm-train", "-v", "5", "d"]);
    assert!(told.starts_with("Cross Validation Accuracy = ") && told.ends_with("%\n"), "{told}");
    let told = bench.ok(&["svm-train", "-v", "5", "-s", "3", "d"]);
    assert!(told.starts_with("Cross Validation Mean squared error = "), "{told}");
    assert!(told.lines().nth(1).unwrap().starts_with("Cross Validation Squared correlation coefficient = "));
    assert_eq!(bench.files(), ["d"], "no model is written");
}

#[test]
fn scaling_is_saved_and_restored() {
    let bench = Bench::new();
    bench.write("d", "1 1:2 3:10\n-1 1:4 2:5\n1 1:3 3:20\n");
    let scaled = bench.ok(&["svm-scale", "-l", "0", "-u", "1", "-s", "range", "d"]);
    assert_eq!(scaled, "1 3:0.5 \n-1 1:1 2:1 \n1 1:0.5 3:1 \n");
    assert_eq!(bench.read("range"), "x\n0 1\n1 2 4\n2 0 5\n3 0 20\n");
    assert_eq!(bench.ok(&["svm-scale", "-r", "range", "d"]), scaled);
    bench.write("new", "1 1:5 4:1\n");
    let output = bench.run(&["svm-scale", "-r", "range", "new"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1 1:1.5 \n");
    let scaled = bench.ok(&["svm-scale", "-y", "0", "10", "-s", "range", "d"]);
    assert!(scaled.starts_with("10 1:-1 2:-1 "), "{scaled}");
    assert!(bench.read("range").starts_with("y\n0 10\n-1 1\nx\n-1 1\n"));
}

#[test]
fn data_of_one_class_gives_a_constant_machine() {
    let bench = Bench::new();
    bench.write("one", "2 1:2\n2 1:3 2:1\n");
    bench.write("new", "2 1:2 3:1\n5 2:1\n");
    let header = |kind: &str| {
        format!("svm_type {kind}\nkernel_type rbf\ngamma 0.5\nnr_class 1\ntotal_sv 0\nrho\nlabel 2\n")
    };
    for (number, kind) in [("0", "c_svc"), ("1", "nu_svc")] {
        let told = bench.ok(&["svm-train", "-s", number, "one", "m"]);
        assert_eq!(
            told,
            "WARNING: training data in only one class. See README for details.\nTotal nSV = 0\n"
        );
        assert_eq!(bench.read("m"), format!("{}nr_sv 0\nSV\n", header(kind)));
        assert_eq!(bench.ok(&["svm-predict", "new", "m", "out"]), "Accuracy = 50% (1/2) (classification)\n");
        assert_eq!(bench.read("out"), "2\n2\n");
    }
    assert!(bench.ok(&["svm-train", "-b", "1", "-q", "one", "m"]).is_empty());
    assert_eq!(bench.read("m"), format!("{}probA\nprobB\nnr_sv 0\nSV\n", header("c_svc")));
    bench.ok(&["svm-predict", "-b", "1", "-q", "new", "m", "out"]);
    assert_eq!(bench.read("out"), "labels 2\n2 1\n2 1\n");
    assert_eq!(bench.ok(&["svm-train", "-v", "2", "one"]), "Cross Validation Accuracy = 100%\n");
    bench.ok(&["convert", "m", "m.mercer", "--columns", "2"]);
    assert_eq!(bench.ok(&["predict", "m.mercer", "one"]).lines().skip(1).collect::<Vec<_>>(), ["2", "2"]);
}

#[test]
fn mistakes_end_with_exit_code_1() {
    let bench = bench();
    bench.write("bad", "1 1:2\n1 2:x\n");
    let refused = |arguments: &[&str], told: &str| {
        let output = bench.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let all =
            format!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        assert!(all.contains(told) && !all.contains("panicked"), "{arguments:?}: {all}");
    };
    refused(&["svm-train"], "Usage: svm-train [options] training_set_file [model_file]");
    refused(&["svm-train", "-x", "1", "d"], "Unknown option: -x");
    refused(&["svm-train", "-c", "0", "d"], "ERROR: C <= 0");
    refused(&["svm-train", "-s", "1", "-n", "2", "d"], "nu <= 0 or nu > 1");
    refused(&["svm-train", "none"], "can't open input file none");
    refused(&["svm-train", "bad"], "Wrong input format at line 2");
    refused(&["svm-train", "-t", "4", "d"], "first column must be 0:sample_serial_number");
    refused(&["svm-predict", "d"], "Usage: svm-predict");
    refused(&["svm-predict", "d", "none", "out"], "can't open model file none");
    refused(&["svm-scale"], "Usage: svm-scale");
    refused(&["svm-scale", "-l", "1", "-u", "0", "d"], "inconsistent lower/upper specification");
    bench.ok(&["svm-train", "-q", "d", "m"]);
    refused(&["svm-predict", "-b", "1", "d", "m", "out"], "Model does not support probabiliy estimates");
}

#[cfg(unix)]
#[test]
fn the_program_answers_to_libsvms_names() {
    let bench = bench();
    for name in ["svm-train", "svm-predict", "svm-scale"] {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mercer"), bench.path(name)).unwrap();
    }
    let run = |name: &str, arguments: &[&str]| {
        let output =
            Command::new(bench.path(name)).args(arguments).current_dir(bench.path("")).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run("svm-train", &["d", "m"]).contains("Total nSV = "));
    assert!(run("svm-predict", &["d", "m", "out"]).starts_with("Accuracy = "));
    assert!(run("svm-scale", &["d"]).starts_with("-1 1:"));
}
