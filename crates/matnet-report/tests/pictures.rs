//! Pixels have the right colours, and encoded files can be decoded.

use std::io::Cursor;
use std::time::Duration;

use image::codecs::gif::GifDecoder;
use image::{AnimationDecoder, Rgb, RgbImage};
use matnet_report::ReportError;
use matnet_report::chart::{ChartSeries, LineChart};
use matnet_report::picture::{ColorRange, Colormap, Grid, Tile, gif, outer_products, png};

const DARK: Rgb<u8> = Rgb([38, 50, 66]);

fn tile(rows: usize, cols: usize) -> Tile {
    let values: Vec<f32> = (0..rows * cols).map(|i| i as f32 / (rows * cols - 1) as f32).collect();
    Tile::new(rows, cols, values).unwrap()
}

#[test]
fn entries_become_blocks_of_pixels() {
    let grid = Grid::new(Colormap::Gray).with_range(ColorRange::Fixed(0.0, 1.0)).with_zoom(10, 20);
    let image = grid.with_row("", [tile(2, 2), tile(1, 2)]).draw().unwrap();
    // Two cells of 20 by 40 with gaps of 5 around them.
    assert_eq!(image.dimensions(), (5 + 2 * 25, 5 + 45));
    assert_eq!(*image.get_pixel(0, 0), DARK);
    assert_eq!(*image.get_pixel(5, 5), Rgb([0; 3]));
    assert_eq!(*image.get_pixel(15, 5), Rgb([85; 3]));
    assert_eq!(*image.get_pixel(24, 44), Rgb([255; 3]));
    assert_eq!(*image.get_pixel(25, 44), DARK);
    // The smaller tile is centred in its cell.
    assert_eq!(*image.get_pixel(30, 14), DARK);
    assert_eq!(*image.get_pixel(30, 15), Rgb([0; 3]));
    assert_eq!(*image.get_pixel(40, 34), Rgb([255; 3]));
    assert_eq!(*image.get_pixel(40, 35), DARK);
    let again = image::load_from_memory(&png(&image).unwrap()).unwrap().into_rgb8();
    assert_eq!(again, image);
}

#[test]
fn names_take_room_and_are_written() {
    let plain = Grid::new(Colormap::Diverging).with_row("", [tile(4, 4)]).draw().unwrap();
    let grid = Grid::new(Colormap::Diverging).with_row("layer <1>", [tile(4, 4)]).with_columns(["Uᵀ"]);
    let named = grid.draw().unwrap();
    assert!(named.width() > plain.width() + 40 && named.height() > plain.height() + 10);
    let paper = *named.get_pixel(0, 0);
    let left = named.width() - plain.width();
    let inked = (0..left).flat_map(|x| (0..named.height()).map(move |y| (x, y)));
    assert!(inked.filter(|&(x, y)| *named.get_pixel(x, y) != paper).count() > 100, "there are letters");
}

#[test]
fn long_rows_go_on_below() {
    let tiles = || vec![tile(10, 10); 5];
    let grid = Grid::new(Colormap::Gray).with_zoom(2, 2).with_row("", tiles()).with_row("", tiles());
    assert_eq!(grid.clone().draw().unwrap().dimensions(), (5 + 5 * 25, 5 + 2 * 25));
    assert_eq!(grid.with_max_width(80).draw().unwrap().dimensions(), (5 + 3 * 25, 5 + 4 * 25));
}

#[test]
fn ranges_are_shared_or_not() {
    let flat = |value: f32| Tile::new(1, 2, [0.0, value]).unwrap();
    let grid = Grid::new(Colormap::Gray).with_zoom(1, 1).with_row("", [flat(1.0), flat(2.0)]);
    let each = grid.clone().draw().unwrap();
    assert_eq!((each.get_pixel(6, 5), each.get_pixel(13, 5)), (&Rgb([255; 3]), &Rgb([255; 3])));
    let shared = grid.with_range(ColorRange::Shared).draw().unwrap();
    assert_eq!((shared.get_pixel(6, 5), shared.get_pixel(13, 5)), (&Rgb([127; 3]), &Rgb([255; 3])));
}

#[test]
fn outer_products_have_a_tile_for_each_pair() {
    let image =
        outer_products(&tile(6, 3), &tile(4, 5), 4).with_zoom(2, 2).with_columns([""; 0]).draw().unwrap();
    // 3 rows and the first 4 of 5 columns, each tile 6 by 4.
    assert_eq!(image.height(), 5 + 3 * (12 + 5));
    let left = image.width() - 4 * (8 + 5);
    assert!((20..60).contains(&left), "room for the names u1 to u3: {left}");
}

#[test]
fn a_grid_that_is_far_too_large_is_refused() {
    let grid = Grid::new(Colormap::Gray).with_zoom(1024, 1024).with_row("", vec![tile(100, 100); 10]);
    assert!(matches!(grid.draw(), Err(ReportError::ImageSize { .. })));
    assert_eq!(Grid::new(Colormap::Gray).draw().unwrap().dimensions(), (5, 5));
    let none = Tile::new(0, 3, []).unwrap();
    assert!(Grid::new(Colormap::Gray).with_row("", [none]).draw().is_ok());
}

#[test]
fn an_animation_keeps_its_frames() {
    let frames: Vec<RgbImage> =
        (0..7u8).map(|step| RgbImage::from_pixel(12, 8, Rgb([step * 30, 9, 200]))).collect();
    let file = gif(&frames, Duration::from_millis(120)).unwrap();
    assert!(file.windows(11).any(|bytes| bytes == b"NETSCAPE2.0"), "it runs again and again");
    let decoded = GifDecoder::new(Cursor::new(&file)).unwrap().into_frames().collect_frames().unwrap();
    assert_eq!(decoded.len(), 7);
    for (frame, wanted) in decoded.iter().zip(&frames) {
        assert_eq!(frame.delay().numer_denom_ms(), (120, 1));
        assert_eq!(frame.buffer().get_pixel(3, 3).0[..3], wanted.get_pixel(3, 3).0);
    }
    assert!(matches!(gif(&[], Duration::ZERO), Err(ReportError::Frames)));
    let unequal = [RgbImage::new(2, 2), RgbImage::new(3, 2)];
    assert!(matches!(gif(&unequal, Duration::ZERO), Err(ReportError::Frames)));
}

#[test]
fn a_drawing_becomes_pixels_with_letters_and_without_fonts() {
    let chart =
        LineChart::new("Title").with_series(ChartSeries::by_epoch("a", [1.0, 1.0])).with_size(400, 300).svg();
    let image = image::load_from_memory(&chart.to_png(2.0).unwrap()).unwrap().into_rgb8();
    assert_eq!(image.dimensions(), (800, 600));
    assert_eq!(*image.get_pixel(0, 0), Rgb([255; 3]));
    let blue = image.pixels().filter(|&&pixel| pixel == Rgb([0, 0x72, 0xb2])).count();
    assert!(blue > 1000, "the line has the first colour: {blue}");
    let dark = |x: u32, y: u32| image.get_pixel(x, y).0.iter().all(|&level| level < 90);
    let title = (28..120).flat_map(|x| (28..60).map(move |y| (x, y)));
    assert!(title.filter(|&(x, y)| dark(x, y)).count() > 150, "the title is written");
    for scale in [0.0, -1.0, f32::NAN, 1e9] {
        assert!(chart.to_png(scale).is_err(), "{scale}");
    }
}
