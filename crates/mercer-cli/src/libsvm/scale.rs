//! svm-scale: scales every feature linearly to one range.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::ExitCode;

use mercer::model::libsvm::general;

use super::problem::Problem;
use super::{Refusal, finish, say};

const USAGE: &str = "\
Usage: svm-scale [options] data_filename
options:
-l lower : x scaling lower limit (default -1)
-u upper : x scaling upper limit (default +1)
-y y_lower y_upper : y scaling limits (default: no y scaling)
-s save_filename : save scaling parameters to save_filename
-r restore_filename : restore scaling parameters from restore_filename
";

/// Runs svm-scale.
pub fn scale(arguments: &[String]) -> ExitCode {
    finish(run(arguments))
}

/// From [`from`](Self::from) onto [`to`](Self::to).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Range {
    from: (f64, f64),
    to: (f64, f64),
}

impl Range {
    fn apply(self, value: f64) -> f64 {
        let ((low, high), (lower, upper)) = (self.from, self.to);
        match value {
            _ if value == low => lower,
            _ if value == high => upper,
            _ => lower + (upper - lower) * (value - low) / (high - low),
        }
    }
}

struct ScaleOptions {
    lower: f64,
    upper: f64,
    y: Option<(f64, f64)>,
    save: Option<String>,
    restore: Option<String>,
    data: String,
}

impl ScaleOptions {
    fn parse(arguments: &[String]) -> Result<Self, Refusal> {
        let mut options =
            Self { lower: -1.0, upper: 1.0, y: None, save: None, restore: None, data: String::new() };
        let mut rest = arguments.iter().peekable();
        while let Some(option) = rest.peek().and_then(|text| text.strip_prefix('-')) {
            rest.next();
            let mut value = || rest.next().ok_or_else(|| Refusal::usage("", USAGE));
            let number = |text: &String| {
                let parsed = text.parse::<f64>().ok().filter(|v| v.is_finite());
                parsed.ok_or_else(|| Refusal::usage(format!("-{option} {text}: it is not a number"), USAGE))
            };
            match option.chars().next() {
                Some('l') => options.lower = number(value()?)?,
                Some('u') => options.upper = number(value()?)?,
                Some('y') => options.y = Some((number(value()?)?, number(value()?)?)),
                Some('s') => options.save = Some(value()?.clone()),
                Some('r') => options.restore = Some(value()?.clone()),
                _ => return Err(Refusal::usage("unknown option", USAGE)),
            }
        }
        let (Some(data), None) = (rest.next(), rest.next()) else { return Err(Refusal::usage("", USAGE)) };
        options.data = data.clone();
        if options.lower >= options.upper || options.y.is_some_and(|(lower, upper)| lower >= upper) {
            return Err(Refusal::new("inconsistent lower/upper specification"));
        }
        if options.save.is_some() && options.restore.is_some() {
            return Err(Refusal::new("cannot use -r and -s simultaneously"));
        }
        Ok(options)
    }
}

/// The ranges of features, by index, and of the target.
#[derive(Debug, Clone, PartialEq)]
struct Ranges {
    y: Option<Range>,
    x: (f64, f64),
    /// The smallest and largest value of each feature that is not constant.
    features: BTreeMap<u32, (f64, f64)>,
}

fn run(arguments: &[String]) -> Result<(), Refusal> {
    let options = ScaleOptions::parse(arguments)?;
    let problem = Problem::read(&options.data).map_err(|refusal| {
        if fs::metadata(&options.data).is_err() { missing(&options.data) } else { refusal }
    })?;
    let found = Ranges::of(&problem, &options);
    let ranges = match &options.restore {
        None => found,
        Some(path) => {
            let text = fs::read_to_string(path).map_err(|_| missing(path))?;
            let restored = Ranges::parse(&text)
                .ok_or_else(|| Refusal::new("ERROR: failed to read scaling parameters"))?;
            for index in found.features.keys().filter(|index| !restored.features.contains_key(*index)) {
                eprintln!(
                    "WARNING: feature index {index} appeared in file {} was not seen in the scaling factor file {path}. \
                     The feature is scaled to 0.",
                    options.data
                );
            }
            restored
        }
    };
    if let Some(path) = &options.save {
        fs::write(path, ranges.text()).map_err(|_| missing(path))?;
    }
    ranges.print(&problem);
    Ok(())
}

