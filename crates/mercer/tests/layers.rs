//! The layers of the library stand in one order, and a module uses only what stands to its left.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules of one entry may use each other's left neighbours, not each other.
const LAYERS: [&[&str]; 9] = [
    &["real", "watch", "pool", "memory"],
    &["data", "kernel"],
    &["tile"],
    &["gram"],
    &["solve"],
    &["features"],
    &["model"],
    &["learn"],
    &["select"],
];

fn level(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The modules named after `crate::` in a source text.
fn uses(text: &str) -> Vec<String> {
    let name = |rest: &str| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    text.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| {
            line.match_indices("crate::").map(|(at, _)| name(&line[at + 7..])).collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn modules_use_only_what_stands_to_their_left() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 10, "the sources are there");
    let mut wrong = Vec::new();
    for file in files {
        let relative = file.strip_prefix(&root).unwrap();
        let first = relative.components().next().unwrap().as_os_str().to_str().unwrap();
        let own = first.trim_end_matches(".rs");
        if own == "lib" {
            continue;
        }
        let Some(own_level) = level(own) else {
            wrong.push(format!("{own} has no place in the order of layers"));
            continue;
        };
        // A module's own tests may look at anything.
        let text = fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        for used in uses(text) {
            let fine = used == own || level(&used).is_none_or(|used_level| used_level < own_level);
            if !fine {
                wrong.push(format!("{} uses {used}", relative.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_check_sees_what_a_file_uses() {
    let text =
        "use crate::gram::Gram;\n// crate::learn is not code\nlet x = crate::solve::y(crate::data::z);";
    assert_eq!(uses(text), ["gram", "solve", "data"]);
}
