/**
 * Prints the last lines of `npm test` from vitest's JSON report and from the file that names what was missing:
 * node tools/test-summary.ts REPORT SKIPPED
 */
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const report = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.unknown()) })),
});

const [reportPath = '', skippedPath = ''] = process.argv.slice(2);
const results = report.parse(JSON.parse(readFileSync(reportPath, 'utf8')));
const missing = existsSync(skippedPath) ? readFileSync(skippedPath, 'utf8').split('\n').filter(Boolean) : [];
// A file that could not even be loaded has no tests to count, and counts as one that failed.
const broken = results.testResults.filter(
  (file) => file.status === 'failed' && file.assertionResults.length === 0,
);
const failed = results.numFailedTests + broken.length;
const skipped = results.numPendingTests + results.numTodoTests;

if (missing.length > 0)
  process.stdout.write(
    `Not installed, so something was skipped: ${[...new Set(missing)].sort().join(', ')}\n`,
  );
process.stdout.write(`${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`);
