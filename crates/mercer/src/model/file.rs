//! Model files: a safetensors container whose header carries one JSON document.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::iter;
use std::path::Path;

use flate2::Crc;
use safetensors::SafeTensors;

use crate::data::{Classes, Schema, foreign, write_atomically};

use super::header::{FORMAT, Header, KERNEL_LANGUAGE, Preamble};
use super::libsvm::is_libsvm;
use super::parts::{KINDS, Parts};
use super::tensors::Tensor;
use super::{Calibration, Model, ModelError, Predictor};

/// The key of the JSON document in the header's string map.
const DOCUMENT: &str = "mercer";

/// The entry of `requires` for a classifier.
const CLASSES: &str = "classes";

/// The entry of `requires` for calibrated probabilities.
const CALIBRATION: &str = "calibration";

/// The array that holds the JSON document if it is too long for the header, and the entry of `requires` for it.
const LONG_DOCUMENT: &str = "document";

/// The size in bytes from which a document is stored as an array: the header of a container has at most 100 million
/// bytes, and quotes take two.
const LONG: usize = 16 << 20;

const NO_CHECKSUM: &str = "00000000";

impl Model {
    /// The bytes of the model file. The same model gives the same bytes.
    ///
    /// # Errors
    /// If the container rejects an array; this does not happen for models that learners make.
    pub fn to_bytes(&self) -> Result<Vec<u8>, String> {
        let Parts { kind, words, arrays } = self.predictor.parts();
        let mut arrays: Vec<Tensor> =
            arrays.iter().flat_map(|(name, array)| Tensor::of(name, array)).collect();
        arrays.sort_by_key(|array| array.name);
        let requires = iter::once(kind)
            .chain(self.classes.is_some().then_some(CLASSES))
            .chain(self.calibration.is_some().then_some(CALIBRATION));
        let requires = requires.map(String::from).collect();
        let mut header = Header {
            format: FORMAT,
            requires,
            kernel_language: KERNEL_LANGUAGE,
            checksum: NO_CHECKSUM.into(),
            method: self.method,
            words,
            settings: self.settings.clone(),
            outputs: self.outputs.clone(),
            classes: self.classes.clone(),
            label_type: self.label_type.clone(),
            calibration: self.calibration.clone(),
            columns: self.schema.as_ref().map(Schema::feature_names).unwrap_or_default(),
            scaling: self.scaling.clone(),
            schema: self.schema.clone(),
            report: self.report.clone(),
        };
        let mut unsigned = serde_json::to_string(&header).map_err(|error| error.to_string())?;
        if unsigned.len() > LONG {
            header.requires.push(LONG_DOCUMENT.to_owned());
            let whole = serde_json::to_string(&header).map_err(|error| error.to_string())?;
            arrays.push(Tensor::numbers(LONG_DOCUMENT, &[whole.len()], whole.as_bytes()));
            arrays.sort_by_key(|array| array.name);
            unsigned = serde_json::to_string(&Preamble::of(&header)).map_err(|error| error.to_string())?;
        }
        let digits = checksum(&unsigned, arrays.iter().map(|array| (array.name, array.bytes.as_slice())));
        let document = signed(&unsigned, NO_CHECKSUM, &digits);
        let views = arrays.iter().map(|array| Ok((array.name, array.view()?))).collect::<Result<Vec<_>, _>>();
        let views = views.map_err(|error: safetensors::SafeTensorError| error.to_string())?;
        let map = HashMap::from([(DOCUMENT.to_owned(), document)]);
        safetensors::serialize(views, Some(map)).map_err(|error| error.to_string())
    }

