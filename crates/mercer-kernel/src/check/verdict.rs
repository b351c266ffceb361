//! The answer: a proof, a counter-example, or what was tried.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use super::exact::{self, Q};
use super::proof::Proof;
use super::{Dim, Domain};

/// Whether a formula is a kernel.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is positive semidefinite, with a proof.
    Proven(Proof),
    /// It is not, with a refutation.
    Refuted(Refutation),
    /// It is undefined at some points of the domain: a [`Refutation::Undefined`].
    Undefined(Refutation),
    /// Neither was found.
    Undecided(Evidence),
}

/// The evidence that a formula is not a kernel.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Refutation {
    /// Points and weights with wᵀKw < 0.
    Points {
        /// The points, exact.
        points: Vec<Vec<Q>>,
        /// The weights, exact.
        weights: Vec<Q>,
        /// wᵀKw.
        value: f64,
        /// The Gram matrix of the points.
        matrix: Vec<Vec<f64>>,
        /// The kernel with values for its open hyper-parameters, if it has any: one value is enough for a refutation.
        filled: Option<String>,
    },
    /// Two points with k(x,z) ≠ k(z,x).
    Asymmetric {
        /// x.
        x: Vec<Q>,
        /// z.
        z: Vec<Q>,
        /// k(x,z).
        forward: f64,
        /// k(z,x).
        backward: f64,
    },
    /// Two points of the domain at which the formula has no value.
    Undefined {
        /// x.
        x: Vec<Q>,
        /// z.
        z: Vec<Q>,
        /// Why not.
        reason: String,
    },
    /// A theorem whose condition the formula fails.
    Theorem(Theorem),
}

/// A theorem that refutes, with the numbers that violate its condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Theorem {
    /// The theorem and a reference.
    pub reference: String,
    /// The dimension in which the formula fails.
    pub dim: usize,
    /// The failure, in words.
    pub text: String,
    /// The negative number.
    pub value: f64,
    /// The part that the checker verifies.
    pub(crate) failure: super::proof::Failure,
}

/// The attempts without success.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    /// The rules and searches that were tried.
    pub tried: Vec<String>,
    /// The most negative eigenvalue seen, relative to the matrix' largest entry.
    pub lowest_relative_eigenvalue: Option<f64>,
    /// The obstacle, if there was a single one.
    pub note: Option<String>,
}

impl Verdict {
    /// The verdict of a refutation.
    #[must_use]
    pub fn of(refutation: Refutation) -> Self {
        match refutation {
            Refutation::Undefined { .. } => Self::Undefined(refutation),
            other => Self::Refuted(other),
        }
    }

    /// Whether it is [`Verdict::Proven`].
    #[must_use]
    pub fn is_proven(&self) -> bool {
        matches!(self, Self::Proven(_))
    }

    /// Whether it is [`Verdict::Refuted`].
    #[must_use]
    pub fn is_refuted(&self) -> bool {
        matches!(self, Self::Refuted(_))
    }

    /// The evidence that it is not a kernel on the domain: it is refuted, or undefined somewhere.
    #[must_use]
    pub fn refutation(&self) -> Option<&Refutation> {
        match self {
            Self::Refuted(refutation) | Self::Undefined(refutation) => Some(refutation),
            _ => None,
        }
    }

    /// `proven`, `refuted`, `undefined` or `undecided`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Proven(_) => "proven",
            Self::Refuted(_) => "refuted",
            Self::Undefined(_) => "undefined",
            Self::Undecided(_) => "undecided",
        }
    }

    /// The verdict as a fragment of HTML: one line, and a collapsible certificate.
    #[must_use]
    pub fn html(&self) -> String {
        let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let text = self.to_string();
        let (line, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let colour = match self {
            Self::Proven(_) => "#1a7f37",
            Self::Refuted(_) | Self::Undefined(_) => "#cf222e",
            Self::Undecided(_) => "#9a6700",
        };
        let said = line.strip_prefix(self.word()).unwrap_or(line);
        let head = format!("<b style=\"color:{colour}\">{}</b>{}", self.word(), escape(said));
        if rest.is_empty() {
            return format!("<div>{head}</div>");
        }
        format!("<details><summary>{head}</summary><pre>{}</pre></details>", escape(rest))
    }

    /// The document that `mercer check --json` prints.
    #[must_use]
    pub fn to_json(&self, kernel: &str, dim: Dim, domain: Domain) -> impl Serialize + use<> {
        let mut document = json!({
            "kernel": kernel,
            "dim": dim.to_json(),
            "domain": domain.to_string(),
            "verdict": self.word(),
        });
        match self {
            Self::Proven(proof) => document["proof"] = proof.to_json(),
            Self::Refuted(refutation) | Self::Undefined(refutation) => {
                document["refutation"] = refutation.to_json();
            }
            Self::Undecided(evidence) => {
                document["evidence"] = json!({
                    "tried": evidence.tried,
                    "lowest_relative_eigenvalue": evidence.lowest_relative_eigenvalue,
                    "note": evidence.note,
                });
            }
        }
        document
    }
}

