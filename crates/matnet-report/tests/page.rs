//! A page is one well-formed file, fits every screen and contains no markup of others.

use image::{Rgb, RgbImage};
use matnet_report::chart::{ChartSeries, LineChart, Scatter3d};
use matnet_report::page::{Figure, Page};
use matnet_report::table::{Table, TableCell, TableColumn};

const HOSTILE: &str = "</script></title><img src=https://evil onerror=alert(1)>\" ' & --> ]]>";

fn full(text: &str) -> String {
    let chart = || {
        LineChart::new(text).with_axes(text, text).with_series(ChartSeries::by_epoch(text, [1.0, 2.0])).svg()
    };
    let mut page = Page::new(text).with_summary(text);
    for _ in 0..3 {
        page.heading(text);
    }
    page.subheading(text);
    page.paragraph(text);
    page.code(text);
    page.facts([(text, text)]);
    page.table(&Table::new([TableColumn::text(text)]).with_caption(text).with_row([TableCell::from(text)]));
    page.figure(Figure::svg(chart(), text));
    let image = RgbImage::from_pixel(3, 2, Rgb([1, 2, 3]));
    page.figures([Figure::svg(chart(), text), Figure::image(&image, text).unwrap()]);
    page.details(text, |page| page.paragraph(text));
    let plot = Scatter3d::new(text).with_axes([text; 3]);
    page.scatter3d(&plot.with_class(text, [[1.0, 2.0, f64::NAN], [0.0, 1.0, 2.0]]), text);
    page.html()
}

/// The tags of a page in order, without the content of scripts and styles.
fn tags(html: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        tags.push(tag.to_string());
        rest = &rest[end + 1..];
        for raw in ["script", "style"] {
            if tag.split(' ').next() == Some(raw) {
                rest = &rest[rest.find(&format!("</{raw}>")).expect("a script ends")..];
            }
        }
    }
    tags
}

#[test]
fn every_tag_is_closed_in_order() {
    for text in ["plain", HOSTILE] {
        let html = full(text);
        let mut open: Vec<String> = Vec::new();
        for tag in tags(&html) {
            let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap().to_string();
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') && !["!DOCTYPE", "meta", "img"].contains(&name.as_str()) {
                open.push(name);
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }
}

#[test]
fn nothing_points_outside() {
    for text in ["plain", HOSTILE] {
        let html = full(text);
        let own = html.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for (place, tag) in tags(&own).iter().enumerate() {
            for attribute in ["src=", "href="] {
                for value in tag.split(&format!(" {attribute}\"")).skip(1) {
                    assert!(value.starts_with('#') || value.starts_with("data:image/"), "{place}: {tag}");
                }
            }
            // Text in attributes is escaped, so a tag with a bare src= or an event handler would be someone else's.
            assert!(
                !tag.starts_with("link") && !tag.starts_with("iframe") && !tag.starts_with("base"),
                "{tag}"
            );
        }
        if text == "plain" {
            assert!(!own.contains("http:") && !own.contains("https:") && !own.contains("url("));
            assert!(!own.contains("@import") && !own.contains("fetch("));
        }
    }
}

#[test]
fn hostile_text_is_escaped() {
    let (plain, hostile) = (full("plain"), full(HOSTILE));
    assert!(!hostile.contains("<img src=https"));
    assert_eq!(hostile.matches("<script").count(), plain.matches("<script").count());
    assert_eq!(hostile.matches("</script").count(), plain.matches("</script").count());
    let names = |html: &str| -> Vec<String> {
        tags(html).iter().map(|tag| tag.split(' ').next().unwrap().to_string()).collect()
    };
    // Text that is cut leaves no tags behind either.
    assert_eq!(names(&hostile), names(&plain));
    assert!(
        hostile.contains("<title>&lt;/script&gt;&lt;/title&gt;&lt;img src=https://evil onerror=alert(1)&gt;")
    );
}

#[test]
fn headings_can_be_linked_to() {
    let mut page = Page::new("t");
    assert_eq!(page.heading("U and V"), "u-and-v");
    assert_eq!(page.heading("U and V"), "u-and-v-2");
    assert!(!page.html().contains("<nav"), "two headings need no list");
    page.heading("More");
    let html = page.html();
    assert!(html.contains("<li><a href=\"#u-and-v-2\">U and V</a></li>"));
    assert!(html.contains("<h2 id=\"u-and-v-2\">U and V<a"));
}

#[test]
fn pictures_carry_their_size_and_bytes() {
    let mut page = Page::new("t");
    let image = RgbImage::from_pixel(3, 2, Rgb([1, 2, 3]));
    page.figure(Figure::image(&image, "what it shows").unwrap());
    let html = page.html();
    assert!(html.contains(
        "<img alt=\"what it shows\" width=\"3\" height=\"2\" src=\"data:image/png;base64,iVBORw0KGgo"
    ));
    page.figure(Figure::png([1, 2, 3], "cut off"));
    assert!(page.html().contains("src=\"data:image/png;base64,AQID\""));
}

#[test]
fn an_interactive_plot_has_its_points_as_data() {
    let mut page = Page::new("t");
    let points = [[0.0, 0.0, 0.0], [2.0, 1.0, f64::INFINITY], [4.0, 2.0, 1.0]];
    page.scatter3d(&Scatter3d::new("t").with_class("a", points), "");
    let html = page.html();
    assert!(html.contains("\"points\":[0,-1000,-500,-250,0,1000,500,250]"));
    assert!(html.contains("\"names\":[\"a\"]"));
    assert!(
        !Page::new("t").html().contains("figure.scatter3d"),
        "a page without such a plot has no script for it"
    );
}

#[test]
fn the_same_page_has_the_same_bytes() {
    assert_eq!(full("x"), full("x"));
}

/// The declarations of the first rule of the style sheet with this selector, outside of media queries.
fn style<'a>(html: &'a str, selector: &str) -> &'a str {
    let rule = html.split_once(&format!("\n{selector}{{")).expect(selector).1;
    rule.split_once('}').unwrap().0
}

