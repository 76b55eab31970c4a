#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::format::archive;

fuzz_target!(|data: &[u8]| {
    let _ = archive::each_bytes("fuzz", data, &mut |mut entry| {
        if archive::is_archive(&entry.name) {
            return archive::each_in(entry.input, &mut |mut inner| inner.input.rest().map(drop));
        }
        entry.input.rest().map(drop)
    });
});
