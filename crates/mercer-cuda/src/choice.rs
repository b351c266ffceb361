//! The choice of a device by the user.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use mercer::gram::{Engine, default_engine};

use crate::engine::CudaEngine;
use crate::error::CudaError;

/// The device for kernel matrices, as named by the user.
///
/// ```
/// use mercer_cuda::DeviceChoice;
///
/// assert_eq!("cuda:1".parse(), Ok(DeviceChoice::Cuda(1)));
/// assert_eq!(DeviceChoice::Cpu.engine().unwrap().name(), "cpu");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// `cpu`: the host.
    #[default]
    Cpu,
    /// `cuda` or `cuda:N`: the GPU with this number, counted from 0.
    Cuda(usize),
    /// `auto`: the first GPU, or the host if there is no usable GPU.
    Auto,
}

impl DeviceChoice {
    /// The engine of the device.
    ///
    /// # Errors
    /// If the named GPU cannot be used. `auto` falls back to the host.
    pub fn engine(self) -> Result<Arc<dyn Engine>, CudaError> {
        let gpu = |ordinal| CudaEngine::new(ordinal).map(|engine| Arc::new(engine) as Arc<dyn Engine>);
        match self {
            Self::Cpu => Ok(default_engine()),
            Self::Cuda(ordinal) => gpu(ordinal),
            Self::Auto => Ok(gpu(0).unwrap_or_else(|_| default_engine())),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "auto" => Some(Self::Auto),
            None if text == "cpu" => Some(Self::Cpu),
            None if text == "cuda" => Some(Self::Cuda(0)),
            Some(("cuda", ordinal)) if ordinal.bytes().all(|b| b.is_ascii_digit()) && !ordinal.is_empty() => {
                let ordinal: u16 = ordinal.parse().map_err(|_| {
                    format!("there is no device `{text}`; GPUs are counted from 0, as in cuda:0")
                })?;
                Some(Self::Cuda(ordinal.into()))
            }
            _ => None,
        }
        .ok_or_else(|| format!("unknown device `{text}`; the devices are auto, cpu, cuda and cuda:N"))
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for choice in [DeviceChoice::Auto, DeviceChoice::Cpu, DeviceChoice::Cuda(0), DeviceChoice::Cuda(7)] {
            assert_eq!(choice.to_string().parse(), Ok(choice));
        }
        for bad in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:+1", "cuda: 1", "cpu:0", "CUDA"] {
            assert!(bad.parse::<DeviceChoice>().unwrap_err().contains("cuda:N"), "{bad}");
        }
        let wrong = "cuda:9999999999999999".parse::<DeviceChoice>().unwrap_err();
        assert!(wrong.starts_with("there is no device `cuda:9999999999999999`"), "{wrong}");
    }

    #[test]
    fn auto_always_has_an_engine() {
        assert!(DeviceChoice::Auto.engine().is_ok());
    }
}
