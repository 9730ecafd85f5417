import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BEGINNING, MAX_UNFINISHED } from '../../../src/store/erasing.ts';
import { HOUR, type OpenSubject, type Subject, T0 } from './fixtures.ts';

/** What the list of erasures promises; what each does is in `erasing.ts`. */
export function erasuresContract(open: OpenSubject): void {
  describe('the list of erasures', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const erasure = {
      id: 'era_1',
      pseudonym: 'ann',
      sealed: 'v1',
      requestedAt: T0,
      finishedAt: null,
      progress: BEGINNING,
    };

    it('keeps each until it is finished, once for each person, and not without a limit', async () => {
      expect(await subject.erasures.addErasure(erasure)).toBe('added');
      expect(await subject.erasures.addErasure({ ...erasure, id: 'era_2' })).toBe('under_way');
      const progress = { ...BEGINNING, step: 'journal', after: '[1]' };
      expect(await subject.erasures.advanceErasure('era_1', BEGINNING, progress)).toBe(true);
      // Another node had read it before.
      expect(await subject.erasures.advanceErasure('era_1', BEGINNING, BEGINNING, T0)).toBe(false);
      subject = await subject.reopen();
      expect(await subject.erasures.nextErasure(T0)).toEqual({ ...erasure, progress });
      expect(await subject.erasures.advanceErasure('era_1', progress, progress, T0 + 1)).toBe(true);
      expect(await subject.erasures.advanceErasure('era_1', progress, BEGINNING)).toBe(false);
      expect(await subject.erasures.erasure('era_1')).toMatchObject({ sealed: null, finishedAt: T0 + 1 });
      expect(await subject.erasures.nextErasure(T0)).toBe(null);
      for (let number = 0; number < MAX_UNFINISHED; number++)
        await subject.erasures.addErasure({ ...erasure, id: `era_x${number}`, pseudonym: `p${number}` });
      expect(await subject.erasures.addErasure({ ...erasure, id: 'era_y' })).toBe('full');
    });

    it('gives one that waits when its time comes, or at once where the clock was set back', async () => {
      const waiting = { ...BEGINNING, notBefore: T0 + HOUR };
      await subject.erasures.addErasure({ ...erasure, progress: waiting });
      const next = async (now: number) => (await subject.erasures.nextErasure(now))?.id ?? null;
      expect(await next(T0 + HOUR - 1)).toBe(null);
      expect(await next(T0 + HOUR)).toBe('era_1');
      // Nothing waits for an hour: the clock was set back.
      expect(await next(T0)).toBe('era_1');
    });
  });
}
