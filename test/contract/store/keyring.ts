import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChangeableKey } from '../../../src/store/accounts.ts';
import { apiKey, HOUR, type OpenSubject, type Subject, T0 } from './fixtures.ts';

/** What the keyring promises of keys that change. */
export function keyringContract(open: OpenSubject): void {
  describe('changing keys', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
      await subject.keyring.create(apiKey('shop'), 'hash of shop');
      await subject.keyring.create(apiKey('other'), 'hash of other');
    });
    afterEach(() => subject.close());

    it('writes what may change and leaves the rest, across a restart', async () => {
      const changed = {
        name: 'store',
        scopes: ['messages:read' as const],
        rateLimit: 0,
        expiresAt: T0 + HOUR,
        cidrs: ['192.0.2.0/24'],
        senderDomains: ['shop.example'],
        contentDays: 3,
      } satisfies ChangeableKey;
      expect(await subject.keyring.update({ id: 'shop', ...changed })).toBe('updated');
      subject = await subject.reopen();
      expect(await subject.keyring.findByHash('hash of shop', T0)).toEqual(apiKey('shop', changed));
      expect(await subject.keyring.findByHash('hash of other', T0)).toEqual(apiKey('other'));
    });

    it('gives a key no name that another live one has', async () => {
      expect(await subject.keyring.update(apiKey('shop', { name: 'other', rateLimit: 7 }))).toBe('taken');
      expect(await subject.keyring.findByHash('hash of shop', T0)).toEqual(apiKey('shop'));
      await subject.keyring.revoke('other', T0);
      expect(await subject.keyring.update(apiKey('shop', { name: 'other' }))).toBe('updated');
    });

    it('changes neither a key that is revoked nor one that never was', async () => {
      await subject.keyring.revoke('shop', T0);
      expect(await subject.keyring.update(apiKey('shop', { rateLimit: 7 }))).toBe('gone');
      expect(await subject.keyring.update(apiKey('nobody'))).toBe('gone');
      expect((await subject.keyring.findByHash('hash of shop', T0))?.rateLimit).toBeNull();
    });
  });
}
