import type { Queries } from '../../postgres/database.ts';
import { bounced, fromJson } from '../columns.ts';
import type { MailStep, MailWork, NamedDelivery, OpenMail } from '../plain/mail.ts';
import { bounceDelivery } from './changes.ts';
import { ask } from './plain.ts';
import { forgetContents } from './purge.ts';
import type { Work } from './work.ts';

/** Runs what is told of mail to its end, within a transaction whose other changes are written. */
export async function runMail<T>(mail: MailWork<T>, work: Work): Promise<T> {
  let step = mail.next();
  while (step.done !== true) {
    const { value } = step;
    step = mail.next('mail' in value ? await takeStep(value, work) : await ask(value, work.db));
  }
  return step.value;
}

async function takeStep(step: MailStep, work: Work): Promise<unknown> {
  switch (step.mail) {
    case 'open':
      return await open(work, step.id);
    case 'by_provider_id':
      return await work.db.rows<NamedDelivery>(BY_PROVIDER_ID, [step.providerId, step.relay]);
    case 'by_message_id':
      return await namesakes(work.db, step.messageId, step.limit);
    case 'bounce': {
      const delivery = work.ledger.delivery(step.id, step.index);
      if (delivery !== null) bounceDelivery(work, delivery, bounced(step.bounce));
      return null;
    }
    case 'event': {
      const { id, type, index, facts, counted } = step;
      work.events.told(id, type, index, facts, step.at);
      if (counted !== null && facts.relay !== undefined) work.tallies.count(counted, work.at, 1, facts.relay);
      return null;
    }
    case 'forget':
      return await forgetContents(work, step.id);
    case 'reindex':
      await work.db.run(FORGET_WORDS, [step.id]);
      await work.db.run(INDEX_LATER, [step.id]);
      return null;
  }
}

/** A message that was opened before has changes that are not written yet. */
async function open(work: Work, id: string): Promise<OpenMail | null> {
  if (work.ledger.message(id) === null) await work.ledger.openWhole([id]);
  const message = work.ledger.message(id);
  if (message === null) return null;
  const { keyId, test, headerFrom: from, stream } = message.row;
  const [tagged] = await work.db.rows<{ tags: string }>(TAGS, [id]);
  const tags = tagged === undefined ? [] : fromJson<string[]>(tagged.tags);
  const recipients = work.ledger.deliveriesOf(message).map(({ row }) => {
    const { index, address, state, outcome, relay } = row;
    return { index, address, state, outcome, relay };
  });
  return { id, keyId, test, from, stream, tags, recipients };
}

/** Our own Message-IDs contain the id of their message. */
async function namesakes(db: Queries, messageId: string, limit: number): Promise<string[]> {
  const [own] = OWN.exec(messageId) ?? [];
  if (own !== undefined) {
    const found = await db.rows<{ id: string }>(IS_OF, [own, messageId]);
    if (found.length > 0) return [own];
  }
  return (await db.rows<{ id: string }>(BY_MESSAGE_ID, [messageId, limit])).map(({ id }) => id);
}

const OWN = /msg_[0-7][0-9a-hjkmnp-tv-z]{25}/;
const TAGS = 'SELECT tags FROM messages WHERE id = $1';
const IS_OF = 'SELECT id FROM messages WHERE id = $1 AND message_id = $2';
const BY_MESSAGE_ID = `SELECT id FROM messages WHERE message_id = $1 AND position(id in message_id) = 0
    AND octet_length(message_id) <= 1000
  ORDER BY id DESC LIMIT $2`;
const BY_PROVIDER_ID = `SELECT message AS id, index FROM deliveries
  WHERE provider_message_id = $1 AND ($2::text IS NULL OR relay = $2) ORDER BY message DESC, index LIMIT 1000`;
const FORGET_WORDS = 'DELETE FROM message_words WHERE id = $1';
const INDEX_LATER = 'INSERT INTO pending_words (id) VALUES ($1) ON CONFLICT DO NOTHING';
