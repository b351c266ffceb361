//! Writes a LIBSVM model.

use std::fmt::Write as _;
use std::path::Path;

use crate::data::{AnySamples, Classes, Matrix, Scaling, write_atomically};
use crate::kernel::family::gaussian::{self, GAUSSIAN};
use crate::kernel::family::linear::LINEAR;
use crate::kernel::family::polynomial::POLYNOMIAL;
use crate::kernel::family::sigmoid::SIGMOID;
use crate::kernel::{Expr, Kernel, Named};
use crate::model::{Calibration, Method, Model, ModelError, Predictor};

use super::PRECOMPUTED;
use super::number::{exact, general};

impl Model {
    /// The text of a LIBSVM model file with the same decisions: svm-predict reads it.
    ///
    /// LIBSVM does not scale its input, so a scaling is absorbed into the support vectors and the kernel if that is
    /// exact: always for the linear kernel, for the polynomial and sigmoid kernels where nothing is shifted, and for
    /// the Gaussian if all columns end up with the same width. Features are columns 1, 2, … in the model's order.
    ///
    /// # Errors
    /// [`ModelError::NotLibsvm`] for models that LIBSVM cannot represent: another method or kernel, one machine per
    /// class for more than two classes, labels that are not whole numbers, and any other scaling.
    pub fn to_libsvm(&self) -> Result<String, ModelError> {
        Machine::of(self).map(|machine| machine.text()).map_err(|reason| ModelError::NotLibsvm { reason })
    }

    /// Writes [`to_libsvm`](Self::to_libsvm) to a file, which is complete or absent.
    ///
    /// # Errors
    /// As [`to_libsvm`](Self::to_libsvm), and if the file cannot be written.
    pub fn save_libsvm(&self, path: &Path) -> Result<(), ModelError> {
        let text = self.to_libsvm()?;
        Ok(write_atomically(path, |file| file.write_all(text.as_bytes()))?)
    }
}

/// The kernels that LIBSVM knows, with their numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum KernelType {
    Linear,
    Polynomial { degree: f64, gamma: f64, coef0: f64 },
    Rbf { gamma: f64 },
    Sigmoid { gamma: f64, coef0: f64 },
    Precomputed,
}

/// The contents of the file.
struct Machine<'a> {
    svm_type: &'static str,
    kernel: KernelType,
    /// The labels of a classifier, in the order of its pairs.
    labels: Option<Vec<i32>>,
    per_class: Option<&'a [usize]>,
    rows: Vec<Vec<(usize, f64)>>,
    coefficients: Matrix<f64>,
    rho: Vec<f64>,
    calibration: Option<&'a Calibration>,
}

impl<'a> Machine<'a> {
    fn of(model: &'a Model) -> Result<Self, String> {
        let svm_type = match model.method {
            Method::Svc => "c_svc",
            Method::NuSvc => "nu_svc",
            Method::OneClass => "one_class",
            Method::Svr => "epsilon_svr",
            Method::NuSvr => "nu_svr",
            other => return Err(format!("LIBSVM has svc, nu-svc, svr, nu-svr and one-class, not {other}")),
        };
        let classifies = matches!(model.method, Method::Svc | Method::NuSvc);
        let labels = model.classes.as_ref().filter(|_| classifies).map(whole_numbers).transpose()?;
        let kernel = model.predictor.kernel().ok_or("the model has no kernel")?;
        let (centres, per_class, coefficients, rho, labels) = match &model.predictor {
            Predictor::Pairs(pairs) => {
                let per_class = Some(pairs.per_class.as_slice());
                (&pairs.centres, per_class, pairs.coefficients.clone(), pairs.rho.clone(), labels)
            }
            Predictor::Expansion(expansion) if expansion.noutputs() == 1 && expansion.shift.is_none() => {
                // A decision for the second class is LIBSVM's for the first: the labels change places, and its support vectors come
                // in any order.
                let labels = labels.map(|labels| labels.into_iter().rev().collect());
                let rho = expansion.intercepts.iter().map(|b| -b).collect();
                (&expansion.centres, None, expansion.coefficients.clone(), rho, labels)
            }
            _ => {
                return Err(
                    "LIBSVM tells more than two classes apart in pairs, not each from the rest".into()
                );
            }
        };
        let precomputed = model.settings.has(PRECOMPUTED);
        let rows = rows(centres);
        let machine = Self {
            svm_type,
            kernel: if precomputed { KernelType::Precomputed } else { KernelType::Linear },
            labels,
            per_class,
            rows,
            coefficients,
            rho,
            calibration: model.calibration.as_ref(),
        };
        if precomputed { Ok(machine) } else { machine.unscaled(kernel, &model.scaling, centres.ncols()) }
    }

