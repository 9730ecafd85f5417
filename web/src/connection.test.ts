import { afterEach, describe, expect, it, vi } from 'vitest';
import { call } from './api.ts';
import { connectionFound, connectionLost, steadily, watchConnection } from './connection.ts';

afterEach(() => {
  connectionFound();
  vi.unstubAllGlobals();
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
