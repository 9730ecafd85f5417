import { linkOptions } from '@tanstack/react-router';
import {
  Ban,
  ChartColumn,
  FileClock,
  Gauge,
  Globe,
  KeyRound,
  type LucideIcon,
  Mail,
  MailCheck,
  Mails,
  ScrollText,
  Webhook,
} from 'lucide-react';
import { plural } from '../format.ts';
import { writeTerm } from '../pages/messages/query-text.ts';
import { stateWords } from '../parts/badge.tsx';
import type { RowTarget } from '../parts/table-row.tsx';
import { type Entry, type Known, toKey } from './entries.ts';
import type { Answer } from './look-ups.ts';
import { type Guess, holdsKey } from './recognise.ts';

/** As many keys that begin alike. */
const MAX_KEYS = 5;
/** Longer texts are no search. */
const MAX_QUERY = 500;

/** Where a guess leads, with what the server said of it; undefined: nothing yet, or it was not asked. */
export function foundEntries(
  guess: Guess,
  answer: Answer | undefined,
  known: Known,
  now: number,
): readonly Entry[] {
  const { kind, text } = guess;
  switch (kind) {
    case 'message':
    case 'message_id':
      if (answer?.kind === 'message') return [messageEntry(answer)];
      // Whoever presses Enter at once is led there all the same; a UUID may be that of anything.
      return kind === 'message' && answer === undefined && /^(?:msg_|<)/i.test(text)
        ? [found(Mail, `Message ${text}`, toMessage(text), 'Looking for it …')]
        : [];
    case 'message_start':
      return [messages(`Messages whose id begins with ${text}`, writeTerm('id', text))];
    case 'address':
      return [
        messages(`Messages to ${text}`, writeTerm('to', text)),
        messages(`Messages from ${text}`, writeTerm('from', text)),
        found(
          Ban,
          `${text} on the suppression list`,
          linkOptions({ to: '/suppressions', search: { q: text } }),
        ),
      ];
    case 'domain':
      return domainEntries(text, known);
    case 'ip':
      return ipEntries(text, answer);
    case 'key':
      return keyEntries(text, known, now);
    case 'hop':
      return answer?.kind === 'handed_over'
        ? [{ ...messages(`What a next hop calls ${text}`, writeTerm('hop', text)), detail: answer.subject }]
        : [];
    case 'webhook':
      return [
        {
          ...found(
            Webhook,
            'The webhook of this id',
            linkOptions({ to: '/webhooks/$id', params: { id: text } }),
          ),
          from: 'admin',
        },
      ];
    case 'template':
      return [
        found(
          Mail,
          'The template of this id',
          linkOptions({ to: '/templates/$alias', params: { alias: text } }),
        ),
      ];
    case 'suppression':
      return [found(Ban, 'The entry of this id', linkOptions({ to: '/suppressions', search: { id: text } }))];
    case 'alert':
      return [found(Gauge, 'The alert of this id', linkOptions({ to: '/alerts', search: { id: text } }))];
  }
}

/** The last entries of a text that may be sent: a search for it as words, and for what may be an id in the log. */
export function searchEntries(typed: string, guesses: readonly Guess[]): readonly Entry[] {
  const text = typed.trim();
  if (text === '' || text.length > MAX_QUERY || holdsKey(text)) return [];
  const [first] = guesses;
  const inLog = linkOptions({ to: '/system', search: { tab: 'log', level: 'debug', q: text } });
  const entries: readonly (Entry | false)[] = [
    // As words it would be looked for as the message that it names.
    first?.kind !== 'message' && messages(`Search messages for “${text}”`, text),
    first !== undefined && {
      ...found(ScrollText, `Search the log for “${text}”`, inLog),
      from: 'operator',
    },
  ];
  return entries.flatMap((entry) => (entry ? { ...entry, group: 'Search' as const } : []));
}

