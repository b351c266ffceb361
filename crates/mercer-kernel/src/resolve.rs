//! Open hyper-parameters: `auto`, resolved from data, and `?`, from a search; and the columns that a kernel uses.

use std::rc::Rc;

use super::Kernel;
use super::error::EvalError;
use super::expr::{Columns, Expr};
use super::family::FamilyId;
use super::named::{Allowed, Auto, Named, Prior, Search, Value};

/// The scales of the data that `auto` needs.
pub trait Scales {
    /// The median distance between rows, over these columns of the data (all where none are named).
    fn median_distance(&self, columns: Option<&[usize]>) -> f64;

    /// 1/(d·variance of all entries), over these columns of the data (all where none are named).
    fn inverse_variance(&self, columns: Option<&[usize]>) -> f64;

    /// The number of columns of the data.
    fn columns(&self) -> usize;
}

/// Why hyper-parameters could not be filled in.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// A value outside of the hyper-parameter's range.
    #[error("{family}: {parameter} must be {allowed}, received {value}")]
    OutOfRange {
        /// The named kernel.
        family: &'static str,
        /// Its hyper-parameter.
        parameter: &'static str,
        /// The numbers it takes.
        allowed: &'static str,
        /// The number received.
        value: f64,
    },
    /// The data gives no usable number, for example because all its rows are equal.
    #[error(
        "{family}: {parameter}=auto came out as {value}, but it must be {allowed}; give a number instead"
    )]
    NoScale {
        /// The named kernel.
        family: &'static str,
        /// Its hyper-parameter.
        parameter: &'static str,
        /// The numbers it takes.
        allowed: &'static str,
        /// The value from the data.
        value: f64,
    },
    /// The number of values differs from that of the hyper-parameters to tune.
    #[error("the kernel has {expected} hyper-parameters to tune, received {received} values")]
    Count {
        /// Hyper-parameters to tune.
        expected: usize,
        /// Values received.
        received: usize,
    },
    /// A prior in a search, which does not use it.
    #[error(
        "{family}: {parameter} has a prior, which Gaussian processes use and a search does not: write ? or ?lo..hi"
    )]
    Prior {
        /// The named kernel.
        family: &'static str,
        /// Its hyper-parameter.
        parameter: &'static str,
    },
    /// One unknown per column, before the number of columns is known.
    #[error("{family}: {parameter}=[?] is one unknown per column, and their number follows from the data")]
    EachColumn {
        /// The named kernel.
        family: &'static str,
        /// Its hyper-parameter.
        parameter: &'static str,
    },
    /// A hyper-parameter that has no derivative.
    #[error(
        "{family}: {parameter} is a choice and has no derivative, so it cannot be learnt with the others: give it a number"
    )]
    NoDerivative {
        /// The named kernel.
        family: &'static str,
        /// Its hyper-parameter.
        parameter: &'static str,
    },
    /// An unknown inside of a function that has a corner.
    #[error(
        "an unknown inside of {function} has no derivative everywhere, so it cannot be learnt: give it a number"
    )]
    Corner {
        /// `min` or `max`.
        function: &'static str,
    },
    /// A subset uses columns that its outer subset does not have.
    #[error(transparent)]
    Columns(#[from] EvalError),
}

/// A hyper-parameter to tune: a `?` in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Tunable {
    /// The way from the root to its named kernel, by operand numbers as in [`Expr::children`].
    pub path: Vec<usize>,
    /// The columns of the data that its kernel uses; all if none are named.
    pub columns: Option<Vec<usize>>,
    /// Its named kernel.
    pub family: FamilyId,
    /// Its name.
    pub parameter: &'static str,
    /// Its index among the slots of the family.
    pub slot: usize,
    /// The column it belongs to, counted among the columns that its kernel uses, if there is one unknown per column.
    pub column: Option<usize>,
    /// The value in the text: [`Value::Tune`], [`Value::TuneBetween`], [`Value::TuneOver`], or [`Value::EachColumn`]
    /// where the number of columns is not known yet.
    pub value: Value,
    /// Its prior, if the text gives one.
    pub prior: Option<Prior>,
    /// The numbers it may take.
    pub allowed: Allowed,
    default_search: &'static Search,
    auto: Option<Auto>,
}

/// The values to search for one hyper-parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum SearchSpace {
    /// Between these numbers, on a log scale.
    Between(f64, f64),
    /// One of these.
    OneOf(Vec<f64>),
}

