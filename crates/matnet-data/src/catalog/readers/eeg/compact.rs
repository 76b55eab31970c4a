//! The trials as two `.npz` files: `adc` i2 `[n, 64, 256]`, `offset` f4 `[n, 64]`, `step` f8, with
//! microvolts = offset + adc · step, rounded to the three decimals that the raw files print.

use std::path::Path;

use crate::catalog::readers::eeg::{CHANNELS, EegSubset, Gather, SAMPLES, Stimulus, TrialInfo};
use crate::format::npz::{self, Npz};
use crate::format::raw::RawValues;
use crate::{Error, Result};

const FILES: [(&str, EegSubset); 2] =
    [("smni_cmi_train.npz", EegSubset::Train), ("smni_cmi_test.npz", EegSubset::Test)];

/// Loads the files of a folder in this format, or one such file; `None` if there are none.
pub(super) fn load(path: &Path) -> Result<Option<Gather>> {
    let mut gather = Gather::default();
    let mut any = false;
    for (name, subset) in FILES {
        let file = if path.is_dir() { path.join(name) } else { path.to_owned() };
        if file.is_file() && file.file_name().is_some_and(|n| n == name) {
            add(&mut gather, &file, subset)?;
            any = true;
        }
    }
    Ok(any.then_some(gather))
}

fn add(gather: &mut Gather, path: &Path, subset: EegSubset) -> Result<()> {
    let mut npz = npz::read(path)?;
    let adc = npz.take("adc")?;
    let &[count, CHANNELS, SAMPLES] = adc.shape() else {
        let what = format!("array \"adc\" has shape {:?}; [n, {CHANNELS}, {SAMPLES}] expected", adc.shape());
        return Err(Error::format(path, what));
    };
    let adc = adc.map_integers(Some);
    let adc = adc.ok_or_else(|| Error::format(path, "array \"adc\" does not hold integers"))?;
    let offset = npz.take("offset")?.into_array(&npz.name_of("offset"))?;
    let step = match npz.take("step")?.values() {
        RawValues::F64(v) if v.len() == 1 => v[0],
        _ => return Err(Error::format(path, "array \"step\" is not one f8")),
    };
    let integers = |npz: &mut Npz, key: &str| -> Result<Vec<u32>> {
        let raw = npz.take(key)?;
        let one = |n: i64| u32::try_from(n).ok();
        let whole = raw.map_integers(one).filter(|v| v.len() == count);
        whole.ok_or_else(|| Error::format(npz.name_of(key), format!("{count} integers expected")))
    };
    let stimulus = integers(&mut npz, "stimulus")?;
    let number = integers(&mut npz, "trial")?;
    let header = integers(&mut npz, "header_trial")?;
    let texts = |npz: &mut Npz, key: &str, wanted: usize| -> Result<Vec<String>> {
        let found = npz.take(key)?.texts().filter(|v| v.len() == wanted);
        found.ok_or_else(|| Error::format(npz.name_of(key), format!("{wanted} strings expected")))
    };
    let subject = texts(&mut npz, "subject", count)?;
    let channels = texts(&mut npz, "channels", CHANNELS)?;
    if offset.shape() != [count, CHANNELS] {
        return Err(Error::format(path, "array \"offset\" is not one number per trial and channel"));
    }
    for at in 0..count {
        let stimulus = match stimulus[at] {
            0 => Stimulus::Single,
            1 => Stimulus::Match,
            2 => Stimulus::NoMatch,
            other => {
                return Err(Error::format(
                    path,
                    format!("stimulus {other} of trial {at}; 0, 1 or 2 expected"),
                ));
            }
        };
        let info = TrialInfo {
            subject: subject[at].clone(),
            number: number[at],
            subset,
            stimulus,
            wrong: false,
            header_trial: header[at],
        };
        let mut microvolts = Vec::with_capacity(CHANNELS * SAMPLES);
        for channel in 0..CHANNELS {
            let base = f64::from(offset.sample(at)[channel]);
            let from = (at * CHANNELS + channel) * SAMPLES;
            let value = |&n: &i64| (((base + n as f64 * step) * 1000.0).round_ties_even() / 1000.0) as f32;
            microvolts.extend(adc[from..from + SAMPLES].iter().map(value));
        }
        gather.add(&path.join(format!("{at}")).to_string_lossy(), Ok((info, channels.clone(), microvolts)));
    }
    Ok(())
}
