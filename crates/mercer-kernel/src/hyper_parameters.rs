//! The hyper-parameters of a named kernel: `(name=value, …)` after its name.
//!
//! ```text
//! arguments = ("(" (name "=" value ("," name "=" value)*)? ")")?
//! value     = constant | "auto" | "?" | "?" constant ".." constant | "?{" constants "}" | "[" constants "]"
//! ```

use super::family::FamilyId;
use super::named::{Allowed, Argument, Named, Spelling, Value};
use super::parse::{Parsed, Parser};
use super::parse_error::{Problem, nearest};
use super::token::{Kind, Token};

/// The hyper-parameter being read.
#[derive(Clone, Copy)]
struct Parameter {
    family: FamilyId,
    spelling: &'static Spelling,
}

impl Parser {
    /// One argument per slot of the family, defaults where the text says nothing.
    pub(super) fn hyper_parameters(&mut self, family: FamilyId) -> Parsed<Vec<Argument>> {
        let mut arguments = Named::with_defaults(family).arguments;
        if !self.eat(Kind::Open) {
            return Ok(arguments);
        }
        let mut given = vec![false; arguments.len()];
        while !self.eat(Kind::Close) {
            if given.contains(&true) {
                self.expect(Kind::Comma, "`)`, `,` or an operator")?;
            }
            let at = self.token();
            let (slot, spelling) = self.parameter_name(family)?;
            let spellings = family.slots()[slot].spellings;
            if given[slot] {
                let first = spellings[arguments[slot].spelling].name;
                let problem =
                    Problem::GivenTwice { family: family.name(), first, second: spellings[spelling].name };
                return Err(self.error(problem, at));
            }
            given[slot] = true;
            let value = self.value(Parameter { family, spelling: &spellings[spelling] })?;
            arguments[slot] = Argument { spelling, value };
        }
        Ok(arguments)
    }

    /// `name =`, as the slot and the spelling it names.
    fn parameter_name(&mut self, family: FamilyId) -> Parsed<(usize, usize)> {
        let at = self.token();
        let names = || family.slots().iter().flat_map(|slot| slot.spellings).map(|s| s.name);
        let known = || match names().collect::<Vec<_>>() {
            names if names.is_empty() => "no parameters".to_owned(),
            names => names.join(", "),
        };
        if at.kind != Kind::Name || self.peek_ahead(1) != Kind::Equals {
            let problem = Problem::PositionalArgument {
                family: family.name(),
                known: known(),
                found: self.describe(at),
            };
            return Err(self.error(problem, at));
        }
        let name = self.written(at);
        self.advance();
        self.advance();
        let spellings = |slot: usize| family.slots()[slot].spellings.iter();
        (0..family.slots().len())
            .find_map(|slot| Some((slot, spellings(slot).position(|s| s.name == name)?)))
            .ok_or_else(|| {
                let problem = Problem::UnknownParameter {
                    family: family.name(),
                    suggestion: nearest(&name, names()),
                    name: name.chars().take(40).collect(),
                    known: known(),
                };
                self.error(problem, at)
            })
    }

    fn value(&mut self, parameter: Parameter) -> Parsed<Value> {
        let (family, name) = (parameter.family.name(), parameter.spelling.name);
        let at = self.token();
        match at.kind {
            Kind::Name if self.written(at) == "auto" => {
                if parameter.spelling.auto.is_none() {
                    return Err(self.error(Problem::NoAuto { family, parameter: name }, at));
                }
                self.advance();
                Ok(Value::Auto)
            }
            Kind::OpenBracket => {
                if !parameter.spelling.per_column {
                    return Err(self.error(Problem::NoList { family, parameter: name }, at));
                }
                self.advance();
                let values = self.numbers(parameter, Kind::CloseBracket, "`]`, `,` or an operator")?;
                Ok(Value::PerColumn(values))
            }
            Kind::Question => {
                self.advance();
                self.search(parameter)
            }
            _ => Ok(Value::Number(self.number(parameter)?)),
        }
    }

    /// What follows a `?`.
    fn search(&mut self, parameter: Parameter) -> Parsed<Value> {
        match self.peek() {
            Kind::OpenBrace => {
                self.advance();
                let values = self.numbers(parameter, Kind::CloseBrace, "`}`, `,` or an operator")?;
                Ok(Value::TuneOver(values))
            }
            Kind::Comma | Kind::Close | Kind::End => Ok(Value::Tune),
            _ => {
                let at = self.token();
                let low = self.number(parameter)?;
                self.expect(Kind::To, "`..` and the upper end of the range")?;
                let high = self.number(parameter)?;
                if !(0.0 < low && low < high) {
                    return Err(self.error(Problem::SearchRange { low, high }, at));
                }
                Ok(Value::TuneBetween(low, high))
            }
        }
    }

    /// One or more numbers between commas, up to `close`.
    fn numbers(&mut self, parameter: Parameter, close: Kind, expected: &'static str) -> Parsed<Vec<f64>> {
        let mut values = vec![self.number(parameter)?];
        while self.eat(Kind::Comma) {
            values.push(self.number(parameter)?);
        }
        self.expect(close, expected)?;
        Ok(values)
    }

    /// A constant that the hyper-parameter may take.
    fn number(&mut self, parameter: Parameter) -> Parsed<f64> {
        let at: Token = self.token();
        let value = self.constant()?;
        if parameter.spelling.allowed.contains(value) {
            return Ok(value);
        }
        let problem = Problem::OutOfRange {
            family: parameter.family.name(),
            parameter: parameter.spelling.name,
            allowed: parameter.spelling.allowed.describe(),
            value,
        };
        Err(self.error(problem, at))
    }
}

impl Allowed {
    /// Whether `value` is one of the values allowed.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Self::Finite => true,
                Self::NonNegative => value >= 0.0,
                Self::Positive => value > 0.0,
                Self::Order => matches!(value, 0.0 | 1.0 | 2.0),
            }
    }

    /// The values allowed, in words.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Finite => "a finite number",
            Self::NonNegative => "0 or more",
            Self::Positive => "more than 0",
            Self::Order => "0, 1 or 2",
        }
    }
}
