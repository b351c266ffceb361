//! Kernels Σᵢⱼ cᵢⱼ·fᵢ(x)·fⱼ(z) of finite rank.

use num_traits::{One, Signed, Zero};

use crate::check::exact::Q;
use crate::check::form::{Form, Monomial, Space};

/// Accepts a form whose matrix of coefficients (cᵢⱼ) is symmetric and positive semidefinite, in exact arithmetic.
pub fn check(form: &Form, space: &Space) -> Result<(), String> {
    let mut functions: Vec<Form> = Vec::new();
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
        let as_x = |m: Monomial, swap: bool| {
            let form = Form::term(Q::one(), m);
            if swap { form.swapped(space) } else { Some(form) }
        };
        let mut index = |f: Form| match functions.iter().position(|g| *g == f) {
            Some(i) => i,
            None => {
                functions.push(f);
                functions.len() - 1
            }
        };
        let i = index(as_x(of_x, false).ok_or("too large")?);
        let j = index(as_x(of_z, true).ok_or("too large")?);
        entries.push((i, j, c.clone()));
    }
    let n = functions.len();
    let mut matrix = vec![vec![Q::zero(); n]; n];
    for (i, j, c) in entries {
        matrix[i][j] += c;
    }
    if (0..n).any(|i| (0..i).any(|j| matrix[i][j] != matrix[j][i])) {
        return Err("the coefficients are not symmetric".into());
    }
    eliminate(matrix)
}

/// Symmetric elimination: pivots ≥ 0, and nothing beside a pivot 0.
fn eliminate(mut matrix: Vec<Vec<Q>>) -> Result<(), String> {
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
                let change = &factor * &matrix[k][j];
                matrix[i][j] -= change;
            }
        }
    }
    Ok(())
}
