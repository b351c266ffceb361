//! The parser of kernel text, by recursive descent.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = unary (("*" | "/") unary)*
//! unary   = "-" unary | power
//! power   = postfix ("^" unary)?
//! postfix = primary columns*
//! columns = "[" range ("," range)* "]"            range = integer (".." integer)?
//! primary = number | "pi" | "(" sum ")" | atom | function "(" sum ("," sum)* ")" | named
//! atom    = "<x,z>" | "|x-z|" | "|x-z|_1" | "|x|" | "|z|"
//! ```
//!
//! A minus directly before a number that is not the base of a power belongs to the number, so that every finite
//! constant can be written: `1 - 2*a` is the sum of `1` and `-2*a`.

use std::ops::{Deref, DerefMut};

use super::cursor::{Cursor, SyntaxProblem, nested};
use super::eval;
use super::expr::{Expr, Function};
use super::family::{FAMILIES, FamilyId};
use super::named::{Argument, Named};
use super::parse_error::{ParseError, Problem, nearest};
use super::size::{MAX_DEPTH, MAX_NODES, argument_parts};
use super::token::{Kind, Token};
use crate::formula::{Formula, Written};

/// An expression under construction, in doubles and as written, with its size and constants.
pub(super) struct Node {
    expr: Expr,
    written: Formula,
    depth: usize,
    constant: bool,
}

pub(super) type Parsed<T> = Result<T, ParseError>;

/// Parses `text`, of at most `limit` characters, to an expression in doubles and as written.
///
/// O(length) time and memory.
pub(super) fn parse(text: &str, limit: usize) -> Parsed<(Expr, Formula)> {
    let cursor = Cursor::new(text, limit)?;
    let mut parser = Parser { cursor, nodes: 0, within_constant: false };
    let node = parser.sum()?;
    match parser.peek() {
        Kind::End => Ok((node.expr, node.written)),
        _ => Err(parser.unexpected("an operator or the end of the text")),
    }
}

pub(super) struct Parser {
    cursor: Cursor<Problem>,
    nodes: usize,
    within_constant: bool,
}

impl Deref for Parser {
    type Target = Cursor<Problem>;

    fn deref(&self) -> &Cursor<Problem> {
        &self.cursor
    }
}

impl DerefMut for Parser {
    fn deref_mut(&mut self) -> &mut Cursor<Problem> {
        &mut self.cursor
    }
}

impl Parser {
    /// Counts parts of the kernel and rejects more than the limit.
    pub(super) fn count(&mut self, parts: usize, at: Token) -> Parsed<()> {
        self.nodes += parts;
        if self.nodes > MAX_NODES {
            return Err(self.error(Problem::TooManyNodes { limit: MAX_NODES }, at));
        }
        Ok(())
    }

    fn leaf(&mut self, expr: Expr, written: Formula, at: Token) -> Parsed<Node> {
        self.count(1, at)?;
        let constant = matches!(expr, Expr::Number(_));
        Ok(Node { expr, written, depth: 1, constant })
    }

    /// A node over children, the deepest of which has `depth` levels; a constant must be finite.
    fn branch(
        &mut self,
        (expr, written): (Expr, Formula),
        depth: usize,
        constant: bool,
        at: Token,
    ) -> Parsed<Node> {
        self.count(1, at)?;
        if depth >= MAX_DEPTH {
            return Err(self.error(SyntaxProblem::TooDeep { limit: MAX_DEPTH }, at));
        }
        if let Some(value) = constant.then(|| eval::constant(&expr)).flatten()
            && !value.is_finite()
        {
            return Err(self.error(SyntaxProblem::NotFinite { value: value.to_string() }, at));
        }
        Ok(Node { expr, written, depth: depth + 1, constant })
    }

    fn sum(&mut self) -> Parsed<Node> {
        let first = self.product()?;
        let at = self.token();
        if !matches!(at.kind, Kind::Plus | Kind::Minus) {
            return Ok(first);
        }
        let (mut depth, mut constant) = (first.depth, first.constant);
        let (mut terms, mut written) = (vec![first.expr], vec![first.written]);
        loop {
            let sign = self.token();
            let term = match sign.kind {
                Kind::Plus => {
                    self.advance();
                    self.product()?
                }
                // If the minus belongs to a number, `product` reads it.
                Kind::Minus if self.minus_belongs_to_number() => self.product()?,
                Kind::Minus => {
                    self.advance();
                    let term = self.product()?;
                    self.negated(term, sign)?
                }
                _ => break,
            };
            depth = depth.max(term.depth);
            constant &= term.constant;
            terms.push(term.expr);
            written.push(term.written);
        }
        self.branch((Expr::Sum(terms), Formula::Sum(written)), depth, constant, at)
    }

