import type { Clock } from '../lib/clock.ts';
import { Flights } from '../lib/stop.ts';
import { isHostName, type Resolver } from './resolver.ts';

/** MTA-STS (RFC 8461): a domain's policy about TLS to its mail servers. */

/** The contents of a policy file. */
export interface MtaStsPolicy {
  /** `enforce`: no mail to a host that does not match or lacks verified TLS. `testing` and `none` require nothing. */
  readonly mode: 'enforce' | 'testing' | 'none';
  /** Lower case; `*.` stands for exactly one label. Empty only with mode `none`. */
  readonly mx: readonly string[];
  /** Its lifetime, at most a year (RFC 8461 §3.2). */
  readonly maxAgeSeconds: number;
}

/** A policy, or the fault of its file. */
export type StsPolicyResult =
  | { readonly ok: true; readonly policy: MtaStsPolicy }
  | { readonly ok: false; readonly reason: string };

const MAX_AGE_SECONDS = 31_557_600;
const VERSION = /^v=STSv1[ \t]*;/;
/** Name and value of a field of the record (RFC 8461 §3.1). */
const RECORD_FIELD = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31})=([!-:<>-~]+)$/;
const ID = /^[A-Za-z0-9]{1,32}$/;
const POLICY_FIELD = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31}):(.*)$/;
/** Tries a run at the end only from its beginning: trying every blank of every run would take quadratic time. */
const BLANK_ENDS = /^[ \t]+|(?<![ \t])[ \t]+$/g;
const MODES = ['enforce', 'testing', 'none'] as const;

/** The id of the single record among the TXT records of `_mta-sts.DOMAIN`; null if there is none, or more than one. */
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
 * Parses a policy file (RFC 8461 §3.2): fields in any order; of a repeated one the first counts, except for `mx`;
 * unknown ones are ignored. A faulty file is not a policy.
 */
export function parseStsPolicy(text: string): StsPolicyResult {
  const fields = new Map<string, string>();
  const mx: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    if (/^[ \t]*$/.test(line)) continue;
    const [, name, given = ''] = POLICY_FIELD.exec(line) ?? [];
    if (name === undefined) return flaw('a line is not a field');
    const value = withoutBlankEnds(given);
    if (name === 'mx') mx.push(value.toLowerCase());
    else if (!fields.has(name)) fields.set(name, value);
  }
  const mode = MODES.find((known) => known === fields.get('mode'));
  const maxAge = fields.get('max_age') ?? '';
  if (fields.get('version') !== 'STSv1') return flaw('its version is not STSv1');
  if (mode === undefined) return flaw('its mode is not enforce, testing or none');
  if (!/^[0-9]{1,10}$/.test(maxAge)) return flaw('its max_age is not a number of seconds');
  if (mode !== 'none' && mx.length === 0) return flaw('it names no mx');
  if (!mx.every(isPattern)) return flaw('an mx is not a host name');
  return { ok: true, policy: { mode, mx, maxAgeSeconds: Math.min(Number(maxAge), MAX_AGE_SECONDS) } };
}

/** Whether a policy names a host (RFC 8461 §4.1). The host's certificate must be valid for its name as well. */
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

// The MTA-STS policies of recipient domains: fetched, cached, renewed (RFC 8461 §3, §5).

/**
 * Fetches a domain's policy file. Never rejects. `text` of a failure is fit for a log line; `isUntrusted`: the certificate
 * of the server that has the file is not valid.
 */
export type PolicyFetch = (
  domain: string,
  signal: AbortSignal,
) => Promise<
  | { readonly kind: 'fetched'; readonly body: string }
  | { readonly kind: 'failed'; readonly text: string; readonly isUntrusted?: boolean }
>;

/** What is wrong with a policy that is published: it could not be had, was not served under a valid certificate, or is none. */
export type PolicyFault = 'unfetched' | 'untrusted' | 'invalid';

/** A domain's requirement. */
export type MtaStsVerdict =
  /**
   * None. `why`: a policy may exist, but could not be fetched, for this reason; null if none is published. `fault`: one is
   * published for certain, and this is wrong with it.
   */
  | { readonly kind: 'none'; readonly why: string | null; readonly fault: PolicyFault | null }
  | {
      readonly kind: 'policy';
      readonly policy: MtaStsPolicy;
      /** The record's id at the time of the fetch. */
      readonly id: string;
      /** Fetched for this question, or cached from before. */
      readonly source: 'fetched' | 'kept';
    };

export interface MtaStsParts {
  readonly fetch: PolicyFetch;
  readonly clock: Clock;
  /** Most domains remembered, with {@link BYTES_PER_ENTRY} of names each on average. Default 10,000. */
  readonly maxEntries?: number;
}

interface Entry {
  readonly kept: Kept | null;
  /** The last failed fetch. */
  readonly failed: Failed | null;
}

interface Failed {
  readonly id: string;
  /** Until when it is not retried. */
  readonly until: number;
  readonly why: string;
  readonly fault: PolicyFault;
}

interface Kept {
  readonly id: string;
  readonly policy: MtaStsPolicy;
  readonly expiresAt: number;
  /** From here on it is fetched again, even with the same id. */
  readonly renewAt: number;
}

