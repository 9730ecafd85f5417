import { expect, test } from 'vitest';
import { atOnce } from '../../../../src/lib/clock.ts';
import { NO_WAY } from '../../../../src/preflight/contract.ts';
import { checkDraft } from '../../../../src/preflight/rules.ts';
import { compileTemplate } from '../../../../src/templates/compile.ts';
import { renderTemplate } from '../../../../src/templates/render.ts';
import { aliasOf, STARTERS } from './starters.ts';

test.each(Object.entries(STARTERS))('what a template begins with is as mail should be: %s', (_, starter) => {
  const { subject, html, sample } = starter;
  const { template, faults } = compileTemplate({ subject, html, text: null });
  const rendered = atOnce(renderTemplate(template, sample));
  expect([faults, rendered.faults, rendered.missing]).toEqual([[], [], []]);
  const { subject: said, html: shown, text } = rendered.texts;
  expect(checkDraft({ from: '', subject: said ?? '', html: shown, text }, NO_WAY)).toEqual([]);
});

test.each([
  ['Sign-in code', 'sign-in-code'],
  ['  Größe & Maß: Übersicht  ', 'gro-e-ma-ubersicht'],
  ['注文', ''],
  ['a'.repeat(100), 'a'.repeat(64)],
  ['v1.2_final', 'v1.2_final'],
])('a name suggests an alias: %s', (name, alias) => {
  expect(aliasOf(name)).toBe(alias);
});