    fn negated(&mut self, node: Node, at: Token) -> Parsed<Node> {
        let both = (Expr::Neg(Box::new(node.expr)), Formula::Neg(Box::new(node.written)));
        self.branch(both, node.depth, node.constant, at)
    }

    fn product(&mut self) -> Parsed<Node> {
        let mut result = self.unary()?;
        loop {
            let at = self.token();
            match at.kind {
                Kind::Star => result = self.factors(result)?,
                Kind::Slash => {
                    self.advance();
                    let divisor = self.unary()?;
                    let depth = result.depth.max(divisor.depth);
                    let constant = result.constant && divisor.constant;
                    let quotient = Expr::Div(Box::new(result.expr), Box::new(divisor.expr));
                    let written = Formula::Div(Box::new(result.written), Box::new(divisor.written));
                    result = self.branch((quotient, written), depth, constant, at)?;
                }
                _ => return Ok(result),
            }
        }
    }

    /// The product of `first` and every factor up to the next operator other than `*`.
    fn factors(&mut self, first: Node) -> Parsed<Node> {
        let at = self.token();
        let (mut depth, mut constant) = (first.depth, first.constant);
        let (mut factors, mut written) = (vec![first.expr], vec![first.written]);
        while self.eat(Kind::Star) {
            let factor = self.unary()?;
            depth = depth.max(factor.depth);
            constant &= factor.constant;
            factors.push(factor.expr);
            written.push(factor.written);
        }
        self.branch((Expr::Product(factors), Formula::Product(written)), depth, constant, at)
    }

    fn unary(&mut self) -> Parsed<Node> {
        let at = self.token();
        if self.minus_belongs_to_number() {
            self.advance();
            let number = self.advance();
            if let Kind::Number(value) = number.kind {
                let written = match Formula::literal(&self.written(number)) {
                    Formula::Number(q) => Formula::Number(-q),
                    other => other,
                };
                return self.leaf(Expr::Number(-value), written, at);
            }
        }
        if self.eat(Kind::Minus) {
            let inner = nested(self, at, Self::unary)?;
            return self.negated(inner, at);
        }
        self.power()
    }

    fn minus_belongs_to_number(&self) -> bool {
        let after = self.peek_ahead(2);
        self.peek() == Kind::Minus
            && matches!(self.peek_ahead(1), Kind::Number(_))
            && !matches!(after, Kind::Caret | Kind::OpenBracket)
    }

    fn power(&mut self) -> Parsed<Node> {
        let base = self.postfix()?;
        let at = self.token();
        if !self.eat(Kind::Caret) {
            return Ok(base);
        }
        let exponent = nested(self, at, Self::unary)?;
        let depth = base.depth.max(exponent.depth);
        let constant = base.constant && exponent.constant;
        let power = Expr::Pow(Box::new(base.expr), Box::new(exponent.expr));
        let written = Formula::Pow(Box::new(base.written), Box::new(exponent.written));
        self.branch((power, written), depth, constant, at)
    }

    fn postfix(&mut self) -> Parsed<Node> {
        let mut node = self.primary()?;
        loop {
            let at = self.token();
            if !self.eat(Kind::OpenBracket) {
                return Ok(node);
            }
            let columns = self.columns()?;
            let written = Formula::Columns(Box::new(node.written), columns.clone());
            let chosen = Expr::Columns(Box::new(node.expr), columns);
            node = self.branch((chosen, written), node.depth, node.constant, at)?;
        }
    }

