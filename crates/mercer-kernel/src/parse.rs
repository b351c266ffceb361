//! Kernel text to expression, by recursive descent.
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
//! A minus directly before a number that is no base of a power belongs to the number, so that every finite
//! constant can be written: `1 - 2*a` is the sum of `1` and `-2*a`.

use std::ops::{Deref, DerefMut};

use super::cursor::{Cursor, SyntaxProblem, nested};
use super::eval;
use super::expr::{Expr, Function};
use super::family::{FAMILIES, FamilyId};
use super::named::Named;
use super::parse_error::{ParseError, Problem, nearest};
use super::size::{MAX_DEPTH, MAX_NODES, argument_parts};
use super::token::{Kind, Token};

/// An expression while it is built, with what its size and its constants need.
pub(super) struct Node {
    expr: Expr,
    depth: usize,
    constant: bool,
}

pub(super) type Parsed<T> = Result<T, ParseError>;

/// The expression that `text`, of at most `limit` characters, stands for.
///
/// O(length) time and memory.
pub(super) fn parse(text: &str, limit: usize) -> Parsed<Expr> {
    let cursor = Cursor::new(text, limit)?;
    let mut parser = Parser { cursor, nodes: 0, within_constant: false };
    let node = parser.sum()?;
    match parser.peek() {
        Kind::End => Ok(node.expr),
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
    /// Counts parts of the kernel and refuses one too many.
    pub(super) fn count(&mut self, parts: usize, at: Token) -> Parsed<()> {
        self.nodes += parts;
        if self.nodes > MAX_NODES {
            return Err(self.error(Problem::TooManyNodes { limit: MAX_NODES }, at));
        }
        Ok(())
    }

    fn leaf(&mut self, expr: Expr, at: Token) -> Parsed<Node> {
        self.count(1, at)?;
        let constant = matches!(expr, Expr::Number(_));
        Ok(Node { expr, depth: 1, constant })
    }

    /// A node over children of which the deepest is `depth` levels; a constant must come out finite.
    fn branch(&mut self, expr: Expr, depth: usize, constant: bool, at: Token) -> Parsed<Node> {
        self.count(1, at)?;
        if depth >= MAX_DEPTH {
            return Err(self.error(SyntaxProblem::TooDeep { limit: MAX_DEPTH }, at));
        }
        if let Some(value) = constant.then(|| eval::constant(&expr)).flatten()
            && !value.is_finite()
        {
            return Err(self.error(SyntaxProblem::NotFinite { value: value.to_string() }, at));
        }
        Ok(Node { expr, depth: depth + 1, constant })
    }

    fn sum(&mut self) -> Parsed<Node> {
        let first = self.product()?;
        let at = self.token();
        if !matches!(at.kind, Kind::Plus | Kind::Minus) {
            return Ok(first);
        }
        let (mut depth, mut constant) = (first.depth, first.constant);
        let mut terms = vec![first.expr];
        loop {
            let sign = self.token();
            let term = match sign.kind {
                Kind::Plus => {
                    self.advance();
                    self.product()?
                }
                // The minus stays for `product` to read where it belongs to a number.
                Kind::Minus if self.minus_belongs_to_number() => self.product()?,
                Kind::Minus => {
                    self.advance();
                    let term = self.product()?;
                    self.branch(Expr::Neg(Box::new(term.expr)), term.depth, term.constant, sign)?
                }
                _ => break,
            };
            depth = depth.max(term.depth);
            constant &= term.constant;
            terms.push(term.expr);
        }
        self.branch(Expr::Sum(terms), depth, constant, at)
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
                    result = self.branch(quotient, depth, constant, at)?;
                }
                _ => return Ok(result),
            }
        }
    }

    /// The product of `first` and every factor up to the next sign that is no `*`.
    fn factors(&mut self, first: Node) -> Parsed<Node> {
        let at = self.token();
        let (mut depth, mut constant) = (first.depth, first.constant);
        let mut factors = vec![first.expr];
        while self.eat(Kind::Star) {
            let factor = self.unary()?;
            depth = depth.max(factor.depth);
            constant &= factor.constant;
            factors.push(factor.expr);
        }
        self.branch(Expr::Product(factors), depth, constant, at)
    }

    fn unary(&mut self) -> Parsed<Node> {
        let at = self.token();
        if self.minus_belongs_to_number() {
            self.advance();
            if let Kind::Number(value) = self.advance().kind {
                return self.leaf(Expr::Number(-value), at);
            }
        }
        if self.eat(Kind::Minus) {
            let inner = nested(self, at, Self::unary)?;
            return self.branch(Expr::Neg(Box::new(inner.expr)), inner.depth, inner.constant, at);
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
        self.branch(Expr::Pow(Box::new(base.expr), Box::new(exponent.expr)), depth, constant, at)
    }

    fn postfix(&mut self) -> Parsed<Node> {
        let mut node = self.primary()?;
        loop {
            let at = self.token();
            if !self.eat(Kind::OpenBracket) {
                return Ok(node);
            }
            let columns = self.columns()?;
            node = self.branch(Expr::Columns(Box::new(node.expr), columns), node.depth, node.constant, at)?;
        }
    }

    fn primary(&mut self) -> Parsed<Node> {
        let at = self.token();
        match at.kind {
            Kind::Number(value) => {
                self.advance();
                self.leaf(Expr::Number(value), at)
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
                self.leaf(expr, at)
            }
            Kind::Bar => {
                self.advance();
                let expr = self.norm()?;
                self.leaf(expr, at)
            }
            Kind::Name => self.name(),
            _ => Err(self.unexpected("a kernel, a number, `<x,z>`, `|x-z|` or `(`")),
        }
    }

    /// A named kernel or a function with its arguments.
    fn name(&mut self) -> Parsed<Node> {
        let at = self.token();
        let name = self.written(at);
        if let Some(family) = FamilyId::from_name(&name) {
            // Refused here already, so that named kernels cannot nest inside one another's hyper-parameters.
            if self.within_constant {
                return Err(self.error(Problem::NotConstant, at));
            }
            self.advance();
            // Constants are folded: what a kernel's size counts is their values, as when it is printed.
            let nodes = self.nodes;
            let arguments = self.hyper_parameters(family)?;
            self.nodes = nodes;
            self.count(argument_parts(&arguments), at)?;
            return self.leaf(Expr::Named(Named { family, arguments }), at);
        }
        if let Some(function) = Function::ALL.into_iter().find(|f| f.name() == name) {
            self.advance();
            return self.call(function, at);
        }
        match name.as_str() {
            "pi" => {
                self.advance();
                self.leaf(Expr::Number(std::f64::consts::PI), at)
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
            suggestion: nearest(&name, kernels().chain(functions())),
            name: name.chars().take(40).collect(),
            kernels: kernels().collect::<Vec<_>>().join(" "),
            functions: functions().collect::<Vec<_>>().join(" "),
        };
        self.error(problem, at)
    }

    fn call(&mut self, function: Function, at: Token) -> Parsed<Node> {
        let open = self.expect(Kind::Open, "`(` after the name of a function")?;
        let (mut depth, mut constant) = (0, true);
        let mut arguments = Vec::new();
        while !self.eat(Kind::Close) {
            if !arguments.is_empty() {
                self.expect(Kind::Comma, "`)`, `,` or an operator")?;
            }
            let argument = nested(self, open, Self::sum)?;
            depth = depth.max(argument.depth);
            constant &= argument.constant;
            arguments.push(argument.expr);
        }
        self.check_arguments(function, arguments.len(), at)?;
        self.branch(Expr::Call(function, arguments), depth, constant, at)
    }

    /// A constant, folded to its value.
    pub(super) fn constant(&mut self) -> Parsed<f64> {
        let at = self.token();
        self.within_constant = true;
        let node = nested(self, at, Self::sum)?;
        self.within_constant = false;
        eval::constant(&node.expr).ok_or_else(|| self.error(Problem::NotConstant, at))
    }
}
