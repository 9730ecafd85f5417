import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { seededRandom, systemRandom } from '../lib/random.ts';
import { createVault, loadKey, sealedUnder } from './secrets.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waybill-secrets-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const key = new Uint8Array(32).fill(7);

test('what is sealed opens again, for its owner and under its key alone', () => {
  const vault = createVault(key, systemRandom);
  const sealed = vault.seal('pässword', 'out');
  expect(sealed).not.toContain('pässword');
  expect(vault.open(sealed, 'out')).toBe('pässword');
  expect(vault.open(sealed, 'other')).toBeNull();
  const other = createVault(new Uint8Array(32).fill(8), systemRandom);
  expect(other.open(sealed, 'out')).toBeNull();
  expect([sealedUnder(sealed), sealedUnder(sealed) === other.keyId]).toEqual([vault.keyId, false]);
  expect(vault.seal('pässword', 'out')).not.toBe(sealed);
});

test('derived keys differ by purpose and by key', () => {
  const vault = createVault(
    Uint8Array.from({ length: 32 }, (_, place) => place),
    seededRandom(1),
  );
  // Computed with Python's hmac and hashlib, as RFC 5869 §2 says.
  expect(Buffer.from(vault.derive('waybill verp')).toString('hex')).toBe(
    '4b0f71ad870a98969976f9eb6cbb61a3ecc7f7e144575f56f2ec048a20770a87',
  );
  expect(vault.derive('waybill verp')).not.toEqual(vault.derive('waybill'));
  expect(vault.derive('waybill verp')).not.toEqual(createVault(key, systemRandom).derive('waybill verp'));
});

test('a changed or shortened secret does not open', () => {
  const vault = createVault(key, seededRandom(1));
  const sealed = vault.seal('password', 'out');
  for (let cut = 0; cut < sealed.length; cut++) {
    expect(vault.open(sealed.slice(0, cut), 'out')).toBeNull();
    const changed = sealed[cut] === 'A' ? 'B' : 'A';
    const tampered = sealed.slice(0, cut) + changed + sealed.slice(cut + 1);
    // The last character of base64url may carry bits that stand for nothing.
    if (cut < sealed.length - 1) expect(vault.open(tampered, 'out')).toBeNull();
  }
  expect(sealedUnder('plain')).toBeNull();
});

test('the key is made once, readable by its owner alone', () => {
  const path = join(folder, 'secret.key');
  expect(() => loadKey(path, systemRandom, false)).toThrow('ENOENT');
  const made = loadKey(path, systemRandom, true);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(loadKey(path, systemRandom, true)).toEqual(made);
  expect(readFileSync(path, 'utf8').trim()).toBe(Buffer.from(made).toString('hex'));
  writeFileSync(path, 'garbage');
  expect(() => loadKey(path, systemRandom, true)).toThrow('64 hex digits');
});
