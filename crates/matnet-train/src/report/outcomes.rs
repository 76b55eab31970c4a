//! Targets against predictions: the metrics of each class or target, and the curves.

use matnet_report::chart::{ChartSeries, ConfusionChart, Histogram, LineChart, Scatter};
use matnet_report::page::{Figure, Page};
use matnet_report::table::{Table, TableCell, TableColumn};
use matnet_report::text::{count, counted, number};

use crate::Split;
use crate::metrics::{Curve, Outcomes, PerClass, PerValue, Ranking, Targets};
use crate::task::{Confusion, Evaluation};

/// Classes that a confusion matrix can show, and classes whose shares fit beside the counts.
const MAX_CLASSES: usize = 60;
/// Rows of the table of classes.
const MAX_ROWS: usize = 60;
/// Classes with a curve of their own.
const MAX_CURVES: usize = 6;
/// Points of a curve: more would not be seen.
const MAX_POINTS: f64 = 300.0;
/// Points of a scatter plot.
const MAX_MARKS: usize = 2000;
/// Targets of a regression with pictures of their own.
const MAX_TARGETS: usize = 6;
/// Intervals of probabilities, and, at most, of residuals.
const BINS: usize = 10;
const RESIDUAL_BINS: usize = 30;

/// Everything about the predictions of a split.
pub fn section(page: &mut Page, evaluation: &Evaluation, split: Split) {
    let of = format!("{} split", split.title());
    if !evaluation.per_class.is_empty() {
        page.table(&class_table(&evaluation.per_class, &caption(&of, evaluation)));
    }
    if !evaluation.per_target.is_empty() {
        page.table(&target_table(&evaluation.per_target, &caption(&of, evaluation)));
    }
    if let Some(confusion) = &evaluation.confusion {
        confusion_matrix(page, confusion, &of, &caption(&of, evaluation));
    }
    let Some(outcomes) = &evaluation.outcomes else { return };
    match outcomes.targets() {
        Targets::Values(targets) => regression(page, outcomes, targets, &of),
        _ => {
            ranking_curves(page, evaluation, outcomes, &of);
            calibration(page, outcomes, &of);
        }
    }
}

/// Which examples a table or figure is about.
fn caption(of: &str, evaluation: &Evaluation) -> String {
    let rows = evaluation.outcomes.as_ref().map_or(0, Outcomes::rows);
    let examples = counted(evaluation.score.examples, "example");
    match rows == evaluation.score.examples || rows == 0 {
        true => format!("{of}, {examples}"),
        false => format!("{of}, {examples} with {} predictions", count(rows)),
    }
}

fn class_table(classes: &[PerClass], of: &str) -> Table {
    let shown = &classes[..classes.len().min(MAX_ROWS)];
    let left_out = match classes.len() - shown.len() {
        0 => String::new(),
        left => format!("; {left} more are left out"),
    };
    let mut table = Table::new([
        TableColumn::text("class"),
        TableColumn::number("support"),
        TableColumn::number("predicted"),
        TableColumn::number("precision"),
        TableColumn::number("recall"),
        TableColumn::number("F1"),
        TableColumn::number("ROC AUC"),
        TableColumn::number("average precision"),
    ])
    .with_caption(format!("Metrics per class, higher is better; {of}{left_out}."));
    for class in shown {
        let metrics = [class.precision, class.recall, class.f1, class.auc, class.average_precision];
        let counts = [class.support, class.predicted].map(TableCell::count);
        table.push(std::iter::once(class.name.as_str().into()).chain(counts).chain(metrics.map(cell)));
    }
    table
}

fn target_table(targets: &[PerValue], of: &str) -> Table {
    let mut table = Table::new([
        TableColumn::text("target"),
        TableColumn::number("MAE ↓"),
        TableColumn::number("RMSE ↓"),
        TableColumn::number("R² ↑"),
    ])
    .with_caption(format!("Metrics per target, in its own units; {of}."));
    for target in targets {
        let errors = [target.mae, target.rmse].map(|error| match error {
            Some(error) => number(error).into(),
            None => TableCell::Empty,
        });
        table.push(
            std::iter::once(target.name.as_str().into())
                .chain(errors)
                .chain(std::iter::once(cell(target.r2))),
        );
    }
    table
}

