//! Proofs: trees of named rules, each with its form, dimensions and domain.

use std::fmt;

use serde_json::{Value, json};

use super::exact::{self, Q};
use super::form::{Form, Space};
use super::{Dim, Domain};

/// The property in a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Property {
    /// Σᵢⱼ wᵢwⱼk(xᵢ,xⱼ) ≥ 0 for all points and weights.
    #[serde(rename = "positive semidefinite")]
    PositiveSemidefinite,
    /// Σᵢⱼ wᵢwⱼψ(xᵢ,xⱼ) ≤ 0 for all points and all weights that sum to 0.
    #[serde(rename = "negative type")]
    NegativeType,
}

/// A claim: a form, its property, and the space.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Claim {
    /// The property.
    pub property: Property,
    /// The form.
    pub form: Form,
    /// The dimensions.
    pub dim: Dim,
    /// The domain.
    pub domain: Domain,
}

impl Claim {
    /// The space of the claim.
    pub fn space(&self) -> Space {
        Space { dim: self.dim, domain: self.domain }
    }
}

/// The rules of proof. Numbers and functions in them are what the checker needs besides the premises.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "rule", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// The formula is defined on the whole domain and has the premise's form there.
    Formula,
    /// A claim on a set and in every dimension holds on its subsets and in one dimension.
    Restriction,
    /// The forms agree because |x−z|² = |x|² + |z|² − 2⟨x,z⟩.
    Polarisation,
    /// The forms agree because bounds decide which argument a minimum, a maximum or an absolute value takes.
    DecidedBranch,
    /// A constant c ≥ 0.
    Constant,
    /// ⟨x,z⟩, on all columns or some.
    InnerProduct,
    /// f(x)·f(z).
    RankOne {
        /// f, as a function of x.
        function: Form,
    },
    /// Σᵢⱼ cᵢⱼ·fᵢ(x)·fⱼ(z) with a positive semidefinite matrix (cᵢⱼ).
    FiniteRank,
    /// min(f(x), f(z))^p with f ≥ 0 and p > 0, or another rising function of it; a falling one of max(f(x), f(z)).
    Minimum,
    /// cos(f(x) − f(z)).
    CosineOfDifference,
    /// A sum of the premises with constants ≥ 0 in front.
    Sum {
        /// One constant per premise.
        weights: Vec<Form>,
    },
    /// A product of kernels.
    Product,
    /// f(k) for a power series f with coefficients ≥ 0 that converges on the values of the kernel k.
    PowerSeries {
        /// f, as a function of t.
        function: Form,
    },
    /// exp(−ψ) with ψ of negative type.
    Schoenberg,
    /// ψ^(−a) with a > 0 and ψ > 0 of negative type.
    NegativePower {
        /// a.
        #[serde(with = "exact::text")]
        power: Q,
    },
    /// −ψ where ψ is of negative type and ψ(x,0) is a constant ≤ 0.
    Anchored,
    /// A radial function with a spectral density that is never negative.
    SpectralDensity,
    /// max(0, 1 − |x−z|/c)^ℓ with ℓ ≥ (d+1)/2.
    Askey,
    /// Wendland's φ_{ℓ,k} of |x−z|/c with ℓ ≥ (d+1)/2 + k.
    Wendland,
    /// A function of |x−z| on the line that is ≥ 0, falls and is convex.
    Polya,
    /// A polynomial of cos(b·|x−z|) on the line with coefficients ≥ 0 in front of cos(nb·|x−z|).
    CosineOnLine,
    /// A polynomial of |x−z| on a segment whose even periodic continuation has cosine coefficients ≥ 0.
    PeriodicContinuation,
    /// cosh(b·|x−z|)^(−a), or log cosh(b·|x−z|) as a function of negative type.
    HyperbolicSecant,
    /// 1 − tanh(bψ), π/2 − atan(bψ) or 1/(1 + exp(bψ)) with ψ = |x−z|^p, 0 < p ≤ 1; tanh(bψ) and atan(bψ) of negative type.
    BoundedBernstein,
    /// min(f(x), f(z)) − c·f(x)·f(z) with 0 ≤ f ≤ 1/c.
    BrownianBridge,
    /// ∫ w(u)·(s−u)₊^(n−1)·(t−u)₊^(n−1) du with w ≥ 0, s = |x| and t = |z|, and a kernel that is a polynomial of s and t.
    IntegratedBrownianMotion,
    /// k(x−z) ± k(x+z) for a kernel k on a line; ψ(x+z) − ψ(x−z) or ψ(x) + ψ(z) − ψ(x+z)/2 − ψ(x−z)/2 − ψ(0) for ψ of negative
    /// type.
    Reflection,
    /// A positive power of an infinitely divisible kernel.
    InfinitelyDivisible,
    /// A named kernel with allowed hyper-parameters.
    Named,
    /// A polynomial in ⟨x,z⟩ on the unit sphere with Gegenbauer coefficients ≥ 0.
    Gegenbauer,
    /// |x−z|^p with 0 < p ≤ 2, or |x−z|₁^p with 0 < p ≤ 1.
    DistancePower,
    /// f(x) + f(z).
    Separable {
        /// f, as a function of x.
        function: Form,
    },
    /// −k for a kernel k.
    NegatedKernel,
    /// ψ^p with 0 < p ≤ 1 and ψ ≥ 0 of negative type.
    FractionalPower {
        /// p.
        #[serde(with = "exact::text")]
        power: Q,
    },
    /// log ψ with ψ > 0 of negative type.
    Logarithm,
    /// max(f(x), f(z)).
    Maximum,
    /// |f(x) − f(z)|^p with 0 < p ≤ 2.
    DifferencePower,
}

