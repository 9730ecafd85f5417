import { expect, test } from 'vitest';
import {
  definitionChanges,
  definitionOf,
  draftsOf,
  freeName,
  type RelayForm,
  type RelayFormField,
  secretFields,
  secretsOf,
  wantsSecretAnew,
} from './definition.ts';

const field = (
  name: string,
  kind: RelayFormField['kind'],
  rest: Partial<RelayFormField> = {},
): RelayFormField => ({
  name,
  kind,
  label: name,
  choices: [],
  items: null,
  unit: null,
  binds: false,
  required: false,
  meaning: '',
  defaultValue: null,
  group: 'main',
  ...rest,
});

const FORM: RelayForm = {
  type: 'smtp',
  title: 'SMTP',
  summary: '',
  help: [],
  fields: [
    field('name', 'text', { required: true }),
    field('host', 'text', { required: true, binds: true }),
    field('port', 'integer'),
    field('verify', 'boolean', { binds: true }),
    field('password', 'secret'),
    field('source_ips', 'list', { defaultValue: [], items: 'text' }),
    field('warmup_per_day', 'list', { items: 'integer' }),
    field('max_rate_per_second', 'integer', { defaultValue: 0 }),
  ],
};

test('a definition leaves out what is empty or as by default, and never has the secret', () => {
  const drafts = {
    ...draftsOf(FORM, null),
    name: 'out',
    host: ' smtp.example.net ',
    port: '587',
    password: 'x',
    warmup_per_day: ['50', '100'],
  };
  expect(definitionOf(FORM, drafts)).toEqual({
    definition: { type: 'smtp', name: 'out', host: 'smtp.example.net', port: 587, warmup_per_day: [50, 100] },
    faults: {},
  });
});

test('what is needed and missing, or cannot be read, is told by its field', () => {
  const { faults } = definitionOf(FORM, { ...draftsOf(FORM, null), name: 'out', port: 'x' });
  expect(faults).toEqual({ host: 'This is needed.', port: 'A whole number is needed.' });
});

test('a definition survives its form', () => {
  const definition = { type: 'smtp', name: 'out', host: 'h', verify: false, source_ips: ['10.0.0.1'] };
  expect(definitionOf(FORM, draftsOf(FORM, definition)).definition).toEqual(definition);
});

test('the secret is asked for anew where it would go elsewhere', () => {
  expect(wantsSecretAnew(FORM, { host: 'a', max_concurrency: 1 }, { host: 'a', max_concurrency: 2 })).toBe(
    false,
  );
  expect(wantsSecretAnew(FORM, { host: 'a' }, { host: 'b' })).toBe(true);
  expect(wantsSecretAnew(FORM, { host: 'a' }, { host: 'a', verify: false })).toBe(true);
});

test('changes are told by their fields', () => {
  expect(definitionChanges({ host: 'a', port: 25 }, { host: 'b', port: 25, tls: 'none' })).toEqual([
    { name: 'host', before: 'a', after: 'b' },
    { name: 'tls', before: null, after: 'none' },
  ]);
});

test('secrets have their fields, and what was not filled in is not sent', () => {
  expect(secretFields(FORM).map(({ name }) => name)).toEqual(['password']);
  expect(secretsOf(FORM, { ...draftsOf(FORM, null), password: 's' })).toEqual({ password: 's' });
  expect([secretsOf(FORM, {}), secretsOf(FORM, draftsOf(FORM, null))]).toEqual([null, null]);
});

test('a name is free', () => {
  expect(freeName('smtp', ['out', 'out2'])).toBe('out3');
  expect(freeName('ses', [])).toBe('ses');
});
