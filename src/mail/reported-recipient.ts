import { addressKey } from '../domain/mailbox.ts';
import type { Recipient } from '../domain/message.ts';
import { type RecipientStatus, type ReportedAddress, readTypedAddress } from './delivery-status.ts';

/** Finds the recipients of ours that a report is about. */

/** Two addresses are the same to a report if these are. */
type KeyOf = (address: string) => string;
/** The recipient with a name; null where several have it. */
type Names = ReadonlyMap<string, number | null>;

/**
 * For each status of a report, the place among the message's recipients of the one that it is about: the one that the
 * token of the return path numbers, else the one that Original-Recipient names, else the one that Final-Recipient
 * names, else the only one. Null if none of these is one of them; such a status changes nothing. `numbered` is null for
 * a token of several recipients, and without a token. ASCII case matters only between recipients that differ in nothing
 * else. Linear in the number of both.
 */
export function reportedRecipients(
  statuses: readonly Pick<RecipientStatus, 'originalRecipient' | 'finalRecipient'>[],
  recipients: readonly Pick<Recipient, 'address' | 'orcpt'>[],
  numbered: number | null,
): readonly (number | null)[] {
  if (numbered !== null) return statuses.map(() => (numbered in recipients ? numbered : null));
  const addresses = recipients.map(({ address }) => [address]);
  // What its sender gave in ORCPT comes back as Original-Recipient (RFC 3461 §6.3).
  const originals = recipients.map(({ address, orcpt }) => [address, ...originalsOf(orcpt)]);
  const findFinal = finder(addresses);
  const findOriginal = finder(originals);
  return statuses.map(
    ({ originalRecipient, finalRecipient }) =>
      findOriginal(originalRecipient) ?? findFinal(finalRecipient) ?? (recipients.length === 1 ? 0 : null),
  );
}

function originalsOf(orcpt: string | null): string[] {
  const original = orcpt === null ? null : readTypedAddress(orcpt);
  return original === null ? [] : [original.address, original.decoded];
}

/** Finds an address as it is written before as it is decoded, and exactly before without regard to case. */
function finder(namesOfEach: readonly (readonly string[])[]) {
  const kinds = [addressKey, caselessKey].map((keyOf) => ({ keyOf, names: namesBy(keyOf, namesOfEach) }));
  return (reported: ReportedAddress | null): number | null => {
    if (reported === null) return null;
    for (const wanted of [reported.address, reported.decoded])
      for (const { keyOf, names } of kinds) {
        const place = names.get(keyOf(wanted));
        if (place !== undefined) return place;
      }
    return null;
  };
}

function namesBy(keyOf: KeyOf, namesOfEach: readonly (readonly string[])[]): Names {
  const places = new Map<string, number | null>();
  for (const [place, names] of namesOfEach.entries())
    for (const key of new Set(names.map(keyOf))) places.set(key, places.has(key) ? null : place);
  return places;
}

function caselessKey(address: string): string {
  return addressKey(address).replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
