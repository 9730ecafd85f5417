/** Resend's webhooks (resend.com/docs/webhooks), sent by Svix and signed by Standard Webhooks: one event as JSON. */

import { createHmac } from 'node:crypto';
import type { HookSettings } from '../../domain/relay-hook.ts';
import { decodeBase64, memberOf, textOf } from '../../lib/decode.ts';
import {
  ANEW_MS,
  bad,
  type HookRequest,
  headerOf,
  isFresh,
  isSame,
  NO_HOOK,
  PROVEN,
  type Proof,
  secondsIn,
} from './proof.ts';
import {
  addressOf,
  eventId,
  eventsOf,
  feedbackOf,
  type Hook,
  jsonOf,
  MAX_ID,
  notRead,
  type Reading,
  timeOf,
} from './reading.ts';

/** No dot: what is signed has dots between id, timestamp and body. */
const ID = /^[!--/-~]{1,255}$/;
const SECRET = /^(?:whsec_)?([A-Za-z0-9+/]{1,1000}={0,2})$/;
/** Signatures by this many secrets: while one replaces another, there are two. */
const MAX_SIGNATURES = 8;
const MAX_HEADER = 1000;
const MAX_WORD = 100;
/** Resend sends to 50 recipients at once. */
const MAX_TO = 50;

/** Resend's webhooks. */
export const resendHook: Hook = { prove, read };

/** HMAC-SHA256 of id, timestamp and body with dots between, by any of the signatures `v1,…` in the header. */
function prove(request: HookRequest, { secret }: HookSettings, now: number): Proof {
  if (!secret) return NO_HOOK;
  const key = keyOf(secret);
  if (key === null) return { kind: 'unavailable', why: 'webhook_secret is not whsec_ and base64' };
  const { id, timestamp, signatures } = signedBy(request);
  if (id === null || !ID.test(id)) return bad(401, 'the id is missing, or of another form');
  if (!isFresh(secondsIn(timestamp), now, ANEW_MS))
    return bad(401, 'the timestamp is missing, or too far off');
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(request.body);
  const expected = `v1,${hmac.digest('base64')}`;
  const given = (signatures ?? '').slice(0, MAX_HEADER).split(' ', MAX_SIGNATURES);
  return given.some((one) => isSame(one, expected)) ? PROVEN : bad(401, 'no signature is right');
}

function keyOf(secret: string): Buffer | null {
  const [, encoded = ''] = SECRET.exec(secret) ?? [];
  const bare = encoded.replace(/=+$/, '');
  const key = decodeBase64(bare.padEnd(Math.ceil(bare.length / 4) * 4, '='));
  return key === null || key.length === 0 ? null : key;
}

/** The three headers, by their names of Svix or of Standard Webhooks, never of both. */
function signedBy(request: HookRequest) {
  const family = headerOf(request, 'svix-id') === null ? 'webhook' : 'svix';
  return {
    id: headerOf(request, `${family}-id`),
    timestamp: headerOf(request, `${family}-timestamp`),
    signatures: headerOf(request, `${family}-signature`),
  };
}

/** Words: `type`, and of a bounce its type and subtype. */
function read(request: HookRequest, relay: string): Reading {
  const json = jsonOf(request.body);
  if (!json.ok) return json;
  const name = textOf(json.value, 'type', MAX_WORD);
  if (name === null) return notRead('the body has no type');
  const data = memberOf(json.value, 'data');
  const bounce = memberOf(data, 'bounce');
  const { id } = signedBy(request);
  const told = {
    type: 'resend',
    relay,
    words: [name, textOf(bounce, 'type', MAX_WORD), textOf(bounce, 'subType', MAX_WORD)],
    message: { providerMessageId: textOf(data, 'email_id', MAX_ID) },
    said: [
      memberOf(bounce, 'message'),
      memberOf(memberOf(data, 'failed'), 'reason'),
      memberOf(memberOf(data, 'suppressed'), 'message'),
    ],
    at: timeOf(memberOf(json.value, 'created_at')),
  } as const;
  return eventsOf(recipientsOf(data), (recipient) => ({
    id: recipient === null ? eventId(id) : eventId(id, recipient),
    feedback: feedbackOf({ ...told, recipient, oneOfSeveral: recipient !== null }),
  }));
}

/**
 * Whom an event may concern. `to` is the header field's, in every event of the message: copies are not in it, and it
 * does not tell which recipient is meant. So a single one proves nothing: it is the message's only recipient, if it has
 * only one, and the engine knows.
 */
function recipientsOf(data: unknown): (string | null)[] {
  const to = memberOf(data, 'to');
  const named: readonly unknown[] = Array.isArray(to) && to.length <= MAX_TO ? to : [];
  const addresses = [...new Set(named.map(addressOf))].filter((one) => one !== null);
  return addresses.length > 1 ? addresses : [null];
}
