import type { Feedback } from '../domain/feedback.ts';
import { addressKey } from '../domain/mailbox.ts';
import type { Recipient } from '../domain/message.ts';
import { readTypedAddress } from './delivery-status.ts';

/** Finds the recipients of ours that feedback is about, however it came. */

/** Two addresses are the same to feedback if these are. */
type KeyOf = (address: string) => string;
/** The recipient with a name; null where several have it. */
type Names = ReadonlyMap<string, number | null>;

/**
 * For each piece of feedback on one message, the place among the message's recipients of the one that it is about: the
 * one that the token numbers, else the first that it names, else the only one. Null if none of these is one of them;
 * such feedback changes no recipient. ASCII case matters only between recipients that differ in nothing else. Linear in
 * the number of both.
 */
export function recipientsOfFeedback(
  feedback: readonly Pick<Feedback, 'message' | 'recipient' | 'alternatives'>[],
  recipients: readonly Pick<Recipient, 'address' | 'orcpt'>[],
): readonly (number | null)[] {
  // What its sender gave in ORCPT comes back as Original-Recipient (RFC 3461 §6.3).
  const byAllNames = finder(recipients.map(({ address, orcpt }) => [address, ...originalsOf(orcpt)]));
  const byAddress = finder(recipients.map(({ address }) => [address]));
  return feedback.map(({ message, recipient, alternatives = [] }) => {
    const numbered = message.token?.recipient ?? null;
    if (numbered !== null) return numbered in recipients ? numbered : null;
    const names = recipient === null ? alternatives : [recipient, ...alternatives];
    return byAllNames(names) ?? byAddress(names) ?? (recipients.length === 1 ? 0 : null);
  });
}

function originalsOf(orcpt: string | null): string[] {
  const original = orcpt === null ? null : readTypedAddress(orcpt);
  return original === null ? [] : [original.address, original.decoded];
}

/** Finds the first of some names that belongs to one recipient, each exactly before without regard to case. */
function finder(namesOfEach: readonly (readonly string[])[]) {
  const kinds = [addressKey, caselessKey].map((keyOf) => ({ keyOf, places: placesBy(keyOf, namesOfEach) }));
  return (names: readonly string[]): number | null => {
    for (const name of names)
      for (const { keyOf, places } of kinds) {
        const place = places.get(keyOf(name)) ?? null;
        if (place !== null) return place;
      }
    return null;
  };
}

function placesBy(keyOf: KeyOf, namesOfEach: readonly (readonly string[])[]): Names {
  const places = new Map<string, number | null>();
  for (const [place, names] of namesOfEach.entries())
    for (const key of new Set(names.map(keyOf))) places.set(key, places.has(key) ? null : place);
  return places;
}

function caselessKey(address: string): string {
  return addressKey(address).replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
