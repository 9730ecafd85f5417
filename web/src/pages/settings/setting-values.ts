import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatBytes } from '../../format.ts';

/** Values of settings as people read and write them. */

/** A setting as the server tells of it. */
export type Setting = ResultOf<'settings'>[number];

/** What is being written in a form; `null` is no value at all. */
export type Draft = string | boolean | readonly string[] | null;

/** What a draft comes to. */
export type Reading = { readonly value: unknown } | { readonly fault: string };

/** What a value counts, by the end of its key: `api.keep_alive_seconds`. */
export function unitOf(key: string): string | null {
  const end = /_(bytes|seconds|minutes|hours|days|ms|percent)(_in_flight)?$/.exec(key)?.[1];
  if (end !== undefined) return end;
  if (/bytes_per_second$/.test(key)) return 'bytes/s';
  return /_per_(minute|key|source)$/.test(key) && /rate|messages_per_minute/.test(key) ? '/min' : null;
}

/** A value in a few words, for lists and comparisons. `none` is what holds where there is no value. */
export function showSetting(value: unknown, key: string, none: string | null = null): string {
  if (value === null || value === undefined) return none ?? 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number') return showNumber(value, key);
  if (value === '') return 'empty';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(showItem).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function showNumber(value: number, key: string): string {
  const unit = unitOf(key);
  if (unit === 'bytes') return formatBytes(value);
  const count = /(^|[._])ports?$/.test(key) ? String(value) : value.toLocaleString('en-US');
  if (unit === null) return count;
  if (unit === '/min') return `${count} a minute`;
  if (unit === 'percent') return `${count} %`;
  return `${count} ${value === 1 ? unit.replace(/s$/, '') : unit}`;
}

function showItem(item: unknown): string {
  if (typeof item === 'string' || typeof item === 'number') return String(item);
  const name = (item as { readonly name?: unknown } | null)?.name;
  return typeof name === 'string' ? name : JSON.stringify(item);
}

/** What a form begins with. A secret is never filled in. */
export function draftOf({ kind, value }: Pick<Setting, 'kind' | 'value'>): Draft {
  if (kind === 'boolean') return value === null ? null : value === true;
  if (kind === 'secret') return '';
  if (value === null || value === undefined) return null;
  if (kind === 'list') return Array.isArray(value) ? value.map(String) : [];
  if (kind === 'json') return JSON.stringify(value, null, 2);
  return String(value);
}

/**
 * The value that a draft stands for. Lists of numbers stay numbers: of what kind the items are is told by the values
 * that the setting has, or has by default.
 */
export function readDraft(
  setting: Pick<Setting, 'kind' | 'nullable' | 'value' | 'defaultValue'>,
  draft: Draft,
): Reading {
  const { kind, nullable } = setting;
  if (draft === null) return nullable ? { value: null } : { fault: 'A value is needed.' };
  if (typeof draft === 'boolean') return { value: draft };
  if (kind === 'list') {
    const items = typeof draft === 'string' ? splitList(draft) : draft;
    return { value: hasNumbers(setting) ? items.map(asNumber) : items };
  }
  const text = typeof draft === 'string' ? draft.trim() : draft.join('\n');
  if (kind === 'integer') return readInteger(text);
  if (kind === 'json') return readJson(text);
  return { value: kind === 'secret' ? draft : text };
}

/** With a unit, as in `500GiB` or `2h`, the server reads it, or says which units there are. */
function readInteger(text: string): Reading {
  if (/^-?\d{1,15}$/.test(text)) return { value: Number(text) };
  return /^\d{1,15} ?[A-Za-z]{1,3}$/.test(text) ? { value: text } : { fault: 'A whole number is needed.' };
}

/** Whether a number may be given with another unit than its own. */
export function takesUnits(key: string): boolean {
  return /_(bytes|bytes_in_flight|ms|seconds|minutes|hours|days)$/.test(key);
}

function readJson(text: string): Reading {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { fault: `This is not JSON: ${error instanceof Error ? error.message : 'it cannot be read'}` };
  }
}

function hasNumbers({ value, defaultValue }: Pick<Setting, 'value' | 'defaultValue'>): boolean {
  const items = [value, defaultValue].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return items.length > 0 && items.every((item) => typeof item === 'number');
}

function asNumber(item: string): unknown {
  return /^-?\d{1,15}$/.test(item) ? Number(item) : item;
}

/** The items of a list that was typed: one a line, or with commas or blanks between them. */
export function splitList(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((item) => item !== ''))];
}

/** Whether two values are the same, written out. */
export function sameValue(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

/** What was added to a list and what was taken away; null unless both are lists of words. */
export function listChange(
  before: unknown,
  after: unknown,
): { readonly added: readonly string[]; readonly removed: readonly string[] } | null {
  if (!Array.isArray(before) || !Array.isArray(after)) return null;
  const was = before.map(showItem);
  const is = after.map(showItem);
  return {
    added: is.filter((item) => !was.includes(item)),
    removed: was.filter((item) => !is.includes(item)),
  };
}