/** What is said where what was surely meant is not there. */
export function missingNote(
  guesses: readonly Guess[],
  answers: ReadonlyMap<Guess, Answer>,
  known: Known,
): string | null {
  const [first] = guesses;
  if (first === undefined) return null;
  if (first.kind === 'message' && answers.get(first)?.kind === 'none')
    return `There is no message ${first.text}.`;
  if (first.kind === 'key' && !known.keys.some(({ prefix }) => prefix.startsWith(first.text)))
    return `No API key begins with ${first.text}.`;
  const failed = guesses.map((guess) => answers.get(guess)).find((answer) => answer?.kind === 'failed');
  return failed?.kind === 'failed' ? failed.why : null;
}

/** The keys that begin so; what else there is of one, where it is the only one. */
function keyEntries(start: string, { keys }: Known, now: number): Entry[] {
  const begun = keys.filter(({ prefix }) => prefix.startsWith(start)).slice(0, MAX_KEYS);
  const entries = begun.map((key) =>
    found(KeyRound, `API key ${key.name}`, toKey(key, now), `${key.prefix}…`),
  );
  const [only, another] = begun;
  if (only === undefined || another !== undefined) return entries;
  const requests = linkOptions({ to: '/requests', search: { key: only.name } });
  return [
    ...entries,
    messages(`Messages of the key ${only.name}`, writeTerm('key', only.name)),
    found(FileClock, `Requests of the key ${only.name}`, requests),
  ];
}

function domainEntries(domain: string, { domains, relays }: Known): Entry[] {
  const isOwn = domains.some(({ name }) => name === domain);
  const hosts = relays.filter(({ host }) => host === domain);
  return [
    ...(isOwn
      ? [found(Globe, `Domain ${domain}`, linkOptions({ to: '/domains/$name', params: { name: domain } }))]
      : []),
    ...hosts.map(({ name }) =>
      found(
        Globe,
        `Relay ${name}`,
        linkOptions({ to: '/relays/$name', params: { name } }),
        `connects to ${domain}`,
      ),
    ),
    messages(`Messages to anybody at ${domain}`, writeTerm('to', `@${domain}`)),
    messages(`Messages from ${domain}`, writeTerm('from', `@${domain}`)),
    found(
      ChartColumn,
      `What becomes of mail to ${domain}, and why it is late`,
      linkOptions({ to: '/explore', search: { domain } }),
    ),
    found(
      Gauge,
      `Bounces and complaints of ${domain}`,
      linkOptions({ to: '/reputation', search: { by: 'domain', name: domain } }),
    ),
    ...(isOwn
      ? [
          found(
            MailCheck,
            `Who sends in the name of ${domain}`,
            linkOptions({ to: '/reports', search: { domain } }),
          ),
        ]
      : []),
  ];
}

function ipEntries(ip: string, answer: Answer | undefined): Entry[] {
  const refused = answer?.kind === 'refused' ? plural(answer.count, 'refusal') : undefined;
  return [
    found(
      FileClock,
      `Requests refused from ${ip}`,
      linkOptions({ to: '/requests', search: { show: 'refused', source: ip } }),
      answer?.kind === 'none' ? 'none' : refused,
    ),
    messages(`Replies that name ${ip}`, writeTerm('reply', ip)),
    found(
      MailCheck,
      `What ${ip} sends in your name`,
      linkOptions({ to: '/reports', search: { source: ip } }),
    ),
  ];
}

function messageEntry({ id, subject, from, status }: Extract<Answer, { kind: 'message' }>): Entry {
  return found(Mail, subject || 'No subject', toMessage(id), `${stateWords(status)}, from ${from}`);
}

function toMessage(id: string): RowTarget {
  return linkOptions({ to: '/messages/$id', params: { id } });
}

function messages(label: string, q: string): Entry {
  return found(Mails, label, linkOptions({ to: '/messages', search: { q } }));
}

function found(icon: LucideIcon, label: string, to: RowTarget, detail?: string): Entry {
  return {
    id: `found-${label}`,
    group: 'Found',
    icon,
    label,
    detail,
    from: 'viewer',
    deed: { kind: 'go', to },
  };
}
