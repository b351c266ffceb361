//! The help of one method: `mercer fit svc --help` shows the flags of `svc`, in groups, with examples.

use std::ffi::OsString;

use clap::{Arg, ArgAction, Command};
use mercer::model::Method;

use super::fit::METHODS;
use super::flags::applies;

/// The group of each flag, in the order in which groups are shown; other flags belong to the method.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Data",
        &[
            "shape",
            "classes",
            "target",
            "columns",
            "drop",
            "categorical",
            "dates",
            "missing",
            "scale",
            "dtype",
            "sample_weight",
            "holdout",
            "outer",
        ],
    ),
    ("Kernel", &["kernel", "features", "approx", "assume_psd"]),
    (
        "Solver",
        &[
            "solver",
            "step",
            "epochs",
            "tol",
            "memory",
            "checkpoint",
            "threads",
            "device",
            "seed",
            "search",
            "points",
            "trials",
        ],
    ),
    ("Output", &["output", "plot", "json", "quiet", "verbose", "help"]),
];

/// The command with the help of one method, if the command line names one after `fit`, `tune` or `plan`.
pub fn tailored(command: Command, words: impl IntoIterator<Item = OsString>) -> Command {
    let words: Vec<String> = words.into_iter().skip(1).filter_map(|word| word.into_string().ok()).collect();
    let subcommand =
        words.first().and_then(|word| ["fit", "tune", "plan"].into_iter().find(|name| name == word));
    let Some(subcommand) = subcommand else { return command };
    let named = |word: &String| METHODS.iter().find(|(_, name, _)| *name == *word);
    let Some((method, name, about)) = words.iter().skip(1).find_map(named) else { return command };
    command.mut_subcommand(subcommand, |of_methods| {
        let output = if subcommand == "plan" { "" } else { " --output <MODEL>" };
        let usage = format!("mercer {subcommand} {name} [OPTIONS]{output} <DATA>");
        let examples = examples(subcommand, *method, name);
        let mut args: Vec<Arg> =
            of_methods.get_arguments().cloned().map(|arg| of_method(arg, subcommand, *method)).collect();
        args.push(
            Arg::new("help")
                .short('h')
                .long("help")
                .help("Print help")
                .help_heading("Output")
                .action(ArgAction::HelpShort),
        );
        // Groups are shown in the order in which their first flags were added.
        args.sort_by_key(rank);
        let args = args.into_iter().enumerate().map(|(place, arg)| match arg.is_positional() {
            true => arg,
            false => arg.display_order(place),
        });
        Command::new(subcommand)
            .about(*about)
            .override_usage(usage)
            .after_help(format!("Examples:\n{examples}\n\nOther methods: mercer {subcommand} --help"))
            .disable_help_flag(true)
            .groups(of_methods.get_groups().cloned())
            .args(args)
    })
}

/// The position of an argument's group in the help, and its place in the group; arguments without a group come first.
fn rank(arg: &Arg) -> (usize, usize) {
    const ORDER: [&str; 5] = ["Data", "Kernel", "Method", "Solver", "Output"];
    let place = |heading| ORDER.iter().position(|group| *group == heading);
    let id = arg.get_id().as_str();
    let in_group = GROUPS.iter().find_map(|(_, ids)| ids.iter().position(|known| *known == id));
    (arg.get_help_heading().and_then(place).map_or(0, |place| place + 1), in_group.unwrap_or(0))
}

/// An argument in its group, hidden if it does not apply to the method, and without the names of methods before its
/// help.
fn of_method(arg: Arg, subcommand: &str, method: Method) -> Arg {
    let id = arg.get_id().as_str().to_owned();
    if id == "method" {
        return arg.hide(true);
    }
    let of_others = !applies(subcommand, arg.get_long().unwrap_or(&id), method);
    let heading =
        GROUPS.iter().find(|(_, ids)| ids.contains(&id.as_str())).map_or("Method", |(heading, _)| *heading);
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let help = match (method, id.as_str()) {
        (Method::OneClass, "target") => {
            "Column with 1 for inliers and -1 for outliers, if the predictions are to be scored".to_owned()
        }
        (Method::Gp, "scale") => {
            "Scale the features [default: standard; none if the kernel has a period that is a number]"
                .to_owned()
        }
        _ => for_method(&help, &method.to_string())
            .replace("; `gram`, and `gp` with a number as a period: none", ""),
    };
    let positional = arg.is_positional();
    // The possible values differ between methods: the help names them. A switch has none to hide.
    let takes_values = arg.get_action().takes_values();
    let arg = arg.help(help).hide(of_others).hide_possible_values(takes_values);
    let arg =
        if (method, id.as_str()) == (Method::Gp, "approx") { arg.value_name("nystrom:M|none") } else { arg };
    if positional { arg } else { arg.help_heading(heading) }
}

