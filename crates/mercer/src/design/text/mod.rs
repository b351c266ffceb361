//! Parses feature maps, by recursive descent.
//!
//! ```text
//! map     = kind | sum ("," sum)*
//! kind    = ("poly" | "monomials" | "taylor") ("(" (name "=" constant ("," …)*)? ")")? | "series" "(" constant ("," constant)* ")"
//! sum     = product (("+" | "-") product)*
//! product = unary (("*" | "/") unary)*
//! unary   = "-" unary | power
//! power   = primary ("^" unary)?
//! primary = number | "pi" | "(" sum ")" | function "(" sum ("," sum)* ")" | "x" | "x" digits | name | "`" any "`"
//! ```

mod error;
pub(super) mod named;

use std::ops::{Deref, DerefMut};

use crate::kernel::{
    Cursor, Function, MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, SyntaxProblem, Token, TokenKind, nearest, nested,
};

use super::FeatureMap;
use super::formula::{Formula, Formulas};

pub use error::{FeatureProblem, FeatureTextError};
use named::Kind;

type Parsed<T> = Result<T, FeatureTextError>;

/// The feature map that `text` describes. O(length) time and memory.
pub(in crate::design) fn parse(text: &str) -> Parsed<FeatureMap> {
    let mut parser = Parser { cursor: Cursor::new(text, MAX_CHARACTERS)?, parts: 0 };
    let map = match parser.kind() {
        Some(kind) => parser.map(kind)?,
        None => parser.formulas()?,
    };
    match parser.peek() {
        TokenKind::End => Ok(map),
        _ => Err(parser.unexpected("an operator, `,` or the end of the text")),
    }
}

struct Parser {
    cursor: Cursor<FeatureProblem>,
    parts: usize,
}

impl Deref for Parser {
    type Target = Cursor<FeatureProblem>;

    fn deref(&self) -> &Cursor<FeatureProblem> {
        &self.cursor
    }
}

impl DerefMut for Parser {
    fn deref_mut(&mut self) -> &mut Cursor<FeatureProblem> {
        &mut self.cursor
    }
}

impl Parser {
    /// The kind of map that starts here.
    fn kind(&self) -> Option<Kind> {
        let at = self.token();
        let opens = matches!(self.peek_ahead(1), TokenKind::Open | TokenKind::End);
        let name = at.kind == TokenKind::Name && !at.quoted && opens;
        name.then(|| Kind::from_name(&self.written(at))).flatten()
    }

    /// A map of that kind and its parameters.
    fn map(&mut self, kind: Kind) -> Parsed<FeatureMap> {
        let name = self.advance();
        let mut values = kind.defaults();
        let mut places = vec![None; values.len()];
        if self.eat(TokenKind::Open) {
            if kind == Kind::Series {
                values.clear();
                places.clear();
            }
            let mut first = true;
            while !self.eat(TokenKind::Close) {
                if !first {
                    self.expect(TokenKind::Comma, "`)`, `,` or an operator")?;
                }
                first = false;
                let slot = if kind == Kind::Series { values.len() } else { self.parameter(kind)? };
                let at = self.token();
                if slot == values.len() {
                    values.push(0.0);
                    places.push(None);
                } else if places[slot].is_some() {
                    let parameter = kind.parameters()[slot].into();
                    return Err(self.error(FeatureProblem::GivenTwice { map: kind.name(), parameter }, at));
                }
                places[slot] = Some(at);
                values[slot] = self.constant()?;
            }
        }
        let map = kind.map(&values).map_err(|refused| {
            let at = places.get(refused.slot).copied().flatten().unwrap_or(name);
            let value = values.get(refused.slot).map_or_else(|| "nothing".into(), f64::to_string);
            let (parameter, allowed) = (refused.parameter, refused.allowed);
            self.error(FeatureProblem::OutOfRange { map: kind.name(), parameter, allowed, value }, at)
        })?;
        match self.peek() {
            TokenKind::End => Ok(map),
            _ => Err(self.error(FeatureProblem::NotAlone { map: kind.name() }, name)),
        }
    }

    /// `name =`, as the slot it names.
    fn parameter(&mut self, kind: Kind) -> Parsed<usize> {
        let at = self.token();
        if at.kind != TokenKind::Name || self.peek_ahead(1) != TokenKind::Equals {
            return Err(self.unexpected("a parameter by name, as in `degree=3`"));
        }
        let name = self.written(at);
        self.advance();
        self.advance();
        let names = || kind.parameters().iter().copied();
        names().position(|known| known == name).ok_or_else(|| {
            let problem = FeatureProblem::UnknownParameter {
                map: kind.name(),
                suggestion: nearest(&name, names()).map(str::to_owned),
                name: self.shortened(at),
                known: kind.known(),
            };
            self.error(problem, at)
        })
    }

    /// The value of a formula without columns.
    fn constant(&mut self) -> Parsed<f64> {
        let at = self.token();
        let formula = self.sum()?.0;
        let mut constant = true;
        formula.visit(&mut |part| {
            constant &= !matches!(part, Formula::Every | Formula::Column(_) | Formula::Name(_));
        });
        if !constant {
            let found = format!("`{}`", self.shortened(at));
            let expected = "a number: a parameter does not depend on columns";
            return Err(self.error(SyntaxProblem::Unexpected { expected, found }, at));
        }
        let value = formula.values(&[], 1)[0];
        if !value.is_finite() {
            return Err(self.error(SyntaxProblem::NotFinite { value: value.to_string() }, at));
        }
        Ok(value)
    }