impl Rule {
    /// Its name in proofs.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Formula => "formula",
            Self::Restriction => "restriction",
            Self::Polarisation => "polarisation",
            Self::DecidedBranch => "decided branch",
            Self::Constant => "constant",
            Self::InnerProduct => "inner product",
            Self::RankOne { .. } => "rank one",
            Self::FiniteRank => "finite rank",
            Self::Minimum => "minimum",
            Self::CosineOfDifference => "cosine of a difference",
            Self::Sum { .. } => "sum",
            Self::Product => "product",
            Self::PowerSeries { .. } => "power series",
            Self::Schoenberg => "schoenberg",
            Self::NegativePower { .. } => "negative power",
            Self::Anchored => "anchored",
            Self::SpectralDensity => "spectral density",
            Self::Askey => "askey",
            Self::Wendland => "wendland",
            Self::Polya => "polya",
            Self::CosineOnLine => "cosine on the line",
            Self::PeriodicContinuation => "periodic continuation",
            Self::HyperbolicSecant => "hyperbolic secant",
            Self::BoundedBernstein => "bounded bernstein function",
            Self::BrownianBridge => "brownian bridge",
            Self::IntegratedBrownianMotion => "integrated brownian motion",
            Self::Reflection => "reflection",
            Self::InfinitelyDivisible => "infinitely divisible",
            Self::Named => "named kernel",
            Self::Gegenbauer => "gegenbauer",
            Self::DistancePower => "distance power",
            Self::Separable { .. } => "separable",
            Self::NegatedKernel => "negated kernel",
            Self::FractionalPower { .. } => "fractional power",
            Self::Logarithm => "logarithm",
            Self::Maximum => "maximum",
            Self::DifferencePower => "difference power",
        }
    }

    /// The reference.
    #[must_use]
    pub fn reference(&self) -> &'static str {
        match self {
            Self::Formula | Self::Restriction | Self::Polarisation | Self::DecidedBranch | Self::Constant => {
                "definition"
            }
            Self::InnerProduct | Self::RankOne { .. } | Self::FiniteRank => {
                "Aronszajn 1950, Theory of reproducing kernels"
            }
            Self::Minimum | Self::Maximum => "min(s,t) is the covariance of Brownian motion",
            Self::CosineOfDifference => "cos(a−b) = cos a cos b + sin a sin b",
            Self::Sum { .. } => "Aronszajn 1950, §I.6",
            Self::Product => "Schur 1911, Satz VII",
            Self::PowerSeries { .. } => "Schur 1911; Schoenberg 1942, Theorem 2",
            Self::Schoenberg => "Schoenberg 1938, Metric spaces and positive definite functions, Theorem 1",
            Self::NegativePower { .. } | Self::FractionalPower { .. } | Self::Logarithm => {
                "Berg, Christensen, Ressel 1984, Harmonic Analysis on Semigroups, 3.2"
            }
            Self::Anchored | Self::NegatedKernel | Self::Separable { .. } => {
                "Berg, Christensen, Ressel 1984, Lemma 3.2.1"
            }
            Self::SpectralDensity => {
                "Bochner 1933; Wendland 2005, Scattered Data Approximation, Theorem 6.11"
            }
            Self::Askey => "Askey 1973; Golubov 1981",
            Self::Wendland => "Wendland 2005, Scattered Data Approximation, Theorem 9.13",
            Self::Polya => "Pólya 1949, Remarks on characteristic functions",
            Self::CosineOnLine | Self::PeriodicContinuation => "Bochner 1933",
            Self::HyperbolicSecant => "Biane, Pitman, Yor 2001; Schoenberg 1938",
            Self::BoundedBernstein => "Schilling, Song, Vondraček 2012, Bernstein Functions, chapter 3",
            Self::BrownianBridge => "min(s,t) − st is the covariance of the Brownian bridge",
            Self::IntegratedBrownianMotion => "Wahba 1990, Spline Models for Observational Data, section 1.2",
            Self::Reflection => "Berg, Christensen, Ressel 1984, 3.1; Bojdecki, Gorostiza, Talarczyk 2004",
            Self::InfinitelyDivisible => "Grosswald 1976; Berg, Christensen, Ressel 1984, Proposition 3.2.7",
            Self::Named => "the table of named kernels in docs/check.md",
            Self::Gegenbauer => "Schoenberg 1942, Positive definite functions on spheres, Theorem 1",
            Self::DistancePower => "Schoenberg 1938; Bretagnolle, Dacunha-Castelle, Krivine 1966",
            Self::DifferencePower => "Schoenberg 1938",
        }
    }
}

