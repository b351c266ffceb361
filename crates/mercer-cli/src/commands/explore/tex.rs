//! Kernel expressions as TeX.

use mercer::kernel::{Expr, Function, Named, Value};

/// How tightly the outermost operator binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Power,
    Atom,
}

/// An expression in the notation of textbooks.
pub fn tex(expr: &Expr) -> String {
    written(expr).0
}

fn written(expr: &Expr) -> (String, Level) {
    match expr {
        Expr::Number(value) => number(*value),
        Expr::Dot => (r"\langle x,z\rangle".into(), Level::Atom),
        Expr::Distance => (r"\lVert x-z\rVert".into(), Level::Atom),
        Expr::Distance1 => (r"\lVert x-z\rVert_1".into(), Level::Atom),
        Expr::NormX => (r"\lVert x\rVert".into(), Level::Atom),
        Expr::NormZ => (r"\lVert z\rVert".into(), Level::Atom),
        Expr::Named(named) => family(named),
        Expr::Columns(inner, columns) => {
            let columns = columns.to_string();
            let shown = columns.trim_matches(['[', ']']);
            (format!(r"{}_{{[{shown}]}}", at_least(inner, Level::Atom)), Level::Atom)
        }
        Expr::Sum(terms) => {
            let mut text = String::new();
            for (i, term) in terms.iter().enumerate() {
                let term = at_least(term, Level::Sum);
                text.push_str(if i > 0 && !term.starts_with('-') { "+" } else { "" });
                text.push_str(&term);
            }
            (text, Level::Sum)
        }
        Expr::Product(factors) => {
            let mut text = String::new();
            for (i, factor) in factors.iter().enumerate() {
                let first_number = i == 0 && matches!(factor, Expr::Number(_));
                let factor = if first_number { tex(factor) } else { at_least(factor, Level::Product) };
                // Two numbers in a row need a sign between them.
                let between = if i == 0 {
                    ""
                } else if factor.starts_with(|c: char| c.is_ascii_digit()) {
                    r"\cdot "
                } else {
                    r"\,"
                };
                text.push_str(between);
                text.push_str(&factor);
            }
            let level = if text.starts_with('-') { Level::Sum } else { Level::Product };
            (text, level)
        }
        Expr::Neg(inner) => (format!("-{}", at_least(inner, Level::Product)), Level::Sum),
        Expr::Div(a, b) => match &**a {
            Expr::Neg(a) => (format!(r"-\frac{{{}}}{{{}}}", tex(a), tex(b)), Level::Sum),
            a => (format!(r"\frac{{{}}}{{{}}}", tex(a), tex(b)), Level::Product),
        },
        Expr::Pow(base, exponent) => {
            let exponent = tex(exponent);
            if let Expr::Call(function, arguments) = &**base
                && !matches!(function, Function::Exp | Function::Sqrt | Function::Abs)
            {
                return (format!("{}^{{{exponent}}}{}", name(*function), list(arguments)), Level::Power);
            }
            (format!("{}^{{{exponent}}}", at_least(base, Level::Atom)), Level::Power)
        }
        Expr::Call(function, arguments) => call(*function, arguments),
    }
}

/// The text of an operand, in brackets if its operator binds less tightly.
fn at_least(expr: &Expr, level: Level) -> String {
    let (text, own) = written(expr);
    if own < level { bracketed(&text) } else { text }
}

fn bracketed(text: &str) -> String {
    format!(r"\left({text}\right)")
}

fn number(value: f64) -> (String, Level) {
    let text = value.to_string();
    let text = if text.len() > 9 { format!("{value:.4e}") } else { text };
    let text = match text.split_once('e') {
        Some((mantissa, exponent)) => format!(r"{mantissa}\cdot 10^{{{exponent}}}"),
        None => text,
    };
    let level = if value < 0.0 { Level::Sum } else { Level::Atom };
    (text, level)
}

fn name(function: Function) -> String {
    match function {
        Function::Asin => r"\arcsin".into(),
        Function::Acos => r"\arccos".into(),
        Function::Atan => r"\arctan".into(),
        Function::Sinc => r"\operatorname{sinc}".into(),
        other => format!(r"\{}", other.name()),
    }
}

fn list(arguments: &[Expr]) -> String {
    bracketed(&arguments.iter().map(tex).collect::<Vec<_>>().join(r",\,"))
}

fn call(function: Function, arguments: &[Expr]) -> (String, Level) {
    let first = arguments.first().map(tex).unwrap_or_default();
    let text = match function {
        Function::Sqrt => format!(r"\sqrt{{{first}}}"),
        Function::Abs => format!(r"\left|{first}\right|"),
        _ => format!("{}{}", name(function), list(arguments)),
    };
    (text, Level::Atom)
}

