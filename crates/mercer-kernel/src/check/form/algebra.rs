//! The algebra that keeps forms normal.

use std::cell::Cell;

use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use super::{Atom, Form, Fun, MOST_TERMS, Monomial, Space};
use crate::check::exact::{self, Q, as_integer, int, rational_power};
use crate::check::steps;

/// The most products of terms for one question, so that an expanding formula ends undecided instead of never.
const FUEL: usize = 100_000;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(FUEL) };
}

/// Starts a new question.
pub fn refuel() {
    LEFT.set(FUEL);
}

fn burn(amount: usize) -> Option<()> {
    let left = LEFT.get().checked_sub(amount)?;
    LEFT.set(left);
    Some(())
}

/// A replacement for powers of some atoms: `None` keeps the atom and rewrites inside it.
pub type Replace<'a> = dyn Fn(&Atom, &Q) -> Option<Form> + 'a;

impl Form {
    /// A function of forms, with the sign and constants of its argument normalised.
    pub fn call(fun: Fun, mut args: Vec<Self>, space: &Space) -> Option<Self> {
        let flips = args[0].0.values().next().is_some_and(Signed::is_negative);
        match fun {
            Fun::Log => args.remove(0).log(),
            Fun::Sin | Fun::Tan | Fun::Sinh | Fun::Tanh | Fun::Asin | Fun::Atan => {
                let arg = args.remove(0);
                if arg.is_zero() {
                    Some(Self::zero())
                } else if let (Fun::Sin, Some(inside)) = (fun, arcsine_of(&arg)) {
                    Some(inside)
                } else if flips {
                    Some(Self::atom(Atom::Call(fun, vec![arg.neg()])).neg())
                } else {
                    Some(Self::atom(Atom::Call(fun, vec![arg])))
                }
            }
            Fun::Cos if multiple_of_arccosine(&args[0]).is_some() => {
                let (n, inside) = multiple_of_arccosine(&args[0])?;
                chebyshev(n, &inside, space)
            }
            Fun::Cos | Fun::Cosh | Fun::Sinc => {
                let arg = args.remove(0);
                if arg.is_zero() {
                    return Some(Self::constant(Q::one()));
                }
                Some(Self::atom(Atom::Call(fun, vec![if flips { arg.neg() } else { arg }])))
            }
            Fun::Abs => args.remove(0).abs(space),
            Fun::Min | Fun::Max => {
                args.sort();
                args.dedup();
                if args.len() == 1 {
                    return args.pop();
                }
                if let Some(constants) = args.iter().map(Self::as_constant).collect::<Option<Vec<_>>>() {
                    let value = if fun == Fun::Min {
                        constants.into_iter().min()
                    } else {
                        constants.into_iter().max()
                    };
                    return value.map(Self::constant);
                }
                Some(Self::atom(Atom::Call(fun, args)))
            }
        }
    }

    fn abs(&self, space: &Space) -> Option<Self> {
        let Some((m, c)) = self.single() else {
            if self.is_zero() {
                return Some(Self::zero());
            }
            if self.has_no_negative_term() {
                return Some(self.clone());
            }
            let flips = self.0.values().next().is_some_and(Signed::is_negative);
            return Some(Self::atom(Atom::Call(
                Fun::Abs,
                vec![if flips { self.neg() } else { self.clone() }],
            )));
        };
        let mut result = Self::constant(c.abs());
        let mut rest = Monomial::one();
        for (atom, e) in &m.0 {
            let power = || Self::term(Q::one(), Monomial([(atom.clone(), e.clone())].into()));
            match atom {
                _ if is_nonnegative(atom) || is_even(e) => result = result.mul(&power(), space)?,
                Atom::Dot(cols) if space.width(cols) == Some(1) => {
                    let norms = Self::norm(Atom::NormX(cols.clone()), space)
                        .mul(&Self::norm(Atom::NormZ(cols.clone()), space), space)?;
                    result = result.mul(&norms.power(e, space)?, space)?;
                }
                _ => {
                    rest.0.insert(atom.clone(), e.clone());
                }
            }
        }
        if rest.0.is_empty() {
            return Some(result);
        }
        let inside = Self::term(Q::one(), rest);
        result.mul(&Self::atom(Atom::Call(Fun::Abs, vec![inside])), space)
    }

