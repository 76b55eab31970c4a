#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::format::bounded::Input;
use matnet_data::format::edgelist;

fuzz_target!(|data: &[u8]| {
    // the list of edges, a zero, the table of nodes
    let cut = data.iter().position(|&b| b == 0).unwrap_or(data.len());
    let (edges, nodes) = (&data[..cut], data.get(cut + 1..).unwrap_or_default());
    let _ = edgelist::parse(Input::bytes_packed("fuzz", edges), Input::bytes_packed("fuzz", nodes));
});
