/** Mailgun's webhooks (documentation.mailgun.com, webhook payloads): one event, with its signature, as JSON. */

import { createHmac } from 'node:crypto';
import type { HookSettings } from '../../domain/relay-hook.ts';
import { memberOf, textOf } from '../../lib/decode.ts';
import {
  bad,
  type HookRequest,
  isFresh,
  isSame,
  NO_HOOK,
  PROVEN,
  type Proof,
  REPEATED_MS,
  secondsIn,
} from './proof.ts';
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
  timeOfSeconds,
} from './reading.ts';

/** Of the token, which has 50 characters, and of the signature. */
const MAX_TOKEN = 100;
const MAX_WORD = 100;
/** Mailgun repeats after every other refusal, for eight hours. */
const REFUSED = 406;

/** Mailgun's webhooks. */
export const mailgunHook: Hook = { prove, read };

/**
 * HMAC-SHA256 of timestamp and token. It does not cover the event: whoever has seen one such request can put another
 * event into it for a day, so that the token in the path remains a proof, too.
 */
function prove({ body }: HookRequest, { secret }: HookSettings, now: number): Proof {
  if (!secret) return NO_HOOK;
  const json = jsonOf(body);
  if (!json.ok) return bad(400, json.why);
  const given = memberOf(json.value, 'signature');
  const timestamp = timestampOf(given);
  if (!isFresh(secondsIn(timestamp), now, REPEATED_MS))
    return bad(REFUSED, 'the timestamp is missing, or too far off');
  const token = textOf(given, 'token', MAX_TOKEN);
  const signature = textOf(given, 'signature', MAX_TOKEN);
  if (token === null || signature === null) return bad(REFUSED, 'the signature is missing');
  const expected = createHmac('sha256', secret).update(`${timestamp}${token}`).digest('hex');
  return isSame(signature, expected) ? PROVEN : bad(REFUSED, 'the signature is wrong');
}

/** Documented as text; some of its own examples have a number. */
function timestampOf(signature: unknown): string | null {
  const timestamp = memberOf(signature, 'timestamp');
  if (typeof timestamp === 'number') return String(timestamp);
  return typeof timestamp === 'string' ? timestamp : null;
}

/** Words: event, `severity`, `reason`. */
function read({ body }: HookRequest, relay: string): Reading {
  const json = jsonOf(body);
  if (!json.ok) return json;
  const event = memberOf(json.value, 'event-data');
  const name = textOf(event, 'event', MAX_WORD);
  if (name === null) return notRead('the body has no event');
  const status = memberOf(event, 'delivery-status');
  const reject = memberOf(event, 'reject');
  const headers = memberOf(memberOf(event, 'message'), 'headers');
  const messageId = textOf(headers, 'message-id', MAX_ID)?.replace(/^<|>$/g, '');
  const recipient = memberOf(event, 'recipient');
  const time = memberOf(event, 'timestamp');
  const id = textOf(event, 'id', MAX_ID);
  const feedback = feedbackOf({
    type: 'mailgun',
    relay,
    words: [name, textOf(event, 'severity', MAX_WORD), textOf(event, 'reason', MAX_WORD)],
    message: { messageId: messageId === undefined ? null : `<${messageId}>` },
    // A rejected message is rejected for all its recipients, and names none.
    recipient: addressOf(recipient),
    said: [
      memberOf(status, 'message'),
      memberOf(status, 'description'),
      memberOf(reject, 'reason'),
      memberOf(reject, 'description'),
    ],
    code: memberOf(status, 'code'),
    enhancedCode: memberOf(status, 'enhanced-code'),
    at: timeOfSeconds(time),
  });
  const uniqueId = id ?? eventId(name, messageId, recipient, time);
  return oneEvent({ id: eventId(uniqueId), feedback });
}
