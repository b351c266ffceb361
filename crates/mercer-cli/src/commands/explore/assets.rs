//! The files of the page, which are part of the program.

use std::io::Write;
use std::sync::OnceLock;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::http::Reply;

/// A file of the page.
pub struct Asset {
    /// Its path under the link; empty for the page itself.
    pub path: &'static str,
    /// Its media type.
    pub content: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const FONT: &str = "font/woff2";

macro_rules! assets {
    ($($content:ident $path:literal $file:literal),* $(,)?) => {
        &[$(Asset {
            path: $path,
            content: $content,
            bytes: include_bytes!(concat!("../../../assets/explore/", $file)),
        }),*]
    };
}

/// All files. Modules come after those that they import, so that an export can combine them.
pub const ASSETS: &[Asset] = assets![
    HTML "" "index.html",
    CSS "style.css" "style.css",
    JS "theme.js" "theme.js",
    JS "state.js" "state.js",
    JS "api.js" "api.js",
    JS "dom.js" "dom.js",
    JS "colour.js" "colour.js",
    JS "canvas.js" "canvas.js",
    JS "chart.js" "chart.js",
    JS "presets.js" "presets.js",
    JS "sliders.js" "sliders.js",
    JS "proof.js" "proof.js",
    JS "formula.js" "formula.js",
    JS "data.js" "data.js",
    JS "lift.js" "lift.js",
    JS "model.js" "model.js",
    JS "film.js" "film.js",
    JS "machinery.js" "machinery.js",
    JS "compare.js" "compare.js",
    JS "tuning.js" "tuning.js",
    JS "leave.js" "leave.js",
    JS "app.js" "app.js",
    JS "vendor/uPlot.iife.min.js" "vendor/uPlot.iife.min.js",
    CSS "vendor/uPlot.min.css" "vendor/uPlot.min.css",
    JS "vendor/katex.min.js" "vendor/katex.min.js",
    CSS "vendor/katex.css" "vendor/katex.css",
    FONT "vendor/fonts/KaTeX_AMS-Regular.woff2" "vendor/fonts/KaTeX_AMS-Regular.woff2",
    FONT "vendor/fonts/KaTeX_Main-Regular.woff2" "vendor/fonts/KaTeX_Main-Regular.woff2",
    FONT "vendor/fonts/KaTeX_Main-Italic.woff2" "vendor/fonts/KaTeX_Main-Italic.woff2",
    FONT "vendor/fonts/KaTeX_Math-Italic.woff2" "vendor/fonts/KaTeX_Math-Italic.woff2",
    FONT "vendor/fonts/KaTeX_Size1-Regular.woff2" "vendor/fonts/KaTeX_Size1-Regular.woff2",
    FONT "vendor/fonts/KaTeX_Size2-Regular.woff2" "vendor/fonts/KaTeX_Size2-Regular.woff2",
    FONT "vendor/fonts/KaTeX_Size3-Regular.woff2" "vendor/fonts/KaTeX_Size3-Regular.woff2",
    FONT "vendor/fonts/KaTeX_Size4-Regular.woff2" "vendor/fonts/KaTeX_Size4-Regular.woff2",
];

/// The compressed bytes of each file, computed on first use; fonts are already compressed.
static COMPRESSED: [OnceLock<Option<Vec<u8>>>; ASSETS.len()] = [const { OnceLock::new() }; ASSETS.len()];

/// The file at a path, compressed if the client accepts that.
pub fn reply(path: &str, gzip: bool) -> Option<Reply> {
    let place = ASSETS.iter().position(|asset| asset.path == path)?;
    let asset = &ASSETS[place];
    let compressed = (gzip && asset.content != FONT)
        .then(|| COMPRESSED[place].get_or_init(|| compress(asset.bytes)).as_ref())
        .flatten();
    let body = compressed.map_or(asset.bytes, Vec::as_slice).to_vec();
    Some(Reply { status: 200, content: asset.content, gzip: compressed.is_some(), body })
}

fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(7));
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound of the first page: under 700 kB in all.
    #[test]
    fn the_page_is_small() {
        let sizes = ASSETS.iter().map(|asset| reply(asset.path, true).unwrap().body.len());
        let total: usize = sizes.sum();
        assert!(total < 500_000, "{total} bytes");
        assert!(ASSETS.iter().all(|asset| asset.bytes.len() < 1_000_000));
    }

    #[test]
    fn there_are_no_other_paths() {
        for path in ["index.html", "/", "../Cargo.toml", "vendor/", "%2e%2e/", "app.js?x", "APP.JS"] {
            assert!(reply(path, true).is_none(), "{path}");
        }
    }
}
