import { formatDate } from './date.ts';
import { writeField } from './field.ts';

/** What a Received field says about how a message came to us (RFC 5321 §4.4). */
export interface Trace {
  /** The name this server goes by. */
  readonly byHost: string;
  /** The peer's IP address; null when there was no peer, or it is not to be told. */
  readonly fromAddress: string | null;
  /** What the peer called itself (EHLO); proves nothing. */
  readonly fromName?: string;
  /** Null for what was handed in on this machine: no protocol has a name for that. */
  readonly protocol: null | 'HTTP' | 'HTTPS' | 'SMTP' | 'ESMTP' | 'ESMTPS' | 'ESMTPA' | 'ESMTPSA';
  /** Our id of the message. */
  readonly id: string;
  /** Wall time of acceptance in ms. */
  readonly date: number;
  /** The recipient, only where there is just one: any other would be told of them. */
  readonly for?: string;
}

/** A domain or an address literal; what else a peer may have said is left out. */
const NAME = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,253}[A-Za-z0-9_])?|\[[0-9A-Za-z:.]{1,64}\])$/;
const ASCII = /^[\0-\x7f]*$/;

/** One Received field, folded, CRLF included: put on top of what was accepted. Always ASCII. */
export function receivedHeader(trace: Trace): string {
  const { byHost, protocol, id, date, for: recipient } = trace;
  const clauses = [`by ${byHost}`, protocol === null ? `id ${id}` : `with ${protocol} id ${id}`];
  const from = origin(trace);
  if (from !== null) clauses.unshift(`from ${from}`);
  if (recipient !== undefined && ASCII.test(recipient)) clauses.push(`for <${recipient}>`);
  const last = clauses.pop() ?? '';
  return writeField('Received', [...clauses, `${last};`, formatDate(date)]);
}

/** RFC 5321 §4.4 `Extended-Domain`: the name given, else the address; behind it the address that is known. */
function origin({ fromName, fromAddress }: Trace): string | null {
  const literal = fromAddress === null ? null : addressLiteral(fromAddress);
  if (fromName === undefined) return literal;
  const name = NAME.test(fromName) ? fromName : literal;
  return literal === null ? name : `${name} (${literal})`;
}

/** An IP address as RFC 5321 §4.1.3 writes it in the place of a name. */
export function addressLiteral(address: string): string {
  return address.includes(':') ? `[IPv6:${address}]` : `[${address}]`;
}