/// A proof: a claim, the rule that gives it, and the proofs of the rule's premises.
#[derive(Debug, Clone, PartialEq)]
pub struct Proof {
    /// The claim.
    pub claim: Claim,
    /// The rule.
    pub rule: Rule,
    /// The premises.
    pub premises: Vec<Proof>,
    /// A note for readers on the numbers of this step.
    pub note: Option<String>,
}

/// The failed condition of a theorem that refutes.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "failure", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Failure {
    /// The spectral density of a radial form is negative at |ω|²/4 = v.
    Density {
        /// The radial form.
        form: Form,
        /// The dimension.
        dim: usize,
        /// |ω|²/4.
        #[serde(with = "exact::text")]
        v: Q,
    },
    /// Wendland's φ_{ℓ,k} with ℓ < (d+1)/2 + k, which for k = 0 is (1 − |x−z|/c)₊^ℓ.
    Askey {
        /// The form.
        form: Form,
        /// The dimension.
        dim: usize,
    },
    /// exp(−a|x−z|²) with a negative weight in the unique mixture of Gaussians that a radial kernel of every dimension is.
    Mixture {
        /// The radial form.
        form: Form,
    },
    /// A function of distances that is at most a negative number wherever they are at least `least`.
    Far {
        /// The form.
        form: Form,
        /// The distance.
        #[serde(with = "exact::text")]
        least: Q,
    },
    /// A radial form that is not completely monotone in |x−z|², or in |x−z|₁: a difference of its values at `side`²·(skip + j) is
    /// negative, or a value is 0.
    Difference {
        /// The radial form.
        form: Form,
        /// The length a.
        #[serde(with = "exact::text")]
        side: Q,
        /// The first of the nodes.
        skip: usize,
        /// The order of the difference.
        order: usize,
    },
    /// A negative coefficient of a power series in ⟨x,z⟩, on a set that holds a segment from the origin.
    Coefficient {
        /// The series, as a function of t.
        function: Form,
        /// The power of t.
        order: usize,
    },
    /// A negative Gegenbauer coefficient on the sphere.
    Gegenbauer {
        /// The polynomial in ⟨x,z⟩.
        form: Form,
        /// The dimension.
        dim: usize,
        /// The degree of the coefficient.
        degree: usize,
    },
}

