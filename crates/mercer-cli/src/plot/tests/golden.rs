//! Each kind against a picture that was looked at.
//!
//! `MERCER_BLESS=1 cargo test -p mercer-cli golden` rewrites the pictures; with `MERCER_PICTURES=folder` they are also written as PNG,
//! to be looked at before the change is committed.

use std::path::Path;
use std::{env, fs};

use super::samples;
use crate::plot::Terminal;

#[test]
fn every_kind_is_drawn_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let bless = env::var_os("MERCER_BLESS").is_some();
    for (name, figure) in samples::all() {
        let terminal = Terminal { width: 80, height: 24, colour: false };
        for (extension, text) in [("svg", figure.to_svg()), ("txt", figure.to_text(terminal))] {
            let path = folder.join(format!("{name}.{extension}"));
            if bless {
                fs::create_dir_all(&folder).unwrap();
                fs::write(&path, &text).unwrap();
            }
            let expected = fs::read_to_string(&path).unwrap_or_default();
            assert!(text == expected, "{} has changed", path.display());
        }
        if let Some(folder) = env::var_os("MERCER_PICTURES") {
            fs::write(Path::new(&folder).join(format!("{name}.png")), figure.to_png(2.0).unwrap()).unwrap();
        }
    }
}
