//! The question of a check: the dimension and the domain.

use std::fmt;
use std::str::FromStr;

use num_traits::{Signed, Zero};
use serde_json::{Value as Json, json};

use super::exact::{self, Q};

/// The dimension of the points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub enum Dim {
    /// Every dimension.
    Any,
    /// This many coordinates.
    Exactly(usize),
}

/// The set the points lie in.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Domain {
    /// All of R^d.
    All,
    /// The closed ball of this radius around the origin.
    Ball(f64),
    /// The unit sphere.
    Sphere,
    /// All coordinates at least zero.
    Orthant,
    /// All coordinates between two numbers, both included.
    Box(f64, f64),
}

impl Dim {
    /// `"any"` or a number.
    pub(crate) fn to_json(self) -> Json {
        match self {
            Self::Any => json!("any"),
            Self::Exactly(d) => json!(d),
        }
    }

    /// Whether the question includes points of `d` coordinates.
    pub(crate) fn includes(self, d: usize) -> bool {
        match self {
            Self::Any => d > 0,
            Self::Exactly(exactly) => d == exactly,
        }
    }
}

impl Domain {
    /// Whether all coordinates of all its points are at least zero.
    #[must_use]
    pub fn is_in_orthant(self) -> bool {
        match self {
            Self::Orthant => true,
            Self::Box(low, _) => low >= 0.0,
            _ => false,
        }
    }

    /// The set in words, in R^d: "all of R^d", "the unit sphere of R^d".
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::All => "all of R^d".into(),
            Self::Ball(radius) => format!("the ball of radius {radius} in R^d"),
            Self::Sphere => "the unit sphere of R^d".into(),
            Self::Orthant => "the non-negative orthant of R^d".into(),
            Self::Box(low, high) => format!("the box [{low}, {high}]^d"),
        }
    }

    /// The end points of a box, exact.
    pub(crate) fn ends(self) -> Option<(Q, Q)> {
        match self {
            Self::Box(low, high) => exact::from_decimal(low).zip(exact::from_decimal(high)),
            _ => None,
        }
    }

    /// Whether a point lies in it, exactly.
    pub(crate) fn holds(self, point: &[Q]) -> bool {
        let squared = || point.iter().fold(Q::zero(), |sum, c| sum + c * c);
        match self {
            Self::All => true,
            Self::Ball(radius) => {
                exact::from_decimal(radius).is_some_and(|r| !r.is_negative() && squared() <= &r * &r)
            }
            Self::Sphere => squared() == exact::int(1),
            Self::Orthant => point.iter().all(|c| !c.is_negative()),
            Self::Box(..) => {
                self.ends().is_some_and(|(low, high)| point.iter().all(|c| low <= *c && *c <= high))
            }
        }
    }

    /// Whether the origin lies in it.
    pub(crate) fn holds_origin(self) -> bool {
        self.holds(&[Q::zero()])
    }

    /// The problem with its numbers, if any, for a domain built in code.
    pub(crate) fn problem(self) -> Option<String> {
        match self {
            Self::Ball(radius) if !(radius > 0.0 && radius.is_finite()) => {
                Some(format!("a ball has a finite radius > 0, not {radius}"))
            }
            Self::Box(low, high) if !(low < high && low.is_finite() && high.is_finite()) => {
                Some(format!("a box has two finite ends a < b, not {low} and {high}"))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Exactly(d) => write!(f, "{d}"),
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Ball(radius) => write!(f, "ball:{radius}"),
            Self::Sphere => f.write_str("sphere"),
            Self::Orthant => f.write_str("orthant"),
            Self::Box(low, high) => write!(f, "box:{low}..{high}"),
        }
    }
}

