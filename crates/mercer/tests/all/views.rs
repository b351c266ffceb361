//! Learners take views of other crates' arrays.

use mercer::prelude::*;

#[test]
fn a_learner_takes_ndarray_views() {
    let x = ndarray::Array2::from_shape_fn((20, 2), |(i, j)| ((3 * i + j) as f64).sin());
    let y = x.column(0).to_owned();
    let ridge = Ridge::new("rbf(sigma=1)".parse().unwrap()).lambda(1e-3);
    let fitted = ridge.fit(&x, y.view()).unwrap();
    let rows: Vec<[f64; 2]> = x.outer_iter().map(|row| [row[0], row[1]]).collect();
    let same = ridge.fit(&rows, &y.to_vec()).unwrap();
    assert_eq!(fitted.predict(x.view()).unwrap(), same.predict(&rows).unwrap());
}