    /// The contents with the kernel, on samples that are not scaled.
    fn unscaled(mut self, kernel: &Kernel, scaling: &Scaling, ncols: usize) -> Result<Self, String> {
        let (none, ones);
        let (shifts, scales) = match scaling {
            Scaling::None => {
                (none, ones) = (vec![0.0; ncols], vec![1.0; ncols]);
                (&none, &ones)
            }
            Scaling::Standard { means: shifts, scales }
            | Scaling::MinMax { mins: shifts, ranges: scales } => (shifts, scales),
        };
        let shifted = shifts.iter().any(|shift| *shift != 0.0);
        let Some(unscaled) = kernel_type(kernel, scales)? else {
            // Where the kernel does not depend on the rows, they stay as they are.
            self.kernel = KernelType::Rbf { gamma: 0.0 };
            return Ok(self);
        };
        self.kernel = unscaled;
        match self.kernel {
            KernelType::Polynomial { degree, .. } if degree.fract() != 0.0 || degree > 1e9 => {
                return Err(format!("LIBSVM's degree is a whole number, not {degree}"));
            }
            KernelType::Polynomial { .. } | KernelType::Sigmoid { .. } if shifted => {
                return Err(scaled("a polynomial or sigmoid kernel on shifted columns"));
            }
            KernelType::Rbf { .. } if *scaling != Scaling::None => {
                // |(x − m)/s − c| is |x − (m + sc)|/s: the support vectors are transformed back to unscaled data.
                let dense = |row: &Vec<(usize, f64)>| {
                    let mut full = shifts.clone();
                    row.iter().for_each(|&(j, value)| full[j] += scales[j] * value);
                    full.into_iter().enumerate().filter(|(_, value)| *value != 0.0).collect()
                };
                self.rows = self.rows.iter().map(dense).collect();
            }
            KernelType::Linear | KernelType::Polynomial { .. } | KernelType::Sigmoid { .. } => {
                // ⟨(x − m)/s, c⟩ is ⟨x, c/s⟩ − ⟨m, c/s⟩.
                self.rows.iter_mut().flatten().for_each(|(j, value)| *value /= scales[*j]);
                if shifted {
                    self.shift_offsets(shifts);
                }
            }
            KernelType::Rbf { .. } | KernelType::Precomputed => {}
        }
        Ok(self)
    }

    /// Adds Σₛ aₛ⟨m, cₛ⟩ to the ρ of each machine of a linear kernel.
    fn shift_offsets(&mut self, shifts: &[f64]) {
        let dots: Vec<f64> =
            self.rows.iter().map(|row| row.iter().map(|&(j, value)| shifts[j] * value).sum()).collect();
        let Some(per_class) = self.per_class else {
            let all = dots.iter().zip(self.coefficients.entries());
            self.rho[0] += all.map(|(dot, a)| dot * a).sum::<f64>();
            return;
        };
        let classes = per_class.len();
        let mut class_of = Vec::with_capacity(dots.len());
        per_class.iter().enumerate().for_each(|(class, &count)| class_of.extend(vec![class; count]));
        for (rho, (i, j)) in self.rho.iter_mut().zip(crate::model::pairs_of(classes)) {
            for (s, dot) in dots.iter().enumerate() {
                match class_of[s] {
                    class if class == i => *rho += dot * self.coefficients.row(s)[j - 1],
                    class if class == j => *rho += dot * self.coefficients.row(s)[i],
                    _ => {}
                }
            }
        }
    }

    fn text(&self) -> String {
        let mut out = String::new();
        self.header(&mut out);
        out.push_str("SV\n");
        for (s, row) in self.rows.iter().enumerate() {
            self.coefficients.row(s).iter().for_each(|a| add(&mut out, format_args!("{} ", general(*a, 17))));
            match self.kernel {
                // The column of the one stored entry of a unit vector is the index of its training row.
                KernelType::Precomputed => {
                    row.iter().take(1).for_each(|(j, _)| add(&mut out, format_args!("0:{} ", j + 1)));
                }
                _ => row.iter().for_each(|(j, v)| add(&mut out, format_args!("{}:{} ", j + 1, exact(*v)))),
            }
            out.push('\n');
        }
        out
    }

