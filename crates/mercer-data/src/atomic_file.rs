//! Files written whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::error::DataError;

/// Writes a file under a temporary name in its folder, then gives it its own name: a reader sees the old file or the
/// new one, never a part. Nothing is left behind on an error.
///
/// An existing path that is not a regular file (`/dev/stdout`, a named pipe) is written to directly. A new file gets
/// the default permissions, an existing one keeps its own, and a symbolic link is followed.
///
/// # Errors
/// If the folder is absent, the file cannot be created, written, flushed to the disk or renamed, or `write` fails.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    try_write(path, write).map_err(|source| DataError::Write { file: path.display().to_string(), source })
}

fn try_write(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let existing = match path.metadata() {
        Ok(metadata) => Some(metadata),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(e),
    };
    if existing.as_ref().is_some_and(|m| m.is_dir()) {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if existing.as_ref().is_some_and(|m| !m.is_file()) {
        let mut stream = BufWriter::new(std::fs::OpenOptions::new().write(true).open(path)?);
        write(&mut stream)?;
        return stream.flush();
    }
    // The rename would overwrite the link itself, so the file that it points to is replaced or created.
    let path = &match (&existing, path.read_link()) {
        (Some(_), _) => path.canonicalize()?,
        (None, Ok(target)) => path.parent().unwrap_or(Path::new("")).join(target),
        (None, Err(_)) => path.to_owned(),
    };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mercer-").suffix(".part");
    let permissions = existing.map(|m| m.permissions());
    if permissions.as_ref().is_some_and(std::fs::Permissions::readonly) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Without this the file would keep the private mode of the temporary file.
        builder.permissions(permissions.clone().unwrap_or_else(|| std::fs::Permissions::from_mode(0o666)));
    }
    let temporary = builder.tempfile_in(folder)?;
    let mut stream = BufWriter::with_capacity(1 << 16, temporary);
    write(&mut stream)?;
    let temporary = stream.into_inner().map_err(io::IntoInnerError::into_error)?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m");
        write_atomically(&path, |w| w.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, |w| {
            w.write_all(&[0; 1 << 20])?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(failed.unwrap_err().to_string().contains("the disk is full"));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(entries(folder.path()), 1);
        write_atomically(&path, |w| w.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(entries(folder.path()), 1);
    }

    #[test]
    fn an_absent_folder_and_a_folder_as_file_are_errors_that_name_the_path() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().join("absent/m"), folder.path().to_owned()] {
            let error = write_atomically(&path, |_| Ok(())).unwrap_err().to_string();
            assert!(error.contains(&path.display().to_string()), "{error}");
        }
        assert_eq!(entries(folder.path()), 0);
    }

    #[cfg(unix)]
    #[test]
    fn new_files_are_readable_as_others_are_and_existing_ones_keep_their_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (ours, plain) = (folder.path().join("m"), folder.path().join("plain"));
        std::fs::write(&plain, b"").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
        write_atomically(&ours, |_| Ok(())).unwrap();
        assert_eq!(mode(&ours), mode(&plain));
        std::fs::set_permissions(&ours, std::fs::Permissions::from_mode(0o600)).unwrap();
        write_atomically(&ours, |_| Ok(())).unwrap();
        assert_eq!(mode(&ours) & 0o777, 0o600);
    }

    #[cfg(unix)]
    #[test]
    fn a_symbolic_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        std::fs::write(&real, b"old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write_atomically(&link, |w| w.write_all(b"new")).unwrap();
        assert_eq!(std::fs::read(&real).unwrap(), b"new");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        std::fs::remove_file(&real).unwrap();
        write_atomically(&link, |w| w.write_all(b"newer")).unwrap();
        assert_eq!(std::fs::read(&real).unwrap(), b"newer", "a link that leads nowhere is followed");
        assert!(link.symlink_metadata().unwrap().is_symlink());
    }
}
