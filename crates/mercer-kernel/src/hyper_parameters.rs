//! The hyper-parameters of a named kernel: `(name=value, …)` after its name.
//!
//! ```text
//! arguments = ("(" (name "=" value ("," name "=" value)*)? ")")?
//! value     = constant | "auto" | unknown | "?{" constants "}" | "[" constants "]" | "[" unknown ("," unknown)* "]"
//! unknown   = "?" (constant ".." constant)? ("~" "lognormal" "(" constant "," constant ")")?
//! ```

use super::family::FamilyId;
use super::named::{Allowed, Argument, Named, Prior, Spelling, Value};
use super::parse::{Parsed, Parser};
use super::parse_error::{Problem, nearest};
use super::token::{Kind, Token};
use crate::formula::{Formula, Parameter as Exact, Written};

/// The hyper-parameters of a kernel, in doubles and as written: a spelling and a value for each slot.
type Arguments = (Vec<Argument>, Vec<(usize, Exact)>);

/// The hyper-parameter being read.
#[derive(Clone, Copy)]
struct Parameter {
    family: FamilyId,
    spelling: &'static Spelling,
}

impl Parser {
    /// One argument per slot of the family, with defaults for those not in the text, and the same as written.
    pub(super) fn hyper_parameters(&mut self, family: FamilyId) -> Parsed<Arguments> {
        let defaults = Named::with_defaults(family);
        let mut written = Written::of(&defaults).parameters;
        let mut arguments = defaults.arguments;
        if !self.eat(Kind::Open) {
            return Ok((arguments, written));
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
            let (value, exact) = self.value(Parameter { family, spelling: &spellings[spelling] })?;
            arguments[slot] = Argument { spelling, value };
            written[slot] = (spelling, exact);
        }
        Ok((arguments, written))
    }

    /// Parses `name =`; returns the slot and the spelling.
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

    fn value(&mut self, parameter: Parameter) -> Parsed<(Value, Exact)> {
        let (family, name) = (parameter.family.name(), parameter.spelling.name);
        let at = self.token();
        match at.kind {
            Kind::Name if self.written(at) == "auto" => {
                if parameter.spelling.auto.is_none() {
                    return Err(self.error(Problem::NoAuto { family, parameter: name }, at));
                }
                self.advance();
                Ok((Value::Auto, Exact::Auto))
            }
            Kind::OpenBracket => {
                if !parameter.spelling.per_column {
                    return Err(self.error(Problem::NoList { family, parameter: name }, at));
                }
                self.advance();
                if self.peek() == Kind::Question {
                    return self.unknowns(parameter);
                }
                let (values, exact) =
                    self.numbers(parameter, Kind::CloseBracket, "`]`, `,` or an operator")?;
                Ok((Value::PerColumn(values), Exact::list(&exact, Exact::PerColumn)))
            }
            Kind::Question => {
                self.advance();
                self.search(parameter)
            }
            _ => {
                let (value, exact) = self.number(parameter)?;
                Ok((Value::Number(value), Exact::constant(&exact)))
            }
        }
    }

    /// Parses the part after a `?` that is a single unknown.
    pub(super) fn unknown_value(&mut self, family: FamilyId) -> Parsed<(Value, Exact)> {
        match self.peek() {
            Kind::OpenBrace | Kind::Number(_) | Kind::Tilde => {
                self.search(Parameter { family, spelling: &family.slots()[0].spellings[0] })
            }
            _ => Ok((Value::Tune, Exact::Any)),
        }
    }

    /// Parses `?, ?…]`: one unknown for each column.
    fn unknowns(&mut self, parameter: Parameter) -> Parsed<(Value, Exact)> {
        let mut each = Vec::new();
        loop {
            let at = self.token();
            if !self.eat(Kind::Question) {
                return Err(self.unexpected("`?`: a list has either numbers or unknowns"));
            }
            each.push(self.search(parameter)?);
            // Counted here, because the length of the text does not bound the parts of a list of unknowns.
            self.count(1, at)?;
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::CloseBracket, "`]` or `,`")?;
        let (mut values, mut exact): (Vec<Value>, Vec<Exact>) = each.into_iter().unzip();
        let same = exact.iter().all(|one| *one == exact[0]);
        let all = if same { exact.swap_remove(0) } else { Exact::Unknown };
        Ok(match values.len() {
            1 => (Value::EachColumn(Box::new(values.remove(0))), all),
            _ => (Value::Unknowns(values), all),
        })
    }

    /// Parses the part after a `?`: a range or a list, and a prior.
    fn search(&mut self, parameter: Parameter) -> Parsed<(Value, Exact)> {
        let (value, exact) = self.searched(parameter)?;
        let at = self.token();
        if !self.eat(Kind::Tilde) {
            return Ok((value, exact));
        }
        if matches!(value, Value::TuneOver(_)) {
            return Err(self.error(Problem::PriorOfList, at));
        }
        let name = self.token();
        if self.written(name) != "lognormal" {
            return Err(self.unexpected("`lognormal(mu,s)`, the prior that there is"));
        }
        self.advance();
        self.expect(Kind::Open, "`(` after the name of a prior")?;
        let (mu, _) = self.constant()?;
        self.expect(Kind::Comma, "`,` and the standard deviation of the logarithm")?;
        let deviation = self.token();
        let (s, _) = self.constant()?;
        self.expect(Kind::Close, "`)` or an operator")?;
        if !(s > 0.0 && s.is_finite() && mu.is_finite()) {
            return Err(self.error(Problem::Prior { mu, s }, deviation));
        }
        Ok((Value::WithPrior(Box::new(value), Prior::LogNormal { mu, s }), exact))
    }

    fn searched(&mut self, parameter: Parameter) -> Parsed<(Value, Exact)> {
        match self.peek() {
            Kind::OpenBrace => {
                self.advance();
                let (values, exact) = self.numbers(parameter, Kind::CloseBrace, "`}`, `,` or an operator")?;
                Ok((Value::TuneOver(values), Exact::list(&exact, Exact::Over)))
            }
            Kind::Comma | Kind::Close | Kind::CloseBracket | Kind::Tilde | Kind::End => {
                Ok((Value::Tune, Exact::Any))
            }
            _ => {
                let at = self.token();
                let (low, from) = self.number(parameter)?;
                self.expect(Kind::To, "`..` and the upper end of the range")?;
                let (high, to) = self.number(parameter)?;
                if !(0.0 < low && low < high) {
                    return Err(self.error(Problem::SearchRange { low, high }, at));
                }
                let exact = match (Exact::constant(&from), Exact::constant(&to)) {
                    (Exact::Number(from), Exact::Number(to)) => Exact::Between(from, to),
                    _ => Exact::Unknown,
                };
                Ok((Value::TuneBetween(low, high), exact))
            }
        }
    }

    /// One or more numbers between commas, up to `close`.
    fn numbers(
        &mut self,
        parameter: Parameter,
        close: Kind,
        expected: &'static str,
    ) -> Parsed<(Vec<f64>, Vec<Formula>)> {
        let mut values = vec![self.number(parameter)?];
        while self.eat(Kind::Comma) {
            values.push(self.number(parameter)?);
        }
        self.expect(close, expected)?;
        Ok(values.into_iter().unzip())
    }

    /// A constant that the hyper-parameter may take.
    fn number(&mut self, parameter: Parameter) -> Parsed<(f64, Formula)> {
        let at: Token = self.token();
        let (value, written) = self.constant()?;
        if parameter.spelling.allowed.contains(value) {
            return Ok((value, written));
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