fn missing(path: &str) -> Refusal {
    Refusal::new(format!("can't open file {path}"))
}

impl Ranges {
    /// The ranges of the data. Entries that a row does not have are 0.
    fn of(problem: &Problem, options: &ScaleOptions) -> Self {
        let mut seen: BTreeMap<u32, (f64, f64, usize)> = BTreeMap::new();
        for &(index, value) in problem.rows.iter().flatten() {
            let (low, high, count) = seen.entry(index).or_insert((value, value, 0));
            (*low, *high, *count) = (low.min(value), high.max(value), *count + 1);
        }
        let whole = |(index, (low, high, count)): (u32, (f64, f64, usize))| {
            let (low, high) =
                if count < problem.rows.len() { (low.min(0.0), high.max(0.0)) } else { (low, high) };
            (low != high).then_some((index, (low, high)))
        };
        let low = problem.labels.iter().copied().fold(f64::INFINITY, f64::min);
        let high = problem.labels.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self {
            y: options.y.map(|to| Range { from: (low, high), to }),
            x: (options.lower, options.upper),
            features: seen.into_iter().filter_map(whole).collect(),
        }
    }

    /// Reads a file of ranges.
    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let pair = |line: Option<&str>| {
            let mut numbers = line?.split_whitespace().map(|text| text.parse::<f64>().ok());
            Some((numbers.next()??, numbers.next()??))
        };
        let mut first = lines.next()?;
        let mut y = None;
        if first.trim() == "y" {
            let to = pair(lines.next())?;
            y = Some(Range { from: pair(lines.next())?, to });
            first = lines.next()?;
        }
        if first.trim() != "x" {
            return None;
        }
        let x = pair(lines.next())?;
        let feature = |line: &str| {
            let (index, rest) = line.trim().split_once(' ')?;
            Some((index.parse().ok()?, pair(Some(rest))?))
        };
        Some(Self { y, x, features: lines.map(feature).collect::<Option<_>>()? })
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let mut line = |words: String| writeln!(out, "{words}").expect("a text grows");
        let both = |(low, high): (f64, f64)| format!("{} {}", general(low, 17), general(high, 17));
        if let Some(y) = self.y {
            line("y".into());
            line(both(y.to));
            line(both(y.from));
        }
        line("x".into());
        line(both(self.x));
        self.features.iter().for_each(|(index, &range)| line(format!("{index} {}", both(range))));
        out
    }

    /// Writes the scaled rows to standard output, without zeros.
    fn print(&self, problem: &Problem) {
        let (mut before, mut after) = (0usize, 0usize);
        for (label, row) in problem.labels.iter().zip(&problem.rows) {
            let target = self.y.filter(|y| y.from.0 != y.from.1).map_or(*label, |y| y.apply(*label));
            let mut text = format!("{} ", general(target, 6));
            before += row.len();
            let mut stored = row.iter().peekable();
            for (&index, &from) in &self.features {
                while stored.next_if(|(own, _)| *own < index).is_some() {}
                let value = stored.next_if(|(own, _)| *own == index).map_or(0.0, |(_, value)| *value);
                let scaled = Range { from, to: self.x }.apply(value);
                if scaled != 0.0 {
                    after += 1;
                    write!(text, "{index}:{} ", general(scaled, 6)).expect("a text grows");
                }
            }
            say(format_args!("{text}\n"));
        }
        if after > before {
            eprintln!(
                "WARNING: original #nonzeros {before}\n       > new      #nonzeros {after}\n\
                 If feature values are non-negative and sparse, use -l 0 rather than the default -l -1"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_files_are_read_back() {
        let features = BTreeMap::from([(1, (-1.5, 2.0)), (7, (0.0, 1.0 / 3.0))]);
        let y = Some(Range { from: (1.0, 9.0), to: (0.0, 1.0) });
        for ranges in [
            Ranges { y, x: (-1.0, 1.0), features: features.clone() },
            Ranges { y: None, x: (0.0, 1.0), features },
        ] {
            assert_eq!(Ranges::parse(&ranges.text()), Some(ranges));
        }
        for bad in ["", "x", "y\n0 1\n", "z\n0 1\n", "x\n0\n", "x\n0 1\n1 2\n"] {
            assert_eq!(Ranges::parse(bad), None, "{bad}");
        }
    }
}
