"""The report of `peers/bench`: Markdown tables and SVG charts from the measured numbers."""

import json
import math
from html import escape
from pathlib import Path

COLUMNS = {
    "eager": "PyTorch eager",
    "compile": "torch.compile",
    "autotune": "torch.compile, max-autotune",
    "jax": "JAX (XLA)",
    "onnx": "ONNX Runtime",
    "composed": "Burn composed",
    "fused": "matnet",
}
COLOURS = {
    "eager": "#8fa8c8",
    "compile": "#4a6fa5",
    "autotune": "#2f4a73",
    "jax": "#7a9e6b",
    "onnx": "#9a7bb0",
    "composed": "#c9b458",
    "fused": "#b5432f",
}
# Whose matrix product is measured.
LIBRARIES = {"torch": "PyTorch", "jax": "JAX", "burn": "Burn", "matnet": "matnet"}
LONGEST_BAR = 3.0  # times the fastest PyTorch column; longer bars are cut


def milliseconds(side: dict) -> str:
    return f"{number(side['ms'])} ± {number(side['spread'])}"


def number(value: float) -> str:
    """Three digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.{1 if value >= 10 else 2 if value >= 1 else 3}f}"


def best(result: dict, column: str) -> tuple[str, dict] | None:
    """The fastest run of a column, and its layout."""
    ways = [(name, side) for name, side in result["sides"].items() if name.split(",")[0] == column]
    if not ways:
        return None
    name, side = min(ways, key=lambda way: way[1]["ms"])
    return name.partition(", ")[2], side


def columns(result: dict) -> dict[str, tuple[str, dict]]:
    return {column: found for column in COLUMNS if (found := best(result, column))}


def fastest_torch(found: dict[str, tuple[str, dict]]) -> dict | None:
    torch = [found[column][1] for column in ("eager", "compile", "autotune") if column in found]
    return min(torch, key=lambda side: side["ms"], default=None)


def is_compiled(data: dict) -> bool:
    """Whether some row has PyTorch compiled."""
    return not columns_of(data).keys().isdisjoint(("compile", "autotune"))


def columns_of(data: dict) -> dict[str, str]:
    """Names of the columns that some row has."""
    have = {name.split(",")[0] for result in data["rows"] for name in result["sides"]}
    return {column: name for column, name in COLUMNS.items() if column in have}


def machine_lines(data: dict) -> list[str]:
    machine = data["machine"]
    peak = max(machine["sgemm"].values())
    return [
        f"- {machine['cpu']}, {machine['cores']} cores, {machine['threads']} threads on either side, "
        f"{machine['memory']} of memory, {machine['system']}; load {machine['load']:.1f} before the run",
        f"- PyTorch {machine['torch']}, JAX {machine['jax']} (Python {machine['python']}), matnet {machine['matnet']} on Burn "
        f"{machine['burn']} (rustc {machine['rustc']})",
        "- sgemm 2048×2048×2048 in GFLOP/s: "
        + ", ".join(f"{LIBRARIES[library]} {gflops:.0f}" for library, gflops in machine["sgemm"].items())
        + f"; shares below are of {peak:.0f}",
    ]


# Other pages of the folder, linked if they exist.
PAGES_BESIDE = {
    "growth.md": "curves of the time against sizes",
    "../profile.md": "where the time goes, what bounds it, and which goals are missed",
    "graphs/README.md": "nets on graphs, beside PyTorch Geometric",
    "graphs-large/README.md": "the same on 10⁵ and 10⁶ nodes",
    "sweep.md": "the ratio over side and batch",
}


# What the name of a CPU does not say, by folder.
NOTES = {"amd-epyc": ", earlier code"}

# Pages of docs/bench that are made by other programs.
OTHER_PAGES = {
    "profile.md": "Where the time goes, what bounds it, and which goals are missed",
    "packed.md": "Graphs larger than memory",
    "distributed.md": "What several ranks cost",
    "onnx/README.md": "Exported nets in ONNX Runtime, tract and matnet",
    "serve/README.md": "The server under load",
    "gpu.md": "GPU: launches per step",
    "epochs/README.md": "Whole trainings, ours against PyTorch with its DataLoader",
    "saved-activations/README.md": "Activations saved in fewer bits, or not at all",
}


def write_table(folder: Path, data: dict) -> None:
    """README.md, bars.svg and results.json."""
    peak, shown = max(data["machine"]["sgemm"].values()), columns_of(data)
    lines = [
        "# Side by side with PyTorch and JAX",
        "",
        "Made by `peers/bench`. One training step is forward, loss, backward and Adam; the sides load the same",
        "weights and the same batch, must start with the same loss, and take turns,",
        f"{data['rounds']} rounds of about {data['seconds']:g} s each. A time is the median in milliseconds, ± half the",
        "distance between the quartiles. PyTorch's columns show the faster of two implementations: states laid out",
        "`[batch, rows, cols]` or `[rows, batch, cols]` for matrices, written out or `nn.LSTM` for vectors, PyTorch",
        "Geometric's scatter along edges or PyTorch's sparse matrices for graphs; its Adam is the faster of fused and",
        "not. Compiling and warming up are not counted. JAX runs jitted, recurrences as `lax.scan`, in the same two layouts.",
        "",
        *machine_lines(data),
        *([] if is_compiled(data) else ["- `torch.compile` was not run: the fastest PyTorch column is the eager one"]),
        *[f"- [{page}]({page}): {shows}" for page, shows in PAGES_BESIDE.items() if (folder / page).exists()],
        "",
        "![Bars: time of each row relative to the fastest PyTorch column](bars.svg)",
        "",
        "| | row | " + " | ".join(shown.values()) + " | × fastest PyTorch | × best eager |",
        "|---|---|" + "---:|" * (len(shown) + 2),
    ]
    for result in data["rows"]:
        found = columns(result)
        cells = []
        for column in shown:
            layout, side = found.get(column, ("", None))
            missing = "left out" if any(name.split(",")[0] == column for name in result["errors"]) else "–"
            cells.append(f"{milliseconds(side)}{f' ({layout})' if layout else ''}" if side else missing)
        ours, fastest, eager = found.get("fused"), fastest_torch(found), found.get("eager")
        gain = f"**{fastest['ms'] / ours[1]['ms']:.2f}**" if ours and fastest else "–"
        gain_eager = f"{eager[1]['ms'] / ours[1]['ms']:.2f}" if ours and eager else "–"
        lines.append(
            f"| {result['row']['id']} | {result['row']['title']} | {' | '.join(cells)} | {gain} | {gain_eager} |"
        )
    lines += [
        "",
        "Share of the sgemm peak (floating-point operations of the matrix products alone, divided by the time), and peak memory",
        "in MiB, minus that of the idle process and without pages of files such as programs and libraries; that of",
        "`torch.compile` includes what its compiler leaves in memory. The last columns are an upper bound: the speedup over",
        "PyTorch of a program that spent time on nothing but these products, at that peak.",
        "",
        "| | GFLOP | "
        + " | ".join(f"{name}, % of peak" for name in shown.values())
        + " | "
        + " | ".join(f"{name}, MiB" for name in shown.values())
        + " | × fastest PyTorch at the peak | × best eager at the peak |",
        "|---|" + "---:|" * (3 + 2 * len(shown)),
    ]
    for result in data["rows"]:
        found = columns(result)
        share = lambda side: f"{100 * result['flops'] / (side['ms'] * 1e6) / peak:.0f}"
        shares = [share(found[column][1]) if column in found else "–" for column in shown]
        memory = [f"{found[column][1]['memory']:.0f}" if column in found else "–" for column in shown]
        at_peak = result["flops"] / peak / 1e6
        eager = found["eager"][1] if "eager" in found else None
        bounds = [f"{side['ms'] / at_peak:.2f}" if side else "–" for side in (fastest_torch(found), eager)]
        cells = [f"{result['flops'] / 1e9:.2f}", *shares, *memory, *bounds]
        lines.append(f"| {result['row']['id']} | {' | '.join(cells)} |")
    failed = [
        f"- {result['row']['id']}, {name}: {error}"
        for result in data["rows"]
        for name, error in result["errors"].items()
    ]
    if failed:
        lines += ["", "Left out:", "", *failed]
    (folder / "README.md").write_text("\n".join(lines) + "\n")
    (folder / "bars.svg").write_text(bars(data))
    (folder / "results.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def write_index(folder: Path) -> None:
    """README.md of the folder that holds one folder a machine: how far ahead matnet is on each of them."""
    machines = {path.parent.name: json.loads(path.read_text()) for path in sorted(folder.glob("*/results.json"))}
    titles = {result["row"]["id"]: result["row"]["title"] for data in machines.values() for result in data["rows"]}
    lines = [
        "# Benchmarks",
        "",
        "The time of PyTorch divided by that of matnet, for the same training step or prediction on the same machine in the same run;",
        "above 1 matnet is faster. The first number is against the fastest PyTorch column, compiled or not, the second against the faster",
        "eager one. Machines differ: each has a page of its own, with all times, their spread, JAX and ONNX Runtime, memory, and the share of",
        "the machine's sgemm peak. `peers/bench main` makes the page of your machine, and this one.",
        "",
        *[
            f"- [{data['machine']['cpu']}{NOTES.get(name, '')}]({name}/README.md), {data['machine']['cores']} cores, PyTorch {data['machine']['torch']}"
            + ("" if is_compiled(data) else "; `torch.compile` was not run")
            for name, data in machines.items()
        ],
        "",
        "| | row | " + " | ".join(data["machine"]["cpu"] + NOTES.get(name, "") for name, data in machines.items()) + " |",
        "|---|---|" + "---:|" * len(machines),
    ]
    for row, title in titles.items():
        cells = [next((gains(result) for result in data["rows"] if result["row"]["id"] == row), "–") for data in machines.values()]
        lines.append(f"| {row} | {title} | {' | '.join(cells)} |")
    lines += ["", "Other pages:", "", *[f"- [{title}]({page})" for page, title in OTHER_PAGES.items() if (folder / page).exists()]]
    (folder / "README.md").write_text("\n".join(lines) + "\n")


def gains(result: dict) -> str:
    """Times of PyTorch over ours, against its fastest column, if it was compiled in this row, and against the faster eager one."""
    found = columns(result)
    fastest = fastest_torch(found)
    if "fused" not in found or "eager" not in found or fastest is None:
        return "–"
    ours = found["fused"][1]["ms"]
    first = f"{fastest['ms'] / ours:.2f}" if found.keys() & {"compile", "autotune"} else "–"
    return f"{first} / {found['eager'][1]['ms'] / ours:.2f}"


class Svg:
    """Lines of an SVG picture."""

    def __init__(self, width: float, height: float):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
            f'width="{width:g}" height="{height:g}" font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="white"/>',
        ]

    def text(self, x: float, y: float, text: str, anchor: str = "start", **more) -> None:
        extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{escape(text)}</text>'
        )

    def rect(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}"/>'
        )

    def line(self, points: list[tuple[float, float]], stroke: str, **more) -> None:
        extra = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in more.items())
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{stroke}"{extra}/>')

    def done(self) -> str:
        return "\n".join(self.parts + ["</svg>"]) + "\n"


def bars(data: dict) -> str:
    """A group of bars per row, relative to the fastest PyTorch column."""
    shown = columns_of(data)
    bar, gap, left, wide = 14, 30, 20, 640
    group = bar * len(shown) + gap
    svg = Svg(left + wide + 110, 90 + group * len(data["rows"]))
    machine = data["machine"]
    svg.text(left, 24, "Time relative to the fastest PyTorch column (shorter is faster)", font_size=16)
    svg.text(left, 42, f"{machine['cpu']}, {machine['threads']} threads; labels: median in ms", fill="#555")
    x = left
    for column, name in shown.items():
        svg.rect(x, 54, 12, 12, COLOURS[column])
        svg.text(x + 17, 64, name)
        x += 30 + 7 * len(name)
    scale = wide / LONGEST_BAR
    bottom = 80 + group * len(data["rows"])
    for tick in (0, 1, 2, 3):
        svg.line([(left + tick * scale, 76), (left + tick * scale, bottom)], "#888" if tick == 1 else "#ddd")
        svg.text(left + tick * scale, bottom + 8, f"{tick}×", "middle", font_size=10, fill="#555")
    for index, result in enumerate(data["rows"]):
        found = columns(result)
        fastest = fastest_torch(found)
        y = 80 + index * group
        svg.text(left, y + 12, f"({result['row']['id']}) {result['row']['title']}")
        for place, column in enumerate(shown):
            if column not in found or fastest is None:
                continue
            side = found[column][1]
            relative = side["ms"] / fastest["ms"]
            length = min(relative, LONGEST_BAR) * scale
            top = y + 18 + place * bar
            svg.rect(left, top, length, bar - 2, COLOURS[column])
            cut = f" ({relative:.1f}×)" if relative > LONGEST_BAR else ""
            svg.text(left + length + 4, top + bar - 4, number(side["ms"]) + cut, font_size=11)
    return svg.done()


def write_growth(folder: Path, data: dict) -> None:
    """growth.md, growth.svg and growth.json."""
    lines = [
        "# How the time grows",
        "",
        "Made by `peers/bench growth`: the median time of one training step against one size at a time, both axes",
        "logarithmic. The dashed line is the time that the matrix products alone would take at the sgemm peak.",
        "PyTorch runs eagerly, laid out `[rows, batch, cols]`.",
        "",
        *machine_lines(data),
        "",
        "![Curves: time against side, batch, depth and steps](growth.svg)",
    ]
    peak = max(data["machine"]["sgemm"].values())
    for curve in data["curves"]:
        lines += ["", f"## {curve['size'].capitalize()}: {curve['title']}", ""]
        lines += [
            f"| {curve['size']} | PyTorch, ms | matnet, ms | products at peak, ms | × |",
            "|---:|---:|---:|---:|---:|",
        ]
        for point in curve["points"]:
            torch, ours = point["PyTorch"]["ms"], point["ours"]["ms"]
            floor = point["flops"] / peak / 1e6
            lines.append(
                f"| {point['value']} | {number(torch)} | {number(ours)} | {number(floor)} | {torch / ours:.2f} |"
            )
    (folder / "growth.md").write_text("\n".join(lines) + "\n")
    (folder / "growth.svg").write_text(curves(data, peak))
    (folder / "growth.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def curves(data: dict, peak: float) -> str:
    """One panel per size, two in a row."""
    wide, high, pad = 400, 280, 50
    svg = Svg(2 * (wide + pad) + 20, 60 + math.ceil(len(data["curves"]) / 2) * (high + 2 * pad))
    svg.text(20, 24, "Time of one training step, ms", font_size=16)
    series = {"PyTorch": COLOURS["compile"], "ours": COLOURS["fused"]}
    for index, curve in enumerate(data["curves"]):
        left, top = 20 + pad + index % 2 * (wide + pad), 60 + index // 2 * (high + 2 * pad)
        lines = {name: [(p["value"], p[name]["ms"]) for p in curve["points"]] for name in series}
        lines["products at peak"] = [(p["value"], p["flops"] / peak / 1e6) for p in curve["points"]]
        xs = [math.log(x) for line in lines.values() for x, _ in line]
        ys = [math.log10(y) for line in lines.values() for _, y in line]
        low, top_decade = math.floor(min(ys)), math.ceil(max(ys))
        to_x = lambda x: left + (math.log(x) - min(xs)) / ((max(xs) - min(xs)) or 1) * (wide - 40)
        to_y = lambda y: top + high - (math.log10(y) - low) / (top_decade - low) * high
        for decade in range(low, top_decade + 1):
            svg.line([(left, to_y(10**decade)), (left + wide - 40, to_y(10**decade))], "#ddd")
            svg.text(left - 6, to_y(10**decade) + 4, f"{10**decade:g}", "end", font_size=10, fill="#555")
        for point in curve["points"]:
            svg.text(
                to_x(point["value"]),
                top + high + 16,
                str(point["value"]),
                "middle",
                font_size=10,
                fill="#555",
            )
        svg.text(left, top - 8, f"{curve['title']}: against {curve['size']}")
        for name, line in lines.items():
            dashed = {"stroke_dasharray": "5 4"} if name not in series else {}
            svg.line(
                [(to_x(x), to_y(y)) for x, y in line], series.get(name, "#555"), stroke_width=2, **dashed
            )
        for place, name in enumerate(lines):
            y = top + 14 + place * 16
            dashed = {"stroke_dasharray": "5 4"} if name not in series else {}
            svg.line(
                [(left + 8, y - 4), (left + 30, y - 4)], series.get(name, "#555"), stroke_width=2, **dashed
            )
            svg.text(left + 36, y, "matnet" if name == "ours" else name)
    return svg.done()
