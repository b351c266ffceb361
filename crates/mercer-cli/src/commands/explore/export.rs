//! A page in one file that needs no server: it contains its files and the answers to its requests.

use std::fmt::Write;

use serde_json::{Value, json};

use super::api::{Answer, Explorer, REQUESTS};
use super::assets::{ASSETS, Asset};
use super::state::State;
use super::turns::Job;
use crate::failure::Failure;

/// The page of a state with all its answers.
pub fn page(explorer: &Explorer<'_>, state: &State, job: &Job) -> Result<String, Failure> {
    let mut answers = serde_json::Map::new();
    for part in REQUESTS.into_iter().take_while(|part| !part.contains('.')) {
        let answer = match explorer.answer(part, state, job) {
            Ok(Answer::Json(bytes)) => serde_json::from_slice(&bytes).map_err(Failure::work)?,
            Ok(Answer::File(..)) => continue,
            // Without data, or with a method that does not suit them, there is no picture; parts that do not apply show
            // a message.
            Err(failure) if part == "data" || part == "fit" => return Err(failure),
            Err(failure) => json!({"error": failure.message(), "hint": failure.advice()}),
        };
        answers.insert(part.to_owned(), answer);
    }
    let recorded = json!({"state": state.entries(), "answers": Value::Object(answers)});
    Ok(assembled(&recorded))
}

fn assembled(recorded: &Value) -> String {
    let text = |path: &str| {
        let bytes = ASSETS.iter().find(|asset| asset.path == path).map_or(&[][..], |asset| asset.bytes);
        String::from_utf8_lossy(bytes).into_owned()
    };
    // `</script>` must not occur in a script, and no text of the data may end it.
    let safe = recorded.to_string().replace('<', "\\u003c");
    let mut page = String::new();
    for line in text("").lines() {
        let href = between(line, "<link rel=\"stylesheet\" href=\"", "\"");
        let script = between(line, "<script src=\"", "\"");
        let module = between(line, "<script type=\"module\" src=\"", "\"");
        let _ = match (href, script, module) {
            (Some(href), ..) => writeln!(page, "<style>\n{}\n</style>", styles(&text(href))),
            (_, Some(source), _) => writeln!(page, "<script>\n{}\n</script>", text(source)),
            (.., Some(_)) => writeln!(
                page,
                "<script>window.mercerRecorded = {safe};</script>\n<script type=\"module\">\n{}\n</script>",
                modules()
            ),
            _ => writeln!(page, "{line}"),
        };
    }
    page
}

/// The text between two markers.
fn between<'t>(line: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = line.split_once(before)?;
    rest.split_once(after).map(|(found, _)| found)
}

/// A style sheet with its fonts in it.
fn styles(text: &str) -> String {
    let mut out = text.to_owned();
    for Asset { path, bytes, .. } in ASSETS.iter().filter(|asset| asset.path.ends_with(".woff2")) {
        let name = path.trim_start_matches("vendor/");
        out = out.replace(&format!("url({name})"), &format!("url(data:font/woff2;base64,{})", base64(bytes)));
    }
    out
}

/// All modules combined, without imports and exports. No two of them declare the same name.
fn modules() -> String {
    let is_module = |asset: &&Asset| {
        asset.path.ends_with(".js") && !asset.path.starts_with("vendor/") && asset.path != "theme.js"
    };
    let mut out = String::new();
    for asset in ASSETS.iter().filter(is_module) {
        for line in String::from_utf8_lossy(asset.bytes).lines() {
            if !line.starts_with("import ") {
                out.push_str(line.strip_prefix("export ").unwrap_or(line));
                out.push('\n');
            }
        }
    }
    out
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word =
            chunk.iter().enumerate().fold(0u32, |word, (i, &byte)| word | u32::from(byte) << (16 - 8 * i));
        for place in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * place)) as usize & 63];
            out.push(if place > chunk.len() { '=' } else { char::from(digit) });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_every_length() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn an_export_stands_alone() {
        let page = assembled(&json!({"evil": "</script><script>alert(1)"}));
        assert!(!page.contains("</script><script>alert"));
        for elsewhere in ["<link rel=\"stylesheet\"", "<script src=", "\nimport ", "\nexport ", "url(fonts/"]
        {
            assert!(!page.contains(elsewhere), "{elsewhere}");
        }
    }

    /// One scope holds all modules of an export: names at their top level are declared once.
    #[test]
    fn no_two_modules_declare_the_same_name() {
        let mut names = std::collections::BTreeMap::new();
        for line in modules().lines() {
            let words: Vec<&str> =
                line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).collect();
            let declares = match words.as_slice() {
                ["const" | "let" | "function" | "class", name, ..] | ["async", "function", name, ..] => *name,
                _ => continue,
            };
            *names.entry(declares.to_owned()).or_insert(0) += 1;
        }
        let twice: Vec<&String> =
            names.iter().filter(|(name, count)| **count > 1 && !name.is_empty()).map(|(n, _)| n).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
