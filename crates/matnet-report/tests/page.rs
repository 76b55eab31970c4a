//! A page is one file, well formed, and obeys nobody but us.

use image::{Rgb, RgbImage};
use matnet_report::chart::{LineChart, Scatter3, Scatter3Class, Series};
use matnet_report::page::{Figure, Page};
use matnet_report::table::{Cell, Column, Table};

const HOSTILE: &str = "</script></title><img src=https://evil onerror=alert(1)>\" ' & --> ]]>";

fn full(text: &str) -> String {
    let chart =
        || LineChart::new(text).with_axes(text, text).with_series(Series::counted(text, [1.0, 2.0])).svg();
    let mut page = Page::new(text).with_lede(text);
    for _ in 0..3 {
        page.heading(text);
    }
    page.subheading(text);
    page.paragraph(text);
    page.code(text);
    page.facts([(text, text)]);
    page.table(
        &Table::new([Column::text(text)]).with_caption(text).with_sorting().with_row([Cell::from(text)]),
    );
    page.figure(Figure::svg(chart(), text).with_alt(text));
    let image = RgbImage::from_pixel(3, 2, Rgb([1, 2, 3]));
    page.figures([Figure::svg(chart(), text), Figure::image(&image, text).unwrap()]);
    page.details(text, |page| page.paragraph(text));
    let cloud = Scatter3::new(text).with_axes([text; 3]);
    page.cloud(&cloud.with_class(Scatter3Class::new(text, [[1.0, 2.0, f64::NAN], [0.0, 1.0, 2.0]])), text);
    page.html()
}

/// The tags of a page in order, without what is inside scripts and styles.
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
fn hostile_text_is_shown_and_not_obeyed() {
    let (plain, hostile) = (full("plain"), full(HOSTILE));
    assert!(!hostile.contains("<img src=https"));
    assert_eq!(hostile.matches("<script").count(), plain.matches("<script").count());
    assert_eq!(hostile.matches("</script").count(), plain.matches("</script").count());
    let names = |html: &str| -> Vec<String> {
        tags(html).iter().map(|tag| tag.split(' ').next().unwrap().to_string()).collect()
    };
    // Letters that do not fit leave no tags behind either.
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
    page.figure(Figure::image(&image, "caption").unwrap().with_alt("what it shows"));
    let html = page.html();
    assert!(html.contains(
        "<img alt=\"what it shows\" width=\"3\" height=\"2\" src=\"data:image/png;base64,iVBORw0KGgo"
    ));
    page.figure(Figure::png([1, 2, 3], "cut off"));
    assert!(page.html().contains("src=\"data:image/png;base64,AQID\""));
}

#[test]
fn the_cloud_has_its_points_as_data() {
    let mut page = Page::new("t");
    let class = Scatter3Class::new("a", [[0.0, 0.0, 0.0], [2.0, 1.0, f64::INFINITY], [4.0, 2.0, 1.0]]);
    page.cloud(&Scatter3::new("cloud").with_class(class), "");
    let html = page.html();
    assert!(html.contains("\"points\":[0,-1000,-500,-250,0,1000,500,250]"));
    assert!(html.contains("\"names\":[\"a\"]"));
    assert!(!Page::new("t").html().contains("figure.cloud"), "a page without a cloud has no script for it");
}

#[test]
fn the_same_page_has_the_same_bytes() {
    assert_eq!(full("x"), full("x"));
}
