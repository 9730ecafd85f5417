/** Bugs by which people would be woken for nothing, or not at all. */
import type { Mutant } from './mutant.ts';

export const ALERTING: readonly Mutant[] = [
  {
    name: 'alert-told-twice',
    breaks: 'A channel hears of an alert once that it fired.',
    edits: [
      {
        file: 'src/domain/alert.ts',
        before: 'hearsOf(one, alert) && !isTold(alert, one));',
        after: 'hearsOf(one, alert));',
      },
      {
        file: 'src/domain/alert.ts',
        before:
          'const others = alert.notices.filter(({ channel }) => !listeners.some(({ id }) => id === channel));',
        after: "const others = alert.notices.filter(({ state }) => state !== 'pending');",
      },
    ],
    traps: [
      { file: 'src/domain/alert.test.ts', test: 'a channel hears of each alert at most once' },
      { file: 'src/alerts/watch.test.ts', test: 'an alert fires, is told, is over, is told again' },
    ],
  },
  {
    name: 'alert-never-over',
    breaks: 'Who heard that something is wrong hears that it is well again.',
    edits: [
      {
        file: 'src/domain/alert.ts',
        before: 'const clearSince = alert.clearSince ?? now;',
        after: 'const clearSince = now;',
      },
    ],
    traps: [
      { file: 'src/domain/alert.test.ts', test: 'a condition fires once it has held for long enough' },
      { file: 'src/alerts/watch.test.ts', test: 'an alert fires, is told, is over, is told again' },
    ],
  },
  {
    name: 'alert-over-while-nobody-can-see',
    breaks: 'What cannot be measured is not well again.',
    edits: [
      {
        file: 'src/domain/alert.ts',
        before: 'return isUnseen(alert) ? unseen(alert, now) : cleared(alert, now);',
        after: 'return isUnseen(alert) ? cleared(alert, now) : cleared(alert, now);',
      },
    ],
    traps: [{ file: 'src/domain/alert.test.ts', test: 'what is not known any more neither fires nor ends' }],
  },
  {
    name: 'alert-fires-at-once',
    breaks: 'What lasts for a moment wakes nobody.',
    edits: [
      {
        file: 'src/domain/alert.ts',
        before: 'now - alert.since >= rule.forSeconds * SECOND_MS;',
        after: 'now - alert.since >= 0;',
      },
    ],
    traps: [{ file: 'src/domain/alert.test.ts', test: 'a condition fires once it has held for long enough' }],
  },
  {
    name: 'alert-by-the-ill-relay',
    breaks: 'Mail that says that a relay fails goes by another.',
    edits: [
      {
        file: 'src/alerts/mail.ts',
        before: 'name !== ill && !isDisabled',
        after: '!isDisabled',
      },
    ],
    traps: [
      { file: 'src/alerts/telling.test.ts', test: 'mail goes by the chosen relay, unless it is the ill one' },
    ],
  },
  {
    name: 'alert-shows-its-secret',
    breaks: 'Why a channel was not told never says its secret.',
    edits: [
      {
        file: 'src/alerts/telling.ts',
        before: 'return partsOf(secret).reduce((shown, part) => shown.replaceAll(part, name), text);',
        after: 'return partsOf(name).reduce((shown, part) => shown.replaceAll(part, name), text);',
      },
    ],
    traps: [
      {
        file: 'src/alerts/telling.test.ts',
        test: 'why a channel was not told says the answer, and never the secret',
      },
    ],
  },
  {
    name: 'alert-taken-for-another-nodes',
    breaks: 'What a node told while the database was away it does not tell again, whatever its clock did.',
    edits: [
      {
        file: 'src/alerts/watch.ts',
        before: 'this.#book = readAgain(this.#book, found, clock.wall());',
        after:
          'this.#book = readAgain(this.#book, found.map((one) => asOfNow(one, clock.wall())), clock.wall());',
      },
      {
        file: 'src/alerts/watch.ts',
        before: 'alerts: [...others.map((alert) => asOfNow(alert, now)), ...own]',
        after: 'alerts: [...others, ...own]',
      },
    ],
    traps: [
      {
        file: 'src/alerts/watch.test.ts',
        test: 'nor is anything of that told twice which was told while the database was away',
      },
    ],
  },
];
