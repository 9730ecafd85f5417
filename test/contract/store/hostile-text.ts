import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiKey } from '../../../src/domain/key.ts';
import { parseQuery } from '../../../src/domain/query.ts';
import { UNFILTERED } from '../../../src/store/views.ts';
import {
  apiKey,
  at,
  attempt,
  message,
  type OpenSubject,
  REJECTED,
  read,
  recipient,
  refTo,
  type Subject,
  T0,
  takeLane,
} from './fixtures.ts';

/** What would be a part of a statement if it ever came into one. */
const TEXTS = [
  "x'; DROP TABLE messages; --",
  `x' OR '1'='1`,
  'x" OR ""="',
  "x\\'; DELETE FROM keys; --",
  'x$1 $2 ?1 ? :name @name',
  'x$$; DROP TABLE keys; $$',
  'x`; DROP TABLE keys; `',
  'x%_[a-z]*/*',
  "x')); VACUUM; --",
];

function named(name: string): ApiKey {
  return apiKey(`id of ${name}`, { name, cidrs: [name], senderDomains: [name] });
}

/** What the store promises of text that strangers choose: it is a value, and never a part of a statement. */
export function hostileTextContract(open: OpenSubject): void {
  describe('text that looks like SQL', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    it.each(TEXTS)('%s in a message comes back as it is, and finds that message alone', async (text) => {
      const { store, views } = subject;
      const address = `"${text.replaceAll(/["\\]/g, '')}"@example.net`;
      const hostile = message({
        keyId: text,
        sourceAddress: text,
        reversePath: text,
        envid: text,
        tags: [text],
        metadata: { [text]: text },
        header: { from: `${text} <a@example.com>`, subject: text, messageId: text },
        idempotency: { key: text, hash: text },
        deliveries: [
          recipient({ recipient: { address, kind: 'to', notify: null, orcpt: text }, rule: text }),
        ],
      });
      await store.accept([hostile, message({ keyId: text }), message()], at());
      const lease = await takeLane(store);
      await attempt(store, refTo(hostile.id, lease), [{ ...REJECTED, reply: { ...REJECTED.reply, text } }]);
      const { message: stored } = await read(views, hostile.id);
      expect(stored).toMatchObject({
        envelopeFrom: text,
        tags: [text],
        metadata: { [text]: text },
        header: hostile.header,
      });
      const filters = [{ tag: text }, { subject: text }, { from: text }, { to: address }];
      for (const filter of filters) {
        const query = {
          owner: { keyId: text },
          statuses: [],
          before: null,
          limit: 10,
          filter: { ...UNFILTERED, ...filter },
        } as const;
        expect((await views.list(query)).messages.map(({ id }) => id)).toEqual([hostile.id]);
      }
      while ((await store.index(50)).more);
      for (const words of [text, `subject:"${text.replaceAll('"', '')}"`, `to:${address}`, `tag:"${text}"`])
        await views.search({ query: parseQuery(words).query, after: null, before: null, limit: 10 });
      expect(await views.remembered(text, text, T0)).not.toBeNull();
      expect(await views.remembered(text, `${text}'`, T0)).toBeNull();
    });

    it.each(TEXTS)(
      '%s names a key, a relay, a user, a setting and an entry of the journal like any other',
      async (text) => {
        const { keyring, registry, accounts, journal } = subject;
        await keyring.create(named('plain'), 'hash of plain');
        await keyring.create(named(text), text);
        expect((await keyring.findByHash(text, T0))?.name).toBe(text);
        expect(await keyring.revoke(`id of ${text}`, T0)).toBe(true);
        expect(
          (await keyring.list()).filter(({ revokedAt }) => revokedAt !== null).map(({ name }) => name),
        ).toEqual([text]);
        for (const name of ['plain', text]) {
          await registry.putRelay({ name, definition: JSON.stringify(text), secret: text, disabled: false });
          await registry.putSetting(name, text);
          await accounts.addUser({ name, role: 'viewer', createdAt: T0 });
        }
        expect(await registry.removeRelay(text)).toBe(true);
        expect((await registry.relays()).map(({ name }) => name)).toEqual(['plain']);
        expect((await registry.settings()).get(text)).toBe(text);
        expect(await accounts.removeUser(text)).toMatchObject({ kind: 'done' });
        expect((await accounts.users(T0)).map(({ name }) => name)).toEqual(['plain']);
        const entry = { at: T0, actorKind: 'user', sourceAddress: text, before: text, after: text } as const;
        await journal.record(
          ['plain', text].map((name) => ({ ...entry, actor: name, action: name, subject: name })),
        );
        const found = await journal.entries({
          actor: text,
          action: text,
          subject: text,
          limit: 10,
          before: null,
        });
        expect(found.entries.map(({ subject: of }) => of)).toEqual([text]);
      },
    );
  });
}
