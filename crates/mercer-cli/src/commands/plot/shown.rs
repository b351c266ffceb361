//! What is shown: a model, the rows it is drawn with, and the numbers sampled from it.

use std::borrow::Cow;
use std::collections::HashSet;

use mercer::data::{self, AnySamples, Matrix, Samples, Scaling};
use mercer::kernel::Kernel;
use mercer::model::{Expansion, GaussianClasses, GaussianProcess, Method, Model, Pairs, Predictor};
use mercer::session::Session;

use super::{Kind, Plot};
use crate::failure::Failure;

/// A model with one of its outputs and the rows it is drawn with, in the units of the data.
pub struct Shown {
    /// The model.
    pub model: Model,
    /// The output that is drawn.
    pub output: usize,
    /// Its name.
    pub output_name: String,
    /// Names of the features.
    pub names: Vec<String>,
    /// The data, or without them the model's centres.
    pub samples: AnySamples<'static>,
    /// What was observed, one for each row of the data; NaN where it is not known. None without data or target.
    pub observed: Option<Vec<f64>>,
    /// The class observed in each row of the data, for a classifier; none where it is not known or was not trained on.
    pub classes: Option<Vec<Option<usize>>>,
    /// Whether there are data.
    pub from_data: bool,
    /// What a user should be told.
    pub notes: Vec<String>,
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
        let samples = match &arguments.data {
            None => {
                if let Predictor::Pairs(pairs) = &model.predictor {
                    let of_class = |(class, &count): (usize, &usize)| vec![Some(class); count];
                    classes = Some(pairs.per_class.iter().enumerate().flat_map(of_class).collect());
                }
                centres(&model)?
            }
            Some(path) => {
                let dataset = data::chunks(path, &schema, usize::MAX)?
                    .next()
                    .transpose()?
                    .filter(|dataset| dataset.nrows() > 0)
                    .ok_or_else(|| Failure::usage(format!("{}: it has no rows", path.display())))?;
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
                dataset.features
            }
        };
        let from_data = arguments.data.is_some();
        Ok(Self { model, output, output_name, names, samples, observed, classes, from_data, notes })
    }

    /// Rows of data.
    pub fn nrows(&self) -> usize {
        if self.from_data { self.samples.nrows() } else { 0 }
    }

    /// What is drawn where nothing else is asked for.
    pub fn default_kind(&self) -> Kind {
        if self.model.classes.is_some() {
            return if self.names.len() == 2 { Kind::Classes } else { Kind::Reliability };
        }
        match self.names.len() {
            1 => Kind::Curve,
            2 => Kind::Contour,
            _ if self.observed.is_some() => Kind::Predicted,
            _ => Kind::Slice,
        }
    }

    /// A column by its name or number.
    pub fn column(&self, asked: Option<&str>) -> Result<usize, Failure> {
        place("--column", asked, &self.names)
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

    /// The model at rows of its columns, row by row, as the output that is drawn. Where it is drawn may be outside of
    /// the domain that its kernel is proven on: a picture asks for values, not for the proof.
    pub fn at(&self, rows: Vec<f64>, session: &Session<'_>) -> Result<Vec<f64>, Failure> {
        Ok(self.chosen(&self.outputs(rows, session)?))
    }

    /// The same with every output.
    pub fn outputs(&self, rows: Vec<f64>, session: &Session<'_>) -> Result<Matrix<f64>, Failure> {
        let scaled = self.model.scaling.apply(self.dense(rows)?)?;
        Ok(match &self.model.predictor {
            Predictor::Expansion(expansion) => {
                Expansion { domain: None, ..expansion.clone() }.predict(&scaled, session)?
            }
            Predictor::GaussianProcess(process) => {
                Expansion { domain: None, ..process.mean.clone() }.predict(&scaled, session)?
            }
            Predictor::GaussianClasses(classes) => {
                let latent = Expansion { domain: None, ..classes.latent.clone() };
                GaussianClasses { latent }.predict(&scaled, session)?
            }
            Predictor::Pairs(pairs) => Pairs { domain: None, ..pairs.clone() }.predict(&scaled, session)?,
            other => other.predict(&scaled, session)?,
        })
    }

    /// The standard deviations of the output that is drawn at rows of its columns, and functions drawn from its posterior; none of a
    /// model without them.
    pub fn spread(
        &self,
        rows: &[f64],
        draws: usize,
        session: &Session<'_>,
    ) -> Result<Option<(Vec<f64>, Vec<Vec<f64>>)>, Failure> {
        let Predictor::GaussianProcess(process) = &self.model.predictor else { return Ok(None) };
        if process.factor.is_none() {
            return Ok(None);
        }
        let scaled = self.model.scaling.apply(self.dense(rows.to_vec())?)?;
        let mean = Expansion { domain: None, ..process.mean.clone() };
        let process = GaussianProcess { mean, ..process.clone() };
        let deviations = process.deviations(&scaled, true, session)?;
        let deviations = (0..deviations.nrows()).map(|i| deviations.row(i)[self.output]).collect();
        let drawn = process.draws(&scaled, self.output, draws, session)?;
        let functions = (0..draws).map(|d| (0..drawn.nrows()).map(|i| drawn.row(i)[d]).collect()).collect();
        Ok(Some((deviations, functions)))
    }

    /// Which rows are support vectors: those that the model keeps, digit for digit. None of a model of another kind.
    pub fn support_vectors(&self) -> Result<Vec<bool>, Failure> {
        let kept = match self.model.method {
            Method::Svc | Method::NuSvc | Method::Svr | Method::NuSvr | Method::OneClass => {
                self.model.predictor.rows()
            }
            _ => None,
        };
        let Some(kept) = kept else { return Ok(vec![false; self.samples.nrows()]) };
        if !self.from_data {
            return Ok(vec![true; self.samples.nrows()]);
        }
        let digits = |samples: &AnySamples<'_>, row: usize| {
            let mut values = vec![0.0; samples.ncols()];
            samples.copy_row(row, &mut values);
            values.iter().map(|value| (value + 0.0).to_bits()).collect::<Vec<u64>>()
        };
        let known: HashSet<Vec<u64>> = (0..kept.nrows()).map(|row| digits(kept, row)).collect();
        let scaled = self.model.scaling.apply(self.samples.view())?;
        Ok((0..scaled.nrows()).map(|row| known.contains(&digits(&scaled, row))).collect())
    }

    /// The kernel, where the model has one.
    pub fn kernel(&self) -> Option<&Kernel> {
        self.model.predictor.kernel()
    }

    /// b of the output that is drawn, which the bumps stand on.
    pub fn intercept(&self) -> f64 {
        self.model.predictor.expansion().map_or(0.0, |expansion| expansion.intercepts[self.output])
    }

    /// How many terms aᵢ k(cᵢ, ·) the model has.
    pub fn nterms(&self) -> usize {
        self.model.predictor.expansion().map_or(0, |expansion| expansion.centres.nrows())
    }

    /// The model's predictions for the data.
    pub fn predicted(&self, session: &Session<'_>) -> Result<Vec<f64>, Failure> {
        Ok(self.chosen(&self.model.predict(&self.samples, session)?))
    }

    fn chosen(&self, outputs: &Matrix<f64>) -> Vec<f64> {
        (0..outputs.nrows()).map(|i| outputs.row(i)[self.output]).collect()
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
        let scaled = self.model.scaling.apply(self.dense(places.to_vec())?)?;
        let values = terms.predict(&scaled, session)?;
        let term = |term: usize| (0..values.nrows()).map(|i| values.row(i)[term]).collect();
        Ok((0..order.len()).map(term).collect())
    }

    fn dense(&self, rows: Vec<f64>) -> Result<AnySamples<'static>, Failure> {
        let columns = self.names.len();
        let samples = Samples::dense(rows.len() / columns.max(1), columns, rows).map_err(Failure::work)?;
        Ok(AnySamples::F64(samples))
    }
}

