import type { Mailbox } from '../domain/mailbox.ts';
import { organizationalDomain } from '../lib/organizational-domain.ts';
import { readListUnsubscribe } from '../mail/list-unsubscribe.ts';
import type { Way } from './contract.ts';
import { fieldValue, type Mail, mailboxesIn } from './mail.ts';
import type { Rule } from './rule.ts';

/** Longer subjects are cut by phones and by most lists. */
const MAX_SUBJECT = 70;
/** Fewer capitals may be abbreviations. */
const SHOUTED_LETTERS = 12;
/** What List-Unsubscribe-Post has to be (RFC 8058 §3.1). */
const ONE_CLICK = 'List-Unsubscribe=One-Click';

/** Free mailbox providers: their domains, and the domains of the servers by which their users send. */
// biome-ignore format: a table
const FREE_MAIL: readonly { readonly domains: readonly string[]; readonly servers: readonly string[] }[] = [
  { domains: ['gmail.com', 'googlemail.com'], servers: ['gmail.com', 'googlemail.com', 'google.com'] },
  { domains: ['outlook.com', 'hotmail.com', 'live.com', 'msn.com', 'hotmail.co.uk', 'hotmail.fr', 'outlook.de', 'outlook.fr'], servers: ['outlook.com', 'office365.com', 'hotmail.com', 'live.com'] },
  { domains: ['yahoo.com', 'yahoo.co.uk', 'yahoo.co.jp', 'yahoo.de', 'yahoo.fr', 'ymail.com', 'rocketmail.com', 'aol.com'], servers: ['yahoo.com', 'yahoo.co.jp', 'aol.com'] },
  { domains: ['icloud.com', 'me.com', 'mac.com'], servers: ['me.com', 'icloud.com', 'apple.com'] },
  { domains: ['gmx.com', 'gmx.net', 'gmx.de', 'gmx.at', 'gmx.ch', 'web.de', 'mail.com'], servers: ['gmx.com', 'gmx.net', 'web.de', 'mail.com'] },
  { domains: ['proton.me', 'protonmail.com', 'pm.me'], servers: ['protonmail.ch', 'proton.me', 'protonmail.com'] },
  { domains: ['mail.ru', 'bk.ru', 'inbox.ru', 'list.ru', 'yandex.ru', 'yandex.com'], servers: ['mail.ru', 'yandex.ru', 'yandex.net', 'yandex.com'] },
  { domains: ['qq.com', '163.com', '126.com'], servers: ['qq.com', '163.com', '126.com'] },
];

