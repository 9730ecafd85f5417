import { describe, expect, it } from 'vitest';
import { scopeOf } from './add-dialog.tsx';
import { formatOf, readText } from './import-dialog.tsx';
import { fromWords, readWanted, scopeWords, withToken } from './words.ts';

const NOTHING = { address: null, domain: null, scope: null, stream: null };

describe('a search of the list', () => {
  it.each([
    ['', NOTHING],
    ['ann@example.org', { ...NOTHING, address: 'ann@example.org' }],
    ['*@*.example.org', { ...NOTHING, address: '*@*.example.org' }],
    ['example.org', { ...NOTHING, domain: 'example.org' }],
    ['@example.org', { ...NOTHING, domain: 'example.org' }],
    ['@', NOTHING],
    // Half typed: what the server says of it is about an address.
    ['ann@', { ...NOTHING, address: 'ann@' }],
    ['scope:global', { ...NOTHING, scope: 'global' }],
    ['SCOPE:key:shop  example.org', { ...NOTHING, scope: 'key:shop', domain: 'example.org' }],
    ['stream:"my news" scope:', { ...NOTHING, stream: 'my news' }],
  ])('%j', (text, wanted) => {
    expect(readWanted(text)).toEqual(wanted);
  });

  it('has each token once', () => {
    expect(withToken('', 'scope', 'global')).toBe('scope:global');
    expect(withToken('example.org scope:global', 'scope', 'key:my "own" shop')).toBe(
      'example.org scope:"key:my own shop"',
    );
    expect(readWanted(withToken('stream:a', 'stream', 'b c')).stream).toBe('b c');
  });
});

it('scopes and sources are told in words', () => {
  expect(scopeWords('global')).toBe('all mail');
  expect(scopeWords('domain:example.com')).toBe('mail from example.com');
  expect(scopeWords('key:a:b')).toBe('mail of the key a:b');
  expect(scopeOf({ whose: 'global', name: 'left over' })).toBe('global');
  expect(scopeOf({ whose: 'key', name: ' shop ' })).toBe('key:shop');
  expect(fromWords('webhook:grid')).toBe('the webhook of grid');
  expect(fromWords('dsn')).toBe('a delivery status notification');
});

it('a file is JSON by its name, or by how it begins', () => {
  expect(formatOf('list.csv', 'address\nann@example.org')).toBe('csv');
  expect(formatOf('list.JSON', 'address')).toBe('json');
  expect(formatOf('list.jsonl', 'address')).toBe('json');
  expect(formatOf('list.txt', ' [{"address": "ann@example.org"}]')).toBe('json');
});

it('a file that is not UTF-8 is refused, and not garbled', async () => {
  expect(await readText(new Blob(['\ufeffaddress\nbjörn@example.org']))).toBe('address\nbjörn@example.org');
  const latin = new Blob([Uint8Array.from(Buffer.from('björn@example.org', 'latin1'))]);
  await expect(readText(latin)).rejects.toThrow(new Error('The file is not UTF-8.'));
});
