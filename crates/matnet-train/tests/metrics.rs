//! The metrics are scikit-learn's, on the cases of `peers/make-metrics-reference`.

use matnet_train::metrics::{Curve, Metric, Outcomes, Targets};
use serde_json::Value;

/// How far apart two numbers may be, relative to the larger one.
const TOLERANCE: f64 = 1e-12;

fn cases() -> Vec<Value> {
    serde_json::from_str(include_str!("metrics/cases.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn floats(value: &Value) -> Vec<f32> {
    numbers(value).into_iter().map(|number| number as f32).collect()
}

fn targets(kind: &str, value: &Value) -> Targets {
    match kind {
        "classes" => Targets::Classes(numbers(value).into_iter().map(|class| class as u32).collect()),
        "labels" => Targets::MultiLabels(numbers(value).into_iter().map(|flag| flag == 1.0).collect()),
        "values" => Targets::Values(floats(value)),
        other => panic!("{other}"),
    }
}

/// The case in two batches, since that is how a split comes.
fn outcomes(case: &Value) -> Outcomes {
    let kind = case["kind"].as_str().unwrap();
    let width = case["width"].as_u64().unwrap() as usize;
    let names = (0..width).map(|at| at.to_string()).collect();
    let [target, predicted] = ["targets", "predicted"].map(|key| targets(kind, &case[key]));
    let mut outcomes = Outcomes::new(names, &target);
    outcomes.add(
        targets(kind, &Value::Array(Vec::new())),
        targets(kind, &Value::Array(Vec::new())),
        vec![],
        None,
    );
    let weights = case["weights"].is_array().then(|| floats(&case["weights"]));
    outcomes.add(target, predicted, floats(&case["probabilities"]), weights);
    outcomes
}

#[track_caller]
fn check(what: &str, ours: Option<f64>, expected: &Value) {
    match (ours, expected.as_f64()) {
        (None, None) => {}
        (Some(ours), Some(theirs)) => {
            let far = (ours - theirs).abs() / ours.abs().max(theirs.abs()).max(1e-3);
            assert!(far < TOLERANCE, "{what}: {ours}, scikit-learn {theirs}");
        }
        (ours, theirs) => panic!("{what}: {ours:?}, scikit-learn {theirs:?}"),
    }
}

#[test]
fn metrics_are_those_of_scikit_learn() {
    let cases = cases();
    assert!(cases.len() >= 30);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let outcomes = outcomes(&case);
        let expected = case["expected"].as_object().unwrap();
        let wanted = outcomes.targets().metrics();
        assert_eq!(wanted.len(), expected.len(), "{name}");
        let (values, undefined) = outcomes.metrics(wanted);
        assert_eq!(values.iter().count() + undefined.len(), wanted.len(), "{name}: a value or a reason");
        for metric in wanted {
            check(&format!("{name}: {}", metric.key()), values.get(*metric), &expected[metric.key()]);
        }
        // What the targets alone rule out is what turns out to be undefined.
        for metric in [Metric::Auc, Metric::R2] {
            let before = outcomes.targets().undefined(metric, outcomes.width());
            let after = undefined.iter().find(|(of, _)| *of == metric).map(|(_, reason)| *reason);
            assert_eq!(before, after, "{name}: {}", metric.key());
        }
    }
}

#[test]
fn classes_labels_and_targets_are_those_of_scikit_learn() {
    for case in cases() {
        let name = case["name"].as_str().unwrap();
        let outcomes = outcomes(&case);
        let classes = outcomes.per_class();
        let expected = case["per_class"].as_array().cloned().unwrap_or_default();
        assert_eq!(classes.len(), expected.len(), "{name}");
        for (class, expected) in classes.iter().zip(&expected) {
            for (key, ours) in [
                ("precision", class.precision),
                ("recall", class.recall),
                ("f1", class.f1),
                ("auc", class.auc),
                ("average_precision", class.average_precision),
            ] {
                check(&format!("{name}: {key} of {}", class.name), ours, &expected[key]);
            }
        }
        let values = outcomes.per_value();
        let expected = case["per_value"].as_array().cloned().unwrap_or_default();
        assert_eq!(values.len(), expected.len(), "{name}");
        for (value, expected) in values.iter().zip(&expected) {
            for (key, ours) in [("mae", value.mae), ("rmse", value.rmse), ("r2", value.r2)] {
                check(&format!("{name}: {key} of {}", value.name), ours, &expected[key]);
            }
        }
    }
}

/// Whether every point of `part` is one of `all`, in the same order.
fn is_part_of(part: &Curve, all: &[(f64, f64)]) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() < TOLERANCE;
    let mut rest = all.iter();
    part.iter().all(|(x, y)| rest.any(|(u, v)| near(*x, *u) && near(*y, *v)))
}

