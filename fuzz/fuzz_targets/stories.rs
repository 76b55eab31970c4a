#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::format::stories;

fuzz_target!(|data: &[u8]| {
    let _ = stories::parse("fuzz", data);
});