impl Proof {
    /// The `proof` member of the document.
    pub(super) fn to_json(&self) -> Value {
        let mut node = json!({
            "rule": self.rule.name(),
            "reference": self.reference(),
            "claim": match self.claim.property {
                Property::PositiveSemidefinite => "positive semidefinite",
                Property::NegativeType => "negative type",
            },
            "form": self.claim.form.to_string(),
            "dim": self.claim.dim.to_json(),
            "domain": self.claim.domain.to_string(),
            "premises": self.premises.iter().map(Self::to_json).collect::<Vec<_>>(),
        });
        match &self.rule {
            Rule::PowerSeries { function } => node["function"] = json!(function.to_string()),
            Rule::RankOne { function } | Rule::Separable { function } => {
                node["function"] = json!(function.to_string());
            }
            Rule::Sum { weights } => {
                node["weights"] = json!(weights.iter().map(ToString::to_string).collect::<Vec<_>>());
            }
            Rule::NegativePower { power } | Rule::FractionalPower { power } => {
                node["power"] = json!(exact::show(power));
            }
            _ => {}
        }
        if let Some(note) = &self.note {
            node["text"] = json!(note);
        }
        node
    }

    /// The reference for the rule, or for the named kernel that it is applied to.
    #[must_use]
    pub fn reference(&self) -> String {
        match self.named() {
            Some(family) => format!("{}: {}", self.rule.reference(), family.theorem()),
            None => self.rule.reference().into(),
        }
    }

    /// The family of a named kernel that is proven as such.
    pub(super) fn named(&self) -> Option<crate::FamilyId> {
        match self.claim.form.single().and_then(|(m, _)| m.single()) {
            Some((super::form::Atom::Named(kernel), _)) if self.rule == Rule::Named => {
                Some(kernel.named.family)
            }
            _ => None,
        }
    }

    /// The number of rule applications.
    #[must_use]
    pub fn steps(&self) -> usize {
        1 + self.premises.iter().map(Self::steps).sum::<usize>()
    }

