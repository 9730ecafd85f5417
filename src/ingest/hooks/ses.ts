/** Events of Amazon SES by way of SNS: of event publishing (`eventType`), or of an identity (`notificationType`). */
import { memberOf, textOf } from '../../lib/decode.ts';
import type { HookRequest } from './proof.ts';
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
  timeOf,
} from './reading.ts';
import { parseSns, proveSns, type SnsMessage } from './sns.ts';
import type { SnsCertificates } from './sns-fetch.ts';

const MAX_WORD = 100;
/** Where an event tells about itself, and where in there it names its recipients; null: it concerns all of the mail's. */
const PARTS = new Map<string, readonly [part: string, recipients: string | null]>([
  ['Delivery', ['delivery', 'recipients']],
  ['Bounce', ['bounce', 'bouncedRecipients']],
  ['Complaint', ['complaint', 'complainedRecipients']],
  ['DeliveryDelay', ['deliveryDelay', 'delayedRecipients']],
  ['Reject', ['reject', null]],
  ['Subscription', ['subscription', null]],
]);

/** The webhooks of SES, with the certificates of SNS. */
export function sesHook(certificates: SnsCertificates): Hook {
  return {
    prove: (request, { topicArn }, now) => {
      const parsed = parseSns(request);
      return parsed.ok ? proveSns(parsed.message, topicArn, certificates, now) : parsed.proof;
    },
    read,
  };
}

/** Where a proven request wants its subscription confirmed; null for every other request. */
export function subscriptionOf(request: HookRequest): URL | null {
  const parsed = parseSns(request);
  // Following the other confirmation's URL would subscribe again.
  return parsed.ok && parsed.message.type === 'SubscriptionConfirmation' ? parsed.message.subscribeUrl : null;
}

function read(request: HookRequest, relay: string): Reading {
  const parsed = parseSns(request);
  if (!parsed.ok) return notRead('the body is no message of SNS');
  const { message } = parsed;
  const nothing = { ok: true, events: [{ id: eventId(message.messageId), feedback: null }] } as const;
  if (message.type !== 'Notification') return { ok: true, events: [] };
  // SES also tells in plain words that it may publish to the topic.
  const json = jsonOf(Buffer.from(message.message));
  return json.ok ? eventsIn(json.value, message, relay, nothing) : nothing;
}

/** Words: the event, the type of a bounce or complaint or `OptOut`, and the subtype. */
function eventsIn(event: unknown, { messageId, at }: SnsMessage, relay: string, nothing: Reading): Reading {
  const name = textOf(event, 'eventType', MAX_WORD) ?? textOf(event, 'notificationType', MAX_WORD) ?? '';
  const mail = memberOf(event, 'mail');
  const places = PARTS.get(name);
  if (places === undefined) return nothing;
  const part = memberOf(event, places[0]);
  const list = places[1] === null ? memberOf(mail, 'destination') : memberOf(part, places[1]);
  if (!Array.isArray(list) || list.length === 0) return nothing;
  const told = {
    type: 'ses',
    relay,
    words: [name, ...wordsOf(name, part)],
    message: { providerMessageId: textOf(mail, 'messageId', MAX_ID) },
    // Complaints name everybody at the complainer's domain, and unsubscribing names nobody.
    oneOfSeveral: list.length > 1 && (name === 'Complaint' || name === 'Subscription'),
    at: timeOf(memberOf(part, 'timestamp')) ?? at,
  } as const;
  return eventsOf(list, (named): HookEvent => {
    const recipient = addressOf(typeof named === 'string' ? named : memberOf(named, 'emailAddress'));
    return {
      id: eventId(messageId, recipient),
      feedback: feedbackOf({
        ...told,
        recipient,
        said: [memberOf(named, 'diagnosticCode'), memberOf(part, 'reason'), memberOf(part, 'delayType')],
        enhancedCode: memberOf(named, 'status'),
      }),
    };
  });
}

function wordsOf(name: string, part: unknown): (string | null)[] {
  const word = (member: string) => textOf(part, member, MAX_WORD);
  if (name === 'Bounce') return [word('bounceType'), word('bounceSubType')];
  if (name === 'Complaint') return [word('complaintFeedbackType'), word('complaintSubType')];
  return name === 'Subscription' ? [optOut(memberOf(part, 'newTopicPreferences'))] : [];
}

/** Whether preferences leave the list, or one of its topics: a subscription is also told of when somebody joins. */
function optOut(preferences: unknown): 'OptOut' | null {
  const topics = memberOf(preferences, 'topicSubscriptionStatus');
  const isOut = (topic: unknown) => memberOf(topic, 'subscriptionStatus') === 'OptOut';
  const leaves =
    memberOf(preferences, 'unsubscribeAll') === true || (Array.isArray(topics) && topics.some(isOut));
  return leaves ? 'OptOut' : null;
}
