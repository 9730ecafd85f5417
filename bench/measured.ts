import type { RunRecord } from './records.ts';
import type { Summary } from './report.ts';
import type { Scenario } from './scenarios/scenario.ts';

/** A scenario with its newest record. */
export interface Measured {
  readonly scenario: Scenario;
  readonly record: RunRecord;
  readonly summary: Summary;
}
