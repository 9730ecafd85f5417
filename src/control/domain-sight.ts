/** Whether the records of a domain's keys can be seen in the DNS. */
import { parseDkimRecord } from '../dns/mail-records.ts';
import type { Resolver } from '../dns/resolver.ts';
import type { DomainKey } from '../domain/sending-domain.ts';
import { KEY_TYPES, keyName } from './domain-records.ts';

/**
 * What was seen of a key's record. `seen`: it says what it must. `wrong`: it is there, and says something else, as
 * `detail` tells; `revoked`: that nobody signs by it any more (an empty `p=`). `unknown`: the DNS did not answer.
 */
export interface Sight {
  readonly kind: 'seen' | 'missing' | 'wrong' | 'revoked' | 'unknown';
  /** A sentence; empty where there is nothing to tell. */
  readonly detail: string;
}

const SEEN: Sight = { kind: 'seen', detail: '' };

/** Looks for a key's record. Never rejects. */
export async function lookForKey(
  domain: string,
  key: DomainKey,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<Sight> {
  const answer = await resolver.resolve(keyName(domain, key.selector), 'TXT', signal);
  if (answer.kind === 'failed') return { kind: 'unknown', detail: answer.text };
  if (answer.kind !== 'found') return { kind: 'missing', detail: 'There is no such record.' };
  const [text = '', ...others] = answer.records;
  // Receivers may take any of several (RFC 6376 §3.6.2.2).
  if (others.length > 0) return wrong(`There are ${others.length + 1} records where one must be.`);
  return judge(text, key);
}

function judge(text: string, { algorithm, publicKey }: DomainKey): Sight {
  const record = parseDkimRecord(text);
  if (record === null) return wrong('What is there is no record of a key.');
  if (record.publicKey === '')
    return { kind: 'revoked', detail: 'Its p= is empty: the key is revoked there.' };
  if (record.keyType !== KEY_TYPES[algorithm])
    return wrong(`Its k= is ${record.keyType}, and the key is ${KEY_TYPES[algorithm]}.`);
  if (record.publicKey !== publicKey)
    return publicKey.startsWith(record.publicKey)
      ? wrong(
          'Its p= is cut off; the value must be published whole, in several strings where one is too short.',
        )
      : wrong('Its p= is another public key.');
  if (record.hashes !== null && !record.hashes.includes('sha256')) return wrong('Its h= leaves sha256 out.');
  if (record.otherService) return wrong('Its s= leaves email out.');
  if (record.testing)
    return { kind: 'seen', detail: 'It has t=y: receivers are told to ignore the signature.' };
  return SEEN;
}

function wrong(detail: string): Sight {
  return { kind: 'wrong', detail };
}
