//! Charts draw values at the right coordinates and accept every value and name.

use matnet_report::Svg;
use matnet_report::chart::{
    BarChart, Bars, ChartSeries, ConfusionChart, HeatMap, HeatPanels, Histogram, LineChart, ParallelAxis,
    ParallelChart, Scatter, Scatter3d,
};
use roxmltree::{Document, Node};

fn number(node: Node, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// The starts and corners of a path made of absolute `M` and `L` only, part by part.
fn parts(path: &str) -> Vec<Vec<(f64, f64)>> {
    let point = |text: &str| {
        let (x, y) = text.split_once(' ').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    path.split('M').skip(1).map(|part| part.trim_end_matches('z').split('L').map(point).collect()).collect()
}

/// Value and coordinate of the tick labels of an axis.
fn ticks(svg: &Document, anchor: &str, axis: &str, shift: f64) -> Vec<(f64, f64)> {
    let texts = svg.descendants().filter(|node| node.attribute("text-anchor") == Some(anchor));
    let numbers = texts.filter_map(|node| {
        let label = node.text()?.replace('−', "-").replace(',', "");
        Some((label.parse().ok()?, number(node, axis) + shift))
    });
    numbers.collect()
}

/// The coordinate of a value on an axis with these ticks.
fn place(ticks: &[(f64, f64)], value: f64) -> f64 {
    let ((a, from), (b, to)) = (ticks[0], *ticks.last().unwrap());
    from + (value - a) / (b - a) * (to - from)
}

fn line_of<'a>(svg: &'a Document, series: usize) -> &'a str {
    let class = format!("s-c{series}");
    let lines = svg.descendants().filter(|node| node.attribute("class") == Some(class.as_str()));
    lines.filter_map(|node| node.attribute("d")).find(|path| path.contains('L')).unwrap()
}

#[test]
fn points_are_where_the_ticks_say() {
    let values = [10.0, -2.5, 5.0, 7.25];
    let chart =
        LineChart::new("t").with_axes("epoch", "y").with_series(ChartSeries::by_epoch("a", values)).svg();
    let svg = Document::parse(chart.as_str()).unwrap();
    let (x, y) = (ticks(&svg, "middle", "x", 0.0), ticks(&svg, "end", "y", -4.0));
    assert_eq!(x.iter().map(|tick| tick.0).collect::<Vec<_>>(), [1.0, 2.0, 3.0, 4.0]);
    let line = &parts(line_of(&svg, 0))[0];
    assert_eq!(line.len(), values.len());
    for (step, (&(px, py), value)) in line.iter().zip(values).enumerate() {
        assert!((px - place(&x, step as f64 + 1.0)).abs() < 0.02);
        assert!((py - place(&y, value)).abs() < 0.02, "{value}");
    }
}

#[test]
fn a_log_axis_has_equal_factors() {
    let wide = LineChart::new("t")
        .with_log_x()
        .with_series(ChartSeries::new("a", [(0.0, 5.0), (10.0, 1.0), (100.0, 2.0), (1000.0, 3.0)]))
        .svg();
    let svg = Document::parse(wide.as_str()).unwrap();
    let places: Vec<f64> = parts(line_of(&svg, 0))[0].iter().map(|point| point.0).collect();
    assert_eq!(places.len(), 3, "what is not positive leaves a gap");
    assert!((places[2] - places[1] - (places[1] - places[0])).abs() < 0.03);
}

