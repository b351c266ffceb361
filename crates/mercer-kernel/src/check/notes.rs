//! Notes on the steps of a proof for readers: densities, coefficients, thresholds, entries of the table.

use num_traits::One;

use super::exact::{self, int, ratio};
use super::form::Atom;
use super::proof::{Proof, Rule};
use super::verify::{self, density, gegenbauer};

/// Adds a note to every step that has numbers behind it and no note yet.
pub(super) fn add(proof: &mut Proof) {
    if proof.note.is_none() {
        proof.note = note(proof);
    }
    proof.premises.iter_mut().for_each(add);
}

fn note(proof: &Proof) -> Option<String> {
    let (form, space) = (&proof.claim.form, proof.claim.space());
    match &proof.rule {
        Rule::Named => proof.named().map(|family| {
            format!("{} in the table of named kernels (docs/check.md): {}", family.name(), family.theorem())
        }),
        Rule::SpectralDensity => density::describe(form, &space),
        Rule::Askey => {
            let (cols, power) = verify::askey(form)?;
            let d = i64::try_from(space.width(&cols)?).ok()?;
            let least = exact::show(&ratio(d + 1, 2));
            Some(format!("ℓ = {} and d = {d}: (d+1)/2 = {least}", exact::show(&power)))
        }
        Rule::Wendland => {
            let (cols, l, k) = verify::radial::wendland(form)?;
            let d = i64::try_from(space.width(&cols)?).ok()?;
            let least = exact::show(&(ratio(d + 1, 2) + int(k)));
            Some(format!("ℓ = {}, k = {k} and d = {d}: (d+1)/2 + k = {least}", exact::show(&l)))
        }
        Rule::Gegenbauer => {
            let coefficients = gegenbauer::coefficients(form, &space).ok()?;
            let shown: Vec<String> = coefficients.iter().take(8).map(exact::show).collect();
            let dots = if coefficients.len() > 8 { ", …" } else { "" };
            Some(format!("the coefficients of degree 0, 1, … are {}{dots}", shown.join(", ")))
        }
        Rule::DistancePower => match form.single().and_then(|(m, _)| m.single()) {
            Some((Atom::Distance(_), p)) => Some(format!("the power is {} ≤ 2", exact::show(p))),
            Some((Atom::Distance1(_), p)) if !p.is_one() => {
                Some(format!("the power is {} ≤ 1", exact::show(p)))
            }
            _ => None,
        },
        _ => None,
    }
}
