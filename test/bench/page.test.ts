/** What the benchmarks recorded, drawn together: docs/benchmarks.md and its picture. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { benchmarkPage, CHART, HISTORY, PAGE } from '../../bench/page.ts';
import { RECORDS, type RunRecord, readRecords } from '../../bench/records.ts';
import { SCENARIOS } from '../../bench/scenarios/all.ts';
import { BULLMQ } from '../../bench/scenarios/scenario.ts';

const machine = { cpu: 'a processor', cores: 2, node: 'v24', kernel: '6', memoryGiB: 8, commit: 'abc' };

function record(scenario: string, results: RunRecord['results'], at = '2026-11-22T10:00:00Z'): RunRecord {
  return { at, machine, effort: { pairs: 3, seconds: 1, messages: 100, deep: 1000 }, scenario, results };
}

test('the page and its pictures are what the records give (node bench/page.ts)', () => {
  const { page, chart, history } = benchmarkPage(readRecords(RECORDS));
  expect(page).toBe(readFileSync(PAGE, 'utf8'));
  expect(chart).toBe(readFileSync(CHART, 'utf8'));
  expect(history).toBe(readFileSync(HISTORY, 'utf8'));
});

test('no two scenarios have one name', () => {
  const names = SCENARIOS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

test('what targets and comparisons name are sides of their scenario', () => {
  for (const { sides, targets, compares = [] } of SCENARIOS) {
    const names = sides.map(({ name }) => name);
    for (const { by = names[0], to = names[0] } of [...targets, ...compares]) {
      expect(names).toContain(by);
      expect(names).toContain(to);
    }
  }
});

test('ratios are taken pair by pair, and the median decides', () => {
  const rates = (...values: number[]) => values.map((messagesPerSecond) => ({ messagesPerSecond }));
  const { page } = benchmarkPage([
    record('smtp-to-smtp', [
      { name: 'Waybill', samples: rates(600, 100, 660) },
      { name: 'Postfix', samples: rates(100, 100, 110) },
    ]),
  ]);
  expect(page).toContain('| *Waybill ÷ Postfix* | 6.00 (1.00–6.00) |');
  expect(page).toContain('messages/s at least 6 × Postfix, aim 9 | 6.00: reached |');
  expect(page).toContain('CPU s per 1,000 at most 0.115 × Postfix, aim 0.075 | not measured |');
});

test('a side that did not run is named with the reason, and decides nothing', () => {
  const { page } = benchmarkPage([
    record('http-to-smtp', [
      { name: 'Waybill', samples: [{ messagesPerSecond: 10 }] },
      { name: BULLMQ, samples: [], missing: 'Redis is not installed' },
    ]),
  ]);
  expect(page).toContain(`${BULLMQ}: Redis is not installed.`);
  expect(page).toContain(`messages/s at least 2.2 × ${BULLMQ}, aim 5 | not measured |`);
});

test('only the newest record of a scenario counts', () => {
  const one = (p99Ms: number) => [{ name: 'Waybill', samples: [{ p99Ms }] }];
  const { page } = benchmarkPage([
    record('http-accept', one(40), '2026-11-22T10:00:00Z'),
    record('http-accept', one(9), '2026-11-22T11:00:00Z'),
  ]);
  expect(page).toContain('accept p99 ms at most 30, aim 12 | 9.00: reached |');
  expect(page).not.toContain('40.00');
});

test('the ratio of each record is shown, the oldest first, and what has none is left out', () => {
  const ratio = (own: number, at: string) =>
    record(
      'drain',
      [
        { name: 'Waybill', samples: [{ messagesPerSecond: own }] },
        { name: 'Postfix', samples: [{ messagesPerSecond: 100 }] },
      ],
      at,
    );
  const { history } = benchmarkPage([
    ratio(450, '2026-11-22T10:00:00Z'),
    ratio(300, '2026-11-23T10:00:00Z'),
    record('drain', [{ name: 'Waybill', samples: [{ messagesPerSecond: 1 }] }], '2026-11-24T10:00:00Z'),
  ]);
  expect(history).toMatch(/>4\.50<.*>22 Nov<.*>3\.00<.*>23 Nov</s);
  expect(history).not.toContain('24 Nov');
  expect(history).not.toContain('SMTP in');
});

test('a figure that JSON could not hold is left out', () => {
  const samples = [{ messagesPerSecond: 5, flushesPerMessage: Number.NaN }];
  const written = JSON.stringify(record('drain', [{ name: 'Waybill', samples }]));
  const { page } = benchmarkPage([JSON.parse(written) as RunRecord]);
  expect(page).toContain('### drain');
  expect(page).not.toContain('flushes per message');
});
