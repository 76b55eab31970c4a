#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::format::bounded::Input;
use matnet_data::format::wav;

fuzz_target!(|data: &[u8]| {
    let _ = Input::bytes("fuzz", data).and_then(wav::parse);
});
