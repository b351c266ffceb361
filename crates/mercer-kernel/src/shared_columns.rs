//! Subsets of columns in canonical expressions: a subset shared by all operands is moved outside of them.

use std::collections::BTreeMap;

use super::expr::{Columns, Expr};

/// Operands grouped by their subset of columns; the first group has all columns.
pub(super) type Groups = BTreeMap<Vec<(usize, usize)>, Vec<Expr>>;

pub(super) fn key(columns: &Columns) -> Vec<(usize, usize)> {
    columns.0.iter().map(|range| (range.start, range.end)).collect()
}

fn from_key(key: Vec<(usize, usize)>) -> Columns {
    Columns(key.into_iter().map(|(start, end)| start..end).collect())
}

/// Combines grouped operands by `build`: inside their subset if they share one, otherwise group by group.
pub(super) fn regroup(mut groups: Groups, numbers: Vec<f64>, build: fn(Vec<f64>, Vec<Expr>) -> Expr) -> Expr {
    if groups.len() == 1
        && let Some((columns, operands)) = groups.pop_first()
    {
        let built = build(numbers, operands);
        return if columns.is_empty() { built } else { choose(built, from_key(columns)) };
    }
    let mut operands = groups.remove(&Vec::new()).unwrap_or_default();
    for (columns, group) in groups {
        operands.push(choose(build(Vec::new(), group), from_key(columns)));
    }
    build(numbers, operands)
}

/// `inner` on some columns.
pub(super) fn choose(inner: Expr, columns: Columns) -> Expr {
    match inner {
        Expr::Number(_) => inner,
        Expr::Columns(innermost, within) => match columns.compose(&within) {
            Some(composed) => choose(*innermost, composed),
            None => Expr::Columns(Box::new(Expr::Columns(innermost, within)), columns.joined()),
        },
        _ => {
            let columns = if knows_column_order(&inner) { columns.joined() } else { columns.sorted() };
            Expr::Columns(Box::new(inner), columns)
        }
    }
}

/// Whether the value can depend on the order of the columns: in lists and in subsets.
fn knows_column_order(expr: &Expr) -> bool {
    match expr {
        Expr::Columns(..) => true,
        Expr::Named(named) => named.arguments.iter().any(|a| a.value.listed().is_some()),
        _ => expr.children().into_iter().any(knows_column_order),
    }
}

/// Builds a node inside the subset of columns that all its operands except constants share, if there is one.
pub(super) fn share_columns(operands: Vec<Expr>, build: impl FnOnce(Vec<Expr>) -> Expr) -> Expr {
    let chosen = |operand: &Expr| match operand {
        Expr::Columns(_, columns) => Some(columns.clone()),
        _ => None,
    };
    let mut variable = operands.iter().filter(|o| !matches!(o, Expr::Number(_)));
    let Some(shared) = variable.next().and_then(chosen) else { return build(operands) };
    if !variable.all(|o| matches!(o, Expr::Columns(_, columns) if *columns == shared)) {
        return build(operands);
    }
    let inside = operands.into_iter().map(|operand| match operand {
        Expr::Columns(inner, _) => *inner,
        other => other,
    });
    choose(build(inside.collect()), shared)
}
