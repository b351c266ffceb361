//! The model to draw, its rows, and numbers sampled from it.

use std::borrow::Cow;
use std::collections::HashSet;

use mercer::data::{self, AnySamples, Matrix, Samples, Scaling};
use mercer::kernel::Kernel;
use mercer::model::{
    Expansion, GaussianClasses, GaussianProcess, Link, Method, Model, Pairs, Predictor, one_vs_rest_decisions,
};
use mercer::session::Session;

use super::{Kind, Plot};
use crate::failure::Failure;
use crate::plot::MOST_CLASSES;

/// Numbers in rows predicted at a time: 32 MB.
const AT_ONCE: usize = 1 << 22;

/// Standard deviations of an output, and functions drawn from its posterior.
type Spread = (Vec<f64>, Vec<Vec<f64>>);

/// A model with one of its outputs and the rows to draw, in the units of the data.
pub struct Shown {
    /// The model.
    pub model: Model,
    /// The output to draw.
    pub output: usize,
    /// Its name.
    pub output_name: String,
    /// Names of the features.
    pub names: Vec<String>,
    /// The data, or without data the rows kept in the model, or without these the range of its training rows.
    pub samples: AnySamples<'static>,
    /// The kind of the samples.
    pub rows: RowKind,
    /// The target in each row of the data; NaN where it is missing. None without data or target.
    pub observed: Option<Vec<f64>>,
    /// The class of each row of the data, for a classifier; `None` if it is missing or was not trained on.
    pub classes: Option<Vec<Option<usize>>>,
    /// The median of each column.
    medians: Vec<f64>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// The kinds of rows in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowKind {
    /// The data on which the model was trained.
    Training,
    /// Other data.
    Data,
    /// The rows kept in the model, without data.
    Kept,
    /// The range of the training rows, without data and without rows in the model.
    Range,
}

impl RowKind {
    /// Their name in a legend.
    pub fn name(self) -> &'static str {
        match self {
            Self::Training => "training rows",
            Self::Data => "rows of the data",
            Self::Kept | Self::Range => "rows kept in the model",
        }
    }
}

impl Shown {
    /// Reads the data and chooses the output.
    pub fn new(model: Model, arguments: &Plot) -> Result<Self, Failure> {
        let output = place("--target", arguments.target.as_deref(), &model.outputs)?;
        let output_name = model.outputs[output].clone();
        let schema = model.schema_or_positional();
        let mut names = schema.feature_names();
        if names.is_empty() {
            names = (0..schema.nfeatures()).map(|column| format!("x{column}")).collect();
        }
        let mut notes = Vec::new();
        let (mut observed, mut classes) = (None, None);
        let (samples, rows) = match &arguments.data {
            None => {
                if let Predictor::Pairs(pairs) = &model.predictor {
                    let of_class = |(class, &count): (usize, &usize)| vec![Some(class); count];
                    classes = Some(pairs.per_class.iter().enumerate().flat_map(of_class).collect());
                }
                kept_or_range(&model, &mut notes)?
            }
            Some(path) => {
                let dataset = data::chunks(path, &schema, usize::MAX)?
                    .next()
                    .transpose()?
                    .filter(|dataset| dataset.nrows() > 0)
                    .ok_or_else(|| Failure::usage(format!("{}: the file has no rows", path.display())))?;
                notes.extend(dataset.notes);
                let target = dataset.targets.into_iter().find(|target| target.name == output_name);
                match (&model.classes, target.map(|target| target.values)) {
                    (Some(known), Some(values)) => {
                        let class = |row| known.find(&values, row).ok().flatten();
                        classes = Some((0..values.len()).map(class).collect());
                    }
                    (None, Some(values)) => observed = values.numbers().map(Cow::into_owned),
                    (_, None) => {}
                }
                (dataset.features, RowKind::Data)
            }
        };
        let medians = medians(&samples);
        let mut shown =
            Self { model, output, output_name, names, samples, rows, observed, classes, medians, notes };
        if shown.has_data() && shown.is_training_data()? {
            shown.rows = RowKind::Training;
        }
        Ok(shown)
    }

