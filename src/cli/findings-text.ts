import type { Finding } from '../operations/system.ts';
import { fold, harmless, oneLine } from './terminal.ts';

const LABELS: Readonly<Record<Finding['status'], string>> = {
  ok: 'ok',
  warn: 'WARN',
  fail: 'FAIL',
  skipped: '-',
};

/** One finding after the other, what cures it below it, and how many of each kind there are. */
export function findingsText(findings: readonly Finding[], columns: number): string {
  const width = Math.max(...findings.map(({ name }) => name.length));
  const indent = 6 + width + 2;
  const lines = findings.flatMap(({ name, status, found, cure }) => {
    const head = `${LABELS[status].padEnd(6)}${name.padEnd(width)}  ${found}`;
    return [...fold(oneLine(head), Math.min(indent, 30), columns), ...cureLines(cure)];
  });
  return [...lines, '', summary(findings)].join('\n');
}

/**
 * What cures is made to be copied: its lines stay as they are, however long. Those after the first are what to paste, and
 * stand where a line begins.
 */
function cureLines(cure: string | null): readonly string[] {
  if (cure === null) return [];
  const [first, ...pasted] = harmless(cure).split('\n');
  return [`${' '.repeat(6)}fix: ${first}`, ...pasted];
}

function summary(findings: readonly Finding[]): string {
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  const [failed, warned] = [count('fail'), count('warn')];
  if (failed + warned === 0) return 'No faults found.';
  return `Failed: ${failed}, warnings: ${warned}.`;
}
