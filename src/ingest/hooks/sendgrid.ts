/** SendGrid's event webhook (twilio.com/docs/sendgrid/for-developers/tracking-events/event): lists of events. */

import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { HookSettings } from '../../domain/relay-hook.ts';
import { decodeBase64, memberOf, textOf } from '../../lib/decode.ts';
import {
  bad,
  type HookRequest,
  headerOf,
  isFresh,
  NO_HOOK,
  PROVEN,
  type Proof,
  REPEATED_MS,
  secondsIn,
} from './proof.ts';
import {
  addressOf,
  eventId,
  eventsOf,
  feedbackOf,
  type Hook,
  type HookEvent,
  jsonOf,
  MAX_ID,
  notRead,
  type Reading,
  timeOfSeconds,
} from './reading.ts';

const SIGNATURE = 'x-twilio-email-event-webhook-signature';
const TIMESTAMP = 'x-twilio-email-event-webhook-timestamp';
/** A signature in DER has at most 72 bytes, in base64 96 characters. */
const MAX_SIGNATURE = 96;
const MAX_WORD = 100;

/** SendGrid's webhooks. */
export const sendgridHook: Hook = { prove, read };

/** ECDSA over P-256 with SHA-256, of the timestamp's bytes and the body's. */
function prove(request: HookRequest, { publicKey }: HookSettings, now: number): Proof {
  if (!publicKey) return NO_HOOK;
  const key = keyOf(publicKey);
  if (key === null) return { kind: 'unavailable', why: 'webhook_public_key is no public key over P-256' };
  const timestamp = headerOf(request, TIMESTAMP);
  if (!isFresh(secondsIn(timestamp), now, REPEATED_MS))
    return bad(401, 'the timestamp is missing, or too far off');
  const given = headerOf(request, SIGNATURE) ?? '';
  const signature = given.length <= MAX_SIGNATURE ? decodeBase64(given) : null;
  if (signature === null) return bad(401, 'the signature is missing, or is no base64');
  const signed = Buffer.concat([Buffer.from(timestamp ?? ''), request.body]);
  return verify('sha256', signed, key, signature) ? PROVEN : bad(401, 'the signature is wrong');
}

function keyOf(base64: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null;
  } catch {
    return null;
  }
}

function read({ body }: HookRequest, relay: string): Reading {
  const json = jsonOf(body);
  if (!json.ok) return json;
  if (!Array.isArray(json.value)) return notRead('the body is no list of events');
  const events: readonly unknown[] = json.value;
  return eventsOf(events, (event) => eventOf(event, relay));
}

/** Words: event; `type`, or the reason of a drop; the class of `status`. */
function eventOf(event: unknown, relay: string): HookEvent {
  const name = textOf(event, 'event', MAX_WORD);
  const status = memberOf(event, 'status');
  const message = textOf(event, 'sg_message_id', MAX_ID);
  const recipient = memberOf(event, 'email');
  const finer = textOf(event, name === 'dropped' ? 'reason' : 'type', MAX_WORD);
  const time = memberOf(event, 'timestamp');
  const id = textOf(event, 'sg_event_id', MAX_ID);
  return {
    // An event that was dropped early may lack its id.
    id: id === null ? eventId(name, message, recipient, time, finer) : eventId(id),
    feedback: feedbackOf({
      type: 'sendgrid',
      relay,
      words: [name, finer, typeof status === 'string' ? status.slice(0, 1) : null],
      // What follows the first dot tells through which of its servers the copy went.
      message: { providerMessageId: message?.split('.', 1)[0] ?? null },
      recipient: addressOf(recipient),
      said: [memberOf(event, 'reason'), memberOf(event, 'response')],
      enhancedCode: status,
      at: timeOfSeconds(time),
    }),
  };
}
