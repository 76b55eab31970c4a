"""`peers/bench sweep`: matnet's speed beside PyTorch's over side and batch, as a heat map."""

import json
import tempfile
from pathlib import Path

from bench_report import Svg, number

SIDES = [4, 10, 20, 28, 50, 64, 100, 200, 300]
BATCHES = [1, 2, 4, 8, 32, 128, 512]
MOST_FLOPS = 60e9  # of a training step; larger ones would take minutes
SECONDS = 0.2  # of a side at a point

NETS = {
    "feedforward": ("feed-forward, 5 layers", {"depth": 5, "output": 10}),
    "sequence_classifier": ("LSTM, 5 steps", {"output": 1, "cell": "lstm"}),
}


def measure(bench, sides: list[int], batches: list[int]) -> list[dict]:
    """The fastest step of both sides at every point; PyTorch in the better of its layouts, not compiled."""
    workers = {"ours": bench.matnet(), "batch-first": bench.torch(), "rows-first": bench.torch()}
    maps = []
    for net, (title, config) in NETS.items():
        points = []
        for side in sides:
            for batch in batches:
                point = one(bench, workers, net, config, side, batch)
                points.append({"side": side, "batch": batch} | point)
                print(f"{net} {side} × {batch}: {point}", flush=True)
        maps.append({"net": net, "title": title, "points": points})
    for worker in workers.values():
        worker.close()
    return maps


def one(bench, workers: dict, net: str, config: dict, side: int, batch: int) -> dict:
    sizes = {"input": [side, side], "hidden": [side, side]}
    row = {"id": f"{net}-{side}-{batch}", "title": "", "net": net, "mode": "train", "batch": batch}
    row |= {"config": config | sizes} | ({"time": 5} if net == "sequence_classifier" else {})
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "row.safetensors")
        flops = bench.export(row, file)["flops"]
        if flops > MOST_FLOPS:
            return {"flops": flops}
        for name, worker in workers.items():
            request = {"variant": "fused"} if name == "ours" else {"layout": name, "compiled": None, "file": file}
            answer = worker.ask(do="load", row=row, **request)
            if "error" in answer:
                raise RuntimeError(f"{row['id']}, {name}: {answer['error']}")
    best = {name: min(worker.run(2)) for name, worker in workers.items()}
    repeats = {name: max(1, min(200, round(SECONDS * 500 / ms))) for name, ms in best.items()}
    for _ in range(2):
        for name, worker in workers.items():
            best[name] = min(best[name], *worker.run(repeats[name]))
    torch = min(best["batch-first"], best["rows-first"])
    return {"flops": flops, "ours": best["ours"], "torch": torch}


def axis(data: dict, name: str) -> list[int]:
    """The sides or the batches that were measured."""
    return sorted({point[name] for each in data["maps"] for point in each["points"]})


def ratio(point: dict) -> float | None:
    return point["torch"] / point["ours"] if "ours" in point else None


def write(folder: Path, data: dict) -> None:
    """sweep.md, sweep.svg and sweep.json."""
    machine, sides, batches = data["machine"], axis(data, "side"), axis(data, "batch")
    lines = [
        "# PyTorch's time divided by matnet's, over side and batch",
        "",
        "Made by `peers/bench sweep`: one training step of square nets on square matrices, the fastest of many steps on each side;",
        "PyTorch in the better of its two layouts, not compiled. Above 1 matnet is faster. Steps of more than "
        f"{MOST_FLOPS / 1e9:.0f} GFLOP are left out.",
        "",
        f"- {machine['cpu']}, {machine['threads']} threads on either side; load {machine['load']:.1f} before the run",
        f"- PyTorch {machine['torch']}, matnet {machine['matnet']}",
        "",
        "![Heat map](sweep.svg)",
    ]
    for each in data["maps"]:
        behind = [f"{p['side']} × {p['batch']}" for p in each["points"] if (ratio(p) or 1) < 1]
        lines += ["", f"## {each['title']}", ""]
        lines += ["PyTorch is ahead at " + ", ".join(behind) + " (side × batch)." if behind else "matnet is ahead everywhere.", ""]
        lines += ["| side \\ batch | " + " | ".join(map(str, batches)) + " |", "|---:|" + "---:|" * len(batches)]
        for side in sides:
            ratios = [ratio(p) for p in each["points"] if p["side"] == side]
            cells = [f"{value:.2f}" if value else "–" for value in ratios]
            lines.append(f"| {side} | " + " | ".join(cells) + " |")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sweep.md").write_text("\n".join(lines) + "\n")
    (folder / "sweep.svg").write_text(heat(data))
    (folder / "sweep.json").write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")


def heat(data: dict) -> str:
    """A map per net: red where PyTorch is ahead, blue where matnet is, deep from 3 times on."""
    sides, batches = axis(data, "side"), axis(data, "batch")
    cell, high, left, top = 56, 26, 60, 70
    wide = left + cell * len(batches) + 20
    svg = Svg(wide * len(data["maps"]), top + high * len(sides) + 40)
    svg.text(20, 24, "PyTorch's time divided by matnet's, one training step", font_size=16)
    for index, each in enumerate(data["maps"]):
        at = index * wide + left
        svg.text(at, 46, f"{each['title']}: side against batch")
        for column, batch in enumerate(batches):
            svg.text(at + column * cell + cell / 2, 63, str(batch), "middle", font_size=10, fill="#555")
        for line, side in enumerate(sides):
            y = top + line * high
            svg.text(at - 6, y + 17, str(side), "end", font_size=10, fill="#555")
            for column, point in enumerate(p for p in each["points"] if p["side"] == side):
                value = ratio(point)
                svg.rect(at + column * cell, y, cell - 1, high - 1, colour(value))
                text = number(value) if value else "–"
                svg.text(at + column * cell + cell / 2, y + 17, text, "middle", font_size=11)
    return svg.done()


def colour(value: float | None) -> str:
    if value is None:
        return "#eeeeee"
    end, share = ((74, 111, 165), min(1.0, (value - 1) / 2)) if value >= 1 else ((181, 67, 47), min(1.0, 2 * (1 - value)))
    return "#" + "".join(f"{round(255 + (part - 255) * share * 0.8):02x}" for part in end)
