//! Built-in data sets, the same on every machine.

use std::f64::consts::{PI, TAU};

use super::points::{Points, Values};
use crate::failure::Failure;

/// The name, description and default noise of each set.
pub const DATA_SETS: [(&str, &str, f64); 10] = [
    ("moons", "two moons, 2 classes", 0.2),
    ("rings", "a ring around a disc, 2 classes", 0.12),
    ("xor", "four squares, 2 classes", 0.1),
    ("spirals", "two spirals, 2 classes", 0.1),
    ("blobs", "three blobs, 3 classes", 0.6),
    ("sine", "a sine wave, one column", 0.25),
    ("step", "a step, one column", 0.15),
    ("chirp", "a wave that gets faster, one column", 0.1),
    ("peaks", "hills and valleys, two columns", 0.1),
    ("plane", "a tilted plane with a bump, two columns", 0.1),
];

/// A generator of random numbers (Steele, Lea and Flood 2014: SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Standard normal, by Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }
}

/// The data set of this name, with `n` rows; an error if there is no such set.
pub fn generate(name: &str, n: usize, noise: Option<f64>, seed: u64) -> Result<Points, Failure> {
    let Some((place, known)) = DATA_SETS.iter().enumerate().find(|(_, (known, ..))| *known == name) else {
        let names: Vec<&str> = DATA_SETS.iter().map(|(name, ..)| *name).collect();
        return Err(Failure::usage(format!("there is no data set `{name}`; there are {}", names.join(", "))));
    };
    let noise = noise.unwrap_or(known.2);
    if !(0.0..=10.0).contains(&noise) {
        return Err(Failure::usage(format!("noise is {noise}; it must be from 0 to 10")));
    }
    let mut random = Random(seed.wrapping_mul(1_000_003).wrapping_add(place as u64));
    let rows: Vec<(Vec<f64>, f64)> = (0..n).map(|i| row(name, i, n, noise, &mut random)).collect();
    let dims = rows.first().map_or(2, |(x, _)| x.len());
    // Rounded to four decimals, so that a written file has exactly the points drawn.
    let round = |value: f64| (value * 1e4).round() / 1e4;
    let targets: Vec<f64> = rows.iter().map(|(_, y)| round(*y)).collect();
    let values = if ["moons", "rings", "xor", "spirals", "blobs"].contains(&name) {
        let names = ["blue", "orange", "purple"].map(str::to_owned);
        let classes = if name == "blobs" { 3 } else { 2 };
        Values::Classes {
            codes: targets.iter().map(|y| *y as usize).collect(),
            names: names[..classes].to_vec(),
        }
    } else {
        Values::Numbers(targets)
    };
    Ok(Points {
        names: (0..dims).map(|column| format!("x{column}")).collect(),
        target: "y".to_owned(),
        rows: rows.into_iter().flat_map(|(x, _)| x).map(round).collect(),
        values,
        notes: Vec::new(),
    })
}

/// One row and its target; classes are numbers.
fn row(name: &str, i: usize, n: usize, noise: f64, random: &mut Random) -> (Vec<f64>, f64) {
    let class = i % 2;
    let jitter = |at: [f64; 2], random: &mut Random| {
        vec![at[0] + noise * random.normal(), at[1] + noise * random.normal()]
    };
    match name {
        "moons" => {
            let t = PI * random.uniform();
            let at =
                if class == 0 { [t.cos() - 0.5, t.sin() - 0.25] } else { [0.5 - t.cos(), 0.25 - t.sin()] };
            (jitter(at, random), class as f64)
        }
        "rings" => {
            let t = TAU * random.uniform();
            let radius = if class == 0 { 0.7 * random.uniform().sqrt() } else { 1.4 };
            (jitter([radius * t.cos(), radius * t.sin()], random), class as f64)
        }
        "xor" => {
            let (x, y) = (random.between(-1.5, 1.5), random.between(-1.5, 1.5));
            (jitter([x, y], random), f64::from(x * y < 0.0))
        }
        "spirals" => {
            let t = random.uniform().sqrt() * 1.6 * TAU;
            let turn = t + if class == 0 { 0.0 } else { PI };
            let radius = 0.18 * t;
            (jitter([radius * turn.cos(), radius * turn.sin()], random), class as f64)
        }
        "blobs" => {
            let class = i % 3;
            let centre = [[-1.2, -0.8], [1.3, -0.6], [0.1, 1.4]][class];
            (jitter(centre, random), class as f64)
        }
        "sine" => {
            let x = random.between(-3.0, 3.0);
            (vec![x], (1.6 * x).sin() + noise * random.normal())
        }
        "step" => {
            let x = random.between(-2.0, 2.0);
            (vec![x], if x < 0.0 { -1.0 } else { 1.0 } + noise * random.normal())
        }
        "chirp" => {
            // Evenly spread, so that the fast end is sampled well.
            let x = 3.0 * (i as f64 + random.uniform()) / n as f64;
            (vec![x], (x * x * 2.0).sin() + noise * random.normal())
        }
        "peaks" => {
            let (x, y) = (random.between(-2.0, 2.0), random.between(-2.0, 2.0));
            let hill = |a: f64, b: f64| (-((x - a).powi(2) + (y - b).powi(2)) / 0.6).exp();
            let value = hill(-0.8, -0.8) + hill(0.9, 0.9) - hill(0.9, -0.8) - hill(-0.8, 0.9);
            (vec![x, y], value + noise * random.normal())
        }
        _ => {
            let (x, y) = (random.between(-2.0, 2.0), random.between(-2.0, 2.0));
            let bump = 1.5 * (-(x * x + y * y) / 0.5).exp();
            (vec![x, y], 0.5 * x - 0.3 * y + bump + noise * random.normal())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_sets_are_the_same_each_time() {
        for (name, ..) in DATA_SETS {
            let (a, b) = (generate(name, 50, None, 3).unwrap(), generate(name, 50, None, 3).unwrap());
            assert_eq!(a, b);
            assert_ne!(a, generate(name, 50, None, 4).unwrap());
            assert_eq!(a.rows.len(), 50 * a.names.len());
            assert!(a.rows.iter().all(|x| x.is_finite()));
        }
        assert!(generate("nothing", 5, None, 0).is_err());
        assert!(generate("moons", 5, Some(-1.0), 0).is_err());
    }
}
