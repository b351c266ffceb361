//! scratch
use mercer::kernel::Kernel;
use mercer::kernel::check::{Dim, Domain, Verdict};
#[test]
fn survey() {
    let path = std::env::var("SURVEY").unwrap();
    let verbose = std::env::var("V").is_ok();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let mut f = line.split('|').map(|_| ()).count();
        f += 0;
        let _ = f;
        let parts: Vec<&str> = line.split(';').map(str::trim).collect();
        if parts.len() < 2 {
            continue;
        }
        let dim: Dim = parts.get(2).filter(|s| !s.is_empty()).unwrap_or(&"any").parse().unwrap();
        let domain: Domain = parts.get(3).filter(|s| !s.is_empty()).unwrap_or(&"all").parse().unwrap();
        let k: Kernel = match parts[1].parse() {
            Ok(k) => k,
            Err(e) => {
                println!("PARSE {line}: {e}");
                continue;
            }
        };
        let start = std::time::Instant::now();
        let v = k.check(dim, domain);
        let t = start.elapsed().as_secs_f64();
        let want = match parts[0] {
            "P" => "proven",
            "R" => "refuted",
            _ => "?",
        };
        let flag = if want == v.word() { "ok " } else { "BAD" };
        if flag == "BAD" || verbose || t > 1.0 {
            println!("{flag} {t:.2}s {line} -> {v}");
        }
        let _ = matches!(v, Verdict::Proven(_));
    }
}
