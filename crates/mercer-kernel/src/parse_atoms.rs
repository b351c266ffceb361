//! The parts of kernel text that name points and columns: `<x,z>`, `|x-z|`, `|x|`, `[0..3,7]`.

use super::cursor::SyntaxProblem;
use super::expr::{Columns, Expr};
use super::parse::{Parsed, Parser};
use super::parse_error::Problem;
use super::size::MAX_COLUMN;
use super::token::Kind;

impl Parser {
    /// `x` or `z`.
    fn point(&mut self, expected: &'static str) -> Parsed<char> {
        let token = self.token();
        match *self.characters(token) {
            [c @ ('x' | 'z')] => {
                self.advance();
                Ok(c)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// The other one of `x` and `z`.
    fn other_point(&mut self, first: char) -> Parsed<()> {
        let expected = if first == 'x' { "`z`" } else { "`x`" };
        let at = self.token();
        if self.point(expected)? == first {
            let found = self.describe(at);
            return Err(self.error(SyntaxProblem::Unexpected { expected, found }, at));
        }
        Ok(())
    }

    pub(super) fn inner_product(&mut self) -> Parsed<Expr> {
        let first = self.point("`x,z>`, the rest of an inner product")?;
        self.expect(Kind::Comma, "`,`")?;
        self.other_point(first)?;
        self.expect(Kind::Greater, "`>`")?;
        Ok(Expr::Dot)
    }

    pub(super) fn norm(&mut self) -> Parsed<Expr> {
        let first = self.point("`x-z|`, `x|` or `z|` (absolute values are written `abs(…)`)")?;
        if self.eat(Kind::Bar) {
            return Ok(if first == 'x' { Expr::NormX } else { Expr::NormZ });
        }
        self.expect(Kind::Minus, "`-` or `|`")?;
        self.other_point(first)?;
        self.expect(Kind::Bar, "`|`")?;
        let token = self.token();
        match *self.characters(token) {
            ['_', '1'] => {
                self.advance();
                Ok(Expr::Distance1)
            }
            ['_', ..] => Err(self.unexpected("`_1` or nothing after `|x-z|`")),
            _ => Ok(Expr::Distance),
        }
    }

    /// A choice of columns after its `[`.
    pub(super) fn columns(&mut self) -> Parsed<Columns> {
        let mut ranges = Vec::new();
        let mut places = Vec::new();
        loop {
            let at = self.token();
            let start = self.column()?;
            let end = if self.eat(Kind::To) { self.column()? } else { start + 1 };
            if start >= end {
                return Err(self.error(Problem::EmptyColumns { start, end }, at));
            }
            self.count(1, at)?;
            ranges.push(start..end);
            places.push((start, end, at));
            if !self.eat(Kind::Comma) {
                break;
            }
        }
        self.expect(Kind::CloseBracket, "`]`, `,` or `..`")?;
        places.sort_by_key(|place| place.0);
        for pair in places.windows(2) {
            if pair[1].0 < pair[0].1 {
                return Err(self.error(Problem::RepeatedColumn { column: pair[1].0 }, pair[1].2));
            }
        }
        Ok(Columns(ranges))
    }

    fn column(&mut self) -> Parsed<usize> {
        let token = self.token();
        match self.written(token).parse() {
            Ok(column) if column <= MAX_COLUMN && matches!(token.kind, Kind::Number(_)) => {
                self.advance();
                Ok(column)
            }
            _ if token.kind == Kind::Name => {
                Err(self
                    .unexpected("a column number, counted from 0: names of columns need data that has them"))
            }
            _ => Err(self.unexpected("a column number, counted from 0 and at most 16777216")),
        }
    }
}