    /// A model with its training rows.
    #[cfg(feature = "explore")]
    pub fn of_training(
        model: Model,
        names: Vec<String>,
        samples: AnySamples<'static>,
        observed: Option<Vec<f64>>,
        classes: Option<Vec<Option<usize>>>,
    ) -> Self {
        let output_name = model.outputs.first().cloned().unwrap_or_default();
        let (medians, notes, rows) = (medians(&samples), Vec::new(), RowKind::Training);
        Self { model, output: 0, output_name, names, samples, rows, observed, classes, medians, notes }
    }

    /// Whether there are data.
    pub fn has_data(&self) -> bool {
        matches!(self.rows, RowKind::Data | RowKind::Training)
    }

    /// Rows of data.
    pub fn nrows(&self) -> usize {
        if self.has_data() { self.samples.nrows() } else { 0 }
    }

    /// Rows of the data with their observed targets, if known.
    pub fn observed(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.observed.iter().flatten().copied().enumerate().filter(|(_, y)| !y.is_nan())
    }

    /// Rows of the data with their classes, if known.
    pub fn labelled(&self) -> Vec<(usize, usize)> {
        let known = self.classes.iter().filter(|_| self.has_data()).flatten().enumerate();
        known.filter_map(|(row, class)| Some((row, (*class)?))).collect()
    }

    /// The rows with their number, for a subtitle: `120 training rows`.
    pub fn counted(&self, rows: usize) -> String {
        match (self.rows, rows) {
            (RowKind::Training, 1) => "1 training row".into(),
            (RowKind::Training, n) => format!("{n} training rows"),
            (_, 1) => "1 row".into(),
            (_, n) => format!("{n} rows"),
        }
    }

    /// The default kind of picture, for this many names in `--columns`.
    pub fn default_kind(&self, columns: usize) -> Kind {
        let classes = self.model.classes.as_ref().map(|classes| classes.len());
        let map = match classes {
            Some(classes) if classes > MOST_CLASSES => Kind::Slice,
            Some(_) => Kind::Classes,
            None => Kind::Contour,
        };
        match (columns, self.names.len()) {
            (0, 2) | (2, _) => map,
            (0, 1) if classes.is_none() => Kind::Curve,
            (1, _) | (0, 1) => Kind::Slice,
            _ if classes.is_some() && !self.labelled().is_empty() => Kind::Confusion,
            _ if classes.is_some() => map,
            _ if self.observed().next().is_some() => Kind::Predicted,
            _ => Kind::Slice,
        }
    }

    /// `count` columns by their names or numbers; the first ones where none are named.
    pub fn columns(&self, asked: &[String], count: usize) -> Result<Vec<usize>, Failure> {
        if asked.is_empty() {
            return Ok((0..count).collect());
        }
        let found: Vec<usize> =
            asked.iter().map(|name| place("--columns", Some(name), &self.names)).collect::<Result<_, _>>()?;
        match found[..] {
            [a, b] if a == b => Err(Failure::usage(format!("--columns names {} twice", self.names[a]))),
            _ => Ok(found),
        }
    }

    /// The values of a column, row by row.
    pub fn values(&self, column: usize) -> Vec<f64> {
        let mut values = vec![0.0; self.samples.nrows()];
        for (row, out) in values.iter_mut().enumerate() {
            self.samples.visit_row(row, |at, value| {
                if at == column {
                    *out = value;
                }
            });
        }
        values
    }

    /// The text about the values of columns that are not drawn; empty if every column is drawn.
    pub fn others(&self, drawn: usize) -> String {
        match self.names.len().saturating_sub(drawn) {
            0 => String::new(),
            1 => "the other column at its median · ".into(),
            n => format!("the other {n} columns at their medians · "),
        }
    }

