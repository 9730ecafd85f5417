/** What docs/relays.md and docs/configuration.md show is what the tables of fields and settings take. */
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { formatFault } from './fault.ts';
import { RELAY_FIELDS } from './relay-fields.ts';
import { resolve } from './resolve.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ACCOUNT = JSON.stringify({
  type: 'service_account',
  client_email: 'a@b.example',
  private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
});

/** What the examples leave to the rest of a configuration. */
const ELSEWHERE = new Map([
  ['delivery.default_relay', '"inbox"'],
  ['server.hostname', '"mail.example.com"'],
]);

const DOCS = ['relays', 'configuration'].map((name) => ({
  name,
  text: readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8'),
}));

const EXAMPLES = DOCS.flatMap(({ name, text }) =>
  [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, yaml = '']) => [name, yaml] as const),
);

test('there are examples', () => {
  expect(EXAMPLES.length).toBeGreaterThan(5);
});

test.each(EXAMPLES)('an example of docs/%s.md is right: %s', (_, yaml) => {
  const { faults } = resolve({
    environment: {},
    file: { path: 'example', text: yaml },
    stored: { settings: ELSEWHERE, relays: [] },
    readSecret: (path) => (path.endsWith('.json') ? ACCOUNT : 'secret'),
  });
  expect(faults.map(formatFault)).toEqual([]);
});

test('the options that docs/relays.md gives a relay by are those of its fields', () => {
  const known = RELAY_FIELDS.flatMap(({ name, option, secret }) =>
    option === undefined ? [] : [option.flag ?? `--${name.replaceAll('_', '-')}${secret ? '-file' : ''}`],
  );
  const commands = DOCS.flatMap(({ text }) => [
    ...text.matchAll(/^\.?\/?waybill relays (?:add|edit) (?:.*\\\n)*.*$/gm),
  ]).map(([command]) => command);
  expect(commands.length).toBeGreaterThan(5);
  const used = commands.flatMap((command) => [...command.matchAll(/ (--[a-z-]+)/g)].map(([, flag]) => flag));
  for (const flag of new Set(used)) expect([...known, '--type', '--default', '--unset']).toContain(flag);
});
