#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::catalog::readers::eeg;

fuzz_target!(|data: &[u8]| {
    let mut text = Vec::new();
    let _ = eeg::unpack_trial(data, &mut text).and_then(eeg::parse_trial);
});
