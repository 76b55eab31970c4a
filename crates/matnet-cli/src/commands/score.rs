//! Scores in words.

use matnet_report::text;
use matnet_train::metrics::Metric;
use matnet_train::run::Score;

/// A score in words.
pub fn score_text(score: Score) -> String {
    match score.error {
        Some(error) => format!("error {:.2} % (loss {})", 100.0 * error, text::number(score.loss)),
        None => {
            let others = [Metric::ExactMatch, Metric::R2].into_iter();
            let others = others.filter_map(|metric| Some((metric, score.metric(metric)?)));
            let others =
                others.map(|(metric, value)| format!(", {} {}", metric.title(), text::number(value)));
            format!("loss {}{}", text::number(score.loss), others.collect::<String>())
        }
    }
}
