import { describe, expect, it } from 'vitest';
import { idsFound, MAX_TICKED } from './all-found.tsx';

const { signal } = new AbortController();

/** A search that finds so many messages, 200 a page. */
function finding(count: number) {
  const asked: (string | null)[] = [];
  const ask = async (before: string | null) => {
    asked.push(before);
    const start = Number(before ?? 0);
    const end = Math.min(count, start + 200);
    const messages = Array.from({ length: end - start }, (_, place) => ({ id: `msg_${start + place}` }));
    return { messages, next: end < count ? String(end) : null };
  };
  return { ask, asked };
}

describe('all that is found', () => {
  it('is gathered from page to page', async () => {
    const { ask, asked } = finding(450);
    const { ids, whole } = await idsFound(ask, '50', signal);
    expect([ids.length, ids[0], ids.at(-1), whole]).toEqual([400, 'msg_50', 'msg_449', true]);
    expect(asked).toEqual(['50', '250']);
  });

  it('ends at a bound, and says so', async () => {
    for (const [count, whole] of [
      [MAX_TICKED, true],
      [MAX_TICKED + 1, false],
      [MAX_TICKED + 200, false],
    ] as const) {
      const found = await idsFound(finding(count).ask, null, signal);
      expect([found.ids.length, found.whole]).toEqual([MAX_TICKED, whole]);
    }
  });

  it('does not look without end where pages bring nothing', async () => {
    let pages = 0;
    const ask = async () => ({ messages: [], next: String(++pages) });
    expect(await idsFound(ask, null, signal)).toEqual({ ids: [], whole: false });
    expect(pages).toBe(100);
  });

  it('stops when nobody waits for it any more', async () => {
    const stop = new AbortController();
    const { ask, asked } = finding(1_000);
    const gathering = idsFound(
      async (before) => {
        const page = await ask(before);
        stop.abort();
        return page;
      },
      null,
      stop.signal,
    );
    await expect(gathering).rejects.toThrow(/abort/i);
    expect(asked).toHaveLength(1);
  });
});
