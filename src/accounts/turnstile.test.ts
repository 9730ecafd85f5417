import { expect, test } from 'vitest';
import { Turnstile } from './turnstile.ts';

test('a source has a share of the line, however many it asks for', async () => {
  const turnstile = new Turnstile(2, 64);
  const answers: (string | null)[] = [];
  const ask = (source: string) =>
    turnstile.enter(source).then((leave) => void answers.push(leave === null ? source : null));
  for (let i = 0; i < 100; i++) void ask('203.0.113.66');
  for (let i = 0; i < 100; i++) void ask(`2001:db8:1:${i}::1`);
  await ask('203.0.113.66');
  // Two are inside, and four of each wait; the network of the second is a /48.
  expect(answers.filter((answer) => answer === '203.0.113.66')).toHaveLength(95);
  expect(answers.filter((answer) => answer?.startsWith('2001:'))).toHaveLength(96);
});

test('sources are served in turn: one that comes late waits for one of each other', async () => {
  const turnstile = new Turnstile(1, 64);
  const served: string[] = [];
  const first = await turnstile.enter('192.0.2.1');
  const waiting = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.2', '192.0.2.3'].map(
    async (source) => {
      const leave = await turnstile.enter(source);
      served.push(source);
      leave?.();
    },
  );
  first?.();
  await Promise.all(waiting);
  expect(served.map((source) => source.at(-1)).join('')).toBe('123121');
  // And the way is free again.
  expect(await turnstile.enter('192.0.2.4')).not.toBeNull();
});

test('the line has an end for all sources together', async () => {
  const turnstile = new Turnstile(1, 3);
  for (let i = 0; i < 4; i++) void turnstile.enter(`192.0.2.${i}`);
  expect(await turnstile.enter('192.0.2.9')).toBeNull();
});
