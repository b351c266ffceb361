//! The kernel language, tested from outside.

mod canonical;
mod check_attack;
mod check_certificate;
mod check_findings;
mod check_soundness;
mod check_table;
mod check_textbook;
mod eval;
mod gradient;
mod spectral_density;
mod text;
