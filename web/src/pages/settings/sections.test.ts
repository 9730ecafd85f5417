import { expect, test } from 'vitest';
import { found, isSeldom, piecesOf, sectionNamed } from './sections.ts';

test('a section is known by the last part of its address', () => {
  expect(sectionNamed('http-api')).toBe('http-api');
  expect(sectionNamed('constructor')).toBeNull();
});

test('what is seldom changed stands aside, unless it was', () => {
  expect(isSeldom({ seldom: true, origin: 'default' })).toBe(true);
  expect(isSeldom({ seldom: true, origin: 'stored' })).toBe(false);
  expect(isSeldom({ seldom: false, origin: 'default' })).toBe(false);
});

test('a search finds all its words, in key or meaning', () => {
  const rows = [
    { key: 'api.rate_limit_per_key', meaning: 'Requests a minute.' },
    { key: 'listener.rate_limit_per_source', meaning: 'Messages a minute.' },
  ];
  expect(found(rows, 'rate limit')).toHaveLength(2);
  expect(found(rows, 'RATE messages')).toEqual([rows[1]]);
  expect(found(rows, ' ')).toHaveLength(2);
  expect(found(rows, 'nothing')).toEqual([]);
});

test('a meaning is told without the marks of documents', () => {
  expect(piecesOf('Needs `api.tls_port`; see [listener.sources](#x).')).toEqual([
    { text: 'Needs ', code: false },
    { text: 'api.tls_port', code: true },
    { text: '; see listener.sources.', code: false },
  ]);
  expect(piecesOf('Its port. 0 takes a free one, null switches it off. null means none.')).toEqual([
    { text: 'Its port. 0 takes a free one, no value switches it off. No value means none.', code: false },
  ]);
});
