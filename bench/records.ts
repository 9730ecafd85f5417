import { appendFileSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Machine } from './measure/machine.ts';
import type { Effort, SideResult } from './pairs.ts';

/** One scenario as it was played once: a line of `results/runs.jsonl`. */
export interface RunRecord {
  /** When it ended, RFC 3339. */
  readonly at: string;
  readonly machine: Machine;
  /** Records of before 2026-11-22 14:00 know no depth. */
  readonly effort: Omit<Effort, 'deep'> & Partial<Pick<Effort, 'deep'>>;
  readonly scenario: string;
  readonly results: readonly SideResult[];
}

/** Where records are kept. */
export const RECORDS = fileURLToPath(new URL('./results/runs.jsonl', import.meta.url));

/** Adds a record. */
export function appendRecord(file: string, record: RunRecord): void {
  appendFileSync(file, `${JSON.stringify(record)}\n`);
}

/** All records, the oldest first. Throws for what cannot be read. */
export function readRecords(file: string): RunRecord[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RunRecord);
}

/** The newest record of each scenario. */
export function newestRecords(records: readonly RunRecord[]): Map<string, RunRecord> {
  return new Map(records.map((record) => [record.scenario, record]));
}
