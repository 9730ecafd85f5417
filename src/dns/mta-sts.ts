/** MTA-STS (RFC 8461): what a domain publishes about TLS to its mail servers. */
import { isHostName } from './name.ts';

/** A policy as its file has it. */
export interface MtaStsPolicy {
  /** `enforce`: no mail to a host that does not match, or without verified TLS. `testing` and `none` ask for nothing. */
  readonly mode: 'enforce' | 'testing' | 'none';
  /** Lower case; `*.` stands for exactly one label. Empty only with mode `none`. */
  readonly mx: readonly string[];
  /** For how long it holds, at most a year (RFC 8461 §3.2). */
  readonly maxAgeSeconds: number;
}

/** A policy, or what is wrong with its file. */
export type StsPolicyResult =
  | { readonly ok: true; readonly policy: MtaStsPolicy }
  | { readonly ok: false; readonly reason: string };

const MAX_AGE_SECONDS = 31_557_600;
const VERSION = /^v=STSv1[ \t]*;/;
/** Name and value of a field of the record (RFC 8461 §3.1). */
const RECORD_FIELD = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31})=([!-:<>-~]+)$/;
const ID = /^[A-Za-z0-9]{1,32}$/;
const POLICY_FIELD = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31}):(.*)$/;
/** A run at the end is tried from its beginning alone: from each blank of every run, it takes the square of their number. */
const BLANK_ENDS = /^[ \t]+|(?<![ \t])[ \t]+$/g;
const MODES = ['enforce', 'testing', 'none'] as const;

/** The id of the one record among the TXT records of `_mta-sts.DOMAIN`; null when there is none, or more than one. */
export function parseStsRecord(records: readonly string[]): string | null {
  const [record, ...more] = records.filter((text) => VERSION.test(text));
  if (record === undefined || more.length > 0) return null;
  const fields = record.split(';').map(withoutBlankEnds);
  if (fields.at(-1) === '') fields.pop();
  const parsed = fields.map((field) => RECORD_FIELD.exec(field));
  if (parsed.includes(null)) return null;
  const id = parsed.find((field) => field?.[1] === 'id')?.[2] ?? '';
  return ID.test(id) ? id : null;
}

/**
 * Reads a policy file (RFC 8461 §3.2): fields in any order, the first of a name counts, but for `mx`; unknown ones are
 * passed over. A file with a fault is no policy at all.
 */
export function parseStsPolicy(text: string): StsPolicyResult {
  const fields = new Map<string, string>();
  const mx: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (/^[ \t]*$/.test(line)) continue;
    const [, name, given = ''] = POLICY_FIELD.exec(line) ?? [];
    if (name === undefined) return flaw('a line is no field');
    const value = withoutBlankEnds(given);
    if (name === 'mx') mx.push(value.toLowerCase());
    else if (!fields.has(name)) fields.set(name, value);
  }
  const mode = MODES.find((known) => known === fields.get('mode'));
  const maxAge = fields.get('max_age') ?? '';
  if (fields.get('version') !== 'STSv1') return flaw('its version is not STSv1');
  if (mode === undefined) return flaw('its mode is not enforce, testing or none');
  if (!/^[0-9]{1,10}$/.test(maxAge)) return flaw('its max_age is no number of seconds');
  if (mode !== 'none' && mx.length === 0) return flaw('it names no mx');
  if (!mx.every(isPattern)) return flaw('an mx is no name of a host');
  return { ok: true, policy: { mode, mx, maxAgeSeconds: Math.min(Number(maxAge), MAX_AGE_SECONDS) } };
}

/** Whether a policy names a host (RFC 8461 §4.1). The host's certificate must be good for its name besides. */
export function matchesPolicy(policy: MtaStsPolicy, host: string): boolean {
  const name = host.toLowerCase();
  const parent = name.slice(name.indexOf('.'));
  return policy.mx.some((pattern) =>
    pattern.startsWith('*.') ? name.includes('.') && parent === pattern.slice(1) : name === pattern,
  );
}

function withoutBlankEnds(text: string): string {
  return text.replace(BLANK_ENDS, '');
}

function isPattern(pattern: string): boolean {
  return isHostName(pattern.startsWith('*.') ? pattern.slice(2) : pattern);
}

function flaw(reason: string): StsPolicyResult {
  return { ok: false, reason };
}
