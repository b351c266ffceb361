//! The spectral density of a shift-invariant kernel.
//!
//! Bochner's theorem: k(x, z) = κ(x − z) is positive semidefinite if and only if κ is the Fourier transform of a finite
//! positive measure μ, so that
//!
//! ```text
//! k(x, z) = ∫ cos⟨ω, x − z⟩ dμ(ω) = κ(0)·E cos⟨ω, x − z⟩,    ω ~ μ/κ(0).
//! ```
//!
//! | kernel | law of ω |
//! | --- | --- |
//! | Gaussian of width σ | N(0, σ⁻²I) |
//! | Laplacian exp(−γ‖x−z‖₁) | independent Cauchy variables of scale γ |
//! | Matérn of order ν and length ℓ | multivariate Student t with 2ν degrees of freedom and scale 1/ℓ |
//! | rational quadratic of power α and length ℓ | N(0, τℓ⁻²I) with τ ~ Gamma(α)/α |
//! | product | sum of independent frequencies |
//! | sum with weights ≥ 0 | mixture |
//!
//! Per-column lengths stretch the law's coordinates; a subset of columns leaves the others at frequency 0.

use super::canonical::canonical;
use super::error::EvalError;
use super::expr::{Columns, Expr, Function};
use super::family::Invariance;
use super::named::Named;
use super::{Kernel, eval};

/// The most components of a mixture: a product of sums has one per term of its expansion.
pub const MAX_COMPONENTS: usize = 256;

/// Why frequencies cannot be drawn from the spectral density of a kernel.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpectrumError {
    /// A part of the kernel is not a function of x − z.
    #[error("{part} does not depend on x − z alone, so it has no spectral density")]
    NotShiftInvariant {
        /// The part.
        part: String,
    },
    /// A part of the kernel depends on x − z, but its density is not known.
    #[error(
        "no spectral density is known for {part}; there is one for rbf, laplacian, matern and rq, \
         for their products, and for sums of those with weights of 0 or more"
    )]
    Unknown {
        /// The part.
        part: String,
    },
    /// A negative weight: the measure would not be positive.
    #[error("{part} has a negative factor: a spectral density cannot be negative")]
    Negative {
        /// The part.
        part: String,
    },
    /// The kernel is zero everywhere.
    #[error("{part} is zero everywhere")]
    Zero {
        /// The kernel.
        part: String,
    },
    /// The expanded sum has too many terms.
    #[error("{part} expands to a mixture of more than {MAX_COMPONENTS} spectral densities")]
    TooManyComponents {
        /// The part.
        part: String,
    },
    /// The kernel does not match the number of columns, or is not resolved yet.
    #[error(transparent)]
    Kernel(#[from] EvalError),
}

/// A spectral measure: a mixture of laws of frequencies.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    columns: usize,
    components: Vec<Component>,
}

/// One component of a mixture: the frequency is a sum of independent draws, one from each law.
#[derive(Debug, Clone, PartialEq)]
pub struct Component {
    /// Its share of κ(0), more than 0.
    pub weight: f64,
    /// The laws; empty if the frequency is 0, which is the spectrum of a constant.
    pub laws: Vec<Law>,
}

/// A law of frequencies on some columns; the others have frequency 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Law {
    /// The law before it is scaled.
    pub shape: Shape,
    /// The columns, numbered in the samples.
    pub columns: Vec<usize>,
    /// The scale of each of those columns.
    pub scales: Vec<f64>,
}

/// A law in any number of coordinates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Independent standard normal coordinates.
    Normal,
    /// Independent standard Cauchy coordinates: the one law here that is not isotropic.
    Cauchy,
    /// The multivariate Student t with 2ν degrees of freedom: a normal vector times √(ν/Gamma(ν)).
    Student {
        /// ν > 0.
        nu: f64,
    },
    /// A normal vector times √(Gamma(α)/α).
    GammaMixture {
        /// α > 0.
        alpha: f64,
    },
}

impl Shape {
    /// Whether every direction is equally likely.
    #[must_use]
    pub fn is_isotropic(self) -> bool {
        self != Self::Cauchy
    }

