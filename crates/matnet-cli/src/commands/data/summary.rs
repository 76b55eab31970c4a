//! What a dataset holds, in words and numbers.

use std::io::{self, Write};

use matnet_data::{Array, GraphData, Samples, Story, StoryData, TableData, Target};
use matnet_report::text::{count, counted, number, shape};

use crate::degrees::Degrees;

/// Matrices or sequences: sizes, range, classes, groups.
pub fn samples(out: &mut impl Write, samples: &Samples) -> io::Result<()> {
    let number = samples.inputs.len();
    let what = match samples.inputs.shape() {
        [_, rows, cols] => format!("{} {}", counted(number, "matrix"), shape(&[*rows, *cols])),
        [_, time, rows, cols] => {
            let each = counted(*time, "matrix");
            format!("{} of {each} {}", counted(number, "sequence"), shape(&[*rows, *cols]))
        }
        other => format!("{} {}", counted(number, "array"), shape(other)),
    };
    writeln!(out, "samples  {what}")?;
    range(out, "range", &samples.inputs)?;
    match &samples.target {
        Target::None => {}
        Target::Classes { labels, names } | Target::StepClasses { labels, names } => {
            classes(out, labels.iter().copied().map(Some), names)?
        }
        Target::Values { values, names } => {
            writeln!(out, "targets  {} per sample", counted(names.len(), "value"))?;
            range(out, "  range", values)?;
        }
        Target::MultiLabels { flags, names } => {
            let share =
                |label: usize| flags.iter().skip(label).step_by(names.len()).filter(|&&on| on).count();
            let labels = names.iter().enumerate().map(|(at, name)| format!("{name} ({})", count(share(at))));
            writeln!(out, "labels   {}", labels.collect::<Vec<_>>().join(", "))?;
        }
        Target::Matrices(targets) => {
            writeln!(out, "targets  {}", shape(targets.shape().get(1..).unwrap_or_default()))?;
            range(out, "  range", targets)?;
        }
        _ => {}
    }
    if !samples.group_names.is_empty() {
        let mut sizes = vec![0; samples.group_names.len()];
        for &group in &samples.groups {
            if let Some(size) = sizes.get_mut(group as usize) {
                *size += 1;
            }
        }
        let (least, most) = (sizes.iter().min().unwrap_or(&0), sizes.iter().max().unwrap_or(&0));
        let each =
            if least == most { count(*least) } else { format!("{} to {}", count(*least), count(*most)) };
        writeln!(out, "groups   {} of {each} samples", count(sizes.len()))?;
    }
    Ok(())
}

/// Nodes, features, classes, edges and degrees.
pub fn graph(out: &mut impl Write, graph: &GraphData) -> io::Result<()> {
    let features = graph.features.shape().get(1).copied().unwrap_or(0);
    let data = graph.features.data();
    let filled = data.iter().filter(|&&x| x != 0.0).count();
    let share = 100.0 * filled as f64 / data.len().max(1) as f64;
    writeln!(out, "nodes    {}", count(graph.labels.len()))?;
    writeln!(out, "features {}, {} of them not 0 ({} %)", count(features), count(filled), number(share))?;
    range(out, "range", &graph.features)?;
    classes(out, graph.labels.iter().copied(), &graph.class_names)?;
    let degrees = Degrees::of(graph);
    let kind = if graph.directed { "directed" } else { "undirected" };
    writeln!(out, "edges    {} as stored, {kind}", count(graph.edges.len()))?;
    let width = graph.relation_names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, edges) in graph.relation_names.iter().zip(graph.edges_by_relation()) {
        writeln!(out, "         {name:width$}  {}", count(edges.len()))?;
    }
    let distinct = counted(degrees.distinct, "distinct pair");
    writeln!(out, "         {distinct} of nodes, {}", counted(degrees.loops, "self loop"))?;
    let (mean, median) = (degrees.mean(), degrees.median());
    let (least, most) = (degrees.min(), degrees.max());
    writeln!(out, "degrees  {least} to {most}, mean {}, median {median}", number(mean))?;
    let bins = degrees.bins();
    let largest = bins.iter().map(|(_, nodes)| *nodes).max().unwrap_or(1).max(1);
    for (name, nodes) in bins {
        let bar = "#".repeat((nodes * 40).div_ceil(largest));
        writeln!(out, "  {name:>9}  {:>7}  {bar}", count(nodes))?;
    }
    if let Some(split) = graph.splits.first() {
        let sizes = [&split.train, &split.valid, &split.test].map(|part| count(part.len()));
        let which = match graph.splits.len() {
            1 => "public".to_owned(),
            several => format!("the first of {several} public ones"),
        };
        writeln!(out, "split    {} train, {} validation, {} test ({which})", sizes[0], sizes[1], sizes[2])?;
    }
    Ok(())
}

