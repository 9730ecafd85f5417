import { isIP } from 'node:net';
import { parseDomain } from '../domain/domain-name.ts';
import { parseMailbox } from '../domain/mailbox.ts';
import { parseCidrs } from '../lib/network.ts';

/** A fault inside a value. */
export interface Flaw {
  /** Its place, as a suffix of the key: `[2].name`; empty for the value as a whole. */
  readonly place: string;
  /** The value there; undefined if there is none. */
  readonly value: unknown;
  /** The rule it breaks, as a phrase that follows key and value. */
  readonly rule: string;
}

/** `relay`: the name of one; `list`: of single values, one a line; `json`: any other compound value. */
export const FORM_KINDS = ['boolean', 'integer', 'text', 'choice', 'relay', 'list', 'json'] as const;

/** How a form shows a value. */
export interface FormKind {
  readonly kind: (typeof FORM_KINDS)[number];
  /** For kind `choice`. */
  readonly choices: readonly string[];
  /** For kind `integer`, and for a list of integers: the least and the most. */
  readonly range: readonly [min: number, max: number] | null;
  /** For kind `list`: the kind of its items. */
  readonly items: FormKind['kind'] | null;
  /** Examples of a number with another unit, such as `30s, 5m or 2h`; null if units are not allowed. */
  readonly examples: string | null;
  /** May be without a value. */
  readonly nullable: boolean;
  /** The effect of no value, in a few words; null if undocumented. */
  readonly none: string | null;
}

/** The form of a required value without choices. */
export function formOf(kind: FormKind['kind']): FormKind {
  return { kind, choices: [], range: null, items: null, examples: null, nullable: false, none: null };
}

/** The valid values of a setting. The rule is a phrase that completes "must be …". */
export interface Kind<T> {
  readonly rule: string;
  /** The unit of a number; null if it has none. */
  readonly unit: string | null;
  readonly form: FormKind;
  /** The value, or undefined when `raw` breaks the rule. */
  read(raw: unknown): T | undefined;
  /** The faults inside `raw`, which breaks the rule; for kinds whose rule does not say enough. Never empty. */
  readonly flaws?: (raw: unknown) => readonly Flaw[];
  /** Converts text from the environment, to be passed to `read`. */
  fromText(text: string): unknown;
  /** The value in the form of the configuration file; absent if unchanged. */
  inFile?(value: T): unknown;
}

const INTEGER = /^-?\d{1,15}$/;
const HOSTNAME =
  /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;
const MAX_TEXT = 4096;
const MAX_ITEMS = 1000;

// Sizes and times as people write them: a whole number and a unit, such as `500GiB` or `2h`.

/** Units of size, in bytes. Powers of two have their own names: `MB` is a million. */
const SIZES: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
};

/** Units of time, in ms. */
const TIMES: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

interface Measure {
  readonly units: Readonly<Record<string, number>>;
  /** One of the setting's own unit, in the smallest of `units`. */
  readonly one: number;
  readonly examples: string;
}

const MEASURES: Readonly<Record<string, Measure>> = {
  bytes: { units: SIZES, one: 1, examples: '512KiB, 25MiB or 10GB' },
  ms: { units: TIMES, one: 1, examples: '250ms or 5s' },
  seconds: { units: TIMES, one: 1000, examples: '30s, 5m or 2h' },
  minutes: { units: TIMES, one: 60_000, examples: '30m, 8h or 1d' },
  hours: { units: TIMES, one: 3_600_000, examples: '12h or 2d' },
  days: { units: TIMES, one: 86_400_000, examples: '7d or 48h' },
};

/** A whole number in a range, bounds included; a size or a time may also be a text with a unit. */
export function integer(min: number, max: number, unit: string | null = null): Kind<number> {
  const top = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  const rule = `a whole number ${top}`;
  const measured = isMeasure(unit) ? unit : null;
  const told = (raw: unknown) => [
    { place: '', value: raw, rule: `must be ${rule} ${measureRule(measured ?? '')}` },
  ];
  return {
    rule,
    unit,
    form: { ...formOf('integer'), range: [min, max], examples: MEASURES[unit ?? '']?.examples ?? null },
    read: (raw) => {
      const value = measured !== null && typeof raw === 'string' ? readMeasure(raw, measured) : raw;
      return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
        ? value
        : undefined;
    },
    ...(measured === null ? {} : { flaws: told }),
    fromText: (text) => (INTEGER.test(text) ? Number(text) : text),
  };
}

