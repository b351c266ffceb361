//! Prints forms, in the kernel language as far as it can express them.

use std::fmt;

use num_traits::{One, Signed};

use super::{Atom, Cols, Form, Fun, Monomial};
use crate::check::exact::{self, Q};
use crate::expr::Function;

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_zero() {
            return f.write_str("0");
        }
        // Positive terms come first, so that a text starts with a minus sign only if all terms are negative.
        let (positive, negative): (Vec<_>, Vec<_>) = self.0.iter().partition(|(_, c)| !c.is_negative());
        for (index, (m, c)) in positive.into_iter().chain(negative).enumerate() {
            let sign = match (index, c.is_negative()) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            f.write_str(sign)?;
            write_term(f, m, &c.abs())?;
        }
        Ok(())
    }
}

impl fmt::Display for Monomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_term(f, self, &Q::one())
    }
}

fn write_term(f: &mut fmt::Formatter<'_>, m: &Monomial, c: &Q) -> fmt::Result {
    if m.0.is_empty() {
        return f.write_str(&exact::show(c));
    }
    let mut first = true;
    if !c.is_one() {
        write!(f, "{}", exact::show(c))?;
        first = false;
    }
    let inverse = |atom: &Atom, e: &Q| e.is_negative() && !matches!(atom, Atom::Exp(_));
    for (atom, e) in m.0.iter().filter(|(a, e)| !inverse(a, e)) {
        if !first {
            f.write_str("*")?;
        }
        write_power(f, atom, e)?;
        first = false;
    }
    for (atom, e) in m.0.iter().filter(|(a, e)| inverse(a, e)) {
        f.write_str(if first { "1/" } else { "/" })?;
        write_power(f, atom, &-e)?;
        first = false;
    }
    Ok(())
}

fn write_power(f: &mut fmt::Formatter<'_>, atom: &Atom, e: &Q) -> fmt::Result {
    if let Atom::Exp(m) = atom {
        return write!(f, "exp({})", Form::term(e.clone(), m.clone()));
    }
    write!(f, "{atom}")?;
    if !e.is_one() {
        let text = exact::show(e);
        if text.contains(['/', '-']) { write!(f, "^({text})") } else { write!(f, "^{text}") }
    } else {
        Ok(())
    }
}

struct Subset<'a>(&'a Cols);

impl fmt::Display for Subset<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(list) => {
                let list: Vec<String> = list.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", list.join(","))
            }
        }
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Var => f.write_str("t"),
            Self::Dot(cols) => write!(f, "<x,z>{}", Subset(cols)),
            Self::Distance(cols) => write!(f, "|x-z|{}", Subset(cols)),
            Self::Distance1(cols) => write!(f, "|x-z|_1{}", Subset(cols)),
            Self::NormX(cols) => write!(f, "|x|{}", Subset(cols)),
            Self::NormZ(cols) => write!(f, "|z|{}", Subset(cols)),
            Self::Pi => f.write_str("π"),
            Self::Exp(m) => write!(f, "exp({m})"),
            Self::Power(base) => write!(f, "({base})"),
            Self::Call(fun, args) => {
                let args: Vec<String> = args.iter().map(ToString::to_string).collect();
                write!(f, "{}({})", fun.function().name(), args.join(", "))
            }
            Self::Named(kernel) => {
                write!(f, "{}", kernel.named.named())?;
                write!(f, "{}", Subset(&kernel.cols))
            }
        }
    }
}

impl Fun {
    /// The function of the kernel language.
    pub fn function(self) -> Function {
        match self {
            Self::Log => Function::Log,
            Self::Sin => Function::Sin,
            Self::Cos => Function::Cos,
            Self::Tan => Function::Tan,
            Self::Sinc => Function::Sinc,
            Self::Sinh => Function::Sinh,
            Self::Cosh => Function::Cosh,
            Self::Tanh => Function::Tanh,
            Self::Asin => Function::Asin,
            Self::Atan => Function::Atan,
            Self::Abs => Function::Abs,
            Self::Min => Function::Min,
            Self::Max => Function::Max,
        }
    }
}