/// Rows, columns and the usual split of a long table.
pub fn table(out: &mut impl Write, table: &TableData) -> io::Result<()> {
    writeln!(out, "table    {} of {}", counted(table.rows(), "row"), counted(table.columns(), "column"))?;
    if !table.column_names.is_empty() {
        writeln!(out, "columns  {}", table.column_names.join(", "))?;
    }
    range(out, "range", &table.values)?;
    if let Some(rows) = &table.split {
        let sizes = [rows.train, rows.valid, rows.test].map(count);
        writeln!(
            out,
            "split    first {} rows train, then {} validation, then {} test",
            sizes[0], sizes[1], sizes[2]
        )?;
    }
    Ok(())
}

/// Tasks, stories and questions.
pub fn stories(out: &mut impl Write, data: &StoryData) -> io::Result<()> {
    let questions = |stories: &[Story]| stories.iter().map(|story| story.questions.len()).sum::<usize>();
    writeln!(out, "tasks    {}", data.tasks.len())?;
    writeln!(out, "  {:>2}  {:28}  {:>15}  {:>15}", "", "", "train questions", "test questions")?;
    for task in &data.tasks {
        let (train, test) = (questions(&task.train), questions(&task.test));
        writeln!(out, "  {:>2}  {:28}  {:>15}  {:>15}", task.number, task.name, count(train), count(test))?;
    }
    Ok(())
}

fn range(out: &mut impl Write, name: &str, array: &Array) -> io::Result<()> {
    let (mut low, mut high, mut sum, mut square, mut finite) =
        (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0.0, 0usize);
    for &x in array.data().iter().filter(|x| x.is_finite()) {
        let x = f64::from(x);
        (low, high) = (low.min(x), high.max(x));
        (sum, square) = (sum + x, square + x * x);
        finite += 1;
    }
    if finite == 0 {
        return writeln!(out, "{name:8} no finite number");
    }
    let mean = sum / finite as f64;
    let deviation = (square / finite as f64 - mean * mean).max(0.0).sqrt();
    let (low, high) = (number(low), number(high));
    writeln!(out, "{name:8} {low} to {high}, mean {}, s.d. {}", number(mean), number(deviation))?;
    match array.data().len() - finite {
        0 => Ok(()),
        odd => writeln!(out, "         {} not finite", counted(odd, "number")),
    }
}

fn classes(
    out: &mut impl Write,
    labels: impl Iterator<Item = Option<u32>>,
    names: &[String],
) -> io::Result<()> {
    let (mut sizes, mut unknown) = (vec![0; names.len()], 0);
    for label in labels {
        match label.and_then(|label| sizes.get_mut(label as usize)) {
            Some(size) => *size += 1,
            None => unknown += 1,
        }
    }
    writeln!(out, "classes  {}", names.len())?;
    // A line break in a name would look like another class.
    let names: Vec<String> = names.iter().map(|name| name.replace(['\n', '\t'], " ")).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, size) in names.iter().zip(&sizes) {
        writeln!(out, "  {name:width$}  {:>7}", count(*size))?;
    }
    match unknown {
        0 => Ok(()),
        unknown => writeln!(out, "  {} without a class", count(unknown)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::degrees::star;

    #[test]
    fn a_class_is_one_line() {
        let mut text = Vec::new();
        classes(&mut text, [Some(0), Some(1)].into_iter(), &["a\nb".to_owned(), "c".to_owned()]).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "classes  2\n  a b        1\n  c          1\n");
    }

    #[test]
    fn a_graph_is_told_in_full() {
        let mut text = Vec::new();
        graph(&mut text, &star()).unwrap();
        let text = String::from_utf8(text).unwrap();
        for part in [
            "nodes    5",
            "1 without a class",
            "5 as stored, undirected",
            "cites  3",
            "likes  2",
            "3 distinct pairs of nodes, 1 self loop",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_told() {
        let mut text = Vec::new();
        range(&mut text, "range", &Array::new([3], vec![1.0, f32::NAN, 3.0]).unwrap()).unwrap();
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "range    1 to 3, mean 2, s.d. 1\n         1 number not finite\n"
        );
        let mut text = Vec::new();
        range(&mut text, "range", &Array::new([0], vec![]).unwrap()).unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), "range    no finite number\n");
    }
}
