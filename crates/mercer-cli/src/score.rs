//! The text of the errors of predictions.

use mercer::data::{counted, listed};
use mercer::model::{CalibrationLine, ClassErrors, DensityErrors, Errors, NumberErrors};

use crate::output::number;

/// One line of text.
pub fn line(errors: &Errors) -> String {
    match errors {
        Errors::Numbers(errors) => line_of_numbers(errors),
        Errors::Classes(errors) => line_of_classes(errors),
        Errors::Inliers(share) => {
            format!("{:.4} of {} are inliers", share.inliers, counted(share.rows, "row"))
        }
    }
}

fn line_of_numbers(errors: &NumberErrors) -> String {
    let r2 = errors.r2.map_or_else(|| "undefined (all targets are equal)".into(), |r2| format!("{r2:.4}"));
    let density = errors.density.as_ref().map_or_else(String::new, |density| {
        let DensityErrors { nlpd, coverage_50, coverage_90, coverage_95 } = density;
        format!(
            "; NLPD {nlpd:.4}, intervals of 50/90/95% hold {:.1}/{:.1}/{:.1}%",
            100.0 * coverage_50,
            100.0 * coverage_90,
            100.0 * coverage_95
        )
    });
    format!(
        "RMSE {}, MAE {}, R² {r2} on {} rows; predicting the mean: RMSE {}{density}",
        number(errors.rmse, 6),
        number(errors.mae, 6),
        errors.rows,
        number(errors.baseline_rmse, 6)
    )
}

fn line_of_classes(errors: &ClassErrors) -> String {
    let loss = errors.log_loss.map(|loss| format!(", log-loss {loss:.4}")).unwrap_or_default();
    let more = [("balanced accuracy", errors.balanced_accuracy), ("F1", errors.f1), ("AUC", errors.auc)];
    let more: String =
        more.iter().filter_map(|(name, value)| Some(format!(", {name} {:.4}", (*value)?))).collect();
    let names: Vec<&String> = errors.unseen_classes.keys().collect();
    let unseen = match names.len() {
        0 => String::new(),
        1 => format!(", {} of a class not in the training data, {}", errors.unseen, listed(&names)),
        _ => format!(", {} of classes not in the training data, {}", errors.unseen, listed(&names)),
    };
    format!(
        "accuracy {:.4}{more}{loss} on {}{unseen}; predicting the most frequent class: {:.4}",
        errors.accuracy,
        counted(errors.rows, "row"),
        errors.baseline_accuracy
    )
}

/// The warning that every row was predicted to be of one class although the rows are of several.
pub fn warning(errors: &Errors) -> Option<String> {
    let Errors::Classes(errors) = errors else { return None };
    let columns = 0..errors.classes.len();
    let used: Vec<usize> =
        columns.filter(|&class| errors.confusion.iter().any(|row| row[class] > 0)).collect();
    let present = errors.confusion.iter().filter(|row| row.iter().any(|&count| count > 0)).count();
    match used.as_slice() {
        [class] if present > 1 => Some(format!(
            "every row is predicted to be `{}`: no better than a majority vote (accuracy {:.4})",
            errors.classes[*class], errors.baseline_accuracy
        )),
        _ => None,
    }
}

/// The warning that the errors are larger than those of predicting the mean.
pub fn worse_than_mean(errors: &Errors) -> Option<String> {
    let Errors::Numbers(errors) = errors else { return None };
    (errors.rmse > errors.baseline_rmse).then(|| {
        format!(
            "{} is predicted no better than by its mean (RMSE {}, against {}); check the columns and the target",
            errors.target,
            number(errors.rmse, 6),
            number(errors.baseline_rmse, 6)
        )
    })
}