    fn formulas(&mut self) -> Parsed<FeatureMap> {
        let mut formulas = vec![self.sum()?.0];
        while self.eat(TokenKind::Comma) {
            formulas.push(self.sum()?.0);
        }
        Ok(FeatureMap::Formulas(Formulas(formulas)))
    }

    /// A node over operands, the deepest of which has `depth` levels.
    fn node(&mut self, formula: Formula, depth: usize, at: Token) -> Parsed<(Formula, usize)> {
        self.parts += 1;
        if self.parts > MAX_NODES {
            return Err(self.error(FeatureProblem::TooManyParts { limit: MAX_NODES }, at));
        }
        if depth >= MAX_DEPTH {
            return Err(self.error(SyntaxProblem::TooDeep { limit: MAX_DEPTH }, at));
        }
        Ok((formula, depth + 1))
    }

    fn sum(&mut self) -> Parsed<(Formula, usize)> {
        self.chain(Self::product, TokenKind::Plus, TokenKind::Minus, Formula::Sum)
    }

    fn product(&mut self) -> Parsed<(Formula, usize)> {
        self.chain(Self::unary, TokenKind::Star, TokenKind::Slash, Formula::Product)
    }

    /// Operands joined by an operator or its inverse; a single operand is returned as it is.
    fn chain(
        &mut self,
        operand: fn(&mut Self) -> Parsed<(Formula, usize)>,
        forward: TokenKind,
        inverse: TokenKind,
        join: fn(Vec<(bool, Formula)>) -> Formula,
    ) -> Parsed<(Formula, usize)> {
        let (first, mut depth) = operand(self)?;
        let at = self.token();
        let mut parts = vec![(false, first)];
        while self.peek() == forward || self.peek() == inverse {
            let inverted = self.advance().kind == inverse;
            let (part, below) = operand(self)?;
            depth = depth.max(below);
            parts.push((inverted, part));
        }
        match parts.len() {
            1 => Ok((parts.remove(0).1, depth)),
            _ => self.node(join(parts), depth, at),
        }
    }

    fn unary(&mut self) -> Parsed<(Formula, usize)> {
        let at = self.token();
        if self.eat(TokenKind::Minus) {
            let (inner, depth) = nested(self, at, Self::unary)?;
            return self.node(Formula::Neg(Box::new(inner)), depth, at);
        }
        let (base, depth) = self.primary()?;
        let at = self.token();
        if !self.eat(TokenKind::Caret) {
            return Ok((base, depth));
        }
        let (exponent, below) = nested(self, at, Self::unary)?;
        self.node(Formula::Pow(Box::new(base), Box::new(exponent)), depth.max(below), at)
    }

    fn primary(&mut self) -> Parsed<(Formula, usize)> {
        let at = self.token();
        match at.kind {
            TokenKind::Number(value) => {
                self.advance();
                self.node(Formula::Number(value), 0, at)
            }
            TokenKind::Open => {
                self.advance();
                let inner = nested(self, at, Self::sum)?;
                self.expect(TokenKind::Close, "`)` or an operator")?;
                Ok(inner)
            }
            TokenKind::Name => self.name(),
            _ => {
                Err(self.unexpected("a number, a column (`x` for every one, `x0`, `x1`, … or a name) or `(`"))
            }
        }
    }

    /// A column, a function with its arguments, or `pi`.
    fn name(&mut self) -> Parsed<(Formula, usize)> {
        let at = self.advance();
        let name = self.written(at);
        if at.quoted {
            return self.node(Formula::Name(name), 0, at);
        }
        if self.peek() == TokenKind::Open {
            return self.call(&name, at);
        }
        let place = name.strip_prefix('x').filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()));
        let leaf = match (name.as_str(), place) {
            ("pi", _) => Formula::Number(std::f64::consts::PI),
            (_, Some("")) => Formula::Every,
            // An index in another notation, as in `x01`, or beyond any data is an ordinary name.
            (_, Some(digits)) if !(digits.len() > 1 && digits.starts_with('0')) && digits.len() < 10 => {
                Formula::Column(digits.parse().map_err(|_| self.unexpected("a column number"))?)
            }
            _ => Formula::Name(name),
        };
        self.node(leaf, 0, at)
    }

    fn call(&mut self, name: &str, at: Token) -> Parsed<(Formula, usize)> {
        let functions = || Function::ALL.into_iter().map(Function::name);
        let Some(function) = Function::ALL.into_iter().find(|f| f.name() == name) else {
            let problem = match Kind::from_name(name) {
                Some(kind) => FeatureProblem::NotAlone { map: kind.name() },
                None => FeatureProblem::UnknownFunction {
                    suggestion: nearest(name, functions()).map(str::to_owned),
                    name: self.shortened(at),
                    functions: functions().collect::<Vec<_>>().join(" "),
                },
            };
            return Err(self.error(problem, at));
        };
        let open = self.advance();
        let mut depth = 0;
        let mut arguments = Vec::new();
        while !self.eat(TokenKind::Close) {
            if !arguments.is_empty() {
                self.expect(TokenKind::Comma, "`)`, `,` or an operator")?;
            }
            let (argument, below) = nested(self, open, Self::sum)?;
            depth = depth.max(below);
            arguments.push(argument);
        }
        self.check_arguments(function, arguments.len(), at)?;
        self.node(Formula::Call(function, arguments), depth, at)
    }
}
