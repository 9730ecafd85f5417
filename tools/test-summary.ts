/**
 * Prints the last lines of `npm test` from vitest's JSON reports and from the file that names what was missing: what failed,
 * what was skipped for want of a program, and the counts.
 * node tools/test-summary.ts SKIPPED REPORT …
 */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { z } from 'zod';

const report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({ status: z.string(), fullName: z.string(), failureMessages: z.array(z.string()) }),
      ),
    }),
  ),
});

/** How much of a failure is said again below; all of it stands where the test ran. */
const FAILURE_CHARACTERS = 1_000;

const shown = (failure: string): string =>
  stripVTControlCharacters(failure)
    .split('\n')
    .filter((line) => !line.includes('/node_modules/'))
    .join('\n')
    .slice(0, FAILURE_CHARACTERS);

const [skippedPath = '', ...reportPaths] = process.argv.slice(2);
const reports = reportPaths.map((path) => report.parse(JSON.parse(readFileSync(path, 'utf8'))));
const sum = (count: (results: z.infer<typeof report>) => number) =>
  reports.reduce((total, results) => total + count(results), 0);
const missing = existsSync(skippedPath) ? readFileSync(skippedPath, 'utf8').split('\n').filter(Boolean) : [];
type File = z.infer<typeof report>['testResults'][number];
/** Whether it failed though none of its tests did: it could not be loaded, or a hook failed. It counts as one failure. */
const isBroken = ({ status, assertionResults }: File): boolean =>
  status === 'failed' && assertionResults.every((test) => test.status !== 'failed');
const broken = sum(({ testResults }) => testResults.filter(isBroken).length);
const passed = sum(({ numPassedTests }) => numPassedTests);
const failed = sum(({ numFailedTests }) => numFailedTests) + broken;
const skipped = sum(({ numPendingTests, numTodoTests }) => numPendingTests + numTodoTests);

// The suites run beside each other, and what one of them said of a failure is thousands of lines up.
for (const result of reports.flatMap((results) => results.testResults)) {
  const { name, status, message, assertionResults } = result;
  if (status !== 'failed') continue;
  const file = relative(process.cwd(), name);
  if (isBroken(result)) process.stdout.write(`FAILED ${file}\n${shown(message)}\n`);
  for (const test of assertionResults)
    if (test.status === 'failed')
      process.stdout.write(`FAILED ${file} > ${test.fullName}\n${shown(test.failureMessages.join('\n'))}\n`);
}
if (missing.length > 0)
  process.stdout.write(
    `Not installed, so something was skipped: ${[...new Set(missing)].sort().join(', ')}\n`,
  );
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
