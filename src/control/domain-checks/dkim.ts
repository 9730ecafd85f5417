import { keyState, recordUntil } from '../../domain/domain-keys.ts';
import type { DomainKey } from '../../domain/sending-domain.ts';
import { formatTimestamp } from '../../lib/clock.ts';
import { type Finding, fail, ok, skipped, warn } from '../doctor/finding.ts';
import { keyName, keyRecord, publish, zoneLine } from '../domain-records.ts';
import { lookForKey, type Sight } from '../domain-sight.ts';
import type { DomainCheck } from './inquiry.ts';

/** Whether each key's record says what it must (RFC 6376 §3.6.1). */
export const dkimCheck: DomainCheck = async ({ domain, resolver }, signal) => {
  if (domain.keys.length === 0)
    return [
      fail('DKIM', 'The domain has no key: nothing is signed.', `waybill domains rotate ${domain.name}`),
    ];
  return await Promise.all(
    domain.keys.map(async (key) =>
      tell(domain.name, key, await lookForKey(domain.name, key, resolver, signal)),
    ),
  );
};

/** What a sight of a key's record means, by where the key is in its life. */
function tell(domain: string, key: DomainKey, { kind, detail }: Sight): Finding {
  const name = `DKIM ${key.selector}`;
  const state = keyState(key);
  const cure = publish(zoneLine(keyName(domain, key.selector), keyRecord(key)));
  if (state !== 'retired' && key.privateKey === null)
    return fail(
      name,
      'The key cannot be read with the present secret.key: it signs nothing.',
      `put back the secret.key of before, or make new keys: waybill domains rotate ${domain}`,
    );
  if (kind === 'unknown') return skipped(name, `The record cannot be told: ${detail}`);
  if (state === 'retired' && kind === 'revoked')
    return ok(
      name,
      'It is retired and revoked: nobody can sign by it, and mail of yours that it signed counts as unsigned.',
    );
  if (kind === 'seen' && detail !== '') return warn(name, detail, cure);
  if (state === 'signing')
    return kind === 'seen'
      ? ok(name, `It signs (${key.algorithm}), and its record is right.`)
      : fail(name, `It signs, and receivers cannot verify that. ${detail}`, cure);
  if (state === 'waiting')
    return kind === 'seen'
      ? ok(name, 'Its record is right; it signs as soon as those of all new keys are.')
      : warn(name, `It is new, and waits until its record can be seen. ${detail}`, cure);
  const until = formatTimestamp(recordUntil(key) ?? 0);
  return kind === 'seen'
    ? ok(name, `It is retired; its record must stay until ${until}.`)
    : warn(
        name,
        `It is retired, but mail that it signed may be under way: its record must stay until ${until}. ${detail}`,
        cure,
      );
}