fn cell(value: Option<f64>) -> TableCell {
    value.map_or(TableCell::Empty, |value| TableCell::number(value, 3))
}

/// The confusion matrix in counts and in percent, unless there are too many classes to show.
fn confusion_matrix(page: &mut Page, confusion: &Confusion, of: &str, about: &str) {
    if confusion.classes().len() > MAX_CLASSES {
        return;
    }
    let chart = |title: String| ConfusionChart::new(title, confusion.classes(), confusion.counts().to_vec());
    let counts = chart(format!("Confusion matrix, {of}")).svg();
    let shares = chart(format!("Confusion matrix in percent, {of}")).normalized().svg();
    page.figures([
        Figure::svg(counts, format!("Rows are the target classes, columns the predictions; {about}.")),
        Figure::svg(shares, format!("The same, each row in percent of its target class; {about}.")),
    ]);
}

fn two_classes(outcomes: &Outcomes) -> bool {
    matches!(outcomes.targets(), Targets::Classes(_)) && outcomes.width() == 2
}

/// The classes whose curves are drawn: the second of two, all of a few, else those with the lowest AUC.
fn curve_classes(evaluation: &Evaluation, outcomes: &Outcomes) -> (Vec<usize>, &'static str) {
    if two_classes(outcomes) {
        return (vec![1], "");
    }
    let auc = |class: usize| {
        let name = &outcomes.names()[class];
        evaluation.per_class.iter().find(|per_class| per_class.name == *name)?.auc
    };
    let mut all: Vec<(usize, f64)> =
        (0..outcomes.width()).filter_map(|class| Some((class, auc(class)?))).collect();
    if all.len() <= MAX_CURVES {
        return (all.into_iter().map(|(class, _)| class).collect(), "");
    }
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    (
        all.into_iter().take(MAX_CURVES).map(|(class, _)| class).collect(),
        " Shown are the classes with the lowest area.",
    )
}

/// ROC and precision–recall curves.
fn ranking_curves(page: &mut Page, evaluation: &Evaluation, outcomes: &Outcomes, of: &str) {
    let (classes, which) = curve_classes(evaluation, outcomes);
    let mut roc = LineChart::new(format!("ROC, {of}"))
        .with_axes("false positive rate", "true positive rate")
        .with_size(480, 420)
        .without_markers()
        .with_guide("chance", (0.0, 0.0), (1.0, 1.0));
    let mut precision = LineChart::new(format!("Precision and recall, {of}"))
        .with_axes("recall", "precision")
        .with_size(480, 420)
        .without_markers()
        .with_area((0.0, 0.0), (1.0, 1.0));
    let mut drawn = false;
    for class in classes {
        let Some(ranking) = outcomes.ranking(class) else { continue };
        let (Ok(auc), Ok(average)) = (ranking.auc(), ranking.average_precision()) else { continue };
        let name = &outcomes.names()[class];
        roc = roc.with_series(ChartSeries::new(format!("{name}: area {auc:.3}"), thinned(ranking.roc())));
        let curve = thinned(Ranking::precision_recall(&ranking));
        precision = precision.with_series(ChartSeries::new(format!("{name}: average {average:.3}"), curve));
        drawn = true;
    }
    if drawn {
        let examples = count(outcomes.rows());
        let about = match two_classes(outcomes) {
            true => format!("The higher the curve, the better; {of}, {examples} predictions."),
            false => format!(
                "One class against the rest; the higher the curve, the better; {of}, {examples} predictions.{which}"
            ),
        };
        page.figures([Figure::svg(roc.svg(), about.clone()), Figure::svg(precision.svg(), about)]);
    }
}