/// The part of a help text that is about one method: parts begin with the names of the methods that they are about, and are
/// separated by semicolons.
fn for_method(help: &str, method: &str) -> String {
    let about = |part: &str| {
        let (names, _) = part.split_once(": ")?;
        let is_name = |name: &str| METHODS.iter().any(|(_, known, _)| *known == name);
        let names: Vec<&str> = names.split(", ").flat_map(|name| name.split(" and ")).collect();
        names
            .iter()
            .any(|name| is_name(name))
            .then(|| names.iter().any(|name| *name == method || *name == "related methods"))
    };
    let mut kept: Vec<&str> = Vec::new();
    let mut keeping = true;
    for part in help.split("; ") {
        match about(part) {
            Some(own) => {
                keeping = own;
                if own {
                    kept.push(part.split_once(": ").map_or(part, |(_, text)| text));
                }
            }
            None if keeping => kept.push(part),
            None => {}
        }
    }
    if kept.is_empty() { help.to_owned() } else { capitalised(&kept.join("; ").replace("; [", " [")) }
}

/// The text with a capital letter at its beginning, unless that is a symbol such as λ.
fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + characters.as_str())
}

fn examples(subcommand: &str, method: Method, name: &str) -> String {
    let target = match method {
        Method::OneClass => "",
        Method::Ridge | Method::Lms | Method::Smoother | Method::Svr | Method::NuSvr | Method::Gp => {
            " --target y"
        }
        _ => " --target species",
    };
    if subcommand == "plan" {
        let kernel = if method == Method::Knn { "-k 7" } else { "--kernel \"rbf(sigma=1)\"" };
        return format!(
            "  mercer plan {name} data.csv{target} {kernel}\n  mercer plan {name} --shape 20000,10 --memory 16G"
        );
    }
    let plain = format!("  mercer {subcommand} {name} data.csv{target} -o m.mercer");
    let flags = match (subcommand, method) {
        ("tune", Method::Knn) => "-k \"?1..40\"",
        ("tune", Method::Smoother | Method::Perceptron) => "--kernel \"rbf(sigma=?)\"",
        ("tune", Method::Svc) => "--kernel \"rbf(gamma=?)\" --C \"?0.1..1000\"",
        ("tune", _) => "--kernel \"rbf(sigma=?)\" --plot t.svg",
        (_, Method::Ridge) => "--kernel \"rbf(sigma=2) + linear\" --lambda 0.01",
        (_, Method::Lms) => "--kernel \"rbf(sigma=1)\" --epochs 200",
        (_, Method::Smoother) => "--kernel \"rbf(sigma=0.5)\"",
        (_, Method::Knn) => "-k 7 --weights distance",
        (_, Method::Perceptron) => "--kernel \"poly(degree=2)\"",
        (_, Method::Logistic) => "--kernel \"rbf(sigma=auto)\" --C 10",
        (_, Method::Svc) => "--kernel \"rbf(gamma=auto)\" --C 10",
        (_, Method::NuSvc) => "--nu 0.1 --probability",
        (_, Method::Svr) => "--C 10 --epsilon 0.1",
        (_, Method::NuSvr) => "--C 10 --nu 0.3",
        (_, Method::OneClass) => "--nu 0.05",
        (_, Method::Gp) => "--kernel \"?*rbf(sigma=[?]) + ?*linear\"",
        _ => "--json",
    };
    format!("{plain}\n  mercer {subcommand} {name} data.csv{target} {flags} -o m.mercer")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Arguments;
    use clap::CommandFactory;

    #[test]
    fn the_command_of_each_method_is_well_formed() {
        for subcommand in ["fit", "tune", "plan"] {
            for (_, method, _) in METHODS {
                let words = ["mercer", subcommand, method].map(OsString::from);
                tailored(Arguments::command(), words).debug_assert();
            }
        }
    }

    #[test]
    fn a_help_text_is_cut_down_to_one_method() {
        let text = "svc, svr: the cost of an error; logistic: 1 over λ [default: 1]";
        assert_eq!(for_method(text, "svr"), "The cost of an error");
        assert_eq!(for_method(text, "logistic"), "1 over λ [default: 1]");
        assert_eq!(for_method("Random seed", "svc"), "Random seed");
        assert_eq!(for_method("ridge: λ, or `?`", "ridge"), "λ, or `?`");
        let text = "Kernel; svc: or a matrix; ridge: [default: rbf]";
        assert_eq!(for_method(text, "ridge"), "Kernel [default: rbf]");
    }
}