/** A size in bytes, without an upper limit. */
export function bytes(min: number): Kind<number> {
  return integer(min, Number.MAX_SAFE_INTEGER, 'bytes');
}

/** A TCP port; 0 lets the system choose. */
export const port: Kind<number> = { ...integer(0, 65_535), rule: 'a port from 0 to 65535' };

/** Yes or no. */
export const flag: Kind<boolean> = {
  rule: 'true or false',
  unit: null,
  form: formOf('boolean'),
  read: (raw) => (typeof raw === 'boolean' ? raw : undefined),
  fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text),
};

/** One of a closed list of words. */
export function choice<const W extends string>(...words: readonly W[]): Kind<W> {
  const kind = text(words.join(' or '), (raw): raw is W => words.some((word) => word === raw));
  return { ...kind, form: { ...formOf('choice'), choices: words } };
}

/** Text that satisfies `accepts`. */
export function text<T extends string = string>(
  rule: string,
  accepts: ((raw: string) => raw is T) | ((raw: string) => boolean),
): Kind<T> {
  const isGood = (raw: unknown): raw is T =>
    typeof raw === 'string' && raw.length <= MAX_TEXT && accepts(raw);
  return {
    rule,
    unit: null,
    form: formOf('text'),
    read: (raw) => (isGood(raw) ? raw : undefined),
    fromText: (line) => line,
  };
}

/** A domain name of letters, digits and hyphens (RFC 1123). */
export const hostname: Kind<string> = text('a host name', (raw) => HOSTNAME.test(raw));

/** A host name or an IP literal without brackets. */
export const host: Kind<string> = text(
  'a host name or an IP address',
  (raw) => HOSTNAME.test(raw) || isIP(raw) > 0,
);

/** An IP address without a prefix length. */
export const address: Kind<string> = text('an IP address', (raw) => isIP(raw) > 0);

/** A web origin as browsers write it (RFC 6454 §6.2). */
export const origin: Kind<string> = text(
  'an origin such as https://app.example.com, without a path',
  (raw) => /^https?:\/\//.test(raw) && URL.canParse(raw) && new URL(raw).origin === raw,
);

/** A host as it stands in a URL. */
export const urlHost: Kind<string> = text(
  'a host as in a URL, such as mail.example.com or mail.example.com:8443',
  (raw) => URL.canParse(`https://${raw}`) && new URL(`https://${raw}`).host === raw,
);

/** The URL at which others reach this server: an origin, perhaps with a slash at its end, which is left out. */
export const publicUrl: Kind<string> = {
  ...origin,
  rule: 'a URL such as https://mail.example.com, without a path and query',
  read: (raw) => origin.read(typeof raw === 'string' ? raw.replace(/\/$/, '') : raw),
};

/** A whole URL, in the form that browsers give it. */
export const webUrl: Kind<string> = text(
  'a URL such as http://10.0.0.5:8080/waybill',
  (raw) => /^https?:\/\//.test(raw) && URL.canParse(raw) && new URL(raw).href === raw,
);

/** A mail address without a display name. */
export const mailAddress: Kind<string> = text('a mail address', (raw) => {
  const parsed = parseMailbox(raw);
  return parsed.ok && parsed.value.name === null && parsed.value.address === raw;
});

/** A name in the DNS that mail is addressed to, in any script. */
export const mailDomain: Kind<string> = text('a domain such as bounces.example.com', (raw) => {
  const name = parseDomain(raw);
  return name !== null && !name.startsWith('[') && name.includes('.');
});

/** A file's path. */
export const path: Kind<string> = text('a path', (raw) => raw.length > 0 && !raw.includes('\0'));

/** An address range, or a single address. */
export const cidr: Kind<string> = {
  ...text(
    'a range such as 10.0.0.0/8 or 2001:db8::/32 without bits set behind the prefix, or an address',
    (raw) => parseCidrs([raw]).ok,
  ),
  flaws: (raw) => {
    const parsed = typeof raw === 'string' ? parseCidrs([raw]) : null;
    const rule = parsed === null || parsed.ok ? `must be ${cidr.rule}` : parsed.reason;
    return [{ place: '', value: raw, rule }];
  },
};

