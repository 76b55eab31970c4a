//! Every kind of chart, picture and page element, with made-up numbers:
//!
//! ```text
//! cargo run --release -p matnet-report --example gallery -- gallery.html
//! ```

use std::error::Error;
use std::time::Duration;

use matnet_report::chart::{
    BarChart, Bars, ChartSeries, ConfusionChart, HeatMap, HeatPanels, LineChart, ParallelAxis, ParallelChart,
    Scatter3d,
};
use matnet_report::page::{Figure, Page};
use matnet_report::picture::{ColorRange, Colormap, Grid, Tile, gif, outer_products};
use matnet_report::table::{Highlight, Table, TableCell, TableColumn};

/// A linear congruential generator, for the same numbers in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Approximately normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }

    fn tile(&mut self, rows: usize, cols: usize) -> Result<Tile, matnet_report::ReportError> {
        let values: Vec<f32> = (0..rows * cols).map(|_| self.normal() as f32).collect();
        Tile::new(rows, cols, values)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(path) = std::env::args().nth(1) else {
        return Err("no output path: pass the path of the HTML file to write".into());
    };
    let mut numbers = Numbers(7);
    let mut page = Page::new("Gallery of figures")
        .with_summary("Every kind of chart, picture and page element, with made-up numbers.");
    lines(&mut page, &mut numbers);
    bars(&mut page);
    points(&mut page, &mut numbers);
    parallel(&mut page, &mut numbers);
    heat(&mut page, &mut numbers);
    pictures(&mut page, &mut numbers)?;
    tables(&mut page);
    std::fs::write(&path, page.html())?;
    println!("{path}");
    Ok(())
}

fn decay(numbers: &mut Numbers, epochs: usize, rate: f64, noise: f64) -> Vec<f64> {
    (0..epochs).map(|e| 12.0 * (-rate * e as f64).exp() + 1.2 + noise * numbers.normal()).collect()
}

fn lines(page: &mut Page, numbers: &mut Numbers) {
    page.heading("Lines");
    let mut chart = LineChart::new("Error rate on the test split").with_axes("epoch", "error rate (%)");
    for (name, epochs, rate) in
        [("matrix net 50×50", 60, 0.12), ("vector net 200", 60, 0.08), ("stopped early", 34, 0.05)]
    {
        let values = decay(numbers, epochs, rate, 0.12);
        let band: Vec<f64> = values.iter().map(|v| 0.15 + v * 0.08).collect();
        chart = chart.with_series(ChartSeries::by_epoch(name, values).with_band(band));
    }
    page.figure(Figure::svg(
        chart.svg(),
        "Mean of ten seeds; the band is one standard deviation to both sides.",
    ));
    let mut gaps = decay(numbers, 12, 0.5, 0.0);
    gaps[4] = f64::NAN;
    gaps[8] = f64::INFINITY;
    let short = LineChart::new("Loss with gaps").with_axes("epoch", "loss (nats)").with_size(460, 320);
    let short = short
        .with_series(ChartSeries::by_epoch("training", gaps.iter().map(|x| x / 50.0)))
        .with_series(ChartSeries::by_epoch("validation", gaps.iter().rev().map(|x| x / 20.0)));
    let mut many = LineChart::new("Ten lines").with_axes("step", "gradient norm").with_size(460, 320);
    for line in 0..10 {
        let points = (0..40).map(|x| (x as f64 * 500.0, (x as f64 / 6.0 + line as f64).sin() + line as f64));
        many = many.with_series(ChartSeries::new(format!("layer {}", line + 1), points));
    }
    page.figures([
        Figure::svg(short.svg(), "A log axis."),
        Figure::svg(many.svg(), "A legend of several rows."),
    ]);
    let one = LineChart::new("One point").with_axes("epoch", "accuracy (%)").with_size(300, 220);
    let one = one.with_series(ChartSeries::by_epoch("matrix net", [97.1])).svg();
    let same = LineChart::new("All alike").with_axes("epoch", "rate").with_size(300, 220);
    let same = same.with_series(ChartSeries::by_epoch("rate", [0.001; 8])).svg();
    let none = LineChart::new("No numbers").with_axes("epoch", "loss").with_size(300, 220);
    let none = none.with_series(ChartSeries::by_epoch("diverged", [f64::NAN; 8])).svg();
    page.figures([one, same, none].map(|svg| Figure::svg(svg, "")));
}

