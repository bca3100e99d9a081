// SPDX-License-Identifier: GPL-2.0-or-later
// The report of `rubato simulate`: what is under the pointer of its line charts, and what its other
// scripts share. Without scripts everything but the Gantt charts is there.
'use strict';
const page = (() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const root = document.documentElement;
  const tip = document.getElementById('tip');
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  function duration(s) {
    if (s === null || !isFinite(s)) return '-';
    if (s < 180) return s.toFixed(1) + ' s';
    if (s < 10800) return (s / 60).toFixed(1) + ' min';
    if (s < 345600) return (s / 3600).toFixed(2) + ' h';
    return (s / 86400).toFixed(2) + ' d';
  }

  function show(text, event) {
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    const right = event.clientX + 16 + box.width > innerWidth;
    const left = right ? event.clientX - 16 - box.width : event.clientX + 16;
    tip.style.left = Math.max(4, left) + 'px';
    tip.style.top = Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 4)) + 'px';
  }
  const hide = () => {
    tip.hidden = true;
  };

  // -- Line charts: the values of all lines under the pointer ------------------------------------

  function points(path) {
    const found = [];
    let x = 0;
    for (const [, verb, a, b] of path.matchAll(/([MLHV])(-?[\d.]+)(?: (-?[\d.]+))?/g)) {
      if (verb === 'V') {
        found.push([x, +a]);
        continue;
      }
      x = +a;
      if (verb === 'H')
        found.push([x, found[found.length - 1][1]]);
      else
        found.push([x, +b]);
    }
    return found;
  }

  function plot(svg) {
    const [x0, y0, x1, y1] = svg.dataset.box.split(' ').map(Number);
    const [low, high, scale, kind] = svg.dataset.x.split(' ');
    const [top, unit] = svg.dataset.y.split(' ');
    const lines = [...svg.querySelectorAll('.line')].map(
        (path) => ({path, name: path.dataset.name, points: points(path.getAttribute('d'))}));
    for (const title of svg.querySelectorAll('title')) title.remove();
    const make = (name, css) => {
      const it = document.createElementNS('http://www.w3.org/2000/svg', name);
      it.setAttribute('class', css);
      it.setAttribute('visibility', 'hidden');
      return svg.appendChild(it);
    };
    const cursor = make('path', 'cursor');
    svg.addEventListener('pointermove', (event) => {
      const at =
          new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const x = Math.max(x0, Math.min(x1, at.x));
      const share = (x - x0) / (x1 - x0);
      const value =
          scale === 'log' ? low * Math.pow(high / low, share) : +low + (high - low) * share;
      const text = [kind === 'time' ? duration(value) : value.toFixed(2) + ' times'];
      for (const line of lines) {
        if (line.path.classList.contains('faded')) continue;
        let y = null;
        for (const point of line.points) {
          if (point[0] > x) break;
          y = point[1];
        }
        if (y === null) continue;
        const found = top * (y1 - y) / (y1 - y0);
        text.push(
            line.name + ': ' + (unit === '%' ? (100 * found).toFixed(1) + ' %' : found.toFixed(1)));
      }
      cursor.setAttribute('d', `M${x} ${y0}V${y1}`);
      cursor.setAttribute('visibility', 'visible');
      show(text.join('\n'), event);
    });
    svg.addEventListener('pointerleave', () => {
      cursor.setAttribute('visibility', 'hidden');
      hide();
    });
  }
  document.querySelectorAll('svg.plot').forEach(plot);

  for (const button of document.querySelectorAll('.legend button')) {
    button.addEventListener('click', () => {
      const on = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', on);
      for (const path of button.closest('section').querySelectorAll('.plot .line')) {
        if (path.dataset.name === button.dataset.name) path.classList.toggle('faded', !on);
      }
    });
  }

  return {data, root, colour, duration, show, hide};
})();
