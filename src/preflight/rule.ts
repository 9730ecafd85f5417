import type { Finding, Severity, Way } from './contract.ts';
import type { Mail } from './mail.ts';

/** A rule: a row of the table, and a page of docs/preflight. */
export interface Rule {
  readonly code: string;
  readonly severity: Severity;
  /** What it looks at, for the index of the pages: a few words, such as `the subject`. */
  readonly looksAt: string;
  /** What it finds there, for the index: a few words, such as `capitals alone`. */
  readonly finds: string;
  /** Everything that it objects to, in order. Pure; lazy, because only the first ones are told. */
  find(mail: Mail, way: Way): Iterable<Found>;
}

/** What a rule objects to. */
export type Found = Pick<Finding, 'where' | 'detail' | 'fix'>;