    /// Whether no term is negative anywhere, by its sign and its atoms.
    fn has_no_negative_term(&self) -> bool {
        let is_square = |(a, e): (&Atom, &Q)| is_nonnegative(a) || is_even(e);
        self.0.iter().all(|(m, c)| !c.is_negative() && m.0.iter().all(is_square))
    }

    /// |x| or |z|, which is 1 on the sphere.
    pub fn norm(atom: Atom, space: &Space) -> Self {
        match &atom {
            Atom::NormX(cols) | Atom::NormZ(cols) if space.on_sphere(cols) => Self::constant(Q::one()),
            _ => Self::atom(atom),
        }
    }

    /// e^f, one factor per term of f.
    pub fn exp(&self, space: &Space) -> Option<Self> {
        let mut product = Self::constant(Q::one());
        for (m, c) in &self.0 {
            let factor = match m.single() {
                Some((Atom::Call(Fun::Log, args), e)) if e.is_one() => args[0].power(c, space)?,
                _ => Self::term(Q::one(), Monomial([(Atom::Exp(m.clone()), c.clone())].into())),
            };
            product = product.mul(&factor, space)?;
        }
        Some(product)
    }

    /// log f, with a constant factor extracted.
    pub fn log(&self) -> Option<Self> {
        if let Some((m, c)) = self.single() {
            let exponentials = m.0.keys().all(|a| matches!(a, Atom::Exp(_)));
            if exponentials && c.is_positive() {
                let mut sum = log_of_constant(c);
                for (atom, e) in &m.0 {
                    if let Atom::Exp(inner) = atom {
                        sum = sum.add(&Self::term(e.clone(), inner.clone()));
                    }
                }
                return Some(sum);
            }
        }
        // log bᵉ = e·log b where bᵉ > 0 only for b > 0.
        if let Some((m, c)) = self.single()
            && let Some((Atom::Power(base), e)) = m.single()
            && !is_even(e)
            && c.is_positive()
        {
            return Some(log_of_constant(c).add(&base.log()?.scale(e)));
        }
        if self.is_zero() {
            return None;
        }
        let content = self.content();
        let primitive = self.scale(&content.recip());
        Some(log_of_constant(&content).add(&Self::atom(Atom::Call(Fun::Log, vec![primitive]))))
    }

    /// The positive rational extracted from logarithms and powers: the size of the constant term, otherwise of the
    /// first one.
    fn content(&self) -> Q {
        let constant = self.constant_term();
        let first = self.0.values().next().cloned().unwrap_or_else(Q::one);
        if constant.is_zero() { first.abs() } else { constant.abs() }
    }

    /// f^e.
    pub fn power(&self, e: &Q, space: &Space) -> Option<Self> {
        if e.is_zero() {
            return Some(Self::constant(Q::one()));
        }
        if e.is_one() {
            return Some(self.clone());
        }
        if self.is_zero() {
            return e.is_positive().then(Self::zero);
        }
        if let Some(n) = as_integer(e).filter(|n| *n > 0)
            && (self.0.len() > 1 || needs_care(self))
            && expands(self, n)
        {
            let mut product = Self::constant(Q::one());
            for _ in 0..n {
                product = product.mul(self, space)?;
            }
            return Some(product);
        }
        if let Some((m, c)) = self.single() {
            return power_of_term(m, c, e, space);
        }
        let power = |base: Self| Self::term(Q::one(), Monomial([(Atom::Power(base), e.clone())].into()));
        let content = self.content();
        let Some(mut factor) = power_of_constant(&content, e) else { return Some(power(self.clone())) };
        let mut primitive = self.scale(&content.recip());
        let negative =
            primitive.0.values().all(Signed::is_negative) || primitive.constant_term().is_negative();
        if let (Some(n), true) = (as_integer(e), negative) {
            primitive = primitive.neg();
            factor = factor.scale(&int(if n % 2 == 0 { 1 } else { -1 }));
        }
        factor.mul(&power(primitive), space)
    }

