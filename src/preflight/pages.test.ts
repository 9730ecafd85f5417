import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PREFLIGHT_DOC, preflightDoc } from '../../tools/preflight-doc.ts';
import { UNCHECKED } from './preflighter.ts';
import { RULES } from './rules.ts';

const CODES = [...RULES, UNCHECKED].map(({ code }) => code);
const FOLDER = new URL('.', PREFLIGHT_DOC);

test('every code has its page, and every page its code', () => {
  expect(new Set(CODES).size).toBe(CODES.length);
  const pages = readdirSync(FOLDER).filter((name) => name !== 'README.md');
  expect(pages.toSorted()).toEqual(CODES.map((code) => `${code}.md`).toSorted());
});

test.each(CODES)('the page of %s says why, by what evidence, and what cures it', (code) => {
  const page = readFileSync(new URL(`${code}.md`, FOLDER), 'utf8');
  expect(page.match(/^#+ .*$/gm)).toEqual([`# ${code}`, '## Why', '## Evidence', '## Cure']);
  for (const section of page.split(/^## .*$/m).slice(1)) expect(section.trim().length).toBeGreaterThan(20);
});

test('the index is made of the table of rules', () => {
  expect(readFileSync(PREFLIGHT_DOC, 'utf8'), 'run: node tools/preflight-doc.ts').toBe(preflightDoc());
});
