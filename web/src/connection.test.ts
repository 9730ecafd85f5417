import { describe, expect, it } from 'vitest';
import { steadily } from './connection.ts';

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
