//! Reads a LIBSVM model.

use std::collections::BTreeMap;
use std::path::Path;

use crate::data::{
    AnySamples, Classes, Features, MAX_COLUMNS, Matrix, Missing, Reading, Samples, Scaling, Schema,
    TargetColumn, TargetKind,
};
use crate::kernel::Kernel;
use crate::model::{Calibration, Expansion, Facts, Method, Model, ModelError, Pairs, Predictor, Sigmoid};
use crate::real::Precision;

use super::PRECOMPUTED;

/// Above this share of stored entries the support vectors are kept with their zeros, which is faster.
const DENSE: f64 = 0.4;

impl Model {
    /// Reads a model that LIBSVM's svm-train wrote; `path` is for messages.
    ///
    /// The classes keep the order of the file, which decides between equal votes. The file does not contain features
    /// that no support vector has; [`widened`](Self::widened) adds them.
    ///
    /// # Errors
    /// [`ModelError::Libsvm`] with the line, if the text is truncated, has unknown entries, or lacks numbers where they
    /// are required.
    pub fn from_libsvm(text: &[u8], path: &Path) -> Result<Self, ModelError> {
        let failed = |(line, problem)| ModelError::Libsvm { path: path.to_owned(), line, problem };
        let text = str::from_utf8(text).map_err(|error| {
            let line = text[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
            failed((line, "it is not text".to_owned()))
        })?;
        let header = Header::read(text).map_err(failed)?;
        header.model(text).map_err(failed)
    }
}

/// A problem and the line it is in, from 1.
type Failed = (usize, String);

/// The words of the header, each with its line.
struct Header<'a> {
    words: BTreeMap<&'a str, (usize, Vec<&'a str>)>,
    /// The line `SV`, from 1.
    end: usize,
}

const WORDS: [&str; 13] = [
    "svm_type",
    "kernel_type",
    "degree",
    "gamma",
    "coef0",
    "nr_class",
    "total_sv",
    "rho",
    "label",
    "probA",
    "probB",
    "prob_density_marks",
    "nr_sv",
];

impl<'a> Header<'a> {
    fn read(text: &'a str) -> Result<Self, Failed> {
        let mut words = BTreeMap::new();
        let mut last = 0;
        for (place, line) in text.lines().enumerate() {
            last = place + 1;
            let mut fields = line.split_ascii_whitespace();
            let Some(word) = fields.next() else { continue };
            if word == "SV" {
                return Ok(Self { words, end: last });
            }
            if !WORDS.contains(&word) {
                return Err((last, format!("`{word}` is no word of a LIBSVM model's header")));
            }
            if words.insert(word, (last, fields.collect())).is_some() {
                return Err((last, format!("`{word}` appears twice")));
            }
        }
        Err((last.max(1), "the header has no line `SV`: the file is cut short".into()))
    }