/// Nothing is wider than a phone: charts and pictures shrink, tables and code scroll in their own boxes, rows wrap.
#[test]
fn nothing_is_wider_than_the_screen() {
    let html = full("plain");
    for selector in [".draw svg", "img"] {
        assert!(style(&html, selector).contains("max-width:100%;height:auto"), "{selector}");
    }
    assert!(
        style(&html, ".scroll").contains("overflow-x:auto")
            && style(&html, "pre").contains("overflow-x:auto")
    );
    assert!(
        style(&html, ".row").contains("flex-wrap:wrap") && style(&html, "figure").contains("min-width:0")
    );
    assert!(style(&html, "canvas").contains("width:100%"));
    // Nothing takes the limits back, on a narrow screen or anywhere.
    let css = html.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    let (css, print) = css.split_once("@media print").unwrap();
    assert_eq!(print.matches("max-width").count(), 1, "{print}");
    for declaration in css.split(['{', '}', ';']) {
        let fixed = declaration.starts_with("min-width:") && declaration != "min-width:0";
        assert!(!fixed && declaration != "max-width:none", "{declaration}");
        assert!(!(declaration.starts_with("width:") && declaration.contains("px")), "{declaration}");
    }
    let mut open: Vec<String> = Vec::new();
    let mut seen = [0; 3];
    for tag in tags(&html) {
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().unwrap().split(' ').next(), Some(name));
            continue;
        }
        let parent = open.last().map_or("", String::as_str);
        if tag.starts_with("svg ") {
            seen[0] += 1;
            assert!(
                tag.contains(" viewBox=\"0 0 ") && parent.starts_with("div class=\"draw"),
                "{parent}: {tag}"
            );
        } else if tag == "table" {
            seen[1] += 1;
            assert_eq!(parent, "div class=\"scroll\"");
        } else if let Some(style) = tag.split_once(" style=\"").map(|(_, rest)| rest) {
            // Figures in a row: a basis that shrinks, and a largest width.
            seen[2] += 1;
            let style = style.split('"').next().unwrap();
            assert!(tag.starts_with("figure ") && parent == "div class=\"row\"", "{tag}");
            assert!(style.starts_with("flex-basis:") && style.contains("px;max-width:max("), "{style}");
        }
        if !tag.ends_with('/') && !["!DOCTYPE", "meta", "img"].iter().any(|void| tag.starts_with(void)) {
            open.push(tag);
        }
    }
    assert_eq!(seen, [3, 1, 2]);
}