    /// Every output of the model for these values of these columns, with the others at their medians. The places may be
    /// outside of the domain on which the kernel is proven: a picture needs values, not the proof.
    pub fn outputs(
        &self,
        columns: &[usize],
        places: &[Vec<f64>],
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, Failure> {
        let row = |place: usize, row: &mut [f64]| {
            row.copy_from_slice(&self.medians);
            columns.iter().zip(&places[place]).for_each(|(column, value)| row[*column] = *value);
        };
        self.outputs_of(places.len(), row, session)
    }

    /// Every output of the model at rows that `fill` writes.
    pub fn outputs_of(
        &self,
        count: usize,
        fill: impl Fn(usize, &mut [f64]),
        session: &Session<'_>,
    ) -> Result<Matrix<f64>, Failure> {
        let predictor = match &self.model.predictor {
            Predictor::Expansion(expansion) => Expansion { domain: None, ..expansion.clone() }.into(),
            Predictor::Pairs(pairs) => Pairs { domain: None, ..pairs.clone() }.into(),
            Predictor::GaussianProcess(process) => Expansion { domain: None, ..process.mean.clone() }.into(),
            Predictor::GaussianClasses(classes) => {
                GaussianClasses { latent: Expansion { domain: None, ..classes.latent.clone() } }.into()
            }
            other => other.clone(),
        };
        let columns = self.names.len();
        let mut entries = Vec::with_capacity(count * predictor.noutputs());
        let all: Vec<usize> = (0..count).collect();
        for some in all.chunks((AT_ONCE / columns.max(1)).max(1)) {
            let mut rows = vec![0.0; some.len() * columns];
            some.iter().zip(rows.chunks_mut(columns)).for_each(|(&place, row)| fill(place, row));
            let samples = Samples::dense(some.len(), columns, rows).map_err(Failure::work)?;
            let scaled = self.model.scaling.apply(AnySamples::F64(samples))?;
            entries.extend_from_slice(predictor.predict(&scaled, session)?.entries());
        }
        Ok(Matrix::from_entries(count, predictor.noutputs(), entries))
    }

    /// The standard deviations of the output that is drawn where a column has these values and the others their
    /// medians, and functions drawn from its posterior; `None` for a model without them.
    pub fn spread(
        &self,
        column: usize,
        places: &[f64],
        draws: usize,
        session: &Session<'_>,
    ) -> Result<Option<Spread>, Failure> {
        let Predictor::GaussianProcess(process) = &self.model.predictor else { return Ok(None) };
        if process.factor.is_none() {
            return Ok(None);
        }
        let mut rows = self.medians.repeat(places.len());
        places.iter().enumerate().for_each(|(i, place)| rows[i * self.names.len() + column] = *place);
        let samples = Samples::dense(places.len(), self.names.len(), rows).map_err(Failure::work)?;
        let scaled = self.model.scaling.apply(AnySamples::F64(samples))?;
        let mean = Expansion { domain: None, ..process.mean.clone() };
        let process = GaussianProcess { mean, ..process.clone() };
        let deviations = self.chosen(&process.deviations(&scaled, true, session)?);
        let drawn = process.draws(&scaled, self.output, draws, session)?;
        let functions = (0..draws).map(|d| (0..drawn.nrows()).map(|i| drawn.row(i)[d]).collect()).collect();
        Ok(Some((deviations, functions)))
    }

    /// The model's outputs at the samples.
    pub fn predicted(&self, session: &Session<'_>) -> Result<Matrix<f64>, Failure> {
        Ok(self.model.predict(&self.samples, session)?)
    }

    /// The output to draw.
    pub fn chosen(&self, outputs: &Matrix<f64>) -> Vec<f64> {
        column(outputs, self.output)
    }

    /// The quantities that decide between the classes: probabilities if the model has them, otherwise decisions.
    pub fn decisions(&self, outputs: &Matrix<f64>) -> Decisions {
        let model = &self.model;
        let columns =
            |of: &Matrix<f64>| -> Vec<Vec<f64>> { (0..of.ncols()).map(|class| column(of, class)).collect() };
        match (model.probabilities(outputs), model.link(), outputs.ncols()) {
            (Some(shares), ..) => Decisions::Probabilities(columns(&shares)),
            // A pair's decision is positive for the first of its classes.
            (None, Link::Votes, 1) => Decisions::Second(outputs.entries().iter().map(|f| 0.0 - f).collect()),
            (None, Link::Votes, _) => Decisions::Each(columns(&one_vs_rest_decisions(outputs))),
            (None, _, 1) => Decisions::Second(outputs.entries().to_vec()),
            (None, ..) => Decisions::Each(columns(outputs)),
        }
    }

    /// Names of the classes.
    pub fn class_names(&self) -> Vec<String> {
        if self.model.method == Method::OneClass {
            return vec!["outlier".into(), "inlier".into()];
        }
        let known = self.model.classes.iter();
        known.flat_map(|known| (0..known.len()).map(|code| known.name(code))).collect()
    }

    /// The rows that are support vectors: those equal to rows kept in the model. None for a model of another kind.
    pub fn support_vectors(&self) -> Result<Vec<bool>, Failure> {
        let is_machine = matches!(
            self.model.method,
            Method::Svc | Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass
        );
        match self.model.predictor.rows().filter(|_| is_machine) {
            None => Ok(vec![false; self.samples.nrows()]),
            Some(_) if !self.has_data() => Ok(vec![true; self.samples.nrows()]),
            Some(kept) => {
                let known: HashSet<Vec<u64>> = (0..kept.nrows()).map(|row| digits(kept, row)).collect();
                let scaled = self.model.scaling.apply(self.samples.view())?;
                Ok((0..scaled.nrows()).map(|row| known.contains(&digits(&scaled, row))).collect())
            }
        }
    }

    /// Whether the data are the training data: equally many rows, including every row kept in the model.
    fn is_training_data(&self) -> Result<bool, Failure> {
        let trained = self.model.report.read::<u64>("rows");
        let (Some(kept), Some(trained)) = (self.model.predictor.rows(), trained) else { return Ok(false) };
        let shifted = self.model.predictor.expansion().is_some_and(|expansion| expansion.shift.is_some());
        if trained != self.samples.nrows() as u64 || kept.ncols() != self.samples.ncols() || shifted {
            return Ok(false);
        }
        let scaled = self.model.scaling.apply(self.samples.view())?;
        let known: HashSet<Vec<u64>> = (0..scaled.nrows()).map(|row| digits(&scaled, row)).collect();
        Ok((0..kept.nrows()).all(|row| known.contains(&digits(kept, row))))
    }

    /// The kernel, if the model has one.
    pub fn kernel(&self) -> Option<&Kernel> {
        self.model.predictor.kernel()
    }

    /// b of the drawn output.
    pub fn intercept(&self) -> f64 {
        self.model.predictor.expansion().map_or(0.0, |expansion| expansion.intercepts[self.output])
    }

    /// The number of terms aᵢ k(cᵢ, ·) of the model.
    pub fn nterms(&self) -> usize {
        self.model.predictor.expansion().map_or(0, |expansion| expansion.centres.nrows())
    }

    /// The terms aᵢ k(cᵢ, ·) of the model at values of its one column, those with the largest |aᵢ|, at most `most`.
    pub fn bumps(
        &self,
        places: &[f64],
        most: usize,
        session: &Session<'_>,
    ) -> Result<Vec<Vec<f64>>, Failure> {
        let Some(expansion) = self.model.predictor.expansion() else { return Ok(Vec::new()) };
        let size = |i: usize| expansion.coefficients.row(i)[self.output].abs();
        let mut order: Vec<usize> = (0..expansion.centres.nrows()).collect();
        order.sort_by(|&a, &b| size(b).total_cmp(&size(a)).then(a.cmp(&b)));
        order.truncate(most);
        let mut each = Matrix::zeros(order.len(), order.len());
        for (term, &centre) in order.iter().enumerate() {
            each.row_mut(term)[term] = expansion.coefficients.row(centre)[self.output];
        }
        let terms = Expansion {
            kernel: expansion.kernel.clone(),
            domain: None,
            centres: expansion.centres.select(&order),
            shift: expansion.shift.clone(),
            coefficients: each,
            intercepts: vec![0.0; order.len()],
        };
        let samples = Samples::dense(places.len(), 1, places.to_vec()).map_err(Failure::work)?;
        let values = terms.predict(&self.model.scaling.apply(AnySamples::F64(samples))?, session)?;
        Ok((0..order.len()).map(|term| column(&values, term)).collect())
    }
}

/// The quantities that decide between classes at some rows.
pub enum Decisions {
    /// The probability of each class.
    Probabilities(Vec<Vec<f64>>),
    /// f of each class; the largest decides.
    Each(Vec<Vec<f64>>),
    /// f of two classes; above 0 is the second.
    Second(Vec<f64>),
}

/// One column of a matrix.
pub fn column(matrix: &Matrix<f64>, column: usize) -> Vec<f64> {
    (0..matrix.nrows()).map(|row| matrix.row(row)[column]).collect()
}

/// The exact bits of a row.
fn digits(samples: &AnySamples<'_>, row: usize) -> Vec<u64> {
    let mut values = vec![0.0; samples.ncols()];
    samples.copy_row(row, &mut values);
    values.iter().map(|value| (value + 0.0).to_bits()).collect()
}

/// The median of each column. Entries that sparse data do not store are 0. O(n log n) time for n stored values.
fn medians(samples: &AnySamples<'_>) -> Vec<f64> {
    let rows = samples.nrows();
    let mut columns = vec![Vec::new(); samples.ncols()];
    (0..rows).for_each(|row| samples.visit_row(row, |column, value| columns[column].push(value)));
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        let (zeros, below) = (rows - values.len(), values.partition_point(|value| *value < 0.0));
        match rows / 2 {
            middle if middle < below => values[middle],
            middle if middle < below + zeros => 0.0,
            middle => values.get(middle - zeros).copied().unwrap_or(0.0),
        }
    };
    columns.into_iter().map(median).collect()
}

