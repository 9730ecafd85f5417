import { afterEach, describe, expect, it, vi } from 'vitest';
import { call } from './api.ts';
import { connectionFound, connectionLost, steadily, watchConnection } from './connection.ts';

afterEach(() => {
  connectionFound();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('a call', () => {
  /** Whether a call that is answered so says that the connection is back, after it was lost. */
  async function findsWith(status: number, type: string): Promise<boolean> {
    vi.stubGlobal('document', { hidden: true });
    vi.stubGlobal('fetch', async () => new Response('{}', { status, headers: { 'content-type': type } }));
    let isBack = false;
    const stop = watchConnection(() => {
      isBack = true;
    });
    connectionLost();
    await call('relays', {}).catch(() => {});
    stop();
    return isBack;
  }

  it.each([
    [200, 'application/json', true],
    [404, 'application/problem+json', true],
    [503, 'application/problem+json', true],
    [502, 'text/html', false],
    [503, 'text/plain', false],
    [504, 'text/html', false],
  ])('that is answered %i with %s says: the server is there: %s', async (status, type, isBack) => {
    expect(await findsWith(status, type)).toBe(isBack);
  });
});

describe('steadily', () => {
  /** Fails as often as it says, and counts. */
  function failing(times: number) {
    const code = { tries: 0, load: async () => await Promise.resolve('code') };
    code.load = async () => {
      code.tries++;
      if (code.tries <= times) throw new TypeError('Failed to fetch dynamically imported module');
      return await Promise.resolve('code');
    };
    return code;
  }

  it('waits while the server is away, and then gives what was asked for', async () => {
    const code = failing(3);
    let pauses = 0;
    const pause = async () => {
      pauses++;
      await Promise.resolve();
    };
    expect(await steadily(code.load, async () => await Promise.resolve(true), pause)()).toBe('code');
    expect([code.tries, pauses]).toEqual([4, 3]);
  });

  it('throws what a server that answers does not have', async () => {
    const code = failing(9);
    const pause = async () => await Promise.reject(new Error('waited'));
    const answers = async () => await Promise.resolve(false);
    await expect(steadily(code.load, answers, pause)()).rejects.toThrow('dynamically imported');
    expect(code.tries).toBe(2);
  });
});

describe('while there is no connection', () => {
  afterEach(() => vi.useRealTimers());

  it('asks at once, and one question at a time however long each takes', async () => {
    vi.useFakeTimers();
    vi.stubGlobal('document', { hidden: false });
    const answers: (() => void)[] = [];
    let backs = 0;
    const stop = watchConnection(
      () => backs++,
      async () => await new Promise<void>((resolve) => answers.push(resolve)),
    );
    const later = async (ms: number) => await vi.advanceTimersByTimeAsync(ms);
    connectionLost();
    await later(0);
    expect(answers).toHaveLength(1);
    await later(60_000);
    connectionFound();
    connectionLost();
    await later(60_000);
    expect(answers).toHaveLength(1);
    answers[0]?.();
    await later(1_999);
    expect(answers).toHaveLength(1);
    await later(1);
    expect(answers).toHaveLength(2);
    connectionFound();
    answers[1]?.();
    await later(60_000);
    expect([answers.length, backs]).toEqual([2, 2]);
    // What fails alone is asked for again whenever the server is back: that must not go round without a pause.
    connectionLost();
    await later(0);
    connectionFound();
    answers[2]?.();
    await later(0);
    connectionLost();
    await later(1_999);
    expect(answers).toHaveLength(3);
    await later(1);
    expect(answers).toHaveLength(4);
    answers[3]?.();
    stop();
    await later(60_000);
    expect(answers).toHaveLength(4);
  });

  it('gives up a question that is lost on its way', async () => {
    vi.useFakeTimers();
    vi.stubGlobal('document', { hidden: false });
    // The one of AbortSignal.timeout goes by another clock than the test's.
    const limits: number[] = [];
    const lost = new AbortController();
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((limit) => {
      limits.push(limit);
      return limits.length === 1 ? lost.signal : new AbortController().signal;
    });
    vi.stubGlobal('fetch', (_path: string, init?: RequestInit) => {
      const { promise, reject } = Promise.withResolvers<Response>();
      init?.signal?.addEventListener('abort', () => reject(new Error('given up')));
      return promise;
    });
    const stop = watchConnection(() => {});
    connectionLost();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(limits).toEqual([5_000]);
    lost.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(limits).toEqual([5_000, 5_000]);
    stop();
  });
});
