#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::format::pickle::Pickle;

fuzz_target!(|data: &[u8]| {
    if let Ok(pickle) = Pickle::parse("fuzz", data) {
        let _ = pickle.root_csr();
        let _ = pickle.root_array();
        let _ = pickle.root_lists(|_, _| {});
    }
});