/**
 * The given kind, or null; an empty text in the environment means null. `none` says in a few words what null means, for
 * display in place of a value.
 */
export function orNull<T>(kind: Kind<T>, none: string | null = null): Kind<T | null> {
  return {
    rule: `${kind.rule}, or null`,
    unit: kind.unit,
    form: { ...kind.form, nullable: true, none },
    read: (raw) => (raw === null ? null : kind.read(raw)),
    ...(kind.flaws === undefined ? {} : { flaws: (raw) => flawsOf(kind, raw, '').map(orNullToo) }),
    fromText: (line) => (line === '' || line === 'null' ? null : kind.fromText(line)),
  };
}

/** For the value as a whole, null is valid too. */
function orNullToo(flaw: Flaw): Flaw {
  return flaw.place === '' ? { ...flaw, rule: `${flaw.rule}, or null` } : flaw;
}

/** The faults of `raw`, which `kind` refuses, at `place`. */
export function flawsOf(kind: Kind<unknown>, raw: unknown, place: string): readonly Flaw[] {
  const flaws = kind.flaws?.(raw) ?? [{ place: '', value: raw, rule: `must be ${kind.rule}` }];
  return flaws.map((flaw) => ({ ...flaw, place: place + flaw.place }));
}

/** A list; in the environment as JSON or separated by commas. */
export function listOf<T>(kind: Kind<T>, minItems = 0, maxItems = MAX_ITEMS): Kind<readonly T[]> {
  const atMost = maxItems < MAX_ITEMS ? `; at most ${maxItems}` : '';
  const rule = `a list in which each element is ${kind.rule}${minItems > 0 ? '; an empty list is refused' : ''}${atMost}`;
  const isGood = (raw: unknown): raw is readonly unknown[] =>
    Array.isArray(raw) && raw.length >= minItems && raw.length <= maxItems;
  return {
    rule,
    unit: kind.unit,
    form: ['list', 'json'].includes(kind.form.kind)
      ? formOf('json')
      : { ...formOf('list'), items: kind.form.kind, range: kind.form.range },
    flaws: (raw) => flawsOfItems(kind, raw, rule, isGood),
    read: (raw) => {
      if (!isGood(raw)) return undefined;
      const items: T[] = [];
      for (const item of raw) {
        const value = kind.read(item);
        if (value === undefined) return undefined;
        items.push(value);
      }
      return items;
    },
    fromText: (line) => listFromText(line, kind),
  };
}

/** The faults of the items; if there are none, of the list itself. */
function flawsOfItems(
  kind: Kind<unknown>,
  raw: unknown,
  rule: string,
  isGood: (raw: unknown) => raw is readonly unknown[],
): readonly Flaw[] {
  if (!isGood(raw)) return [{ place: '', value: raw, rule: `must be ${rule}` }];
  return raw.flatMap((item, index) =>
    kind.read(item) === undefined ? flawsOf(kind, item, `[${index}]`) : [],
  );
}

/** Whether a value from outside is a map. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function listFromText(line: string, kind: Kind<unknown>): unknown {
  const trimmed = line.trim();
  if (trimmed === '') return [];
  if (!trimmed.startsWith('[')) return trimmed.split(',').map((item) => kind.fromText(item.trim()));
  try {
    return JSON.parse(trimmed);
  } catch {
    return line;
  }
}

const WRITTEN = /^(\d{1,15}) ?([A-Za-z]{1,3})$/;

/** Whether a number in this unit may be written with another one. */
function isMeasure(unit: string | null): unit is string {
  return unit !== null && Object.hasOwn(MEASURES, unit);
}

/** A text's value in `unit`; undefined if it is invalid, or not a whole number of them. */
function readMeasure(text: string, unit: string): number | undefined {
  const measure = MEASURES[unit];
  const [, digits = '', name = ''] = WRITTEN.exec(text) ?? [];
  if (measure === undefined || !Object.hasOwn(measure.units, name)) return undefined;
  const count = (Number(digits) * (measure.units[name] ?? 0)) / measure.one;
  return Number.isSafeInteger(count) ? count : undefined;
}

/** The alternatives to a plain number of this unit, as the end of a rule. */
function measureRule(unit: string): string {
  const { units = {}, examples = '' } = MEASURES[unit] ?? {};
  return `${unit}, or a whole number of ${unit} with a unit (${Object.keys(units).join(', ')}), such as ${examples}`;
}
