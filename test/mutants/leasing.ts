/** Bugs by which two would work on one delivery, or nobody. */
import type { Mutant } from './mutant.ts';
import { HISTORY, history, postgres, sqlite } from './traps.ts';

export const LEASING: readonly Mutant[] = [
  {
    name: 'settle-without-fence',
    breaks: 'Only who holds a delivery may say what became of it: here anyone may who once held it.',
    edits: [
      {
        file: 'src/store/sqlite/deliveries.ts',
        before: 'if (delivery.fence !== unit.fence || delivery.lane !== unit.lane) return null;',
        after: 'if (delivery.lane !== unit.lane) return null;',
      },
    ],
    traps: [sqlite('settle > refuses another fence and another lane')],
  },
  {
    name: 'postgres-settle-without-fence',
    breaks: 'Only who holds a delivery may say what became of it, over PostgreSQL too.',
    edits: [
      {
        file: 'src/store/postgres/changes.ts',
        before: 'if (delivery.row.fence !== unit.fence || delivery.row.lane !== unit.lane) return null;',
        after: 'if (delivery.row.lane !== unit.lane) return null;',
      },
    ],
    traps: [postgres('settle > refuses another fence and another lane')],
  },
  {
    name: 'stale-begin',
    breaks: 'An attempt begins under a lease that holds: here under one that has ended.',
    edits: [
      {
        file: 'src/store/sqlite/settle.ts',
        before: "    if (!books.leases.holds(unit, at)) return 'refused';\n",
        after: '',
      },
    ],
    traps: [sqlite('claim, begin, release > begins a unit only under the fence')],
  },
  {
    name: 'dot-under-a-lost-lease',
    breaks: 'Under a lease that is trusted no more no final dot is sent: another node may have the lane.',
    edits: [
      {
        file: 'src/engine/attempt.ts',
        before: 'begun === true && deps.clock.mono() < lane.trustedUntil && !fuse.aborted;',
        after: 'begun === true;',
      },
    ],
    traps: [
      {
        file: 'test/simulation/cluster-faults.test.ts',
        test: 'what is in the middle of DATA when a node is cut off',
      },
    ],
  },
  {
    name: 'lease-granted-too-long',
    breaks:
      'Mail of a node that dies waits for another no longer than a lease: here it is granted for half a day.',
    edits: [
      {
        file: 'src/engine/leases.ts',
        before: 'limit, now + LANE_LEASE_MS, { node, now }, except);',
        after: 'limit, now + 1_000 * LANE_LEASE_MS, { node, now }, except);',
      },
    ],
    traps: [HISTORY],
  },
  {
    name: 'lease-forgotten',
    breaks: 'What a dead node had in hand comes back: here it is in processing for ever.',
    edits: [
      {
        file: 'src/store/sqlite/sweep.ts',
        before: 'if (!books.leases.isLive({ lane, fence }, now)) {',
        after: 'if (now < 0) {',
      },
    ],
    traps: [sqlite('reclaim > takes back what was claimed under a lease that has ended'), HISTORY],
  },
  {
    name: 'postgres-lease-forgotten',
    breaks: 'What a dead node had in hand comes back, over PostgreSQL too.',
    edits: [
      {
        file: 'src/store/postgres/sweep.ts',
        before: 'const lost = suspects.filter((lease) => !lanes.isLive(lease, at.now));',
        after: 'const lost = suspects.filter(() => at.now < 0);',
      },
    ],
    traps: [postgres('reclaim > takes back what was claimed under a lease that has ended')],
  },
  {
    name: 'late-holder-not-voided',
    breaks: 'A lease whose work was taken back is over: here its holder, alive and late, goes on under it.',
    edits: [
      {
        file: 'src/store/sqlite/sweep.ts',
        before: '        books.leases.void({ lane, fence });\n',
        after: '',
      },
    ],
    traps: [sqlite('reclaim > a lease whose deliveries were taken back cannot be renewed')],
  },
  {
    name: 'double-claim',
    breaks: 'A lane is one node’s: here it is granted to whoever asks.',
    edits: [
      {
        file: 'src/store/sqlite/leases.ts',
        before: '    if ((this.#find(lane)?.[2] ?? 0) > at.now) return null;\n',
        after: '',
      },
    ],
    traps: [sqlite('lanes > grants a lane once, however many ask'), HISTORY],
  },
  {
    name: 'postgres-double-claim',
    breaks: 'A delivery is claimed once: here messages are not locked while they are claimed.',
    edits: [
      {
        file: 'src/store/postgres/ledger.ts',
        before: ' SKIP LOCKED`;',
        after: "`.replace('FOR UPDATE', '');",
      },
      {
        file: 'src/store/postgres/claim.ts',
        before: "    'UPDATE',",
        after: "    'SHARE',",
      },
    ],
    traps: [postgres('never gives a delivery twice, however many claim at once')],
  },
  {
    name: 'claims-without-a-lease',
    breaks: 'A node claims from lanes it holds: here from any, under any fence.',
    edits: [
      {
        file: 'src/store/sqlite/claim.ts',
        before: '    if (!books.leases.holds(request, at)) return { units: [], nextDueAt: null };\n',
        after: '',
      },
    ],
    traps: [
      sqlite('claim, begin, release > gives nothing to a stale fence, a foreign node or an ended lease'),
    ],
  },
  {
    name: 'limit-taken-whole-by-each-node',
    breaks: 'What a relay allows at once is divided over the nodes: here each takes all of it.',
    edits: [
      {
        file: 'src/engine/throttle.ts',
        before: 'return this.mostOf(this.#share());',
        after: 'return this.mostOf(WHOLE);',
      },
    ],
    traps: [history(10)],
  },
  {
    name: 'lease-outlives-the-databases',
    breaks:
      'The log knows no lease that the database has ended: here one that was shortened, as clocks were set.',
    edits: [
      {
        file: 'src/store/logged/hot.ts',
        before: 'if (longestLeaseMs !== undefined) hot.shorten(at.now + longestLeaseMs);',
        after: 'if (longestLeaseMs === 0) hot.shorten(at.now);',
      },
    ],
    traps: [
      {
        file: 'src/store/logged/claimed.test.ts',
        test: 'its lease is as short as the database has it, after clocks that were set back and forward',
      },
    ],
  },
  {
    name: 'returned-lease-revived',
    breaks:
      'A lease that was given back while it was renewed is held by nobody: here the renewal is answered last.',
    edits: [
      {
        file: 'src/store/logged/hot.ts',
        before: 'const renewed = ended === hot.ended ? leases.filter((lease) => !isGone(lease)) : [];',
        after: 'const renewed = leases.filter((lease) => !isGone(lease) && ended >= 0);',
      },
    ],
    traps: [
      {
        file: 'src/store/logged/never-wrong.test.ts',
        test: 'a lease that is given back while it is renewed is not held once that is answered',
      },
    ],
  },
  {
    name: 'written-behind-again-for-ever',
    breaks: 'What the database has is not sent again: here what was sent behind a question that failed.',
    edits: [
      {
        file: 'src/store/logged/written-behind.ts',
        before: 'if (era !== this.#era) return this.#writtenAfterAll(end);',
        after: 'if (era !== this.#era) return;',
      },
    ],
    traps: [
      {
        file: 'src/store/logged/written-behind.test.ts',
        test: 'once, though what was asked before it has failed',
      },
    ],
  },
];
