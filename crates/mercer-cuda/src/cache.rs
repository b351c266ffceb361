//! A cache of compiled source on disk, by the text, the architecture and the version of the compiler.

use std::fs;
use std::path::PathBuf;

/// A directory of compiled source. Failures to read or write are not errors: the source is compiled again.
#[derive(Debug, Clone)]
pub struct Cache {
    directory: Option<PathBuf>,
}

impl Cache {
    /// `MERCER_CACHE`, else `XDG_CACHE_HOME/mercer`, else `~/.cache/mercer`; nothing is stored if none of these is set
    /// or `MERCER_CACHE` is empty.
    #[must_use]
    pub fn of_user() -> Self {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let directory = variable("MERCER_CACHE")
            .or_else(|| variable("XDG_CACHE_HOME").map(|path| path.join("mercer")))
            .or_else(|| variable("HOME").map(|path| path.join(".cache").join("mercer")))
            .filter(|path| path.is_absolute());
        Self { directory }
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
        bytes.strip_prefix(key.as_bytes())?.strip_prefix(&[0]).map(<[u8]>::to_vec)
    }

    /// Stores `compiled` for `key`.
    pub fn save(&self, key: &str, compiled: &[u8]) {
        let Some(path) = self.path(key) else { return };
        let Some(directory) = path.parent() else { return };
        if fs::create_dir_all(directory).is_err() {
            return;
        }
        let own = path.with_extension(format!("{}", std::process::id()));
        let bytes = [key.as_bytes(), &[0], compiled].concat();
        // Another process sees the complete file or none.
        if fs::write(&own, bytes).and_then(|()| fs::rename(&own, &path)).is_err() {
            let _ = fs::remove_file(&own);
        }
    }

    fn path(&self, key: &str) -> Option<PathBuf> {
        Some(self.directory.as_ref()?.join(format!("cuda-{:016x}.cubin", digest(key.as_bytes()))))
    }
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
}
