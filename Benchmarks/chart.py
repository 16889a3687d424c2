"""Puts what the other benchmarks have measured together: `script/bench chart`, which `script/bench all` ends with.

    chart.py JSON SVG

Reads .build/bench/*.json, which contest.py writes. Prints all tables, writes one JSON file, and a chart of the time that contenders
take beside darkroom.
"""
import html, json, pathlib, sys

import contest

TITLES = {"sepia": "1000 photographs by HTTP, sepia", "resize": "1000 photographs by HTTP, to 256 pixels",
          "download": "1000 photographs by HTTP, as they are",
          "small": "10 000 small pictures from one host", "hosts": "10 000 small pictures, each from a host of its own",
          "png": "PNG, sepia", "webp": "WebP, sepia",
          "mixed": "JPEG, PNG and WebP, sepia", "avif": "AVIF, sepia", "heic": "HEIC to JPEG, sepia", "gif": "GIF to PNG, sepia",
          "tiff": "TIFF to PNG, sepia", "bmp": "BMP to PNG, sepia"}
WIDTH, LABELS, LINE, LONGEST = 760, 250, 18, 5.0

STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600 }
  rect { fill: #8c959f }
  .ours { fill: #1a7f37 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    rect { fill: #6e7681 }
    .ours { fill: #3fb950 }
  }
"""


def bars(result, top):
    """The elements of a workload, and where the next one begins. Codecs alone run on one core, and are not shown."""
    ours = result["contenders"]["darkroom"]["seconds"]
    lines = [f'<text class="title" x="0" y="{top + 13}">{html.escape(TITLES[result["workload"]])}</text>']
    for label, each in result["contenders"].items():
        if "alone" in label:
            continue
        top += LINE
        ratio = each["seconds"] / ours
        width = min(ratio, LONGEST) / LONGEST * (WIDTH - LABELS - 60)
        kind = ' class="ours"' if label == "darkroom" else ""
        lines += [f'<text x="12" y="{top + 13}">{html.escape(label)}</text>',
                  f'<rect{kind} x="{LABELS}" y="{top + 3}" width="{width:.1f}" height="{LINE - 6}"/>',
                  f'<text x="{LABELS + width + 6:.1f}" y="{top + 13}">{ratio:.2f}</text>']
    return lines, top + 2 * LINE


def chart(results):
    lines, top = [], 0
    for result in results:
        more, top = bars(result, top)
        lines += more
    body = "\n".join("  " + line for line in lines)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" role="img" '
            f'aria-label="Time of each contender, darkroom = 1">\n  <style>{STYLE}  </style>\n{body}\n</svg>\n')


def main():
    found = {path.stem: json.loads(path.read_text()) for path in contest.RESULTS.glob("*.json")}
    results = [found[workload] for workload in TITLES if workload in found]
    if not results:
        sys.exit("chart: nothing has been measured yet")
    for result in results:
        print(f"## {TITLES[result['workload']]}: {result['pictures']} pictures, medians of {result['rounds']} rounds\n")
        print(contest.table(result) + "\n")
    pathlib.Path(sys.argv[1]).write_text(json.dumps(results, indent=1) + "\n")
    pathlib.Path(sys.argv[2]).write_text(chart(results))


if __name__ == "__main__":
    main()