#[test]
fn gaps_and_short_series_survive() {
    let gaps = [1.0, 2.0, f64::NAN, 3.0, 4.0, f64::INFINITY, 5.0];
    let chart = LineChart::new("t")
        .with_series(ChartSeries::by_epoch("a", gaps))
        .with_series(ChartSeries::by_epoch("b", [1.0, 1.5]));
    let chart = chart.svg();
    let svg = Document::parse(chart.as_str()).unwrap();
    let first = parts(line_of(&svg, 0));
    assert_eq!(first.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    assert_eq!(parts(line_of(&svg, 1))[0].len(), 2);
    // The isolated point is marked too.
    let marks = svg.descendants().rfind(|node| node.attribute("class") == Some("f-c0")).unwrap();
    assert_eq!(marks.attribute("d").unwrap().matches('M').count(), 5);
    // On a curve only points without neighbours have markers.
    let curve = LineChart::new("t").with_series(ChartSeries::by_epoch("a", gaps)).without_markers().svg();
    let svg = Document::parse(curve.as_str()).unwrap();
    let marks = svg.descendants().rfind(|node| node.attribute("class") == Some("f-c0")).unwrap();
    assert_eq!(marks.attribute("d").unwrap().matches('M').count(), 1);
    // In a long series, too.
    let mut long = vec![1.0; 60];
    long[30] = f64::NAN;
    long[32] = f64::NAN;
    let chart = LineChart::new("t").with_series(ChartSeries::by_epoch("", long)).svg();
    let svg = Document::parse(chart.as_str()).unwrap();
    let marks = svg.descendants().rfind(|node| node.attribute("class") == Some("f-c0")).unwrap();
    assert_eq!(marks.attribute("d").unwrap().matches('M').count(), 1);
}

#[test]
fn an_error_band_surrounds_its_line() {
    let series = ChartSeries::by_epoch("a", [1.0, 2.0, 3.0]).with_band([0.5, 0.25, -0.5]);
    let chart = LineChart::new("t").with_series(series).svg();
    let svg = Document::parse(chart.as_str()).unwrap();
    let y = ticks(&svg, "end", "y", -4.0);
    let band = svg.descendants().find(|node| node.attribute("fill-opacity") == Some("0.16")).unwrap();
    let outline = &parts(band.attribute("d").unwrap())[0];
    let heights: Vec<f64> = outline.iter().map(|point| point.1).collect();
    for (height, value) in heights.iter().zip([1.5, 2.25, 3.5, 2.5, 1.75, 0.5]) {
        assert!((height - place(&y, value)).abs() < 0.02, "{value}");
    }
}

#[test]
fn tooltips_show_all_values_at_a_place() {
    let chart = LineChart::new("t").with_axes("epoch", "error (%)");
    let chart = chart
        .with_series(ChartSeries::by_epoch("a", [1.0, 2.0]).with_band([0.5, 0.0]))
        .with_series(ChartSeries::by_epoch("b", [3.0]));
    let chart = chart.svg();
    let svg = Document::parse(chart.as_str()).unwrap();
    let titles = svg.descendants().filter(|n| n.tag_name().name() == "title");
    let tooltips: Vec<&str> = titles.filter_map(|n| n.text()).collect();
    assert_eq!(tooltips, ["epoch 1\na: 1 ± 0.5\nb: 3", "epoch 2\na: 2"]);
}

#[test]
fn bars_are_as_high_as_their_values() {
    let chart = BarChart::new("t", ["one", "two", "none"])
        .with_bars(Bars::new("a", [4.0, -2.0, f64::NAN]).with_references([3.0]))
        .with_decimals(1)
        .svg();
    let svg = Document::parse(chart.as_str()).unwrap();
    let bars: Vec<Node> = svg
        .descendants()
        .filter(|node| node.attribute("class") == Some("f-c0") && node.has_children())
        .collect();
    assert_eq!(bars.len(), 2, "no bar for no number");
    let (first, second) = (number(bars[0], "height"), number(bars[1], "height"));
    assert!((first / second - 2.0).abs() < 0.01);
    let zero = number(bars[0], "y") + first;
    assert!((number(bars[1], "y") - zero).abs() < 0.02, "one stands on zero, the other hangs from it");
    let mark = svg.descendants().rfind(|n| n.attribute("stroke-width") == Some("2.5")).unwrap();
    let height = parts(mark.attribute("d").unwrap())[0][0].1;
    assert!((zero - height - first * 0.75).abs() < 0.02, "the reference is at three quarters of the bar");
    for label in [">4.0<", ">−2.0<", ">reference<"] {
        assert!(chart.as_str().contains(label), "{label}");
    }
}

/// Small differences stay visible, and percentages end at 100.
#[test]
fn values_on_a_truncated_axis_are_points() {
    let chart = |values: [f64; 3]| {
        let bars = Bars::new("a", values).with_error_bars([1.0, 0.0, 6.0]).with_references([84.0]);
        let chart = BarChart::new("t", ["one", "two", "three"]).with_axes("", "accuracy (%)").with_bars(bars);
        chart.with_y_max(100.0).with_truncated_axis().svg()
    };
    let truncated = chart([86.0, 87.0, 98.0]);
    let svg = Document::parse(truncated.as_str()).unwrap();
    let y = ticks(&svg, "end", "y", -4.0);
    assert_eq!(
        (y[0].0, y.last().unwrap().0),
        (80.0, 100.0),
        "from the next round number to the most there is"
    );
    assert!(truncated.as_str().contains(">accuracy (%); the axis does not start at 0<"));
    let points: Vec<&str> = svg
        .descendants()
        .filter(|node| node.attribute("class") == Some("f-c0"))
        .filter_map(|node| node.attribute("d"))
        .collect();
    assert_eq!(points.len(), 4, "one in the legend, one for each value");
    let height = |path: &str| path[1..].split(['a', ' ']).nth(1).unwrap().parse::<f64>().unwrap();
    for (point, value) in points[1..].iter().zip([86.0, 87.0, 98.0]) {
        assert!((height(point) - place(&y, value)).abs() < 0.02, "{value}");
    }
    let whole = chart([86.0, 30.0, 98.0]);
    let svg = Document::parse(whole.as_str()).unwrap();
    let y = ticks(&svg, "end", "y", -4.0);
    assert_eq!((y[0].0, y.last().unwrap().0), (0.0, 100.0));
    assert!(!whole.as_str().contains("does not start"));
}

#[test]
fn panels_share_their_colours() {
    let matrix = |value: f64| vec![vec![0.0, value], vec![f64::NAN, 9.0]];
    let chart = HeatPanels::new("t", "strength", (0.0, 4.0))
        .with_ticks([(1.0, "late".to_owned())], [(0.0, "low".to_owned()), (7.0, "outside".to_owned())])
        .with_row([("a".to_owned(), matrix(2.0)), ("b".to_owned(), matrix(4.0))])
        .svg();
    let svg = Document::parse(chart.as_str()).unwrap();
    // A cell is 84 pixels wide.
    let cells = |colour: &str| {
        let paths = svg.descendants().filter(|node| node.attribute("fill") == Some(colour));
        let paths = paths.filter_map(|node| node.attribute("d"));
        paths.map(|path| path.matches("h84v84").count()).sum::<usize>()
    };
    assert_eq!(cells("#080618"), 2, "0 in both");
    assert_eq!(cells("#fcf6b2"), 3, "9 in both, which is more than the last colour, and 4 in the second");
    assert!(chart.as_str().contains(">late<") && chart.as_str().contains(">low<"));
    assert!(!chart.as_str().contains("outside"));
}

#[test]
fn a_confusion_matrix_is_readable_from_2_to_50_classes() {
    for classes in [1, 2, 10, 26, 50] {
        let counts =
            (0..classes).map(|row| (0..classes).map(|col| if row == col { 75 } else { 0 }).collect());
        let mut counts: Vec<Vec<u64>> = counts.collect();
        counts[0][classes - 1] += 25;
        let names = (0..classes).map(|class| format!("class {class}"));
        let chart = ConfusionChart::new("t", names, counts).svg();
        let svg = Document::parse(chart.as_str()).unwrap();
        let cells: Vec<Node> =
            svg.descendants().filter(|n| n.has_children() && n.attribute("height").is_some()).collect();
        let cells: Vec<&Node> = cells.iter().filter(|n| n.tag_name().name() == "rect").collect();
        assert_eq!(cells.len(), classes * classes);
        if classes > 1 {
            assert_eq!(number(*cells[0], "fill-opacity"), 0.75);
            assert_eq!(number(*cells[classes - 1], "fill-opacity"), 0.25);
            assert!(chart.as_str().contains("true class 0, predicted class 0: 75 of 100 (75.0 %)"));
        }
        let written: Vec<Node> =
            svg.descendants().filter(|n| n.text() == Some("75") && n.has_attribute("x")).collect();
        assert_eq!(written.len(), if classes == 1 { 0 } else { classes });
        assert!(written.iter().all(|n| number(*n, "font-size") >= 5.5));
        assert!(chart.width() <= 1100, "{classes}: {}", chart.width());
    }
}

#[test]
fn a_normalized_confusion_matrix_writes_percent() {
    let chart = ConfusionChart::new("t", ["a", "b"], [vec![3, 1], vec![0, 0]]).normalized().svg();
    let svg = Document::parse(chart.as_str()).unwrap();
    let written = |text: &str| svg.descendants().filter(|n| n.is_text() && n.text() == Some(text)).count();
    assert_eq!([written("75"), written("25"), written("3")], [1, 1, 0]);
    assert!(chart.as_str().contains("true a, predicted a: 3 of 4 (75.0 %)"));
}

#[test]
fn a_guide_lies_where_the_ticks_say() {
    let points = [(0.2, 0.4), (0.6, 0.7)];
    let line = LineChart::new("t").with_series(ChartSeries::new("a", points));
    let scatter = Scatter::new("t").with_points("a", points);
    for chart in [
        line.with_guide("y = x", (0.0, 0.0), (1.0, 1.0)).svg(),
        scatter.with_guide("y = x", (0.0, 0.0), (1.0, 1.0)).svg(),
    ] {
        let svg = Document::parse(chart.as_str()).unwrap();
        let (x, y) = (ticks(&svg, "middle", "x", 0.0), ticks(&svg, "end", "y", -4.0));
        assert_eq!((x[0].0, x.last().unwrap().0, y.last().unwrap().0), (0.0, 1.0, 1.0), "the axes show it");
        let dashed = svg.descendants().filter(|n| n.attribute("stroke-dasharray") == Some("4 4"));
        let guide = dashed.filter_map(|n| n.attribute("d")).find(|path| path.contains('L')).unwrap();
        let ends = &parts(guide)[0];
        for ((px, py), value) in ends.iter().zip([0.0, 1.0]) {
            assert!((px - place(&x, value)).abs() < 0.02 && (py - place(&y, value)).abs() < 0.02);
        }
        assert!(chart.as_str().contains(">y = x<"));
    }
}

#[test]
fn points_of_a_scatter_plot_are_where_the_ticks_say() {
    let chart = Scatter::new("t").with_axes("x", "y").with_points("", [(1.0, 10.0), (3.5, -20.0)]).svg();
    let svg = Document::parse(chart.as_str()).unwrap();
    let (x, y) = (ticks(&svg, "middle", "x", 0.0), ticks(&svg, "end", "y", -4.0));
    let marks = svg.descendants().find(|n| n.attribute("class") == Some("f-c0")).unwrap();
    let starts = marks.attribute("d").unwrap().split('M').skip(1).map(|mark| {
        let (x, rest) = mark.split_once(' ').unwrap();
        (x.parse::<f64>().unwrap(), rest.split_once('a').unwrap().0.parse::<f64>().unwrap())
    });
    for ((px, py), (at, height)) in starts.zip([(1.0, 10.0), (3.5, -20.0)]) {
        // A circle starts at its left end.
        assert!((px + 2.6 - place(&x, at)).abs() < 0.02 && (py - place(&y, height)).abs() < 0.02);
    }
}

#[test]
fn lines_through_parallel_axes_are_where_the_ticks_say() {
    let chart = ParallelChart::new("t")
        .with_axis(ParallelAxis::names("optimizer", ["adam", "sgd"]))
        .with_axis(ParallelAxis::numbers("rate").with_log())
        .with_axis(ParallelAxis::numbers("error"))
        .with_line([1.0, 0.01, 9.0], 9.0, 1.0, "")
        .with_line([0.0, 0.1, 3.0], 3.0, 3.0, "trial <7>")
        .with_line([1.0, 1.0, 5.0], 5.0, 1.0, "")
        .svg();
    let svg = Document::parse(chart.as_str()).unwrap();
    let lines: Vec<Node> =
        svg.descendants().filter(|n| n.attribute("d").is_some_and(|d| d.matches('L').count() == 2)).collect();
    let colors: Vec<&str> = lines.iter().filter_map(|line| line.attribute("stroke")).collect();
    assert_eq!(colors, ["#d55e00", "#969ea8", "#0072b2"], "the best comes last, on top");
    let label = |text: &str| {
        let found = svg.descendants().find(|n| n.tag_name().name() == "text" && n.text() == Some(text));
        number(found.unwrap(), "y") - 4.0
    };
    let best = &parts(lines[2].attribute("d").unwrap())[0];
    assert!((best[0].1 - label("adam")).abs() < 0.02 && (best[1].1 - label("0.1")).abs() < 0.02);
    // Halfway between the logarithms of 0.01 and 1.
    let ends = [label("0.01"), label("1")];
    assert!((best[1].1 - (ends[0] + ends[1]) / 2.0).abs() < 0.02);
    assert!(chart.as_str().contains("trial &lt;7&gt;"));
}

#[test]
fn a_histogram_counts() {
    let values = [0.0, 0.1, 0.1, 0.9, 1.0, f64::NAN, f64::INFINITY];
    let chart = Histogram::new("t", values, 2).svg();
    let svg = Document::parse(chart.as_str()).unwrap();
    let y = ticks(&svg, "end", "y", -4.0);
    let bars: Vec<Node> = svg.descendants().filter(|n| n.attribute("class") == Some("f-c0")).collect();
    assert_eq!(bars.len(), 2);
    for (bar, count) in bars.iter().zip([3.0, 2.0]) {
        assert!((number(*bar, "y") - place(&y, count)).abs() < 0.02);
    }
    assert!(chart.as_str().contains("0 to 0.5: 3"));
    let chart = Histogram::between("t", [0.2, 5.0], 4, [0.0, 1.0]).svg();
    assert!(chart.as_str().contains("0 to 0.25: 1") && chart.as_str().contains("0.75 to 1: 0"));
}

/// One seed has no standard deviation.
#[test]
fn error_bars_need_a_deviation() {
    let chart = |deviations: [f64; 2]| {
        BarChart::new("t", ["a", "b"]).with_bars(Bars::new("", [4.0, 2.0]).with_error_bars(deviations))
    };
    let lines = |chart: &BarChart| chart.svg().as_str().matches("stroke-width=\"1.2\"").count();
    assert_eq!((chart([1.0, 0.0]).has_error_bars(), lines(&chart([1.0, 0.0]))), (true, 3));
    assert!(chart([1.0, 0.0]).svg().as_str().contains("± 1"));
    for none in [[0.0; 2], [f64::NAN; 2]] {
        assert_eq!((chart(none).has_error_bars(), lines(&chart(none))), (false, 0));
        assert!(!chart(none).svg().as_str().contains('±'));
    }
    let without_value = Bars::new("", [f64::NAN]).with_error_bars([1.0]);
    assert!(!BarChart::new("t", ["a"]).with_bars(without_value).has_error_bars());
}

#[test]
fn many_groups_continue_in_further_rows() {
    let groups = || (0..60).map(|group| format!("g{group}"));
    let one = BarChart::new("t", groups().take(10)).with_bars(Bars::new("", [1.0; 10])).svg();
    let many = BarChart::new("t", groups()).with_bars(Bars::new("", [1.0; 60])).svg();
    assert_eq!(many.width(), one.width());
    assert!(many.height() > 2 * one.height() && many.height() < 4 * one.height());
    let svg = Document::parse(many.as_str()).unwrap();
    let bars: Vec<Node> = svg.descendants().filter(|n| n.attribute("class") == Some("f-c0")).collect();
    assert_eq!(bars.len(), 60);
    assert!(bars.iter().all(|bar| number(*bar, "height") == number(bars[0], "height")), "one scale");
    let mut bottoms: Vec<String> =
        bars.iter().map(|bar| format!("{:.1}", number(*bar, "y") + number(*bar, "height"))).collect();
    bottoms.dedup();
    assert_eq!(bottoms.len(), 3);
}

#[test]
fn a_chart_without_values_says_so() {
    let nan = f64::NAN;
    let bars = |values: [f64; 2]| BarChart::new("t", ["a", "b"]).with_bars(Bars::new("x", values)).svg();
    let line = |values: [f64; 2]| LineChart::new("t").with_series(ChartSeries::by_epoch("x", values)).svg();
    let heat = |values: [f64; 2]| HeatMap::new("t", ["a"], ["b", "c"], [values.to_vec()]).svg();
    let panels = |values: [f64; 2]| {
        HeatPanels::new("t", "x", (0.0, 1.0)).with_row([(String::new(), vec![values.to_vec()])]).svg()
    };
    let plot = |values: [f64; 2]| Scatter3d::new("t").with_class("x", values.map(|x| [x; 3])).svg();
    let confusion = |count| ConfusionChart::new("t", ["a"], [vec![count]]).svg();
    let scatter = |values: [f64; 2]| Scatter::new("t").with_points("x", values.map(|x| (x, x))).svg();
    let histogram = |values: [f64; 2]| Histogram::new("t", values, 5).svg();
    let both = |chart: &dyn Fn([f64; 2]) -> Svg| (chart([nan; 2]), chart([nan, 1.0]));
    let charts = [
        both(&bars),
        both(&line),
        both(&heat),
        both(&panels),
        both(&plot),
        both(&scatter),
        both(&histogram),
        (confusion(0), confusion(1)),
    ];
    for (kind, (without, with)) in charts.iter().enumerate() {
        assert!(without.as_str().contains(">no data<"), "{kind}");
        assert!(!with.as_str().contains(">no data<"), "{kind}");
    }
}

/// One chart of every kind with these numbers and this name everywhere.
fn every_chart(name: &str, values: &[f64]) -> Vec<Svg> {
    let line = |log: bool| {
        let series = ChartSeries::by_epoch(name, values.iter().copied()).with_band(values.iter().copied());
        let chart = LineChart::new(name).with_axes(name, name).with_series(series);
        if log { chart.with_log_x().svg() } else { chart.svg() }
    };
    let names = || values.iter().map(|_| name);
    // A matrix of 400 by 400 cells is no chart any more.
    let some = &values[..values.len().min(50)];
    let bars = Bars::new(name, values.iter().copied()).with_error_bars(values.iter().copied());
    let bars = bars.with_references(values.iter().copied());
    let points = values.iter().map(|&x| [x, -x, x]);
    vec![
        line(false),
        line(true),
        BarChart::new(name, names())
            .with_axes(name, name)
            .with_bars(bars.clone())
            .with_bars(bars.clone())
            .svg(),
        BarChart::new(name, names())
            .with_axes(name, name)
            .with_y_max(2.0)
            .with_truncated_axis()
            .with_bars(bars)
            .svg(),
        Scatter3d::new(name).with_axes([name; 3]).with_class(name, points).svg(),
        HeatMap::new(name, names(), names(), some.iter().map(|_| some.to_vec())).svg(),
        HeatPanels::new(name, name, (some.first().copied().unwrap_or(0.0), 1.0))
            .with_axes(name, name)
            .with_ticks(
                some.iter().map(|&x| (x, name.to_owned())),
                some.iter().map(|&x| (x, name.to_owned())),
            )
            .with_row([(name.to_owned(), some.iter().map(|_| some.to_vec()).collect())])
            .svg(),
        ConfusionChart::new(name, names(), some.iter().map(|_| vec![u64::MAX; some.len()])).svg(),
        ConfusionChart::new(name, names(), some.iter().map(|_| vec![1; some.len()])).normalized().svg(),
        Scatter::new(name)
            .with_axes(name, name)
            .with_guide(name, (0.0, 0.0), (1.0, 1.0))
            .with_points(name, values.iter().map(|&x| (x, -x)))
            .svg(),
        Histogram::new(name, values.iter().copied(), 20).with_axes(name, name).svg(),
        values
            .iter()
            .fold(
                ParallelChart::new(name)
                    .with_axis(ParallelAxis::numbers(name))
                    .with_axis(ParallelAxis::numbers(name).with_log())
                    .with_axis(ParallelAxis::names(name, [name, name])),
                |chart, &x| chart.with_line([x, x, 1.0], x, 2.0, name),
            )
            .svg(),
    ]
}

#[test]
fn no_number_and_no_name_breaks_a_chart() {
    let hostile = "</script><img src=x onerror='alert(1)'>&\"\u{0}\n";
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    for values in [
        &[][..],
        &[3.0],
        &[0.0],
        &[5.0; 9],
        &[nan],
        &[nan, 1.0, inf, -inf, 2.0],
        &[1e308, -1e308],
        &[5e-324, 1e-300],
        &[1e15, 1e15 + 0.25],
        &[1.5; 400],
    ] {
        let again = every_chart(hostile, values);
        for (kind, chart) in every_chart(hostile, values).into_iter().enumerate() {
            let svg = Document::parse(chart.as_str()).unwrap();
            let (width, height) = (f64::from(chart.width()), f64::from(chart.height()));
            assert!(!chart.as_str().contains("<img") && !chart.as_str().contains('\0'));
            for node in svg.descendants() {
                for attribute in node.attributes().filter(|a| !["aria-label", "role"].contains(&a.name())) {
                    assert!(
                        !attribute.value().contains("NaN") && !attribute.value().contains("inf"),
                        "{values:?}"
                    );
                }
                if node.tag_name().name() == "text" {
                    let (x, y) = (number(node, "x"), number(node, "y"));
                    assert!(
                        (0.0..=width).contains(&x) && (0.0..=height).contains(&y),
                        "{kind} {values:?} {x} {y}"
                    );
                }
            }
            assert_eq!(chart, again[kind], "the same input gives the same bytes");
            if values.len() < 10 {
                let png = chart.to_png(1.0).unwrap();
                let image = image::load_from_memory(&png).unwrap();
                assert_eq!((image.width(), image.height()), (chart.width(), chart.height()));
            }
        }
    }
}
