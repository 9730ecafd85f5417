/** What surrounds a message that is handed in over SMTP, where only the message itself is looked at. */

import type { NamedSource } from '../../src/domain/key.ts';
import { parseAddress } from '../../src/domain/mailbox.ts';
import type { Origin } from '../../src/ingest/smtp/origin.ts';
import type { MessageContext } from '../../src/ingest/smtp/submission.ts';
import type { ReversePath } from '../../src/smtp/receiver/effect.ts';
import { NO_MAIL_PARAMETERS } from '../../src/smtp/receiver/parameters.ts';

/** What is known besides. */
export const CONTEXT: MessageContext = {
  id: 'msg_01',
  now: Date.UTC(2026, 10, 20, 11, 15),
  hostname: 'mail.example.com',
  postmaster: 'chief@example.com',
  requestId: 'r',
  hello: 'client.test',
  protocol: 'ESMTP',
  receivedClient: true,
  limits: { maxTags: 3, maxMetadata: 2 },
  domains: new Set(),
};

/** A source with a name that may send from this domain only. */
export function boundTo(senderDomain: string, tags: readonly string[] = []): Origin {
  const senderDomains = [senderDomain];
  const source: NamedSource = {
    name: 'printers',
    cidr: '192.0.2.0/24',
    senderDomains,
    ratePerMinute: 0,
    tags,
  };
  return { address: '192.0.2.7', isHidden: false, source, allowed: true, key: null, box: null };
}

/** The mailbox of an address. */
export function mailboxOf(address: string) {
  const parsed = parseAddress(address);
  if (!parsed.ok) throw new Error(`no address: ${address}`);
  return parsed.value;
}

/** A reverse-path without parameters; `''` for `<>`. */
export function reversePathOf(address: string): ReversePath {
  return { mailbox: address === '' ? null : mailboxOf(address), ...NO_MAIL_PARAMETERS };
}