    /// The number of uniform numbers for a draw in `dimensions` coordinates.
    #[must_use]
    pub fn uniforms(self, dimensions: usize) -> usize {
        match self {
            Self::Normal | Self::Cauchy => dimensions,
            Self::Student { .. } | Self::GammaMixture { .. } => dimensions + 1,
        }
    }
}

impl Component {
    /// The scaling of the columns that makes the component's law isotropic: the columns it uses and the scale of each.
    /// `None` if there is none: laws that are not isotropic, or on different columns, or scaled differently.
    #[must_use]
    pub fn isotropic(&self) -> Option<(&[usize], &[f64])> {
        let first = self.laws.first()?;
        let proportional = |law: &Law| {
            let ratio = law.scales[0] / first.scales[0];
            law.scales.iter().zip(&first.scales).all(|(a, b)| (a / b / ratio - 1.0).abs() < 1e-12)
        };
        let alike = |law: &Law| law.shape.is_isotropic() && law.columns == first.columns && proportional(law);
        self.laws.iter().all(alike).then_some((first.columns.as_slice(), first.scales.as_slice()))
    }

    /// A sum of normal frequencies is normal: all of them become one law.
    fn merge_normals(mut self) -> Self {
        let normal = |law: &Law| law.shape == Shape::Normal;
        if self.laws.iter().filter(|law| normal(law)).count() < 2 {
            return self;
        }
        let mut variances = std::collections::BTreeMap::new();
        for law in self.laws.iter().filter(|law| normal(law)) {
            for (&column, scale) in law.columns.iter().zip(&law.scales) {
                *variances.entry(column).or_insert(0.0) += scale * scale;
            }
        }
        self.laws.retain(|law| !normal(law));
        let (columns, scales) = variances.into_iter().map(|(c, v): (usize, f64)| (c, v.sqrt())).unzip();
        self.laws.insert(0, Law { shape: Shape::Normal, columns, scales });
        self
    }
}

impl Spectrum {
    /// The spectral measure of a kernel on samples with this many columns.
    ///
    /// # Errors
    /// If it is not known; the error names the part of the kernel.
    pub fn of(kernel: &Kernel, columns: usize) -> Result<Self, SpectrumError> {
        kernel.check_columns(columns)?;
        let all: Vec<usize> = (0..columns).collect();
        let components: Vec<Component> =
            mixture(kernel.canonical().expr(), &all)?.into_iter().map(Component::merge_normals).collect();
        if components.is_empty() {
            return Err(SpectrumError::Zero { part: kernel.to_string() });
        }
        Ok(Self { columns, components })
    }

    /// Columns of the samples.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The components of the mixture, at least one.
    #[must_use]
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// κ(0), the kernel's value at equal points.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.components.iter().map(|component| component.weight).sum()
    }
}

/// The components of a canonical expression on these columns of the samples.
fn mixture(expr: &Expr, columns: &[usize]) -> Result<Vec<Component>, SpectrumError> {
    if let Some(value) = eval::constant(expr) {
        return constant(expr, value);
    }
    match expr {
        Expr::Named(named) => {
            if let Some((value, high)) = named.bounds()
                && value == high
            {
                return constant(expr, value);
            }
            let law = law(named, columns)?;
            // On no columns at all, each of these kernels is 1.
            let laws = if columns.is_empty() { Vec::new() } else { vec![law] };
            Ok(vec![Component { weight: 1.0, laws }])
        }
        Expr::Columns(inner, chosen) => mixture(inner, &choose(chosen, columns)?),
        Expr::Sum(terms) => {
            let mut all = Vec::new();
            for term in terms {
                all.extend(mixture(term, columns)?);
            }
            bounded(all, expr)
        }
        Expr::Product(factors) => {
            let negative = factors.iter().filter_map(eval::constant).product::<f64>() < 0.0;
            if negative {
                return Err(SpectrumError::Negative { part: text(expr) });
            }
            let spectra = factors.iter().map(|factor| match eval::constant(factor) {
                Some(value) => Ok(vec![Component { weight: value.abs(), laws: Vec::new() }]),
                None => mixture(factor, columns),
            });
            product(spectra, expr)
        }
        Expr::Pow(base, exponent) => match **exponent {
            Expr::Number(n) if n.fract() == 0.0 && (1.0..=64.0).contains(&n) => {
                let factor = mixture(base, columns)?;
                product((0..n as usize).map(|_| Ok(factor.clone())), expr)
            }
            _ => Err(refused(expr)),
        },
        // e^(a+b) = e^a·e^b, each of which may have a name.
        Expr::Call(Function::Exp, arguments) => match arguments.as_slice() {
            [Expr::Sum(terms)] => {
                let exponential = |term: &Expr| canonical(&Expr::Call(Function::Exp, vec![term.clone()]));
                product(terms.iter().map(|term| mixture(&exponential(term), columns)), expr)
            }
            _ => Err(refused(expr)),
        },
        _ => Err(refused(expr)),
    }
}

