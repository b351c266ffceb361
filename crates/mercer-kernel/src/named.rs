//! The named kernels: their parameters, defaults and ranges, in one table.

use super::error::EvalError;

/// A named kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// `linear`: ⟨x,z⟩.
    Linear,
    /// `poly(degree, gamma, c)`: (γ⟨x,z⟩ + c)^degree.
    Polynomial,
    /// `rbf(sigma)` or `rbf(gamma)`: exp(−|x−z|²/(2σ²)) = exp(−γ|x−z|²).
    Gaussian,
    /// `laplacian(gamma)`: exp(−γ|x−z|₁).
    Laplacian,
    /// `matern(nu, length)`: the Matérn function of √(2ν)|x−z|/ℓ.
    Matern,
    /// `rq(alpha, length)`: (1 + |x−z|²/(2αℓ²))^(−α).
    RationalQuadratic,
    /// `periodic(period, length)`: exp(−2 Σⱼ sin²(π(xⱼ−zⱼ)/p)/ℓ²).
    Periodic,
    /// `cosine`: ⟨x,z⟩/(|x||z|), 0 where either is the zero vector.
    Cosine,
    /// `chi2(gamma)`: exp(−γ Σⱼ (xⱼ−zⱼ)²/(xⱼ+zⱼ)), 0/0 = 0.
    ChiSquared,
    /// `arccos(order)`: the arc-cosine kernel of Cho and Saul (2009), 0 where either is the zero vector.
    ArcCosine,
    /// `sigmoid(gamma, c)`: tanh(γ⟨x,z⟩ + c). Not positive semidefinite.
    Sigmoid,
}

/// The values a hyper-parameter may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowed {
    /// Any finite number.
    Finite,
    /// 0 or more.
    NonNegative,
    /// More than 0.
    Positive,
    /// 0, 1 or 2.
    Order,
}

/// What `auto` stands for in a hyper-parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auto {
    /// The median distance between rows of a seeded sample.
    MedianDistance,
    /// 1/(d·variance of all entries), scikit-learn's `scale`.
    InverseVariance,
}

/// One way to write a hyper-parameter.
#[derive(Debug, PartialEq)]
pub struct Spelling {
    /// The name in kernel text.
    pub name: &'static str,
    /// The numbers it takes.
    pub allowed: Allowed,
    /// Whether a list, one value per column, is possible.
    pub per_column: bool,
    /// What `auto` means, where it means something.
    pub auto: Option<Auto>,
    /// The range that a bare `?` searches.
    pub search: Search,
}

/// The default range of `?`.
#[derive(Debug, PartialEq)]
pub enum Search {
    /// Between these multiples of the value that `auto` would give, on a log scale.
    AroundAuto(f64, f64),
    /// Between these numbers, on a log scale.
    Between(f64, f64),
    /// One of these.
    OneOf(&'static [f64]),
}

/// A hyper-parameter: its spellings (the first one carries the default) and that default.
#[derive(Debug, PartialEq)]
pub struct Slot {
    /// Ways to write it; a text uses at most one of them.
    pub spellings: &'static [Spelling],
    /// The value of the first spelling where the text says nothing.
    pub default: f64,
}

const fn spelling(
    name: &'static str,
    allowed: Allowed,
    per_column: bool,
    auto: Option<Auto>,
    search: Search,
) -> Spelling {
    Spelling { name, allowed, per_column, auto, search }
}

const LENGTH_SEARCH: Search = Search::AroundAuto(0.05, 20.0);
const GAMMA_SEARCH: Search = Search::AroundAuto(1e-3, 1e3);
const OFFSET_SEARCH: Search = Search::Between(1e-2, 1e2);

const fn length(name: &'static str) -> Spelling {
    spelling(name, Allowed::Positive, true, Some(Auto::MedianDistance), LENGTH_SEARCH)
}

const fn gamma(allowed: Allowed, per_column: bool) -> Spelling {
    spelling("gamma", allowed, per_column, Some(Auto::InverseVariance), GAMMA_SEARCH)
}

const fn shape(name: &'static str, choices: &'static [f64]) -> Spelling {
    spelling(name, Allowed::Positive, false, None, Search::OneOf(choices))
}

static POLYNOMIAL: [Slot; 3] = [
    Slot {
        spellings: &[spelling(
            "degree",
            Allowed::NonNegative,
            false,
            None,
            Search::OneOf(&[1.0, 2.0, 3.0, 4.0, 5.0]),
        )],
        default: 3.0,
    },
    Slot { spellings: &[gamma(Allowed::NonNegative, false)], default: 1.0 },
    Slot { spellings: &[spelling("c", Allowed::Finite, false, None, OFFSET_SEARCH)], default: 1.0 },
];
static GAUSSIAN: [Slot; 1] =
    [Slot { spellings: &[length("sigma"), gamma(Allowed::Positive, true)], default: 1.0 }];
static LAPLACIAN: [Slot; 1] = [Slot { spellings: &[gamma(Allowed::Positive, true)], default: 1.0 }];
static MATERN: [Slot; 2] = [
    Slot { spellings: &[shape("nu", &[0.5, 1.5, 2.5])], default: 1.5 },
    Slot { spellings: &[length("length")], default: 1.0 },
];
static RATIONAL_QUADRATIC: [Slot; 2] = [
    Slot { spellings: &[shape("alpha", &[0.1, 0.3, 1.0, 3.0, 10.0])], default: 1.0 },
    Slot { spellings: &[length("length")], default: 1.0 },
];
static PERIODIC: [Slot; 2] = [
    Slot { spellings: &[length("period")], default: 1.0 },
    Slot {
        spellings: &[spelling("length", Allowed::Positive, true, None, Search::Between(0.05, 20.0))],
        default: 1.0,
    },
];
static CHI_SQUARED: [Slot; 1] = [Slot { spellings: &[gamma(Allowed::Positive, false)], default: 1.0 }];
static ARC_COSINE: [Slot; 1] = [Slot {
    spellings: &[spelling("order", Allowed::Order, false, None, Search::OneOf(&[0.0, 1.0, 2.0]))],
    default: 1.0,
}];
static SIGMOID: [Slot; 2] = [
    Slot { spellings: &[gamma(Allowed::Finite, false)], default: 1.0 },
    Slot { spellings: &[spelling("c", Allowed::Finite, false, None, OFFSET_SEARCH)], default: 0.0 },
];

impl Family {
    /// Every family, in the order of the language reference.
    pub const ALL: [Self; 11] = [
        Self::Linear,
        Self::Polynomial,
        Self::Gaussian,
        Self::Laplacian,
        Self::Matern,
        Self::RationalQuadratic,
        Self::Periodic,
        Self::Cosine,
        Self::ChiSquared,
        Self::ArcCosine,
        Self::Sigmoid,
    ];

