import { appendFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { canTrace } from './measure/flushes.ts';
import { describeMachine } from './measure/machine.ts';
import { type Effort, runPairs } from './pairs.ts';
import { renderReport, summarise } from './report.ts';
import { dashboardPage } from './scenarios/dashboard-page.ts';
import { dashboards } from './scenarios/dashboards.ts';
import { dkimEd25519, dkimRsa } from './scenarios/dkim.ts';
import { drain } from './scenarios/drain.ts';
import { httpAccept } from './scenarios/http-accept.ts';
import { httpToSmtp } from './scenarios/http-to-smtp.ts';
import { manyLanesClaim, manyLanesMemory } from './scenarios/many-lanes.ts';
import { memory100k } from './scenarios/memory-100k.ts';
import { oneDeadRelay } from './scenarios/one-dead-relay.ts';
import { postgres } from './scenarios/postgres.ts';
import { postgresBacklog } from './scenarios/postgres-backlog.ts';
import { providerPostmark, providerSes } from './scenarios/providers.ts';
import { search } from './scenarios/search.ts';
import { smtpAccept, smtpAccept100k, smtpAcceptSingle } from './scenarios/smtp-accept.ts';
import { smtpToSmtp, smtpToSmtp100, smtpToSmtp100k } from './scenarios/smtp-to-smtp.ts';
import { killAll } from './systems/child.ts';
import { sinkProgram } from './systems/sink.ts';

/** `npm run bench`: plays the scenarios, prints what came out, and keeps a record. See README.md here. */
const SCENARIOS = [
  ...[httpAccept, httpToSmtp, memory100k],
  ...[smtpAccept, smtpAcceptSingle, smtpAccept100k],
  ...[smtpToSmtp, smtpToSmtp100, smtpToSmtp100k],
  ...[drain, oneDeadRelay, manyLanesClaim, manyLanesMemory],
  ...[providerSes, providerPostmark],
  ...[dkimRsa, dkimEd25519],
  search,
  dashboards,
  postgres,
  postgresBacklog,
  dashboardPage,
];
const RECORDS = fileURLToPath(new URL('./results/runs.jsonl', import.meta.url));
/** statfs(2): a file system in memory, where flushing costs nothing and proves nothing. */
const TMPFS = 0x01021994;

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      pairs: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '10' },
      messages: { type: 'string', default: '20000' },
      only: { type: 'string', multiple: true, default: SCENARIOS.map((scenario) => scenario.name) },
    },
  });
  const chosen = SCENARIOS.filter((scenario) => values.only.includes(scenario.name));
  if (chosen.length < values.only.length)
    throw new Error(`--only knows ${SCENARIOS.map((s) => s.name).join(', ')}`);
  const { pairs, seconds, messages } = values;
  const effort: Effort = { pairs: Number(pairs), seconds: Number(seconds), messages: Number(messages) };
  if ((await statfs(os.tmpdir())).type === TMPFS)
    throw new Error('TMPDIR is in memory; name a directory on a disk');
  const trace = canTrace();
  if (!trace) say('flushes are not counted: strace is not installed');
  if (sinkProgram() === null) say('our own sink stands in for smtp-sink, which is not installed');

  const machine = describeMachine();
  say(
    `${machine.cpu}, ${machine.cores} cores, Node ${machine.node}, kernel ${machine.kernel}, ${machine.commit}`,
  );
  for (const scenario of chosen) {
    const results = await runPairs(scenario, effort, trace, say);
    say(renderReport(scenario, results, summarise(scenario, results)));
    const record = { at: new Date().toISOString(), machine, effort, scenario: scenario.name, results };
    appendFileSync(RECORDS, `${JSON.stringify(record)}\n`);
  }
}

process.once('SIGINT', () => killAll().finally(() => process.exit(130)));
try {
  await main();
} catch (error) {
  process.exitCode = 1;
  say(error instanceof Error ? error.message : String(error));
} finally {
  await killAll();
}
