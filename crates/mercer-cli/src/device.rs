//! The device of a command.

use std::sync::{Arc, OnceLock};

use mercer::gram::Engine;
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

/// Replaces an interruption that was not requested by the device failure that caused it.
pub fn explain(failure: Failure, interrupted: bool) -> Failure {
    match ENGINE.get().and_then(|engine| engine.take_fault()) {
        Some(fault) if failure.is_interrupt() && !interrupted => {
            Failure::work(fault).hint("use --device cpu, or fewer rows or features on the GPU")
        }
        _ => failure,
    }
}