/// Without points that lie closer together than can be seen.
fn thinned(curve: Curve) -> Curve {
    let mut kept: Curve = Vec::new();
    let last = curve.last().copied();
    for point in curve {
        let far = |from: &(f64, f64)| (point.0 - from.0).abs() + (point.1 - from.1).abs() >= 2.0 / MAX_POINTS;
        if kept.last().is_none_or(far) {
            kept.push(point);
        }
    }
    kept.pop_if(|kept| Some(*kept) == last);
    kept.extend(last);
    kept
}

/// Probabilities against frequencies, and how often each probability is given.
fn calibration(page: &mut Page, outcomes: &Outcomes, of: &str) {
    let Some(bins) = outcomes.calibration(BINS).filter(|bins| !bins.is_empty()) else { return };
    let two = two_classes(outcomes);
    let (what, share) = match outcomes.targets() {
        _ if two => {
            let name = &outcomes.names()[1];
            (format!("probability of {name}"), format!("share that is {name}"))
        }
        Targets::MultiLabels(_) => ("probability of a label".to_owned(), "share that has it".to_owned()),
        _ => ("probability of the predicted class".to_owned(), "share that is right".to_owned()),
    };
    let points = bins.iter().map(|bin| (bin.predicted, bin.observed));
    let curve = LineChart::new(format!("Calibration, {of}"))
        .with_axes(what.as_str(), share)
        .with_size(480, 420)
        .with_guide("perfect", (0.0, 0.0), (1.0, 1.0))
        .with_series(ChartSeries::new("net", points));
    let total: usize = bins.iter().map(|bin| bin.examples).sum();
    let width = outcomes.width();
    let all = outcomes.probabilities();
    let given: Vec<f64> = match (outcomes.targets(), outcomes.predicted()) {
        (Targets::Classes(_), _) if two => all.iter().skip(1).step_by(2).map(|p| f64::from(*p)).collect(),
        (Targets::Classes(_), Targets::Classes(predicted)) => predicted
            .iter()
            .enumerate()
            .map(|(at, &class)| f64::from(all[at * width + class as usize]))
            .collect(),
        _ => all.iter().map(|p| f64::from(*p)).collect(),
    };
    let histogram = Histogram::between(format!("Probabilities given, {of}"), given, BINS, [0.0, 1.0])
        .with_axes(what.as_str(), "predictions")
        .with_size(480, 420);
    let about = format!("{of}, {} predictions in {BINS} intervals", count(total));
    page.figures([
        Figure::svg(curve.svg(), format!("On the dashed line, probabilities are frequencies; {about}.")),
        Figure::svg(histogram.svg(), format!("How often each probability is given; {about}.")),
    ]);
}

