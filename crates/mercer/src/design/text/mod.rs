//! Text to feature map, by recursive descent.
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

use crate::kernel::{
    Function, MAX_CHARACTERS, MAX_DEPTH, MAX_NODES, Problem, TokenKind, first_token, nearest,
};

use super::FeatureMap;
use super::formula::{Formula, Formulas};

pub use error::{FeatureProblem, FeatureTextError};
use named::Kind;

type Parsed<T> = Result<T, FeatureTextError>;

#[derive(Debug, Clone, Copy)]
struct Token {
    kind: TokenKind,
    /// A name in backquotes, which `start` and `end` leave out.
    quoted: bool,
    start: usize,
    end: usize,
}

/// The feature map that `text` stands for. O(length) time and memory.
pub(in crate::design) fn parse(text: &str) -> Parsed<FeatureMap> {
    // A character has at most four bytes: a text far too long is refused without counting it.
    let limit = MAX_CHARACTERS;
    let length = if text.len() > 4 * limit { text.len() / 4 } else { text.chars().count() };
    if length > limit {
        let head: Vec<char> = text.chars().take(100).collect();
        return Err(FeatureTextError::new(FeatureProblem::TooLong { length, limit }, &head, 0));
    }
    let text: Vec<char> = text.chars().collect();
    let tokens = tokens(&text)?;
    let mut parser = Parser { text: &text, tokens, next: 0, nesting: 0, parts: 0 };
    let map = match parser.kind() {
        Some(kind) => parser.map(kind)?,
        None => parser.formulas()?,
    };
    match parser.peek() {
        TokenKind::End => Ok(map),
        _ => Err(parser.unexpected("an operator, `,` or the end of the text")),
    }
}

fn tokens(text: &[char]) -> Parsed<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while start < text.len() {
        if text[start].is_whitespace() {
            start += 1;
        } else if text[start] == '`' {
            let length = text[start + 1..].iter().position(|&c| c == '`');
            let Some(length) = length.filter(|&length| length > 0) else {
                return Err(FeatureTextError::new(FeatureProblem::OpenQuote, text, start));
            };
            let end = start + 1 + length;
            tokens.push(Token { kind: TokenKind::Name, quoted: true, start: start + 1, end });
            start = end + 1;
        } else {
            let (kind, length) = first_token(&text[start..]).map_err(|problem| {
                let problem = match problem {
                    Problem::NotFinite { value } => FeatureProblem::NotFinite { value },
                    _ => FeatureProblem::UnknownCharacter { found: text[start] },
                };
                FeatureTextError::new(problem, text, start)
            })?;
            tokens.push(Token { kind, quoted: false, start, end: start + length });
            start += length;
        }
    }
    tokens.push(Token { kind: TokenKind::End, quoted: false, start, end: start });
    Ok(tokens)
}

struct Parser<'t> {
    text: &'t [char],
    tokens: Vec<Token>,
    next: usize,
    nesting: usize,
    parts: usize,
}