impl Refutation {
    /// The `refutation` member of the document.
    pub(super) fn to_json(&self) -> Value {
        let text = self.to_string();
        let doubles = |p: &[Q]| p.iter().map(exact::to_f64).collect::<Vec<_>>();
        match self {
            Self::Points { points, weights, value, .. } => json!({
                "kind": "points",
                "points": points.iter().map(|p| doubles(p)).collect::<Vec<_>>(),
                "weights": doubles(weights),
                "value": value,
                "text": text,
            }),
            Self::Asymmetric { x, z, forward, backward } => json!({
                "kind": "points",
                "points": [doubles(x), doubles(z)],
                "weights": [],
                "value": forward - backward,
                "text": text,
            }),
            Self::Undefined { x, z, .. } => json!({
                "kind": "undefined",
                "points": [doubles(x), doubles(z)],
                "text": text,
            }),
            Self::Theorem(theorem) => json!({
                "kind": "theorem",
                "reference": theorem.reference,
                "dim": theorem.dim,
                "value": theorem.value,
                "text": text,
            }),
        }
    }
}

/// A point as `(1, 1/2)`.
fn show_point(point: &[Q]) -> String {
    let zeros = point.iter().rev().take_while(|c| **c == exact::int(0)).count();
    let shown = if zeros > 3 { point.len() - zeros } else { point.len() };
    let mut parts: Vec<String> = point[..shown.max(1).min(point.len())].iter().map(exact::show).collect();
    if shown < point.len() {
        parts.push(format!("0, … (R^{})", point.len()));
    }
    format!("({})", parts.join(", "))
}

fn subscript(n: usize) -> String {
    n.to_string().chars().filter_map(|c| c.to_digit(10)).filter_map(|d| char::from_u32(0x2080 + d)).collect()
}

/// Four significant digits, without an exponent for ordinary sizes.
pub(crate) fn four(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    let size = value.abs().log10().floor();
    if (-4.0..6.0).contains(&size) {
        let decimals = (3.0 - size).max(0.0) as usize;
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
    } else {
        format!("{value:.3e}")
    }
}

/// The most points that are printed with their matrix.
const FEW: usize = 6;

fn write_filled(f: &mut fmt::Formatter<'_>, filled: Option<&str>) -> fmt::Result {
    filled.map_or(Ok(()), |kernel| write!(f, "with {kernel}: "))
}

impl fmt::Display for Refutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Points { points, value, matrix, filled, .. } if points.len() == 1 => {
                write_filled(f, filled.as_deref())?;
                let value = match *value {
                    v if v > -f64::MIN_POSITIVE => "−ε with ε < 10⁻³⁰⁷".into(),
                    v if matrix[0][0] >= 0.0 => four(v),
                    _ => four(matrix[0][0]),
                };
                write!(f, "x₁ = {} gives k(x₁, x₁) = {value}, which is negative", show_point(&points[0]))
            }
            Self::Points { points, weights, value, matrix, filled } => {
                write_filled(f, filled.as_deref())?;
                let named: Vec<String> = points
                    .iter()
                    .enumerate()
                    .map(|(i, p)| format!("x{} = {}", subscript(i + 1), show_point(p)))
                    .collect();
                f.write_str(&named.join(", "))?;
                if points.len() <= FEW {
                    let rows: Vec<String> = matrix
                        .iter()
                        .map(|row| {
                            format!("[{}]", row.iter().map(|v| four(*v)).collect::<Vec<_>>().join(", "))
                        })
                        .collect();
                    write!(f, " give K = [{}]", rows.join(", "))?;
                }
                let weights: Vec<String> = weights.iter().map(|w| exact::show(w).replace('-', "−")).collect();
                write!(f, "; w = ({}) gives wᵀKw = {}", weights.join(", "), four(*value).replace('-', "−"))
            }
            Self::Asymmetric { x, z, forward, backward } => write!(
                f,
                "not symmetric: x = {}, z = {} give k(x,z) = {} but k(z,x) = {}",
                show_point(x),
                show_point(z),
                four(*forward),
                four(*backward)
            ),
            Self::Undefined { x, z, reason } => {
                write!(f, "undefined at x = {}, z = {}: {reason}", show_point(x), show_point(z))
            }
            Self::Theorem(theorem) => write!(f, "{}\n  {}", theorem.text, theorem.reference),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Proven(proof) => write!(f, "proven: {proof}"),
            Self::Refuted(refutation) => write!(f, "refuted: {refutation}"),
            Self::Undefined(refutation) => write!(f, "{refutation}"),
            Self::Undecided(evidence) => {
                write!(f, "undecided: ")?;
                match &evidence.note {
                    Some(note) => write!(f, "{note}")?,
                    None => write!(f, "neither a proof nor a counter-example was found")?,
                }
                if !evidence.tried.is_empty() {
                    write!(f, "\n  tried: {}", evidence.tried.join("; "))?;
                }
                if let Some(lowest) = evidence.lowest_relative_eigenvalue {
                    write!(f, "\n  most negative relative eigenvalue seen: {}", four(lowest))?;
                }
                Ok(())
            }
        }
    }
}
