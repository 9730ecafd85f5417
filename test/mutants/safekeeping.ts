/** Bugs by which accepted mail would be lost, forgotten or miscounted. */
import type { Mutant } from './mutant.ts';
import { HISTORY, POWER_CUTS, postgres, sqlite } from './traps.ts';

export const SAFEKEEPING: readonly Mutant[] = [
  {
    name: 'spool-flush-not-awaited',
    breaks: 'What is acknowledged has been flushed: its bytes may still be in the cache of the machine.',
    edits: [
      {
        file: 'src/spool/segments/open-segment.ts',
        before: 'await files.fdatasync(this.#fd);',
        after: 'files.fdatasync(this.#fd).catch(() => {});',
      },
    ],
    traps: [
      {
        file: 'src/spool/segments/segment-spool.test.ts',
        test: 'an append is answered when its flush has ended, and not before',
      },
    ],
  },
  {
    name: 'spool-flush-skipped',
    breaks: 'What is acknowledged has been flushed: the bytes are never told to go to the disk.',
    edits: [
      {
        file: 'src/spool/segments/open-segment.ts',
        before: 'await files.fdatasync(this.#fd);',
        after: '',
      },
    ],
    traps: [
      {
        file: 'src/spool/segments/segment-spool.test.ts',
        test: 'appends at the same time share one write and one flush',
      },
      POWER_CUTS,
    ],
  },
  {
    name: 'large-segment-left-open',
    breaks:
      'What is written beside a segment of large contents lies below it: here a torn one is left behind.',
    edits: [
      {
        file: 'src/spool/segments/large-writer.ts',
        before: '      await this.#seal();\n      return await work();',
        after: '      return await work();',
      },
    ],
    traps: [
      {
        file: 'src/spool/segments/large-writer.test.ts',
        test: 'what lies below a new segment does not grow',
      },
    ],
  },
  {
    name: 'refused-batch-left-on-disk',
    breaks:
      'What was refused for want of room is off the disk: here a power cut brings back what was flushed.',
    edits: [
      {
        file: 'src/spool/segments/open-segment.ts',
        before: 'await this.#cut();\n      await this.#terms.files.fdatasync(this.#fd);',
        after: 'await this.#cut();',
      },
    ],
    traps: [
      {
        file: 'src/spool/segments/large-writer.test.ts',
        test: 'what is on the disk of large mail without room is off it before it is refused',
      },
    ],
  },
  {
    name: 'small-mail-behind-all-large',
    breaks: 'Small mail that needs a new segment waits for one large message: here for all that are in line.',
    edits: [
      {
        file: 'src/spool/segments/large-writer.ts',
        before: 'this.#turns.runNext(',
        after: 'this.#turns.run(',
      },
    ],
    traps: [
      {
        file: 'src/spool/segments/large-writer.test.ts',
        test: 'who needs a new segment waits for the large mail under way',
      },
    ],
  },
  {
    name: 'spool-name-not-flushed',
    breaks: 'A new segment is found again after a power cut: its name may not have reached the disk.',
    edits: [
      {
        file: 'src/spool/segments/open-segment.ts',
        before: 'await files.fsync(directoryFd);',
        after: '',
      },
    ],
    traps: [
      {
        file: 'src/spool/segments/segment-spool.test.ts',
        test: 'a new segment and its directory are flushed before anything is written to it',
      },
      POWER_CUTS,
    ],
  },
  {
    name: 'failed-flush-forgiven',
    breaks: 'After a failed flush nothing more is accepted: what it should have kept may be gone.',
    edits: [
      {
        file: 'src/spool/segments/open-segment.ts',
        before: `      const failed = failure.trip(error);
      await this.#cut().catch(() => {});
      throw failed;`,
        after: '      if (failure === undefined) throw error;',
      },
    ],
    traps: [
      {
        file: 'src/spool/segments/segment-spool.test.ts',
        test: 'fdatasync failing with EIO stops writing for good',
      },
    ],
  },
  {
    name: 'sqlite-synchronous-normal',
    breaks:
      'A commit is on stable storage before it is answered: with NORMAL a power cut takes the last ones.',
    edits: [
      {
        file: 'src/store/sqlite/connection.ts',
        before: 'PRAGMA synchronous = FULL;',
        after: 'PRAGMA synchronous = NORMAL;',
      },
      { file: 'src/store/sqlite/connection.ts', before: 'if (level !== 2)', after: 'if (level === 0)' },
    ],
    traps: [
      { file: 'src/store/sqlite/connection.test.ts', test: 'is durable after its first write' },
      POWER_CUTS,
    ],
  },
  {
    name: 'postgres-commits-before-it-writes',
    breaks:
      'A commit of PostgreSQL is on stable storage before it is answered, whatever its configuration says.',
    edits: [
      {
        file: 'src/postgres/session.ts',
        before: "current_setting('synchronous_commit') = 'off'",
        after: "current_setting('synchronous_commit') = 'never'",
      },
    ],
    traps: [
      {
        file: 'test/contract/postgres-connection.test.ts',
        test: 'commits durably, also where the server came to do otherwise since',
      },
    ],
  },
  {
    name: 'postgres-commit-done-again',
    breaks: 'What was committed, though its answer was lost, is not done again.',
    edits: [
      {
        file: 'src/postgres/outcome.ts',
        before: "return 'committed';",
        after: "return 'aborted';",
      },
    ],
    traps: [{ file: 'test/contract/postgres-commit.test.ts', test: 'is known to have happened' }],
  },
  {
    name: 'ack-before-commit',
    breaks:
      'An answer follows the commit: here the client is told before the store has heard of the message.',
    edits: [
      {
        file: 'src/store/taking.ts',
        before: 'return await store.accept(records, at(), limits, together);',
        after: `store.accept(records, at(), limits).catch(() => {});
        return records.map(({ deliveries }) => ({ kind: 'accepted', leased: deliveries.map(() => false) }));`,
      },
    ],
    traps: [HISTORY],
  },
  {
    name: 'postgres-ack-before-commit',
    breaks:
      'Over PostgreSQL, too: here callers are told when their calls are decided, before the transaction commits.',
    edits: [
      {
        file: 'src/store/postgres/gatherer.ts',
        before: `  await work.write();
  return told;`,
        after: `  await work.write();
  for (const tell of told) tell();
  return [];`,
      },
    ],
    traps: [{ file: 'src/store/postgres/gatherer.test.ts', test: 'tells nobody before the commit' }],
  },
  {
    name: 'live-segment-unlinked',
    breaks: 'Contents stay while anything refers to them: here a segment goes that one message is left in.',
    edits: [
      {
        file: 'src/engine/sweep.ts',
        before: '(live.get(segment) ?? 0) === 0',
        after: '(live.get(segment) ?? 0) <= 1',
      },
    ],
    traps: [HISTORY, { file: 'test/simulation/retention.test.ts', test: 'contents go a week after the end' }],
  },
  {
    name: 'reused-id',
    breaks: 'An id is one message’s: here messages of one millisecond share theirs.',
    edits: [{ file: 'src/lib/id.ts', before: '      increment(tail);\n', after: '' }],
    traps: [
      { file: 'src/lib/id.test.ts', test: 'ids are well formed, carry their time and increase' },
      HISTORY,
    ],
  },
  {
    name: 'idempotency-key-forgotten',
    breaks: 'A repeat under an Idempotency-Key gets the first answer: here it is a second message.',
    edits: [
      {
        file: 'src/store/sqlite/accept.ts',
        before: 'if (first === undefined) return null;',
        after: 'if (first === undefined || first[0] === hash) return null;',
      },
    ],
    traps: [
      sqlite('accept > gives the first answer to a repeat'),
      { file: 'test/e2e/idempotency.test.ts', test: 'a submission, a batch and a resend' },
    ],
  },
  {
    name: 'postgres-idempotency-key-not-locked',
    breaks: 'Of two submissions at once under one Idempotency-Key, on two nodes, one is accepted.',
    edits: [
      {
        file: 'src/store/postgres/work.ts',
        before: 'return this.#read(LOCK, wishes);',
        after: 'return this.#read(READ, wishes);',
      },
    ],
    traps: [
      {
        file: 'test/contract/postgres-nodes.test.ts',
        test: 'accept a submission once under its idempotency key',
      },
    ],
  },
  {
    name: 'status-derived-wrongly',
    breaks:
      'A message of which one recipient failed is failed: here one delivered recipient makes it delivered.',
    edits: [
      {
        file: 'src/domain/delivery.ts',
        before: "return counts.failed > 0 ? 'failed' : 'delivered';",
        after: "return counts.delivered > 0 ? 'delivered' : 'failed';",
      },
    ],
    traps: [
      { file: 'src/domain/delivery.test.ts', test: 'status of a message' },
      sqlite('settle > keeps recipients apart: mixed ends are partial'),
    ],
  },
  {
    name: 'status-counts-drift',
    breaks:
      'A status follows from the recipients’ states: here they are counted where they are, and where they were.',
    edits: [{ file: 'src/store/sqlite/ledger.ts', before: '    message.counts[from]--;\n', after: '' }],
    traps: [
      HISTORY,
      sqlite('any sequence of verbs > leaves status, counts, depths, gauges and quotas as derived'),
    ],
  },
  {
    name: 'received-counted-twice',
    breaks: 'A message is counted as received once.',
    edits: [
      {
        file: 'src/store/sqlite/insert.ts',
        before: "tallies.count('received', at);",
        after: "tallies.count('received', at, 2);",
      },
    ],
    traps: [sqlite('figures > count per UTC day and minute')],
  },
  {
    name: 'postgres-received-counted-twice',
    breaks: 'A message is counted as received once, over PostgreSQL too.',
    edits: [
      {
        file: 'src/store/postgres/desk.ts',
        before: "tallies.count('received', at);",
        after: "tallies.count('received', at, 2);",
      },
    ],
    traps: [postgres('figures > count per UTC day and minute')],
  },
  {
    name: 'erasure-cancels-others',
    breaks: 'Erasing a person leaves mail to others alone: here what goes to her among others is cancelled.',
    edits: [
      {
        file: 'src/store/plain/erasing.ts',
        before: 'alone: own.length > 0 && own.length === recipients.length',
        after: 'alone: own.length > 0',
      },
    ],
    traps: [HISTORY],
  },
];
