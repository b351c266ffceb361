//! Pictures of the kernel matrix.

use mercer::gram::{Part, Wanted};
use mercer::kernel::Kernel;
use mercer::linalg::Eigen;
use mercer::session::Session;

use super::Kind;
use super::pictures::rounded;
use super::shown::{RowKind, Shown};
use crate::failure::Failure;
use crate::plot::{Figure, HeatMap, LinePlot, NamedLine, Scale, number};

/// The most rows of a kernel matrix; more are thinned.
const ROWS: usize = 1_024;

/// Eigenvalues below this fraction of the largest are rounding errors.
const ROUNDING: f64 = 1e-15;

/// The kernel matrix of some rows.
struct KernelMatrix<'a> {
    kernel: &'a Kernel,
    order: usize,
    values: Vec<f64>,
    /// The step between chosen rows.
    stride: usize,
}

impl<'a> KernelMatrix<'a> {
    fn new(shown: &'a Shown, kind: Kind, session: &Session<'_>) -> Result<Self, Failure> {
        let name = kind.name();
        let Some(kernel) = shown.kernel() else {
            let message = format!(
                "--kind {name} needs a model with a kernel; this {} model has none",
                shown.model.method
            );
            return Err(Failure::usage(message));
        };
        if shown.rows == RowKind::Range {
            let message = format!("--kind {name} needs DATA, because this model keeps no rows");
            return Err(Failure::usage(message));
        }
        let rows = shown.samples.nrows();
        let stride = rows.div_ceil(ROWS);
        let chosen: Vec<usize> = (0..rows).step_by(stride).collect();
        let order = chosen.len();
        let samples = shown.model.scaling.apply(shown.samples.select(&chosen))?;
        let mut values = vec![0.0; order * order];
        let resident = session.load(&samples)?;
        resident.gram(kernel, Wanted::Exact)?.fill(Part::Full, (&mut values).into(), session)?;
        Ok(Self { kernel, order, values, stride })
    }

    fn subtitle(&self, shown: &Shown) -> String {
        let rows = match shown.rows {
            RowKind::Kept => format!("{} rows kept in the model", shown.samples.nrows()),
            _ => shown.counted(shown.samples.nrows()),
        };
        let each = if self.stride > 1 { format!(", every {}th", self.stride) } else { String::new() };
        format!("{}, {rows}{each}", rounded(&self.kernel.to_string()))
    }
}

/// The kernel matrix as a heat map.
pub fn gram(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    let matrix = KernelMatrix::new(shown, Kind::Gram, session)?;
    let figure = HeatMap {
        title: "Kernel matrix".into(),
        subtitle: matrix.subtitle(shown),
        label: "row".into(),
        order: matrix.order,
        value_label: "k(x, z)".into(),
        values: matrix.values,
    };
    Ok(figure.figure()?)
}

/// The eigenvalues of the kernel matrix, with λ and the effective dimension Σᵢ μᵢ/(μᵢ + λ) if there is a λ.
pub fn spectrum(shown: &Shown, session: &Session<'_>) -> Result<Figure, Failure> {
    let matrix = KernelMatrix::new(shown, Kind::Spectrum, session)?;
    let mut values = Eigen::of(matrix.order, &matrix.values).map_err(Failure::work)?.values;
    values.reverse();
    let least = ROUNDING * values[0].abs();
    let shown_values = values.iter().enumerate().filter(|(_, value)| **value > least);
    let points: Vec<(f64, f64)> = shown_values.map(|(i, value)| (i as f64 + 1.0, *value)).collect();
    if points.is_empty() {
        return Err(Failure::usage("the kernel matrix has no positive eigenvalue to draw"));
    }
    let rank = points.len();
    let lambda = shown.model.settings.number_of("lambda", shown.output);
    let lambda = lambda.filter(|lambda| *lambda > 0.0 && matrix.stride == 1);
    let reference = lambda.map(|lambda| {
        let dimension: f64 = values.iter().map(|v| v.max(0.0) / (v.max(0.0) + lambda)).sum();
        let name = format!("λ = {}, effective dimension {}", number(lambda), number(dimension));
        (name, vec![(1.0, lambda), (matrix.order as f64, lambda)])
    });
    let name = format!("{rank} of {} eigenvalues above rounding error", matrix.order);
    let lines = vec![NamedLine { name, points, marked: rank <= 60 }];
    let axes = [Scale::linear("number of the eigenvalue"), Scale::log("eigenvalue of the kernel matrix")];
    let figure = LinePlot {
        subtitle: matrix.subtitle(shown),
        references: reference.into_iter().collect(),
        ..LinePlot::new("Spectrum of the kernel matrix", axes, lines)
    };
    Ok(figure.figure()?)
}