/// The confusion matrix and the calibration table as text; the first only for few classes.
pub fn tables(errors: &Errors) -> Vec<(&'static str, String)> {
    let Errors::Classes(errors) = errors else { return Vec::new() };
    let mut lines = Vec::new();
    if errors.classes.len() <= 12 && errors.unseen_classes.len() <= 12 {
        let names = || errors.classes.iter().chain(errors.unseen_classes.keys());
        let width = names().map(|name| name.chars().count()).max().unwrap_or(0).clamp(6, 14);
        let cell = |text: &str| {
            let plain = |c: char| if c.is_control() { ' ' } else { c };
            let text: String = text.chars().take(width).map(plain).collect();
            format!("{text:>width$} ")
        };
        let head: String = errors.classes.iter().map(|name| cell(name)).collect();
        lines.push(("confusion", "rows are true classes, columns are predicted classes".to_owned()));
        lines.push(("", format!("{}{head}", cell(""))));
        for (name, row) in names().zip(errors.confusion.iter().chain(errors.unseen_classes.values())) {
            let counts: String = row.iter().map(|count| cell(&count.to_string())).collect();
            lines.push(("", format!("{}{counts}", cell(name))));
        }
    }
    for (place, line) in errors.calibration.iter().enumerate() {
        let label = if place == 0 { "calibration" } else { "" };
        let CalibrationLine { between: (low, high), rows, predicted, observed } = line;
        let text = format!(
            "confidence {low:.1}–{high:.1}: predicted {predicted:.2}, observed {observed:.2} ({})",
            counted(*rows, "row")
        );
        lines.push((label, text));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use mercer::data::{Classes, TargetValues};
    use mercer::model::{ClassSums, Link, NumberSums};

    #[test]
    fn errors_of_small_and_huge_targets_have_digits() {
        for (unit, shown) in [(1e-9, "RMSE 1.290994e-9"), (1.0, "RMSE 1.290994,"), (1e30, "RMSE 1.290994e30")]
        {
            let mut score = NumberSums::default();
            [(1.0, 2.0), (2.0, 2.0), (6.0, 4.0)].iter().for_each(|(y, f)| score.add(y * unit, f * unit));
            let line = line(&Errors::Numbers(score.errors("y").unwrap()));
            assert!(line.starts_with(shown), "{line}");
        }
    }

    #[test]
    fn errors_above_those_of_the_mean_are_told() {
        for (f, is_worse) in [(2.0, false), (9.0, true)] {
            let mut score = NumberSums::default();
            [1.0, 2.0, 3.0].iter().for_each(|y| score.add(*y, f));
            let warning = worse_than_mean(&Errors::Numbers(score.errors("y").unwrap()));
            assert_eq!(warning.is_some_and(|text| text.contains("no better than by its mean")), is_worse);
        }
    }

    fn sums(link: Link) -> ClassSums {
        ClassSums::new(&Classes::of(&TargetValues::Numbers(vec![1.0, 2.0])).0, link)
    }

    fn errors(sums: &ClassSums) -> Errors {
        Errors::Classes(sums.errors("y").unwrap())
    }

    #[test]
    fn a_class_without_training_rows_is_named() {
        let mut sums = sums(Link::Shares);
        sums.add(Ok(1), &[0.4, 0.6], Some(&[0.4, 0.6]));
        sums.add(Ok(0), &[0.4, 0.6], Some(&[0.4, 0.6]));
        sums.add(Ok(0), &[0.5, 0.5], Some(&[0.5, 0.5]));
        sums.add(Err("3".into()), &[0.4, 0.6], Some(&[0.4, 0.6]));
        let errors = errors(&sums);
        assert_eq!(warning(&errors), None);
        assert!(line(&errors).contains("on 4 rows, 1 of a class not in the training data, `3`"));
        let tables = tables(&errors);
        assert!(tables.iter().any(|(_, line)| line.trim_start().starts_with("3 ")), "a row of the matrix");
    }

    #[test]
    fn one_class_for_every_row_is_a_majority_vote() {
        let mut sums = sums(Link::Decisions);
        [0, 0, 1].into_iter().for_each(|truth| sums.add(Ok(truth), &[-0.3], None));
        let of_all = errors(&sums);
        let warning_of_all = warning(&of_all).unwrap();
        assert!(
            warning_of_all.contains("`1`") && warning_of_all.contains("majority vote"),
            "{warning_of_all}"
        );
        assert!(line(&of_all).ends_with("predicting the most frequent class: 0.6667"), "{}", line(&of_all));
        sums.add(Ok(0), &[0.3], None);
        assert_eq!(warning(&errors(&sums)), None);
    }
}