fn constant(expr: &Expr, value: f64) -> Result<Vec<Component>, SpectrumError> {
    if value > 0.0 && value.is_finite() {
        Ok(vec![Component { weight: value, laws: Vec::new() }])
    } else if value == 0.0 {
        Ok(Vec::new())
    } else if value < 0.0 {
        Err(SpectrumError::Negative { part: text(expr) })
    } else {
        Err(SpectrumError::Unknown { part: text(expr) })
    }
}

/// Frequencies of factors add up; the product of mixtures is the mixture of all products.
fn product(
    factors: impl Iterator<Item = Result<Vec<Component>, SpectrumError>>,
    whole: &Expr,
) -> Result<Vec<Component>, SpectrumError> {
    let mut product = vec![Component { weight: 1.0, laws: Vec::new() }];
    for factor in factors {
        let factor = factor?;
        if product.len() * factor.len() > MAX_COMPONENTS {
            return Err(SpectrumError::TooManyComponents { part: text(whole) });
        }
        product = product
            .iter()
            .flat_map(|a| {
                factor.iter().map(|b| Component {
                    weight: a.weight * b.weight,
                    laws: a.laws.iter().chain(&b.laws).cloned().collect(),
                })
            })
            .filter(|component| component.weight > 0.0)
            .collect();
    }
    Ok(product)
}

fn bounded(components: Vec<Component>, whole: &Expr) -> Result<Vec<Component>, SpectrumError> {
    if components.len() > MAX_COMPONENTS {
        return Err(SpectrumError::TooManyComponents { part: text(whole) });
    }
    Ok(components)
}

fn choose(chosen: &Columns, columns: &[usize]) -> Result<Vec<usize>, SpectrumError> {
    let column = |c: usize| {
        columns.get(c).copied().ok_or(EvalError::MissingColumn { column: c, available: columns.len() })
    };
    Ok(chosen.iter().map(column).collect::<Result<_, _>>()?)
}

fn law(named: &Named, columns: &[usize]) -> Result<Law, SpectrumError> {
    let law = named.family.spectrum(named, columns.len())?;
    let (shape, scales) = law.ok_or_else(|| refused(&Expr::Named(named.clone())))?;
    Ok(Law { shape, columns: columns.to_vec(), scales })
}

fn text(expr: &Expr) -> String {
    Kernel::from_expr(expr.clone()).to_string()
}

/// Why an expression that is not a kernel of the table has no known density.
fn refused(expr: &Expr) -> SpectrumError {
    if depends_on_differences(expr) {
        SpectrumError::Unknown { part: text(expr) }
    } else {
        SpectrumError::NotShiftInvariant { part: text(expr) }
    }
}

