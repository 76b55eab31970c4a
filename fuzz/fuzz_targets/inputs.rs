#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::format::bounded::Input;
use matnet_data::inputs::Inputs;

fuzz_target!(|data: &[u8]| {
    let Ok(mut inputs) = Input::bytes("fuzz", data).and_then(Inputs::npy) else { return };
    while let Ok(Some(_)) = inputs.next(2) {}
});
