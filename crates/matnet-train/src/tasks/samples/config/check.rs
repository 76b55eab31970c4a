//! What can be checked of `[data]` without the data.

use matnet::ConfigError;
use matnet_data::catalog::{self, MovingSequences};
use matnet_data::transform::stft::{Stft, StftValue};

use super::{Missing, SampleDataConfig, SampleSplitConfig, Scale, SplitRule};
use crate::Result;
use crate::config::{Amount, shown};
use crate::error::at;

impl SampleDataConfig {
    fn check_forecast(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, value: String, expected: &str| Err(ConfigError::new(key, value, expected));
        match (self.window, self.horizon) {
            (Some(window), None) => {
                return wrong(
                    "window",
                    window.to_string(),
                    "forecasting uses it, with data.horizon: the rows to predict",
                );
            }
            (None, Some(horizon)) => {
                return wrong(
                    "horizon",
                    horizon.to_string(),
                    "forecasting uses it, with data.window: the rows to read",
                );
            }
            (None, None) => {
                return match self.normalize_window {
                    Some(how) => {
                        let value = format!("{how:?}").to_lowercase();
                        wrong(
                            "normalize_window",
                            value,
                            "only forecasting uses it, with data.window and data.horizon",
                        )
                    }
                    None => Ok(()),
                };
            }
            (Some(_), Some(_)) => {}
        }
        let others = [
            ("valid", self.valid.as_ref().map(shown)),
            ("test", self.test.as_ref().map(shown)),
            ("limit", self.limit.as_ref().map(shown)),
            ("context_length", self.context_length.as_ref().map(shown)),
            ("occlusion", self.occlusion.as_ref().map(shown)),
            ("permute", self.permute.then(|| shown(&true))),
            ("spectrogram", self.spectrogram.as_ref().map(shown)),
            ("log_mel", self.log_mel.as_ref().map(shown)),
            ("log", self.log.as_ref().map(shown)),
            ("scale_per", self.scale_per.as_ref().map(shown)),
            ("scale_target", self.scale_target.as_ref().map(shown)),
        ];
        match others.into_iter().find_map(|(key, value)| Some((key, value?))) {
            Some((key, value)) => wrong(key, value, "windows over a table do not use it; leave it out"),
            None => Ok(()),
        }
    }

    /// The first key that only files use, if one is given.
    fn file_key(&self) -> Option<&'static str> {
        let given = [
            ("target", self.target.is_some()),
            ("target_column", self.target_column.is_some()),
            ("columns", self.columns.is_some()),
            ("shape", self.shape.is_some()),
            ("image_size", self.image_size.is_some()),
            ("color", self.color.is_some()),
        ];
        given.into_iter().find_map(|(key, given)| given.then_some(key))
    }

    /// Everything that can be checked without the data.
    pub(crate) fn check(&self) -> Result<()> {
        self.checked().map_err(at("data"))
    }

    fn checked(&self) -> Result<(), ConfigError> {
        let wrong = |key: &str, value: String, expected: &str| Err(ConfigError::new(key, value, expected));
        self.split.check()?;
        if let Some(per) = self.scale_per.filter(|_| self.scale == Scale::None) {
            return wrong(
                "scale_per",
                format!("{per:?}").to_lowercase(),
                "only scale uses it, and there is none",
            );
        }
        self.check_forecast()?;
        if self.missing_mask && self.missing == Missing::Error {
            let expected = "only data.missing uses it, and that is \"error\"";
            return wrong("missing_mask", "true".to_owned(), expected);
        }
        if self.missing_mask && (self.spectrogram.is_some() || self.log_mel.is_some()) {
            return wrong(
                "missing_mask",
                "true".to_owned(),
                "a spectrogram has no missing values; leave it out",
            );
        }
        if let Some(stft) = self.spectrogram.filter(|stft| stft.value != StftValue::Density)
            && stft.sample_rate != Stft::default().sample_rate
        {
            let rate = stft.sample_rate.to_string();
            return wrong("spectrogram.sample_rate", rate, "only value = \"density\" uses it");
        }
        if self.split.per_seed && (self.window.is_some() || self.split.rule == Some(SplitRule::Chronological))
        {
            let expected = "rows and samples in the order of time have one split for all seeds; leave it out";
            return wrong("split.per_seed", "true".to_owned(), expected);
        }
        if let Some(mel) = self.log_mel.as_ref().filter(|_| self.spectrogram.is_some()) {
            return wrong("log_mel", shown(mel), "data.spectrogram is given, too; one of them expected");
        }
        for (key, problem) in [
            ("log_mel", self.log_mel.and_then(|mel| mel.check().err())),
            ("log", self.log.and_then(|log| log.check().err())),
            ("augment", self.augment.and_then(|augment| augment.check().err())),
        ] {
            if let Some(problem) = problem {
                return wrong(key, problem.to_string(), "see the table of keys");
            }
        }
        for (key, value) in [
            ("limit", self.limit),
            ("sequences", self.sequences),
            ("context_length", self.context_length),
            ("shuffle_block", self.shuffle_block),
            ("window", self.window),
            ("horizon", self.horizon),
        ] {
            if value == Some(0) {
                return wrong(key, "0".to_owned(), "must be at least 1");
            }
        }
        if let Some(key) = self.file_key().filter(|_| catalog::get(&self.source).is_ok()) {
            let value = format!("for {}", self.source);
            return wrong(key, value, "only files use it, and this is a dataset with a name");
        }
        let generated = MovingSequences::NAMES.contains(&self.source.as_str());
        if self.layout.is_some() && generated {
            let value = format!("for {}", self.source);
            return wrong("layout", value, "frames are matrices already; leave it out");
        }
        if let Some((key, path)) = [("valid", &self.valid), ("test", &self.test)]
            .into_iter()
            .find_map(|(key, path)| Some((key, path.as_ref()?)).filter(|_| generated))
        {
            let expected =
                format!("the sequences of {} are generated, and split as data.split says", self.source);
            return wrong(key, path.clone(), &expected);
        }
        // 0 is what a run writes down.
        let drawn = ![SampleSplitConfig::default().valid, Amount::Count(0)].contains(&self.split.valid);
        if self.valid.is_some() && drawn {
            let value = self.split.valid.to_string();
            return wrong("split.valid", value, "data.valid is the validation split; leave it out");
        }
        if let Some(test) = self.split.test.filter(|_| self.test.is_some()) {
            return wrong("split.test", test.to_string(), "data.test is the test split; leave it out");
        }
        if self.sequences.is_some() && !MovingSequences::NAMES.contains(&self.source.as_str()) {
            let value = format!("for {}", self.source);
            return wrong(
                "sequences",
                value,
                "only moving-mnist and moving-digits generate sequences; `limit` takes fewer samples",
            );
        }
        Ok(())
    }
}
