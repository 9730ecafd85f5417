/** Draws docs/images/warmup.svg: three days of a warm-up, played by the simulation. `node tools/warmup-plot.ts`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { daily, SCHEDULE, warmUp } from '../test/simulation/warm-up.ts';

/** Where the picture lies. */
export const WARMUP_PLOT = new URL('../docs/images/warmup.svg', import.meta.url);

const HOURS = 24;
const WIDTH = 760;
const HEIGHT = 330;
const LEFT = 44;
const RIGHT = 24;
const TOP = 64;
const BOTTOM = 52;
const GAP = 1.5;
/** The axis ends here, and has a line every so many. */
const MOST = 70;
const STEP = 10;

const STYLE = `text { font: 12px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; font-size: 14px; }
.grid { stroke: #d0d7de; }
.axis { stroke: #57606a; }
.new { fill: #1f6feb; }
.old { fill: #a8b1bb; }
.day { stroke: #57606a; stroke-dasharray: 3 3; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .grid { stroke: #30363d; }
  .axis, .day { stroke: #8b949e; }
  .new { fill: #58a6ff; }
  .old { fill: #57606a; }
}`;

/** The picture as it should be: what the simulation did, hour by hour. */
export async function warmupPlot(): Promise<string> {
  const days = SCHEDULE.length;
  const { taken } = await warmUp(days, daily, true);
  const fresh = taken['new'] ?? [];
  const old = taken['old'] ?? [];
  const totals = SCHEDULE.map((_, day) => sum(fresh.slice(day * HOURS, (day + 1) * HOURS)));
  const marks = [axes(days), ...fresh.map((count, hour) => bar(hour, days, count, old[hour] ?? 0))];
  const labels = SCHEDULE.map((step, day) => dayLabel(day, days, totals[day] ?? 0, step));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="Three days of a warm-up: recipients an hour, by relay">
<style>
${STYLE}
</style>
<text class="title" x="${LEFT}" y="20">Recipients an hour (UTC): a relay that warms up, and the one behind it</text>
${legend()}
${[...marks, ...labels].join('\n')}
</svg>
`;
}

function x(hour: number, days: number): number {
  return LEFT + (hour * (WIDTH - LEFT - RIGHT)) / (days * HOURS);
}

function y(count: number): number {
  return HEIGHT - BOTTOM - (count * (HEIGHT - TOP - BOTTOM)) / MOST;
}

function bar(hour: number, days: number, fresh: number, old: number): string {
  const width = x(1, days) - x(0, days) - GAP;
  const rect = (name: string, from: number, count: number) =>
    count === 0
      ? ''
      : `<rect class="${name}" x="${round(x(hour, days) + GAP / 2)}" y="${round(y(from + count))}" width="${round(width)}" height="${round(y(from) - y(from + count))}"/>`;
  return rect('new', 0, fresh) + rect('old', fresh, old);
}

function axes(days: number): string {
  const lines: string[] = [];
  for (let count = 0; count <= MOST; count += STEP) {
    const name = count === 0 ? 'axis' : 'grid';
    lines.push(
      `<line class="${name}" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${round(y(count))}" y2="${round(y(count))}"/>`,
      `<text x="${LEFT - 8}" y="${round(y(count) + 4)}" text-anchor="end">${count}</text>`,
    );
  }
  for (let hour = 0; hour <= days * HOURS; hour += 6) {
    const clock = `${String(hour % HOURS).padStart(2, '0')}:00`;
    if (hour % 12 === 0)
      lines.push(
        `<text x="${round(x(hour, days))}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${clock}</text>`,
      );
    if (hour % HOURS === 0)
      lines.push(
        `<line class="day" x1="${round(x(hour, days))}" x2="${round(x(hour, days))}" y1="${TOP - 8}" y2="${HEIGHT - BOTTOM}"/>`,
      );
  }
  return lines.join('\n');
}

function dayLabel(day: number, days: number, total: number, step: number): string {
  const middle = round(x((day + 0.5) * HOURS, days));
  return `<text x="${middle}" y="${HEIGHT - 12}" text-anchor="middle">day ${day + 1}: ${total} of ${step} allowed</text>`;
}

function legend(): string {
  const entry = (name: string, at: number, text: string) =>
    `<rect class="${name}" x="${at}" y="32" width="12" height="12"/><text x="${at + 18}" y="42">${text}</text>`;
  return `${entry('new', LEFT, 'the relay that warms up')}\n${entry('old', LEFT + 190, 'the next of its group')}`;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

if (import.meta.main) {
  mkdirSync(new URL('.', WARMUP_PLOT), { recursive: true });
  writeFileSync(WARMUP_PLOT, await warmupPlot());
}
