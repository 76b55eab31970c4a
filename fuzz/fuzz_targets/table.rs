#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::format::bounded::Input;
use matnet_data::format::table::{self, ColumnKind, TableNames};

fuzz_target!(|data: &[u8]| {
    let open = || Input::bytes("fuzz", data);
    let Ok(head) = open().and_then(|input| table::scan_input(input, TableNames::Detect)) else { return };
    let is_text = |column: &usize| head.kinds[*column] == ColumnKind::Text;
    let (texts, numbers): (Vec<usize>, Vec<usize>) = (0..head.names.len()).partition(is_text);
    let _ = open().and_then(|input| table::read_input(input, &head, &numbers, &texts));
});
