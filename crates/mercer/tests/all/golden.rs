//! Model files of every format version written so far still load and predict what they did.

use std::path::Path;

use mercer::data::chunks;
use mercer::model::Model;
use mercer::session::Session;

/// Written by `mercer fit ridge ridge.csv --target y --kernel "0.5*rbf(sigma=2) + (<x,z>+1)^2" --lambda 0.1 --holdout 0`.
#[test]
fn ridge_of_format_1() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let model = Model::load(&folder.join("ridge-format-1.mercer")).unwrap();
    let schema = model.schema.as_ref().unwrap();
    let rows = chunks(&folder.join("ridge.csv"), schema, 100).unwrap().next().unwrap().unwrap();
    let found = model.predict(&rows.features, &Session::default()).unwrap();
    let expected =
        [0.9817002370378896, 2.0279314251436666, 0.16364803822975071, 4.848542052350235, 3.9781782472384566];
    for (f, e) in found.entries().iter().zip(expected) {
        // The vector units of another machine may round the kernel's last digit another way.
        assert!((f - e).abs() < 1e-12, "{f} is not {e}");
    }
}