/** Rules on the header. */
export const HEADER_RULES: readonly Rule[] = [
  {
    code: 'subject-empty',
    severity: 'warning',
    looksAt: 'Subject',
    finds: 'no subject, or an empty one',
    *find({ subject }) {
      if (subject.trim() !== '') return;
      const fix = 'Say in a few words what the message is about.';
      yield { where: '/subject', detail: 'The subject is empty.', fix };
    },
  },
  {
    code: 'subject-shouted',
    severity: 'hint',
    looksAt: 'Subject',
    finds: 'capitals only',
    *find({ subject }) {
      const letters = subject.match(/\p{L}/gu) ?? [];
      const capitals = letters.filter((letter) => letter !== letter.toLowerCase());
      // Only words count that are hardly abbreviations: of more than four letters.
      const words = subject.match(/\p{L}{5,}/gu) ?? [];
      if (capitals.length < SHOUTED_LETTERS || words.length < 2) return;
      if (!letters.every((letter) => letter === letter.toUpperCase())) return;
      const fix = 'Write it as a sentence, with a capital where one belongs.';
      yield { where: '/subject', detail: 'The subject is all in capitals.', fix };
    },
  },
  {
    code: 'subject-long',
    severity: 'hint',
    looksAt: 'Subject',
    finds: `over ${MAX_SUBJECT} characters`,
    *find({ subject }) {
      const length = [...subject.trim()].length;
      if (length <= MAX_SUBJECT) return;
      const detail = `The subject has ${length} characters; most clients show fewer than ${MAX_SUBJECT}.`;
      yield { where: '/subject', detail, fix: 'Shorten it, or put what matters first.' };
    },
  },
  {
    code: 'from-free-mail',
    severity: 'warning',
    looksAt: 'From',
    finds: 'a free mailbox provider whose servers do not send this',
    *find(mail, { hops }) {
      const [author] = mailboxesIn(mail, 'from');
      const free = author === undefined ? undefined : freeMailOf(author);
      if (author === undefined || free === undefined) return;
      // Sent by the provider's own server, as its user, it is as genuine as can be.
      const isOwn = ({ host, type }: Way['hops'][number]) =>
        type === 'graph' ||
        (host !== null && free.servers.includes(organizationalDomain(host.toLowerCase())));
      if (hops.length > 0 && hops.every(isOwn)) return;
      yield {
        where: 'header:From',
        detail: `From is ${author.address}, but ${author.domain} does not send this message, and receivers can tell.`,
        fix: 'Send from an address at a domain of your own; replies can go elsewhere, by Reply-To.',
      };
    },
  },
  {
    code: 'reply-to-free-mail',
    severity: 'hint',
    looksAt: 'Reply-To',
    finds: 'a free mailbox provider, while From is elsewhere',
    *find(mail) {
      const [author] = mailboxesIn(mail, 'from');
      if (author === undefined || freeMailOf(author) !== undefined) return;
      const free = mailboxesIn(mail, 'reply-to').find((mailbox) => freeMailOf(mailbox) !== undefined);
      if (free === undefined) return;
      yield {
        where: 'header:Reply-To',
        detail: `Replies go to ${free.address}, while From is at ${author.domain}: some filters treat that as fraud.`,
        fix: 'Let replies go to a domain of your own, which may forward them.',
      };
    },
  },
  {
    code: 'unsubscribe-missing',
    severity: 'warning',
    looksAt: 'List-Unsubscribe',
    finds: 'bulk mail without it',
    *find(mail, { isBulk }) {
      if (fieldValue(mail, 'list-unsubscribe') !== null) return;
      const why = isBulk ? 'it has the priority bulk' : bulkBy(mail);
      if (why === null) return;
      yield {
        where: 'header:List-Unsubscribe',
        detail: `This is bulk mail (${why}), but nobody can unsubscribe from it with one click.`,
        fix: 'Send it with unsubscribe and a stream: Waybill then adds the fields and handles what comes back.',
      };
    },
  },
  {
    code: 'unsubscribe-one-click',
    severity: 'warning',
    looksAt: 'List-Unsubscribe, List-Unsubscribe-Post',
    finds: 'no unsubscription with one click (RFC 8058)',
    *find(mail) {
      const targets = fieldValue(mail, 'list-unsubscribe');
      if (targets === null) return;
      const post = fieldValue(mail, 'list-unsubscribe-post') ?? '';
      const { links, oneClick } = readListUnsubscribe(targets, post);
      if (oneClick) return;
      const isSecure = links.some((link) => /^https:/i.test(link));
      const lacks = isSecure ? `List-Unsubscribe-Post: ${ONE_CLICK}` : 'an https link that can be used';
      yield {
        where: isSecure ? 'header:List-Unsubscribe-Post' : 'header:List-Unsubscribe',
        detail: `Recipients cannot unsubscribe with one click (RFC 8058): the header lacks ${lacks}.`,
        fix: 'Send it with unsubscribe and a stream: Waybill then adds the fields and handles what comes back.',
      };
    },
  },
];

function freeMailOf({ domain }: Mailbox): (typeof FREE_MAIL)[number] | undefined {
  return FREE_MAIL.find(({ domains }) => domains.includes(domain));
}

/** By what the header says itself that it is bulk mail; null if it does not. */
function bulkBy(mail: Mail): string | null {
  // Answers of machines have Precedence: bulk as well, so that nobody answers them (RFC 3834).
  const isAutomatic = (fieldValue(mail, 'auto-submitted') ?? 'no').toLowerCase() !== 'no';
  const precedence = isAutomatic ? null : fieldValue(mail, 'precedence');
  if (precedence !== null && /^(?:bulk|list)$/i.test(precedence)) return `Precedence: ${precedence}`;
  return fieldValue(mail, 'list-id') === null ? null : 'it has a List-Id';
}