    /// Reads a model from the bytes of its file; `path` is for messages.
    ///
    /// # Errors
    /// If the bytes are not a model, are damaged, or need a later program.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, ModelError> {
        let malformed = |reason: String| ModelError::Malformed { path: path.to_owned(), reason };
        if bytes.is_empty() {
            return Err(malformed("the file is empty".to_owned()));
        }
        // A container begins with the length of its header, six bytes of which are zero.
        let is_container = bytes.get(8).is_none_or(|byte| *byte == b'{');
        if let Some(kind) = other_kind(path, bytes).filter(|_| !is_container) {
            return Err(malformed(kind.to_owned()));
        }
        if str::from_utf8(&bytes[..bytes.len().min(8)]).is_ok_and(|head| !head.contains('\0')) {
            return Err(malformed("it is a text file; is it the data?".to_owned()));
        }
        let unreadable = |_| {
            let reason =
                if is_container { "the file is cut short or damaged" } else { "its format is unknown" };
            malformed(reason.to_owned())
        };
        let file = SafeTensors::deserialize(bytes).map_err(unreadable)?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(unreadable)?;
        let document = metadata
            .metadata()
            .as_ref()
            .and_then(|map| map.get(DOCUMENT))
            .ok_or_else(|| malformed(format!("its header has no `{DOCUMENT}` entry")))?;
        let preamble: Preamble =
            serde_json::from_str(document).map_err(|error| malformed(format!("its header: {error}")))?;
        if preamble.format > FORMAT || preamble.kernel_language > KERNEL_LANGUAGE {
            let found = preamble.format.max(preamble.kernel_language);
            return Err(ModelError::Newer { path: path.to_owned(), found, supported: FORMAT });
        }
        if let Some(feature) = preamble.requires.iter().find(|feature| !known(feature)) {
            return Err(ModelError::Requires { path: path.to_owned(), feature: feature.clone() });
        }
        verify(&file, document, &preamble.checksum).map_err(malformed)?;
        let header: Header = match file.tensor(LONG_DOCUMENT) {
            Ok(whole) => serde_json::from_slice(whole.data()),
            Err(_) => serde_json::from_str(document),
        }
        .map_err(|error| malformed(format!("its header: {error}")))?;
        let predictor = Predictor::from_parts(&header.requires, &header.words, &file).map_err(malformed)?;
        let model = Self {
            method: header.method,
            settings: header.settings,
            predictor,
            schema: header.schema,
            outputs: header.outputs,
            classes: header.classes,
            label_type: header.label_type,
            calibration: header.calibration,
            scaling: header.scaling,
            report: header.report,
        };
        model.consistent().map_err(malformed)?;
        Ok(model)
    }

    /// Writes the model file, under a temporary name first: the file is complete or absent.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), ModelError> {
        let unwritable = |error| ModelError::Io { path: path.to_owned(), error: io::Error::other(error) };
        let bytes = self.to_bytes().map_err(unwritable)?;
        Ok(write_atomically(path, |file| file.write_all(&bytes))?)
    }

    /// Reads a model file: this program's, or LIBSVM's as [`from_libsvm`](Self::from_libsvm) does.
    ///
    /// # Errors
    /// If the file cannot be read, is not a model, is damaged, or needs a later program.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let bytes = fs::read(path).map_err(|error| ModelError::Io { path: path.to_owned(), error })?;
        if is_libsvm(&bytes) { Self::from_libsvm(&bytes, path) } else { Self::from_bytes(&bytes, path) }
    }

    /// Checks that the parts are consistent.
    fn consistent(&self) -> Result<(), String> {
        let columns = self.predictor.ncols();
        let (named, outputs) = (self.outputs.len(), self.predictor.noutputs());
        match &self.classes {
            None if named != outputs => return Err(format!("it names {named} outputs but has {outputs}")),
            Some(classes) if named != 1 || !self.predictor.tells_apart(classes.len()) => {
                return Err(format!("it has {} classes but {outputs} outputs", classes.len()));
            }
            _ => {}
        }
        let fault =
            |calibration: &Calibration| calibration.fault(outputs, self.classes.as_ref().map(Classes::len));
        if let Some(fault) = self.calibration.as_ref().and_then(fault) {
            return Err(format!("it has {fault}"));
        }
        if !self.scaling.fits(columns) {
            return Err("its scaling does not match its columns".into());
        }
        if self.schema.as_ref().is_some_and(|schema| schema.nfeatures() != columns) {
            return Err("its columns do not match its predictor's".into());
        }
        Ok(())
    }
}

/// The kind of a file that is not a container, without the advice for data.
fn other_kind(path: &Path, bytes: &[u8]) -> Option<&'static str> {
    let head = &bytes[..bytes.len().min(1 << 16)];
    let kind = foreign(&path.to_string_lossy(), head).and_then(|kind| kind.split(';').next());
    match head {
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some("this is a NumPy array; is it the data?"),
        [b'P', b'A', b'R', b'1', ..] => Some("this is a Parquet file; is it the data?"),
        [b'P', b'K', 3, 4, ..] => kind.or(Some("this is a zip archive")),
        [0x1f, 0x8b, ..] => Some("this file is compressed with gzip; decompress it first"),
        _ => kind,
    }
}

/// Whether this version supports the feature of the format.
fn known(feature: &str) -> bool {
    KINDS.contains(&feature) || [CLASSES, CALIBRATION, LONG_DOCUMENT].contains(&feature)
}

fn verify(file: &SafeTensors<'_>, document: &str, stated: &str) -> Result<(), String> {
    let unsigned = signed(document, stated, NO_CHECKSUM);
    let mut arrays = file.tensors();
    arrays.sort_by(|a, b| a.0.cmp(&b.0));
    if checksum(&unsigned, arrays.iter().map(|(name, view)| (name.as_str(), view.data()))) == stated {
        Ok(())
    } else {
        Err("its checksum does not match: the file is damaged".into())
    }
}

/// The document with another checksum.
fn signed(document: &str, from: &str, to: &str) -> String {
    document.replacen(&format!("\"checksum\":\"{from}\""), &format!("\"checksum\":\"{to}\""), 1)
}

fn checksum<'a>(document: &str, arrays: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut crc = Crc::new();
    crc.update(document.as_bytes());
    for (name, bytes) in arrays {
        crc.update(name.as_bytes());
        crc.update(bytes);
    }
    format!("{:08x}", crc.sum())
}
