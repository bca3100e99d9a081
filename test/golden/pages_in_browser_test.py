#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML pages in a real browser: `make check-pages`, where chromium is installed. Light and dark, wide and on a
phone of 390 pixels: nothing is reported on the console, nothing scrolls sideways, all text has the contrast and
the size to be read, and no labels of a chart lie on each other. SHOTS=DIR keeps a picture of each."""
import base64
import itertools
import json
import os
import pathlib
import random
import select
import shutil
import subprocess
import sys
import tempfile
import time
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import golden  # noqa: E402

SOURCE = pathlib.Path(os.environ.get("RUBATO_SOURCE_DIR", golden.HERE.parent.parent)).resolve()
sys.path.insert(0, str(SOURCE / "test"))
from cluster.compare import metrics, outcome, page as compare_page, site, workload  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
TIMEOUT = 120
WIDTHS = {"wide": 1280, "phone": 390}
SCHEMES = ("light", "dark")

# What is wrong with the layout of a page: a list of sentences. Contrast as in WCAG 2.1, 1.4.3: 4.5 : 1, or 3 : 1 for
# text of 24 px, or of 18.7 px in bold.
LOOK = r"""((width) => {
  const wrong = [], root = document.documentElement;
  if (root.scrollWidth > width) {  // innerWidth grows with what does not fit
    const wide = [...document.querySelectorAll('body *')].filter(e => e.scrollWidth > width
      && !e.closest('.scroll') && !e.closest('.away'));
    wrong.push(`scrolls sideways: ${root.scrollWidth} px in ${width}; ` + wide.slice(0, 3).map(e =>
      `<${e.tagName} class="${e.getAttribute('class') || ''}">`).join(' '));
  }
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const d = canvas.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255];
  };
  const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const light = (c) => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 :
    Math.pow((v + 0.055) / 1.055, 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const variable = (name) => rgba(getComputedStyle(root).getPropertyValue(name));
  const background = (element) => {
    let layers = [];
    const tag = element.closest('.tag');
    if (tag) {
      const bar = variable('--' + [...tag.classList].find(name => /^s\d$/.test(name)));
      if (tag.classList.contains('planned')) bar[3] = 0.22;
      layers = [bar, variable('--lane')];
    }
    for (let e = element; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), variable('--paper'));
  };
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
    if (!text || element.closest('.away, script, noscript, title, desc, [hidden]')) continue;
    const style = getComputedStyle(element), svg = element.closest('svg');
    const box = element.getBoundingClientRect();
    if (!box.width || style.visibility === 'hidden' || style.display === 'none') continue;
    const scale = svg ? element.getScreenCTM().a : 1;
    const size = parseFloat(style.fontSize) * scale;
    if (size < 8.5) wrong.push(`text of ${size.toFixed(1)} px: ${text.slice(0, 40)}`);
    const colour = over(rgba(svg ? style.fill : style.color), background(element));
    const found = contrast(colour, background(element));
    const large = size >= 24 || (size >= 18.7 && style.fontWeight >= 600);
    const key = [element.tagName, element.getAttribute('class'), found.toFixed(2)].join();
    let dimmed = false;
    for (let e = element; e; e = e.parentElement) dimmed = dimmed || getComputedStyle(e).opacity < 1;
    if (found < (large ? 3 : 4.5) && !dimmed && !seen.has(key)) {
      seen.add(key);
      wrong.push(`contrast of ${found.toFixed(2)}: ${text.slice(0, 40)}`);
    }
  }
  for (const svg of document.querySelectorAll('svg')) {
    const boxes = [...svg.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()]);
    boxes.forEach(([text, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3)
        wrong.push(`labels lie on each other: ${text} and ${other}`);
    }));
    const frame = svg.getBoundingClientRect();
    for (const [text, box] of boxes)
      if (box.left < frame.left - 1 || box.right > frame.right + 1) wrong.push(`a label is cut: ${text}`);
  }
  for (const ticks of document.querySelectorAll('.ticks')) {
    const boxes = [...ticks.children].map(e => e.getBoundingClientRect());
    boxes.slice(1).forEach((box, i) => { if (box.left < boxes[i].right) wrong.push('times of an axis lie on each other'); });
  }
  const first = document.querySelector('body p');
  if (!first || !first.classList.contains('verdict')) wrong.push('no sentence opens the page');
  for (const chart of document.querySelectorAll('svg.plot, .lanes, .gantt'))
    if (!document.querySelector('.legend')) wrong.push('a chart without a legend');
  return wrong;
})"""


class Browser:
    """Chromium, spoken to in its DevTools protocol over two pipes: documents end with a zero byte."""

    def __init__(self, folder):
        here, there = os.pipe(), os.pipe()
        self.write, self.read = here[1], there[0]
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                   "--no-first-run", "--disable-extensions", "--remote-debugging-pipe", f"--user-data-dir={folder}"]
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{here[0]} 4>&{there[1]}', "bash", CHROMIUM, *options, "about:blank"],
            pass_fds=(here[0], there[1]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": folder, "TZ": "UTC"})
        os.close(here[0])
        os.close(there[1])
        self.count, self.left, self.events = 0, b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def receive(self):
        until = time.monotonic() + TIMEOUT
        while b"\0" not in self.left:
            if not select.select([self.read], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError(f"chromium says nothing for {TIMEOUT} s")
            some = os.read(self.read, 1 << 20)
            if not some:
                raise EOFError("chromium ended")
            self.left += some
        line, _, self.left = self.left.partition(b"\0")
        return json.loads(line)

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if getattr(self, "session", ""):
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def show(self, path, width, scheme):
        """Opens a page; what its console says."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        said = []
        for event in self.events:
            told = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                said.append(told["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            elif event.get("method") == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
                said.append(told["entry"]["text"])
            elif event.get("method") == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
                said.append(str([argument.get("value") for argument in told["args"]]))
        return said

    def evaluate(self, script):
        found = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def shot(self, path):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000), "scale": 1}
        picture = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        path.write_bytes(base64.b64decode(picture))

    def end(self):
        for pipe in (self.write, self.read):
            os.close(pipe)
        self.process.terminate()
        self.process.wait(TIMEOUT)