    fn header(&self, out: &mut String) {
        let mut line = |word: &str, values: &[String]| {
            out.push_str(word);
            values.iter().for_each(|value| add(out, format_args!(" {value}")));
            out.push('\n');
        };
        let number = |value: f64| vec![general(value, 17)];
        let numbers = |values: &[f64]| values.iter().map(|value| general(*value, 17)).collect::<Vec<_>>();
        line("svm_type", &[self.svm_type.to_owned()]);
        match self.kernel {
            KernelType::Linear => line("kernel_type", &["linear".into()]),
            KernelType::Polynomial { degree, gamma, coef0 } => {
                line("kernel_type", &["polynomial".into()]);
                line("degree", &[degree.to_string()]);
                line("gamma", &number(gamma));
                line("coef0", &number(coef0));
            }
            KernelType::Rbf { gamma } => {
                line("kernel_type", &["rbf".into()]);
                line("gamma", &number(gamma));
            }
            KernelType::Sigmoid { gamma, coef0 } => {
                line("kernel_type", &["sigmoid".into()]);
                line("gamma", &number(gamma));
                line("coef0", &number(coef0));
            }
            KernelType::Precomputed => line("kernel_type", &["precomputed".into()]),
        }
        let classes = self.labels.as_ref().map_or(2, Vec::len);
        line("nr_class", &[classes.to_string()]);
        line("total_sv", &[self.rows.len().to_string()]);
        line("rho", &numbers(&self.rho));
        if let Some(labels) = &self.labels {
            line("label", &labels.iter().map(i32::to_string).collect::<Vec<_>>());
        }
        match self.calibration {
            Some(Calibration::Sigmoids(each)) => {
                line("probA", &each.iter().map(|s| general(s.a, 17)).collect::<Vec<_>>());
                line("probB", &each.iter().map(|s| general(s.b, 17)).collect::<Vec<_>>());
            }
            Some(Calibration::Laplace { scale }) => line("probA", &number(*scale)),
            Some(Calibration::Marks(marks)) => line("prob_density_marks", &numbers(marks)),
            None => {}
        }
        match (self.per_class, &self.labels) {
            (Some(counts), _) => line("nr_sv", &counts.iter().map(usize::to_string).collect::<Vec<_>>()),
            // With two classes LIBSVM sums over the support vectors of both, so that the class of a support vector does
            // not matter.
            (None, Some(_)) => line("nr_sv", &[self.rows.len().to_string(), "0".into()]),
            (None, None) => {}
        }
    }
}

fn add(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a text grows");
}

fn rows(samples: &AnySamples<'_>) -> Vec<Vec<(usize, f64)>> {
    let row = |i: usize| {
        let mut row = Vec::new();
        samples.visit_row(i, |column, value| {
            if value != 0.0 {
                row.push((column, value));
            }
        });
        row
    };
    (0..samples.nrows()).map(row).collect()
}

/// The kernel on columns that were not divided by `scales`; `None` if it is 1 everywhere.
fn kernel_type(kernel: &Kernel, scales: &[f64]) -> Result<Option<KernelType>, String> {
    let canonical = kernel.canonical();
    if *canonical.expr() == Expr::Number(1.0) {
        return Ok(None);
    }
    let named = named_of(kernel.expr()).or_else(|| named_of(canonical.expr()));
    let named = named.ok_or_else(|| unknown(kernel))?;
    let number = |slot| named.number(slot).map_err(|error| error.to_string());
    Ok(Some(match named.family {
        family if family == LINEAR => KernelType::Linear,
        family if family == POLYNOMIAL => {
            KernelType::Polynomial { degree: number(0)?, gamma: number(1)?, coef0: number(2)? }
        }
        family if family == SIGMOID => KernelType::Sigmoid { gamma: number(0)?, coef0: number(1)? },
        family if family == GAUSSIAN => {
            let gammas = gaussian::gammas(named, scales.len()).map_err(|error| error.to_string())?;
            let widths: Vec<f64> = gammas.iter().zip(scales).map(|(gamma, s)| gamma / (s * s)).collect();
            let gamma = widths.first().copied().unwrap_or(1.0);
            if widths.iter().any(|width| (width - gamma).abs() > 1e-15 * gamma) {
                return Err(scaled("the Gaussian kernel with columns of different widths"));
            }
            KernelType::Rbf { gamma }
        }
        _ => return Err(unknown(kernel)),
    }))
}

fn named_of(expr: &Expr) -> Option<&Named> {
    match expr {
        Expr::Named(named) => Some(named),
        Expr::Dot => {
            static NAMED: Named = Named { family: LINEAR, arguments: Vec::new() };
            Some(&NAMED)
        }
        _ => None,
    }
}

fn unknown(kernel: &Kernel) -> String {
    format!("LIBSVM has the kernels linear, poly, rbf and sigmoid, and {kernel} is none of them")
}

fn scaled(what: &str) -> String {
    format!(
        "LIBSVM does not scale its input, and the model's scaling cannot go into {what}; fit with --scale none, on data \
         that svm-scale has scaled if need be"
    )
}

fn whole_numbers(classes: &Classes) -> Result<Vec<i32>, String> {
    let number = |code: usize| {
        let name = classes.name(code);
        name.parse::<i32>().map_err(|_| {
            format!("LIBSVM's labels are whole numbers, and `{name}` is not; --number-classes writes 0, 1, … instead")
        })
    };
    (0..classes.len()).map(number).collect()
}
