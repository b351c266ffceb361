//! `mercer convert`.

use mercer::data::Classes;
use mercer::model::{Model, ModelError};
use serde::Serialize;

use crate::args::Convert;
use crate::failure::Failure;
use crate::output;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Document {
    from: String,
    to: String,
    format: &'static str,
    method: String,
    kernel: Option<String>,
    support_vectors: Option<usize>,
    /// The names of classes that are numbers in the file.
    classes: Option<Vec<String>>,
}

/// Reads one format and writes the other.
pub fn run(arguments: &Convert) -> Result<(), Failure> {
    let (input, out) = (&arguments.input, &arguments.output);
    output::check_output(out, &[input])?;
    let bytes = std::fs::read(input)
        .map_err(|error| Failure::usage(ModelError::Io { path: input.clone(), error }))?;
    let from_libsvm = bytes.starts_with(b"svm_type");
    let mut model =
        if from_libsvm { Model::from_libsvm(&bytes, input)? } else { Model::from_bytes(&bytes, input)? };
    let mut numbered = None;
    if from_libsvm {
        if let Some(columns) = arguments.columns {
            if columns < model.predictor.ncols() {
                return Err(Failure::usage(format!(
                    "--columns {columns}, but a support vector uses column {}",
                    model.predictor.ncols()
                )));
            }
            model = model.widened(columns);
        }
        model.save(out)?;
    } else {
        if arguments.columns.is_some() {
            return Err(Failure::usage("--columns is for models that come from LIBSVM"));
        }
        if arguments.number_classes {
            numbered = model.classes.take().map(|classes| {
                let names: Vec<String> = (0..classes.len()).map(|code| classes.name(code)).collect();
                model.classes = Some(Classes::Numbers((0..names.len()).map(|code| code as f64).collect()));
                names
            });
        }
        model.save_libsvm(out)?;
    }
    let document = Document {
        from: input.display().to_string(),
        to: out.display().to_string(),
        format: if from_libsvm { "mercer" } else { "libsvm" },
        method: model.method.to_string(),
        kernel: model.predictor.kernel().map(ToString::to_string),
        support_vectors: model.predictor.rows().map(|rows| rows.nrows()),
        classes: numbered,
    };
    if arguments.json {
        return output::print_json(&document);
    }
    if arguments.quiet {
        return Ok(());
    }
    let mut lines = vec![("method", document.method.clone())];
    lines.extend(document.kernel.clone().map(|kernel| ("kernel", kernel)));
    lines.extend(document.support_vectors.map(|count| ("support vectors", count.to_string())));
    for (code, name) in document.classes.iter().flatten().enumerate() {
        lines.push(("class", format!("{code} is {name}")));
    }
    lines.push(("wrote", format!("{}: {}", document.to, document.format)));
    output::print_lines(&lines)
}