impl Tunable {
    /// The values to search, with the default range of a bare `?` placed by the data.
    #[must_use]
    pub fn search_space(&self, scales: &dyn Scales) -> SearchSpace {
        match (&self.value, self.default_search) {
            (Value::TuneBetween(low, high), _) => SearchSpace::Between(*low, *high),
            (Value::TuneOver(values), _) => SearchSpace::OneOf(values.clone()),
            (_, Search::Between(low, high)) => SearchSpace::Between(*low, *high),
            (_, Search::OneOf(values)) => SearchSpace::OneOf(values.to_vec()),
            (_, Search::AroundAuto(low, high)) => {
                let centre = self.auto.map_or(1.0, |auto| scale(auto, scales, self.columns.as_deref()));
                SearchSpace::Between(low * centre, high * centre)
            }
        }
    }
}

fn scale(auto: Auto, scales: &dyn Scales, columns: Option<&[usize]>) -> f64 {
    match auto {
        Auto::MedianDistance => scales.median_distance(columns),
        Auto::InverseVariance => scales.inverse_variance(columns),
    }
}

impl Kernel {
    /// The least number of columns of points on which the kernel can be evaluated; 0 if any number is enough.
    #[must_use]
    pub fn required_columns(&self) -> usize {
        required_columns(&self.expr)
    }

    /// Checks that the kernel can be evaluated on points of `ncols` columns.
    ///
    /// # Errors
    /// If a subset uses a column that does not exist, or if the length of a list differs from the number of columns.
    pub fn check_columns(&self, ncols: usize) -> Result<(), EvalError> {
        check_columns(&self.expr, ncols)
    }

    /// Whether every hyper-parameter has its value: none is `auto` or `?`.
    #[must_use]
    pub fn is_resolved(&self) -> bool {
        let mut open = false;
        visit_named(&self.expr, &mut |named| open |= named.arguments.iter().any(|a| a.value.is_open()));
        !open
    }

    /// The kernel with every `auto` replaced by its number, and every `[?]` by one `?` per column; each `?` stays.
    ///
    /// [`check_columns`](Self::check_columns) must be called first: this does not check that the data has the columns.
    ///
    /// # Errors
    /// If the data gives no usable number, or if nested subsets do not fit into one another.
    pub fn resolve_auto(&self, scales: &dyn Scales) -> Result<Self, ResolveError> {
        let expr = rewrite(&self.expr, &Scope::default(), &mut |named, scope| {
            let mut resolved = named.clone();
            for slot in 0..named.arguments.len() {
                let spelling = named.spelling(slot);
                if let Value::EachColumn(unknown) = &named.arguments[slot].value {
                    let columns = scope.columns.as_ref().map_or_else(|| scales.columns(), |c| c.len());
                    // For one column `[?]` becomes a single unknown, as it is printed and read.
                    resolved.arguments[slot].value = match columns {
                        1 => (**unknown).clone(),
                        _ => Value::Unknowns(vec![(**unknown).clone(); columns]),
                    };
                }
                if let (Value::Auto, Some(auto)) = (&named.arguments[slot].value, spelling.auto) {
                    let value = scale(auto, scales, scope.columns().as_deref());
                    if !spelling.allowed.contains(value) {
                        return Err(ResolveError::NoScale {
                            family: named.family.name(),
                            parameter: spelling.name,
                            allowed: spelling.allowed.describe(),
                            value,
                        });
                    }
                    resolved.arguments[slot].value = Value::Number(value);
                }
            }
            Ok(resolved)
        })?;
        Ok(self.rewritten(expr))
    }

    /// The kernel with another expression; the formula as written is kept if the expression is the same.
    fn rewritten(&self, expr: Expr) -> Self {
        if expr == self.expr { self.clone() } else { Self::from_expr(expr) }
    }

