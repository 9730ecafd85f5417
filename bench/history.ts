import { COLOURS, escaped, round } from './chart.ts';
import type { Spread } from './measure/statistics.ts';
import type { RunRecord } from './records.ts';
import { showNumber, summarise } from './report.ts';
import { SCENARIOS } from './scenarios/all.ts';
import { BULLMQ, PG_BOSS } from './scenarios/scenario.ts';

/** The scenarios whose ratio is shown as it was from record to record, in words, and to whom. */
const SHOWN: readonly (readonly [scenario: string, title: string, to: string])[] = [
  ['http-accept', 'Accepted over HTTP and flushed', BULLMQ],
  ['http-to-smtp', 'HTTP in, SMTP out', BULLMQ],
  ['smtp-accept', 'Accepted over SMTP and flushed', 'Postfix'],
  ['smtp-to-smtp', 'SMTP in, SMTP out', 'Postfix'],
  ['smtp-to-smtp-100', 'The same, 100 sessions', 'Postfix'],
  ['drain', 'A queue let go', 'Postfix'],
  ['postgres', 'HTTP in, SMTP out, over PostgreSQL', PG_BOSS],
];
/** So many records of a scenario, the newest. */
const MOST = 10;

const WIDTH = 760;
const TOP = 36;
const ROW = 128;
const LEFT = 24;
const RIGHT = 24;
/** Of a row: where its title stands, where the line is at its highest and at 0, and where the dates stand. */
const [TITLE, HIGH, ZERO, DATE, COMMIT] = [14, 38, 88, 103, 117];

/** One record's ratio. */
interface Point {
  readonly at: string;
  readonly commit: string;
  readonly ratio: Spread;
}

/** How many times as many messages a second as its baseline Waybill did, record by record: a later loss is seen. */
export function drawHistory(records: readonly RunRecord[]): string {
  const rows = SHOWN.flatMap(([name, title, to]) => {
    const points = historyOf(name, to, records);
    return points.length === 0 ? [] : [{ title: `${title}: × ${to}`, points }];
  });
  const height = TOP + rows.length * ROW;
  const drawn = rows.map(({ title, points }, place) => drawRow(title, points, TOP + place * ROW));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="Messages a second as a multiple of the baseline's, by the date of the record">
<style>
${COLOURS}
.line { fill: none; stroke: #1f6feb; stroke-width: 2; }
.spread { stroke: #a8b1bb; stroke-width: 4; }
.small { font-size: 11px; }
@media (prefers-color-scheme: dark) { .line { stroke: #58a6ff; } .spread { stroke: #57606a; } }
</style>
<text class="title" x="0" y="18">Messages a second as a multiple of the baseline’s, record by record (medians, least and most)</text>
${drawn.join('\n')}
</svg>
`;
}

/** Early records were beside others: they are left out. */
function historyOf(name: string, to: string, records: readonly RunRecord[]): readonly Point[] {
  const scenario = SCENARIOS.find((one) => one.name === name);
  if (scenario === undefined) return [];
  const points = records
    .filter((record) => record.scenario === name)
    .flatMap(({ at, machine, results }): Point[] => {
      const row = summarise(scenario, results).rows.find(
        (one) => one.isRatio && one.name.endsWith(` ÷ ${to}`),
      );
      const ratio = row?.values.messagesPerSecond;
      return ratio === undefined ? [] : [{ at, commit: machine.commit, ratio }];
    });
  return points.slice(-MOST);
}

function drawRow(title: string, points: readonly Point[], top: number): string {
  const most = Math.max(...points.map(({ ratio }) => ratio.max));
  const step = (WIDTH - LEFT - RIGHT) / MOST;
  const xOf = (place: number) => round(LEFT + step * (place + 0.5));
  const yOf = (value: number) => round(top + ZERO - ((ZERO - HIGH) * value) / most);
  const line = points.map(({ ratio }, place) => `${xOf(place)},${yOf(ratio.median)}`).join(' ');
  const marks = points.map(({ at, commit, ratio }, place) => {
    const x = xOf(place);
    const date = new Date(at).toLocaleDateString('en-GB', {
      day: 'numeric',
      month: 'short',
      timeZone: 'UTC',
    });
    return [
      `<line class="spread" x1="${x}" x2="${x}" y1="${yOf(ratio.min)}" y2="${yOf(ratio.max)}"/>`,
      `<circle class="own" cx="${x}" cy="${yOf(ratio.median)}" r="4"/>`,
      `<text class="small" x="${x}" y="${round(yOf(ratio.max) - 7)}" text-anchor="middle">${showNumber(ratio.median, 2)}</text>`,
      `<text class="small" x="${x}" y="${top + DATE}" text-anchor="middle">${date}</text>`,
      `<text class="small" x="${x}" y="${top + COMMIT}" text-anchor="middle">${escaped(commit.replace('-dirty', '+').slice(0, 8))}</text>`,
    ].join('');
  });
  return [
    `<text class="group" x="0" y="${top + TITLE}">${escaped(title)}</text>`,
    `<line class="axis" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${top + ZERO}" y2="${top + ZERO}"/>`,
    `<polyline class="line" points="${line}"/>`,
    ...marks,
  ].join('\n');
}
