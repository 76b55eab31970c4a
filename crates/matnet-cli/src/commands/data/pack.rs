//! `matnet data pack`

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use matnet_data::catalog::{self, LoadOptions};
use matnet_data::pack::{Directed, NodeOrder, PackHeader, PackOptions, PackProgress, PackSource, pack};
use matnet_report::text::{bytes, count, counted, number};

use crate::cli::Pack;
use crate::failure::{Failure, Outcome};
use crate::screen::Screen;
use crate::{interrupt, say};

/// Packs a graph.
pub fn run(args: Pack) -> Outcome {
    let source = source(&args)?;
    let order: NodeOrder = args.order.parse().map_err(Failure::Usage)?;
    let directed = match &args.directed {
        None => Directed::AsStored,
        Some(names) if names.is_empty() => Directed::All,
        Some(names) => Directed::Only(names.clone()),
    };
    let options = PackOptions { memory: u64::from(args.memory) << 20, order, directed, replace: args.force };
    interrupt::watch();
    let mut reporter = Reporter::new(args.quiet);
    let packed = pack(source, &args.out, &options, &mut |progress| {
        reporter.update(progress);
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    reporter.clear();
    let header = packed?;
    let mut out = Screen::lock();
    writeln!(out, "{}: packed", args.out.display())?;
    describe(&mut out, &header)?;
    Ok(())
}

fn source(args: &Pack) -> Result<PackSource, Failure> {
    let path = Path::new(&args.source);
    if args.edges.is_none() && catalog::get(&args.source).is_ok() {
        let cache = args.cache.cache()?;
        let graph = catalog::load(&args.source, &cache, LoadOptions::default())?.into_graph()?;
        return Ok(PackSource::Memory(Box::new(graph)));
    }
    Ok(PackSource::find(path, args.edges.as_deref())?)
}

/// What a packed graph holds.
pub fn describe(out: &mut impl Write, header: &PackHeader) -> io::Result<()> {
    let all = header.nodes as u64 * header.features as u64;
    let share = number(100.0 * header.nonzero as f64 / all.max(1) as f64);
    writeln!(out, "nodes    {}", count(header.nodes))?;
    writeln!(out, "features {}, {share} % of all are not 0", count(header.features))?;
    let classes = counted(header.classes.len(), "class");
    writeln!(out, "classes  {classes}, of {} nodes", count(header.labelled))?;
    writeln!(
        out,
        "edges    {} as read, {} from a node to itself",
        count(header.edges as usize),
        count(header.loops)
    )?;
    for relation in &header.relations {
        let kind = if relation.directed { "directed" } else { "undirected" };
        let mean = number(relation.entries as f64 / header.nodes as f64);
        let name = if relation.name.is_empty() { String::new() } else { format!("{}: ", relation.name) };
        let (entries, longest) = (count(relation.entries as usize), count(relation.longest_row));
        writeln!(out, "         {name}{kind}, {entries} neighbours in all, mean {mean}, at most {longest}")?;
    }
    if header.order != NodeOrder::Natural {
        writeln!(out, "order    reverse Cuthill–McKee")?;
    }
    if let Some([train, valid, test]) = header.split {
        let [train, valid, test] = [train, valid, test].map(count);
        writeln!(out, "split    {train} train, {valid} validation, {test} test (public)")?;
    }
    writeln!(out, "size     {}", bytes(header.files.values().map(|file| file.bytes).sum()))
}

/// Progress on standard error: a spinner on a terminal, a line every ten seconds elsewhere.
struct Reporter {
    bar: Option<ProgressBar>,
    quiet: bool,
    last: Instant,
}

impl Reporter {
    fn new(quiet: bool) -> Self {
        let bar = (!quiet && io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::no_length();
            // If the template did not parse, the default style would do.
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, quiet, last: Instant::now() }
    }

    fn update(&mut self, progress: PackProgress) {
        const BETWEEN_LINES: Duration = Duration::from_secs(10);
        let line = match progress {
            PackProgress::Note(_) if self.quiet => return,
            PackProgress::Note(note) => return say!("data: {note}"),
            PackProgress::Nodes(done) => format!("features of {} nodes", count(done as usize)),
            PackProgress::Edges(done) => format!("{} edges read", count(done as usize)),
            PackProgress::Entries(done) => format!("{} neighbours sorted", count(done as usize)),
            PackProgress::Ordering => "ordering the nodes".to_owned(),
            PackProgress::Checksums(done) => format!("checksums of {}", bytes(done)),
        };
        match &self.bar {
            Some(bar) => {
                bar.set_message(line);
                bar.tick();
            }
            None if !self.quiet && self.last.elapsed() > BETWEEN_LINES => {
                self.last = Instant::now();
                say!("{line}");
            }
            None => {}
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
