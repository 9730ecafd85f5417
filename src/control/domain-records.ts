/** The records that a domain needs in the DNS, ready to be pasted. */

import type { Config } from '../config/schema.ts';
import { keyState, recordUntil } from '../domain/domain-keys.ts';
import type { DkimAlgorithm, DomainKey, SendingDomain } from '../domain/sending-domain.ts';
import { formatTimestamp } from '../lib/clock.ts';
import type { RecordView } from '../operations/domains.ts';
import { mechanismsOf, sendersOf } from './domain-senders.ts';

/** RFC 1035 §3.3: octets of one string. */
const MAX_STRING = 255;
/** For how long others may remember a record, in seconds: short enough to mend a mistake the same day. */
const TTL = 3600;

/** What `k=` says. */
export const KEY_TYPES: Readonly<Record<DkimAlgorithm, string>> = {
  'rsa-sha256': 'rsa',
  'ed25519-sha256': 'ed25519',
};

/** Where a key's record stands. */
export function keyName(domain: string, selector: string): string {
  return `${selector}._domainkey.${domain}`;
}

/** What a key's record says (RFC 6376 §3.6.1). */
export function keyRecord({ algorithm, publicKey }: DomainKey): string {
  return `v=DKIM1; k=${KEY_TYPES[algorithm]}; p=${publicKey}`;
}

/** Every record of a domain: its keys', and suggestions for its policies. */
export function recordsOf(
  domain: SendingDomain,
  config: Config,
  ownAddresses: readonly string[],
): readonly RecordView[] {
  const { name, keys } = domain;
  return [
    ...keys.map((key) => txt('dkim', keyName(name, key.selector), keyRecord(key), noteOf(key))),
    txt(
      'spf',
      name,
      spfSuggestion(config, ownAddresses),
      `if the domain has no v=spf1 record yet; else see: waybill domains check ${name}`,
    ),
    txt(
      'dmarc',
      `_dmarc.${name}`,
      dmarcSuggestion(name),
      'if there is none yet; rua is where reports go, and p=none asks for reports alone',
    ),
  ];
}

/** A policy for a domain that has none: who sends for it here, and a doubt about all others. */
export function spfSuggestion(config: Config, ownAddresses: readonly string[]): string {
  const mechanisms = mechanismsOf(sendersOf(config, ownAddresses));
  return ['v=spf1', ...mechanisms, '~all'].join(' ');
}

/** A first policy: reports, and nothing else yet. */
export function dmarcSuggestion(domain: string): string {
  return `v=DMARC1; p=none; rua=mailto:dmarc-reports@${domain}`;
}

/** A cure: `line`, on a line of its own, is to be pasted into the zone. */
export function publish(line: string, where = 'publish, in the DNS'): string {
  return `${where}:\n${line}`;
}

/** What the record of a key is to say that others may have: nobody can sign by it (RFC 6376 §3.6.1). */
export function revocation({ algorithm }: Pick<DomainKey, 'algorithm'>): string {
  return `v=DKIM1; k=${KEY_TYPES[algorithm]}; p=`;
}

/** A TXT record as the line of a zone file. `value` is ASCII; control characters are escaped (RFC 1035 §5.1). */
export function zoneLine(name: string, value: string): string {
  const strings: string[] = [];
  for (let at = 0; at < value.length; at += MAX_STRING) strings.push(value.slice(at, at + MAX_STRING));
  const quoted = strings.map((text) => `"${text.replace(/["\\]/g, '\\$&').replace(CONTROL, decimal)}"`);
  return `${name}. ${TTL} IN TXT ${quoted.join(' ')}`;
}

const CONTROL = /\p{Cc}/gu;

function decimal(character: string): string {
  return `\\${String(character.charCodeAt(0)).padStart(3, '0')}`;
}

function txt(purpose: RecordView['purpose'], name: string, value: string, note: string): RecordView {
  return { purpose, name, type: 'TXT', value, zoneLine: zoneLine(name, value), note };
}

function noteOf(key: DomainKey): string {
  const until = recordUntil(key);
  if (until !== null)
    return `retired; must stay until ${formatTimestamp(until)}, then take it away; if others may have the key, replace it by "${revocation(key)}"`;
  return keyState(key) === 'signing'
    ? 'signs now: publish it exactly so'
    : 'new: it signs once this record can be seen';
}
