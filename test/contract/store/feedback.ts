import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TELL_RULES, telling } from '../../support/telling.ts';
import { at, message, type OpenSubject, recipient, type Subject, T0 } from './fixtures.ts';

/** What is kept of what others told, and whose messages it may be about. */
export function feedbackContract(open: OpenSubject): void {
  describe('feedback', () => {
    let subject: Subject;
    beforeEach(async () => {
      subject = await open();
    });
    afterEach(() => subject.close());

    const tell = async (...batch: ReturnType<typeof telling>[]) => {
      const answers = await subject.store.tell(batch, TELL_RULES, at());
      return answers.flatMap(({ results }) => results.map(({ verdict }) => verdict));
    };

    it('is kept as evidence, and found by its id and by its message', async () => {
      const mail = message({ deliveries: [recipient(), recipient()] });
      const [, { recipient: second } = recipient()] = mail.deliveries;
      await subject.store.accept([mail], at());
      const first = telling(mail.id);
      const named = telling(mail.id, { recipient: second.address, kind: 'complaint' });
      const nothing = telling(null, {}, { items: [], source: 'mailto' });
      const unkept = telling(mail.id, {}, { evidence: null });
      expect(await tell(first, named, nothing, unkept)).toEqual(['matched', 'matched', 'matched']);
      const kept = { at: T0, contentType: 'message/rfc822' };
      const about = { ...kept, source: 'dsn', messageId: mail.id };
      expect(await subject.views.feedback(first.id)).toEqual({
        ...about,
        id: first.id,
        kind: 'delayed',
        address: null,
        base64: 'RnJvbTo=',
      });
      expect(await subject.views.feedbackAbout(mail.id)).toEqual([
        { ...about, id: named.id, kind: 'complaint', address: second.address },
        { ...about, id: first.id, kind: 'delayed', address: null },
      ]);
      expect(await subject.views.feedback(nothing.id)).toMatchObject({
        ...kept,
        source: 'mailto',
        kind: 'nothing',
        messageId: null,
      });
      expect(await subject.views.feedback(unkept.id)).toBeNull();
      expect(await subject.views.feedbackAbout('msg_none')).toEqual([]);
    });

    it('about several messages belongs to none: who may see one of them must not see the others', async () => {
      const mails = [message({ keyId: 'key_one' }), message({ keyId: 'key_two' })];
      await subject.store.accept(mails, at());
      const [one, two] = mails.map(({ id }) => telling(id));
      const both = telling(null, {}, { items: [...(one?.items ?? []), ...(two?.items ?? [])] });
      expect(await tell(both)).toEqual(['matched', 'matched']);
      expect(await subject.views.feedback(both.id)).toMatchObject({ messageId: null, address: null });
      for (const { id } of mails) expect(await subject.views.feedbackAbout(id)).toEqual([]);
    });

    it('lists the newest of very much', async () => {
      const mail = message();
      await subject.store.accept([mail], at());
      const all = Array.from({ length: 102 }, () => telling(mail.id));
      await tell(...all);
      const ids = (await subject.views.feedbackAbout(mail.id)).map(({ id }) => id);
      expect(ids).toEqual(
        all
          .map(({ id }) => id)
          .reverse()
          .slice(0, 100),
      );
    });

    it('of a key leads to its own messages only, whoever has the same Message-ID', async () => {
      const header = { from: 'a@example.com', subject: 'Hello', messageId: '<same@example.com>' };
      const own = message({ header, keyId: 'key_one' });
      const other = message({ header, keyId: 'key_two' });
      await subject.store.accept([own, other], at());
      const byMessageId = {
        message: { token: null, id: null, providerMessageId: null, messageId: header.messageId },
      };
      const token = {
        message: {
          token: { id: other.id, recipient: 0 },
          id: null,
          providerMessageId: null,
          messageId: null,
        },
      };
      const of = (change: object, onlyOfKey: string) => telling(null, change, { onlyOfKey });
      expect(
        await tell(
          of(byMessageId, 'key_one'),
          of(token, 'key_one'),
          telling(other.id, {}, { onlyOfKey: 'key_one' }),
          of(byMessageId, 'key_three'),
          of(token, 'key_two'),
        ),
      ).toEqual(['matched', 'unmatched', 'unmatched', 'unmatched', 'matched']);
      expect(await subject.views.feedbackAbout(own.id)).toHaveLength(1);
      expect(await subject.views.feedbackAbout(other.id)).toHaveLength(1);
    });
  });
}