/// The rows kept in a model, in the units of its data; otherwise three rows at the ends and the middle of the training
/// data.
fn kept_or_range(model: &Model, notes: &mut Vec<String>) -> Result<(AnySamples<'static>, RowKind), Failure> {
    let columns = model.predictor.ncols();
    let Some(kept) = model.predictor.rows() else {
        let range: Vec<[f64; 3]> = match &model.scaling {
            Scaling::Standard { means, scales } => {
                means.iter().zip(scales).map(|(mean, s)| [mean - 2.0 * s, *mean, mean + 2.0 * s]).collect()
            }
            Scaling::MinMax { mins, ranges } => {
                mins.iter().zip(ranges).map(|(min, range)| [*min, min + 0.5 * range, min + range]).collect()
            }
            Scaling::None => {
                notes
                    .push("the model keeps neither rows nor a scaling: drawn from -1 to 1; pass DATA".into());
                vec![[-1.0, 0.0, 1.0]; columns]
            }
        };
        let entries: Vec<f64> = (0..3).flat_map(|row| range.iter().map(move |ends| ends[row])).collect();
        let samples = Samples::dense(3, columns, entries).map_err(Failure::work)?;
        return Ok((AnySamples::F64(samples), RowKind::Range));
    };
    let shift = model.predictor.expansion().and_then(|expansion| expansion.shift.as_ref());
    let mut row = vec![0.0; columns];
    let mut entries = Vec::with_capacity(kept.nrows() * columns);
    for i in 0..kept.nrows() {
        kept.copy_row(i, &mut row);
        if let Some(shift) = shift {
            row.iter_mut().zip(shift).for_each(|(x, s)| *x += s);
        }
        match &model.scaling {
            Scaling::None => {}
            Scaling::Standard { means: starts, scales }
            | Scaling::MinMax { mins: starts, ranges: scales } => {
                row.iter_mut()
                    .zip(starts)
                    .zip(scales)
                    .for_each(|((x, start), scale)| *x = start + scale * *x);
            }
        }
        entries.extend_from_slice(&row);
    }
    let samples = Samples::dense(kept.nrows(), columns, entries).map_err(Failure::work)?;
    Ok((AnySamples::F64(samples), RowKind::Kept))
}

