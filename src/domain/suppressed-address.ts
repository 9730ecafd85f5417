/** Which addresses an entry of the suppression list means, and under which it is found (contract-2 §A5). */
import { fault, type Parsed } from './address-entry.ts';
import { parseDomain } from './domain-name.ts';
import { addressKey, parseAddress } from './mailbox.ts';

/** What an entry's address means: one mailbox, all of a domain, or all of the domains below one. */
export interface Suppressed {
  readonly kind: 'mailbox' | 'domain' | 'subdomains';
  /** The normal form, by which entries are found. */
  readonly address: string;
  /** Lower case, A-labels; for `subdomains` without the `*.`. */
  readonly domain: string;
}

/**
 * Most labels of the domain in `*@*.example.org`. It bounds what is looked up for a recipient: however deep its domain
 * is, at most so many domains above it can have an entry.
 */
const MAX_PARENT_LABELS = 4;

const ANY_LOCAL = '*@';
const ANY_SUBDOMAIN = '*.';
/** A mailbox of that name (RFC 5322 allows it) must not be taken for the pattern. */
const STAR_MAILBOX = '"*"@';

/**
 * Parses an address or a pattern into its normal form: `ann@example.org`, `*@example.org`, `*@*.example.org`. ASCII
 * letters are lower case, domains are in A-labels, compositions of Unicode are NFC; `+` parts count as written.
 */
export function parseSuppressed(text: string): Parsed<Suppressed> {
  if (!text.startsWith(ANY_LOCAL)) {
    const parsed = parseAddress(text);
    return parsed.ok ? { ok: true, value: suppressedOf(parsed.value.address) } : parsed;
  }
  const rest = text.slice(ANY_LOCAL.length);
  const kind = rest.startsWith(ANY_SUBDOMAIN) ? 'subdomains' : 'domain';
  const domain = parseDomain(kind === 'domain' ? rest : rest.slice(ANY_SUBDOMAIN.length));
  if (domain === null || (kind === 'subdomains' && domain.startsWith('[')))
    return fault(
      'address_domain',
      'A pattern must be like *@example.org, or *@*.example.org for all domains below example.org.',
    );
  if (kind === 'domain') return { ok: true, value: { kind, address: ANY_LOCAL + domain, domain } };
  if (domain.split('.').length > MAX_PARENT_LABELS)
    return fault(
      'address_domain',
      `The domain after "*@*." must not have more than ${MAX_PARENT_LABELS} labels; name a domain above it, or write *@ and the whole domain.`,
    );
  return { ok: true, value: { kind, address: ANY_LOCAL + ANY_SUBDOMAIN + domain, domain } };
}

/**
 * The normal form of a recipient's address, as accepted (`parseAddress` makes it), for entries that are made by
 * themselves. It never is a pattern: else a refusal of `*@example.org` would suppress the whole domain.
 */
export function suppressedOf(recipient: string): Suppressed {
  const at = recipient.lastIndexOf('@');
  const [local, domain] = [recipient.slice(0, at), recipient.slice(at + 1)];
  const address = local === '*' ? STAR_MAILBOX + domain : `${foldLocal(local)}@${domain}`;
  return { kind: 'mailbox', address, domain };
}

/** The domain that an entry's address, in its normal form, is of; for all domains below one, that one. */
export function domainOfSuppressed(address: string): string {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  return domain.startsWith(ANY_SUBDOMAIN) ? domain.slice(ANY_SUBDOMAIN.length) : domain;
}

/**
 * The normal forms under which entries for a recipient may stand, the narrowest first; at most six.
 *
 * Six index reads must do for a recipient (contract-2 §A5), while an entry has an address, a scope and a stream. The
 * address alone is looked up, over an index that begins with it: it tells entries apart best, since an address seldom
 * has more than one or two, while a scope or a stream may have millions. `stoppedBy` then looks through the few
 * rows that were found. A read for each scope and stream would be up to 36. The forms are the mailbox, its domain, and
 * the domains above that, of which {@link MAX_PARENT_LABELS} leaves four.
 */
export function suppressionKeys(recipient: string): string[] {
  const { address, domain } = suppressedOf(recipient);
  const labels = domain.startsWith('[') ? [] : domain.split('.');
  const parents: string[] = [];
  for (let at = Math.max(1, labels.length - MAX_PARENT_LABELS); at < labels.length; at++)
    parents.push(ANY_LOCAL + ANY_SUBDOMAIN + labels.slice(at).join('.'));
  return [address, ANY_LOCAL + domain, ...parents];
}

/** NFC before, as it maps some signs to ASCII letters; and after, as a small letter may have a composition of its own. */
function foldLocal(local: string): string {
  return addressKey(lowerAscii(addressKey(local)));
}

/** Text with its ASCII letters in lower case, and no others. */
export function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
