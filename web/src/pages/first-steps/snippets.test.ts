import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { quoted } from '../../quoted.ts';
import { recipesOf, SNIPPETS, type SnippetFacts, shownSnippet } from './snippets.ts';

const RECIPES = recipesOf(readFileSync(join(import.meta.dirname, '../../../../docs/recipes.md'), 'utf8'));

const FACTS: SnippetFacts = {
  apiUrl: 'http://localhost:8025/',
  smtp: { host: 'mail.example.net', port: 2525 },
  secret: 'wb_live_x',
  domain: null,
  selfSigned: false,
};

/** The variables that a command sets, as a shell has them then. */
function exported(command: string): Record<string, string> {
  const lines = command.split('\n').filter((line) => line.startsWith('export '));
  const printed = execFileSync('sh', ['-c', `${lines.join('\n')}\nenv`], { encoding: 'utf8', env: {} });
  return Object.fromEntries(
    printed
      .split('\n')
      .filter((line) => /^(MAIL|SSL|CURL|NODE|REQUESTS)_/.test(line))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
}

test.each(SNIPPETS)('what is shown for $label is the recipe that is tested, letter for letter', (snippet) => {
  const recipe = RECIPES.get(snippet.recipe) ?? '';
  expect(recipe).not.toBe('');
  const shown = shownSnippet(snippet, recipe, FACTS);
  const lines = shown?.command.split('\n').filter((line) => !line.startsWith('export ')) ?? [];
  expect([shown?.code ?? null, lines.join('\n')]).toEqual(
    snippet.file === null ? [null, recipe.trimEnd()] : [recipe, snippet.run],
  );
  const place =
    snippet.over === 'http'
      ? { MAIL_URL: 'http://localhost:8025' }
      : { MAIL_HOST: 'mail.example.net', MAIL_PORT: '2525' };
  expect(exported(shown?.command ?? '')).toEqual({ ...place, MAIL_KEY: 'wb_live_x' });
});

test('the sender is of a domain that the key may send from', () => {
  for (const snippet of SNIPPETS) {
    const recipe = RECIPES.get(snippet.recipe) ?? '';
    const { code, command } = shownSnippet(snippet, recipe, { ...FACTS, domain: 'acme.test' }) ?? {};
    expect(code ?? command).toContain('shop@acme.test');
    expect(code ?? command).not.toContain('shop@example.com');
  }
});

test('nothing that is filled in leaves its place', () => {
  const hostile = `'; touch /tmp/x; '$(id)`;
  for (const snippet of SNIPPETS) {
    const recipe = RECIPES.get(snippet.recipe) ?? '';
    const shown = shownSnippet(snippet, recipe, { ...FACTS, secret: hostile, domain: hostile });
    expect(exported(shown?.command ?? '')['MAIL_KEY']).toBe(hostile);
    expect(shown?.code ?? recipe).toBe(recipe);
  }
});

test('a way whose port is off is not shown', () => {
  const shown = (facts: Partial<SnippetFacts>) =>
    SNIPPETS.filter((one) => shownSnippet(one, '', { ...FACTS, ...facts }) !== null).map(({ over }) => over);
  expect(new Set(shown({ apiUrl: null }))).toEqual(new Set(['smtp']));
  expect(new Set(shown({ smtp: null }))).toEqual(new Set(['http']));
});

test('programs are told of a certificate that is self-signed where they meet it', () => {
  const trusted = (facts: Partial<SnippetFacts>) =>
    SNIPPETS.flatMap((one) => {
      const { command = '' } = shownSnippet(one, '', { ...FACTS, selfSigned: true, ...facts }) ?? {};
      return Object.entries(exported(command)).flatMap(([name, value]) => (value === 'tls.crt' ? name : []));
    });
  expect(trusted({})).toEqual(['SSL_CERT_FILE']);
  expect(trusted({ apiUrl: 'https://localhost:8026' })).toContain('CURL_CA_BUNDLE');
});

test('plain words stay as they are', () => {
  expect(quoted('http://localhost:8025/api')).toBe('http://localhost:8025/api');
  expect(quoted('a b')).toBe("'a b'");
  expect(quoted('')).toBe("''");
});