fn bars(page: &mut Page) {
    page.heading("Bars");
    let chart =
        BarChart::new("Error of four kinds of nets on digits", ["plain", "highway", "residual", "dense"])
            .with_axes("", "error rate (%)")
            .with_decimals(2)
            .with_bars(
                Bars::new("matrix net", [1.92, 1.53, 1.44, 1.61])
                    .with_error_bars([0.11, 0.08, 0.2, 0.05])
                    .with_references([1.8, 1.4, 1.55, f64::NAN]),
            )
            .with_bars(
                Bars::new("vector net", [2.44, 2.31, f64::NAN, 2.05])
                    .with_error_bars([0.2, 0.1, 0.1, 0.1])
                    .with_references([2.5, 2.2, 2.1, 2.3]),
            );
    page.figure(Figure::svg(chart.svg(), "Means over ten seeds; error bars are one standard deviation."));
    let points =
        BarChart::new("Accuracy on the test split", ["cora", "citeseer"]).with_axes("", "accuracy (%)");
    let points = points
        .with_bars(
            Bars::new("matrix net", [87.5, 77.3]).with_error_bars([1.7, 1.2]).with_references([81.7, 72.6]),
        )
        .with_bars(
            Bars::new("vector net", [85.0, 76.2]).with_error_bars([3.0, 1.7]).with_references([79.2, 70.2]),
        );
    page.figure(Figure::svg(
        points.with_y_max(100.0).with_truncated_axis().svg(),
        "Points where bars would all be long.",
    ));
    let names = [
        "mnist",
        "frey faces",
        "moving digits (20 frames)",
        "eeg, 64 channels",
        "cora",
        "citeseer",
        "pubmed",
        "babi",
    ];
    let many = BarChart::new("Parameters", names).with_axes("", "parameters").with_size(460, 340);
    let many = many
        .with_bars(Bars::new("matrix", [4e4, 2e4, 1.2e5, 160_601.0, 9e4, 1.1e5, 3e4, 2e4]))
        .with_bars(Bars::new("vector", [4e5, 3e5, 1.2e6, 1.8e6, 9e5, 1.1e6, 3e5, 2e5]));
    let signs = BarChart::new("Gain over the vector net", ["digits", "faces", "eeg"]).with_size(460, 340);
    let signs = signs.with_axes("", "gain (points)").with_bars(Bars::new("gain", [2.5, -1.25, 0.75]));
    page.figures([
        Figure::svg(many.svg(), "Long names, narrow bars."),
        Figure::svg(signs.svg(), "Positive and negative values."),
    ]);
    let tasks = (1..=20).map(|task| format!("task {task}"));
    let values = |shift: usize| (0..20).map(move |task| 0.5 + ((task * 7 + shift) % 20) as f64);
    let mut rows = BarChart::new("Error rate on twenty tasks", tasks).with_axes("", "error rate (%)");
    for (shift, name) in ["one hop", "two hops", "three hops"].into_iter().enumerate() {
        rows = rows.with_bars(Bars::new(name, values(5 * shift)));
    }
    page.figure(Figure::svg(rows.svg(), "Groups that do not fit continue in further rows; one seed."));
    let none = BarChart::new("No values", ["cora", "citeseer"]).with_axes("", "accuracy (%)");
    let none = none.with_bars(Bars::new("matrix net", [f64::NAN; 2])).with_size(300, 220);
    page.figure(Figure::svg(none.svg(), "A chart without data says so."));
}