    fn write_step(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let indent = "  ".repeat(depth);
        let property = match self.claim.property {
            Property::PositiveSemidefinite => "is a kernel",
            Property::NegativeType => "is of negative type",
        };
        write!(f, "\n{indent}{} {property}: {}", self.claim.form, self.rule)?;
        if let Some(note) = &self.note {
            write!(f, "\n{indent}  {note}")?;
        }
        for premise in &self.premises {
            premise.write_step(f, depth + 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Formula => f.write_str("it is defined on the whole domain"),
            Self::Restriction => f.write_str("it is one on a larger set"),
            Self::Polarisation => f.write_str("|x−z|² = |x|² + |z|² − 2⟨x,z⟩"),
            Self::DecidedBranch => f.write_str("min, max and | | are decided by bounds on the domain"),
            Self::Constant => f.write_str("a constant ≥ 0"),
            Self::InnerProduct => f.write_str("an inner product"),
            Self::RankOne { function } => write!(f, "f(x)·f(z) with f(x) = {function}"),
            Self::FiniteRank => f.write_str("Σ cᵢⱼ·fᵢ(x)·fⱼ(z) with a positive semidefinite matrix (cᵢⱼ)"),
            Self::Minimum => f.write_str("min(f(x), f(z)) with f ≥ 0, the covariance of Brownian motion"),
            Self::CosineOfDifference => f.write_str("cos(a−b) = cos a cos b + sin a sin b"),
            Self::Sum { .. } => f.write_str("a sum with coefficients ≥ 0"),
            Self::Product => f.write_str("a product (Schur)"),
            Self::PowerSeries { function } => {
                write!(f, "f(k) for the power series f(t) = {function}, coefficients ≥ 0 (Schur, limits)")
            }
            Self::Schoenberg => f.write_str("exp(−ψ) with ψ of negative type (Schoenberg)"),
            Self::NegativePower { power } => {
                write!(f, "ψ^(−{}) with ψ > 0 of negative type: a mixture of exp(−sψ)", exact::show(power))
            }
            Self::Anchored => f.write_str("ψ(x,0) + ψ(z,0) − ψ(x,z) − ψ(0,0) with ψ of negative type"),
            Self::SpectralDensity => f.write_str("its spectral density is never negative (Bochner)"),
            Self::Askey => f.write_str("(1−r)₊^ℓ with ℓ ≥ (d+1)/2 (Askey)"),
            Self::Wendland => f.write_str("a Wendland function with ℓ ≥ (d+1)/2 + k"),
            Self::Polya => f.write_str("≥ 0, falling and convex in |x−z| on the line (Pólya)"),
            Self::CosineOnLine => f.write_str("cosines of b(x−z) on the line with coefficients ≥ 0"),
            Self::PeriodicContinuation => {
                f.write_str("its even periodic continuation has cosine coefficients ≥ 0")
            }
            Self::HyperbolicSecant => f.write_str("1/cosh √s is the Laplace transform of a hitting time"),
            Self::BoundedBernstein => f.write_str("tanh √s and atan √s are bounded Bernstein functions"),
            Self::BrownianBridge => f.write_str("the covariance of the Brownian bridge"),
            Self::IntegratedBrownianMotion => {
                f.write_str("∫ w(u)(s−u)₊^(n−1)(t−u)₊^(n−1) du with w ≥ 0, and a polynomial kernel")
            }
            Self::Reflection => f.write_str("on a line, the points and their reflections taken together"),
            Self::InfinitelyDivisible => f.write_str("a power of an infinitely divisible kernel"),
            Self::Named => f.write_str("a named kernel"),
            Self::Gegenbauer => f.write_str("Gegenbauer coefficients ≥ 0 (Schoenberg)"),
            Self::DistancePower => f.write_str("a power of a distance (Schoenberg)"),
            Self::Separable { .. } => f.write_str("f(x) + f(z)"),
            Self::NegatedKernel => f.write_str("minus a kernel"),
            Self::FractionalPower { power } => {
                write!(f, "ψ^{} with ψ ≥ 0 of negative type", exact::show(power))
            }
            Self::Logarithm => f.write_str("log ψ with ψ > 0 of negative type"),
            Self::Maximum => f.write_str("max(a,b) = (a + b + |a−b|)/2"),
            Self::DifferencePower => f.write_str("|f(x) − f(z)|^p with p ≤ 2"),
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "positive semidefinite on {}", self.claim.space())?;
        for premise in &self.premises {
            premise.write_step(f, 1)?;
        }
        Ok(())
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (power, every) = match self.dim {
            Dim::Any => ("d".to_string(), " for every d"),
            Dim::Exactly(d) => (d.to_string(), ""),
        };
        let set = self.domain.describe();
        write!(f, "{}^{power}{every}", set.strip_suffix("^d").unwrap_or(&set))
    }
}
