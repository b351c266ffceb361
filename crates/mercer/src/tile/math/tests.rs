//! Each function on every instruction set this machine has, against the standard library or extended precision.
