// biome-ignore-all lint/suspicious/noTemplateCurlyInString: edits quote the source.
/** Bugs by which what others tell of mail would be lost or believed too much, and mail would go to whom it must not. */
import type { Mutant } from './mutant.ts';
import { logged, postgres, sqlite } from './traps.ts';

export const AFTERMATH: readonly Mutant[] = [
  {
    name: 'hard-bounce-suppresses-nobody',
    breaks: 'An address that does not exist gets no more mail.',
    edits: [
      {
        file: 'src/domain/bounce.ts',
        before: "if (row === undefined || row.suppresses === 'never') return null;",
        after: "if (row === undefined || row.suppresses !== 'after_repeats') return null;",
      },
    ],
    traps: [
      { file: 'src/domain/bounce.test.ts', test: 'what suppresses, and why' },
      sqlite('bounces > of our own attempts > suppress their address in the same transaction'),
    ],
  },
  {
    name: 'soft-bounce-suppresses-at-once',
    breaks: 'A full mailbox is suppressed with the fifth bounce in a row: here with the first.',
    edits: [
      {
        file: 'src/domain/bounce.ts',
        before: "if (row.suppresses === 'after_repeats' && softBounces < limit) return null;",
        after: "if (row.suppresses === 'after_repeats' && softBounces < 1) return null;",
      },
    ],
    traps: [
      { file: 'src/domain/bounce.test.ts', test: 'what suppresses, and why' },
      sqlite('bounces > that are soft > suppress with the fifth in a row'),
    ],
  },
  {
    name: 'delivery-between-soft-bounces-forgotten',
    breaks: 'Soft bounces count in a row: here a delivery between them, which stays, changes nothing.',
    edits: [
      {
        file: 'src/store/plain/suppressing.ts',
        before: 'row !== undefined && (row.deliveredBy === null || row.deliveredBy === messageId);',
        after: 'row !== undefined && messageId !== null;',
      },
    ],
    traps: [sqlite('bounces > that are soft > count for nothing after a delivery that stays')],
  },
  {
    name: 'guarded-domain-suppresses',
    breaks: 'Bounces of a domain whose directory is broken suppress nobody.',
    edits: [
      {
        file: 'src/store/plain/suppressing.ts',
        before: '(HELD_BACK.includes(reason) && rules.guarded.includes(domain))',
        after: 'rules.guarded.includes(`*${domain}`)',
      },
    ],
    traps: [
      sqlite('bounces > suppress nobody of a guarded domain'),
      { file: 'test/simulation/guard.test.ts', test: 'a domain that refuses everybody suppresses nobody' },
    ],
  },
  {
    name: 'guard-never-begins',
    breaks: 'A domain that refuses most of its recipients as unknown is guarded.',
    edits: [
      {
        file: 'src/domain/bounce.ts',
        before: 'hard * 2 > decided;',
        after: 'hard > decided;',
      },
    ],
    traps: [
      { file: 'src/domain/bounce.test.ts', test: 'a domain is guarded by more than 50 hard bounces' },
      {
        file: 'test/simulation/guard.test.ts',
        test: 'a domain that accepts everybody, and then bounces most of it',
      },
    ],
  },
  {
    name: 'guarded-entries-stay',
    breaks: 'What a broken domain had suppressed in its last hour ends within a day: here it stays.',
    edits: [
      {
        file: 'src/store/plain/telling.ts',
        before: '  yield* endSoon(domain, firstId, now);\n',
        after: '  if (firstId === domain) yield* endSoon(domain, firstId, now);\n',
      },
    ],
    traps: [sqlite('bounces > of a domain that is not credible > end soon, those of the last hour')],
  },
  {
    name: 'early-bounce-forgotten',
    breaks: 'A bounce that is faster than the end of its attempt counts: here it is said to be no news.',
    edits: [
      {
        file: 'src/domain/aftermath.ts',
        before: "if (!isFinal(state) && !isLate) return 'too_early';",
        after: 'if (!isFinal(state) && !isLate) return nothing;',
      },
    ],
    traps: [
      sqlite('what is told too early > waits until the attempt is recorded'),
      {
        file: 'test/simulation/early.test.ts',
        test: 'a bounce that comes too early, and names the message by its token',
      },
    ],
  },
  {
    name: 'early-bounce-looked-at-once',
    breaks: 'What came too early waits for the end of the attempt: here it is dropped with the first look.',
    edits: [
      {
        file: 'src/store/plain/telling.ts',
        before: "    if (told.verdict !== 'matched' && !isLate) continue;\n",
        after: '',
      },
    ],
    traps: [sqlite('what is told too early > waits until the attempt is recorded')],
  },
  {
    name: 'told-twice-counted-twice',
    breaks: 'What comes again under one id of its source counts once.',
    edits: [
      {
        file: 'src/store/plain/telling.ts',
        before: '  return isNew === 0;\n',
        after: '  return isNew < 0;\n',
      },
    ],
    traps: [sqlite('tell > count what comes under one id of its source once')],
  },
  {
    name: 'doubtful-complaint-suppresses',
    breaks: 'Who complained nobody knows suppresses nobody: here the one that was named first.',
    edits: [
      {
        file: 'src/domain/aftermath.ts',
        before: '(feedback.oneOfSeveral === true ? null : cause)',
        after: '(feedback.bounce === null ? null : cause)',
      },
    ],
    traps: [sqlite('tell > mean nobody in particular where one of several complained')],
  },
  {
    name: 'told-of-mail-of-others',
    breaks: 'Who has a key tells of its own mail alone: here of everybody’s.',
    edits: [
      {
        file: 'src/store/plain/telling.ts',
        before: 'const about = yield* findMail(feedback, onlyOfKey);',
        after: 'const about = yield* findMail(feedback, undefined);',
      },
    ],
    traps: [sqlite('feedback > of a key leads to its own messages only')],
  },
  {
    name: 'token-of-another-believed',
    breaks: 'A token that another installation made, or anybody made up, names nothing.',
    edits: [
      {
        file: 'src/lib/recipient-token.ts',
        before:
          'return timingSafeEqual(macOf(signed), bytes.subarray(SIGNED_BYTES)) ? subjectOf(signed) : null;',
        after: 'return subjectOf(signed);',
      },
    ],
    traps: [
      { file: 'src/lib/recipient-token.test.ts', test: 'a token with a bit changed, or for another purpose' },
      {
        file: 'test/protocol/smtp-listener/bounces-probe.test.ts',
        test: 'another installation does not know the answer',
      },
    ],
  },
  {
    name: 'return-path-unsubscribes',
    breaks: 'A return path is no link to unsubscribe: here both have one key.',
    edits: [
      {
        file: 'src/lib/recipient-token.ts',
        before: "info: 'waybill unsubscribe'",
        after: "info: 'waybill verp'",
      },
    ],
    traps: [
      { file: 'src/lib/recipient-token.test.ts', test: 'a token with a bit changed, or for another purpose' },
    ],
  },
  {
    name: 'opened-link-unsubscribes',
    breaks: 'Scanners open links: that unsubscribes nobody, and a post alone does.',
    edits: [
      {
        file: 'src/ingest/http/unsubscribe.ts',
        before: '  const page = found === null ? unknownPage() : askingPage(found);\n',
        after: `  const page = found === null ? unknownPage() : askingPage(found);
  if (found !== null) {
    const message = { ...NO_MESSAGE, token: found.token };
    const opened = { kind: 'unsubscribe', source: 'one_click', message, recipient: null, bounce: NO_FACTS, at: null } as const;
    const items = [{ feedback: opened, onceId: null }];
    await deps.desk.tell({ source: 'one_click', items, evidence: null, mayBeEarly: false });
  }
`,
      },
    ],
    traps: [
      { file: 'test/protocol/http/unsubscribe.test.ts', test: 'shows a page that asks, and changes nothing' },
    ],
  },
  {
    name: 'test-mail-suppresses',
    breaks: 'What a test key sends makes entries for that key alone.',
    edits: [
      {
        file: 'src/domain/suppression.ts',
        before: '  if (test) return key;\n',
        after: '',
      },
    ],
    traps: [
      { file: 'src/domain/suppression.test.ts', test: 'whose an entry is that makes itself' },
      sqlite('bounces > of test mail suppress for its key alone'),
    ],
  },
  {
    name: 'complaint-scope-of-bounces',
    breaks: 'A complaint stops the mail that its own setting says: here that of the setting for bounces.',
    edits: [
      {
        file: 'src/store/plain/suppressing.ts',
        before: "return reason === 'complaint' || reason === 'unsubscribe' ? reason : 'hard_bounce';",
        after: "return reason === 'unsubscribe' ? reason : 'hard_bounce';",
      },
    ],
    traps: [sqlite('tell > keep complaints and wishes to unsubscribe once')],
  },
  {
    name: 'entry-stops-other-domains',
    breaks: 'An entry of one domain stops mail from that domain: here from every one.',
    edits: [
      {
        file: 'src/domain/suppression.ts',
        before: '(fromDomain !== null && scope === `domain:${fromDomain}`)',
        after: "(fromDomain !== null && scope.startsWith('domain:'))",
      },
    ],
    traps: [
      { file: 'src/domain/suppression.test.ts', test: 'what stops a message > an entry of its scope' },
      sqlite('the suppression list > on acceptance > stops only mail of the entry’s scope and stream'),
    ],
  },
  {
    name: 'stream-stops-all-mail',
    breaks: 'Who left the newsletter still gets the invoice.',
    edits: [
      {
        file: 'src/domain/suppression.ts',
        before: '(stream === null || stream === asking.stream) && isScopeOf',
        after: 'isScopeOf',
      },
    ],
    traps: [
      { file: 'src/domain/suppression.test.ts', test: 'one with a stream stops that stream' },
      sqlite('the suppression list > on acceptance > stops only mail of the entry’s scope and stream'),
    ],
  },
  {
    name: 'complaint-ignored',
    breaks: 'A sender may ignore the list, but never a complaint.',
    edits: [
      {
        file: 'src/domain/suppression.ts',
        before: "if (asking.ignores && reason !== 'complaint') return false;",
        after: 'if (asking.ignores && reason !== null) return false;',
      },
    ],
    traps: [
      { file: 'src/domain/suppression.test.ts', test: 'ignores all but complaints' },
      sqlite('the suppression list > on acceptance > lets test mail pass all but its key’s entries'),
    ],
  },
  {
    name: 'complaint-removed-unasked',
    breaks: 'An entry because of a complaint goes only if that is confirmed.',
    edits: [
      {
        file: 'src/store/plain/suppressions.ts',
        before: "AND (reason <> 'complaint' OR ${complaints})",
        after: "AND (reason <> 'complaint' OR ${complaints || true})",
      },
    ],
    traps: [sqlite('suppressions > are removed by their ids, complaints only if they are meant')],
  },
  {
    name: 'complaint-weakened',
    breaks: 'The stronger reason stays: here a bounce makes a bounce of a complaint.',
    edits: [
      {
        file: 'src/domain/suppression.ts',
        before: 'const keeps = strength(standing.reason) < strength(added.reason);',
        after: 'const keeps = strength(standing.reason) > strength(added.reason);',
      },
    ],
    traps: [{ file: 'src/domain/suppression.test.ts', test: 'keeps the stronger reason with its source' }],
  },
  {
    name: 'refusal-of-a-star-suppresses-all',
    breaks: 'What bounces make is never a pattern: here a refusal of `*@example.org` suppresses the domain.',
    edits: [
      {
        file: 'src/domain/suppressed-address.ts',
        before: "const address = local === '*' ? STAR_MAILBOX + domain : ",
        after: "const address = local === '' ? STAR_MAILBOX + domain : ",
      },
    ],
    traps: [{ file: 'src/domain/suppressed-address.test.ts', test: 'no recipient becomes a pattern' }],
  },
  {
    name: 'entry-overlooked-by-the-log',
    breaks: 'Who is on the list gets nothing over the log either: here patterns are not looked for.',
    edits: [
      {
        file: 'src/store/logged/filter.ts',
        before: "    this.#hasPatterns ||= address.startsWith('*@');\n",
        after: '',
      },
    ],
    traps: [
      { file: 'src/store/logged/filter.test.ts', test: 'never clears a recipient that an entry stops' },
    ],
  },
  {
    name: 'entry-overlooked-on-the-short-way',
    breaks: 'What the log alone knows is stopped, too, by an entry that comes before its attempt.',
    edits: [
      {
        file: 'src/store/logged/filter.ts',
        before: 'clearAt === this.#changes || !this.mayStop(address)',
        after: 'clearAt !== this.#changes || !this.mayStop(address)',
      },
    ],
    traps: [logged('the suppression list > before an attempt > stops what took the short way')],
  },
  {
    name: 'entry-overlooked-before-an-attempt',
    breaks: 'What waits when an entry comes is stopped before its attempt.',
    edits: [
      {
        file: 'src/store/sqlite/settle.ts',
        before:
          'const stopped = looks ? books.stopping.ofUnit(unit.messageId, unit.indexes, at.now) : NOBODY;',
        after: 'const stopped = looks ? NOBODY : NOBODY;',
      },
    ],
    traps: [sqlite('the suppression list > before an attempt > stops what waited when the entry came')],
  },
  {
    name: 'postgres-entry-overlooked',
    breaks: 'Who is on the list gets nothing, over PostgreSQL too.',
    edits: [
      {
        file: 'src/store/postgres/stopping.ts',
        before: 'if (entry !== null) stopped =',
        after: 'if (entry !== null && entry.stream !== null) stopped =',
      },
    ],
    traps: [postgres('the suppression list > on acceptance > ends those that it stops without an attempt')],
  },
];
