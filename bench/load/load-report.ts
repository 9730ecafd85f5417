import type { Sample } from '../scenarios/scenario.ts';

/** What a load that measures latencies has seen. */
export interface LoadReport {
  /** Messages that were accepted: answers with status 202, or 250 to the end of a message. */
  readonly accepted: number;
  /** Other answers, per status. */
  readonly refused: Readonly<Record<string, number>>;
  /** From the first request to the last answer. */
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** A load's report, as it prints it. Throws when anything was refused. */
export function parseReport(text: string): LoadReport {
  const report = JSON.parse(text) as LoadReport;
  if (Object.keys(report.refused).length > 0)
    throw new Error(`not every message was accepted: ${JSON.stringify(report.refused)}`);
  return report;
}

/** The latencies of a report. */
export function latenciesOf({ p50Ms, p95Ms, p99Ms }: LoadReport): Sample {
  return { p50Ms, p95Ms, p99Ms };
}