fn points(page: &mut Page, numbers: &mut Numbers) {
    page.heading("Points");
    let mut plot = Scatter3d::new("t-SNE of the hidden states").with_axes(["first", "second", "third"]);
    for class in 0..10 {
        let centre = [0, 1, 2].map(|_| numbers.normal() * 20.0);
        let points: Vec<[f64; 3]> = (0..60).map(|_| centre.map(|x| x + 3.0 * numbers.normal())).collect();
        plot = plot.with_class(format!("digit {class}"), points);
    }
    page.figure(Figure::svg(
        plot.clone().with_azimuth(-40.0).svg(),
        "Ten classes with their colours and markers.",
    ));
    page.scatter3d(&plot, "The same points, interactive.");
}

fn parallel(page: &mut Page, numbers: &mut Numbers) {
    page.heading("Parallel coordinates");
    let mut chart = ParallelChart::new("Trials of a search")
        .with_axis(ParallelAxis::names("model.hidden", ["[5, 5]", "[10, 10]", "[20, 20]"]))
        .with_axis(ParallelAxis::numbers("train.learning_rate").with_log())
        .with_axis(ParallelAxis::numbers("valid error (%)"));
    for trial in 1..=30 {
        let (hidden, rate) = ((3.0 * numbers.next()).floor(), 10_f64.powf(-4.0 + 3.0 * numbers.next()));
        let error = 9.0 - 2.0 * hidden + 4.0 * (rate.log10() + 2.5).powi(2) + numbers.next();
        chart = chart.with_line([hidden, rate, error], error, 1.5, format!("trial {trial}"));
    }
    page.figure(Figure::svg(chart.svg(), "One line per trial, coloured by rank."));
}

fn heat(page: &mut Page, numbers: &mut Numbers) {
    page.heading("Heat maps");
    let mut confusion = |title: &str, names: Vec<String>, size: f64| {
        let count = names.len();
        let rows = (0..count).map(|row| {
            (0..count)
                .map(|col| {
                    if row == col {
                        (size * 0.9) as u64
                    } else {
                        (numbers.next().powi(6) * size * 0.2) as u64
                    }
                })
                .collect()
        });
        ConfusionChart::new(title, names.clone(), rows.collect::<Vec<_>>()).svg()
    };
    let two = confusion("Two classes", vec!["alcoholic".into(), "control".into()], 300.0);
    let ten = confusion("Ten classes", (0..10).map(|i| i.to_string()).collect(), 1000.0);
    let fifty = confusion("Fifty classes", (1..=50).map(|i| format!("character {i}")).collect(), 120.0);
    page.figures([Figure::svg(two, ""), Figure::svg(ten, "Colour is the share of the row.")]);
    page.figure(Figure::svg(fifty, "Zeros are not written."));
    let names = ["U", "V", "B", "gate"];
    let values = (0..4).map(|_| (0..6).map(|_| numbers.normal()).collect());
    let heat = HeatMap::new(
        "Correlation of gradients",
        names,
        (1..=6).map(|i| format!("layer {i}")),
        values.collect::<Vec<_>>(),
    );
    page.figure(Figure::svg(
        heat.with_axes("layer", "parameter").svg(),
        "Positive and negative numbers have different colours.",
    ));
    let mut panel = |name: &str| {
        let line = |bin: usize| (0..25).map(|_| -2.0 * bin as f64 - 9.0 * numbers.next()).collect();
        (name.to_owned(), (0..32).map(line).collect())
    };
    let row = ["channel 1", "channel 2", "channel 3"].map(&mut panel);
    let panels = HeatPanels::new("Spectrograms", "strength (dB)", (-60.0, 0.0)).with_row(row);
    let ticks = [0, 12, 24].map(|step| (f64::from(step), format!("{:.2}", 0.125 + f64::from(step) / 32.0)));
    let pitches = [7, 15, 23, 31].map(|bin| (f64::from(bin), (4 * (bin + 1)).to_string()));
    let panels = panels.with_ticks(ticks, pitches).with_axes("time (s)", "frequency (Hz)");
    page.figure(Figure::svg(panels.svg(), "Several matrices on one colour scale."));
}

