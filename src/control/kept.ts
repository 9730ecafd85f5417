import { withoutKeys } from '../lib/id.ts';
import { MAX_JOURNAL_TEXT } from '../store/journal.ts';

/** How what was seen of a thing is kept in the activity: without secrets, and short. */

/** In the place of what is never kept. */
const MASK = '********';
/** Fields by these names are never kept, wherever they stand. */
const SECRET = /secret|password|passphrase|token|private|recoverycodes/i;
/** Characters of one text, items of one list, fields of one map, and how deep they may lie. */
const MAX_CHARACTERS = 1000;
const MAX_ITEMS = 50;
const MAX_DEPTH = 8;
/** Characters of a subject. */
export const MAX_SUBJECT = 200;

/** A value as JSON text to keep; null for undefined. `hide`: further fields of the value itself that are never kept. */
export function kept(value: unknown, hide: readonly string[] = []): string | null {
  if (value === undefined) return null;
  const json = JSON.stringify(cleaned(value, hide, 0));
  if (json.length <= MAX_JOURNAL_TEXT) return json;
  return JSON.stringify({ note: `left out: ${json.length} characters` });
}

/** Text, cut where it is longer than `max` characters, and without API keys: people paste them where a name belongs. */
export function shortened(text: string, max: number): string {
  const safe = withoutKeys(text);
  return safe.length <= max ? safe : `${safe.slice(0, max - 1)}…`;
}

/** What differs between two maps, of each what it had; both as they are where one is no map. */
export function differences(before: unknown, after: unknown): readonly [before: unknown, after: unknown] {
  if (!isRecord(before) || !isRecord(after)) return [before, after];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  const only = (map: Record<string, unknown>) =>
    Object.fromEntries(changed.filter((name) => Object.hasOwn(map, name)).map((name) => [name, map[name]]));
  return [only(before), only(after)];
}

function cleaned(value: unknown, hide: readonly string[], depth: number): unknown {
  if (typeof value === 'string') return shortened(value, MAX_CHARACTERS);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === MAX_DEPTH) return '…';
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => cleaned(item, [], depth + 1));
    return value.length > MAX_ITEMS ? [...items, `… and ${value.length - MAX_ITEMS} more`] : items;
  }
  const fields = Object.entries(value);
  const clean = fields
    .slice(0, MAX_ITEMS)
    .map(([name, field]) => [name, cleanedField(name, field, hide, depth)]);
  if (fields.length > MAX_ITEMS) clean.push(['…', `${fields.length - MAX_ITEMS} more`]);
  return Object.fromEntries(clean);
}

/** Whether there is a secret may be known: a flag and null are kept. */
function cleanedField(name: string, field: unknown, hide: readonly string[], depth: number): unknown {
  const isSecret = hide.includes(name) || SECRET.test(name);
  return isSecret && typeof field !== 'boolean' && field !== null ? MASK : cleaned(field, [], depth + 1);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
