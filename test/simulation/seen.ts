/** What a simulated history may hold, each as a reader of the evidence would call it. */
export const KINDS = [
  'connection refused',
  'connection timed out',
  'greeting 4xx or 5xx',
  'EHLO 4xx',
  'EHLO 5xx',
  'MAIL 4xx',
  'MAIL 5xx',
  'RCPT 4xx',
  'RCPT 5xx',
  'some recipients refused',
  'DATA 4xx',
  'DATA 5xx',
  'dot 4xx',
  'dot 5xx',
  '421 to any command',
  'lost before the dot',
  'lost after the dot, taken',
  'lost after the dot, not taken',
  'slow answer',
  'answer past its time-out',
  'DNS SERVFAIL',
  'DNS NXDOMAIN',
  'DNS time-out',
  'store failed before its commit',
  'store failed after its commit',
  'store full',
  'node cut off from its store',
  'all nodes cut off from their store',
  'spool append failed before',
  'spool append failed after',
  'spool read failed',
  'spool full',
  'crash',
  'orderly stop',
  'freeze',
  'freeze past the lease',
  'clock set forward',
  'clock set back',
  'lease lost mid-send',
  'hold laid',
  'routing table published',
  'relay limits raised',
  'relay limits lowered',
  'relay disabled',
  'relay removed',
  'relay added again',
  'retry settings changed',
  'intake suspended',
  'no answer to a submission',
  'resubmission',
  'resubmission replayed',
  'sent later',
  'copies of their own',
  'TLS required, promised',
  'TLS required in vain',
  'mailbox gone or full',
  'told of a recipient',
  'told too early',
  'told again',
  'told out of order',
  'told by a forger',
  'suppression added',
  'suppression removed',
  'bounced',
  'person erased',
  'stopped by the suppression list',
  'expired',
  'relay at its limit of attempts',
  'daily quota used up',
  'failure of mail without a sender',
] as const;

/** See {@link KINDS}. */
export type Kind = (typeof KINDS)[number];

/** Counts what a history holds. */
export class Seen {
  readonly #counts = new Map<Kind, number>();

  /** It has happened once more. */
  note(kind: Kind): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  /** How often each has happened, all of them named. */
  counts(): Readonly<Record<Kind, number>> {
    const counted = KINDS.map((kind): [Kind, number] => [kind, this.#counts.get(kind) ?? 0]);
    return Object.fromEntries(counted) as Record<Kind, number>;
  }
}
