import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFile, replaceFile } from './files.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-lasting-'));
  path = join(folder, 'file');
});

afterEach(() => rmSync(folder, { recursive: true }));

test('a file is made once, for its owner alone, and nothing else is left', () => {
  expect(makeFile(path, 'first')).toBe(true);
  expect(makeFile(path, 'second')).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe('first');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['file']);
});

test('a file is replaced, whatever a crash has left of an earlier try', () => {
  writeFileSync(`${path}.new`, 'half of what was to be written then, and longer');
  replaceFile(path, 'first');
  replaceFile(path, 'second');
  expect(readFileSync(path, 'utf8')).toBe('second');
  expect(readdirSync(folder)).toEqual(['file']);
});

test('what cannot be written is said, and what is there stays', () => {
  expect(() => makeFile(join(folder, 'nowhere', 'file'), 'text')).toThrow('ENOENT');
  expect(readdirSync(folder)).toEqual([]);
});
