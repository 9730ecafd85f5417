/** Parameters of MAIL and RCPT (RFC 5321 §4.1.2; RFC 1870, 3461, 4954, 6152, 6531, 8689). */
import { isEnvid, isNotify, isOrcpt, MAX_ENVID, MAX_ORCPT } from '../command.ts';
import type { OrReply } from './path.ts';
import { sessionReply } from './session-reply.ts';

/** The parameters of MAIL. */
export interface MailParameters {
  /** SIZE in bytes; null when not given. */
  readonly sizeBytes: number | null;
  readonly body: '7BIT' | '8BITMIME' | null;
  /** SMTPUTF8 was given. */
  readonly utf8: boolean;
  readonly ret: 'FULL' | 'HDRS' | null;
  /** As given, in xtext. */
  readonly envid: string | null;
  /** AUTH= as given, in xtext; `<>` when the client does not know or vouch. */
  readonly auth: string | null;
  /** REQUIRETLS was given (RFC 8689). */
  readonly requireTls: boolean;
}

/** The parameters of RCPT. */
export interface RcptParameters {
  /** As given, in upper case: `NEVER` or a comma list. */
  readonly notify: string | null;
  /** As given: a type, `;` and xtext. */
  readonly orcpt: string | null;
}

const KEYWORD = /^[A-Za-z0-9][A-Za-z0-9-]*$/;
const VALUE = /^[!-<>-~\u0080-\u{10ffff}]+$/u;
const SIZE = /^\d{1,20}$/;
const XTEXT = /^(?:[!-*,-<>-~]|\+[0-9A-F]{2})+$/;
/** RFC 4954 §5. */
const MAX_AUTH = 500;
/** The valid values of a parameter, in words. */
const VALID: Readonly<Record<string, string>> = {
  SIZE: 'a number of bytes, such as SIZE=1000',
  BODY: '7BIT or 8BITMIME',
  SMTPUTF8: 'given without a value',
  REQUIRETLS: 'given without a value',
  RET: 'FULL or HDRS',
  ENVID: `xtext of ${MAX_ENVID} characters at most (RFC 3461)`,
  AUTH: `<>, or xtext of ${MAX_AUTH} characters at most (RFC 4954)`,
  NOTIFY: 'NEVER, or a list of SUCCESS, FAILURE and DELAY',
  ORCPT: `a type, a semicolon and an address in xtext, ${MAX_ORCPT} characters at most (RFC 3461)`,
};
/** Those of MAIL without any. */
export const NO_MAIL_PARAMETERS: MailParameters = {
  sizeBytes: null,
  body: null,
  utf8: false,
  ret: null,
  envid: null,
  auth: null,
  requireTls: false,
};
const NO_RCPT_PARAMETERS: RcptParameters = { notify: null, orcpt: null };

/** Parses the text after the path of MAIL. Refuses malformed or repeated parameters by 501, unknown ones by 555. */
export function readMailParameters(text: string): OrReply<MailParameters> {
  return readParameters(text, NO_MAIL_PARAMETERS, mailParameter);
}

/** Parses the text after the path of RCPT. Refuses as for MAIL. */
export function readRcptParameters(text: string): OrReply<RcptParameters> {
  return readParameters(text, NO_RCPT_PARAMETERS, rcptParameter);
}

/** Reads one parameter into a part of the result; null when its value is invalid, undefined when it is unknown. */
type Reader<T> = (keyword: string, value: string | null) => Partial<T> | null | undefined;

function mailParameter(keyword: string, value: string | null): Partial<MailParameters> | null | undefined {
  switch (keyword) {
    case 'SIZE':
      return value !== null && SIZE.test(value) ? { sizeBytes: Number(value) } : null;
    case 'BODY': {
      const body = value?.toUpperCase();
      return body === '7BIT' || body === '8BITMIME' ? { body } : null;
    }
    case 'SMTPUTF8':
      return value === null ? { utf8: true } : null;
    case 'REQUIRETLS':
      return value === null ? { requireTls: true } : null;
    case 'RET': {
      const ret = value?.toUpperCase();
      return ret === 'FULL' || ret === 'HDRS' ? { ret } : null;
    }
    case 'ENVID':
      return value !== null && isEnvid(value) ? { envid: value } : null;
    case 'AUTH':
      return value !== null && value.length <= MAX_AUTH && (value === '<>' || XTEXT.test(value))
        ? { auth: value }
        : null;
    default:
      return undefined;
  }
}

function rcptParameter(keyword: string, value: string | null): Partial<RcptParameters> | null | undefined {
  switch (keyword) {
    case 'NOTIFY': {
      const notify = value?.toUpperCase() ?? '';
      return isNotify(notify) ? { notify } : null;
    }
    case 'ORCPT':
      return value !== null && isOrcpt(value) ? { orcpt: value } : null;
    default:
      return undefined;
  }
}

function readParameters<T extends object>(text: string, none: T, read: Reader<T>): OrReply<T> {
  if (text === '') return { ok: true, value: none };
  const seen = new Set<string>();
  let value = none;
  for (const parameter of text.split(' ')) {
    if (parameter === '') continue;
    const equals = parameter.indexOf('=');
    const keyword = (equals < 0 ? parameter : parameter.slice(0, equals)).toUpperCase();
    const given = equals < 0 ? null : parameter.slice(equals + 1);
    if (!KEYWORD.test(keyword) || (given !== null && !VALUE.test(given)))
      return refuse(501, `${parameter} is not a parameter of the form KEYWORD or KEYWORD=value`);
    if (seen.has(keyword)) return refuse(501, `${keyword} may be given only once`);
    seen.add(keyword);
    const part = read(keyword, given);
    if (part === undefined) return refuse(555, `The parameter ${keyword} is not known`);
    if (part === null) return refuse(501, mendOf(keyword, given));
    value = { ...value, ...part };
  }
  return { ok: true, value };
}

/** The text for a parameter with an invalid value. */
function mendOf(keyword: string, value: string | null): string {
  const mend = `${keyword} must be ${VALID[keyword] ?? 'given as its RFC says'}`;
  return value?.toUpperCase() === 'BINARYMIME' ? `BODY=BINARYMIME is not offered; ${mend}` : mend;
}

function refuse(code: number, text: string): OrReply<never> {
  return { ok: false, reply: sessionReply(code, '5.5.4', text) };
}
