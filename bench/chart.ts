import type { Measured } from './measured.ts';
import { showNumber } from './report.ts';

/** What the picture shows, in words. */
const SHOWN: readonly (readonly [scenario: string, title: string])[] = [
  ['http-accept', 'Accepted over HTTP and flushed, while delivery runs (5 KB of JSON)'],
  ['http-to-smtp', 'HTTP in, SMTP out (5 KB)'],
  ['smtp-accept', 'Accepted over SMTP and flushed (5 KB)'],
  ['smtp-accept-single', 'The same, a connection for each message'],
  ['smtp-accept-100k', 'The same, 100 KB'],
  ['smtp-to-smtp', 'SMTP in, SMTP out (5 KB)'],
  ['smtp-to-smtp-100', 'The same, 100 sessions'],
  ['drain', 'A queue let go (5 KB)'],
];

/** It keeps nothing, and would make every other bar short. */
const NOT_SHOWN = ['bare node:http'];

const WIDTH = 760;
const NAMES = 200;
const VALUES = 110;
const TOP = 40;
const BAR = 16;
const BAR_STEP = 20;
const GROUP_TITLE = 24;
const GROUP_GAP = 14;

/** How text, bars and axes look, in light and in dark. */
export const COLOURS = `text { font: 12px system-ui, sans-serif; fill: #24292f; }
.title { font-weight: 600; font-size: 14px; }
.group { font-weight: 600; }
.own { fill: #1f6feb; }
.other { fill: #a8b1bb; }
.axis { stroke: #57606a; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .own { fill: #58a6ff; }
  .other { fill: #57606a; }
  .axis { stroke: #8b949e; }
}`;

interface Bar {
  readonly name: string;
  readonly value: number;
}

/** Messages a second as bars, each scenario on a scale of its own. */
export function drawChart(measured: readonly Measured[]): string {
  const parts: string[] = [];
  let y = TOP;
  for (const [name, title] of SHOWN) {
    const bars = barsOf(measured.find(({ scenario }) => scenario.name === name));
    if (bars.length === 0) continue;
    parts.push(group(title, bars, y));
    y += GROUP_TITLE + bars.length * BAR_STEP + GROUP_GAP;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" role="img" aria-label="Messages a second, by scenario and system">
<style>
${COLOURS}
</style>
<text class="title" x="0" y="18">Messages a second (medians; each group has a scale of its own)</text>
${parts.join('\n')}
</svg>
`;
}

function barsOf(one: Measured | undefined): Bar[] {
  return (one?.summary.rows ?? []).flatMap(({ name, isRatio, values }) => {
    const value = values.messagesPerSecond?.median;
    return isRatio || value === undefined || NOT_SHOWN.includes(name) ? [] : [{ name, value }];
  });
}

function group(title: string, bars: readonly Bar[], top: number): string {
  const most = Math.max(...bars.map(({ value }) => value));
  const first = top + GROUP_TITLE;
  const rows = bars.map(({ name, value }, place) => {
    const y = first + place * BAR_STEP;
    const width = round(((WIDTH - NAMES - VALUES) * value) / most);
    const text = y + BAR - 4;
    return [
      `<text x="${NAMES - 8}" y="${text}" text-anchor="end">${escaped(name)}</text>`,
      `<rect class="${place === 0 ? 'own' : 'other'}" x="${NAMES}" y="${y}" width="${width}" height="${BAR}"/>`,
      `<text x="${round(NAMES + width + 6)}" y="${text}">${showNumber(value, 0)}</text>`,
    ].join('');
  });
  const bottom = first + bars.length * BAR_STEP;
  return [
    `<text class="group" x="0" y="${top + 14}">${escaped(title)}</text>`,
    ...rows,
    `<line class="axis" x1="${NAMES}" x2="${NAMES}" y1="${first - 2}" y2="${bottom - 2}"/>`,
  ].join('\n');
}

/** Text as SVG has it. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** To a tenth of a pixel. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
