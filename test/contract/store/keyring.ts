import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiKey } from '../../../src/domain/key.ts';
import type { ChangeableKey } from '../../../src/store/keyring.ts';
import { HOUR, type OpenSubject, type Subject, T0 } from './fixtures.ts';

function key(id: string, rest: Partial<ApiKey> = {}): ApiKey {
  return {
    ...{ id, name: id, mode: 'live', prefix: 'wb_live_abc', scopes: ['messages:send'], createdAt: T0 },
    ...{ lastUsedAt: null, expiresAt: null, revokedAt: null, rateLimit: null, cidrs: [], senderDomains: [] },
    contentDays: null,
    ...rest,
  };
}

/** What the keyring promises of keys that change. */
export function keyringContract(open: OpenSubject): void {
  describe('changing keys', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
      await subject.keyring.create(key('shop'), 'hash of shop');
      await subject.keyring.create(key('other'), 'hash of other');
    });
    afterEach(() => subject.close());

    it('writes what may change and leaves the rest, across a restart', async () => {
      const changed = {
        ...{ name: 'store', scopes: ['messages:read' as const], rateLimit: 0, expiresAt: T0 + HOUR },
        ...{ cidrs: ['192.0.2.0/24'], senderDomains: ['shop.example'] },
        contentDays: 3,
      } satisfies ChangeableKey;
      expect(await subject.keyring.update({ id: 'shop', ...changed })).toBe('updated');
      subject = await subject.reopen();
      expect(await subject.keyring.findByHash('hash of shop', T0)).toEqual(key('shop', changed));
      expect(await subject.keyring.findByHash('hash of other', T0)).toEqual(key('other'));
    });

    it('gives a key no name that another live one has', async () => {
      expect(await subject.keyring.update(key('shop', { name: 'other', rateLimit: 7 }))).toBe('taken');
      expect(await subject.keyring.findByHash('hash of shop', T0)).toEqual(key('shop'));
      await subject.keyring.revoke('other', T0);
      expect(await subject.keyring.update(key('shop', { name: 'other' }))).toBe('updated');
    });

    it('changes neither a key that is revoked nor one that never was', async () => {
      await subject.keyring.revoke('shop', T0);
      expect(await subject.keyring.update(key('shop', { rateLimit: 7 }))).toBe('gone');
      expect(await subject.keyring.update(key('nobody'))).toBe('gone');
      expect((await subject.keyring.findByHash('hash of shop', T0))?.rateLimit).toBeNull();
    });
  });
}
