//! Which keys decide what the numbers of a run measure: runs that differ in them are not better or worse than each other.

use std::collections::BTreeSet;

use toml::Value;

use super::Document;

/// What is predicted, and from which test data. Each key with its default.
const TASK: [(&str, &str, &str); 9] = [
    ("data", "target_column", ""),
    ("data", "context_length", ""),
    ("data", "horizon", ""),
    ("data", "occlusion", ""),
    ("data", "tasks", ""),
    ("data", "width", ""),
    ("data", "item_length", ""),
    ("data", "test_length", ""),
    ("data", "test_repeats", ""),
];

/// The same of a forecast, whose metrics are in the units of the scaled table.
const FORECAST: [(&str, &str, &str); 3] =
    [("data", "scale", "\"none\""), ("data", "scale_per", ""), ("data", "columns", "")];

/// What a loss adds up, and in which unit.
const LOSS: [(&str, &str, &str); 5] = [
    ("train", "huber_delta", "1.0"),
    ("train", "label_smoothing", "0.0"),
    ("train", "class_weights", ""),
    ("data", "scale_target", "false"),
    ("model", "margin", ""),
];

/// The same where the net predicts its own inputs, or the next rows of its table.
const LOSS_OF_INPUTS: [(&str, &str, &str); 6] = [
    ("data", "scale", "\"none\""),
    ("data", "scale_per", ""),
    ("data", "normalize_window", ""),
    ("data", "spectrogram", ""),
    ("data", "log_mel", ""),
    ("data", "log", ""),
];

/// The keys that decide what is measured, by a loss or by something else.
fn keys(document: &Document, loss: bool) -> Vec<(&'static str, &'static str, &'static str)> {
    let has = |key: &str| document.get("data", key).is_some();
    let autoencoder = document.kind().and_then(Value::as_str) == Some("autoencoder");
    let own_inputs = autoencoder || has("window") || has("context_length");
    let mut keys = TASK.to_vec();
    if has("window") {
        keys.extend(FORECAST);
    }
    if loss {
        keys.extend(LOSS);
    }
    if loss && own_inputs {
        keys.extend(LOSS_OF_INPUTS);
    }
    keys
}

/// The first key in which runs measure different things, with its values; `loss` says whether they are compared by their losses.
pub(crate) fn different_measure<'a>(
    documents: impl Iterator<Item = &'a Document> + Clone,
    loss: bool,
) -> Option<String> {
    let all: BTreeSet<_> = documents.clone().flat_map(|document| keys(document, loss)).collect();
    all.into_iter().find_map(|(table, key, default)| {
        let value = |document: &Document| {
            document.get(table, key).map_or_else(|| default.to_owned(), Value::to_string)
        };
        let values: BTreeSet<String> = documents.clone().map(value).collect();
        let shown = |value: String| if value.is_empty() { "none".to_owned() } else { value };
        let listed = || values.iter().cloned().map(shown).collect::<Vec<_>>().join(", ");
        (values.len() > 1).then(|| format!("{table}.{key} is different ({})", listed()))
    })
}

/// Why a search cannot try values of a key, if it would change what trials are judged by.
pub(crate) fn changes_measure(document: &Document, path: &str, loss: bool) -> Option<&'static str> {
    let is = |(table, key, _): &(&str, &str, &str)| {
        let rest = path.strip_prefix(table).and_then(|rest| rest.strip_prefix('.')?.strip_prefix(key));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if keys(document, false).iter().any(is) {
        return Some("trials that predict different things cannot be compared");
    }
    // Validation sequences of an algorithm are generated like those of the training.
    if path == "data.repeats" || path == "data.length" && document.get("data", "valid_lengths").is_none() {
        return Some("trials with other validation sequences cannot be compared");
    }
    let why = "trials are judged by the loss, which it changes; train.monitor can name a metric that it does not change";
    keys(document, loss).iter().any(is).then_some(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(texts: [&str; 2], loss: bool) -> Option<String> {
        let documents = texts.map(|text| Document::parse(text).unwrap());
        different_measure(documents.iter(), loss)
    }

    #[test]
    fn losses_of_different_units_and_different_tasks() {
        let scaled = ["[data]\nscale_target = true", "[data]\nseed = 1"];
        assert_eq!(found(scaled, true).unwrap(), "data.scale_target is different (false, true)");
        assert_eq!(found(scaled, false), None);
        assert_eq!(found(["[data]\nscale_target = false", "[train]\nhuber_delta = 1.0"], true), None);
        let inputs = ["[data]\nscale = 'standardize'", "[data]\nscale = 'none'"];
        assert_eq!(found(inputs, true), None);
        for own in ["[model]\nkind = 'autoencoder'", "window = 3", "context_length = 3"] {
            let [one, other] = inputs.map(|text| format!("{text}\n{own}"));
            let expected = "data.scale is different (\"none\", \"standardize\")";
            assert_eq!(found([&one, &other], true).unwrap(), expected);
            assert_eq!(found([&one, &other], false).is_some(), own == "window = 3");
        }
        let columns = ["[data]\ntarget_column = 'a'", "[data]\ntarget_column = 'b'"];
        for loss in [true, false] {
            assert_eq!(found(columns, loss).unwrap(), "data.target_column is different (\"a\", \"b\")");
            let occluded = ["[data]\nocclusion = [2, 2]", ""];
            assert_eq!(found(occluded, loss).unwrap(), "data.occlusion is different (none, [2, 2])");
        }
    }

    #[test]
    fn keys_that_a_search_cannot_try() {
        let document = Document::parse("[model]\nkind = 'autoencoder'").unwrap();
        assert!(changes_measure(&document, "data.horizon", false).is_some());
        assert!(changes_measure(&document, "data.scale", true).is_some());
        assert!(changes_measure(&document, "data.log.offset", true).is_some());
        let lengths = Document::parse("[data]\nvalid_lengths = [3, 4]").unwrap();
        assert!(
            changes_measure(&document, "data.length", false).unwrap().contains("other validation sequences")
        );
        assert_eq!(changes_measure(&lengths, "data.length", false), None);
        assert!(changes_measure(&lengths, "data.repeats", false).is_some());
        for (path, loss) in [("data.scale", false), ("train.l2", true), ("data.scales", true)] {
            assert_eq!(changes_measure(&document, path, loss), None, "{path}");
        }
    }
}
