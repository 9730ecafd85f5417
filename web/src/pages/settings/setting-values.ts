import type { ResultOf } from '../../../../src/operations/table.ts';
import { formatBytes } from '../../format.ts';

/** Values of settings as people read and write them. */

/** A setting as the server tells of it. */
export type Setting = ResultOf<'settings'>[number];

/** What is being written in a form; `null` is no value at all. */
export type Draft = string | boolean | readonly string[] | null;

/** What a draft comes to. */
export type Reading = { readonly value: unknown } | { readonly fault: string };

/** Whose value it is, as far as that says how to show it. */
interface Shown {
  readonly key: string;
  readonly unit: string | null;
  /** What holds where there is no value. */
  readonly none?: string | null;
}

/** A unit as it stands beside a field. */
export function shortUnit(unit: string): string {
  return unit.replace(/^.* per minute$/, '/min').replace(/ per second$/, '/s');
}

/** A value in a few words, for lists and comparisons. */
export function showSetting(value: unknown, shown: Shown): string {
  if (value === null || value === undefined) return shown.none ?? 'none';
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'number') return showNumber(value, shown);
  if (value === '') return 'empty';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(showItem).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function showNumber(value: number, { key, unit }: Shown): string {
  if (unit === 'bytes') return formatBytes(value);
  const count = /(^|[._])ports?$/.test(key) ? String(value) : value.toLocaleString('en-US');
  if (unit === null) return count;
  const short = shortUnit(unit);
  if (short === '/min') return `${count} a minute`;
  if (short === 'percent') return `${count} %`;
  return `${count} ${value === 1 ? short.replace(/s$/, '') : short}`;
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

/** The value that a draft stands for. */
export function readDraft(setting: Pick<Setting, 'kind' | 'nullable' | 'items'>, draft: Draft): Reading {
  const { kind, nullable, items: itemKind } = setting;
  if (draft === null) return nullable ? { value: null } : { fault: 'A value is needed.' };
  if (typeof draft === 'boolean') return { value: draft };
  if (kind === 'list') {
    const items = typeof draft === 'string' ? splitList(draft) : draft;
    return { value: itemKind === 'integer' ? items.map(asNumber) : items };
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

function readJson(text: string): Reading {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { fault: `This is not JSON: ${error instanceof Error ? error.message : 'it cannot be read'}` };
  }
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
