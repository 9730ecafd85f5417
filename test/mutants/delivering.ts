// biome-ignore-all lint/suspicious/noTemplateCurlyInString: edits quote the source.
/** Bugs by which mail would be sent twice in silence, to nobody, or for ever. */
import type { Mutant } from './mutant.ts';
import { ALERT_HISTORIES, HISTORY, history, postgres, sqlite } from './traps.ts';

export const DELIVERING: readonly Mutant[] = [
  {
    name: 'dot-before-begin',
    breaks: 'The final dot follows the durable mark that the attempt has begun: here it is sent before.',
    edits: [
      {
        file: 'src/transport/smtp/transaction.ts',
        before:
          'this.#asked(this.#job.gate(), (isOpen) => (isOpen ? this.#sendEnd(last) : this.#refuseContent()));',
        after: 'void this.#job.gate();\n    this.#sendEnd(last);',
      },
    ],
    traps: [
      {
        file: 'test/protocol/smtp-out/gate.test.ts',
        test: 'a small message > is taken only after the gate has opened',
      },
    ],
  },
  {
    name: 'ambiguous-end-elsewhere',
    breaks: 'A relay that may have the message keeps it: here another of its group is tried.',
    edits: [
      {
        file: 'src/engine/settle.ts',
        before: "if (outcome.kind !== 'deferred' || transition.state",
        after: "if ((outcome.kind !== 'deferred' && outcome.kind !== 'unknown') || transition.state",
      },
    ],
    traps: [
      { file: 'test/simulation/failover.test.ts', test: 'an ambiguous end never goes to another relay' },
    ],
  },
  {
    name: 'ambiguous-end-rerouted',
    breaks: 'A relay that may have the message keeps it: here a new routing table or a divert moves it.',
    edits: [
      {
        file: 'src/domain/settle.ts',
        before: "return state === 'retrying' && possibleDuplicate;",
        after: "return state === 'queued' && possibleDuplicate;",
      },
    ],
    traps: [
      sqlite('another way > by settle > what may have been sent keeps its relay'),
      { file: 'test/simulation/failover.test.ts', test: 'an ambiguous end never goes to another relay' },
    ],
  },
  {
    name: 'ambiguous-end-unflagged',
    breaks: 'An end that nobody knows is flagged, so that a second copy is never sent in silence.',
    edits: [
      {
        file: 'src/domain/settle.ts',
        before: 'return { ...waitOrEnd(delivery, reply, policy, now, dice), possibleDuplicate: true };',
        after: 'return waitOrEnd(delivery, reply, policy, now, dice);',
      },
    ],
    traps: [HISTORY],
  },
  {
    name: 'lost-after-the-dot-is-deferred',
    breaks:
      'A connection lost after the final dot proves nothing: here it is taken for a proof of not taken.',
    edits: [
      {
        file: 'src/smtp/sender.ts',
        before: "this.#endAll({ kind: this.#dotSent ? 'unknown' : 'deferred', reply: reason }, CLOSE);",
        after: "this.#endAll({ kind: 'deferred', reply: reason }, CLOSE);",
      },
    ],
    traps: [{ file: 'test/protocol/smtp-out/outcomes.test.ts', test: 'after the dot is unknown' }, HISTORY],
  },
  {
    name: 'deferral-flagged',
    breaks:
      'Only an end that nobody knows is flagged: here every deferral is, though the hop said that it took nothing.',
    edits: [
      {
        file: 'src/domain/settle.ts',
        before: 'return { ...base, ...waitOrEnd(delivery, reply, policy, now, dice) };',
        after:
          'return { ...base, ...waitOrEnd(delivery, reply, policy, now, dice), possibleDuplicate: true };',
      },
    ],
    traps: [HISTORY],
  },
  {
    name: 'deferral-rejected',
    breaks: 'Only what was refused for good fails as refused: here one deferral in ten does.',
    edits: [
      {
        file: 'src/domain/settle.ts',
        before: "    case 'deferred':\n",
        after:
          "    case 'deferred':\n      if (dice < 0.1) return { ...base, state: 'failed', outcome: 'rejected' };\n",
      },
    ],
    traps: [HISTORY],
  },
  {
    name: 'deferral-expired-at-once',
    breaks: 'Nothing expires before its time: here one deferral in ten does.',
    edits: [
      {
        file: 'src/domain/settle.ts',
        before: 'if (now >= delivery.expiresAt) return { ...base',
        after: 'if (now >= delivery.expiresAt || dice < 0.1) return { ...base',
      },
    ],
    traps: [HISTORY],
  },
  {
    name: 'retry-left-until-expiry',
    breaks:
      'What was deferred is tried again in time: here one retry in five waits until the message expires.',
    edits: [
      {
        file: 'src/domain/settle.ts',
        before:
          'const due = Math.min(now + retryDelayMs(delivery.attempts + 1, policy, dice), delivery.expiresAt);',
        after:
          'const due = Math.min(now + retryDelayMs(delivery.attempts + 1, policy, dice) * (dice < 0.2 ? 1e6 : 1), delivery.expiresAt);',
      },
    ],
    traps: [HISTORY],
  },
  {
    name: 'recipient-lost-on-partial-accept',
    breaks: 'Who was refused at RCPT has not got the message: here all have, once the message was taken.',
    edits: [
      {
        file: 'src/smtp/sender.ts',
        before: 'for (const index of this.#accepted) this.#outcomes[index] = outcome;',
        after: 'for (const index of this.#asked) this.#outcomes[index] = outcome;',
      },
    ],
    traps: [
      {
        file: 'test/protocol/smtp-out/outcomes.test.ts',
        test: 'each recipient has the outcome of its own RCPT',
      },
      { file: 'test/e2e/messages.test.ts', test: 'one ok, one 450, one 550' },
    ],
  },
  {
    name: 'bounce-dropped',
    breaks: 'Who is owed a report gets it: here it is written and never accepted.',
    edits: [
      {
        file: 'src/store/sqlite/settle.ts',
        before: '    this.#inserter.insertReport(report, at);\n',
        after: '',
      },
    ],
    traps: [sqlite('reports > are accepted when what they report is settled'), HISTORY],
  },
  {
    name: 'postgres-bounce-dropped',
    breaks: 'Who is owed a report gets it, over PostgreSQL too.',
    edits: [
      {
        file: 'src/store/postgres/settle.ts',
        before:
          '  if (report !== null) work.desk.enterReport(report, work.at);\n  work.quotas.giveBack(refund);\n',
        after: '  work.quotas.giveBack(refund);\n',
      },
    ],
    traps: [postgres('reports > are accepted when what they report is settled')],
  },
  {
    name: 'failed-untold',
    breaks: 'Nobody fails without the report that is owed: here it is left out while the disk is full.',
    edits: [
      {
        file: 'src/engine/settle.ts',
        before: 'isUntold ? settlingUntold(job.unit, settling, later) : settling.transitions',
        after: 'settling.transitions',
      },
    ],
    traps: [
      { file: 'test/simulation/reports.test.ts', test: 'nobody fails of whom it would tell' },
      { file: 'test/simulation/reports.test.ts', test: 'leaves who failed waiting' },
    ],
  },
  {
    name: 'bounce-to-the-null-sender',
    breaks: 'Nobody is told of the fate of a message without a sender: no bounce of a bounce.',
    edits: [
      {
        file: 'src/engine/report-policy.ts',
        before: "return reportable && !test && reversePath !== '';",
        after: 'return reportable && !test;',
      },
    ],
    traps: [
      { file: 'src/engine/report-policy.test.ts', test: 'nobody is told of mail without a sender' },
      {
        file: 'test/simulation/reports.test.ts',
        test: 'mail without a sender is never reported on',
      },
    ],
  },
  {
    name: 'dns-failure-taken-for-no-host',
    breaks:
      'While nobody knows the addresses of a host, mail to it waits: here it is rejected as if there were none.',
    edits: [
      {
        file: 'src/dns/hosts.ts',
        before: '  if (failed) return unanswered(failed, `The addresses of ${host} are not known`);\n',
        after: '',
      },
    ],
    traps: [
      {
        file: 'src/dns/hosts.test.ts',
        test: 'a host without addresses is refused, one that nobody knows waits',
      },
      HISTORY,
    ],
  },
  {
    name: 'expiry-ignored',
    breaks: 'What cannot be delivered fails when its time is over: here it is tried for ever.',
    edits: [
      {
        file: 'src/domain/settle.ts',
        before: "  if (now >= delivery.expiresAt) return { ...base, state: 'failed', outcome: 'expired' };\n",
        after: '',
      },
    ],
    traps: [
      { file: 'src/domain/settle.test.ts', test: 'a deferral past the expiry fails as expired' },
      history(10),
    ],
  },
  {
    name: 'waiting-never-expires',
    breaks: 'What waits without a way fails when its time is over.',
    edits: [
      {
        file: 'src/engine/sweep.ts',
        before: 'if (found.length === 0 || this.#stopping.signal.aborted) return;',
        after: 'if (found.length >= 0 || this.#stopping.signal.aborted) return;',
      },
    ],
    traps: [
      {
        file: 'test/simulation/reports.test.ts',
        test: 'what waits too long without a way is reported when it expires',
      },
    ],
  },
  {
    name: 'cancellation-forgotten',
    breaks: 'What was cancelled under way is not tried again.',
    edits: [
      {
        file: 'src/domain/settle.ts',
        before: "if (transition.state !== 'retrying') return transition;",
        after: 'return transition;',
      },
    ],
    traps: [sqlite('settle > cancels instead of waiting again'), HISTORY],
  },
  {
    name: 'backoff-without-dice',
    breaks: 'What was deferred together does not come back together, wave after wave.',
    edits: [
      {
        file: 'src/domain/settle.ts',
        before: '(1 - JITTER + 2 * JITTER * dice)',
        after: '(1 - JITTER + 2 * JITTER * 0.5)',
      },
    ],
    traps: [
      { file: 'src/domain/settle.test.ts', test: 'a deferral waits 30 s, then twice as long each time' },
    ],
  },
  {
    name: 'quota-not-given-back',
    breaks: 'What a relay proved not to have taken is not used up of its quota.',
    edits: [
      {
        file: 'src/store/sqlite/settle.ts',
        before: '    this.#books.quotas.giveBack(refund);\n',
        after: '',
      },
    ],
    traps: [
      sqlite('quotas > are given back with a settlement, once'),
      {
        file: 'test/simulation/pace-quota.test.ts',
        test: 'gives back what was refused, for use on the same day',
      },
    ],
  },
  {
    name: 'disabled-relay-tried',
    breaks: 'A relay that an operator disabled is not tried: here what waits for it is sent all the same.',
    edits: [
      {
        file: 'src/engine/relays.ts',
        before: 'if (found === undefined || found.relay.disabled) return undefined;',
        after: 'if (found === undefined) return undefined;',
      },
    ],
    traps: [history(8)],
  },
  {
    name: 'clock-set-fires-alerts',
    breaks: 'A clock that is set makes no alert fire early: here times are taken as they are.',
    edits: [
      {
        file: 'src/alerts/watch.ts',
        before: 'if (Math.abs(ms) < SET_MS || this.#book === null) return;',
        after: 'if (Math.abs(ms) < Number.POSITIVE_INFINITY || this.#book === null) return;',
      },
    ],
    traps: [ALERT_HISTORIES],
  },
  {
    name: 'alert-fires-of-a-sign',
    breaks: 'An alert fires once its condition has held for the time of its rule: here at the second look.',
    edits: [
      {
        file: 'src/domain/alert.ts',
        before: 'now - alert.since >= rule.forSeconds * SECOND_MS;',
        after: 'now - alert.since >= Math.min(1, rule.forSeconds) * SECOND_MS;',
      },
    ],
    traps: [ALERT_HISTORIES],
  },
  {
    name: 'alert-cools-down-too-long',
    breaks:
      'What has held for long enough is told as soon as the cool-down is over: here after twice that time.',
    edits: [
      {
        file: 'src/domain/alert.ts',
        before: 'now - other.toldAt < coolDownMs,',
        after: 'now - other.toldAt < 2 * coolDownMs,',
      },
    ],
    traps: [ALERT_HISTORIES],
  },
];
