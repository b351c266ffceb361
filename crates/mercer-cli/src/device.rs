//! The device of a command.

use std::sync::{Arc, OnceLock};

use mercer::gram::{Engine, GramError, default_engine};
use mercer_cuda::DeviceChoice;

use crate::failure::Failure;

/// The engine of this process; a command opens one device.
static ENGINE: OnceLock<Arc<dyn Engine>> = OnceLock::new();

/// The engine of the chosen device.
///
/// # Errors
/// If the named GPU cannot be used.
pub fn engine(choice: DeviceChoice) -> Result<Arc<dyn Engine>, Failure> {
    if let Some(engine) = ENGINE.get() {
        return Ok(Arc::clone(engine));
    }
    let engine = choice.engine().map_err(|error| {
        Failure::usage(format!("--device {choice}: {error}"))
            .hint("use --device auto to use a GPU only where there is one, or --device cpu")
    })?;
    Ok(Arc::clone(ENGINE.get_or_init(|| engine)))
}

/// The device of this process, for reports.
pub fn describe() -> String {
    ENGINE.get().map_or_else(|| default_engine().describe(), |engine| engine.describe())
}

/// The outcome of a command or a part of it, or the failure of the device in a call that could not return it.
///
/// # Errors
/// That of the outcome or of the device, which is reported once.
pub fn explain<T>(outcome: Result<T, Failure>, interrupted: bool) -> Result<T, Failure> {
    let fault = ENGINE.get().and_then(|engine| engine.take_fault());
    outcome_of(outcome, fault, interrupted)
}

/// A failure of the device comes first, unless the user has stopped the work.
fn outcome_of<T>(
    outcome: Result<T, Failure>,
    fault: Option<GramError>,
    interrupted: bool,
) -> Result<T, Failure> {
    match fault {
        Some(fault) if !interrupted => Err(fault.into()),
        _ => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_of_the_device_comes_first() {
        let fault = || Some(GramError::Engine("the CUDA driver reports: broken".into()));
        for outcome in [Ok(()), Err(Failure::interrupted()), Err(Failure::work("not finite"))] {
            let failure = outcome_of(outcome, fault(), false).unwrap_err();
            assert_eq!(failure.message(), "the CUDA driver reports: broken");
        }
        let stopped = outcome_of::<()>(Err(Failure::interrupted()), fault(), true).unwrap_err();
        assert!(stopped.is_interrupt());
        assert!(outcome_of(Ok(()), None, false).is_ok());
        assert_eq!(outcome_of::<()>(Err(Failure::work("own")), None, false).unwrap_err().message(), "own");
    }
}