def half(load, draw):
    """Outcomes of a workload on the GPUs that come free first: [Outcome]."""
    free = {(node, gpu): 0.0 for node in site.TYPE_OF_NODE for gpu in range(workload.GPUS_OF_A_NODE)}
    found = []
    for number, job in enumerate(load.jobs, 1):
        lanes = sorted(free, key=lambda lane: (free[lane], draw.random()))[:job.gpus]
        start = max([job.submit, *(free[lane] for lane in lanes)])
        end = start + draw.uniform(5, 45)
        free.update((lane, end) for lane in lanes)
        nodes = sorted({node for node, _ in lanes})
        kind = "+".join(sorted({site.TYPE_OF_NODE[node] for node in nodes}))
        run = outcome.Run(1000 + start, 1000 + end, nodes, job.gpus, kind, "COMPLETED")
        found.append(outcome.Outcome(number, job, 1000 + job.submit, [run], "COMPLETED"))
    return found


def comparison(elastic):
    """The page of a comparison whose jobs ran for random times; with mode place beside mode elastic."""
    load = workload.generate(1, 60, elastic)
    halves = [types.SimpleNamespace(outcomes=half(load, random.Random(seed))) for seed in range(3 if elastic else 2)]
    entry = metrics.run(1, halves[0].outcomes, halves[-1].outcomes, workload.GPUS)
    if elastic:
        metrics.beside(entry, [(site.STOCK_PARAMS, halves[0])], halves[1].outcomes, workload.GPUS)
        entry["simulated_avg_jct_s"] = {"stock": 24.0, "place": 15.0, "elastic": 12.0}
    document = metrics.document("22.05.8", "elastic" if elastic else "place", site.STOCK_PARAMS, [entry])
    return compare_page.render(document, [(load, entry, halves)])


def write_pages(folder):
    """Writes the pages of this test: [Path]."""
    runner = golden.Runner(golden.program())
    there = runner.new_folder(["site", "published", "stats", "models"])
    try:
        out, err, _ = runner.run_in(there, "rubato page")
        if err:
            raise RuntimeError(err)
        (folder / "cluster.html").write_bytes(out)
    finally:
        runner.remove(there)
    examples = SOURCE / "docs/examples"
    plays = {"simulate": ["-w", examples / "day.csv", "--profiles", examples / "speeds.csv", "-c", "a100:3x8,t4:6x4",
                          "-p", "fifo,backfill,rubato-place"],
             "published": ["--suite", "elastic@20", "--jobs", "60", "-p", "fifo,equal,elastic-var,rubato-place"],
             "history": ["--from-sacct", examples / "history.txt", "-c", "a100:2x8"]}
    for name, options in plays.items():
        subprocess.run([golden.program(), "simulate", *options, "--report", folder / f"{name}.html"], check=True,
                       stdout=subprocess.DEVNULL, timeout=300, env={**os.environ, "TZ": "UTC"})
    (folder / "compare.html").write_text(comparison(False))
    (folder / "compare-elastic.html").write_text(comparison(True))
    return sorted(folder.glob("*.html"))


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="rubato-pages-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.pages = write_pages(cls.folder)
        cls.browser = Browser(str(cls.folder / "chromium"))
        cls.addClassCleanup(cls.browser.end)

    def test_each_page_is_fit_to_read(self):
        shots = os.environ.get("RUBATO_SHOTS")
        self.assertEqual(6, len(self.pages))
        for path, scheme, (name, width) in itertools.product(self.pages, SCHEMES, WIDTHS.items()):
            with self.subTest(page=path.stem, scheme=scheme, width=width):
                said = self.browser.show(path, width, scheme)
                if shots:
                    self.browser.shot(pathlib.Path(shots, f"{path.stem}-{scheme}-{name}.png"))
                self.assertEqual([], said, "console")
                self.assertEqual([], self.browser.evaluate(f"{LOOK}({width})"))

    def test_what_is_wrong_is_found(self):
        """Control: a page that scrolls sideways, with pale text, and an error on the console."""
        bad = self.folder / "bad.htm"
        bad.write_text("<!DOCTYPE html><style>:root { --paper: #fff }</style><p style='width: 2000px; color: #aaa'>pale"
                       "<script>missing()</script>")
        said = self.browser.show(bad, 390, "light")
        self.assertRegex(said[0], "missing is not defined")
        wrong = "\n".join(self.browser.evaluate(f"{LOOK}(390)"))
        for words in ("scrolls sideways", "contrast of 2.32: pale", "no sentence opens the page"):
            self.assertIn(words, wrong)


if __name__ == "__main__":
    unittest.main()
