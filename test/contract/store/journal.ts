import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JournalQuery, MAX_JOURNAL_EXAMINED, type NewJournalEntry } from '../../../src/store/journal.ts';
import { DAY, type OpenSubject, type Subject, T0 } from './fixtures.ts';

const ALL: JournalQuery = { actor: null, action: null, subject: null, limit: 200, before: null };

function entry(subject: string, rest: Partial<NewJournalEntry> = {}): NewJournalEntry {
  const nobody = { actorKind: 'command', actor: '', sourceAddress: null } as const;
  return { at: T0, ...nobody, action: 'addRelay', subject, before: null, after: null, ...rest };
}

/** What the journal promises. */
export function journalContract(open: OpenSubject): void {
  describe('journal', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const subjects = async (query: Partial<JournalQuery> = {}) =>
      (await subject.journal.entries({ ...ALL, ...query })).entries.map((one) => one.subject);

    it('gives back what was written, newest first, across a restart', async () => {
      const full = entry('out', {
        actorKind: 'user',
        actor: 'ada',
        sourceAddress: '192.0.2.7',
        before: '{"port":25}',
        after: '{"port":587}',
      });
      await subject.journal.record([entry('first'), full]);
      await subject.journal.record([]);
      subject = await subject.reopen();
      const { entries, next } = await subject.journal.entries(ALL);
      const numbers = entries.map(({ number }) => number);
      expect(numbers[0]).toBeGreaterThan(numbers[1] ?? Number.NaN);
      expect(entries).toEqual([
        { number: numbers[0], ...full },
        { number: numbers[1], ...entry('first') },
      ]);
      expect(next).toBeNull();
    });

    it('pages without a gap or a repetition while more is written', async () => {
      await subject.journal.record(Array.from({ length: 5 }, (_, i) => entry(`n${i}`)));
      const first = await subject.journal.entries({ ...ALL, limit: 2 });
      await subject.journal.record([entry('new')]);
      const second = await subject.journal.entries({ ...ALL, limit: 2, before: first.next });
      const third = await subject.journal.entries({ ...ALL, limit: 2, before: second.next });
      const found = [first, second, third].flatMap((page) => page.entries.map((one) => one.subject));
      expect(found).toEqual(['n4', 'n3', 'n2', 'n1', 'n0']);
      expect(third.next).toBeNull();
    });

    it('finds by actor, by action and by a part of the subject, whatever its case', async () => {
      await subject.journal.record([
        entry('Zürich-Out', { actor: 'ada', actorKind: 'user' }),
        entry('zürich-in', { action: 'removeRelay' }),
        entry('bern', { actor: 'ada', actorKind: 'user', action: 'removeRelay' }),
      ]);
      expect(await subjects({ actor: 'ada' })).toEqual(['bern', 'Zürich-Out']);
      expect(await subjects({ actor: '' })).toEqual(['zürich-in']);
      expect(await subjects({ action: 'removeRelay' })).toEqual(['bern', 'zürich-in']);
      expect(await subjects({ subject: 'ZÜRICH' })).toEqual(['zürich-in', 'Zürich-Out']);
      expect(await subjects({ actor: 'ada', action: 'removeRelay', subject: 'zürich' })).toEqual([]);
    });

    it('looks at a bounded number of entries for a page, and goes on from there', async () => {
      await subject.journal.record([entry('wanted')]);
      await subject.journal.record(Array.from({ length: MAX_JOURNAL_EXAMINED }, () => entry('other')));
      const first = await subject.journal.entries({ ...ALL, subject: 'wanted' });
      expect(first.entries).toEqual([]);
      const second = await subject.journal.entries({ ...ALL, subject: 'wanted', before: first.next });
      expect(second).toMatchObject({ entries: [{ subject: 'wanted' }], next: null });
    });

    it('forgets what is old, a bounded number at once, and gives no number twice', async () => {
      const { journal } = subject;
      const days = [0, 1, 2, 3];
      await journal.record(days.map((day) => entry(`day ${day}`, { at: T0 + day * DAY })));
      const [newest] = (await journal.entries(ALL)).entries;
      expect(await journal.forgetEntries(T0, 9)).toBe(0);
      expect(await journal.forgetEntries(T0 + 2 * DAY, 1)).toBe(1);
      expect(await subjects()).toEqual(['day 3', 'day 2', 'day 1']);
      expect(await journal.forgetEntries(T0 + 9 * DAY, 9)).toBe(3);
      expect(await journal.forgetEntries(T0 + 9 * DAY, 9)).toBe(0);
      await journal.record([entry('later')]);
      const [later] = (await journal.entries(ALL)).entries;
      expect(later?.number).toBeGreaterThan(newest?.number ?? Number.NaN);
    });

    it('takes text that a database may not hold', async () => {
      await subject.journal.record([entry('nul\0 and half \ud800')]);
      expect(await subjects()).toHaveLength(1);
    });
  });
}
