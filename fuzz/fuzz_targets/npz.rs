#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::format::npz;

fuzz_target!(|data: &[u8]| {
    let _ = npz::parse("fuzz", data);
});
