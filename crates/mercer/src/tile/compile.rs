//! From a kernel expression to a program: constants folded, common subexpressions and statistics shared.

use std::collections::HashMap;

use crate::kernel::lower::{Binary, Embedding, Kind, Lower, PointStatistic, Side, Special};
use crate::kernel::{EvalError, Expr, Function};

use super::group::Group;
use super::program::{Node, Statistic};

/// Builds a program node by node. A node equal to an earlier one is that node.
pub(super) struct Compiler {
    columns: Vec<usize>,
    mirror: bool,
    groups: Vec<Group>,
    statistics: Vec<Statistic>,
    nodes: Vec<Node>,
    known: HashMap<NodeKey, usize>,
}

/// A node with its numbers as bits, so that equal means same.
#[derive(PartialEq, Eq, Hash)]
struct NodeKey(std::mem::Discriminant<Node>, [u64; 4]);

impl From<Node> for NodeKey {
    fn from(node: Node) -> Self {
        let index = |i: usize| i as u64;
        let fields = match node {
            Node::Number(value) => [value.to_bits(), 0, 0, 0],
            Node::Pair(statistic) => [index(statistic), 0, 0, 0],
            Node::Point(what, side, group) => [what as u64, side as u64, index(group), 0],
            Node::SameRow => [0; 4],
            Node::Affine { of, scale, shift } => [index(of), scale.to_bits(), shift.to_bits(), 0],
            Node::Exp { of, slope, shift, scale } => {
                [index(of), slope.to_bits(), shift.to_bits(), scale.to_bits()]
            }
            Node::Sum(a, b)
            | Node::Product(a, b)
            | Node::Quotient(a, b)
            | Node::Power(a, b)
            | Node::Least(a, b)
            | Node::Greatest(a, b) => [index(a), index(b), 0, 0],
            Node::IntegerPower(a, n) => [index(a), n as u64, 0, 0],
            Node::Call(function, a) => [function as u64, index(a), 0, 0],
            Node::Matern { nu, squared } => [nu.to_bits(), index(squared), 0, 0],
            Node::ArcCosine { order, chord } => [u64::from(order), index(chord), 0, 0],
        };
        Self(std::mem::discriminant(&node), fields)
    }
}

/// Integer exponents up to this size are multiplied out.
const LARGEST_INTEGER_POWER: f64 = 64.0;

impl Compiler {
    pub fn new(ncols: usize) -> Self {
        Self {
            columns: (0..ncols).collect(),
            mirror: false,
            groups: Vec::new(),
            statistics: Vec::new(),
            nodes: Vec::new(),
            known: HashMap::new(),
        }
    }

    /// The node of k(z, x): that of k(x, z) itself if the expression is visibly symmetric.
    pub fn mirrored(&mut self, expr: &Expr) -> Result<usize, EvalError> {
        self.mirror = true;
        let root = self.expression(expr);
        self.mirror = false;
        root
    }

    /// The nodes that `roots` need, in order, and the groups and statistics they use; then the indices of the roots. A
    /// single root is the last node.
    pub fn finish(self, roots: &[usize]) -> (Vec<Group>, Vec<Statistic>, Vec<Node>, Vec<usize>) {
        let last = roots.iter().copied().max().unwrap_or(0);
        let mut needed = vec![false; last + 1];
        roots.iter().for_each(|&root| needed[root] = true);
        for i in (0..=last).rev() {
            if needed[i] {
                self.nodes[i].operands().for_each(|a| needed[a] = true);
            }
        }
        let mut place = vec![usize::MAX; last + 1];
        let mut nodes = Vec::new();
        for i in (0..=last).filter(|&i| needed[i]) {
            place[i] = nodes.len();
            nodes.push(renumbered(self.nodes[i], &place));
        }
        let mut statistics = Vec::new();
        for node in &mut nodes {
            if let Node::Pair(index) = node {
                let statistic = &self.statistics[*index];
                *index = statistics.iter().position(|s| s == statistic).unwrap_or(statistics.len());
                if *index == statistics.len() {
                    statistics.push(statistic.clone());
                }
            }
        }
        let outputs = roots.iter().map(|&root| place[root]).collect();
        (self.groups, statistics, nodes, outputs)
    }

