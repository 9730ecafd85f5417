import type { Finding, Severity } from '../preflight/contract.ts';
import { counted, DEFAULT_COLUMNS, fold, oneLine } from './terminal.ts';

const LABELS: Readonly<Record<Severity, string>> = { error: 'ERROR', warning: 'WARNING', hint: 'hint' };
const INDENT = 9;

/** What checking a message found: one finding after the other, what to do below it, and how many of each kind. */
export function preflightText(findings: readonly Finding[], columns: number | null): string {
  if (findings.length === 0) return 'Nothing found.';
  const width = columns ?? DEFAULT_COLUMNS;
  const lines = findings.flatMap(({ code, severity, where, detail, fix }) => [
    ...fold(`${LABELS[severity].padEnd(INDENT)}${oneLine(`${code}  ${where}`.trimEnd())}`, INDENT, width),
    ...[detail, fix].flatMap((text) => fold(' '.repeat(INDENT) + oneLine(text), INDENT, width)),
  ]);
  return [...lines, '', summary(findings)].join('\n');
}

function summary(findings: readonly Finding[]): string {
  const count = (severity: Severity) => findings.filter((finding) => finding.severity === severity).length;
  const counts = [
    counted(count('error'), 'error'),
    counted(count('warning'), 'warning'),
    counted(count('hint'), 'hint'),
  ];
  return `${counts.join(', ')}. What each means: docs/preflight.`;
}