    fn primary(&mut self) -> Parsed<Node> {
        let at = self.token();
        match at.kind {
            Kind::Number(value) => {
                self.advance();
                let written = Formula::literal(&self.written(at));
                self.leaf(Expr::Number(value), written, at)
            }
            Kind::Open => {
                self.advance();
                let inner = nested(self, at, Self::sum)?;
                self.expect(Kind::Close, "`)` or an operator")?;
                Ok(inner)
            }
            Kind::Less => {
                self.advance();
                let expr = self.inner_product()?;
                let written = Formula::of(&expr);
                self.leaf(expr, written, at)
            }
            Kind::Bar => {
                self.advance();
                let expr = self.norm()?;
                let written = Formula::of(&expr);
                self.leaf(expr, written, at)
            }
            Kind::Name => self.name(),
            Kind::Question if !self.within_constant => self.unknown_number(),
            _ => Err(self.unexpected("a kernel, a number, `<x,z>`, `|x-z|` or `(`")),
        }
    }

    /// `?` as a number: `const(value=?)`.
    fn unknown_number(&mut self) -> Parsed<Node> {
        let at = self.token();
        self.advance();
        let family = crate::family::constant::CONSTANT;
        let (value, exact) = self.unknown_value(family)?;
        let named = Named { family, arguments: vec![Argument { spelling: 0, value }] };
        let written = Formula::Named(Written { family, parameters: vec![(0, exact)], symbol: 0 });
        self.leaf(Expr::Named(named), written, at)
    }

    /// A named kernel or a function with its arguments.
    fn name(&mut self) -> Parsed<Node> {
        let at = self.token();
        let name = self.written(at);
        if let Some(family) = FamilyId::from_name(&name) {
            // Rejected here, so that named kernels cannot nest inside one another's hyper-parameters.
            if self.within_constant {
                return Err(self.error(Problem::NotConstant, at));
            }
            self.advance();
            // Constants are folded: the size of a kernel counts their values, as when it is printed.
            let nodes = self.nodes;
            let (arguments, parameters) = self.hyper_parameters(family)?;
            self.nodes = nodes;
            self.count(argument_parts(&arguments), at)?;
            let written = Formula::Named(Written { family, parameters, symbol: 0 });
            return self.leaf(Expr::Named(Named { family, arguments }), written, at);
        }
        if let Some(function) = Function::ALL.into_iter().find(|f| f.name() == name) {
            self.advance();
            return self.call(function, at);
        }
        match name.as_str() {
            "pi" => {
                self.advance();
                self.leaf(Expr::Number(std::f64::consts::PI), Formula::Pi, at)
            }
            "x" | "z" => {
                Err(self.unexpected("a number: points occur only in `<x,z>`, `|x-z|`, `|x|`, `|z|`"))
            }
            _ => Err(self.unknown_name(name, at)),
        }
    }

    fn unknown_name(&self, name: String, at: Token) -> ParseError {
        let kernels = || FAMILIES.iter().map(|family| family.name());
        let functions = || Function::ALL.into_iter().map(Function::name);
        let problem = Problem::UnknownName {
            // `scale` in scikit-learn.
            suggestion: match name.as_str() {
                "scale" => Some("auto"),
                name => nearest(name, kernels().chain(functions())),
            },
            name: name.chars().take(40).collect(),
            kernels: kernels().collect::<Vec<_>>().join(" "),
            functions: functions().collect::<Vec<_>>().join(" "),
        };
        self.error(problem, at)
    }

    fn call(&mut self, function: Function, at: Token) -> Parsed<Node> {
        let open = self.expect(Kind::Open, "`(` after the name of a function")?;
        let (mut depth, mut constant) = (0, true);
        let (mut arguments, mut written) = (Vec::new(), Vec::new());
        while !self.eat(Kind::Close) {
            if !arguments.is_empty() {
                self.expect(Kind::Comma, "`)`, `,` or an operator")?;
            }
            let argument = nested(self, open, Self::sum)?;
            depth = depth.max(argument.depth);
            constant &= argument.constant;
            arguments.push(argument.expr);
            written.push(argument.written);
        }
        self.check_arguments(function, arguments.len(), at)?;
        self.branch((Expr::Call(function, arguments), Formula::Call(function, written)), depth, constant, at)
    }

    /// A constant, folded to its value, and as written.
    pub(super) fn constant(&mut self) -> Parsed<(f64, Formula)> {
        let at = self.token();
        self.within_constant = true;
        let node = nested(self, at, Self::sum)?;
        self.within_constant = false;
        let value = eval::constant(&node.expr).ok_or_else(|| self.error(Problem::NotConstant, at))?;
        Ok((value, node.written))
    }
}
