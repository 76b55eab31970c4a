#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::format::images;

fuzz_target!(|data: &[u8]| {
    let _ = images::parse("fuzz", data);
});
