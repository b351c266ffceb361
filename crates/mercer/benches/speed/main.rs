//! Times parts of the library on their own: `cargo bench -p mercer -- NAME [ARGUMENTS]`. Each file says what its arguments are.

#![allow(clippy::print_stdout, reason = "its output is what it is for")]

mod cg;
mod cholesky;
mod clock;
mod engine;
mod features;
mod logistic;
mod neighbours;
mod path;
mod plan;
mod svm;
mod tile;

/// A program, given its arguments.
type Program = fn(&[String]);

/// Every program by its name.
const PROGRAMS: [(&str, Program); 10] = [
    ("cg", cg::run),
    ("cholesky", cholesky::run),
    ("engine", engine::run),
    ("features", features::run),
    ("logistic", logistic::run),
    ("neighbours", neighbours::run),
    ("path", path::run),
    ("plan", plan::run),
    ("svm", svm::run),
    ("tile", tile::run),
];

fn main() {
    // Cargo adds `--bench` to what it is told to pass on.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let program = arguments.first().and_then(|name| PROGRAMS.iter().find(|(known, _)| known == name));
    match program {
        Some((_, run)) => run(&arguments[1..]),
        None => println!("NAME is one of {}", PROGRAMS.map(|(name, _)| name).join(", ")),
    }
}
