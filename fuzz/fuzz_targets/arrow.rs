#![no_main]

use libfuzzer_sys::fuzz_target;
use matnet_data::format::columnar::ColumnarTable;
use matnet_data::format::table::ColumnKind;

fuzz_target!(|data: &[u8]| {
    let Ok(table) = ColumnarTable::parse("fuzz", data) else { return };
    let is_text = |column: &usize| table.head().kinds[*column] == ColumnKind::Text;
    let (texts, numbers): (Vec<usize>, Vec<usize>) = (0..table.head().names.len()).partition(is_text);
    let _ = table.read(&numbers, &texts);
});
