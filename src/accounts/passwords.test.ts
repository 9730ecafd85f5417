import { expect, test } from 'vitest';
import { seededRandom } from '../lib/random.ts';
import { Passwords, PasswordsBusy, passwordFault, Turnstile } from './passwords.ts';

const CHEAP = { memoryKib: 64, passes: 1, lanes: 1 };

/** Made by the reference implementation of argon2, as others do: another cost and another length of salt than ours. */
const FOREIGN = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';

test('a password is checked by argon2id at the stated cost, with a salt of its own', async () => {
  const passwords = new Passwords(seededRandom(1));
  const [one, other] = await Promise.all([passwords.hash('correct horse'), passwords.hash('correct horse')]);
  expect(one).toMatch(/^\$argon2id\$v=19\$m=32768,t=3,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(one).not.toBe(other);
  expect(await passwords.verify('correct horse', one)).toBe(true);
  expect(await passwords.verify('correct horsf', one)).toBe(false);
});

test('a hash by the reference implementation is read as it is', async () => {
  const passwords = new Passwords(seededRandom(1), CHEAP);
  expect(await passwords.verify('password', FOREIGN)).toBe(true);
  expect(await passwords.verify('Password', FOREIGN)).toBe(false);
});

test('a name without a password takes a hash all the same, and is refused', async () => {
  const passwords = new Passwords(seededRandom(1), CHEAP);
  expect(await passwords.verify('anything at all', null)).toBe(false);
});

test('what is no hash of ours, or one that would take all the memory, lets nobody in', async () => {
  const passwords = new Passwords(seededRandom(1), CHEAP);
  for (const stored of [
    '',
    'password',
    '$argon2i$v=19$m=64,t=1,p=1$c29tZXNhbHQ$AAAAAAAAAAA',
    FOREIGN.replace('m=65536', 'm=99999999'),
  ])
    expect(await passwords.verify('password', stored), stored).toBe(false);
});

test('composed and decomposed characters are one password', async () => {
  const passwords = new Passwords(seededRandom(1), CHEAP);
  expect(
    await passwords.verify('Pa\u0308sse und Fluesse', await passwords.hash('P\u00e4sse und Fluesse')),
  ).toBe(true);
});

test('two are worked out at once, so many wait, and one more is told to come back', async () => {
  const passwords = new Passwords(seededRandom(1), CHEAP);
  const asked = Array.from({ length: 67 }, (_, i) =>
    passwords.hash('correct horse', `192.0.2.${i}`).catch((error: unknown) => error),
  );
  const answers = await Promise.all(asked);
  expect(answers.filter((answer) => answer instanceof PasswordsBusy)).toHaveLength(1);
  expect(await passwords.hash('there is room again')).toContain('$argon2id$');
});

test.each([
  ['eleven char', 'must have at least 12 characters'],
  ['twelve chars', null],
  ['пароль-длина', null],
  ['aaaaaaaaaaaaaaaa', 'must have at least 4 different characters'],
  ['with a\nnewline', 'must have no control characters'],
  ['ann.of.accounts', 'must not be the name itself'],
  ['x'.repeat(1025), 'may have at most 1024 characters'],
])('the password %j: %s', (password, fault) => {
  expect(passwordFault(password, 'ann.of.accounts')).toBe(fault);
});

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