impl Parser<'_> {
    fn token(&self) -> Token {
        self.tokens[self.next]
    }

    fn peek(&self) -> TokenKind {
        self.token().kind
    }

    /// The token after the next one; the end of the text follows itself.
    fn peek_second(&self) -> TokenKind {
        self.tokens[(self.next + 1).min(self.tokens.len() - 1)].kind
    }

    fn advance(&mut self) -> Token {
        let token = self.token();
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.peek() == kind;
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, kind: TokenKind, expected: &'static str) -> Parsed<Token> {
        if self.peek() == kind { Ok(self.advance()) } else { Err(self.unexpected(expected)) }
    }

    fn written(&self, token: Token) -> String {
        self.text[token.start..token.end].iter().collect()
    }

    fn error(&self, problem: FeatureProblem, at: Token) -> FeatureTextError {
        FeatureTextError::new(problem, self.text, at.start)
    }

    fn unexpected(&self, expected: &'static str) -> FeatureTextError {
        let token = self.token();
        let found = match token.kind {
            TokenKind::End => "the end of the text".into(),
            _ => format!("`{}`", self.short(token)),
        };
        self.error(FeatureProblem::Unexpected { expected, found }, token)
    }

    /// What a token covers, cut short.
    fn short(&self, token: Token) -> String {
        let written = self.written(token);
        match written.char_indices().nth(40) {
            Some((end, _)) => format!("{}…", &written[..end]),
            None => written,
        }
    }

    /// The kind of map that starts here.
    fn kind(&self) -> Option<Kind> {
        let at = self.token();
        let opens = matches!(self.peek_second(), TokenKind::Open | TokenKind::End);
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
        if at.kind != TokenKind::Name || self.peek_second() != TokenKind::Equals {
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
                name: self.short(at),
                known: kind.known(),
            };
            self.error(problem, at)
        })
    }

    /// A formula without columns, as its value.
    fn constant(&mut self) -> Parsed<f64> {
        let at = self.token();
        let formula = self.sum()?.0;
        let mut constant = true;
        formula.visit(&mut |part| {
            constant &= !matches!(part, Formula::Every | Formula::Column(_) | Formula::Name(_));
        });
        if !constant {
            let found = format!("`{}`", self.short(at));
            let expected = "a number: a parameter does not depend on columns";
            return Err(self.error(FeatureProblem::Unexpected { expected, found }, at));
        }
        let value = formula.values(&[], 1)[0];
        if !value.is_finite() {
            return Err(self.error(FeatureProblem::NotFinite { value: value.to_string() }, at));
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

    /// A node over operands of which the deepest is `depth` levels.
    fn node(&mut self, formula: Formula, depth: usize, at: Token) -> Parsed<(Formula, usize)> {
        self.parts += 1;
        if self.parts > MAX_NODES {
            return Err(self.error(FeatureProblem::TooManyParts { limit: MAX_NODES }, at));
        }
        if depth >= MAX_DEPTH {
            return Err(self.error(FeatureProblem::TooDeep { limit: MAX_DEPTH }, at));
        }
        Ok((formula, depth + 1))
    }

    /// Parses one level further down, within the limit that keeps the stack safe.
    fn nested<T>(&mut self, at: Token, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.nesting >= MAX_DEPTH {
            return Err(self.error(FeatureProblem::TooDeep { limit: MAX_DEPTH }, at));
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    fn sum(&mut self) -> Parsed<(Formula, usize)> {
        self.chain(Self::product, TokenKind::Plus, TokenKind::Minus, Formula::Sum)
    }

    fn product(&mut self) -> Parsed<(Formula, usize)> {
        self.chain(Self::unary, TokenKind::Star, TokenKind::Slash, Formula::Product)
    }

    /// Operands joined by an operator or its inverse; one alone is itself.
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
            let (inner, depth) = self.nested(at, Self::unary)?;
            return self.node(Formula::Neg(Box::new(inner)), depth, at);
        }
        let (base, depth) = self.primary()?;
        let at = self.token();
        if !self.eat(TokenKind::Caret) {
            return Ok((base, depth));
        }
        let (exponent, below) = self.nested(at, Self::unary)?;
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
                let inner = self.nested(at, Self::sum)?;
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
            // A place that `x` is not written before, as `x01`, or beyond any data is a name like others.
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
                    name: self.short(at),
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
            let (argument, below) = self.nested(open, Self::sum)?;
            depth = depth.max(below);
            arguments.push(argument);
        }
        let (right, expected) = match function.is_variadic() {
            true => (arguments.len() >= 2, "two or more arguments"),
            false => (arguments.len() == 1, "one argument"),
        };
        if !right {
            let found = arguments.len();
            let problem = FeatureProblem::ArgumentCount { function: function.name(), expected, found };
            return Err(self.error(problem, at));
        }
        self.node(Formula::Call(function, arguments), depth, at)
    }
}