    /// f·g.
    pub fn mul(&self, other: &Self, space: &Space) -> Option<Self> {
        if self.0.len().saturating_mul(other.0.len()) > 4 * MOST_TERMS {
            return None;
        }
        burn(1 + self.0.len() * other.0.len())?;
        let mut product = Self::zero();
        for (m, c) in &self.0 {
            for (n, d) in &other.0 {
                let mut joint = m.clone();
                for (atom, e) in &n.0 {
                    let entry = joint.0.entry(atom.clone()).or_insert_with(Q::zero);
                    *entry += e;
                }
                joint.0.retain(|_, e| !e.is_zero());
                steps::count(40 + 3 * product.0.len());
                product = product.add(&normal(joint, space)?.scale(&(c * d)));
                if product.0.len() > MOST_TERMS {
                    return None;
                }
            }
        }
        Some(product)
    }

    /// The form with powers of some atoms replaced, and everything around them rebuilt.
    pub fn replace(&self, replace: &Replace<'_>, space: &Space) -> Option<Self> {
        let mut sum = Self::zero();
        for (m, c) in &self.0 {
            let mut product = Self::constant(c.clone());
            for (atom, e) in &m.0 {
                product = product.mul(&replace_atom(atom, e, replace, space)?, space)?;
            }
            sum = sum.add(&product);
        }
        Some(sum)
    }

    /// The function of t at t = `value`.
    pub fn at(&self, value: &Self, space: &Space) -> Option<Self> {
        self.replace(&|atom, e| if *atom == Atom::Var { value.power(e, space) } else { None }, space)
    }

    /// The form with the two points exchanged.
    pub fn swapped(&self, space: &Space) -> Option<Self> {
        let power = |atom: Atom, e: &Q| Form::term(Q::one(), Monomial([(atom, e.clone())].into()));
        self.replace(
            &|atom, e| match atom {
                Atom::NormX(cols) => Some(power(Atom::NormZ(cols.clone()), e)),
                Atom::NormZ(cols) => Some(power(Atom::NormX(cols.clone()), e)),
                _ => None,
            },
            space,
        )
    }
}

fn replace_atom(atom: &Atom, e: &Q, replace: &Replace<'_>, space: &Space) -> Option<Form> {
    if let Some(form) = replace(atom, e) {
        return Some(form);
    }
    match atom {
        Atom::Exp(m) => Form::term(e.clone(), m.clone()).replace(replace, space)?.exp(space),
        Atom::Power(base) => base.replace(replace, space)?.power(e, space),
        Atom::Call(fun, args) => {
            let args = args.iter().map(|a| a.replace(replace, space)).collect::<Option<Vec<_>>>()?;
            Form::call(*fun, args, space)?.power(e, space)
        }
        _ => Some(Form::term(Q::one(), Monomial([(atom.clone(), e.clone())].into()))),
    }
}

/// P where the form is asin P.
fn arcsine_of(form: &Form) -> Option<Form> {
    match form.single()? {
        (m, c) if c.is_one() => match m.single()? {
            (Atom::Call(Fun::Asin, args), e) if e.is_one() => Some(args[0].clone()),
            _ => None,
        },
        _ => None,
    }
}

/// n and P where the form is ±n·acos P = ±n·(π/2 − asin P), n a natural number.
fn multiple_of_arccosine(form: &Form) -> Option<(usize, Form)> {
    let turns = form.0.get(&Monomial::atom(Atom::Pi))?;
    let rest = form.sub(&Form::atom(Atom::Pi).scale(turns));
    let n = turns * int(2);
    let inside = arcsine_of(&rest.scale(&-n.recip()))?;
    let n = as_integer(&n.abs()).filter(|n| *n <= 32)?;
    Some((usize::try_from(n).ok()?, inside))
}

