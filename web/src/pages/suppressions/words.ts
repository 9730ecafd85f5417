import type { RequestOf, ResultOf } from '../../../../src/operations/table.ts';
import type { Tone } from '../../parts/badge.tsx';

/** An entry of the suppression list. */
export type Entry = ResultOf<'listSuppressions'>['suppressions'][number];
/** Why an address is suppressed. */
export type Reason = Entry['reason'];

/** What each reason is called, and means. */
export const REASONS: Readonly<
  Record<Reason, { readonly name: string; readonly tone: Tone; readonly means: string }>
> = {
  complaint: { name: 'Complaint', tone: 'bad', means: 'The recipient called mail spam.' },
  unsubscribe: { name: 'Unsubscribed', tone: 'warn', means: 'The recipient wants no more of it.' },
  hard_bounce: { name: 'Hard bounce', tone: 'bad', means: 'The address does not exist, or takes no mail.' },
  manual: { name: 'By hand', tone: 'neutral', means: 'Somebody added it.' },
  import: { name: 'Import', tone: 'neutral', means: 'It came with a list from elsewhere.' },
  provider: { name: 'Provider', tone: 'warn', means: 'A provider has it on a list of its own.' },
  soft_bounces: { name: 'Soft bounces', tone: 'warn', means: 'Mail to it bounced too often in a row.' },
};

/** The names of the reasons, for choosing one. */
export const REASON_NAMES = Object.keys(REASONS) as readonly Reason[];

const SOURCES: Readonly<Record<string, string>> = {
  smtp: 'our own SMTP dialogue',
  dsn: 'a delivery status notification',
  arf: 'a feedback report',
  one_click: 'one-click unsubscribe',
  mailto: 'mail to the unsubscribe address',
  api: 'the API',
  cli: 'the command line',
  dashboard: 'the dashboard',
};

/** Where an entry came from, in words. */
export function fromWords(source: string): string {
  if (source.startsWith('webhook:')) return `the webhook of ${source.slice('webhook:'.length)}`;
  return SOURCES[source] ?? source;
}

/** Whose mail an entry stops, in words. */
export function scopeWords(scope: string): string {
  if (scope === 'global') return 'all mail';
  const [kind = '', name = ''] = scope.split(/:(.*)/s, 2);
  return kind === 'domain' ? `mail from ${name}` : `mail of the key ${name}`;
}

/** What the list is searched by. */
export type Wanted = Pick<RequestOf<'listSuppressions'>, 'address' | 'domain' | 'scope' | 'stream'>;

const TERM = /(?:[^\s"]|"[^"]*(?:"|$))+/g;

/** Reads a search: an address or pattern, a domain, and `scope:` and `stream:`. What comes last counts. */
export function readWanted(text: string): Wanted {
  let wanted: Wanted = { address: null, domain: null, scope: null, stream: null };
  for (const [written] of text.matchAll(TERM)) {
    const word = written.replaceAll('"', '');
    const [, token, value = ''] = /^(scope|stream):(.*)$/is.exec(word) ?? [];
    if (token !== undefined) {
      if (value !== '') wanted = { ...wanted, [token.toLowerCase()]: value };
    } else if (/^.+@/.test(word)) wanted = { ...wanted, address: word };
    else wanted = { ...wanted, domain: word.replace(/^@/, '') || null };
  }
  return wanted;
}

/** A search that has this token as well, in the place of any other value of it. */
export function withToken(text: string, token: 'scope' | 'stream', value: string): string {
  const kept = [...text.matchAll(TERM)].map(([word]) => word).filter((word) => !word.startsWith(`${token}:`));
  const plain = value.replaceAll('"', '');
  return [...kept, `${token}:${/\s/.test(plain) ? `"${plain}"` : plain}`].join(' ');
}