    /// The values after a word, which must be there.
    fn of(&self, word: &str) -> Result<(usize, &[&'a str]), Failed> {
        let (line, fields) =
            self.words.get(word).ok_or_else(|| (self.end, format!("the header does not say `{word}`")))?;
        Ok((*line, fields))
    }

    /// The one value after a word.
    fn one(&self, word: &str) -> Result<(usize, &'a str), Failed> {
        match self.of(word)? {
            (line, [value]) => Ok((line, value)),
            (line, values) => Err((line, format!("`{word}` has one value, not {}", values.len()))),
        }
    }

    fn count(&self, word: &str) -> Result<usize, Failed> {
        let (line, text) = self.one(word)?;
        text.parse().map_err(|_| (line, format!("`{word}` is a whole number, 0 or more, not `{text}`")))
    }

    fn number(&self, word: &str) -> Result<f64, Failed> {
        let (line, text) = self.one(word)?;
        finite(text).ok_or_else(|| (line, format!("`{word}` is a number, not `{text}`")))
    }

    /// `count` numbers after a word.
    fn numbers(&self, word: &str, count: usize) -> Result<Vec<f64>, Failed> {
        let (line, fields) = self.of(word)?;
        if fields.len() != count {
            return Err((line, format!("`{word}` has {} values where there must be {count}", fields.len())));
        }
        let number = |text: &&str| {
            finite(text).ok_or_else(|| (line, format!("`{word}` has numbers, but one is `{text}`")))
        };
        fields.iter().map(number).collect()
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// The method, and whether it has classes.
    fn method(&self) -> Result<Method, Failed> {
        let (line, text) = self.one("svm_type")?;
        Ok(match text {
            "c_svc" => Method::Svc,
            "nu_svc" => Method::NuSvc,
            "one_class" => Method::OneClass,
            "epsilon_svr" => Method::Svr,
            "nu_svr" => Method::NuSvr,
            _ => {
                let known = "c_svc, nu_svc, one_class, epsilon_svr or nu_svr";
                return Err((line, format!("the svm_type is {known}, not `{text}`")));
            }
        })
    }

    /// The kernel; `None` if it is precomputed.
    fn kernel(&self) -> Result<Option<Kernel>, Failed> {
        let (line, text) = self.one("kernel_type")?;
        let text = match text {
            "linear" => "linear".to_owned(),
            "polynomial" => {
                let (gamma, c) = (self.number("gamma")?, self.number("coef0")?);
                format!("poly(degree={}, gamma={gamma:e}, c={c:e})", self.count("degree")?)
            }
            "rbf" => match self.number("gamma")? {
                // LIBSVM's value if no row has a feature: e⁰ everywhere.
                0.0 => "1".to_owned(),
                gamma => format!("rbf(gamma={gamma:e})"),
            },
            "sigmoid" => {
                format!("sigmoid(gamma={:e}, c={:e})", self.number("gamma")?, self.number("coef0")?)
            }
            "precomputed" => return Ok(None),
            _ => {
                let known = "linear, polynomial, rbf, sigmoid or precomputed";
                return Err((line, format!("the kernel_type is {known}, not `{text}`")));
            }
        };
        text.parse().map(Some).map_err(|error| (line, format!("{text} is no kernel: {error}")))
    }

    fn model(&self, text: &str) -> Result<Model, Failed> {
        let (method, kernel) = (self.method()?, self.kernel()?);
        let classifies = matches!(method, Method::Svc | Method::NuSvc);
        let (classes, total) = (self.count("nr_class")?, self.count("total_sv")?);
        // LIBSVM writes one class for training data of one class.
        if classes == 0 || (!classifies && classes != 2) {
            let (line, _) = self.one("nr_class")?;
            return Err((line, format!("a model of {classes} class(es) has nothing to decide")));
        }
        let pairs = classes * (classes - 1) / 2;
        let rho = self.numbers("rho", pairs)?;
        let rows = Rows::read(self, text, total, classes - 1, kernel.is_none())?;
        let calibration = self.calibration(method, pairs)?;
        let kernel = kernel.clone().unwrap_or_else(Kernel::linear);
        let (predictor, classes): (Predictor, _) = if classifies {
            let labels = Classes::Numbers(self.labels(classes)?);
            let (per_class, coefficients) = (self.per_class(classes, total)?, rows.coefficients);
            let pairs = Pairs { kernel, domain: None, centres: rows.samples, per_class, coefficients, rho };
            (pairs.into(), Some(labels))
        } else {
            let expansion = Expansion {
                kernel,
                domain: None,
                centres: rows.samples,
                shift: None,
                coefficients: rows.coefficients,
                intercepts: vec![-rho[0]],
            };
            (expansion.into(), (method == Method::OneClass).then(Classes::inliers))
        };
        let precomputed = self.kernel()?.is_none();
        let schema = (!precomputed).then(|| schema(predictor.ncols()));
        Ok(Model {
            method,
            settings: if precomputed { Facts::new().with(PRECOMPUTED, true) } else { Facts::new() },
            predictor,
            schema,
            outputs: vec!["label".into()],
            classes,
            label_type: None,
            calibration,
            scaling: Scaling::None,
            report: Facts::new(),
        })
    }

    /// LIBSVM's labels are `int`s.
    fn labels(&self, classes: usize) -> Result<Vec<f64>, Failed> {
        let labels = self.numbers("label", classes)?;
        let (line, fields) = self.of("label")?;
        if let Some(place) = labels.iter().position(|label| label.fract() != 0.0) {
            return Err((line, format!("a label is a whole number, not `{}`", fields[place])));
        }
        let repeated = (1..classes).find(|&k| labels[..k].contains(&labels[k]));
        match repeated {
            Some(k) => Err((line, format!("the label {} appears twice", labels[k]))),
            None => Ok(labels),
        }
    }

    fn per_class(&self, classes: usize, total: usize) -> Result<Vec<usize>, Failed> {
        let (line, fields) = self.of("nr_sv")?;
        let counts: Vec<usize> = fields.iter().filter_map(|text| text.parse().ok()).collect();
        let sum = counts.iter().try_fold(0usize, |sum, n| sum.checked_add(*n));
        if fields.len() != classes || counts.len() != classes || sum != Some(total) {
            let problem = format!("`nr_sv` has {classes} whole numbers that add up to total_sv, {total}");
            return Err((line, problem));
        }
        Ok(counts)
    }

    fn calibration(&self, method: Method, pairs: usize) -> Result<Option<Calibration>, Failed> {
        Ok(match method {
            Method::Svc | Method::NuSvc if self.has("probA") || self.has("probB") => {
                let both = self.numbers("probA", pairs)?.into_iter().zip(self.numbers("probB", pairs)?);
                Some(Calibration::Sigmoids(both.map(|(a, b)| Sigmoid { a, b }).collect()))
            }
            Method::Svr | Method::NuSvr if self.has("probA") => {
                let scale = self.numbers("probA", 1)?[0];
                if scale < 0.0 {
                    let (line, _) = self.of("probA")?;
                    return Err((line, format!("`probA` of a regression is 0 or more, not {scale}")));
                }
                Some(Calibration::Laplace { scale })
            }
            Method::OneClass if self.has("prob_density_marks") => {
                Some(Calibration::Marks(self.numbers("prob_density_marks", 10)?))
            }
            _ => None,
        })
    }
}

/// The schema of LIBSVM rows with a label.
fn schema(ncols: usize) -> Schema {
    Schema {
        features: Features::Sparse { ncols },
        targets: vec![TargetColumn { name: "label".into(), position: 0, kind: TargetKind::Number }],
        named: false,
        missing: Missing::Error,
        dtype: Precision::Double,
        reading: Reading::default(),
    }
}

struct Rows {
    samples: AnySamples<'static>,
    coefficients: Matrix<f64>,
}

impl Rows {
    /// The lines after `SV`: `total` of them, each with `width` coefficients.
    fn read(
        header: &Header<'_>,
        text: &str,
        total: usize,
        width: usize,
        precomputed: bool,
    ) -> Result<Self, Failed> {
        let (mut indptr, mut indices, mut values) = (vec![0usize], Vec::<u32>::new(), Vec::<f64>::new());
        let mut coefficients = Vec::new();
        let mut line = header.end;
        for text in text.lines().skip(header.end) {
            line += 1;
            let mut fields = text.split_ascii_whitespace().peekable();
            if fields.peek().is_none() {
                continue;
            }
            if indptr.len() > total {
                return Err((line, format!("there are more than the {total} support vectors of total_sv")));
            }
            for _ in 0..width {
                let field = fields.next().unwrap_or_default();
                let number = finite(field).filter(|_| !field.contains(':'));
                coefficients.push(number.ok_or_else(|| {
                    (line, format!("the line begins with {width} coefficient(s), but one is `{field}`"))
                })?);
            }
            let start = indices.len();
            for field in fields {
                let Some((column, value)) = entry(field, precomputed).map_err(|problem| (line, problem))?
                else {
                    continue;
                };
                if indices.len() > start && indices[indices.len() - 1] >= column {
                    let index = field.split(':').next().unwrap_or_default();
                    return Err((line, format!("the index {index} is not above the one before it")));
                }
                indices.push(column);
                values.push(value);
            }
            if precomputed && indices.len() == start {
                return Err((line, "a support vector of a precomputed kernel has its row as 0:row".into()));
            }
            indptr.push(indices.len());
        }
        if indptr.len() <= total {
            let found = indptr.len() - 1;
            let problem =
                format!("total_sv says {total} support vectors, but {found} follow: the file is cut short");
            return Err((line, problem));
        }
        let ncols = indices.iter().max().map_or(1, |last| *last as usize + 1);
        let stored = values.len() as f64;
        let sparse =
            Samples::sparse(ncols, indptr, indices, values).map_err(|error| (line, error.to_string()))?;
        let samples = AnySamples::F64(sparse);
        let dense = !precomputed && stored >= DENSE * (total * ncols) as f64;
        let samples = if dense { filled(&samples, ncols) } else { samples };
        Ok(Self { samples, coefficients: Matrix::from_entries(total, width, coefficients) })
    }
}

/// The samples with their zeros, in rows of `ncols`.
fn filled(samples: &AnySamples<'_>, ncols: usize) -> AnySamples<'static> {
    let mut entries = vec![0.0; samples.nrows() * ncols];
    for row in 0..samples.nrows() {
        samples.visit_row(row, |column, value| entries[row * ncols + column] = value);
    }
    AnySamples::F64(Samples::dense(samples.nrows(), ncols, entries).expect("an entry for each place"))
}

impl Model {
    /// The same model for samples with more columns, in which its rows are 0: a LIBSVM model does not say how many columns its
    /// training set had. As it is where it has as many columns, or is not over rows.
    #[must_use]
    pub fn widened(mut self, ncols: usize) -> Self {
        let wider = |centres: &mut AnySamples<'static>| {
            if ncols > centres.ncols() {
                *centres = if centres.is_sparse() { spread(centres, ncols) } else { filled(centres, ncols) };
            }
        };
        match &mut self.predictor {
            Predictor::Pairs(pairs) => wider(&mut pairs.centres),
            Predictor::Expansion(expansion) => wider(&mut expansion.centres),
            Predictor::Linear(_)
            | Predictor::Neighbours(_)
            | Predictor::Voted(_)
            | Predictor::GaussianProcess(_)
            | Predictor::GaussianClasses(_) => return self,
        }
        if let Some(Schema { features: Features::Sparse { ncols: columns }, .. }) = &mut self.schema {
            *columns = ncols.max(*columns);
        }
        self
    }
}

/// Sparse samples with more columns.
fn spread(samples: &AnySamples<'_>, ncols: usize) -> AnySamples<'static> {
    let (mut indptr, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..samples.nrows() {
        samples.visit_row(row, |column, value| {
            indices.push(column as u32);
            values.push(value);
        });
        indptr.push(indices.len());
    }
    AnySamples::F64(Samples::sparse(ncols, indptr, indices, values).expect("the rows of valid samples"))
}

/// A finite number.
fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// The column and value of `index:value`; `None` for what plays no part in a row of kernel values.
fn entry(field: &str, precomputed: bool) -> Result<Option<(u32, f64)>, String> {
    let parsed = field.split_once(':').and_then(|(index, value)| Some((index.parse().ok()?, finite(value)?)));
    let (index, value): (u32, f64) =
        parsed.ok_or_else(|| format!("expected index:value with finite numbers, found `{field}`"))?;
    match (precomputed, index) {
        (true, 0) if value >= 1.0 && value <= MAX_COLUMNS as f64 => Ok(Some((value as u32 - 1, 1.0))),
        (true, 0) => Err(format!("a row number is 1 or more, not {value}")),
        (true, _) => Ok(None),
        (false, 0) => Err("found the index 0, but indices start at 1".into()),
        (false, index) if index as usize > MAX_COLUMNS => Err(format!("the index {index} is too large")),
        (false, index) => Ok(Some((index - 1, value))),
    }
}
