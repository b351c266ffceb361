//! Kernels Σᵢⱼ cᵢⱼ·fᵢ(x)·fⱼ(z) of finite rank.

use num_traits::{One, Signed, Zero};

use super::rewrite::are_swapped;
use crate::check::exact::{self, Q};
use crate::check::form::{Form, Space};

/// The largest order of the matrix.
const MOST_FUNCTIONS: usize = 60;

/// Accepts a form whose matrix of coefficients (cᵢⱼ) is symmetric and positive semidefinite, in exact arithmetic.
pub fn check(form: &Form, space: &Space) -> Result<(), String> {
    // fᵢ as a function of x, and of z where it has occurred as one.
    let mut functions: Vec<(Form, Option<Form>)> = Vec::new();
    let mut entries: Vec<(usize, usize, Q)> = Vec::new();
    for (m, c) in &form.0 {
        let d = m.dependence();
        if d.pair || d.var || m.0.keys().any(|a| a.dependence().x && a.dependence().z) {
            return Err("a term reads both points at once".into());
        }
        let (of_x, rest) = m.split(|a| a.dependence().x);
        let (of_z, constant) = rest.split(|a| a.dependence().z);
        if !constant.0.is_empty() {
            return Err("an irrational coefficient".into());
        }
        let (of_x, of_z) = (Form::term(Q::one(), of_x), Form::term(Q::one(), of_z));
        let i = functions.iter().position(|(f, _)| *f == of_x).unwrap_or_else(|| {
            functions.push((of_x, None));
            functions.len() - 1
        });
        let known = functions.iter().position(|(_, g)| g.as_ref() == Some(&of_z));
        let j = known.or_else(|| functions.iter().position(|(f, _)| are_swapped(f, &of_z, space)));
        let j = match j {
            Some(j) => j,
            None => {
                let as_x = of_z.swapped(space).filter(|f| are_swapped(f, &of_z, space));
                functions.push((as_x.ok_or("a function of z is not known as one of x")?, None));
                functions.len() - 1
            }
        };
        functions[j].1 = Some(of_z);
        entries.push((i, j, c.clone()));
    }
    let n = functions.len();
    let mut matrix = vec![vec![Q::zero(); n]; n];
    for (i, j, c) in entries {
        matrix[i][j] += c;
    }
    if n > MOST_FUNCTIONS {
        return Err("too many functions".into());
    }
    if (0..n).any(|i| (0..i).any(|j| matrix[i][j] != matrix[j][i])) {
        return Err("the coefficients are not symmetric".into());
    }
    eliminate(matrix)
}

/// Symmetric elimination, which requires pivots ≥ 0 and zero rows at zero pivots.
pub(super) fn eliminate(mut matrix: Vec<Vec<Q>>) -> Result<(), String> {
    let n = matrix.len();
    for k in 0..n {
        let pivot = matrix[k][k].clone();
        if pivot.is_negative() || (pivot.is_zero() && (k + 1..n).any(|j| !matrix[k][j].is_zero())) {
            return Err("the matrix of coefficients is not positive semidefinite".into());
        }
        if pivot.is_zero() {
            continue;
        }
        for i in k + 1..n {
            let factor = &matrix[i][k] / &pivot;
            for j in k..n {
                exact::count(exact::bits(&factor));
                let change = &factor * &matrix[k][j];
                matrix[i][j] -= change;
            }
        }
    }
    Ok(())
}