    pub fn expression(&mut self, expr: &Expr) -> Result<usize, EvalError> {
        Ok(match expr {
            Expr::Number(value) => self.number(*value),
            Expr::Dot => self.statistic(Kind::Dot, Embedding::Plain),
            Expr::Distance => {
                let squared = self.statistic(Kind::SquaredDistance, Embedding::Plain);
                self.call(Function::Sqrt, squared)
            }
            Expr::Distance1 => self.statistic(Kind::Distance1, Embedding::Plain),
            Expr::NormX => self.point(PointStatistic::Norm, Side::X),
            Expr::NormZ => self.point(PointStatistic::Norm, Side::Z),
            Expr::Named(named) => named.family.lower(named, self)?,
            Expr::Columns(inner, columns) => {
                let available = self.columns.len();
                if columns.span() > available {
                    return Err(EvalError::MissingColumn { column: columns.span() - 1, available });
                }
                let chosen = columns.iter().map(|c| self.columns[c]).collect();
                let outer = std::mem::replace(&mut self.columns, chosen);
                let value = self.expression(inner);
                self.columns = outer;
                value?
            }
            Expr::Sum(terms) => self.fold(terms, 0.0, Self::sum)?,
            Expr::Product(factors) => self.fold(factors, 1.0, Self::product)?,
            Expr::Neg(inner) => {
                let inner = self.expression(inner)?;
                self.affine(inner, -1.0, 0.0)
            }
            Expr::Div(numerator, denominator) => {
                let (a, b) = (self.expression(numerator)?, self.expression(denominator)?);
                self.quotient(a, b)
            }
            Expr::Pow(base, exponent) => {
                let (a, b) = (self.expression(base)?, self.expression(exponent)?);
                self.power(a, b)
            }
            Expr::Call(Function::Min, arguments) => self.fold(arguments, f64::INFINITY, Self::least)?,
            Expr::Call(Function::Max, arguments) => {
                self.fold(arguments, f64::NEG_INFINITY, Self::greatest)?
            }
            Expr::Call(function, arguments) => {
                let argument = self.expression(&arguments[0])?;
                self.call(*function, argument)
            }
        })
    }

    fn group(&mut self, embedding: Embedding) -> usize {
        let group = Group { columns: self.columns.clone(), embedding };
        self.groups.iter().position(|g| *g == group).unwrap_or_else(|| {
            self.groups.push(group);
            self.groups.len() - 1
        })
    }

    fn fold(
        &mut self,
        terms: &[Expr],
        neutral: f64,
        combine: impl Fn(&mut Self, usize, usize) -> usize,
    ) -> Result<usize, EvalError> {
        let mut total = None;
        for term in terms {
            let term = self.expression(term)?;
            total = Some(match total {
                None => term,
                Some(so_far) => combine(self, so_far, term),
            });
        }
        Ok(total.unwrap_or_else(|| self.number(neutral)))
    }

    fn sum(&mut self, a: usize, b: usize) -> usize {
        match (self.nodes[a], self.nodes[b]) {
            (_, Node::Number(value)) => self.affine(a, 1.0, value),
            (Node::Number(value), _) => self.affine(b, 1.0, value),
            _ => self.node(Node::Sum(a.min(b), a.max(b))),
        }
    }

    fn product(&mut self, a: usize, b: usize) -> usize {
        match (self.nodes[a], self.nodes[b]) {
            (_, Node::Number(value)) => self.affine(a, value, 0.0),
            (Node::Number(value), _) => self.affine(b, value, 0.0),
            _ if a == b => self.integer_power(a, 2),
            _ => self.node(Node::Product(a.min(b), a.max(b))),
        }
    }

    fn quotient(&mut self, a: usize, b: usize) -> usize {
        match (self.nodes[a], self.nodes[b]) {
            (Node::Number(a), Node::Number(b)) => self.number(a / b),
            (_, Node::Number(value)) if value.recip().is_normal() => self.affine(a, value.recip(), 0.0),
            _ => self.node(Node::Quotient(a, b)),
        }
    }

    fn power(&mut self, a: usize, b: usize) -> usize {
        match (self.nodes[a], self.nodes[b]) {
            (Node::Number(base), Node::Number(exponent)) => self.number(base.powf(exponent)),
            (_, Node::Number(n)) if n.fract() == 0.0 && n.abs() <= LARGEST_INTEGER_POWER => {
                self.integer_power(a, n as i32)
            }
            _ => self.node(Node::Power(a, b)),
        }
    }

