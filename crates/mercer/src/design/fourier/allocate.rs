//! The allocation of frequencies to the components of a mixture.

use crate::design::error::DesignError;
use crate::kernel::spectrum::Component;

/// Allocates `count` frequencies to the components: one for each constant, whose spectrum is a single point, and the
/// others in proportion to the weights, at least one each. Proportional allocation minimises the variance if all
/// components have the same variance.
///
/// # Errors
/// If there are more components than frequencies.
pub(super) fn allocate(components: &[Component], count: usize) -> Result<Vec<usize>, DesignError> {
    if count < components.len() {
        return Err(DesignError::parameter(
            "the number of frequencies",
            count,
            format!("{} or more: the kernel's spectrum is a mixture of that many", components.len()),
        ));
    }
    let varies = |component: &Component| !component.laws.is_empty();
    let mut shares = vec![1; components.len()];
    let spare = (count - components.len()) as f64;
    let total: f64 = components.iter().filter(|c| varies(c)).map(|c| c.weight).sum();
    let mut left = count - components.len();
    let mut remainders = Vec::new();
    for (i, component) in components.iter().enumerate().filter(|(_, c)| varies(c)) {
        let exact = spare * component.weight / total;
        let whole = (exact.floor() as usize).min(left);
        shares[i] += whole;
        left -= whole;
        remainders.push((exact - exact.floor(), i));
    }
    remainders.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(_, i) in remainders.iter().cycle().take(if remainders.is_empty() { 0 } else { left }) {
        shares[i] += 1;
    }
    Ok(shares)
}
