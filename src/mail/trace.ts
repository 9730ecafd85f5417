import { formatDate } from './date.ts';
import { writeField } from './field.ts';

/** What a Received field says about how a message came to us (RFC 5321 §4.4). */
export interface Trace {
  /** The name this server goes by. */
  readonly byHost: string;
  /** The peer's IP address; null when there was no peer. */
  readonly fromAddress: string | null;
  readonly protocol: 'HTTP' | 'HTTPS' | 'SMTP' | 'ESMTP' | 'ESMTPS' | 'ESMTPA' | 'ESMTPSA';
  /** Our id of the message. */
  readonly id: string;
  /** Wall time of acceptance in ms. */
  readonly date: number;
  /** The recipient, only where there is just one: any other would be told of them. */
  readonly for?: string;
}

const ASCII = /^[\0-\x7f]*$/;

/** One Received field, folded, CRLF included: put on top of what was accepted. Always ASCII. */
export function receivedHeader(trace: Trace): string {
  const { byHost, fromAddress, protocol, id, date, for: recipient } = trace;
  const clauses = [`by ${byHost}`, `with ${protocol} id ${id}`];
  if (fromAddress !== null) clauses.unshift(`from ${addressLiteral(fromAddress)}`);
  if (recipient !== undefined && ASCII.test(recipient)) clauses.push(`for <${recipient}>`);
  const last = clauses.pop() ?? '';
  return writeField('Received', [...clauses, `${last};`, formatDate(date)]);
}

function addressLiteral(address: string): string {
  return address.includes(':') ? `[IPv6:${address}]` : `[${address}]`;
}
