//! `mercer verify`.

use std::fs;
use std::io::{self, Write};

use mercer::kernel::check::{Certificate, CertificateError};
use serde_json::json;

use crate::args::Verify;
use crate::failure::Failure;
use crate::output;

/// Verifies a certificate with only the checker.
pub fn run(arguments: &Verify) -> Result<(), Failure> {
    let path = &arguments.certificate;
    let named = |problem: &dyn std::fmt::Display| format!("{}: {problem}", path.display());
    let bytes = fs::read(path).map_err(|error| Failure::usage(named(&error)))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::usage(named(&"not a certificate of `mercer check`: it is not text")))?;
    let read = Certificate::parse(&text);
    let outcome = read.and_then(|certificate| certificate.verify().map(|steps| (certificate, steps)));
    let (certificate, steps) = outcome.map_err(|error| match error {
        CertificateError::NotACertificate { .. } | CertificateError::Version { .. } => {
            Failure::usage(named(&error))
                .hint("`mercer check KERNEL --certificate FILE` writes a certificate")
        }
        rejected => Failure::work(named(&format_args!("rejected: {rejected}"))),
    })?;
    if arguments.json {
        return output::print_json(&json!({
            "kernel": certificate.kernel(),
            "verdict": certificate.verdict(),
            "accepted": true,
            "steps": steps,
            "text": certificate.says(),
        }));
    }
    let steps = mercer::data::counted(steps, "step");
    writeln!(io::stdout(), "accepted: {} is {} ({steps} checked)", certificate.kernel(), certificate.says())
        .map_err(|error| Failure::stdout(&error))
}
