import { expect, test } from 'vitest';
import { apiKey } from '../../../test/contract/store/fixtures.ts';
import { premises } from '../../../test/support/premises.ts';
import { createVault, type Vault } from '../../config/secrets.ts';
import { seededRandom } from '../../lib/random.ts';
import { openSqlite } from '../../store/sqlite/open.ts';
import { newSigning } from '../signing-keys.ts';
import { signingCheck } from './keys.ts';

const OTHER = createVault(new Uint8Array(32).fill(1), seededRandom(1));

/** What is found where keys of these names have SES access keys, sealed so; with none, the key has no access key. */
async function look(keys: Readonly<Record<string, Vault | 'ours' | null>>): Promise<readonly string[]> {
  const given = premises();
  const ours = given.loaded.vault;
  const stores = openSqlite(':memory:');
  try {
    const random = seededRandom(2);
    for (const [name, vault] of Object.entries(keys)) {
      const seals = vault === 'ours' ? ours : vault;
      const signing = seals === null ? null : newSigning(`key_${name}`, seals, random).stored;
      await stores.keyring.create(apiKey(`key_${name}`, { name }), `hash of ${name}`, signing);
    }
    const found = await signingCheck({ ...given, keyring: stores.keyring }, new AbortController().signal);
    return found.map(({ status, found: text }) => `${status}: ${text}`);
  } finally {
    await stores.store.close();
  }
}

test('without any there is nothing to look at', async () => {
  expect(await look({ shop: null })).toEqual(['skipped: No key has one.']);
});

test('those that open are counted, those that do not are named', async () => {
  expect(await look({ shop: 'ours' })).toEqual(['ok: 1 can be opened.']);
  expect(await look({ shop: 'ours', bank: OTHER })).toEqual([
    expect.stringMatching(/^warn: Requests that clients of SES sign are refused for bank: /),
  ]);
});