/// Chebyshev's Tₙ, cos(n·acos p) = Tₙ(p).
fn chebyshev(n: usize, p: &Form, space: &Space) -> Option<Form> {
    let (mut before, mut last) = (p.clone(), Form::constant(Q::one()));
    for _ in 0..n {
        let next = p.mul(&last, space)?.scale(&int(2)).sub(&before);
        (before, last) = (last, next);
    }
    Some(last)
}

fn log_of_constant(c: &Q) -> Form {
    if c.is_one() {
        return Form::zero();
    }
    if c < &Q::one() {
        return log_of_constant(&c.recip()).neg();
    }
    Form::atom(Atom::Call(Fun::Log, vec![Form::constant(c.clone())]))
}

/// c^e for c > 0, as a rational if it is one; `None` if that is too long.
fn power_of_constant(c: &Q, e: &Q) -> Option<Form> {
    match rational_power(c, e) {
        Some(value) => Some(Form::constant(value)),
        None if e.is_integer() => None,
        None => {
            Some(Form::term(Q::one(), Monomial([(Atom::Power(Form::constant(c.clone())), e.clone())].into())))
        }
    }
}

/// Whether the n-th power of a sum is expanded: if it has few terms.
fn expands(form: &Form, n: i64) -> bool {
    let Ok(n) = u64::try_from(n) else { return false };
    let terms = form.0.len() as u64;
    if n > 64 || terms == 0 {
        return false;
    }
    // C(n + terms − 1, terms − 1) products.
    let mut products: u64 = 1;
    for k in 1..terms {
        products = products * (n + k) / k;
        if products > MOST_TERMS as u64 {
            return false;
        }
    }
    true
}

fn power_of_term(m: &Monomial, c: &Q, e: &Q, space: &Space) -> Option<Form> {
    if e.is_integer() {
        let Some(coefficient) = as_integer(e).and_then(|n| exact::pow(c, n)) else {
            let base = Atom::Power(Form::term(c.clone(), m.clone()));
            return Some(Form::term(Q::one(), Monomial([(base, e.clone())].into())));
        };
        let powered = Monomial(m.0.iter().map(|(a, k)| (a.clone(), k * e)).collect());
        return Some(normal(powered, space)?.scale(&coefficient));
    }
    // (c·Πa^k)^e: the factors that cannot be negative come out, the others stay under one power.
    let mut outside = power_of_constant(&c.abs(), e)?;
    let mut inside = Monomial::one();
    for (atom, k) in &m.0 {
        let single = |exponent: Q| Form::term(Q::one(), Monomial([(atom.clone(), exponent)].into()));
        // A fractional power has no negative value.
        if is_nonnegative(atom) || !k.is_integer() {
            outside = outside.mul(&single(k * e), space)?;
        } else if is_even(k) {
            let size = single(Q::one()).abs(space)?;
            outside = outside.mul(&size.power(&(k * e), space)?, space)?;
        } else {
            inside.0.insert(atom.clone(), k.clone());
        }
    }
    if inside.0.is_empty() && c.is_positive() {
        return Some(outside);
    }
    let sign = if c.is_negative() { -Q::one() } else { Q::one() };
    if let Some((Atom::Power(base), k)) = inside.single() {
        // k is odd: ±B^k is (±B)^k, and ≥ 0 only where ±B is.
        return outside.mul(&base.scale(&sign).power(&(k * e), space)?, space);
    }
    let base = Atom::Power(Form::term(sign, inside));
    outside.mul(&Form::term(Q::one(), Monomial([(base, e.clone())].into())), space)
}

/// Whether an atom's value is never negative.
pub fn is_nonnegative(atom: &Atom) -> bool {
    match atom {
        Atom::Distance(_)
        | Atom::Distance1(_)
        | Atom::NormX(_)
        | Atom::NormZ(_)
        | Atom::Pi
        | Atom::Exp(_) => true,
        Atom::Call(Fun::Cosh | Fun::Abs, _) => true,
        Atom::Call(Fun::Log, args) => args[0].as_constant().is_some_and(|c| c >= Q::one()),
        Atom::Call(Fun::Max, args) => args.iter().any(Form::has_no_negative_term),
        Atom::Call(Fun::Min, args) => args.iter().all(Form::has_no_negative_term),
        Atom::Power(base) => base.as_constant().is_some_and(|c| c.is_positive()),
        _ => false,
    }
}

