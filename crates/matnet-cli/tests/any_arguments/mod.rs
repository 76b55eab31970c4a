//! Command lines of any kind. The tests try random ones; the fuzz target `arguments` looks for more. Nothing touches the disk.

use matnet_train::Document;
use matnet_train::plan::run_specs;
use matnet_train::registry::NETS;

/// Parses the lines of an input as arguments, as overrides of a template, and as a config. The first byte chooses the template.
pub fn try_input(data: &[u8]) {
    let Some((&first, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let overrides = matnet_cli::parse(std::iter::once("matnet").chain(text.lines())).unwrap_or_default();
    let net = &NETS[usize::from(first) % NETS.len()];
    let mut document = Document::parse(&net.template()).expect("a template");
    for assignment in overrides.iter().map(String::as_str).chain(text.lines()) {
        let _ = document.set(assignment);
    }
    let _ = (document.train(), document.source());
    if let Ok(specs) = run_specs(&document, "runs/x".as_ref(), Some(2)) {
        specs.iter().for_each(|spec| drop(spec.document.train()));
    }
    if let Ok(document) = Document::parse(&text) {
        let _ = (document.train(), document.variants());
    }
}
