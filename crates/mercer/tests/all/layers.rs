//! The crates and their modules have a fixed order, and each uses only earlier ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates and the crates of this workspace that each may depend on.
const CRATES: [(&str, &[&str]); 6] = [
    ("mercer-kernel", &[]),
    ("mercer-data", &[]),
    ("mercer", &["mercer-kernel", "mercer-data"]),
    ("mercer-cuda", &["mercer"]),
    ("mercer-cli", &["mercer", "mercer-cuda"]),
    ("mercer-py", &["mercer", "mercer-cuda"]),
];

/// Stands first in an entry whose modules may use each other.
const TOGETHER: &str = "*";

/// The order of the modules at the root of a crate.
struct Layers {
    crate_name: &'static str,
    /// A module may use the modules of earlier entries, and those of its own entry where that begins with [`TOGETHER`].
    order: &'static [&'static [&'static str]],
    /// Uses against the order that exist today, as (module, used module). One that no longer exists must be removed here.
    exceptions: &'static [(&'static str, &'static str)],
}

const LAYERS: [Layers; 6] = [
    // Every interpretation of an expression asks the families in it, and a family answers in the terms of the interpretation. A
    // formula as it was written has the check's exact numbers.
    Layers {
        crate_name: "mercer-kernel",
        order: &[
            &["special", "error"],
            &[TOGETHER, "expr", "named", "family"],
            &["eval", "lower", "size", "shared_columns"],
            &[TOGETHER, "cursor", "token"],
            &["parse_error"],
            &["formula"],
            &[TOGETHER, "canonical", "recognise"],
            &["compose", "spectrum"],
            &["column_names", "resolve", "parse", "print", "radial", "random", "spectral_density"],
            &["gradient", "hyper_parameters", "parse_atoms"],
            &["check"],
        ],
        exceptions: &[
            ("family", "canonical"),
            ("family", "check"),
            ("family", "compose"),
            ("family", "eval"),
            ("family", "formula"),
            ("family", "lower"),
            ("family", "recognise"),
            ("family", "spectrum"),
            ("formula", "check"),
        ],
    },
    Layers {
        crate_name: "mercer-data",
        order: &[
            &[TOGETHER, "real", "samples"],
            &["categories", "dates", "fields", "foreign", "number", "watch"],
            &["content", "dataset", "error", "row_sample", "views"],
            &["advice", "atomic_file", "classes", "finite", "held_out", "lines", "npy_header", "source"],
            &["options", "scale"],
            &["records", "schema"],
            &[TOGETHER, "plain", "rows", "target_rows"],
            &["suspects"],
            &["csv", "npy", "parquet", "svmlight"],
            &["table"],
            &["read"],
            &["chunks"],
            &[TOGETHER, "passes", "training"],
        ],
        exceptions: &[],
    },
    Layers {
        crate_name: "mercer",
        order: &[
            &["memory"],
            &["pool"],
            &["tile"],
            &["linalg"],
            &["gram"],
            &["session"],
            &["design"],
            &["solve"],
            &["model"],
            &["learn"],
            &["select"],
            &["prelude"],
        ],
        exceptions: &[],
    },
    Layers {
        crate_name: "mercer-cli",
        order: &[
            &["allocator", "closed_output"],
            &["failure"],
            &["device"],
            &["args", "progress"],
            &["output"],
            &["checkpoint"],
            &["settings", "describe", "score", "choice"],
            &["tune_settings"],
            &["input"],
            &["plot"],
            &["commands", "libsvm"],
        ],
        exceptions: &[],
    },
    // Source is printed and cached without a device.
    Layers {
        crate_name: "mercer-cuda",
        order: &[
            &["cache", "error", "kernels", "source"],
            &["machine"],
            &[TOGETHER, "blas", "device", "printed", "rows"],
            &["dense", "nearest"],
            &[TOGETHER, "descent", "low_rank", "matrix", "row_sums"],
            &["resident"],
            &["engine"],
            &["choice", "waves"],
        ],
        exceptions: &[],
    },
    Layers {
        crate_name: "mercer-py",
        order: &[
            &["errors"],
            &["device", "rows"],
            &["decisions", "work"],
            &["kernel"],
            &["gaussian_process", "settings"],
            &["neighbours", "parts", "random_features"],
            &["contents", "features", "landmarks", "train"],
            &["model", "sums", "tune"],
            &["chunks", "stream"],
            &[TOGETHER, "process", "remote", "remote_gram"],
        ],
        exceptions: &[],
    },
];

impl Layers {
    fn level(&self, module: &str) -> Option<usize> {
        self.order.iter().position(|layer| layer.contains(&module))
    }

    fn allows(&self, module: &str, used: &str) -> bool {
        let (Some(from), Some(to)) = (self.level(module), self.level(used)) else { return false };
        module == used || to < from || (to == from && self.order[from][0] == TOGETHER)
    }
}

fn crate_folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(name)
}

/// The source files of a folder, without those of tests: a module's own tests may look at anything.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        if stem == "tests" {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The module that a file is, by the names from the crate's root.
fn module_of(relative: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        relative.with_extension("").iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if names.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
        names.pop();
    }
    names
}

