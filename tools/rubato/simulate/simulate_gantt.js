// SPDX-License-Identifier: GPL-2.0-or-later
// The report of `rubato simulate`: Gantt charts on canvas. Stands behind simulate_page.js.
(() => {
  const {data, root, colour, duration, show, hide} = page;

  const LABEL = 84;
  const AXIS = 22;
  const FIELDS = 5;  // of a bar: job, first row, rows, begin, length

  /** One for each suite: all its charts show the same time, and mark the same job. */
  class Suite {
    constructor(section, suite) {
      this.data = suite;
      this.from = 0;
      this.to = suite.span;
      this.marked = -1;
      this.charts = [];
      this.mode = section.querySelector('select.by');
      this.models = [...new Set(suite.jobs.map((job) => job[1]))];
      if (this.mode) this.mode.addEventListener('change', () => this.draw());
      for (const button of section.querySelectorAll('button.zoom')) {
        button.addEventListener('click', () => this.zoom(button.dataset.zoom));
      }
      this.key = section.querySelector('.kinds');
    }

    zoom(how, at = (this.from + this.to) / 2) {
      const span = this.to - this.from;
      if (how === 'all') {
        this.from = 0;
        this.to = this.data.span;
        return this.draw();
      }
      let wide = span;
      let from = this.from;
      if (how === 'in' || how === 'out') {
        wide = span * (how === 'in' ? 0.5 : 2);
        from = at - (at - this.from) * (wide / span);
      } else {
        from += span * (how === 'left' ? -0.25 : 0.25);
      }
      this.look(from, from + wide);
    }

    look(from, to) {
      const least = this.data.span / 5000;
      const span = Math.min(this.data.span, Math.max(least, to - from));
      this.from = Math.max(0, Math.min(from, this.data.span - span));
      this.to = this.from + span;
      this.draw();
    }

    /** Index of the colour of a job. */
    kind(job) {
      const [, model, gpus] = this.data.jobs[job];
      if (!this.mode || this.mode.value === 'size') {
        return 'g' + Math.min(4, Math.floor(Math.log2(Math.max(1, gpus))));
      }
      const at = this.data.kinds.indexOf(model);
      return 's' + (at < 0 ? 7 : at);
    }

    legend() {
      const names = !this.mode || this.mode.value === 'size' ?
          ['1 GPU', '2 or 3', '4 to 7', '8 to 15', '16 or more'].map((n, i) => ['g' + i, n]) :
          this.data.kinds.map((n, i) => ['s' + i, n || 'unnamed'])
              .concat(this.models.length > this.data.kinds.length ? [['s7', 'all others']] : []);
      this.key.replaceChildren(...names.map(([css, name]) => {
        const span = document.createElement('span');
        const box = document.createElement('i');
        box.className = 'box';
        box.style.background = `var(--${css})`;
        span.append(box, name);
        return span;
      }));
    }

    draw() {
      this.legend();
      this.charts.forEach((chart) => chart.draw());
    }
  }

  class Gantt {
    constructor(canvas, run, suite) {
      this.canvas = canvas;
      this.run = run;
      this.suite = suite;
      this.rows = suite.data.groups.reduce((sum, g) => sum + g[1] * g[2], 0);
      this.row = Math.max(1, Math.min(11, Math.floor(520 / this.rows)));
      this.height = 0;
      this.tops = [];
      for (const [, nodes, gpus] of suite.data.groups) {
        for (let node = 0; node < nodes; ++node) {
          for (let gpu = 0; gpu < gpus; ++gpu, this.height += this.row) this.tops.push(this.height);
          if (run.nodes && this.row > 2) this.height += 2;
        }
        this.height += 6;
      }
      this.tops.push(this.height);
      suite.charts.push(this);
      this.drag = null;
      canvas.addEventListener('pointermove', (e) => this.move(e));
      canvas.addEventListener('pointerleave', () => {
        this.mark(-1);
        hide();
      });
      canvas.addEventListener('pointerdown', (e) => {
        if (e.pointerType === 'touch') {
          this.move(e);
          return;
        }
        this.drag = this.time(e);
        canvas.setPointerCapture(e.pointerId);
      });
      canvas.addEventListener('pointerup', (e) => {
        const from = this.drag;
        this.drag = null;
        if (from === null) return;
        const to = this.time(e);
        if (Math.abs(to - from) > (suite.to - suite.from) / 100) {
          suite.look(Math.min(from, to), Math.max(from, to));
        } else {
          this.draw();
        }
      });
      canvas.addEventListener('dblclick', () => suite.zoom('all'));
      canvas.addEventListener('keydown', (e) => {
        const how = {
          '+': 'in',
          '=': 'in',
          '-': 'out',
          '0': 'all',
          ArrowLeft: 'left',
          ArrowRight: 'right'
        }[e.key];
        if (!how) return;
        e.preventDefault();
        suite.zoom(how);
      });
    }

    get left() {
      return this.wide < 500 ? 54 : LABEL;
    }
    x(time) {
      return this.left +
          (this.wide - this.left) * (time - this.suite.from) / (this.suite.to - this.suite.from);
    }
    time(event) {
      const x = event.clientX - this.canvas.getBoundingClientRect().left;
      const share = Math.max(0, (x - this.left) / (this.wide - this.left));
      return this.suite.from + share * (this.suite.to - this.suite.from);
    }

    draw() {
      const {canvas, run, suite} = this;
      const ratio = Math.min(3, window.devicePixelRatio || 1);
      this.wide = canvas.parentElement.clientWidth;
      const height = this.height + AXIS;
      canvas.style.height = height + 'px';
      canvas.width = Math.round(this.wide * ratio);
      canvas.height = Math.round(height * ratio);
      const pen = canvas.getContext('2d');
      pen.scale(ratio, ratio);
      this.frame(pen);
      const fills = new Map();
      const bars = run.bars;
      const unit = suite.data.unit;
      pen.save();
      pen.beginPath();
      pen.rect(this.left, 0, this.wide - this.left, this.height);
      pen.clip();
      for (let i = 0; i < bars.length; i += FIELDS) {
        const from = bars[i + 3] * unit;
        const to = from + bars[i + 4] * unit;
        if (to < suite.from || from > suite.to) continue;
        const name = suite.kind(bars[i]);
        if (!fills.has(name)) fills.set(name, colour('--' + name));
        pen.fillStyle = fills.get(name);
        pen.globalAlpha = suite.marked < 0 || suite.marked === bars[i] ? 1 : 0.25;
        const x = this.x(from);
        const w = this.x(to) - x;
        const gap = w > 3 ? 0.7 : 0;
        const y = this.tops[bars[i + 1]];
        const tall = this.tops[bars[i + 1] + bars[i + 2] - 1] + this.row - y;
        pen.fillRect(x + gap, y, Math.max(w - gap, 0.5), tall - (this.row > 3 ? 1 : 0));
      }
      pen.restore();
    }

    frame(pen) {
      const {suite} = this;
      pen.fillStyle = colour('--lane');
      const ink = colour('--ink');
      let row = 0;
      pen.font = '12px system-ui, sans-serif';
      for (const [type, nodes, gpus] of suite.data.groups) {
        const top = this.tops[row];
        for (let node = 0; node < nodes; ++node) {
          const y = this.tops[row];
          row += gpus;
          pen.fillStyle = colour('--lane');
          pen.fillRect(
              this.left, y, this.wide - this.left,
              this.tops[row - 1] + this.row - y - (this.row > 3 ? 1 : 0));
        }
        pen.fillStyle = ink;
        pen.fillText(type, 6, top + 12, this.left - 10);
        if (this.tops[row - 1] - top > 26) {
          pen.fillStyle = colour('--quiet');
          pen.fillText(`${nodes} × ${gpus} GPUs`, 6, top + 27, this.left - 10);
        }
      }
      pen.fillStyle = colour('--quiet');
      const span = suite.to - suite.from;
      const [unit, name] = span <= 180 ? [1, 's'] :
          span <= 10800                ? [60, 'min'] :
          span <= 345600               ? [3600, 'h'] :
                                         [86400, 'd'];
      const rough = span / unit / (this.wide < 500 ? 4 : 9);
      const power = Math.pow(10, Math.floor(Math.log10(rough)));
      const step = [1, 2, 5, 10].find((f) => f * power >= rough) * power;
      for (let m = Math.ceil(suite.from / unit / step) * step; m * unit <= suite.to; m += step) {
        const x = this.x(m * unit);
        pen.fillRect(x, 0, 0.5, this.height + 3);
        const text = `${+ m.toPrecision(6)} ${name}`;
        const half = pen.measureText(text).width / 2;
        pen.fillText(text, Math.min(x - half, this.wide - 2 * half - 2), this.height + 16);
      }
    }

    /** Index of the bar at a place, or -1. */
    find(event) {
      const box = this.canvas.getBoundingClientRect();
      const y = event.clientY - box.top;
      const time = this.time(event);
      const slack = (this.suite.to - this.suite.from) / (this.wide - this.left);
      const {bars} = this.run;
      const unit = this.suite.data.unit;
      let best = -1;
      let near = Infinity;
      for (let i = 0; i < bars.length; i += FIELDS) {
        const top = this.tops[bars[i + 1]];
        const bottom = this.tops[bars[i + 1] + bars[i + 2] - 1] + this.row;
        if (y < top || y >= bottom) continue;
        const from = bars[i + 3] * unit;
        const to = from + bars[i + 4] * unit;
        const off = Math.max(from - time, time - to, 0);
        if (off <= slack && off < near) {
          near = off;
          best = i;
        }
      }
      return best;
    }

    move(event) {
      if (this.drag !== null) {
        this.draw();
        const pen = this.canvas.getContext('2d');
        pen.globalAlpha = 0.18;
        pen.fillStyle = colour('--ink');
        const x = this.x(this.drag);
        pen.fillRect(x, 0, this.x(this.time(event)) - x, this.height);
        pen.globalAlpha = 1;
        return;
      }
      const at = this.find(event);
      if (at < 0) {
        this.mark(-1);
        hide();
        return;
      }
      const {suite, run} = this;
      const [job, , rows, from, length] = run.bars.slice(at, at + FIELDS);
      this.mark(job);
      const [name, model, gpus, arrival] = suite.data.jobs[job];
      const [start, finish, restarts] = run.jobs[job];
      const unit = suite.data.unit;
      show(
          [
            name + (model ? ` (${model})` : ''), `requested ${gpus} GPU${gpus === 1 ? '' : 's'}`,
            `here: ${rows} GPU${rows === 1 ? '' : 's'} from ${duration(from * unit)} for ` +
                duration(length * unit),
            `arrived ${duration(arrival)}, waited ${duration(start - arrival)}`,
            finish === null ? 'not finished' : `arrival to end: ${duration(finish - arrival)}`,
            restarts ? `${restarts} restarts or changes` : ''
          ].filter(Boolean)
              .join('\n'),
          event);
    }

    mark(job) {
      if (job === this.suite.marked) return;
      this.suite.marked = job;
      this.suite.charts.forEach((chart) => chart.draw());
    }
  }

  const suites =
      data.suites.map((suite, i) => new Suite(document.getElementById('suite' + i), suite));
  data.runs.forEach((run, i) => {
    const canvas = document.getElementById('gantt' + i);
    if (canvas) new Gantt(canvas, run, suites[run.suite]);
  });
  const draw = () => suites.forEach((suite) => {
    if (suite.charts.length) suite.draw();
  });
  draw();
  let due = 0;
  addEventListener('resize', () => {
    cancelAnimationFrame(due);
    due = requestAnimationFrame(draw);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  addEventListener('beforeprint', () => {
    root.dataset.print = '';
    draw();
  });
  addEventListener('afterprint', () => {
    delete root.dataset.print;
    draw();
  });
})();