    /// Every hyper-parameter to tune, in the order of the text.
    ///
    /// # Errors
    /// If nested subsets do not fit into one another.
    pub fn tunables(&self) -> Result<Vec<Tunable>, ResolveError> {
        let mut found = Vec::new();
        rewrite(&self.expr, &Scope::default(), &mut |named, scope| {
            for slot in (0..named.arguments.len()).filter(|&slot| named.arguments[slot].value.is_unknown()) {
                let spelling = named.spelling(slot);
                let mut tunable = |value: &Value, column: Option<usize>| {
                    let (value, prior) = value.split_prior();
                    let within = |c: usize| scope.columns().map_or(c, |columns| columns[c]);
                    let seen = column.map_or_else(|| scope.columns(), |c| Some(vec![within(c)]));
                    found.push(Tunable {
                        path: scope.path.clone(),
                        columns: seen,
                        family: named.family,
                        parameter: spelling.name,
                        slot,
                        column,
                        value: value.clone(),
                        prior,
                        allowed: spelling.allowed,
                        default_search: &spelling.search,
                        auto: spelling.auto,
                    });
                };
                match &named.arguments[slot].value {
                    Value::Unknowns(each) => {
                        let available = scope.columns.as_ref().map_or(each.len(), |c| c.len());
                        if available != each.len() {
                            return Err(list_length(named, slot, each.len(), available).into());
                        }
                        each.iter().enumerate().for_each(|(c, value)| tunable(value, Some(c)));
                    }
                    value => tunable(value, None),
                }
            }
            Ok(named.clone())
        })?;
        Ok(found)
    }

    /// The kernel with its [`tunables`](Self::tunables) set to these values, in that order; each `auto` stays.
    ///
    /// # Errors
    /// If their number differs, or if a value is outside of its hyper-parameter's range.
    pub fn with_values(&self, values: &[f64]) -> Result<Self, ResolveError> {
        let mut used = 0;
        let expr = rewrite(&self.expr, &Scope::default(), &mut |named, _| {
            let mut filled = named.clone();
            for slot in (0..named.arguments.len()).filter(|&slot| named.arguments[slot].value.is_unknown()) {
                let spelling = named.spelling(slot);
                let (family, parameter) = (named.family.name(), spelling.name);
                let count = match &named.arguments[slot].value {
                    Value::EachColumn(_) => return Err(ResolveError::EachColumn { family, parameter }),
                    value => value.listed().unwrap_or(1),
                };
                used += count;
                // Missing values are counted to the end, for the expected number in the message.
                let Some(given) = values.get(used - count..used) else { continue };
                if let Some(&value) = given.iter().find(|value| !spelling.allowed.contains(**value)) {
                    let allowed = spelling.allowed.describe();
                    return Err(ResolveError::OutOfRange { family, parameter, allowed, value });
                }
                filled.arguments[slot].value = match named.arguments[slot].value {
                    Value::Unknowns(_) => Value::PerColumn(given.to_vec()),
                    _ => Value::Number(given[0]),
                };
            }
            Ok(filled)
        })?;
        if used != values.len() {
            return Err(ResolveError::Count { expected: used, received: values.len() });
        }
        Ok(self.rewritten(expr))
    }
}

fn required_columns(expr: &Expr) -> usize {
    match expr {
        Expr::Columns(_, columns) => columns.span(),
        Expr::Named(named) => {
            named.arguments.iter().filter_map(|argument| argument.value.listed()).max().unwrap_or(0)
        }
        _ => expr.children().into_iter().map(required_columns).max().unwrap_or(0),
    }
}

fn check_columns(expr: &Expr, ncols: usize) -> Result<(), EvalError> {
    match expr {
        Expr::Columns(inner, columns) => {
            if columns.span() > ncols {
                return Err(EvalError::MissingColumn { column: columns.span() - 1, available: ncols });
            }
            check_columns(inner, columns.len())
        }
        Expr::Named(named) => {
            for (slot, argument) in named.arguments.iter().enumerate() {
                if let Some(values) = argument.value.listed().filter(|&values| values != ncols) {
                    return Err(list_length(named, slot, values, ncols));
                }
            }
            Ok(())
        }
        _ => expr.children().into_iter().try_for_each(|child| check_columns(child, ncols)),
    }
}

fn list_length(named: &Named, slot: usize, values: usize, columns: usize) -> EvalError {
    let (family, parameter) = (named.family.name(), named.spelling(slot).name);
    EvalError::ListLength { family, parameter, values, columns }
}

fn visit_named(expr: &Expr, visit: &mut dyn FnMut(&Named)) {
    match expr {
        Expr::Named(named) => visit(named),
        _ => expr.children().into_iter().for_each(|child| visit_named(child, visit)),
    }
}

/// The location of a named kernel: the path to it, and the columns of the data that it uses.
#[derive(Clone, Default)]
struct Scope {
    path: Vec<usize>,
    columns: Option<Rc<Columns>>,
}

impl Scope {
    fn columns(&self) -> Option<Vec<usize>> {
        self.columns.as_ref().map(|columns| columns.iter().collect())
    }