#[test]
fn curves_are_those_of_scikit_learn() {
    let (mut rocs, mut calibrations) = (0, 0);
    for case in cases() {
        let name = case["name"].as_str().unwrap();
        let pairs = |key: &str| -> Option<Vec<(f64, f64)>> {
            let both = case.get(key)?;
            Some(numbers(&both[0]).into_iter().zip(numbers(&both[1])).collect())
        };
        let outcomes = outcomes(&case);
        let ranking = outcomes.ranking(1);
        if let (Some(roc), Some(ranking)) = (pairs("roc"), &ranking) {
            let ours = ranking.roc();
            assert!(is_part_of(&ours, &roc), "{name}: ROC");
            assert_eq!((ours.first(), ours.last()), (Some(&(0.0, 0.0)), Some(&(1.0, 1.0))), "{name}");
            let area: f64 = ours.windows(2).map(|w| (w[1].0 - w[0].0) * (w[0].1 + w[1].1) / 2.0).sum();
            check(&format!("{name}: area"), Some(area), &case["expected"]["auc"]);
            rocs += 1;
        }
        if let (Some(curve), Some(ranking)) = (pairs("precision_recall"), &ranking) {
            // scikit-learn ends where all positives are found.
            let ours: Curve = ranking.precision_recall().into_iter().take(curve.len()).collect();
            assert_eq!(ours.len(), curve.len(), "{name}");
            assert!(is_part_of(&ours, &curve), "{name}: precision and recall");
        }
        if let Some(expected) = pairs("calibration") {
            let bins = outcomes.calibration(10).unwrap();
            let ours: Curve = bins.iter().map(|bin| (bin.predicted, bin.observed)).collect();
            assert_eq!(ours.len(), expected.len(), "{name}");
            assert!(is_part_of(&ours, &expected), "{name}: calibration");
            assert_eq!(bins.iter().map(|bin| bin.examples).sum::<usize>(), outcomes.rows(), "{name}");
            calibrations += 1;
        }
    }
    assert!(rocs >= 4 && calibrations >= 2);
}

#[test]
fn nothing_is_ever_not_a_number() {
    for case in cases() {
        let kind = case["kind"].as_str().unwrap();
        let width = case["width"].as_u64().unwrap() as usize;
        let names: Vec<String> = (0..width).map(|at| at.to_string()).collect();
        let target = targets(kind, &case["targets"]);
        // No examples at all, and outputs that are not finite.
        let empty = Outcomes::new(names.clone(), &target);
        let mut broken = Outcomes::new(names, &target);
        let mut predicted = targets(kind, &case["predicted"]);
        if let Targets::Values(values) = &mut predicted {
            values[0] = f32::INFINITY;
        }
        let mut probabilities = floats(&case["probabilities"]);
        if let Some(first) = probabilities.first_mut() {
            *first = f32::NAN;
        }
        broken.add(target, predicted, probabilities, None);
        for outcomes in [empty, broken] {
            let (values, undefined) = outcomes.metrics(outcomes.targets().metrics());
            assert_eq!(values.iter().count(), 0);
            assert_eq!(undefined.len(), outcomes.targets().metrics().len());
            assert!(outcomes.per_class().iter().all(|class| class.auc.is_none()));
            assert!(outcomes.per_value().iter().all(|value| value.mae.is_none()));
        }
    }
}
