import { expect, test } from 'vitest';
import { AuthExchange } from './auth-exchange.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

test('a mechanism that is not spoken begins nothing', () => {
  expect(AuthExchange.begin('CRAM-MD5')).toBeNull();
  expect(AuthExchange.begin('')).toBeNull();
});

test('an initial response may be all of it', () => {
  expect(AuthExchange.begin(`plain ${base64('as\0me\0pässword')}`)?.step).toEqual({
    kind: 'credentials',
    credentials: { mechanism: 'PLAIN', authorizationId: 'as', username: 'me', password: 'pässword' },
  });
});

test.each(['', '*', '=', 'A', base64('\0me'), base64('a\0b\0c\0')])(
  'the response %j of PLAIN fails',
  (response) => {
    const begun = AuthExchange.begin('PLAIN');
    expect(begun?.step).toEqual({ kind: 'challenge', text: '334 \r\n' });
    expect(begun?.exchange.respond(response)).toMatchObject({ kind: 'failed', reply: { code: 501 } });
  },
);

test('LOGIN asks for two things; either may be empty', () => {
  const exchange = AuthExchange.begin('LOGIN')?.exchange;
  expect(exchange?.respond('')).toMatchObject({ kind: 'challenge' });
  expect(exchange?.respond('')).toMatchObject({
    kind: 'credentials',
    credentials: { username: '', password: '' },
  });
});
