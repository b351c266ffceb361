import { inks } from "./colour.js";
import { fewDigits } from "./dom.js";

// Line charts, by uPlot.

/** A chart in an element, drawn again with new numbers by `update`. */
export class LineChart {
  constructor(host, { series, logY = false, logX = false, xLabel = "", yLabel = "", height = 300 }) {
    Object.assign(this, { host, series, logY, logX, xLabel, yLabel, height, data: null, plot: null });
    new ResizeObserver(() => this.resize()).observe(host);
    document.addEventListener("themechange", () => { this.rebuild(); });
  }

  options() {
    const ink = inks();
    // On a logarithmic axis only the powers of ten have lines.
    const isDecade = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
    const decades = (log) => (log ? { filter: (_, splits) => splits.map((value) => (isDecade(value) ? value : null)) } : {});
    const axis = (label, log) => ({ label, ...decades(log), stroke: ink.soft, labelFont: "12px system-ui", font: "11px system-ui", grid: { stroke: ink.line, width: 1, ...decades(log) }, ticks: { stroke: ink.line, ...decades(log) }, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : fewDigits(tick, 2))) });
    return {
      width: Math.max(this.host.clientWidth, 120), height: this.height,
      cursor: { y: false },
      scales: { x: { time: false, distr: this.logX ? 3 : 1 }, y: { distr: this.logY ? 3 : 1 } },
      axes: [axis(this.xLabel, this.logX), { ...axis(this.yLabel, this.logY), size: 58 }],
      series: [{ label: this.xLabel, value: (_, value) => fewDigits(value) }, ...this.series.map((own) => ({ value: (_, value) => fewDigits(value), ...own, stroke: ink[own.stroke] ?? own.stroke, points: own.points ? { ...own.points, fill: ink[own.stroke] ?? own.stroke } : { show: false } }))],
    };
  }

  update(data) {
    this.data = data;
    if (this.plot) this.plot.setData(data);
    else this.rebuild();
  }

  rebuild() {
    if (!this.data || this.host.clientWidth === 0) return;
    this.plot?.destroy();
    this.plot = new uPlot(this.options(), this.data, this.host);
  }

  resize() {
    if (!this.plot) this.rebuild();
    else if (this.host.clientWidth > 0) this.plot.setSize({ width: this.host.clientWidth, height: this.height });
  }
}
