import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drawChart } from './chart.ts';
import { drawHistory } from './history.ts';
import type { Measured } from './measured.ts';
import { newestRecords, RECORDS, type RunRecord, readRecords } from './records.ts';
import { showTarget, showValues, showVerdict, summarise } from './report.ts';
import { SCENARIOS } from './scenarios/all.ts';
import { METRICS } from './scenarios/scenario.ts';

/** Draws docs/benchmarks.md and its pictures from what was recorded: `node bench/page.ts`. */

/** Where the page lies. */
export const PAGE = fileURLToPath(new URL('../docs/benchmarks.md', import.meta.url));
/** Where the picture lies. */
export const CHART = fileURLToPath(new URL('../docs/images/benchmarks.svg', import.meta.url));

/** Where the picture of the ratios over time lies. */
export const HISTORY = fileURLToPath(new URL('../docs/images/benchmarks-history.svg', import.meta.url));

/** The page and its pictures as the records give them; what has no record is named. */
export function benchmarkPage(records: readonly RunRecord[]): {
  readonly page: string;
  readonly chart: string;
  readonly history: string;
} {
  const newest = newestRecords(records);
  const measured = SCENARIOS.flatMap((scenario): Measured[] => {
    const record = newest.get(scenario.name);
    return record === undefined ? [] : [{ scenario, record, summary: summarise(scenario, record.results) }];
  });
  const missing = SCENARIOS.filter(({ name }) => !newest.has(name)).map(({ name }) => `\`${name}\``);
  const parts = [
    INTRODUCTION,
    asked(measured),
    ...(missing.length === 0 ? [] : [`Not measured yet: ${missing.join(', ')}.`]),
    CHANGES,
    machines(measured),
    '## The figures',
    ...measured.map((one) => section(one, measured)),
  ];
  return { page: `${parts.join('\n\n')}\n`, chart: drawChart(measured), history: drawHistory(records) };
}

/** Draws all of them from the records that are kept. */
export function writePage(): void {
  const { page, chart, history } = benchmarkPage(readRecords(RECORDS));
  writeFileSync(PAGE, page);
  writeFileSync(CHART, chart);
  writeFileSync(HISTORY, history);
}

const INTRODUCTION = `# Benchmarks: what was reached

Each scenario puts the same load on Waybill and on others in turns, on one machine, and what counts is the ratio: a figure alone
says more about the machine than about the program. [How it is measured, and why so](../bench/README.md).

![Messages a second, by scenario and system](images/benchmarks.svg)

Medians; in brackets the least and the most. Ratios are taken pair by pair. This page is drawn by \`node bench/page.ts\` from the
newest record of each scenario in \`bench/results/runs.jsonl\`, and drawn anew by every \`npm run bench\`.`;

const CHANGES = `## From record to record

The ratios of the main scenarios as each record had them, the oldest first: what a change costs is seen here. Records come from
several machines, so only a ratio can be compared, and a small difference says nothing. A commit with \`+\` had changes that
were not committed.

![Messages a second as a multiple of the baseline's, by the date of the record](images/benchmarks-history.svg)`;

const WHY = 'decisions/0002-where-the-time-goes.md#what-was-asked-for-and-not-reached-and-why-2026-11-24';

function asked(measured: readonly Measured[]): string {
  const rows = measured.flatMap(({ scenario, summary }) =>
    summary.verdicts.map((verdict) => {
      const [first, second] = scenario.sides;
      const what = showTarget(verdict.target, first.name, second?.name ?? '');
      return `| [\`${scenario.name}\`](#${scenario.name}) | ${what} | ${showVerdict(verdict)} |`;
    }),
  );
  const table = ['| Scenario | Asked | Came to |', '|---|---|---|', ...rows].join('\n');
  return `## What was asked\n\n${table}\n\n[What was not reached, and why](${WHY}).`;
}

/** The machines, by their first records; sections refer to them by number where there are several. */
function machines(measured: readonly Measured[]): string {
  const all = machinesOf(measured);
  const lines = all.map((machine, place) => (all.length === 1 ? machine : `${place + 1}. ${machine}`));
  return ['## The machine', '', ...lines].join('\n');
}

function machinesOf(measured: readonly Measured[]): string[] {
  return [...new Set(measured.map(({ record }) => machineOf(record)))];
}

function machineOf({ machine }: RunRecord): string {
  const { cpu, cores, memoryGiB, node, kernel } = machine;
  const memory = memoryGiB === undefined ? '' : `${memoryGiB} GiB of memory, `;
  return `${cpu}, ${cores} cores, ${memory}Linux ${kernel}, Node ${node}`;
}

function section({ scenario, record, summary }: Measured, measured: readonly Measured[]): string {
  const { metrics, rows } = summary;
  const head = ['', ...metrics.map((metric) => METRICS[metric].title)];
  const table = [
    line(head),
    line(head.map((_, column) => (column === 0 ? '---' : '---:'))),
    ...rows
      .filter(({ values }) => Object.keys(values).length > 0)
      .map((row) => line([row.isRatio ? `*${row.name}*` : row.name, ...showValues(row, metrics)])),
  ];
  const absent = rows.flatMap(({ name, missing }) => (missing === null ? [] : [`${name}: ${missing}.`]));
  return [
    `### ${scenario.name}`,
    `${capital(scenario.shows)}.`,
    table.join('\n'),
    ...absent,
    effortOf(record, measured),
  ].join('\n\n');
}

function effortOf(record: RunRecord, measured: readonly Measured[]): string {
  const { at, effort, machine, results } = record;
  const all = machinesOf(measured);
  const where = all.length === 1 ? '' : `, machine ${all.indexOf(machineOf(record)) + 1}`;
  const pairs = Math.max(...results.map(({ samples }) => samples.length));
  const deep = effort.deep === undefined ? '' : `; deep: ${effort.deep.toLocaleString('en-US')}`;
  const messages = effort.messages.toLocaleString('en-US');
  const often = pairs === 1 ? 'once' : `${pairs} times in turns`;
  return `${at.slice(0, 16).replace('T', ' ')} UTC, commit ${machine.commit}${where}; ${often}; ${effort.seconds} s or ${messages} messages each${deep}.`;
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

if (import.meta.main) writePage();
