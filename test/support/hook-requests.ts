/** Webhooks as providers send them: recorded examples, and bodies with good proofs. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { HookType } from '../../src/domain/relay.ts';
import type { HookSettings } from '../../src/domain/relay-hook.ts';
import type { HookRequest } from '../../src/ingest/hooks/proof.ts';
import { type Certificate, createAuthority, createCertificate } from '../peers/certificate.ts';

/** A recorded or documented body. */
export interface HookExample {
  readonly name: string;
  /** Where it was read. */
  readonly source: string;
  /** Of `ses`: what is published; of `mailgun`: without the signature. */
  readonly body: unknown;
  /** What it means, written by hand from contract-2 §A4. `at` is a time, or `SNS`: when it was published. */
  readonly means: readonly (
    | { readonly id: string; readonly ignored: true }
    | { readonly id: string; readonly at: string; readonly [member: string]: unknown }
  )[];
}

/** The examples of a provider. */
export function hookExamples(type: HookType): HookExample[] {
  return JSON.parse(readFileSync(new URL(`hook-examples/${type}.json`, import.meta.url), 'utf8'));
}

/** The time at which requests are made, unless they say otherwise: whole seconds, when certificates are valid. */
export const NOW = Math.floor(Date.now() / 1000) * 1000;
export const SNS_ID = 'SNS-ID';
export const SVIX_ID = 'SVIX-ID';
export const TOPIC = 'arn:aws:sns:us-east-1:123456789012:ses-events';
export const CERTIFICATE_URL = 'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-0123abcd.pem';
export const SUBSCRIBE_URL = 'https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&Token=abc';

const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
/** Of SNS, as at {@link CERTIFICATE_URL}. */
export const snsCertificate: Certificate = createCertificate({
  hosts: ['sns.amazonaws.com'],
  issuer: createAuthority('Test CA'),
  rsaBits: 2048,
});

/** Settings under which all requests made here are proven. */
export const SETTINGS: HookSettings = {
  topicArn: TOPIC,
  publicKey: spki(p256.publicKey),
  username: 'postmark',
  secret: `whsec_${Buffer.from('a secret of the hook').toString('base64')}`,
};

/** A key as `webhook_public_key` has it. */
export function spki(key: KeyObject): string {
  return key.export({ type: 'spki', format: 'der' }).toString('base64');
}

/** What of a request is other than it should be. */
export interface HookWish {
  /** Wall ms of its timestamp. */
  readonly at?: number;
  /** The settings with whose secrets it is made. */
  readonly settings?: HookSettings;
  /** By lower-case name; null takes one away. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** A request of a provider with a good proof, but for what is wished. */
export function hookRequest(type: HookType, body: unknown, wish: HookWish = {}): HookRequest {
  const settings = wish.settings ?? SETTINGS;
  const seconds = String(Math.floor((wish.at ?? NOW) / 1000));
  const made = MAKERS[type](body, seconds, settings);
  const headers = Object.entries({ ...made.headers, ...wish.headers });
  const sent = headers.map(([name, value]) => [name, value ?? undefined] as const);
  return { body: made.body, headers: Object.fromEntries(sent) };
}

type Maker = (
  body: unknown,
  seconds: string,
  settings: HookSettings,
) => { readonly headers: Record<string, string>; readonly body: Buffer };

const MAKERS: Readonly<Record<HookType, Maker>> = {
  ses: (body, seconds) => ({
    headers: { 'content-type': 'text/plain; charset=UTF-8', 'x-amz-sns-message-type': 'Notification' },
    body: bytesOf(signedSns(notification(body, Number(seconds) * 1000))),
  }),
  sendgrid(body, seconds) {
    // As SendGrid writes it.
    const bytes = Buffer.concat([bytesOf(body), Buffer.from('\r\n')]);
    const signature = sign('sha256', Buffer.concat([Buffer.from(seconds), bytes]), p256.privateKey);
    return {
      headers: {
        'x-twilio-email-event-webhook-signature': signature.toString('base64'),
        'x-twilio-email-event-webhook-timestamp': seconds,
      },
      body: bytes,
    };
  },
  mailgun(body, timestamp, { secret }) {
    const token = 'c'.repeat(50);
    const signature = createHmac('sha256', secret ?? '').update(`${timestamp}${token}`);
    const event = typeof body === 'object' ? body : { 'event-data': body };
    return {
      headers: {},
      body: bytesOf({ signature: { timestamp, token, signature: signature.digest('hex') }, ...event }),
    };
  },
  postmark(body, _seconds, { username, secret }) {
    const credentials = Buffer.from(`${username}:${secret}`).toString('base64');
    return { headers: { authorization: `Basic ${credentials}` }, body: bytesOf(body) };
  },
  resend(body, seconds, { secret }) {
    const key = Buffer.from((secret ?? '').slice('whsec_'.length), 'base64');
    const bytes = bytesOf(body);
    const hmac = createHmac('sha256', key).update(`${SVIX_ID}.${seconds}.`).update(bytes);
    return {
      headers: {
        'svix-id': SVIX_ID,
        'svix-timestamp': seconds,
        'svix-signature': `v1,${hmac.digest('base64')}`,
      },
      body: bytes,
    };
  },
};

function bytesOf(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A message of SNS by its members. */
export type SnsMembers = Readonly<Record<string, unknown>>;

/** A notification with something published, unsigned. */
export function notification(published: unknown, at = NOW): SnsMembers {
  return {
    Type: 'Notification',
    MessageId: SNS_ID,
    TopicArn: TOPIC,
    Subject: 'Amazon SES Email Event Notification',
    Message: typeof published === 'string' ? published : JSON.stringify(published),
    Timestamp: new Date(at).toISOString(),
    SignatureVersion: '1',
    SigningCertURL: CERTIFICATE_URL,
    UnsubscribeURL: 'https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe',
  };
}

/** A confirmation, unsigned. */
export function confirmation(Type: string): SnsMembers {
  const {
    Subject: _,
    UnsubscribeURL: __,
    ...common
  } = notification('You have chosen to subscribe to the topic.');
  return { ...common, Type, Token: '2336412f37', SubscribeURL: SUBSCRIBE_URL };
}

/**
 * Signs a message as the documentation of SNS says (docs.aws.amazon.com/sns/latest/dg/
 * sns-verify-signature-of-message-verify-message-signature.html).
 */
export function signedSns(members: SnsMembers, key: string = snsCertificate.key): SnsMembers {
  const names =
    members['Type'] === 'Notification'
      ? ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
      : ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const text = names
    .filter((name) => members[name] !== undefined)
    .map((name) => `${name}\n${members[name]}\n`)
    .join('');
  const algorithm = members['SignatureVersion'] === '2' ? 'RSA-SHA256' : 'RSA-SHA1';
  return { ...members, Signature: sign(algorithm, Buffer.from(text), key).toString('base64') };
}

/** A request with a message of SNS as it is. */
export function snsRequest(members: unknown, headers: HookRequest['headers'] = {}): HookRequest {
  return { headers, body: bytesOf(members) };
}