fn depends_on_differences(expr: &Expr) -> bool {
    match expr {
        Expr::Dot | Expr::NormX | Expr::NormZ => false,
        Expr::Named(named) => named.family.invariance() != Invariance::None,
        _ => expr.children().into_iter().all(depends_on_differences),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spectrum(text: &str, columns: usize) -> Result<Spectrum, SpectrumError> {
        Spectrum::of(&text.parse().unwrap_or_else(|e| panic!("{e}")), columns)
    }

    #[test]
    fn laws_of_the_named_kernels() {
        for (text, shape, scale) in [
            ("rbf(sigma=4)", Shape::Normal, 0.25),
            ("exp(-|x-z|^2/32)", Shape::Normal, 0.25),
            ("laplacian(gamma=3)", Shape::Cauchy, 3.0),
            ("matern(nu=2.5, length=2)", Shape::Student { nu: 2.5 }, 0.5),
            ("exp(-|x-z|/2)", Shape::Student { nu: 0.5 }, 0.5),
            ("rq(alpha=0.7, length=2)", Shape::GammaMixture { alpha: 0.7 }, 0.5),
        ] {
            let spectrum = spectrum(text, 3).unwrap();
            let [component] = spectrum.components() else { panic!("{text}") };
            assert_eq!((component.weight, component.laws.len()), (1.0, 1), "{text}");
            let law = &component.laws[0];
            assert_eq!((law.shape, law.columns.as_slice()), (shape, &[0, 1, 2][..]), "{text}");
            law.scales.iter().for_each(|s| assert!((s / scale - 1.0).abs() < 1e-14, "{text}"));
            assert_eq!(component.isotropic().is_some(), shape != Shape::Cauchy);
        }
    }

    #[test]
    fn products_add_frequencies_and_sums_mix_them() {
        let both = spectrum("rbf(sigma=[3, 1])[0..2] * rbf(sigma=0.25)[1,4]", 5).unwrap();
        let law = &both.components()[0].laws[0];
        assert_eq!(law.columns, [0, 1, 4]);
        // Variances add: 1/9, 1 + 16, 16.
        for (scale, variance) in law.scales.iter().zip([1.0 / 9.0, 17.0, 16.0]) {
            assert!((scale * scale / variance - 1.0).abs() < 1e-13);
        }
        let mixed = spectrum("2*(rbf + const(value=3))*matern^2 + 0.5", 2).unwrap();
        let mut shares: Vec<(f64, usize)> =
            mixed.components().iter().map(|c| (c.weight, c.laws.len())).collect();
        shares.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(shares, [(0.5, 0), (2.0, 3), (6.0, 2)]);
        assert_eq!(mixed.total(), 8.5);
        assert!(mixed.components().iter().all(|c| c.laws.is_empty() || c.isotropic().is_some()));
        let shared = spectrum("exp(-|x-z|^2 - 2*|x-z|_1)", 2).unwrap();
        assert_eq!(shared.components()[0].laws.len(), 2);
        assert!(shared.components()[0].isotropic().is_none());
    }

    #[test]
    fn the_total_is_the_kernel_at_equal_points() {
        for text in ["rbf*(matern + 2*rq)", "3*laplacian[1] + rbf[0]*rq(alpha=3) + 4", "(rbf + 0.5)^3"] {
            let kernel: Kernel = text.parse().unwrap();
            let value = kernel.eval(&[0.3, -2.0], &[0.3, -2.0]).unwrap();
            assert!((spectrum(text, 2).unwrap().total() - value).abs() < 1e-12 * value, "{text}");
        }
    }

    #[test]
    fn kernels_without_a_density_are_refused_with_the_part() {
        let refused = |text: &str| spectrum(text, 3).unwrap_err();
        for text in ["linear", "poly", "rbf + cosine", "rbf*<x,z>", "|x|*|z|*rbf", "arccos"] {
            assert!(matches!(refused(text), SpectrumError::NotShiftInvariant { .. }), "{text}");
        }
        for text in ["periodic", "exp(-|x-z|^1.5)", "rbf^0.5*cos(|x-z|)", "1/(1 + |x-z|_1)", "2^|x-z|"] {
            assert!(matches!(refused(text), SpectrumError::Unknown { .. }), "{text}: {}", refused(text));
        }
        for text in ["-rbf", "rbf - 0.5*matern", "rbf - 1"] {
            assert!(matches!(refused(text), SpectrumError::Negative { .. }), "{text}");
        }
        assert!(matches!(refused("rbf(sigma=auto)"), SpectrumError::Kernel(_)));
        assert!(matches!(refused("rbf[7]"), SpectrumError::Kernel(_)));
        assert!(matches!(refused("0*rbf"), SpectrumError::Zero { .. }));
        assert_eq!(spectrum("2*rbf", 0).unwrap().components(), [Component { weight: 2.0, laws: vec![] }]);
        assert!(matches!(refused("(rbf + rq + 1)^6"), SpectrumError::TooManyComponents { .. }));
        assert!(refused("rbf + <x,z>^2").to_string().starts_with("linear does not depend"));
    }
}
