import type { RequestOf, ResultOf } from '../../../../../src/operations/table.ts';

/** What the forms of API keys hold, and the requests that they come to. */

/** A key as the server tells of it. */
export type Key = ResultOf<'listKeys'>[number];
/** What a key may do. */
export type Scope = Key['scopes'][number];

/** What each scope allows, in the order in which they are shown. */
export const SCOPES: readonly { readonly scope: Scope; readonly label: string; readonly note: string }[] = [
  { scope: 'messages:send', label: 'Send', note: 'Send messages, over HTTP and SMTP.' },
  { scope: 'messages:read', label: 'Read', note: 'See the status of its own messages, and list them.' },
  {
    scope: 'messages:content',
    label: 'Contents',
    note: 'Fetch the contents of messages it may see, while they are kept.',
  },
  { scope: 'messages:read_all', label: 'Read all', note: 'See the messages of every key.' },
  {
    scope: 'events:read',
    label: 'Events',
    note: 'Follow what happens to the messages it may see, as events.',
  },
  {
    scope: 'suppressions:read',
    label: 'Suppressions',
    note: 'See which addresses get no mail of its own, and why.',
  },
  {
    scope: 'suppressions:write',
    label: 'Suppress',
    note: 'Put addresses on the suppression list for its own mail, and take them off.',
  },
  {
    scope: 'templates:read',
    label: 'Templates',
    note: 'See the templates of messages. Sending with a template does not need this.',
  },
  {
    scope: 'templates:write',
    label: 'Edit templates',
    note: 'Save, publish and delete templates.',
  },
  {
    scope: 'webhooks:manage',
    label: 'Webhooks',
    note: 'Add and change webhooks that are told of its own mail.',
  },
  {
    scope: 'feedback:write',
    label: 'Feedback',
    note: 'Tell of bounces and complaints that came elsewhere.',
  },
  {
    scope: 'admin',
    label: 'Admin',
    note: 'Do everything that this dashboard can, including changes to settings and keys.',
  },
];

/** What a form of a key holds. */
export interface KeyForm {
  readonly name: string;
  readonly test: boolean;
  readonly scopes: readonly Scope[];
  /** Requests a minute; null means the configured default. */
  readonly rateLimit: number | null;
  /** Its last day in UTC, such as `2027-01-31`; empty for never. */
  readonly lastDay: string;
  readonly cidrs: readonly string[];
  readonly senderDomains: readonly string[];
  /** Days that contents are kept; null means the configured default. */
  readonly contentDays: number | null;
  /** Days that records are kept; null means the configured default. */
  readonly recordDays: number | null;
  /** Clients of SES sign with it, too: only when it is made. */
  readonly ses: boolean;
}

/** The rate at which a key may ask, in a few words; null while the usual one is not known and it has none of its own. */
export function rateWords(rateLimit: number | null, usual: number | null): string | null {
  const rate = rateLimit ?? usual;
  if (rate === null) return null;
  const words = rate === 0 ? 'no rate limit' : `${rate.toLocaleString('en-US')} a minute`;
  return rateLimit === null ? `${words} by default` : words;
}

/** A form that nothing was written into yet. */
export const NEW_KEY: KeyForm = {
  name: '',
  test: false,
  scopes: ['messages:send', 'messages:read'],
  rateLimit: null,
  lastDay: '',
  cidrs: [],
  senderDomains: [],
  contentDays: null,
  recordDays: null,
  ses: false,
};

/** The form of a key that there is. */
export function formOf(key: Key): KeyForm {
  return {
    name: key.name,
    test: key.mode === 'test',
    scopes: key.scopes,
    rateLimit: key.rateLimit,
    lastDay: key.expiresAt?.slice(0, 10) ?? '',
    cidrs: key.cidrs,
    senderDomains: key.senderDomains,
    contentDays: key.contentDays,
    recordDays: key.recordDays,
    ses: key.accessKeyId !== null,
  };
}

/** The request for a new key. */
export function createRequest(form: KeyForm): RequestOf<'createKey'> {
  const { test, rateLimit, contentDays, recordDays, ses } = form;
  return { ...textsOf(form), test, rateLimit, contentDays, recordDays, ses, expiresAt: endOf(form.lastDay) };
}

/** The request that changes a key into what the form says; what is the same is left out. */
export function updateRequest(key: Key, form: KeyForm): RequestOf<'updateKey'> {
  const before = formOf(key);
  const { rateLimit, contentDays, recordDays } = form;
  const next = { ...textsOf(form), rateLimit, contentDays, recordDays };
  const changed = Object.entries(next).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field as keyof KeyForm]),
  );
  return {
    key: key.id,
    ...Object.fromEntries(changed),
    // The hour at which it expires may have been another one than the end of the day.
    ...(form.lastDay !== before.lastDay && { expiresAt: endOf(form.lastDay) }),
  };
}

function textsOf({ name, scopes, cidrs, senderDomains }: KeyForm) {
  return { name: name.trim(), scopes: [...scopes], cidrs: [...cidrs], senderDomains: [...senderDomains] };
}

/** The last moment of a day. */
function endOf(day: string): string | null {
  return day === '' ? null : `${day}T23:59:59.999Z`;
}

/** A day in UTC, so many days after a moment (ms), as fields for dates have it. */
export function dayAfter(now: number, days: number): string {
  return new Date(now + days * 86_400_000).toISOString().slice(0, 10);
}

/** What a key can be used for now (ms). */
export function keyState(
  { revokedAt, expiresAt }: Pick<Key, 'revokedAt' | 'expiresAt'>,
  now: number,
): 'active' | 'expiring' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  const left = Date.parse(expiresAt) - now;
  if (left <= 0) return 'expired';
  return left < 14 * 86_400_000 ? 'expiring' : 'active';
}