/// The centres of a model in the units of its data.
fn centres(model: &Model) -> Result<AnySamples<'static>, Failure> {
    let Some(centres) = model.predictor.rows() else {
        return Err(Failure::usage("this model keeps no rows, so the plot needs DATA to know where to draw"));
    };
    let shift = model.predictor.expansion().and_then(|expansion| expansion.shift.as_ref());
    let (nrows, ncols) = (centres.nrows(), centres.ncols());
    let mut row = vec![0.0; ncols];
    let mut entries = Vec::with_capacity(nrows * ncols);
    for i in 0..nrows {
        centres.copy_row(i, &mut row);
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
    Samples::dense(nrows, ncols, entries).map(AnySamples::F64).map_err(Failure::work)
}

/// The place of what is asked for, by name or by number from 0; the first where nothing is.
fn place(flag: &str, asked: Option<&str>, names: &[String]) -> Result<usize, Failure> {
    let Some(asked) = asked else { return Ok(0) };
    let named = names.iter().position(|name| name == asked);
    let numbered = || asked.parse().ok().filter(|number: &usize| *number < names.len());
    named.or_else(numbered).ok_or_else(|| {
        let known = match names.len() {
            n if n <= 12 => names.join(", "),
            n => format!("{}, … ({n} of them)", names[..12].join(", ")),
        };
        Failure::usage(format!("{flag} {asked}: it is one of {known}, or a number from 0"))
    })
}
