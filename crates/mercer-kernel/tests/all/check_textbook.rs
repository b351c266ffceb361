//! Formulas of the textbooks, and whether they are kernels.

use mercer_kernel::Kernel;
use mercer_kernel::check::{Checked, Dim, Domain, MOST_STEPS};

#[test]
fn few_are_undecided_and_none_is_wrong() {
    let only = std::env::var("ONLY").ok();
    let mut undecided = Vec::new();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in include_str!("../check_formulas/textbook.txt").lines() {
        let parts: Vec<&str> = line.split(';').map(str::trim).collect();
        if only.as_ref().is_some_and(|o| !o.split('@').any(|p| line.contains(p))) { continue; }
        let [text, dim, domain, truth] = parts[..] else { panic!("{line}") };
        let Ok(kernel) = text.parse::<Kernel>() else { println!("UNREADABLE {line}"); continue };
        let (dim, domain): (Dim, Domain) = (dim.parse().unwrap(), domain.parse().unwrap());
        let t = std::time::Instant::now();
        let Checked { verdict, steps, .. } = match kernel.check_within(dim, domain, MOST_STEPS) { Ok(c) => c, Err(e) => { wrong.push(format!("{line}: {e}")); continue } };
        count += 1;
        let word = if verdict.to_string().contains("undefined at") { "undefined" } else { verdict.word() };
        let expected = match truth { "yes" => "proven", "no" => "refuted", other => other };
        println!("{} {line} {steps} {:?}", if word == expected { "ok  " } else if word == "undecided" { "OPEN" } else { "WRONG" }, t.elapsed());
        if std::env::var("SHOW").is_ok() { println!("{verdict}"); }
        if word == "undecided" { undecided.push(line); } else if word != expected { wrong.push(format!("{line}: {verdict}")); }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(undecided.len() * 100 <= 15 * count, "{} of {count} undecided:\n{}", undecided.len(), undecided.join("\n"));
}