fn pictures(page: &mut Page, numbers: &mut Numbers) -> Result<(), Box<dyn Error>> {
    page.heading("Pictures");
    let (rows, cols) = (numbers.tile(12, 6)?, numbers.tile(12, 6)?);
    let maps = Grid::new(Colormap::Diverging).with_range(ColorRange::Shared).with_zoom(8, 8);
    let maps = maps.with_columns(["U", "V"]).with_row("layer 1", [rows.clone(), cols.clone()]);
    let maps = maps.with_row("layer 2", [numbers.tile(6, 6)?, numbers.tile(6, 4)?]).draw()?;
    let tiles = outer_products(&rows, &cols, 6).draw()?;
    page.figures([
        Figure::image(&maps, "Maps of two layers, on one colour scale.")?,
        Figure::image(&tiles, "Receptive fields of hidden units: the outer products of columns of U and V.")?,
    ]);
    let ball = |step: usize| {
        let (x, y) = (14.0 + 9.0 * (step as f64 / 3.0).cos(), 14.0 + 9.0 * (step as f64 / 2.0).sin());
        let values: Vec<f32> = (0..28 * 28)
            .map(|i| {
                (-((f64::from(i % 28) - x).powi(2) + (f64::from(i / 28) - y).powi(2)) / 9.0).exp() as f32
            })
            .collect();
        Tile::new(28, 28, values)
    };
    let frames: Vec<Tile> = (0..20).map(ball).collect::<Result<_, _>>()?;
    let strip = Grid::new(Colormap::Gray)
        .with_range(ColorRange::Fixed(0.0, 1.0))
        .with_columns((1..=10).map(|i| i.to_string()));
    let strip =
        strip.with_row("input", frames[..10].to_vec()).with_row("target", frames[10..].to_vec()).draw()?;
    let moving = |tile: &Tile| {
        Grid::new(Colormap::Gray)
            .with_range(ColorRange::Fixed(0.0, 1.0))
            .with_zoom(5, 5)
            .with_row("", [tile.clone()])
            .draw()
    };
    let moving: Vec<_> = frames.iter().map(moving).collect::<Result<_, _>>()?;
    page.figure(Figure::image(&strip, "Ten frames of input, ten frames of target.")?);
    page.figure(Figure::gif(gif(&moving, Duration::from_millis(100))?, "The same as an animation."));
    Ok(())
}

fn tables(page: &mut Page) {
    page.heading("Tables and text");
    page.facts([
        ("data", "digits, 5,000 samples"),
        ("seed", "42"),
        ("epochs", "60"),
        ("parameters", "31,410"),
        ("time", "48 s"),
    ]);
    let columns = [
        TableColumn::text("net"),
        TableColumn::number("parameters").with_highlight(Highlight::Min),
        TableColumn::number("error rate (%)").with_highlight(Highlight::Min),
        TableColumn::number("paper (%)"),
    ];
    let table = Table::new(columns)
        .with_caption("Mean ± standard deviation over ten seeds.")
        .with_row([
            "matrix 50×50".into(),
            TableCell::count(31_410),
            TableCell::mean_std(1.53, 0.08, 2),
            TableCell::number(1.4, 2),
        ])
        .with_row([
            "vector 200".into(),
            TableCell::count(239_410),
            TableCell::mean_std(2.31, 0.1, 2),
            TableCell::Empty,
        ])
        .with_row(["<script>alert(1)</script>".into(), TableCell::count(9), TableCell::number(f64::NAN, 2)]);
    page.table(&table);
    page.details("The same table as Markdown", |page| page.code(&table.markdown()));
    page.details("The same table as plain text", |page| page.code(&table.text()));
    page.paragraph("A paragraph with <b>hostile</b> text & \"quotes\", escaped.");
}