/// A name, or one of `::`, `{`, `}`, `,`, `;`; everything else is a separator, `.`.
fn tokens(text: &str) -> Vec<String> {
    let text: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let c = text[at];
        let next = text.get(at + 1).copied();
        if let Some(length) = raw_string(&text[at..]) {
            at += length;
        } else if c.is_alphabetic() || c == '_' {
            let length = text[at..].iter().take_while(|c| c.is_alphanumeric() || **c == '_').count();
            tokens.push(text[at..at + length].iter().collect());
            at += length;
        } else if c == '/' && next == Some('/') {
            at += text[at..].iter().take_while(|c| **c != '\n').count();
        } else if c == '/' && next == Some('*') {
            at += 2 + text[at + 2..].windows(2).take_while(|pair| *pair != ['*', '/']).count() + 2;
        } else if c == '"' {
            at += 1;
            while at < text.len() && text[at] != '"' {
                at += if text[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if c == '\'' && (next == Some('\\') || text.get(at + 2) == Some(&'\'')) {
            // A character, not a lifetime.
            let from = at + if next == Some('\\') { 3 } else { 2 };
            at = from + text[from..].iter().take_while(|c| **c != '\'').count() + 1;
        } else if c == ':' && next == Some(':') {
            tokens.push("::".into());
            at += 2;
        } else {
            if "{},;".contains(c) {
                tokens.push(c.into());
            } else if !c.is_whitespace() {
                tokens.push(".".into());
            }
            at += 1;
        }
    }
    tokens
}

/// The length of the raw string, such as `r#""#`, that a text begins with; `None` if it begins with something else.
fn raw_string(text: &[char]) -> Option<usize> {
    let marks = text.strip_prefix(&['r'])?.iter().take_while(|c| **c == '#').count();
    let body = text[1 + marks..].strip_prefix(&['"'])?;
    let end = [vec!['"'], vec!['#'; marks]].concat();
    let length = body.windows(end.len()).position(|part| part == end)?;
    Some(2 + marks + length + end.len())
}

/// Reads the path or tree of paths at `at`, `a::{b, c::d}`, adds every path to `found` and returns where it ends.
fn read_paths(tokens: &[String], mut at: usize, prefix: &[String], found: &mut Vec<Vec<String>>) -> usize {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.get(at) {
        if token == "{" {
            at += 1;
            while tokens.get(at).is_some_and(|t| t != "}") {
                at = read_paths(tokens, at, &path, found);
                // The separator, or what this does not understand.
                at += usize::from(tokens.get(at).is_some_and(|t| t != "}"));
            }
            return at + 1;
        }
        let is_name = token.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if is_name {
            path.push(token.clone());
            at += 1;
        }
        let goes_on = tokens.get(at).is_some_and(|t| t == "::")
            && tokens
                .get(at + 1)
                .is_some_and(|t| t == "{" || t.starts_with(|c: char| c.is_alphabetic() || c == '_'));
        if !goes_on {
            break;
        }
        at += 1;
    }
    if path.len() > prefix.len() {
        found.push(path);
    }
    at
}

/// The modules at the crate's root that a source text names by `crate::`, `super::` or `self::`, in `use` declarations and
/// elsewhere. `module` is the module that the text is.
fn uses(text: &str, module: &[String]) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let tokens = tokens(text);
    let mut found = BTreeSet::new();
    // Modules within the file, each with the depth of braces that it ends at.
    let mut inner: Vec<(String, usize)> = Vec::new();
    let (mut at, mut depth) = (0, 0);
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                inner.pop_if(|(_, end)| *end == depth);
            }
            "mod" if tokens.get(at + 2).is_some_and(|t| t == "{") => {
                inner.push((tokens[at + 1].clone(), depth));
            }
            "crate" | "super" | "self" if at == 0 || tokens[at - 1] != "::" => {
                let mut paths = Vec::new();
                let here: Vec<String> =
                    module.iter().cloned().chain(inner.iter().map(|(m, _)| m.clone())).collect();
                at = read_paths(&tokens, at, &[], &mut paths);
                found.extend(paths.iter().filter_map(|path| root_module(path, &here)));
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// The first name from the crate's root of a path in the module `here`; `None` if it leads to the root itself.
fn root_module(path: &[String], here: &[String]) -> Option<String> {
    let mut place = here.to_vec();
    for name in path {
        match name.as_str() {
            "crate" => place.clear(),
            "super" => _ = place.pop(),
            "self" => {}
            _ => place.push(name.clone()),
        }
    }
    place.into_iter().next()
}

/// The module at the root that a file belongs to, and the modules at the root that it names.
fn uses_of_crate(name: &str) -> Vec<(String, BTreeSet<String>)> {
    let root = crate_folder(name).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let of_file = |file: &PathBuf| {
        let module = module_of(file.strip_prefix(&root).unwrap());
        let own = module.first()?.clone();
        Some((own, uses(&fs::read_to_string(file).unwrap(), &module)))
    };
    files.iter().filter_map(of_file).collect()
}

/// The modules at the root from which a crate's root takes its items, by the names of the items.
fn origins(name: &str) -> BTreeMap<String, String> {
    let tokens = tokens(&fs::read_to_string(crate_folder(name).join("src/lib.rs")).unwrap());
    let mut paths = Vec::new();
    for at in (0..tokens.len()).filter(|&at| tokens[at] == "use") {
        read_paths(&tokens, at + 1, &[], &mut paths);
    }
    let origin = |path: Vec<String>| Some((path.last()?.clone(), path.first()?.clone()));
    paths.into_iter().filter_map(origin).collect()
}

/// The modules that the root of a crate declares.
fn root_modules(name: &str) -> BTreeSet<String> {
    let src = crate_folder(name).join("src");
    let entries = fs::read_dir(src).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|module| module != "lib" && module != "main")
        .collect()
}

#[test]
fn modules_use_only_what_comes_before_them() {
    let mut wrong = Vec::new();
    for layers in &LAYERS {
        let name = layers.crate_name;
        let (modules, origins) = (root_modules(name), origins(name));
        assert!(modules.len() > 5, "the sources of {name} are there");
        wrong.extend(
            modules
                .iter()
                .filter(|m| layers.level(m).is_none())
                .map(|m| format!("{name}: {m} has no place in the order")),
        );
        let named = layers.order.iter().flat_map(|layer| layer.iter()).filter(|m| **m != TOGETHER);
        let missing = named.filter(|m| !modules.contains(**m));
        wrong.extend(missing.map(|m| format!("{name}: there is no module {m}; remove it from the order")));
        let mut against = BTreeSet::new();
        for (own, used) in uses_of_crate(name) {
            for used in used {
                // A name that is no module is an item of the crate's root.
                let used = if modules.contains(&used) { Some(&used) } else { origins.get(&used) };
                let Some(used) = used.filter(|used| modules.contains(*used)) else { continue };
                if !layers.allows(&own, used) {
                    against.insert((own.clone(), used.clone()));
                }
            }
        }
        for (own, used) in &against {
            if !layers.exceptions.contains(&(own, used)) {
                wrong.push(format!("{name}: {own} uses {used}"));
            }
        }
        for (own, used) in layers.exceptions {
            if !against.contains(&((*own).to_owned(), (*used).to_owned())) {
                wrong.push(format!("{name}: {own} no longer uses {used}; remove this exception"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn crates_depend_only_on_those_before_them() {
    for (name, allowed) in CRATES {
        let manifest = fs::read_to_string(crate_folder(name).join("Cargo.toml")).unwrap();
        let mut section = "";
        let mut dependencies = BTreeSet::new();
        for line in manifest.lines() {
            if line.starts_with('[') {
                section = line;
            } else if section.ends_with("dependencies]") {
                let dependency = line.split(['.', ' ', '=']).next().unwrap();
                if dependency.starts_with("mercer") {
                    dependencies.insert(dependency);
                }
            }
        }
        assert_eq!(dependencies, allowed.iter().copied().collect(), "{name}");
    }
    let folders = fs::read_dir(crate_folder("")).unwrap().map(|entry| entry.unwrap());
    let found: BTreeSet<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    let known: BTreeSet<String> = CRATES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(found, known, "every crate has a place in the order");
}

#[test]
fn the_check_sees_what_a_file_uses() {
    let of = |text: &str, module: &[&str]| -> Vec<String> {
        let module: Vec<String> = module.iter().map(|m| (*m).to_owned()).collect();
        uses(text, &module).into_iter().collect()
    };
    let text = "use crate::gram::Gram;\n// crate::learn is not code\nlet x = crate::solve::y(crate::data::z, \"crate::model\");";
    assert_eq!(of(text, &["select"]), ["data", "gram", "solve"]);
    assert_eq!(
        of("use crate::{a, b::{c, d::{e, f}}, g::*};\nuse crate :: {\n h :: i,\n};", &["x"]),
        ["a", "b", "g", "h"]
    );
    // From `x::y::z`, one `super` is `x::y` and three are the root.
    assert_eq!(of("use super::{w, super::v, super::super::{a::b, c}};", &["x", "y", "z"]), ["a", "c", "x"]);
    assert_eq!(
        of("fn f() -> super::super::a::B { self::g::<super::super::d::E>() }", &["x", "y"]),
        ["a", "d", "x"]
    );
    assert_eq!(of("pub(in crate::x) use self::y::{self, z};", &["x"]), ["x"]);
    assert_eq!(of("mod inner { use super::super::a; }\nuse super::b;", &["x"]), ["a", "b"]);
    assert_eq!(of("let c = ['\"', '{']; crate::a::b()", &["x"]), ["a"]);
    assert_eq!(
        of("f(r#\"a \" crate::b\"#, crate::c::d); /* crate::e \" */ r\"\\\"; crate::g::h", &["x"]),
        ["c", "g"]
    );
    assert_eq!(of("use crate::a;\n#[cfg(test)]\nmod tests {\n use crate::b;\n}", &["x"]), ["a"]);
}
