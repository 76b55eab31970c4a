#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::source::babi;

fuzz_target!(|data: &[u8]| {
    let _ = babi::parse("fuzz", data);
});
