/** Domain names as text: lower case, without the last dot; what is no letter, digit, `-` or `_` is escaped. */
import { parseDomain } from '../domain/domain-name.ts';

/** RFC 1035 §2.3.4: 255 octets on the wire leave this many characters. */
const MAX_NAME = 253;
const ASCII = /^[\0-\x7f]*$/;
/** Host names, and the service labels before them (RFC 8552), which begin with an underscore. */
const LABELS = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;
const DIGITS_LAST = /(?:^|\.)[0-9]+$/;

/**
 * A name as it is asked for: lower case, in A-labels, without the last dot; labels that begin with an underscore
 * may stand in front. Null when it cannot be a name.
 */
export function parseQueryName(text: string): string | null {
  const plain = text.endsWith('.') ? text.slice(0, -1) : text;
  const name = ASCII.test(plain) ? plain.toLowerCase() : toAscii(plain);
  return name !== null && isName(name) ? name : null;
}

/** Whether a name that an MX record gives can be a host's. An IP address is none (RFC 5321 §5.1). */
export function isHostName(name: string): boolean {
  return isName(name) && !DIGITS_LAST.test(name);
}

function isName(name: string): boolean {
  return name.length <= MAX_NAME && LABELS.test(name);
}

/** What is behind the service labels is a mail domain, and is read as one. */
function toAscii(text: string): string | null {
  const service = /^(?:_[a-z0-9_-]+\.)*/i.exec(text)?.[0] ?? '';
  const domain = parseDomain(text.slice(service.length));
  return domain === null || domain.startsWith('[') ? null : service.toLowerCase() + domain;
}