const MAX_ENTRIES = 10_000;
const BYTES_PER_ENTRY = 512;
/** RFC 8461 §3.3: at least five minutes after a failure. */
const RETRY_AFTER_MS = 300_000;
/** RFC 8461 §10.2 recommends a check once a day. */
const RENEW_AFTER_MS = 86_400_000;
const NOBODY_ENDS_IT = new AbortController().signal;

/**
 * Policies by domain, in memory: after a restart they are fetched again, and a domain whose policy cannot be fetched
 * then is without one for that time. The least recently used are forgotten first.
 */
export class MtaStsPolicies {
  readonly #parts: MtaStsParts;
  readonly #fetches = new Flights<Entry>();
  /** The most recently used is last. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(parts: MtaStsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * The requirement of `domain` (lower case, in A-labels); `resolver` looks up its record. A policy is fetched when its
   * id is new, and kept for its lifetime, whatever happens to its record and file (RFC 8461 §5.1). Never rejects; a
   * policy that cannot be fetched counts as none, unless a kept one is still valid.
   */
  async policyFor(domain: string, resolver: Resolver, signal: AbortSignal): Promise<MtaStsVerdict> {
    const answer = await resolver.resolve(`_mta-sts.${domain}`, 'TXT', signal);
    const id = answer.kind === 'found' ? parseStsRecord(answer.records) : null;
    const entry = this.#entry(domain);
    if (id === null)
      return verdict(
        entry.kept,
        answer.kind === 'failed' ? unknown(`its record is unknown: ${answer.text}`) : null,
      );
    const now = this.#parts.clock.mono();
    if (entry.kept?.id === id && now < entry.kept.renewAt) return verdict(entry.kept, null);
    if (entry.failed?.id === id && now < entry.failed.until) return verdict(entry.kept, entry.failed);
    const fetching = this.#fetches.join(domain, entry.kept?.id === id ? NOBODY_ENDS_IT : signal, (limit) =>
      this.#fetch(domain, id, limit),
    );
    // The same policy is still valid: mail does not wait for its renewal.
    if (entry.kept?.id === id) return verdict(entry.kept, null);
    const fetched = await fetching;
    if (fetched === null) return verdict(entry.kept, unknown('there was no time to fetch the policy'));
    const isNew = fetched.kept !== null && fetched.kept !== entry.kept;
    return verdict(fetched.kept, fetched.failed, isNew ? 'fetched' : 'kept');
  }

  async #fetch(domain: string, id: string, signal: AbortSignal): Promise<Entry> {
    const answer = await this.#parts.fetch(domain, signal);
    const parsed = answer.kind === 'fetched' ? parseStsPolicy(answer.body) : null;
    const { kept } = this.#entry(domain);
    if (signal.aborted) return { kept, failed: null };
    const now = this.#parts.clock.mono();
    if (parsed?.ok) {
      const lastsMs = parsed.policy.maxAgeSeconds * 1000;
      const renewAt = now + Math.min(RENEW_AFTER_MS, lastsMs / 2);
      return this.#put(domain, {
        kept: { id, policy: parsed.policy, expiresAt: now + lastsMs, renewAt },
        failed: null,
      });
    }
    const [fault, why] =
      answer.kind === 'failed'
        ? ([
            answer.isUntrusted === true ? 'untrusted' : 'unfetched',
            `the policy cannot be fetched: ${answer.text}`,
          ] as const)
        : (['invalid', `the policy is invalid: ${parsed?.reason ?? ''}`] as const);
    return this.#put(domain, { kept, failed: { id, until: now + RETRY_AFTER_MS, why, fault } });
  }

  /** The entry of a domain, without expired data. */
  #entry(domain: string): Entry {
    const entry = this.#entries.get(domain);
    if (entry === undefined) return { kept: null, failed: null };
    this.#remove(domain, entry);
    const holds = entry.kept !== null && this.#parts.clock.mono() < entry.kept.expiresAt;
    return this.#put(domain, holds ? entry : { ...entry, kept: null });
  }

  #put(domain: string, entry: Entry): Entry {
    const old = this.#entries.get(domain);
    if (old) this.#remove(domain, old);
    this.#entries.set(domain, entry);
    this.#bytes += bytesOf(entry);
    const most = this.#parts.maxEntries ?? MAX_ENTRIES;
    for (const [oldest, known] of this.#entries) {
      if (this.#entries.size <= most && this.#bytes <= most * BYTES_PER_ENTRY) break;
      this.#remove(oldest, known);
    }
    return entry;
  }

  #remove(domain: string, entry: Entry): void {
    this.#entries.delete(domain);
    this.#bytes -= bytesOf(entry);
  }
}

function bytesOf({ kept, failed }: Entry): number {
  const names = kept?.policy.mx.reduce((sum, pattern) => sum + pattern.length, 0) ?? 0;
  return names + (failed?.why.length ?? 0);
}

type Nothing = Pick<Extract<MtaStsVerdict, { kind: 'none' }>, 'why' | 'fault'>;

/** It is not even certain that a policy is published, or what is wrong with it. */
function unknown(why: string): Nothing {
  return { why, fault: null };
}

function verdict(
  kept: Kept | null,
  nothing: Nothing | null,
  source: 'fetched' | 'kept' = 'kept',
): MtaStsVerdict {
  if (kept !== null) return { kind: 'policy', policy: kept.policy, id: kept.id, source };
  return { kind: 'none', why: nothing?.why ?? null, fault: nothing?.fault ?? null };
}
