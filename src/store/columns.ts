import { PRIORITIES, type Priority } from '../domain/message.ts';
import type { ClaimOrder } from './store.ts';

/** How values of the domain are written into columns, whatever the database. */

/** The column form of a priority; lower goes first. */
export function rankOf(priority: Priority): number {
  return PRIORITIES.indexOf(priority);
}

/** The priority of a rank. */
export function priorityOf(rank: number): Priority {
  return PRIORITIES[rank] ?? 'normal';
}

const RANKS: Readonly<Record<ClaimOrder, readonly number[]>> = {
  high_first: [rankOf('high'), rankOf('normal'), rankOf('bulk')],
  high_only: [rankOf('high')],
  bulk_first: [rankOf('bulk'), rankOf('normal'), rankOf('high')],
};

/** The ranks of what is claimed, in this order. */
export function ranksOf(order: ClaimOrder): readonly number[] {
  return RANKS[order];
}

/** Reads a JSON column that this program wrote. */
export function fromJson<T>(text: string): T {
  return JSON.parse(text) as T;
}

/** The column form of a group of relays, whose names hold no comma; null for none. */
export function fromGroup(group: readonly string[]): string | null {
  return group.length === 0 ? null : group.join(',');
}

/** The names in a group; none where mail was accepted before there were groups. */
export function groupOf(column: string | null): string[] {
  return column === null ? [] : column.split(',');
}
