//! Points in space that a reader can turn.

use std::fmt::Write;

use crate::chart::Scatter3;
use crate::colour::{SERIES, marker};
use crate::escape::{json, markup};
use crate::number::coordinate;

/// The still drawing, and the data from which the page's script draws what moves.
pub(super) fn html(cloud: &Scatter3, caption: &str) -> String {
    let title = markup(&cloud.words.title);
    let mut html = format!(
        "<figure class=\"cloud\">\n<div class=\"draw still\">{}</div>\n\
         <div class=\"live\" hidden><p class=\"cloud-title\">{title}</p><div class=\"keys\"></div>\
         <canvas tabindex=\"0\" role=\"img\" aria-label=\"{title}. Arrow keys turn, plus and minus zoom.\"></canvas>\
         <p class=\"help\">Drag or use the arrow keys to turn; pinch, wheel (after a click) or + and − to zoom; \
         0 starts again.</p></div>\n<script type=\"application/json\">{}</script>\n",
        cloud.svg(),
        data(cloud)
    );
    if !caption.is_empty() {
        let _ = writeln!(html, "<figcaption>{}</figcaption>", markup(caption));
    }
    html.push_str("</figure>\n");
    html
}

fn data(cloud: &Scatter3) -> String {
    let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(",");
    let names = list(&mut cloud.classes.iter().map(|class| json(&class.name)));
    let axes = list(&mut cloud.axes.iter().map(|axis| json(axis)));
    let marks = list(&mut (0..cloud.classes.len()).map(|place| json(&marker(place, 0.0, 0.0, 4.0))));
    // Thousandths of the cube's half side are finer than a pixel.
    let points = list(&mut cloud.placed().into_iter().map(|(class, point)| {
        let [x, y, z] = point.map(|x| (x * 1000.0).round() as i64);
        format!("{class},{x},{y},{z}")
    }));
    let angle = |degrees: f64| coordinate(if degrees.is_finite() { degrees } else { 0.0 });
    format!(
        "{{\"names\":[{names}],\"marks\":[{marks}],\"colours\":{SERIES},\"axes\":[{axes}],\"around\":{},\"above\":{},\
         \"height\":{},\"points\":[{points}]}}",
        angle(cloud.camera.around),
        angle(cloud.camera.above),
        coordinate(cloud.words.height)
    )
}
