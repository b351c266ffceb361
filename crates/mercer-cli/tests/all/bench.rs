//! A folder to run the command in, and data for it.

use std::path::PathBuf;
use std::process::{Command, Output};

/// A temporary folder in which `mercer` runs.
pub struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mercer"));
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs and expects success; what it printed on standard output.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs and expects this exit code; what it printed on standard error, or the error of its JSON document.
    pub fn fails(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let mut error = String::from_utf8_lossy(&output.stderr).into_owned();
        if arguments.contains(&"--json") {
            let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            error = format!("error: {}\n  hint: {}\n", document["error"].as_str().unwrap(), document["hint"]);
        }
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
        assert!(error.starts_with("error: "), "{error}");
        assert!(!error.contains("panicked"), "{error}");
        error
    }

    /// Every file in the folder.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

/// A table y = sin(a) + b², `rows` rows.
pub fn table(rows: usize) -> String {
    let mut text = String::from("a,b,y\n");
    for i in 0..rows {
        let (a, b) = ((i as f64 * 0.37) % 6.0, (i as f64 * 0.53) % 2.0);
        text.push_str(&format!("{a},{b},{}\n", a.sin() + b * b));
    }
    text
}
