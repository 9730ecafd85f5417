// biome-ignore-all lint/suspicious/noTemplateCurlyInString: edits quote the source.
/** Bugs of what runs for years: the log, encryption, configuration as code, retention, counters. */
import type { Mutant } from './mutant.ts';
import { sqlite } from './traps.ts';

export const RUNNING: readonly Mutant[] = [
  {
    name: 'fact-applied-twice',
    breaks: 'What the log says is written into the tables once, however often it is sent.',
    edits: [
      {
        file: 'src/store/sqlite/finished.ts',
        before: 'if (from?.segment !== segment || from?.offset !== offset)',
        after: 'if (from?.segment !== segment)',
      },
    ],
    traps: [
      {
        file: 'src/store/sqlite/finished.test.ts',
        test: 'from an earlier place, as when they come twice',
      },
    ],
  },
  {
    name: 'fact-lost-at-replay',
    breaks: 'What a dead process left in the log is written at the next start: here all but the last of it.',
    edits: [
      {
        file: 'src/store/logged/replay.ts',
        before: 'await write(waiting, from, log.beginning());',
        after: 'await write(waiting.slice(0, -1), from, log.beginning());',
      },
    ],
    traps: [
      {
        file: 'test/simulation/log-deaths.test.ts',
        test: 'what the log answers, and what it leaves after a death',
      },
    ],
  },
  {
    name: 'contradicted-mail-unmarked',
    breaks:
      'A message of which the log has an attempt that the database does not confirm is marked: it may arrive twice.',
    edits: [
      {
        file: 'src/store/sqlite/finished.ts',
        before: 'SET possible_duplicate = 1 WHERE id = ? AND possible_duplicate = 0',
        after: 'SET possible_duplicate = 0 WHERE id = ? AND possible_duplicate = 1',
      },
    ],
    traps: [
      {
        file: 'src/store/sqlite/finished.test.ts',
        test: 'tells of what was begun under another fence, and its message may arrive twice',
      },
      {
        file: 'src/app/storage.test.ts',
        test: 'the next goes on without it, marks the mail and says so',
      },
    ],
  },
  {
    name: 'fact-lost-when-not-written',
    breaks: 'What could not be written into the tables is sent again.',
    edits: [
      {
        file: 'src/store/logged/written-behind.ts',
        before: '    this.#sent = 0;\n    this.#sentEnd = this.#appliedEnd;\n',
        after: '    this.#sentEnd = this.#appliedEnd;\n',
      },
    ],
    traps: [
      {
        file: 'src/store/logged/written-behind.test.ts',
        test: 'is sent again whole, from where the last that succeeded ended',
      },
    ],
  },
  {
    name: 'queue-overrun-beside-large',
    breaks: 'Large mail that was let in has its room in the queue: here it is forgotten while it is written.',
    edits: [
      {
        file: 'src/store/logged/logged-store.ts',
        before: 'await this.#writes.done();\n      return await this.#counting(wishes, accept);',
        after: 'return await this.#counting(wishes, accept);',
      },
    ],
    traps: [
      {
        file: 'src/store/logged/log-writes.test.ts',
        test: 'what may not fit beside it waits, and is refused',
      },
    ],
  },
  {
    name: 'segment-dropped-before-its-facts',
    breaks: 'A segment of the log stays until the tables have what it says.',
    edits: [
      {
        file: 'src/spool/segments/segment-spool.ts',
        before: '      this.#unapplied.push({ records: [record, ...before], end });\n',
        after: '      this.#ledger.decided(record);\n',
      },
    ],
    traps: [
      {
        file: 'src/spool/segments/fact-log.test.ts',
        test: 'a segment with facts that are not applied is never idle',
      },
    ],
  },
  {
    name: 'accepted-mail-said-not-to-exist',
    breaks: 'Of one message nothing is told as long as the tables lack what the log has.',
    edits: [
      {
        file: 'src/store/logged/written-behind.ts',
        before: "view === 'message' || view === 'attempts' ? after(look) : roughly(look),",
        after: 'view.length === 0 ? after(look) : roughly(look),',
      },
    ],
    traps: [
      {
        file: 'src/store/logged/behind.test.ts',
        test: 'nothing is told of one message, which would be said not to exist',
      },
    ],
  },
  {
    name: 'nonce-used-twice',
    breaks: 'No nonce comes twice under one key: what was encrypted with both could be read.',
    edits: [{ file: 'src/spool/sealing.ts', before: '      this.#next++;\n', after: '' }],
    traps: [
      {
        file: 'src/spool/sealing.test.ts',
        test: 'equal contents never look alike, and no nonce comes twice',
      },
      {
        file: 'src/spool/segments/encrypted.test.ts',
        test: 'a batch that is taken back for want of room has used its nonces',
      },
    ],
  },
  {
    name: 'contents-in-clear',
    breaks: 'Where contents are encrypted, none of them can be read on the disk.',
    edits: [
      {
        file: 'src/spool/segments/segment-spool.ts',
        before: 'const keys = options.keys?.encrypting === true ? options.keys : null;',
        after: 'const keys = options.keys?.encrypting === false ? options.keys : null;',
      },
    ],
    traps: [
      {
        file: 'src/spool/segments/encrypted.test.ts',
        test: 'neither contents nor facts can be read on the disk',
      },
    ],
  },
  {
    name: 'encrypted-record-moved',
    breaks: 'What was encrypted for one place passes for nothing at another.',
    edits: [
      {
        file: 'src/spool/sealing.ts',
        before:
          '  bound.writeBigUInt64BE(BigInt(segment), part.byteLength);\n  bound.writeBigUInt64BE(BigInt(offset), part.byteLength + 8);\n',
        after: '  bound.writeBigUInt64BE(BigInt(segment + offset - segment - offset), part.byteLength);\n',
      },
    ],
    traps: [
      { file: 'src/spool/sealing.test.ts', test: 'another place, another key, a body that was cut' },
      {
        file: 'src/spool/segments/encrypted.test.ts',
        test: 'contents are bound to their segment and their place',
      },
    ],
  },
  {
    name: 'another-plan-applied',
    breaks: 'What is applied is what was shown: here any plan’s hash will do.',
    edits: [
      {
        file: 'src/control/declared/configuring.ts',
        before: 'if (plan.view.hash !== hash) throw',
        after: 'if (plan.view.hash.length !== hash.length) throw',
      },
    ],
    traps: [
      {
        file: 'src/control/declared/standing.test.ts',
        test: 'a rule that names a relay which goes, added meanwhile, is told',
      },
    ],
  },
  {
    name: 'changed-meanwhile-overwritten',
    breaks: 'What somebody else changes while a plan is applied is not undone by it.',
    edits: [
      {
        file: 'src/store/plain/configuring.ts',
        before: 'if (others.length === 0) yield* makeAll(changes);',
        after: 'yield* makeAll(changes);',
      },
    ],
    traps: [
      sqlite('configuring > changes nothing where anything is not as it was'),
      {
        file: 'src/control/declared/standing.test.ts',
        test: 'what somebody else changes while it is applied is told, and nothing of it is stored',
      },
    ],
  },
  {
    name: 'pruned-unasked',
    breaks: 'A plan removes nothing without --prune.',
    edits: [
      {
        file: 'src/control/declared/plan.ts',
        before: 'const differences = all.filter(({ wanted }) => wanted !== null || request.prune === true);',
        after: 'const differences = all.filter(({ wanted }) => wanted !== null || request.prune !== null);',
      },
    ],
    traps: [
      {
        file: 'src/control/declared/sections.test.ts',
        test: 'nothing goes without --prune, and the plan says what stays',
      },
    ],
  },
  {
    name: 'administrators-locked-out',
    breaks: 'A plan that would leave nobody to administer is refused.',
    edits: [
      {
        file: 'src/control/declared/plan.ts',
        before: "  if (locked !== null) fault('keys', locked);\n",
        after: '',
      },
    ],
    traps: [
      {
        file: 'src/control/declared/standing.test.ts',
        test: 'one of them stays: a key, or a user of the dashboard',
      },
    ],
  },
  {
    name: 'secret-exported',
    breaks: 'An export names the files of secrets, and has none of them.',
    edits: [
      {
        file: 'src/control/declared/relays.ts',
        before: 'Object.keys(secrets).map((field) => [`${field}_file`, secretFile(',
        after: 'Object.keys(secrets).map((field) => [`${field}_file`, secrets[field] ?? secretFile(',
      },
    ],
    traps: [
      {
        file: 'src/control/declared/round-trip.test.ts',
        test: 'every type of relay makes its way round, with all its fields and secrets',
      },
    ],
  },
  {
    name: 'kept-beyond-the-days-of-its-key',
    breaks: 'Contents go after the days of their key.',
    edits: [
      {
        file: 'src/store/sqlite/purge.ts',
        before: '(days === null ? ageMs : days * DAY_MS)',
        after: '(days === null ? ageMs : Math.max(ageMs, days * DAY_MS))',
      },
    ],
    traps: [sqlite('purge > removes contents by the days of their key')],
  },
  {
    name: 'traffic-counted-twice',
    breaks: 'What was written of the counters is not written again.',
    edits: [
      {
        file: 'src/observe/traffic-counts.ts',
        before: '    this.#kinds = new Map();\n    this.#replies = new Map();\n    return taken;',
        after: '    return taken;',
      },
    ],
    traps: [
      {
        file: 'src/observe/traffic-counts.test.ts',
        test: 'mail that is alike is one count, written after a while',
      },
    ],
  },
  {
    name: 'bounced-counted-twice',
    breaks: 'A recipient that mail was delivered to, and came back from, is one recipient in the rates.',
    edits: [
      {
        file: 'src/domain/traffic.ts',
        before: 'return Math.max(0, delivered - bounced) + failed;',
        after: 'return delivered + failed;',
      },
    ],
    traps: [{ file: 'src/control/rates.test.ts', test: 'tell how many recipients were not told apart' }],
  },
  {
    name: 'traffic-lost-when-not-written',
    breaks: 'Counters that could not be written are written later.',
    edits: [
      {
        file: 'src/observe/traffic-counts.ts',
        before:
          '    for (const { minute, sums, ...kind } of kinds) addTraffic(this.#sumsOf(kind, minute), sums);\n',
        after: '',
      },
    ],
    traps: [
      {
        file: 'src/observe/traffic-counts.test.ts',
        test: 'what cannot be written is written later, with what came meanwhile',
      },
    ],
  },
  {
    name: 'request-log-with-addresses',
    breaks: 'The log of requests has the paths, and nobody’s address in them.',
    edits: [
      {
        file: 'src/ingest/http/request-log.ts',
        before: 'path: match === null ? shownPath(exchange.path) : shownMatch(match.pattern, match.params),',
        after: 'path: match === null ? shownPath(exchange.path) : exchange.path,',
      },
    ],
    traps: [{ file: 'test/protocol/http/request-log.test.ts', test: 'has no query, and no address' }],
  },
  {
    name: 'nursery-without-limit',
    breaks: 'A thread has the memory that it was given: here the command line raises it.',
    edits: [
      {
        file: 'src/lib/thread.ts',
        before: "  setFlagsFromString('--max-semi-space-size=0');\n",
        after: '',
      },
    ],
    traps: [{ file: 'src/lib/thread.test.ts', test: 'a thread has the nursery that it was given' }],
  },
];
