/**
 * The suppression list as the world knows it: entries that must be there, and those that may be, because somebody told
 * of something and nobody knows yet whether that was heard.
 */

import type { Suppression } from '../../src/domain/suppression.ts';

/** What an entry is the only one of. */
export interface Entry {
  /** A mailbox in small letters, or `*@domain`. */
  readonly address: string;
  readonly scope: 'global' | `domain:${string}`;
  readonly stream: string | null;
}

/** Mail that is on its way to somebody. */
export interface Mail {
  readonly fromDomain: string;
  readonly stream: string | null;
}

/** An entry, or a soft bounce, that is on its way into the list. */
export interface Coming {
  readonly entry: Entry;
  readonly isSoft: boolean;
  /** People removed entries of the address meanwhile: whether this one came before, nobody knows. */
  isCrossed: boolean;
}

/** So many soft bounces in a row suppress. */
const SOFT_BOUNCES = 5;

/** See the file's comment. */
export class Listed {
  readonly #certain = new Map<string, Entry>();
  readonly #possible = new Map<string, Entry>();
  readonly #coming = new Set<Coming>();
  /** Soft bounces in a row by address: at least, and at most so many, without those that are coming. */
  readonly #soft = new Map<string, { least: number; most: number }>();

  /** Somebody begins to tell of it. */
  comes(entry: Entry, isSoft: boolean): Coming {
    const coming = { entry, isSoft, isCrossed: false };
    this.#coming.add(coming);
    this.#mayBeEnough(entry.address);
    return coming;
  }

  /** It has come by now, unless people took it away again. */
  came(coming: Coming): void {
    if (!this.#coming.delete(coming)) return;
    if (coming.isSoft) this.softBounced(coming.entry.address);
    else if (coming.isCrossed) this.#possible.set(keyOf(coming.entry), coming.entry);
    else this.is(coming.entry);
  }

  /** This entry is there from now on. */
  is(entry: Entry): void {
    this.#certain.set(keyOf(entry), entry);
    this.#possible.set(keyOf(entry), entry);
  }

  /** A soft bounce of this address was written just now. */
  softBounced(address: string): void {
    const counted = this.#soft.get(address) ?? { least: 0, most: 0 };
    counted.least++;
    counted.most = Math.min(counted.most + 1, SOFT_BOUNCES);
    this.#soft.set(address, counted);
    this.#mayBeEnough(address);
    if (counted.most < SOFT_BOUNCES) return;
    if (counted.least >= SOFT_BOUNCES) this.is(globally(address));
    // The row may have begun anew, or it has not been so many.
    this.#soft.set(address, { least: 0, most: counted.least >= SOFT_BOUNCES ? 0 : SOFT_BOUNCES - 1 });
  }

  /** Soft bounces of this address may have been written, one or none. */
  mayHaveSoftBounced(address: string): void {
    const counted = this.#soft.get(address) ?? { least: 0, most: 0 };
    counted.most = Math.min(counted.most + 1, SOFT_BOUNCES);
    if (counted.most === SOFT_BOUNCES) counted.least = 0;
    this.#soft.set(address, counted);
    this.#mayBeEnough(address);
  }

  /** Mail to this address was delivered just now: that ends the row, unless it comes back. */
  delivered(address: string): void {
    const counted = this.#soft.get(address);
    if (counted !== undefined) counted.least = 0;
  }

  /** People removed all entries with this address just now. */
  removed(address: string): void {
    for (const entries of [this.#certain, this.#possible])
      for (const [key, entry] of entries) if (entry.address === address) entries.delete(key);
    for (const coming of this.#coming) if (coming.entry.address === address) coming.isCrossed = true;
    this.#mayBeEnough(address);
  }

  /** Addresses that have an entry for certain. */
  addresses(): string[] {
    return [...new Set([...this.#certain.values()].map(({ address }) => address))];
  }

  /** Whether an entry stops this mail for certain. */
  mustStop(mail: Mail, recipient: string): boolean {
    return [...this.#certain.values()].some((entry) => stops(entry, mail, recipient));
  }

  /** Whether an entry may stop this mail, for all that the world knows. */
  mayStop(mail: Mail, recipient: string): boolean {
    const coming = [...this.#coming].filter(({ isSoft }) => !isSoft).map(({ entry }) => entry);
    return [...this.#possible.values(), ...coming].some((entry) => stops(entry, mail, recipient));
  }

  /** With those that are coming there may be enough soft bounces at any time. */
  #mayBeEnough(address: string): void {
    const coming = [...this.#coming].filter(({ entry, isSoft }) => isSoft && entry.address === address);
    const { most } = this.#soft.get(address) ?? { most: 0 };
    if (most + coming.length < SOFT_BOUNCES) return;
    const entry = globally(address);
    this.#possible.set(keyOf(entry), entry);
  }
}

/** What a bounce of this address makes. */
export function globally(address: string): Entry {
  return { address, scope: 'global', stream: null };
}

/** An entry that somebody makes for an address, at `now` (wall ms). */
export function madeByHand(address: string, id: string, now: number): Suppression {
  const made = { reason: 'manual', source: 'api', evidence: null, note: '' } as const;
  return { ...globally(address), id, ...made, createdAt: now, updatedAt: now, expiresAt: null };
}

function keyOf({ address, scope, stream }: Entry): string {
  return `${address} ${scope} ${stream ?? ''}`;
}

function stops({ address, scope, stream }: Entry, mail: Mail, recipient: string): boolean {
  const to = recipient.toLowerCase();
  if (address !== to && address !== `*@${domainOf(to)}`) return false;
  if (stream !== null && stream !== mail.stream) return false;
  return scope === 'global' || scope === `domain:${mail.fromDomain}`;
}

/** The domain of an address. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