pub(super) fn is_even(e: &Q) -> bool {
    e.is_integer() && e.numer().is_even()
}

/// Whether a single term has factors that change under integer powers.
fn needs_care(form: &Form) -> bool {
    form.0.keys().any(|m| m.0.keys().any(|a| matches!(a, Atom::Power(_) | Atom::Call(..))))
}

/// Normalises a product of powers: sin² = 1 − cos², sinh² = cosh² − 1, |a|² = a², whole powers of sums expanded, and
/// m/(a + b·m) = (1 − a/(a + b·m))/b.
fn normal(m: Monomial, space: &Space) -> Option<Form> {
    for (atom, e) in &m.0 {
        let whole = as_integer(e);
        let replacement = match atom {
            Atom::Power(base) if whole.is_some_and(|n| n > 0 && expands(base, n)) => {
                Some((Q::zero(), base.power(e, space)?))
            }
            Atom::Power(base) if base.as_constant().is_some() => {
                let value = rational_power(&base.as_constant()?, e);
                value.map(|v| (Q::zero(), Form::constant(v)))
            }
            Atom::Call(Fun::Sin, args) if whole.is_some_and(|n| (2..=64).contains(&n)) => {
                let cosine = Form::call(Fun::Cos, args.clone(), space)?;
                let square = cosine.mul(&cosine, space)?;
                Some((e - int(2), Form::constant(Q::one()).sub(&square)))
            }
            Atom::Call(Fun::Sinh, args) if whole.is_some_and(|n| (2..=64).contains(&n)) => {
                let cosine = Form::call(Fun::Cosh, args.clone(), space)?;
                let square = cosine.mul(&cosine, space)?;
                Some((e - int(2), square.sub(&Form::constant(Q::one()))))
            }
            Atom::Call(Fun::Abs, args) if whole.is_some_and(|n| n >= 2) => {
                let odd = if is_even(e) { Q::zero() } else { Q::one() };
                Some((odd.clone(), args[0].power(&(e - odd), space)?))
            }
            _ => None,
        };
        if let Some((left, form)) = replacement {
            let mut rest = m.clone();
            rest.0.remove(atom);
            if !left.is_zero() {
                rest.0.insert(atom.clone(), left);
            }
            return form.mul(&normal(rest, space)?, space);
        }
        if let Atom::Power(base) = atom
            && *e <= -Q::one()
            && let Some(simpler) = divide_out(&m, base, e, space)
        {
            return simpler;
        }
    }
    Some(Form::term(Q::one(), m))
}

/// n·B^e with B = a + b·n′, n′ dividing n: n′ = (B − a)/b lowers the degree.
fn divide_out(m: &Monomial, base: &Form, e: &Q, space: &Space) -> Option<Option<Form>> {
    let constant = base.constant_term();
    let rest = base.without_constant();
    let (part, b) = rest.single()?;
    if constant.is_zero() {
        return None;
    }
    // Each division is a level of recursion: e^t over 1 + e^(t/10⁹) is left as it is.
    let times = |(a, k): (&Atom, &Q)| m.0.get(a).map_or_else(Q::zero, |j| j / k);
    let divides = part.0.iter().map(times).all(|n| n >= Q::one() && n <= int(64));
    if !divides {
        return None;
    }
    let mut quotient = m.clone();
    for (a, k) in &part.0 {
        if let Some(j) = quotient.0.get_mut(a) {
            *j -= k;
        }
    }
    quotient.0.retain(|_, k| !k.is_zero());
    let mut raised = quotient.clone();
    let power = Atom::Power(base.clone());
    raised.0.insert(power, e + Q::one());
    raised.0.retain(|_, k| !k.is_zero());
    let compute = || -> Option<Form> {
        let high = normal(raised, space)?.scale(&b.recip());
        let low = normal(quotient, space)?.scale(&(-constant / b));
        Some(high.add(&low))
    };
    Some(compute())
}
