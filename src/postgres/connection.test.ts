import { expect, it } from 'vitest';
import { type ConnectionOptions, clientConfigOf } from './connection.ts';

/** What is done about TLS: none, or which of chain and name are checked. */
function tlsOf(options: ConnectionOptions): string {
  const { ssl } = clientConfigOf(options);
  if (ssl === false || ssl === undefined) return 'none';
  if (ssl === true) return 'as node-postgres likes';
  const chain = ssl.rejectUnauthorized === false ? 'unchecked' : 'chain';
  return ssl.checkServerIdentity === undefined ? `${chain} and name` : chain;
}

it.each([
  ['postgres://db.example.org/w', 'unchecked'],
  ['postgres://u:p%40@db.example.org:6432/w?sslmode=disable', 'none'],
  ['postgres://db.example.org/w?ssl=false', 'none'],
  ['postgres://db.example.org/w?sslmode=prefer', 'unchecked'],
  ['postgres://db.example.org/w?sslmode=allow', 'unchecked'],
  ['postgres://db.example.org/w?sslmode=no-verify', 'unchecked'],
  ['postgres://db.example.org/w?sslmode=verify-ca', 'chain'],
  ['postgres://db.example.org/w?sslmode=verify-full', 'chain and name'],
  ['postgres://localhost/w', 'none'],
  ['postgres://LOCALHOST:5432/w', 'none'],
  ['postgres://localhost/w?ssl=true', 'unchecked'],
  ['postgres://127.0.0.9/w', 'none'],
  ['postgres://127.example.org/w', 'unchecked'],
  ['postgres://[::1]:5433/w', 'none'],
  ['postgres://[2001:db8::1]/w', 'unchecked'],
  ['postgres://u@/w?host=%2Frun%2Fpostgresql', 'none'],
  ['postgres://u@/w?host=%2Frun%2Fpostgresql&sslmode=require', 'none'],
  ['postgres://%2Frun%2Fpostgresql/w', 'none'],
  ['postgres://localhost/w?host=db.example.org', 'unchecked'],
  ['postgres:///w', 'none'],
])('reads of %s whether it is spoken to by TLS', (url, expected) => {
  expect(tlsOf({ url })).toBe(expected);
});

it('lets the setting go before the address', () => {
  const url = 'postgres://db.example.org/w?sslmode=verify-full';
  expect(tlsOf({ url, tls: 'off' })).toBe('none');
  expect(tlsOf({ url, tls: 'required' })).toBe('unchecked');
  expect(tlsOf({ url: 'postgres://localhost/w', tls: 'verified' })).toBe('chain and name');
});

it('sends nothing that a pooler refuses, and keeps the other parameters of the address', () => {
  const url =
    'postgres://db.example.org/w?sslmode=require&target=%20x&ssl=1&uselibpqcompat=true&options=-ca%3Db';
  const config = clientConfigOf({ url, tls: 'off' });
  expect(config.connectionString).toBe('postgres://db.example.org/w?target=%20x&options=-ca%3Db');
  expect(config).not.toHaveProperty('statement_timeout');
  expect(config).not.toHaveProperty('lock_timeout');
  expect(config).not.toHaveProperty('sslnegotiation');
  const direct = clientConfigOf({ url: 'postgres://db.example.org/w?sslnegotiation=direct' });
  expect(direct.sslnegotiation).toBe('direct');
});

it('says which file cannot be read', () => {
  const open = () => clientConfigOf({ url: 'postgres://h/w', tlsCaFile: '/nowhere/root.crt' });
  expect(open).toThrow(/nowhere/);
  expect(open).toThrow(expect.objectContaining({ code: 'store_unsuitable' }));
});
