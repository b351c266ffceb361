//! A cache of compiled source on disk, by the text, the architecture and the version of the compiler.

use std::fs;
use std::path::PathBuf;

use mercer::data::write_atomically;

/// A directory of compiled source. Failures to read or write are not errors: the source is compiled again.
#[derive(Debug, Clone)]
pub struct Cache {
    directory: Option<PathBuf>,
}

impl Cache {
    /// `MERCER_CACHE`, else `XDG_CACHE_HOME/mercer` if that is an absolute path, else `~/.cache/mercer`; nothing is stored if none
    /// of these is set or `MERCER_CACHE` is empty.
    #[must_use]
    pub fn of_user() -> Self {
        Self::of(|name| std::env::var_os(name).map(PathBuf::from))
    }

    /// As [`of_user`](Self::of_user), with the environment given by `variable`.
    fn of(variable: impl Fn(&str) -> Option<PathBuf>) -> Self {
        let directory = variable("MERCER_CACHE").or_else(|| {
            let own = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
            Some(own.or_else(|| Some(variable("HOME")?.join(".cache")))?.join("mercer"))
        });
        Self { directory: directory.filter(|path| path.is_absolute()) }
    }

    /// A cache in `directory`.
    #[must_use]
    pub fn in_directory(directory: PathBuf) -> Self {
        Self { directory: Some(directory) }
    }

    /// The source stored for `key`, which contains everything that the compiled source depends on.
    #[must_use]
    pub fn load(&self, key: &str) -> Option<Vec<u8>> {
        let bytes = fs::read(self.path(key)?).ok()?;
        // The key is stored first, so that two keys with the same digest do not share a file.
        let rest = bytes.strip_prefix(key.as_bytes())?.strip_prefix(&[0])?;
        let (seal, compiled) = rest.split_at_checked(16)?;
        (seal == seal_of(compiled)).then(|| compiled.to_vec())
    }

    /// Stores `compiled` for `key`.
    pub fn save(&self, key: &str, compiled: &[u8]) {
        let Some(path) = self.path(key) else { return };
        let Some(directory) = path.parent() else { return };
        if fs::create_dir_all(directory).is_err() {
            return;
        }
        // Another process sees the complete file or none.
        let _ = write_atomically(&path, |file| {
            [key.as_bytes(), &[0], &seal_of(compiled), compiled]
                .iter()
                .try_for_each(|part| file.write_all(part))
        });
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(format!("cuda-{:016x}.cubin", digest(key.as_bytes()))))
    }
}

/// The length and the digest of compiled source, by which a damaged file is recognised.
fn seal_of(compiled: &[u8]) -> [u8; 16] {
    let mut seal = [0; 16];
    seal[..8].copy_from_slice(&(compiled.len() as u64).to_le_bytes());
    seal[8..].copy_from_slice(&digest(compiled).to_le_bytes());
    seal
}

/// FNV-1a, which is the same in every build.
fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_served_only_under_its_own_key() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::in_directory(directory.path().join("new"));
        assert_eq!(cache.load("a"), None);
        cache.save("a", &[0, 1, 2]);
        assert_eq!(cache.load("a"), Some(vec![0, 1, 2]));
        assert_eq!(cache.load("b"), None);
        // The same file for another key.
        fs::copy(cache.path("a").unwrap(), cache.path("b").unwrap()).unwrap();
        assert_eq!(cache.load("b"), None);
    }

    #[test]
    fn a_damaged_file_is_not_loaded() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::in_directory(directory.path().to_owned());
        cache.save("key", &[7; 40]);
        let path = cache.path("key").unwrap();
        let whole = fs::read(&path).unwrap();
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            assert_eq!(cache.load("key"), None, "{length} bytes");
        }
        for place in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[place] ^= 0x10;
            fs::write(&path, &flipped).unwrap();
            assert_eq!(cache.load("key"), None, "byte {place}");
        }
        // The file is replaced, and nothing else is left behind.
        cache.save("key", &[8; 40]);
        assert_eq!(cache.load("key"), Some(vec![8; 40]));
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_directory_follows_the_environment() {
        let of = |set: &[(&str, &str)]| {
            let cache = Cache::of(|name| {
                set.iter().find(|(variable, _)| *variable == name).map(|(_, value)| PathBuf::from(value))
            });
            cache.directory.map(|path| path.display().to_string())
        };
        let home = ("HOME", "/home/a");
        assert_eq!(of(&[home, ("MERCER_CACHE", "/m")]).as_deref(), Some("/m"));
        assert_eq!(of(&[home, ("MERCER_CACHE", "")]), None);
        assert_eq!(of(&[home, ("XDG_CACHE_HOME", "/x")]).as_deref(), Some("/x/mercer"));
        for unusable in ["", "x"] {
            let found = of(&[home, ("XDG_CACHE_HOME", unusable)]);
            assert_eq!(found.as_deref(), Some("/home/a/.cache/mercer"), "{unusable:?}");
        }
        assert_eq!(of(&[]), None);
    }
}
