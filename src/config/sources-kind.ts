import { parseDomain } from '../domain/domain-name.ts';
import type { NamedSource } from '../domain/source.ts';
import { isTag } from '../domain/tag.ts';
import { unknownRule } from './fault.ts';
import { cidr, type Flaw, flawsOf, formOf, integer, isRecord, type Kind, listOf, text } from './kinds.ts';

/** `listener.sources`: devices with a name of their own, but without a key. */

/** One member of a row. */
export interface SourceField<T> {
  readonly kind: Kind<T>;
  /** Undefined: must be given. */
  readonly fallback: T | undefined;
  readonly meaning: string;
}

const MAX_TAGS = 100;

/** The members of a row, in the order in which they are documented. */
export const SOURCE_FIELDS = {
  name: field(
    text('1 to 64 of a-z 0-9 - _', (raw) => /^[a-z0-9_-]{1,64}$/.test(raw)),
    undefined,
    'Its name in the log, and whose its messages are. No two rows have the same.',
  ),
  cidr: field(cidr, undefined, 'Its address, or the range of its addresses.'),
  sender_domains: field(
    listOf(text('a domain', (raw) => parseDomain(raw) !== null)),
    [],
    'Domains it may send from, in the envelope and in From and Sender; not what is below them. Empty means any.',
  ),
  rate_per_minute: field(
    integer(0, 10_000_000, 'messages per minute'),
    0,
    'Messages a minute it may send. 0 leaves it to `listener.rate_limit_per_source`.',
  ),
  tags: field(
    listOf(text('1 to 128 printable characters', isTag), 0, MAX_TAGS),
    [],
    'Put on every message of it, besides its own.',
  ),
};

type Fields = typeof SOURCE_FIELDS;
type FieldName = keyof Fields;
type Values = { readonly [K in FieldName]: Fields[K] extends SourceField<infer T> ? T : never };

const NAMES = Object.keys(SOURCE_FIELDS);

/** One row. */
const row: Kind<NamedSource> = {
  rule: `a map of ${NAMES.join(', ')}, of which name and cidr must be given`,
  unit: null,
  form: formOf('json'),
  read: (raw) => {
    const { values, flaws } = readRow(raw);
    return flaws.length === 0 && isWhole(values) ? toSource(values) : undefined;
  },
  flaws: (raw) => readRow(raw).flaws,
  fromText: (line) => line,
};

/** The list of them; in the environment as JSON. */
export const sources: Kind<readonly NamedSource[]> = { ...listOf(row), fromText: fromJson };

/** A row as it would stand in the configuration. */
export function sourceDefinition(source: NamedSource): Values {
  const { name, cidr: range, senderDomains, ratePerMinute, tags } = source;
  return { name, cidr: range, sender_domains: senderDomains, rate_per_minute: ratePerMinute, tags };
}

function readRow(raw: unknown): { readonly values: Partial<Values>; readonly flaws: readonly Flaw[] } {
  if (!isRecord(raw))
    return { values: {}, flaws: [{ place: '', value: undefined, rule: `must be ${row.rule}` }] };
  const flaws: Flaw[] = Object.keys(raw)
    .filter((name) => !NAMES.includes(name))
    .map((name) => ({ place: `.${name}`, value: undefined, rule: unknownRule('field', name, NAMES) }));
  const values: Partial<Values> = {};
  for (const [name, { kind, fallback }] of Object.entries(SOURCE_FIELDS)) {
    const item = raw[name];
    const value = item === undefined ? fallback : kind.read(item);
    if (value !== undefined) Object.assign(values, { [name]: value });
    else if (item === undefined) flaws.push({ place: `.${name}`, value: item, rule: 'must be given' });
    else flaws.push(...flawsOf(kind, item, `.${name}`));
  }
  return { values, flaws };
}

function toSource(values: Values): NamedSource {
  return {
    name: values.name,
    cidr: values.cidr,
    senderDomains: values.sender_domains.map(canonical),
    ratePerMinute: values.rate_per_minute,
    tags: values.tags,
  };
}

function fromJson(line: string): unknown {
  if (line.trim() === '') return [];
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

/** As addresses have it: lower case, in A-labels. */
function canonical(given: string): string {
  return parseDomain(given) ?? given;
}

function isWhole(values: Partial<Values>): values is Values {
  return NAMES.every((name) => Object.hasOwn(values, name));
}

function field<T>(kind: Kind<T>, fallback: NoInfer<T> | undefined, meaning: string): SourceField<T> {
  return { kind, fallback, meaning };
}