/// A named kernel by its formula if that is short, otherwise by its name.
fn family(named: &Named) -> (String, Level) {
    let slot = |place: usize| match &named.arguments[place].value {
        Value::Number(value) => number(*value).0,
        other => other.to_string(),
    };
    let spelling = |place: usize| named.spelling(place).name;
    let listed = |place: usize| matches!(named.arguments[place].value, Value::Number(_));
    let square = r"\lVert x-z\rVert^{2}";
    let text = match named.family.name() {
        "linear" => r"\langle x,z\rangle".into(),
        "rbf" if !listed(0) => return other(named),
        "rbf" if spelling(0) == "gamma" => format!(r"\exp\left(-{}\,{square}\right)", slot(0)),
        "rbf" => format!(r"\exp\left(-\frac{{{square}}}{{2\cdot {}^{{2}}}}\right)", slot(0)),
        "laplacian" if listed(0) => format!(r"\exp\left(-{}\,\lVert x-z\rVert_1\right)", slot(0)),
        "poly" => {
            let gamma = if slot(1) == "1" { String::new() } else { format!(r"{}\,", slot(1)) };
            return (
                format!(r"\left({gamma}\langle x,z\rangle+{}\right)^{{{}}}", slot(2), slot(0)),
                Level::Power,
            );
        }
        "sigmoid" => format!(r"\tanh\left({}\,\langle x,z\rangle+{}\right)", slot(0), slot(1)),
        "cosine" => r"\frac{\langle x,z\rangle}{\lVert x\rVert\,\lVert z\rVert}".into(),
        "const" => slot(0),
        "rq" if listed(1) => {
            let (alpha, length) = (slot(0), slot(1));
            let base = format!(r"1+\frac{{{square}}}{{2\cdot {alpha}\cdot {length}^{{2}}}}");
            return (format!(r"\left({base}\right)^{{-{alpha}}}"), Level::Power);
        }
        "periodic" if listed(0) && listed(1) => format!(
            r"\exp\Big(-\tfrac{{2}}{{{}^{{2}}}}\textstyle\sum_j\sin^{{2}}\tfrac{{\pi(x_j-z_j)}}{{{}}}\Big)",
            slot(1),
            slot(0)
        ),
        "chi2" if listed(0) => {
            format!(r"\exp\Big(-{}\textstyle\sum_j\tfrac{{(x_j-z_j)^{{2}}}}{{x_j+z_j}}\Big)", slot(0))
        }
        _ => return other(named),
    };
    (text, Level::Atom)
}

/// A named kernel by its name and hyper-parameters.
fn other(named: &Named) -> (String, Level) {
    let greek = |name: &str| match name {
        "sigma" | "gamma" | "nu" | "alpha" => format!(r"\{name}"),
        "length" => r"\ell".into(),
        other if other.len() == 1 => other.to_owned(),
        other => format!(r"\mathrm{{{other}}}"),
    };
    let argument = |place: usize| {
        let value = named.arguments[place].value.to_string().replace('{', r"\{").replace('}', r"\}");
        format!("{}={value}", greek(named.spelling(place).name))
    };
    let arguments: Vec<String> = (0..named.arguments.len()).map(argument).collect();
    let brackets = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(r",\,")) };
    (format!(r"\operatorname{{{}}}{brackets}", named.family.name()), Level::Atom)
}

#[cfg(test)]
mod tests {
    use mercer::kernel::{FAMILIES, Kernel};

    use super::*;

    fn of(text: &str) -> String {
        tex(text.parse::<Kernel>().unwrap().expr())
    }

    #[test]
    fn formulas() {
        assert_eq!(of("exp(-|x-z|^2/2)"), r"\exp\left(-\frac{\lVert x-z\rVert^{2}}{2}\right)");
        assert_eq!(of("(<x,z>+1)^3"), r"\left(\langle x,z\rangle+1\right)^{3}");
        assert_eq!(of("<x,z> - 2*|x|"), r"\langle x,z\rangle-2\,\lVert x\rVert");
        assert_eq!(of("sin(<x,z>)^2"), r"\sin^{2}\left(\langle x,z\rangle\right)");
        assert_eq!(of("rbf(sigma=0.5)"), r"\exp\left(-\frac{\lVert x-z\rVert^{2}}{2\cdot 0.5^{2}}\right)");
        assert_eq!(of("<x,z>/(2*0.5^2)"), r"\frac{\langle x,z\rangle}{2\cdot 0.5^{2}}");
        assert_eq!(of("exp(-2*|x|)"), r"\exp\left(-2\,\lVert x\rVert\right)");
        assert_eq!(of("2*(1+<x,z>)"), r"2\,\left(1+\langle x,z\rangle\right)");
        assert_eq!(of("rbf(sigma=?)"), r"\operatorname{rbf}(\sigma=?)");
    }

    #[test]
    fn brackets_are_balanced() {
        for family in FAMILIES {
            let text = of(family.name());
            let count = |c: char| text.chars().filter(|found| *found == c).count();
            assert_eq!(count('{'), count('}'), "{text}");
            assert_eq!(count('('), count(')'), "{text}");
        }
    }
}
