//! `mercer plot`.

mod classifier;
mod dependence;
mod kernel_matrix;
pub mod pictures;
mod refit;
mod regression;
pub mod shown;

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use mercer::data;
use mercer::model::Model;
use mercer::pool;
use serde::Serialize;
use terminal_size::{Height, Width, terminal_size};

use crate::args::{Kind, Plot};
use crate::failure::Failure;
use crate::output;
use crate::plot::{Figure, PlotError, Terminal};
use crate::progress::{self, Progress};

use shown::Shown;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    model: String,
    data: Option<String>,
    kind: Kind,
    output: String,
    rows: usize,
    bytes: usize,
}

/// The format of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An SVG file.
    Svg,
    /// A PNG file.
    Png,
    /// A PDF file.
    Pdf,
    /// Text.
    Text,
}

/// Draws a model.
pub fn run(arguments: &Plot) -> Result<(), Failure> {
    let path = arguments.output.as_deref().filter(|path| *path != Path::new("-"));
    let format = path.map_or(Ok(Format::Text), format_of)?;
    if arguments.common.json && path.is_none() {
        return Err(Failure::usage(
            "--json prints to standard output; write the figure to a file with -o FILE",
        ));
    }
    if !(arguments.zoom > 0.0 && arguments.zoom.is_finite()) {
        return Err(Failure::usage(format!("--zoom {}: expected a number above 0", arguments.zoom)));
    }
    if let Some(path) = path {
        let inputs = [Some(&arguments.model), arguments.data.as_ref()];
        let inputs: Vec<&Path> = inputs.into_iter().flatten().map(|path| &**path).collect();
        output::check_output(path, &inputs)?;
    }
    progress::listen();
    let model = Model::load(&arguments.model)?;
    let watch = Progress::new(arguments.common.quiet || arguments.common.json);
    let session = arguments.common.session(None, &watch)?;
    let shown = Shown::new(model, arguments)?;
    shown.notes.iter().for_each(|note| output::note(&arguments.common, note));
    let asked = if arguments.surface { Some(Kind::Surface) } else { arguments.kind };
    let kind = asked.unwrap_or_else(|| shown.default_kind(arguments.columns.len()));
    let figure = pool::with(arguments.common.threads(), || {
        pictures::draw(&shown, kind, &arguments.columns, &session)
    })?;
    let bytes = rendered(&figure, format, path.is_none(), arguments.zoom)?;
    watch.finish();
    let Some(path) = path else {
        let mut out = io::stdout().lock();
        return out.write_all(&bytes).and_then(|()| out.flush()).map_err(|error| Failure::stdout(&error));
    };
    if progress::interrupted() {
        return Err(Failure::interrupted());
    }
    data::write_atomically(path, |file| file.write_all(&bytes))?;
    let document = Document {
        model: arguments.model.display().to_string(),
        data: arguments.data.as_ref().map(|path| path.display().to_string()),
        kind,
        output: path.display().to_string(),
        rows: shown.nrows(),
        bytes: bytes.len(),
    };
    let size = mercer::memory::human(document.bytes as u64);
    let lines = [("drew", figure.title.clone()), ("wrote", format!("{}: {size}", document.output))];
    output::report(&arguments.common, &document, &lines)
}

/// The format that belongs to a file name.
pub fn format_of(path: &Path) -> Result<Format, Failure> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("svg") => Ok(Format::Svg),
        Some("png") => Ok(Format::Png),
        Some("pdf") => Ok(Format::Pdf),
        Some("txt") => Ok(Format::Text),
        _ => Err(Failure::usage(format!(
            "{}: a picture is written as .svg, .png, .pdf or .txt",
            path.display()
        ))),
    }
}

/// The figure as the bytes of its file, or as text for the terminal.
pub fn rendered(figure: &Figure, format: Format, on_screen: bool, zoom: f64) -> Result<Vec<u8>, Failure> {
    Ok(match format {
        Format::Svg => figure.to_svg().into_bytes(),
        Format::Png => figure.to_png(zoom).map_err(Failure::from)?,
        Format::Pdf => figure.to_pdf(),
        Format::Text => figure.to_text(terminal(on_screen)).into_bytes(),
    })
}

/// The terminal for text: the one on standard output, otherwise a default one.
fn terminal(on_screen: bool) -> Terminal {
    let usual = Terminal { width: 80, height: 24, colour: false };
    if !(on_screen && io::stdout().is_terminal()) {
        return usual;
    }
    let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    match terminal_size() {
        // The line below the figure is left for the prompt.
        Some((Width(width), Height(height))) => Terminal {
            width: usize::from(width).min(160),
            height: usize::from(height).saturating_sub(1).min(45),
            colour,
        },
        None => Terminal { colour, ..usual },
    }
}

impl From<PlotError> for Failure {
    fn from(error: PlotError) -> Self {
        match error {
            PlotError::Scale { .. } => Self::usage(error).hint("pass a --zoom between 0.5 and 20"),
            other => Self::work(other),
        }
    }
}