/// The index of a name or number in a list of names; the first by default.
fn place(flag: &str, asked: Option<&str>, names: &[String]) -> Result<usize, Failure> {
    let Some(asked) = asked else { return Ok(0) };
    let named = names.iter().position(|name| name == asked);
    let numbered = || asked.parse().ok().filter(|number: &usize| *number < names.len());
    named.or_else(numbered).ok_or_else(|| {
        let known = match names.len() {
            n if n <= 12 => names.join(", "),
            n => format!("{}, … ({n} in all)", names[..12].join(", ")),
        };
        Failure::usage(format!("{flag} {asked}: expected one of {known}, or a number from 0"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_count_what_is_not_stored() {
        let sparse = |indptr, columns, values| {
            medians(&AnySamples::F64(Samples::sparse(2, indptr, columns, values).unwrap()))
        };
        assert_eq!(sparse(vec![0, 1, 2, 4], vec![0, 0, 0, 1], vec![3.0, 5.0, 4.0, 9.0]), [4.0, 0.0]);
        assert_eq!(sparse(vec![0, 1, 2, 4], vec![0, 0, 0, 1], vec![-3.0, -5.0, 4.0, -9.0]), [-3.0, 0.0]);
        assert_eq!(sparse(vec![0, 0, 2, 4], vec![0, 1, 0, 1], vec![-3.0, -5.0, 4.0, -9.0]), [0.0, -5.0]);
    }
}
