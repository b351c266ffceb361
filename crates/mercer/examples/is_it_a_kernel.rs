//! Asks for a proof that a formula is a kernel, or for points that refute it.
#![allow(clippy::print_stdout)]

use mercer::kernel::Kernel;
use mercer::kernel::check::{Dim, Domain};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for text in ["sin(<x,z>) + exp(<x,z>)", "exp(-|x-z|^3)", "max(0, 1-|x-z|)"] {
        let kernel: Kernel = text.parse()?;
        for dim in [Dim::Exactly(1), Dim::Exactly(3)] {
            println!("{}\n", kernel.check(dim, Domain::All));
        }
    }
    Ok(())
}
