/** The values of RFC 3461's parameters, as they may be written behind MAIL and RCPT. */

const XTEXT = /^(?:[!-*,-<>-~]|\+[0-9A-F]{2})+$/;
const NOTIFY = /^(?:NEVER|(?:SUCCESS|FAILURE|DELAY)(?:,(?:SUCCESS|FAILURE|DELAY)){0,2})$/;
/** The address behind the type is xtext, or in UTF-8 (RFC 6533 §3). */
const ORCPT = /^[A-Za-z0-9-]{1,32};[!-<>-~\u0080-\u{10ffff}]+$/u;
const CONTROL = /[\u0080-\u009f]/;
const NON_ASCII = /[^\u0000-\u007f]/;
/** What xtext writes as it is. */
const NOT_LITERAL = /[^!-*,-<>-~]/g;
/** RFC 3461 §4.4. */
export const MAX_ENVID = 100;
/** RFC 3461 §4.2. */
export const MAX_ORCPT = 500;

/** Whether this is xtext that ENVID may have. */
export function isEnvid(text: string): boolean {
  return text.length <= MAX_ENVID && XTEXT.test(text);
}

/** Whether this is what NOTIFY may have: `NEVER`, or a list of the others. */
export function isNotify(text: string): boolean {
  return NOTIFY.test(text);
}

/** Whether this is what ORCPT may have: a type, a semicolon, and an address in xtext or UTF-8. */
export function isOrcpt(text: string): boolean {
  return text.length <= MAX_ORCPT && ORCPT.test(text) && !CONTROL.test(text) && text.isWellFormed();
}

/** The ORCPT of an address whose sender gave none (RFC 3461 §5.2.1, RFC 6533 §3). Null where it would be too long. */
export function orcptOf(address: string, utf8: boolean): string | null {
  const type = NON_ASCII.test(address) ? 'utf-8' : 'rfc822';
  const xtext = address.replace(NOT_LITERAL, (unit) => (NON_ASCII.test(unit) ? unit : hex(unit)));
  const text = `${type};${xtext}`;
  const written = utf8 ? text : asciiOrcpt(text);
  return isOrcpt(written) ? written : null;
}

/** An ORCPT as a session without SMTPUTF8 may carry it: what is not ASCII as `\x{…}` (RFC 6533 §3). */
export function asciiOrcpt(orcpt: string): string {
  return Array.from(orcpt, (character) =>
    NON_ASCII.test(character) ? `\\x{${character.codePointAt(0)?.toString(16).toUpperCase()}}` : character,
  ).join('');
}

function hex(character: string): string {
  return `+${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
