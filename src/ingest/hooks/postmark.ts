/** Postmark's webhooks (postmarkapp.com/developer/webhooks): one record as JSON, whose `RecordType` says what it is. */
import type { HookSettings } from '../../domain/relay-hook.ts';
import { decodeBase64, memberOf, textOf } from '../../lib/decode.ts';
import { bad, type HookRequest, headerOf, isSame, NO_HOOK, PROVEN, type Proof } from './proof.ts';
import {
  addressOf,
  eventId,
  feedbackOf,
  type Hook,
  jsonOf,
  MAX_ID,
  notRead,
  oneEvent,
  type Reading,
  timeOf,
} from './reading.ts';

const BASIC = /^basic +([A-Za-z0-9+/]{1,1000}={0,2})$/i;
const MAX_WORD = 100;
/** Where records of each type have their time. */
const TIMES = ['BouncedAt', 'DeliveredAt', 'ChangedAt', 'ReceivedAt'];

/** Postmark's webhooks. */
export const postmarkHook: Hook = { prove, read };

/** Basic authentication: Postmark signs nothing. */
function prove(request: HookRequest, { username, secret }: HookSettings): Proof {
  if (!username || !secret) return NO_HOOK;
  const [, encoded] = BASIC.exec(headerOf(request, 'authorization') ?? '') ?? [];
  const given = encoded === undefined ? null : decodeBase64(encoded);
  // 401, and not 403, after which Postmark stops repeating.
  if (given === null) return bad(401, 'there are no credentials');
  return isSame(given, `${username}:${secret}`) ? PROVEN : bad(401, 'the credentials are wrong');
}

/** Words: `RecordType`, the type of a bounce or the reason of a suppression, whether it was made. */
function read({ body }: HookRequest, relay: string): Reading {
  const json = jsonOf(body);
  if (!json.ok) return json;
  const record = json.value;
  const name = textOf(record, 'RecordType', MAX_WORD);
  if (name === null) return notRead('the body has no RecordType');
  const finer = textOf(record, name === 'SubscriptionChange' ? 'SuppressionReason' : 'Type', MAX_WORD);
  const message = textOf(record, 'MessageID', MAX_ID);
  const recipient = memberOf(record, 'Email') ?? memberOf(record, 'Recipient');
  const time = TIMES.map((field) => memberOf(record, field)).find((value) => value !== null) ?? null;
  const number = memberOf(record, 'ID');
  return oneEvent({
    // Numbers above 2^53 are read as their neighbours, so the number alone is not unique.
    id: eventId(name, message, recipient, number ?? time),
    feedback: feedbackOf({
      type: 'postmark',
      relay,
      words: [name, finer, memberOf(record, 'SuppressSending') === true ? 'suppressed' : null],
      message: { providerMessageId: message },
      recipient: addressOf(recipient),
      said: [memberOf(record, 'Details'), memberOf(record, 'Description')],
      at: timeOf(time),
    }),
  });
}
