import { expect, test } from 'vitest';
import { premises } from '../../../test/support/premises.ts';
import { configurationCheck, encryptionCheck, secretKeyCheck } from './configuration.ts';
import { certificateCheck } from './identity.ts';
import type { Machine } from './premises.ts';

/** A machine that has none of the files asked for. */
const BARE: Partial<Machine> = { fileMode: () => null };

test('a configuration file that does not exist is not named as one', async () => {
  const there = premises();
  const [found] = await configurationCheck(there, AbortSignal.any([]));
  expect(found?.found).toBe(`No faults. File: ${there.loaded.configFile}`);
  const [none] = await configurationCheck(premises({ machine: BARE }), AbortSignal.any([]));
  expect(none?.found).toBe('No faults. There is no file.');
});

test('a fault is cured where it was made: not in a file that does not exist', async () => {
  const { loaded } = premises({ file: 'api: { port: x }' });
  const fault = {
    key: 'api.port',
    value: '"x"',
    rule: 'must be a port',
    source: 'environment WAYBILL_API__PORT',
  };
  const inEnvironment = { ...loaded, faults: [fault] };
  const [found] = await configurationCheck(
    premises({ loaded: inEnvironment, machine: BARE }),
    AbortSignal.any([]),
  );
  expect(found?.cure).toContain('change the named variable');
  expect(found?.cure).not.toContain('waybill.yaml');
});

test('a secret key or a certificate that does not exist is told as missing, with no command on it', async () => {
  const named = premises({
    file: 'secrets: { key_file: /run/none.key }\ntls: { cert_file: /run/none.pem, key_file: /run/none.key }',
    machine: BARE,
  });
  const [key] = await secretKeyCheck(named, AbortSignal.any([]));
  expect(key).toMatchObject({ status: 'fail', found: expect.stringContaining('There is no /run/none.key') });
  expect(key?.cure).not.toContain('chmod');
  const [certificate] = await certificateCheck(named, AbortSignal.any([]));
  expect(certificate).toMatchObject({
    status: 'fail',
    found: 'There is no /run/none.pem, which tls.cert_file names.',
  });
  expect(certificate?.cure).not.toContain('openssl');
});

const ELSEWHERE = 'secrets: { key_file: /run/secrets/waybill.key }';
const BESIDE = (dataDir: string) => `secrets: { key_file: ${dataDir}/secret.key }`;
const POSTGRES = 'database: { url: postgres://db.example/mail }';

test.each([
  ['nothing is', false, 0, '', 'ok', 'are not encrypted'],
  [
    'nothing new is',
    false,
    2,
    '',
    'ok',
    '2 of 3 segments are encrypted under the key 00000000000000ab: keep it',
  ],
  ['one segment is', false, 1, '', 'ok', '1 of 3 segments is encrypted'],
  ['the key lies beside it', true, 2, '', 'warn', 'whoever copies that directory'],
  ['the key that was named lies beside it', true, 2, BESIDE(premises().dataDir), 'warn', 'can read it'],
  [
    'the key lies elsewhere',
    true,
    2,
    ELSEWHERE,
    'ok',
    'New mail is encrypted at rest; 2 of 3 segments are encrypted under the key 00000000000000ab',
  ],
  ['it lies in a database elsewhere', true, 2, POSTGRES, 'ok', 'New mail is encrypted at rest'],
])('what is encrypted at rest, where %s', async (_, encrypting, encrypted, file, status, found) => {
  const spool = {
    encryption: async () => ({ encrypting, keyId: '00000000000000ab', segments: 3, encrypted }),
  };
  const findings = await encryptionCheck({ ...premises({ file }), spool }, AbortSignal.any([]));
  expect(findings).toEqual([expect.objectContaining({ status, found: expect.stringContaining(found) })]);
});

test('contents that are not open are not judged', async () => {
  const [found] = await encryptionCheck(premises(), AbortSignal.any([]));
  expect(found).toMatchObject({ status: 'skipped' });
});
