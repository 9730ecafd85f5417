import { createHash } from 'node:crypto';
import type { MessageStatus } from '../domain/delivery.ts';
import { holdable } from '../postgres/text.ts';
import { fromJson } from '../store/columns.ts';
import { BYTES_GAUGE, type GaugeName, gaugeOf, type Kept } from '../store/counting.ts';
import { NOTE_PREFIX, type Registry } from '../store/registry.ts';
import { StoreError } from '../store/store.ts';
import { DELIVERIES, MESSAGES, type Row, reader } from './tables.ts';

/** The sums that stores maintain, as far as rows determine them: derived again at the target. */

/** Where to add; the stores' own tallies are such. */
export interface Sums {
  gauge(name: GaugeName, difference: number): void;
  queue(keyId: string | null, messages: 1 | -1, bytes: number): void;
  segment(segment: number, live: number, bytes: number): void;
}

const messageStatus = reader<MessageStatus>(MESSAGES, 'status');
const messageKept = reader<Kept | null>(MESSAGES, 'kept');
const messageKey = reader<string | null>(MESSAGES, 'key_id');
const messageSegment = reader<number | null>(MESSAGES, 'segment');
const messageLength = reader<number | null>(MESSAGES, 'length');
const messageId = reader<string>(MESSAGES, 'id');
const messageTags = reader<string>(MESSAGES, 'tags');
const deliveryLane = reader<string | null>(DELIVERIES, 'lane');
const deliveryDueAt = reader<number | null>(DELIVERIES, 'due_at');

/** Adds what follows from a message. */
export function sumMessage(row: Row, sums: Sums): void {
  const status = messageStatus(row);
  const length = messageLength(row);
  const segment = messageSegment(row);
  const kept = messageKept(row);
  const gauge = gaugeOf(status, length !== null);
  if (gauge !== null) sums.gauge(gauge, 1);
  if (status !== 'delivered' && status !== 'failed') sums.queue(messageKey(row), 1, length ?? 0);
  else if (length !== null && (kept === 'sent' || kept === 'captured')) sums.gauge(BYTES_GAUGE[kept], length);
  if (segment !== null && length !== null) sums.segment(segment, 1, length);
}

/** A message's entry in the index of tags. */
export interface Tagged {
  readonly keyId: string;
  readonly tag: string;
  readonly id: string;
}

/** The entries of a message in the index of tags, with tags in the form of `tagOf`. */
export function tagsOf(row: Row, tagOf: (tag: string) => string): Tagged[] {
  const tags = new Set(fromJson<string[]>(messageTags(row)).map(tagOf));
  const keyId = messageKey(row) ?? '';
  return [...tags].map((tag) => ({ keyId, tag, id: messageId(row) }));
}

/** The lane in which a delivery waits, and since when it is due (wall ms); null: it waits in none. */
export function waitingIn(row: Row): { readonly lane: string; readonly dueAt: number } | null {
  const lane = deliveryLane(row);
  const dueAt = deliveryDueAt(row);
  return lane === null || dueAt === null ? null : { lane, dueAt };
}

/**
 * A checksum of the amounts of any number of things, independent of their order: the sum of each amount times 64 bits
 * of the SHA-256 of its name, modulo 2⁶⁴.
 */
export class AmountSum {
  #sum = 0n;

  add(name: readonly (string | number)[], amount: number): void {
    if (amount === 0) return;
    const text = JSON.stringify(name.map((part) => (typeof part === 'string' ? holdable(part) : part)));
    const digest = createHash('sha256').update(text).digest();
    this.#sum = BigInt.asUintN(64, this.#sum + digest.readBigUInt64BE() * BigInt(amount));
  }

  equals(other: AmountSum): boolean {
    return this.#sum === other.#sum;
  }
}

/** The note of an installation that was moved, or is being moved: where to. */
export const MOVED_TO = `${NOTE_PREFIX}moved_to`;
/** The note of an installation that came from elsewhere, or is about to: where from, and the progress. */
export const MOVED_FROM = `${NOTE_PREFIX}moved_from`;

/** The mark at the source, so that nobody starts it by mistake. */
export interface MovedTo {
  /** The migration's id, equal at both ends. */
  readonly id: string;
  /** The target's name. */
  readonly to: string;
  /** Everything is there, and was found equal. */
  readonly done: boolean;
}

/** The mark at the target. */
export interface MovedFrom {
  readonly id: string;
  /** The source's name. */
  readonly from: string;
  readonly done: boolean;
  /** The table being copied; null: all are done. */
  readonly table: string | null;
  /** The key of its last copied row; null: none was copied. */
  readonly after: Row | null;
}

/** Reads a mark; null for none. */
export function markOf<T extends MovedTo | MovedFrom>(value: string | null): T | null {
  return value === null ? null : fromJson<T>(value);
}

/**
 * Refuses (`store_moved`) an installation that is being moved, was moved elsewhere, or has not all arrived. Call it
 * first when opening an installation for work.
 */
export async function refuseMoved(registry: Pick<Registry, 'settings'>): Promise<void> {
  const settings = await registry.settings();
  const movedTo = markOf<MovedTo>(settings.get(MOVED_TO) ?? null);
  if (movedTo !== null) throw new StoreError('store_moved', movedToText(movedTo));
  const movedFrom = markOf<MovedFrom>(settings.get(MOVED_FROM) ?? null);
  if (movedFrom !== null && !movedFrom.done)
    throw new StoreError(
      'store_moved',
      `Not everything has come here from ${movedFrom.from} yet. Go on with it, where it began: waybill migrate`,
    );
}

function movedToText({ to, done }: MovedTo): string {
  const how = done
    ? `This installation was moved to ${to}: what came later is there.`
    : `This installation is being moved to ${to}. Go on with it: waybill migrate --to …`;
  return `${how} To work with this one again, as it is: waybill migrate --undo`;
}
