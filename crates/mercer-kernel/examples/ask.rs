use mercer_kernel::Kernel;
use mercer_kernel::check::{Dim, Domain};
fn main() {
    for q in std::io::stdin().lines() {
        let q = q.unwrap();
        if q.trim().is_empty() {
            continue;
        }
        let mut p = q.split(';').map(str::trim);
        let t = p.next().unwrap();
        let w = |x: Option<&str>, d: &str| x.filter(|t| !t.is_empty()).unwrap_or(d).to_string();
        let dim: Dim = w(p.next(), "any").parse().unwrap();
        let dom: Domain = w(p.next(), "all").parse().unwrap();
        let start = std::time::Instant::now();
        match t.parse::<Kernel>() {
            Ok(k) => {
                let c = match k.check_within(dim, dom, mercer_kernel::check::MOST_STEPS) {
                    Ok(c) => c,
                    Err(e) => {
                        println!("CONTRADICTION {q} {e}");
                        continue;
                    }
                };
                let v = c.verdict.to_string();
                let v = if std::env::var("LONG").is_ok() {
                    v
                } else {
                    v.lines().next().unwrap().chars().take(110).collect()
                };
                println!("{:>7.2}s {:>9} {q}\n      {v}", start.elapsed().as_secs_f64(), c.steps)
            }
            Err(e) => println!("{q}: {e}"),
        }
    }
}