    fn integer_power(&mut self, a: usize, n: i32) -> usize {
        match self.nodes[a] {
            _ if n == 0 => self.number(1.0),
            _ if n == 1 => a,
            Node::Number(value) => self.number(value.powi(n)),
            Node::Call(Function::Sqrt, squared) if n % 2 == 0 && self.is_squared_distance(squared) => {
                self.integer_power(squared, n / 2)
            }
            _ => self.node(Node::IntegerPower(a, n)),
        }
    }

    /// Whether the node is never negative, so that √a² = a.
    fn is_squared_distance(&self, node: usize) -> bool {
        match self.nodes[node] {
            Node::Pair(index) => self.statistics[index].kind == Kind::SquaredDistance,
            _ => false,
        }
    }

    fn least(&mut self, a: usize, b: usize) -> usize {
        self.node(Node::Least(a.min(b), a.max(b)))
    }

    fn greatest(&mut self, a: usize, b: usize) -> usize {
        self.node(Node::Greatest(a.min(b), a.max(b)))
    }

    fn node(&mut self, node: Node) -> usize {
        let next = self.nodes.len();
        let index = *self.known.entry(node.into()).or_insert(next);
        if index == next {
            self.nodes.push(node);
        }
        index
    }
}

impl Lower for Compiler {
    fn columns(&self) -> usize {
        self.columns.len()
    }

    fn number(&mut self, value: f64) -> usize {
        self.node(Node::Number(value))
    }

    fn statistic(&mut self, kind: Kind, embedding: Embedding) -> usize {
        let statistic = Statistic { kind, group: self.group(embedding) };
        let index = self.statistics.iter().position(|s| *s == statistic).unwrap_or_else(|| {
            self.statistics.push(statistic);
            self.statistics.len() - 1
        });
        self.node(Node::Pair(index))
    }

    fn point(&mut self, what: PointStatistic, side: Side) -> usize {
        let side = match (side, self.mirror) {
            (Side::X, false) | (Side::Z, true) => Side::X,
            (Side::Z, false) | (Side::X, true) => Side::Z,
        };
        let group = self.group(Embedding::Plain);
        self.node(Node::Point(what, side, group))
    }

    fn same_row(&mut self) -> usize {
        self.node(Node::SameRow)
    }

    fn affine(&mut self, of: usize, scale: f64, shift: f64) -> usize {
        match self.nodes[of] {
            Node::Number(value) => self.number(scale * value + shift),
            Node::Affine { of, scale: s, shift: t } => self.affine(of, scale * s, scale * t + shift),
            Node::Exp { of, slope, shift: t, scale: s } if shift == 0.0 => {
                self.node(Node::Exp { of, slope, shift: t, scale: scale * s })
            }
            _ if scale == 1.0 && shift == 0.0 => of,
            _ => self.node(Node::Affine { of, scale, shift }),
        }
    }

    fn binary(&mut self, operation: Binary, a: usize, b: usize) -> usize {
        match operation {
            Binary::Sum => self.sum(a, b),
            Binary::Product => self.product(a, b),
            Binary::Quotient => self.quotient(a, b),
            Binary::Power => self.power(a, b),
            Binary::Least => self.least(a, b),
            Binary::Greatest => self.greatest(a, b),
        }
    }

    fn call(&mut self, function: Function, of: usize) -> usize {
        match (function, self.nodes[of]) {
            (_, Node::Number(value)) => self.number(function.apply(&[value])),
            (Function::Exp, Node::Affine { of, scale: slope, shift }) => {
                self.node(Node::Exp { of, slope, shift, scale: 1.0 })
            }
            (Function::Exp, _) => self.node(Node::Exp { of, slope: 1.0, shift: 0.0, scale: 1.0 }),
            _ => self.node(Node::Call(function, of)),
        }
    }

    fn special(&mut self, function: Special, of: usize) -> usize {
        self.node(match function {
            Special::Matern { nu } => Node::Matern { nu, squared: of },
            Special::ArcCosine { order } => Node::ArcCosine { order, chord: of },
        })
    }
}

