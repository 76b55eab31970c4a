//! Interactive scatter plots in three dimensions.

use std::fmt::Write;

use crate::chart::Scatter3d;
use crate::color::{SERIES, marker};
use crate::escape::{json, markup};
use crate::text::coordinate;

/// The static drawing, and the data for the script that replaces it by an interactive canvas.
pub(super) fn html(plot: &Scatter3d, caption: &str) -> String {
    let title = markup(&plot.options.title);
    let mut html = format!(
        "<figure class=\"scatter3d\">\n<div class=\"draw static\">{}</div>\n\
         <div class=\"live\" hidden><p class=\"plot-title\">{title}</p><div class=\"legend\"></div>\
         <canvas tabindex=\"0\" role=\"img\" aria-label=\"{title}. Arrow keys rotate, plus and minus zoom.\"></canvas>\
         <p class=\"help\">Drag (sideways first on a touch screen) or use the arrow keys to rotate; pinch, \
         wheel (after a click) or + and − to zoom; 0 to reset.</p></div>\n<script type=\"application/json\">{}</script>\n",
        plot.svg(),
        data(plot)
    );
    if !caption.is_empty() {
        let _ = writeln!(html, "<figcaption>{}</figcaption>", markup(caption));
    }
    html.push_str("</figure>\n");
    html
}

fn data(plot: &Scatter3d) -> String {
    let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(",");
    let names = list(&mut plot.classes.iter().map(|class| json(&class.name)));
    let axes = list(&mut plot.axes.iter().map(|axis| json(axis)));
    let marks = list(&mut (0..plot.classes.len()).map(|place| json(&marker(place, 0.0, 0.0, 4.0))));
    // A thousandth of the cube's half side is less than a pixel.
    let points = list(&mut plot.placed().into_iter().map(|(class, point)| {
        let [x, y, z] = point.map(|x| (x * 1000.0).round() as i64);
        format!("{class},{x},{y},{z}")
    }));
    let angle = |degrees: f64| coordinate(if degrees.is_finite() { degrees } else { 0.0 });
    format!(
        "{{\"names\":[{names}],\"marks\":[{marks}],\"colors\":{SERIES},\"axes\":[{axes}],\"azimuth\":{},\"elevation\":{},\
         \"height\":{},\"points\":[{points}]}}",
        angle(plot.camera.azimuth),
        angle(plot.camera.elevation),
        coordinate(plot.options.height)
    )
}
