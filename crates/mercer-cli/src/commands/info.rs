//! `mercer info`.

use mercer::model::Model;
use serde_json::json;

use crate::args::Info;
use crate::failure::Failure;
use crate::output;

/// Describes a model.
pub fn run(arguments: &Info) -> Result<(), Failure> {
    let model = Model::load(&arguments.model)?;
    let centres = &model.expansion.centres;
    let columns = model.schema.as_ref().map(|schema| schema.feature_names()).unwrap_or_default();
    if arguments.json {
        return output::print_json(&json!({
            "format": mercer::model::FORMAT,
            "method": model.method,
            "kernel": model.expansion.kernel,
            "domain": model.expansion.domain.map(|domain| domain.to_string()),
            "settings": model.settings,
            "outputs": model.outputs,
            "columns": columns,
            "scaling": model.scaling,
            "centres": { "rows": centres.nrows(), "columns": centres.ncols(), "sparse": centres.is_sparse() },
            "intercepts": model.expansion.intercepts,
            "report": model.report,
        }));
    }
    let mut lines = vec![
        ("method", model.method.to_string()),
        ("kernel", model.expansion.kernel.to_string()),
        ("proven on", model.expansion.domain.map_or_else(|| "nothing".into(), |domain| domain.to_string())),
        ("predicts", model.outputs.join(", ")),
    ];
    lines.push(("from", shortened(&columns, centres.ncols())));
    lines.push(("scaling", model.scaling.name().to_owned()));
    lines.push(("centres", centres.nrows().to_string()));
    let map = |entries: &std::collections::BTreeMap<String, serde_json::Value>| {
        entries.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
    };
    lines.push(("settings", map(&model.settings)));
    lines.push(("report", map(&model.report)));
    output::print_lines(&lines)
}

fn shortened(names: &[String], count: usize) -> String {
    match names.len() {
        0 => format!("{count} columns"),
        n if n <= 12 => names.join(", "),
        n => format!("{}, … ({n} columns)", names[..12].join(", ")),
    }
}
