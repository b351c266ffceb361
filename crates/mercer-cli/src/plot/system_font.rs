//! Finds a typeface of the system for characters that our own lacks. Letters are set one by one, without the ligatures
//! of cursive scripts.

use std::env;
use std::path::{Path, PathBuf};

use ttf_parser::Face;

/// The installed file with most of these characters; the first by name of several. `None` if none has any.
pub fn with_most_of(characters: &[char]) -> Option<Vec<u8>> {
    let mut files = Vec::new();
    folders().iter().for_each(|folder| collect(folder, &mut files));
    files.sort();
    let mut best: Option<(usize, Vec<u8>)> = None;
    for file in files {
        let Ok(bytes) = std::fs::read(file) else { continue };
        let Ok(face) = Face::parse(&bytes, 0) else { continue };
        let found = characters.iter().filter(|c| face.glyph_index(**c).is_some()).count();
        if found > best.as_ref().map_or(0, |(most, _)| *most) {
            best = Some((found, bytes));
            if found == characters.len() {
                break;
            }
        }
    }
    best.map(|(_, bytes)| bytes)
}

/// The folders of typefaces on different systems.
fn folders() -> Vec<PathBuf> {
    let fixed = ["/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts"]
        .map(PathBuf::from);
    let home = env::var_os("HOME").map(PathBuf::from).into_iter();
    let own =
        home.flat_map(|home| [".fonts", ".local/share/fonts", "Library/Fonts"].map(|name| home.join(name)));
    let windows = env::var_os("WINDIR").map(|root| Path::new(&root).join("Fonts"));
    fixed.into_iter().chain(own).chain(windows).collect()
}

/// Adds the typefaces of a folder and of those within it.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = folder.read_dir() else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let extension = path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&path, files);
        } else if matches!(extension.as_deref(), Some("ttf" | "otf" | "ttc" | "otc")) {
            files.push(path);
        }
    }
}