/// A text that does not name a dimension or domain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// Not `any` or a number of coordinates.
    #[error("dim is `{received}`; allowed are `any` and whole numbers from 1")]
    Dim {
        /// The text received.
        received: String,
    },
    /// A number of the domain that a double cannot hold as it is written.
    #[error(
        "domain is `{received}`; double precision cannot hold `{number}` as it is written: use fewer digits"
    )]
    Digits {
        /// The text received.
        received: String,
        /// The number.
        number: String,
    },
    /// Not one of the domains.
    #[error(
        "domain is `{received}`; allowed are `all`, `ball:R` with a radius R > 0, `sphere`, `orthant` and `box:a..b` with a < b"
    )]
    Domain {
        /// The text received.
        received: String,
    },
}

impl FromStr for Dim {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "any" {
            return Ok(Self::Any);
        }
        match text.parse() {
            Ok(d) if d > 0 => Ok(Self::Exactly(d)),
            _ => Err(QuestionError::Dim { received: text.into() }),
        }
    }
}

impl From<Dim> for Json {
    fn from(dim: Dim) -> Self {
        dim.to_json()
    }
}

impl TryFrom<Json> for Dim {
    type Error = QuestionError;

    fn try_from(value: Json) -> Result<Self, Self::Error> {
        value.as_str().map_or_else(|| value.to_string(), ToString::to_string).parse()
    }
}

impl From<Domain> for String {
    fn from(domain: Domain) -> Self {
        domain.to_string()
    }
}

impl TryFrom<String> for Domain {
    type Error = QuestionError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl FromStr for Domain {
    type Err = QuestionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let other = || QuestionError::Domain { received: text.into() };
        // A number with more digits than a double has would be another number.
        let number = |part: &str| match part.parse::<f64>() {
            Ok(value) if !value.is_finite() => Err(other()),
            Ok(value) if crate::formula::is_shortest_decimal(part, value) => Ok(value),
            Ok(_) => Err(QuestionError::Digits { received: text.into(), number: part.into() }),
            Err(_) => Err(other()),
        };
        let domain = match text {
            "all" => Self::All,
            "sphere" => Self::Sphere,
            "orthant" => Self::Orthant,
            _ => match (text.strip_prefix("ball:"), text.strip_prefix("box:")) {
                (Some(radius), _) => Self::Ball(number(radius)?),
                (_, Some(ends)) => {
                    let (low, high) = ends.split_once("..").ok_or_else(other)?;
                    Self::Box(number(low)?, number(high)?)
                }
                _ => return Err(other()),
            },
        };
        if domain.problem().is_some() { Err(other()) } else { Ok(domain) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_are_read_as_they_are_written() {
        for text in ["all", "ball:0.9", "sphere", "orthant", "box:0..1", "box:-0.5..1e3", "box:-2..-1"] {
            let domain: Domain = text.parse().unwrap();
            assert_eq!(domain.to_string().parse::<Domain>(), Ok(domain), "{text}");
        }
        for text in ["box", "box:1", "box:1..1", "box:2..1", "box:a..b", "box:0..inf", "box:0..", "ball:0"] {
            assert!(text.parse::<Domain>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_number_with_too_many_digits_is_named() {
        for text in ["ball:0.99999999999999999999", "box:0..1.00000000000000000001", "ball:1e-400"] {
            let problem = text.parse::<Domain>().unwrap_err();
            assert!(matches!(problem, QuestionError::Digits { .. }), "{text}: {problem}");
        }
        let problem = "box:0..1.00000000000000000001".parse::<Domain>().unwrap_err().to_string();
        assert!(problem.contains("cannot hold `1.00000000000000000001`"), "{problem}");
        for text in ["ball:inf", "ball:nan", "ball:1e400", "ball:", "ball:x"] {
            assert!(matches!(text.parse::<Domain>(), Err(QuestionError::Domain { .. })), "{text}");
        }
    }

    #[test]
    fn boxes_hold_their_ends() {
        let domain = Domain::Box(-0.5, 2.0);
        assert!(domain.holds(&[exact::ratio(-1, 2), exact::int(2)]) && domain.holds_origin());
        assert!(!domain.holds(&[exact::int(0), exact::ratio(-51, 100)]));
        assert!(!Domain::Box(1.0, 2.0).holds_origin() && Domain::Box(1.0, 2.0).is_in_orthant());
    }
}
