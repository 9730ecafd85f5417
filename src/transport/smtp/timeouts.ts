import type { OpeningVerb } from '../../smtp/opening.ts';
import type { SenderVerb } from '../../smtp/verdict.ts';

/** What we may be waiting for. `content` is progress in writing, `idle` is a reusable connection's rest. */
export type TimedVerb = 'connect' | 'tls' | OpeningVerb | SenderVerb | 'rset' | 'quit' | 'idle';

/** Longest wait for each, in milliseconds. */
export type Timeouts = Readonly<Record<TimedVerb, number>>;

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** RFC 5321 §4.5.3.2 where it names a time; what concerns only our own convenience is shorter. */
export const TIMEOUTS: Timeouts = {
  connect: 30 * SECOND,
  tls: MINUTE,
  greeting: 5 * MINUTE,
  ehlo: 5 * MINUTE,
  helo: 5 * MINUTE,
  starttls: 2 * MINUTE,
  auth: 2 * MINUTE,
  mail: 5 * MINUTE,
  rcpt: 5 * MINUTE,
  data: 2 * MINUTE,
  content: 3 * MINUTE,
  dot: 10 * MINUTE,
  rset: 20 * SECOND,
  quit: 5 * SECOND,
  idle: 10 * SECOND,
};