    fn operand(&self, number: usize) -> Self {
        let mut below = self.clone();
        below.path.push(number);
        below
    }

    /// The operand of a subset: its columns count within those chosen so far.
    fn subset(&self, chosen: &Columns) -> Result<Self, EvalError> {
        let mut below = self.operand(0);
        below.columns = Some(Rc::new(match &self.columns {
            None => chosen.clone(),
            Some(outer) => outer.compose(chosen).ok_or(EvalError::MissingColumn {
                column: chosen.span().saturating_sub(1),
                available: outer.len(),
            })?,
        }));
        Ok(below)
    }
}

type Replace<'a> = dyn FnMut(&Named, &Scope) -> Result<Named, ResolveError> + 'a;

/// The expression with every named kernel replaced.
fn rewrite(expr: &Expr, scope: &Scope, replace: &mut Replace<'_>) -> Result<Expr, ResolveError> {
    let several = |operands: &[Expr], replace: &mut Replace<'_>| {
        let each = operands.iter().enumerate();
        each.map(|(i, operand)| rewrite(operand, &scope.operand(i), replace)).collect::<Result<Vec<_>, _>>()
    };
    let boxed = |operand: &Expr, i: usize, replace: &mut Replace<'_>| {
        rewrite(operand, &scope.operand(i), replace).map(Box::new)
    };
    Ok(match expr {
        Expr::Number(_) | Expr::Dot | Expr::Distance | Expr::Distance1 | Expr::NormX | Expr::NormZ => {
            expr.clone()
        }
        Expr::Named(named) => Expr::Named(replace(named, scope)?),
        Expr::Columns(inner, columns) => {
            let inner = rewrite(inner, &scope.subset(columns)?, replace)?;
            Expr::Columns(Box::new(inner), columns.clone())
        }
        Expr::Sum(terms) => Expr::Sum(several(terms, replace)?),
        Expr::Product(factors) => Expr::Product(several(factors, replace)?),
        Expr::Neg(inner) => Expr::Neg(boxed(inner, 0, replace)?),
        Expr::Div(a, b) => Expr::Div(boxed(a, 0, replace)?, boxed(b, 1, replace)?),
        Expr::Pow(a, b) => Expr::Pow(boxed(a, 0, replace)?, boxed(b, 1, replace)?),
        Expr::Call(function, arguments) => Expr::Call(*function, several(arguments, replace)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a number that identifies the requested columns: their sum, plus 100 for a distance.
    struct Columned;

    impl Scales for Columned {
        fn median_distance(&self, columns: Option<&[usize]>) -> f64 {
            100.0 + self.inverse_variance(columns)
        }

        fn inverse_variance(&self, columns: Option<&[usize]>) -> f64 {
            columns.map_or(0.5, |columns| columns.iter().sum::<usize>() as f64)
        }

        fn columns(&self) -> usize {
            8
        }
    }

    fn kernel(text: &str) -> Kernel {
        text.parse().unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn auto_sees_the_columns_of_the_data() {
        for (text, expected) in [
            ("rbf(sigma=auto)", "rbf(sigma=100.5)"),
            ("rbf(gamma=auto)[1,4]", "rbf(gamma=5)[1,4]"),
            (
                "(rbf(gamma=auto)[1] + poly(gamma=auto))[3..6]",
                "(rbf(gamma=4)[1] + poly(degree=3, gamma=12, c=1))[3..6]",
            ),
            ("periodic(period=auto, length=?)", "periodic(period=100.5, length=?)"),
        ] {
            assert_eq!(kernel(text).resolve_auto(&Columned).unwrap().to_string(), expected);
        }
        let error = kernel("rbf(gamma=auto)[0]").resolve_auto(&Columned).unwrap_err();
        assert!(matches!(error, ResolveError::NoScale { value: 0.0, .. }));
        let error = kernel("rbf(gamma=auto)[5][0..2]").resolve_auto(&Columned).unwrap_err();
        assert!(matches!(error, ResolveError::Columns(EvalError::MissingColumn { column: 5, available: 2 })));
    }

    #[test]
    fn tunables_are_filled_in_the_order_of_the_text() {
        let open =
            kernel("2*rbf(sigma=?)[3] + matern(nu=?, length=?0.5..2)*poly(degree=?{2, 3}, gamma=auto)");
        let tunables = open.tunables().unwrap();
        let names: Vec<_> =
            tunables.iter().map(|t| (t.family.name(), t.parameter, t.path.as_slice())).collect();
        assert_eq!(
            names,
            [
                ("rbf", "sigma", &[0, 1, 0][..]),
                ("matern", "nu", &[1, 0]),
                ("matern", "length", &[1, 0]),
                ("poly", "degree", &[1, 1])
            ]
        );
        let spaces: Vec<_> = tunables.iter().map(|t| t.search_space(&Columned)).collect();
        assert_eq!(spaces[0], SearchSpace::Between(0.05 * 103.0, 20.0 * 103.0));
        assert_eq!(spaces[1], SearchSpace::OneOf(vec![0.5, 1.5, 2.5]));
        assert_eq!(spaces[2], SearchSpace::Between(0.5, 2.0));
        assert_eq!(spaces[3], SearchSpace::OneOf(vec![2.0, 3.0]));
        let filled = open.with_values(&[1.0, 2.5, 0.7, 2.0]).unwrap();
        assert_eq!(
            filled.to_string(),
            "2*rbf(sigma=1)[3] + matern(nu=2.5, length=0.7)*poly(degree=2, gamma=auto, c=1)"
        );
        assert!(!filled.is_resolved() && filled.resolve_auto(&Columned).unwrap().is_resolved());
        let short = open.with_values(&[1.0]).unwrap_err();
        assert_eq!(short, ResolveError::Count { expected: 4, received: 1 });
        assert!(matches!(
            open.with_values(&[-1.0, 2.5, 0.7, 2.0]),
            Err(ResolveError::OutOfRange { parameter: "sigma", .. })
        ));
    }

    #[test]
    fn one_unknown_for_each_column() {
        let open =
            kernel("?*rbf(sigma=[?]) + matern(length=[?~lognormal(0, 2)])[3,5] + laplacian(gamma=[?])[7]");
        assert!(matches!(open.with_values(&[1.0]), Err(ResolveError::EachColumn { parameter: "sigma", .. })));
        let resolved = open.resolve_auto(&Columned).unwrap();
        assert_eq!(
            resolved.to_string(),
            "const(value=?)*rbf(sigma=[?, ?, ?, ?, ?, ?, ?, ?]) + matern(nu=1.5, length=[?~lognormal(0, 2), \
             ?~lognormal(0, 2)])[3,5] + laplacian(gamma=?)[7]"
        );
        assert_eq!(kernel(&resolved.to_string()), resolved);
        let tunables = resolved.tunables().unwrap();
        assert_eq!(tunables.len(), 12);
        assert_eq!((tunables[3].column, tunables[3].columns.as_deref()), (Some(2), Some(&[2][..])));
        assert_eq!((tunables[10].column, tunables[10].columns.as_deref()), (Some(1), Some(&[5][..])));
        assert_eq!(tunables[10].prior, Some(Prior::LogNormal { mu: 0.0, s: 2.0 }));
        let values: Vec<f64> = (1..=12).map(f64::from).collect();
        assert_eq!(
            resolved.with_values(&values).unwrap().to_string(),
            "const(value=1)*rbf(sigma=[2, 3, 4, 5, 6, 7, 8, 9]) + matern(nu=1.5, length=[10, 11])[3,5] + \
             laplacian(gamma=12)[7]"
        );
        assert_eq!(
            resolved.with_values(&values[..5]).unwrap_err(),
            ResolveError::Count { expected: 12, received: 5 }
        );
        assert!(resolved.check_columns(7).is_err() && resolved.check_columns(8).is_ok());
    }

    #[test]
    fn columns_are_checked_as_eval_does() {
        for (text, required) in [
            ("rbf", 0),
            ("rbf[3] + linear[0..2]", 4),
            ("rbf(sigma=[1, 2, 3])", 3),
            ("rbf(sigma=[1, 2])[0,5]", 6),
            ("linear[1][4..6]", 6),
        ] {
            let kernel = kernel(text);
            assert_eq!(kernel.required_columns(), required, "{text}");
            assert_eq!(kernel.check_columns(required), Ok(()), "{text}");
            for ncols in 0..8 {
                let point = vec![0.5; ncols];
                assert_eq!(kernel.check_columns(ncols).err(), kernel.eval(&point, &point).err(), "{text}");
            }
        }
        assert!(matches!(
            kernel("rbf(sigma=[1, 2])[0..3]").check_columns(9),
            Err(EvalError::ListLength { values: 2, columns: 3, .. })
        ));
        assert!(kernel("linear[1][4]").check_columns(9).is_err());
    }
}
