import { statfs } from 'node:fs/promises';
import os from 'node:os';
import { parseArgs } from 'node:util';
import { type Choice, EFFORTS, effortOf } from './effort.ts';
import { canTrace } from './measure/flushes.ts';
import { describeMachine, type Machine } from './measure/machine.ts';
import { writePage } from './page.ts';
import { runPairs } from './pairs.ts';
import { appendRecord, RECORDS, type RunRecord, readRecords } from './records.ts';
import { renderReport, summarise } from './report.ts';
import { SCENARIOS } from './scenarios/all.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { killAll } from './systems/child.ts';
import { sinkProgram } from './systems/sink.ts';

/** `npm run bench`: plays the scenarios, prints what came out, keeps a record, and draws the page. See README.md here. */

/** statfs(2): a file system in memory, where flushing costs nothing and proves nothing. */
const TMPFS = 0x01021994;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function readOptions() {
  const number = { type: 'string' } as const;
  return parseArgs({
    options: {
      pairs: number,
      seconds: number,
      messages: number,
      deep: number,
      quick: { type: 'boolean', default: false },
      since: { type: 'string' },
      records: { type: 'string', default: RECORDS },
      only: { type: 'string', multiple: true, default: SCENARIOS.map((scenario) => scenario.name) },
    },
  }).values;
}

async function main(): Promise<void> {
  const options = readOptions();
  const named = new Set(options.only);
  const chosen = SCENARIOS.filter((scenario) => named.has(scenario.name));
  if (chosen.length < named.size) throw new Error(`--only knows ${SCENARIOS.map((s) => s.name).join(', ')}`);
  const choice: Choice = options;
  const effort = effortOf(options.quick ? EFFORTS.quick : EFFORTS.full, choice);
  if ((await statfs(os.tmpdir())).type === TMPFS)
    throw new Error('TMPDIR is in memory; name a directory on a disk');
  const trace = canTrace();
  if (!trace) say('flushes are not counted: strace is not installed');
  if (sinkProgram() === null) say('our own sink stands in for smtp-sink, which is not installed');

  const machine = describeMachine();
  say(
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, kernel ${machine.kernel}, ${machine.commit}`,
  );
  const done = doneSince(options.since, options.records, machine);
  for (const scenario of chosen.filter(({ name }) => !done.has(name))) {
    const begin = performance.now();
    const results = await runPairs(scenario, effort, trace, say);
    say(renderReport(scenario, summarise(scenario, results)));
    say(`${scenario.name} took ${((performance.now() - begin) / 60_000).toFixed(1)} minutes\n`);
    if (results.some(({ samples }) => samples.length === 0)) process.exitCode = 1;
    if (!isWorthKeeping(scenario, results)) continue;
    appendRecord(options.records, {
      at: new Date().toISOString(),
      machine,
      effort,
      scenario: scenario.name,
      results,
    });
    if (options.records === RECORDS) writePage();
  }
}

/** A record in which the system under test is missing would hide the one before. */
function isWorthKeeping({ sides: [first] }: Scenario, results: RunRecord['results']): boolean {
  return results.some(({ name, samples }) => name === first.name && samples.length > 0);
}

/** What has a record of since then, on this machine. Throws for what is no time. */
function doneSince(time: string | undefined, file: string, { cpu }: Machine): Set<string> {
  if (time === undefined) return new Set();
  const since = Date.parse(time);
  if (Number.isNaN(since)) throw new Error('--since must be a time, such as 2026-11-22T15:00Z');
  const records = readRecords(file).filter(
    ({ at, machine }) => machine.cpu === cpu && Date.parse(at) >= since,
  );
  return new Set(records.map(({ scenario }) => scenario));
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => killAll().finally(() => process.exit(130)));
try {
  await main();
} catch (error) {
  process.exitCode = 1;
  say(error instanceof Error ? error.message : String(error));
} finally {
  await killAll();
  // What a failed run has left open would keep us here.
  process.exit();
}