    /// The name in kernel text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Polynomial => "poly",
            Self::Gaussian => "rbf",
            Self::Laplacian => "laplacian",
            Self::Matern => "matern",
            Self::RationalQuadratic => "rq",
            Self::Periodic => "periodic",
            Self::Cosine => "cosine",
            Self::ChiSquared => "chi2",
            Self::ArcCosine => "arccos",
            Self::Sigmoid => "sigmoid",
        }
    }

    /// The family that a name in kernel text stands for; `gaussian` is another name of `rbf`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "gaussian" => Some(Self::Gaussian),
            _ => Self::ALL.into_iter().find(|family| family.name() == name),
        }
    }

    /// The hyper-parameters, in the order they are printed.
    #[must_use]
    pub fn slots(self) -> &'static [Slot] {
        match self {
            Self::Linear | Self::Cosine => &[],
            Self::Polynomial => &POLYNOMIAL,
            Self::Gaussian => &GAUSSIAN,
            Self::Laplacian => &LAPLACIAN,
            Self::Matern => &MATERN,
            Self::RationalQuadratic => &RATIONAL_QUADRATIC,
            Self::Periodic => &PERIODIC,
            Self::ChiSquared => &CHI_SQUARED,
            Self::ArcCosine => &ARC_COSINE,
            Self::Sigmoid => &SIGMOID,
        }
    }
}

/// A hyper-parameter's value in a kernel text.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// `[a, b, …]`: one value per column.
    PerColumn(Vec<f64>),
    /// `auto`: from the data.
    Auto,
    /// `?`: tune over the default range.
    Tune,
    /// `?lo..hi`: tune between these, on a log scale.
    TuneBetween(f64, f64),
    /// `?{a,b,c}`: tune over these.
    TuneOver(Vec<f64>),
}

/// A hyper-parameter as given: which of the slot's spellings, and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Index into [`Slot::spellings`].
    pub spelling: usize,
    /// The value given.
    pub value: Value,
}

/// A named kernel with one [`Argument`] per [`Slot`] of its family.
#[derive(Debug, Clone, PartialEq)]
pub struct Named {
    /// Which kernel.
    pub family: Family,
    /// One per slot, in the slots' order.
    pub arguments: Vec<Argument>,
}

impl Named {
    /// The family with every hyper-parameter at its default.
    #[must_use]
    pub fn with_defaults(family: Family) -> Self {
        let arguments = family
            .slots()
            .iter()
            .map(|slot| Argument { spelling: 0, value: Value::Number(slot.default) })
            .collect();
        Self { family, arguments }
    }

    /// The spelling used for a slot.
    #[must_use]
    pub fn spelling(&self, slot: usize) -> &'static Spelling {
        &self.family.slots()[slot].spellings[self.arguments[slot].spelling]
    }

    /// The single number in a slot.
    ///
    /// # Errors
    /// Where it is still `auto` or `?`, or is a list.
    pub fn number(&self, slot: usize) -> Result<f64, EvalError> {
        match &self.arguments[slot].value {
            Value::Number(value) => Ok(*value),
            _ => Err(self.unresolved(slot)),
        }
    }

    /// The number in a slot for each of `ncols` columns, a single number repeated.
    ///
    /// # Errors
    /// Where it is still `auto` or `?`, or is a list of another length.
    pub fn per_column(&self, slot: usize, ncols: usize) -> Result<Vec<f64>, EvalError> {
        match &self.arguments[slot].value {
            Value::Number(value) => Ok(vec![*value; ncols]),
            Value::PerColumn(values) if values.len() == ncols => Ok(values.clone()),
            Value::PerColumn(values) => Err(EvalError::ListLength {
                family: self.family.name(),
                parameter: self.spelling(slot).name,
                values: values.len(),
                columns: ncols,
            }),
            _ => Err(self.unresolved(slot)),
        }
    }

    /// γⱼ of a Gaussian, exp(−Σⱼ γⱼ(xⱼ−zⱼ)²), whichever way its width is written.
    ///
    /// # Errors
    /// As [`per_column`](Self::per_column).
    pub fn gaussian_gammas(&self, ncols: usize) -> Result<Vec<f64>, EvalError> {
        let mut widths = self.per_column(0, ncols)?;
        if self.spelling(0).name == "sigma" {
            widths.iter_mut().for_each(|sigma| *sigma = 0.5 / (*sigma * *sigma));
        }
        Ok(widths)
    }

    fn unresolved(&self, slot: usize) -> EvalError {
        EvalError::Unresolved { family: self.family.name(), parameter: self.spelling(slot).name }
    }
}
