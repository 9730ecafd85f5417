/**
 * SMTP commands as they go on the wire (RFC 5321 §4.1), each with its CRLF. What was checked when it came in is
 * checked again here: nothing that ends a line or a path can be written, whatever a caller passes.
 */

import { isEnvid, isNotify, isOrcpt } from './dsn.ts';

const UNSAFE_IN_PATH = /[\u0000-\u0020\u007f-\u009f<>]/;
const HOST_NAME = /^[0-9A-Za-z.:_[\]-]{1,255}$/;
const BASE64_LINE = /^[0-9A-Za-z+/=]*$/;
/** Octets of a command line with its CRLF (RFC 5321 §4.5.3.1.4). */
const MAX_COMMAND_LINE = 512;

/** Whether an address may stand between angle brackets. Says nothing of its being a good address. */
export function isSafePath(address: string): boolean {
  return !UNSAFE_IN_PATH.test(address) && address.isWellFormed();
}

/** A mechanism of AUTH that we speak. */
export type Mechanism = 'PLAIN' | 'LOGIN' | 'XOAUTH2' | 'OAUTHBEARER';

/** Parameters of MAIL; what is absent is not written. */
export interface MailParameters {
  /** RFC 1870. */
  readonly sizeBytes?: number;
  /** RFC 6152: BODY=8BITMIME. */
  readonly eightBit?: boolean;
  /** RFC 6531. */
  readonly utf8?: boolean;
  /** RFC 3461. */
  readonly ret?: 'FULL' | 'HDRS';
  /** RFC 3461, xtext. */
  readonly envid?: string;
}

/** Parameters of RCPT (RFC 3461); what is absent is not written. */
export interface RcptParameters {
  readonly notify?: string;
  /** A type, `;` and xtext. */
  readonly orcpt?: string;
}

/** MAIL FROM; '' is the null reverse-path. Throws RangeError for what cannot be written. */
export function mailCommand(reversePath: string, parameters: MailParameters): string {
  const size = parameters.sizeBytes === undefined ? '' : ` SIZE=${parameters.sizeBytes}`;
  const body = parameters.eightBit ? ' BODY=8BITMIME' : '';
  const utf8 = parameters.utf8 ? ' SMTPUTF8' : '';
  const ret = parameters.ret === undefined ? '' : ` RET=${parameters.ret}`;
  const envid = checkedParameter('ENVID', parameters.envid, isEnvid);
  return `MAIL FROM:<${checkedPath(reversePath)}>${size}${body}${utf8}${ret}${envid}\r\n`;
}

/** RCPT TO. Throws RangeError for what cannot be written. */
export function rcptCommand(forwardPath: string, parameters: RcptParameters = {}): string {
  const notify = checkedParameter('NOTIFY', parameters.notify, isNotify);
  const orcpt = checkedParameter('ORCPT', parameters.orcpt, isOrcpt);
  return `RCPT TO:<${checkedPath(forwardPath)}>${notify}${orcpt}\r\n`;
}

/** BDAT (RFC 3030 §2), which as many bytes of content must follow at once. */
export function bdatCommand(sizeBytes: number, isLast: boolean): string {
  return `BDAT ${sizeBytes}${isLast ? ' LAST' : ''}\r\n`;
}

/** EHLO or HELO. Throws RangeError for what cannot be a host name or address literal. */
export function helloCommand(verb: 'EHLO' | 'HELO', hostname: string): string {
  if (!HOST_NAME.test(hostname)) throw new RangeError('not a host name');
  return `${verb} ${hostname}\r\n`;
}

/** AUTH with a mechanism and, where it has one, its initial response in base64 (RFC 4954). */
export function authCommand(mechanism: Mechanism, initialResponse?: string): string {
  return initialResponse === undefined
    ? `AUTH ${mechanism}\r\n`
    : `AUTH ${mechanism} ${responseLine(initialResponse)}`;
}

/** Whether AUTH with this initial response is no longer than a command may be; else the response must wait (RFC 4954 §4). */
export function mayGoAlong(mechanism: Mechanism, initialResponse: string): boolean {
  return authCommand(mechanism, initialResponse).length <= MAX_COMMAND_LINE;
}

/** A line of an AUTH exchange: the response in base64. */
export function responseLine(base64: string): string {
  if (!BASE64_LINE.test(base64)) throw new RangeError('not base64');
  return `${base64}\r\n`;
}

export const DATA = 'DATA\r\n';
export const RSET = 'RSET\r\n';
export const QUIT = 'QUIT\r\n';
export const STARTTLS = 'STARTTLS\r\n';

function checkedParameter(keyword: string, value: string | undefined, isValid: (text: string) => boolean) {
  if (value === undefined) return '';
  if (!isValid(value)) throw new RangeError(`not a value of ${keyword}`);
  return ` ${keyword}=${value}`;
}

function checkedPath(address: string): string {
  if (!isSafePath(address)) throw new RangeError('not a safe path');
  return address;
}
