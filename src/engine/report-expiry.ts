import { SpoolError } from '../spool/spool.ts';
import type { ExpiringMessage, Stamp, Store } from '../store/store.ts';
import { owedByExpiry } from './report-policy.ts';
import type { Reports, WrittenReport } from './reports.ts';
import type { Wait } from './wait.ts';

/** Reports that are in memory at the same time. */
const AT_ONCE = 16;

/** A message that is to expire, and the report that its sender is owed. */
interface Ready {
  readonly message: ExpiringMessage;
  readonly report: WrittenReport | null;
}

/** What came of it: whether anything expired, and the reports that wait now. */
export interface Expired {
  readonly any: boolean;
  readonly waits: readonly Wait[];
}

/**
 * Fails what waited beyond its time, each message with the report that its sender is owed. What there is no room to
 * report on waits for another turn: nothing is lost by that. Rejects with the store's error.
 */
export async function expireAndReport(
  found: readonly ExpiringMessage[],
  { store, reports, at }: { readonly store: Store; readonly reports: Reports; readonly at: () => Stamp },
): Promise<Expired> {
  const ready: Ready[] = [];
  let answers: readonly boolean[] = [];
  try {
    for (let start = 0; start < found.length; start += AT_ONCE) {
      const slice = found.slice(start, start + AT_ONCE);
      await Promise.all(slice.map((message) => prepare(message, reports, ready)));
    }
    answers = await store.expire(ready.map(expiryOf), at());
  } finally {
    for (const [place, { report }] of ready.entries()) reports.decided(report, answers[place] === true);
  }
  const waits = ready.flatMap(({ report }, place) =>
    report !== null && answers[place] === true ? reports.announce(report) : [],
  );
  return { any: answers.includes(true), waits };
}

async function prepare(message: ExpiringMessage, reports: Reports, ready: Ready[]): Promise<void> {
  const owed = owedByExpiry(message);
  try {
    ready.push({ message, report: owed && (await reports.write(message, owed)) });
  } catch (error) {
    if (!(error instanceof SpoolError)) throw error;
  }
}

function expiryOf({ message: { messageId, deliveries }, report }: Ready) {
  return { messageId, indexes: deliveries.map(({ index }) => index), report: report?.record ?? null };
}
