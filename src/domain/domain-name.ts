/** Domains of addresses: domain names (RFC 1123, RFC 5890) and address literals (RFC 5321 §4.1.3). */

/** RFC 5321 §4.5.3.1.2: octets of a domain. */
const MAX_DOMAIN = 255;

/** Letters, digits, hyphens and dots; outside ASCII anything that IDNA may map. */
const NAME_CHARACTERS = /^[a-z0-9.\-\u0080-\uffff]+$/i;
const ASCII = /^[\0-\x7f]*$/;
/** Labels of 1 to 63 octets (RFC 1035 §2.3.4) with dots between. */
const LABELS = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const DIGITS_LAST = /(?:^|\.)[0-9]+$/;
const IPV4_LITERAL = /^\[([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\.([0-9]{1,3})\]$/;
const IPV6_LITERAL = /^\[IPv6:([0-9a-f:.]{2,45})\]$/i;

/**
 * Parses the domain of an address into its canonical form: a lower-case name in A-labels, or an address literal. Null
 * if it is neither. A bare IP address is no domain; it must be in brackets.
 */
export function parseDomain(text: string): string | null {
  if (text.length > MAX_DOMAIN) return null;
  return text.startsWith('[') ? parseLiteral(text) : parseName(text);
}

function parseName(text: string): string | null {
  if (!NAME_CHARACTERS.test(text)) return null;
  const name = ASCII.test(text) ? text.toLowerCase() : toAscii(text);
  return name !== null && isHostName(name) ? name : null;
}

/** UTS 46 mapping and Punycode, as browsers do it. Only for text that is not all ASCII. */
function toAscii(text: string): string | null {
  return URL.parse(`http://${text}/`)?.hostname ?? null;
}

function isHostName(name: string): boolean {
  return name.length <= MAX_DOMAIN && LABELS.test(name) && !DIGITS_LAST.test(name);
}

function parseLiteral(text: string): string | null {
  const ipv4 = IPV4_LITERAL.exec(text);
  if (ipv4) {
    const octets = ipv4.slice(1).map(Number);
    return octets.every((octet) => octet <= 255) ? `[${octets.join('.')}]` : null;
  }
  const ipv6 = IPV6_LITERAL.exec(text)?.[1];
  const host = ipv6 === undefined ? undefined : URL.parse(`http://[${ipv6}]/`)?.hostname;
  return host === undefined ? null : `[IPv6:${host.slice(1, -1)}]`;
}