/// Predicted against true values, and the residuals.
fn regression(page: &mut Page, outcomes: &Outcomes, targets: &[f32], of: &str) {
    let Targets::Values(predicted) = outcomes.predicted() else { return };
    let (width, rows) = (outcomes.width(), outcomes.rows());
    let every = rows.div_ceil(MAX_MARKS).max(1);
    for (target, name) in outcomes.names().iter().enumerate().take(MAX_TARGETS) {
        let pair = |row: usize| {
            let at = row * width + target;
            (f64::from(targets[at]), f64::from(predicted[at]))
        };
        let points: Vec<(f64, f64)> = (0..rows).step_by(every).map(pair).collect();
        let ends = points.iter().flat_map(|point| [point.0, point.1]).filter(|value| value.is_finite());
        let (low, high) = ends
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            continue;
        }
        let shown = match every {
            1 => counted(rows, "example"),
            _ => format!("{} of {} examples", count(points.len()), count(rows)),
        };
        let scatter = Scatter::new(format!("{name}: predicted against true, {of}"))
            .with_axes("true value", "predicted value")
            .with_size(480, 420)
            .with_guide("perfect", (low, low), (high, high))
            .with_points("", points);
        let residuals = (0..rows).map(pair).map(|(target, predicted)| predicted - target);
        let bins = ((rows as f64).sqrt() as usize).clamp(5, RESIDUAL_BINS);
        let histogram = Histogram::new(format!("{name}: residuals, {of}"), residuals, bins)
            .with_axes("predicted − true", "examples")
            .with_size(480, 420);
        page.figures([
            Figure::svg(scatter.svg(), format!("On the dashed line, predictions are exact; {of}, {shown}.")),
            Figure::svg(
                histogram.svg(),
                format!("Residuals: predicted minus true value; {of}, {}.", counted(rows, "example")),
            ),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::MetricValues;
    use crate::run::Score;

    fn page(names: &[&str], targets: Targets, predicted: Targets, probabilities: Vec<f32>) -> String {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        let mut outcomes = Outcomes::new(names, &targets);
        outcomes.add(targets, predicted, probabilities, None);
        let score =
            Score { loss: 1.0, error: None, examples: outcomes.rows(), metrics: MetricValues::default() };
        let mut page = Page::new("t");
        section(&mut page, &Evaluation::new(score).with_outcomes(outcomes), Split::Test);
        page.html()
    }

    /// Numbers between 0 and 1 that look random.
    fn numbers(count: usize) -> Vec<f32> {
        (0..count).map(|at| (at * 37 % 101) as f32 / 101.0).collect()
    }

    #[test]
    fn values_have_a_table_a_scatter_plot_and_residuals() {
        let targets = numbers(120);
        let predicted = targets.iter().zip(numbers(400)).map(|(a, b)| a + b * 0.3 - 0.1).collect();
        let html = page(&["width", "height"], Targets::Values(targets), Targets::Values(predicted), vec![]);
        for part in [
            "Metrics per target, in its own units; test split, 60 examples.",
            "width: predicted against true, test split",
            "height: residuals, test split",
        ] {
            assert!(html.contains(part), "{part}");
        }
        assert!(!html.contains("NaN") && !html.contains("Confusion"));
    }

    #[test]
    fn labels_have_curves_and_no_confusion_matrix() {
        let probabilities = numbers(150);
        let flags = |threshold: f32| probabilities.iter().map(|p| *p > threshold).collect();
        let (targets, predicted) = (Targets::MultiLabels(flags(0.6)), Targets::MultiLabels(flags(0.5)));
        let html = page(&["a", "b", "c"], targets, predicted, probabilities.clone());
        for part in ["Metrics per class", "ROC, test split", "c: area 1.000", "probability of a label"] {
            assert!(html.contains(part), "{part}");
        }
        assert!(!html.contains("NaN") && !html.contains("Confusion"));
    }

    #[test]
    fn of_many_classes_the_worst_have_curves() {
        let names: Vec<String> = (0..12).map(|class| format!("class {class}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let targets: Vec<u32> = (0..240).map(|row| row % 12).collect();
        let html = page(
            &names,
            Targets::Classes(targets.clone()),
            Targets::Classes(targets.iter().map(|class| class / 2).collect()),
            numbers(240 * 12),
        );
        let curves = names.iter().filter(|name| html.contains(&format!(">{name}: area "))).count();
        assert_eq!(curves, MAX_CURVES);
        assert!(
            html.contains("Shown are the classes with the lowest area.")
                && html.contains("Confusion matrix in percent")
        );
    }

    #[test]
    fn one_class_only_leaves_curves_out() {
        let classes = || Targets::Classes(vec![0; 5]);
        let html = page(&["a", "b"], classes(), classes(), numbers(10));
        assert!(!html.contains("ROC, ") && html.contains("Calibration") && !html.contains("NaN"));
    }

    #[test]
    fn a_long_curve_keeps_its_ends_and_its_shape() {
        let curve: Curve = (0..=10_000).map(|at| (f64::from(at) / 1e4, f64::from(at) / 1e4)).collect();
        let short = thinned(curve.clone());
        assert!(short.len() <= 303, "{}", short.len());
        assert_eq!((short.first(), short.last()), (curve.first(), curve.last()));
    }
}
