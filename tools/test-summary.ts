/**
 * Prints the last lines of `npm test` from vitest's JSON reports and from the file that names what was missing:
 * node tools/test-summary.ts SKIPPED REPORT …
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

const [skippedPath = '', ...reportPaths] = process.argv.slice(2);
const reports = reportPaths.map((path) => report.parse(JSON.parse(readFileSync(path, 'utf8'))));
const sum = (count: (results: z.infer<typeof report>) => number) =>
  reports.reduce((total, results) => total + count(results), 0);
const missing = existsSync(skippedPath) ? readFileSync(skippedPath, 'utf8').split('\n').filter(Boolean) : [];
// A file that could not even be loaded has no tests to count, and counts as one that failed.
const broken = sum(
  ({ testResults }) =>
    testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length,
);
const passed = sum(({ numPassedTests }) => numPassedTests);
const failed = sum(({ numFailedTests }) => numFailedTests) + broken;
const skipped = sum(({ numPendingTests, numTodoTests }) => numPendingTests + numTodoTests);

if (missing.length > 0)
  process.stdout.write(
    `Not installed, so something was skipped: ${[...new Set(missing)].sort().join(', ')}\n`,
  );
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
