//! Limits on the size of kernels, so that no text can exhaust the stack, the memory or the time.

use super::expr::Expr;
use super::named::{Argument, Value};

/// Characters that a kernel text may have.
pub const MAX_CHARACTERS: usize = 65_536;

/// Characters of a kernel stored by this library: every kernel within [`MAX_NODES`] prints to fewer.
pub(super) const MAX_STORED_CHARACTERS: usize = 1 << 20;

/// Levels of an expression, and of brackets in its text.
pub const MAX_DEPTH: usize = 100;

/// Parts of a kernel: operators, atoms, hyper-parameter values and ranges of columns.
pub const MAX_NODES: usize = 20_000;

/// The largest column number of a subset.
pub(super) const MAX_COLUMN: usize = 1 << 24;

/// A composed kernel exceeds the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the kernel would have {nodes} parts on {depth} levels; at most {MAX_NODES} parts on {MAX_DEPTH} levels are allowed"
)]
#[non_exhaustive]
pub struct TooLarge {
    /// Its parts: operators, atoms, hyper-parameter values and ranges of columns.
    pub nodes: usize,
    /// Its levels.
    pub depth: usize,
}

/// Checks an expression against [`MAX_NODES`] and [`MAX_DEPTH`]. Uses no recursion, so that it accepts expressions of
/// any depth.
///
/// # Errors
/// If the expression is larger.
pub fn check_size(expr: &Expr) -> Result<(), TooLarge> {
    let (mut nodes, mut depth) = (0, 0);
    let mut waiting = vec![(expr, 1)];
    while let Some((expr, level)) = waiting.pop() {
        depth = depth.max(level);
        nodes += parts(expr);
        waiting.extend(expr.children().into_iter().map(|child| (child, level + 1)));
    }
    if nodes > MAX_NODES || depth > MAX_DEPTH { Err(TooLarge { nodes, depth }) } else { Ok(()) }
}

/// The parts that a node itself adds, without its children.
fn parts(expr: &Expr) -> usize {
    match expr {
        Expr::Columns(_, columns) => 1 + columns.0.len(),
        Expr::Named(named) => 1 + argument_parts(&named.arguments),
        _ => 1,
    }
}

/// The parts that the hyper-parameters of a named kernel add.
pub(super) fn argument_parts(arguments: &[Argument]) -> usize {
    arguments.iter().map(|argument| value_parts(&argument.value)).sum()
}

fn value_parts(value: &Value) -> usize {
    match value {
        Value::PerColumn(values) | Value::TuneOver(values) => 1 + values.len(),
        Value::TuneBetween(..) => 2,
        Value::WithPrior(value, _) => 2 + value_parts(value),
        Value::EachColumn(value) => 1 + value_parts(value),
        Value::Unknowns(each) => 1 + each.iter().map(value_parts).sum::<usize>(),
        Value::Number(_) | Value::Auto | Value::Tune => 1,
    }
}