/// The node with its operands renumbered.
fn renumbered(node: Node, place: &[usize]) -> Node {
    match node {
        Node::Number(_) | Node::Pair(_) | Node::Point(..) | Node::SameRow => node,
        Node::Affine { of, scale, shift } => Node::Affine { of: place[of], scale, shift },
        Node::Exp { of, slope, shift, scale } => Node::Exp { of: place[of], slope, shift, scale },
        Node::Sum(a, b) => Node::Sum(place[a], place[b]),
        Node::Product(a, b) => Node::Product(place[a], place[b]),
        Node::Quotient(a, b) => Node::Quotient(place[a], place[b]),
        Node::Power(a, b) => Node::Power(place[a], place[b]),
        Node::IntegerPower(a, n) => Node::IntegerPower(place[a], n),
        Node::Call(function, a) => Node::Call(function, place[a]),
        Node::Least(a, b) => Node::Least(place[a], place[b]),
        Node::Greatest(a, b) => Node::Greatest(place[a], place[b]),
        Node::Matern { nu, squared } => Node::Matern { nu, squared: place[squared] },
        Node::ArcCosine { order, chord } => Node::ArcCosine { order, chord: place[chord] },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::family::arc_cosine::ARC_COSINE;
    use crate::kernel::family::gaussian::GAUSSIAN;
    use crate::kernel::family::polynomial::POLYNOMIAL;
    use crate::kernel::family::rational_quadratic::RATIONAL_QUADRATIC;
    use crate::kernel::{Columns, FamilyId, Named};
    use crate::tile::Program;

    fn compiled(expr: Expr) -> Program {
        Program::compile_expr(&expr, 4).unwrap()
    }

    fn default(family: FamilyId) -> Expr {
        Expr::Named(Named::with_defaults(family))
    }

    #[test]
    fn equal_parts_are_computed_once() {
        let gaussian = default(GAUSSIAN);
        let program = compiled(Expr::Sum(vec![
            gaussian.clone(),
            Expr::Product(vec![Expr::Number(3.0), gaussian.clone()]),
            default(RATIONAL_QUADRATIC),
            Expr::Pow(Box::new(Expr::Distance), Box::new(Expr::Number(2.0))),
        ]));
        assert_eq!(program.statistics.len(), 1);
        assert_eq!(program.groups.len(), 1);
        assert!(!program.nodes.iter().any(|n| matches!(n, Node::Call(Function::Sqrt, _))), "√ of a square");
    }

    #[test]
    fn constants_fold_and_the_hot_chain_is_one_operation() {
        // 2·exp(−(3·|x−z|²)/4 + 1 − 1)·(8/4)
        let exponent = Expr::Sum(vec![
            Expr::Div(
                Box::new(Expr::Neg(Box::new(Expr::Product(vec![
                    Expr::Number(3.0),
                    Expr::Pow(Box::new(Expr::Distance), Box::new(Expr::Number(2.0))),
                ])))),
                Box::new(Expr::Number(4.0)),
            ),
            Expr::Number(1.0),
            Expr::Number(-1.0),
        ]);
        let program = compiled(Expr::Product(vec![
            Expr::Number(2.0),
            Expr::Call(Function::Exp, vec![exponent]),
            Expr::Div(Box::new(Expr::Number(8.0)), Box::new(Expr::Number(4.0))),
        ]));
        assert_eq!(program.nodes, [Node::Pair(0), Node::Exp { of: 0, slope: -0.75, shift: 0.0, scale: 4.0 }]);
    }

    #[test]
    fn symmetry_is_seen() {
        assert!(compiled(Expr::Product(vec![Expr::NormX, Expr::NormZ])).is_symmetric());
        assert!(compiled(default(ARC_COSINE)).is_symmetric());
        assert!(!compiled(Expr::Product(vec![Expr::NormX, Expr::Dot])).is_symmetric());
    }

    #[test]
    fn subsets_of_columns_share_statistics_by_the_columns_they_mean() {
        let on = |expr: Expr, range| Expr::Columns(Box::new(expr), Columns::from_ranges(vec![range]));
        let program = compiled(Expr::Sum(vec![
            on(Expr::Dot, 1..3),
            on(on(default(POLYNOMIAL), 1..3), 0..4),
            Expr::Dot,
        ]));
        assert_eq!(program.statistics.len(), 2);
    }
}
