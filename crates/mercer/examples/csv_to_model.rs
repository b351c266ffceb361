//! Reads a CSV file, trains on standardised columns, saves the model and predicts with it.
#![allow(clippy::print_stdout)]

use std::path::Path;

use mercer::data::{self, ReadOptions, ScaleMethod, Scaling, TargetValues};
use mercer::learn::Origin;
use mercer::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data"));
    let options = ReadOptions { target: vec!["growth".parse()?], ..ReadOptions::default() };
    let (training, schema) = data::read(&folder.join("greenhouse.csv"), &options)?;
    let TargetValues::Numbers(growth) = &training.targets[0].values else {
        return Err("growth is a column of numbers".into());
    };

    let (scaling, _) = Scaling::of(ScaleMethod::Standard, &training.features)?;
    let scaled = scaling.apply(training.features.view())?;
    let origin = Origin { schema: Some(schema), outputs: vec!["growth".into()], scaling };
    let problem = Problem::new(&scaled, growth).with_origin(origin);
    let ridge = Ridge::new("rbf(sigma=auto) + linear".parse()?).lambda(0.01);
    let path = std::env::temp_dir().join("greenhouse.mercer");
    ridge.train(&problem, &Session::default())?.save(&path)?;

    // The file holds the scaling: raw rows go in. `mercer predict` reads it as well.
    let model = Model::load(&path)?;
    let (new, _) = data::read(&folder.join("greenhouse-new.csv"), &options)?;
    let predicted = model.predict(&new.features, &Session::default())?;
    println!("growth of the first new row: {:.3}", predicted.row(0)[0]);
    Ok(())
}
