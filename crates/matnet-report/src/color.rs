//! The colours of charts and pages: distinguishable with any colour vision, on a light and on a dark background.
//!
//! The first eight follow Okabe and Ito, darker or lighter where the background needs it. A drawing carries the light
//! colours as attributes, which any style sheet overrides; the style sheet of the page does so for both themes. So one
//! drawing serves as a file, as a PNG and inside a page.

use std::fmt::Write;

/// The purpose of a stroke or a fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColorRole {
    /// Text and axes.
    Text,
    /// Text of less weight.
    Muted,
    /// Lines behind the data.
    Gridline,
    /// The background.
    Background,
    /// Positive numbers in a heat map.
    Positive,
    /// Negative numbers in a heat map.
    Negative,
    /// Text on a strong colour.
    OnColor,
    /// The n-th series or class.
    Series(usize),
}

/// Number of series colours; after these they repeat, with other dashes and markers.
pub(crate) const SERIES: usize = 8;

/// Name, colour in the light theme, colour in the dark theme.
const ROLES: [(&str, &str, &str); 7] = [
    ("text", "#1c2430", "#e4e9f0"),
    ("muted", "#556070", "#a3aebc"),
    ("gridline", "#dfe4ea", "#333c48"),
    ("background", "#ffffff", "#14191f"),
    ("positive", "#0b559f", "#2b6cb8"),
    ("negative", "#b3430b", "#b8511a"),
    ("on-color", "#f7f9fb", "#f7f9fb"),
];

/// Colour in the light theme, colour in the dark theme.
const SERIES_COLORS: [(&str, &str); SERIES] = [
    ("#0072b2", "#4ea9e4"),
    ("#d55e00", "#f5893f"),
    ("#009e73", "#2cc998"),
    ("#b5518c", "#e69ac6"),
    ("#c48a00", "#f0bd45"),
    ("#2f9bd6", "#93d0f5"),
    ("#6a4fa3", "#b7a1ec"),
    ("#5f6670", "#b6bec9"),
];

impl ColorRole {
    /// The name shared by the CSS class and the CSS variable.
    pub fn name(self) -> String {
        match self {
            Self::Series(place) => format!("c{}", place % SERIES),
            role => ROLES[role.index()].0.into(),
        }
    }

    /// The colour in the light theme.
    pub fn light(self) -> &'static str {
        match self {
            Self::Series(place) => SERIES_COLORS[place % SERIES].0,
            role => ROLES[role.index()].1,
        }
    }

    /// The colour in the light theme, as red, green and blue.
    pub fn rgb(self) -> [u8; 3] {
        [1, 3, 5].map(|at| u8::from_str_radix(&self.light()[at..at + 2], 16).unwrap_or(0))
    }

    fn index(self) -> usize {
        match self {
            Self::Text | Self::Series(_) => 0,
            Self::Muted => 1,
            Self::Gridline => 2,
            Self::Background => 3,
            Self::Positive => 4,
            Self::Negative => 5,
            Self::OnColor => 6,
        }
    }
}

/// The style sheet: a CSS variable for each colour in both themes, and the classes that drawings use.
pub(crate) fn style() -> String {
    let all = || {
        let series =
            SERIES_COLORS.iter().enumerate().map(|(i, (light, dark))| (format!("c{i}"), *light, *dark));
        ROLES.iter().map(|(name, light, dark)| (name.to_string(), *light, *dark)).chain(series)
    };
    let mut css = String::from(":root{color-scheme:light dark");
    for (name, light, _) in all() {
        let _ = write!(css, ";--{name}:{light}");
    }
    css.push_str("}\n@media screen and (prefers-color-scheme:dark){:root{");
    for (place, (name, _, dark)) in all().enumerate() {
        let _ = write!(css, "{}--{name}:{dark}", if place > 0 { ";" } else { "" });
    }
    css.push_str("}}\n");
    for (name, ..) in all() {
        let _ = writeln!(css, ".f-{name}{{fill:var(--{name})}}.s-{name}{{stroke:var(--{name})}}");
    }
    css
}

/// The dash pattern of the n-th line; the first line is solid.
pub(crate) fn dashes(place: usize) -> &'static str {
    const DASHES: [&str; 7] = ["", "7 3", "2 3", "9 3 2 3", "12 4", "5 2 1 2 1 2", "1 4"];
    DASHES[(place + place / SERIES) % DASHES.len()]
}

/// The outline of the n-th marker as a path centred at (`x`, `y`), with a radius of about `r`.
pub(crate) fn marker(place: usize, x: f64, y: f64, r: f64) -> String {
    use crate::text::coordinate as c;
    let (s, d, w) = (r * 0.88, r * 1.3, r * 0.42);
    let start = |dx: f64, dy: f64| format!("M{} {}", c(x + dx), c(y + dy));
    match (place + place / SERIES) % SERIES {
        0 => {
            format!("{}a{r} {r} 0 1 0 {t} 0a{r} {r} 0 1 0 -{t} 0z", start(-r, 0.0), r = c(r), t = c(2.0 * r))
        }
        1 => format!("{}h{t}v{t}h-{t}z", start(-s, -s), t = c(2.0 * s)),
        2 => format!("{}l{} {}h{}z", start(0.0, -d), c(d), c(2.0 * d), c(-2.0 * d)),
        3 => format!("{}l{d} {d}l-{d} {d}l-{d} -{d}z", start(0.0, -d), d = c(d)),
        4 => format!(
            "{}h{t}v{a}h{a}v{t}h-{a}v{a}h-{t}v-{a}h-{a}v-{t}h{a}z",
            start(-w, -d),
            t = c(2.0 * w),
            a = c(d - w)
        ),
        5 => format!("{}l{} {}h{}z", start(0.0, d), c(d), c(-2.0 * d), c(-2.0 * d)),
        6 => format!("{}l{q} {d}l-{q} {d}l-{q} -{d}z", start(0.0, -d), q = c(d * 0.55), d = c(d)),
        _ => format!(
            "{}l{w} {w}l{w} -{w}l{w} {w}l-{w} {w}l{w} {w}l-{w} {w}l-{w} -{w}l-{w} {w}l-{w} -{w}l{w} -{w}l-{w} -{w}z",
            start(-0.6 * r, -1.2 * r),
            w = c(0.6 * r)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_56_series_look_different() {
        let mut seen = std::collections::HashSet::new();
        for place in 0..56 {
            assert!(seen.insert((ColorRole::Series(place).name(), dashes(place))), "{place}");
        }
    }

    #[test]
    fn colors_stand_out_from_the_background() {
        let luminance = |hex: &str| {
            let part = |at: usize| {
                let value = f64::from(u8::from_str_radix(&hex[at..at + 2], 16).unwrap()) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
        };
        let contrast = |a: &str, b: &str| {
            let (a, b) = (luminance(a), luminance(b));
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        for (light, dark) in SERIES_COLORS {
            assert!(contrast(light, ROLES[3].1) >= 2.9, "{light} {}", contrast(light, ROLES[3].1));
            assert!(contrast(dark, ROLES[3].2) >= 6.0, "{dark}");
        }
        for (_, light, dark) in &ROLES[..2] {
            assert!(contrast(light, ROLES[3].1) >= 4.5 && contrast(dark, ROLES[3].2) >= 4.5);
        }
    }
}
