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
        recordDays: 30,
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

  describe('what clients sign with', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
      await subject.keyring.create(apiKey('shop'), 'hash of shop', { id: 'WBONE', sealed: 'sealed one' });
      await subject.keyring.create(apiKey('other'), 'hash of other');
    });
    afterEach(() => subject.close());

    it('is found with its key by its access key id, across a restart', async () => {
      subject = await subject.reopen();
      const { keyring } = subject;
      expect(await keyring.findSigning('WBONE', T0)).toEqual({ sealed: 'sealed one', key: apiKey('shop') });
      expect(await keyring.findSigning('WBNONE', T0)).toBeNull();
      expect([...(await keyring.signingIds())]).toEqual([['shop', 'WBONE']]);
    });

    it('has an overlap when it is replaced, as secrets have', async () => {
      const { keyring } = subject;
      const next = { id: 'WBTWO', sealed: 'sealed two' };
      await keyring.rotate('shop', 'new hash', 'wb_live_new', T0 + HOUR, next);
      expect([...(await keyring.signingIds())]).toEqual([['shop', 'WBTWO']]);
      const found = async (id: string, at: number) => (await keyring.findSigning(id, at))?.sealed;
      expect(await found('WBONE', T0 + HOUR - 1)).toBe('sealed one');
      expect(await found('WBONE', T0 + HOUR)).toBeUndefined();
      expect(await found('WBTWO', T0 + HOUR)).toBe('sealed two');
      await keyring.rotate('shop', 'newest hash', 'wb_live_new', T0 + HOUR);
      expect((await keyring.signingIds()).size, 'what is only in its overlap is the newest of none').toBe(0);
    });

    it('is not added to a key that is not made', async () => {
      const { keyring } = subject;
      const made = await keyring.create(apiKey('third', { name: 'shop' }), 'hash', {
        id: 'WBX',
        sealed: 'x',
      });
      expect([made, await keyring.findSigning('WBX', T0)]).toEqual([false, null]);
    });

    it('tells of a key that is revoked', async () => {
      await subject.keyring.revoke('shop', T0);
      expect((await subject.keyring.findSigning('WBONE', T0))?.key.revokedAt).toBe(T0);
    });
  });
}
