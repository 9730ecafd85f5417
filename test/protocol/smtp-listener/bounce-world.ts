import { recogniseTokens, tokensOf } from '../../../src/config/bounces.ts';
import { createVault } from '../../../src/config/secrets.ts';
import { messageIdOf } from '../../../src/lib/id.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import { type TokenSubject, tokenKeys } from '../../../src/lib/recipient-token.ts';
import type { SmtpClient } from '../../peers/smtp-client.ts';
import { transact } from '../../support/bounce-mail.ts';
import { cidrs } from '../../support/cidrs.ts';
import { SmtpWorld, type SmtpWorldOptions } from './world.ts';

/** A listener with a bounce domain, and what comes to it. */

/** Of this installation. */
export const KEYS = keysOf(0);
const FOREIGN = keysOf(1);
export const ABOUT: TokenSubject = { id: messageIdOf(new Uint8Array(16).fill(7)), recipient: 2 };
export const DOMAIN = 'bounces.example.com';

/** A return path of ours, or of another installation. */
export function returnPath(about: TokenSubject = ABOUT, from: 'us' | 'others' = 'us'): string {
  const keys = from === 'us' ? KEYS : FOREIGN;
  return `${tokensOf(keys, 'return_path')?.localPart(about)}@${DOMAIN}`;
}

export function leavePath(about: TokenSubject = ABOUT): string {
  return `${tokensOf(KEYS, 'unsubscribe')?.localPart(about)}@${DOMAIN}`;
}

/** A listener with a bounce domain, to which every address is a stranger's unless told otherwise. */
export async function startWithBounces({
  strangers = true,
  bounces = {},
  ...options
}: SmtpWorldOptions & { strangers?: boolean; bounces?: Partial<BounceOptions> } = {}): Promise<SmtpWorld> {
  return await SmtpWorld.start({
    limits: { maxMessageBytes: 4_000_000 },
    ...options,
    others: {
      ...(strangers && { allowedCidrs: cidrs('192.0.2.1') }),
      ...options.others,
      bounces: {
        domains: new Set([DOMAIN]),
        maxMessageBytes: 100_000,
        ratePerSource: 600,
        tokens: (purpose) => tokensOf(KEYS, purpose),
        recognise: recogniseTokens(KEYS),
        ...bounces,
      },
    },
  });
}

type BounceOptions = SmtpWorld['options']['bounces'];

export const DSN = [
  'From: MAILER-DAEMON@mx.example.net',
  'Subject: Undelivered Mail Returned to Sender',
  'MIME-Version: 1.0',
  'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
  '',
  '--b',
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; mx.example.net',
  '',
  'Final-Recipient: rfc822; ann@example.org',
  'Action: failed',
  'Status: 5.1.1',
  'Diagnostic-Code: smtp; 550 5.1.1 <ann@example.org>: no such user',
  '',
  '--b--',
];

/** A bounce that returns a header with these fields. */
export function returning(...fields: readonly string[]): readonly string[] {
  return [...DSN.slice(0, -1), '--b', 'Content-Type: text/rfc822-headers', '', ...fields, '', '--b--'];
}

/** A bounce, or other mail, in a transaction; the reply to its end, or the first refusal. */
export const send = (
  client: SmtpClient,
  recipients: readonly string[],
  lines: readonly string[] = DSN,
  from = '',
): Promise<string> => transact(client, recipients, lines, from);

export function keysOf(byte: number) {
  return { tokenKeys: tokenKeys(createVault(new Uint8Array(32).fill(byte), seededRandom(1)).derive) };
}
