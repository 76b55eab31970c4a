#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::format::bounded::Input;
use matnet_data::local::SampleReader;

fuzz_target!(|data: &[u8]| {
    let Ok(mut reader) = Input::bytes("fuzz", data).and_then(SampleReader::from_npy) else { return };
    while let Ok(Some(_)) = reader.next_chunk(2) {}
});
