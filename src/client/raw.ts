import { InputFault } from './input.ts';
import { timeText } from './message.ts';
import type { Priority } from './types.ts';

/** Who gets a finished message, whatever its header says, and how. */
export interface RawEnvelope {
  /** The reverse-path: an address without a name. */
  readonly from: string;
  /** The forward-paths. A request has room for some 600 addresses; send to more in several calls. */
  readonly to: string | readonly string[];
  readonly tags?: readonly string[] | null | undefined;
  /** Not before this time, at most 30 days ahead. */
  readonly sendAt?: Date | string | null | undefined;
  readonly priority?: Priority | null | undefined;
}

/** How an envelope travels: in the query, and what would make that too long in header fields of the request. */
export interface RawTarget {
  /** With its question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A finished message as programs have it. */
export type RawContent = string | Uint8Array | Blob;

/** The server takes 8 KiB of path and query, and 16 KiB of header. */
const LONGEST_QUERY = 6000;

/** How an envelope travels, with a message that is to be sent, or only checked. */
export function rawTarget(envelope: RawEnvelope, dryRun: boolean): RawTarget {
  const { from, tags, sendAt, priority } = envelope ?? {};
  if (typeof from !== 'string')
    throw new InputFault('envelope.from must be the address of the sender; the header From does not count.');
  const to = addressesOf(envelope.to);
  const query = new URLSearchParams({ from });
  for (const address of to) query.append('to', address);
  for (const tag of tags ?? []) query.append('tag', tag);
  const options = { sendAt: timeText('envelope.sendAt', sendAt), priority, dryRun: dryRun || null };
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && value !== null) query.set(name, String(value));
  if (query.toString().length <= LONGEST_QUERY) return { query: `?${query}`, headers: {} };
  query.delete('to');
  return { query: `?${query}`, headers: { to: headerText(to) } };
}

function addressesOf(to: RawEnvelope['to']): readonly string[] {
  const addresses = typeof to === 'string' ? [to] : to;
  if (Array.isArray(addresses) && addresses.every((address) => typeof address === 'string')) return addresses;
  throw new InputFault('envelope.to must be the address of the recipient, or an array of such.');
}

/** Addresses as the value of a header field: in UTF-8, of which `fetch` wants each byte as a character. */
function headerText(addresses: readonly string[]): string {
  const broken = addresses.findIndex((address) => /[\0\r\n]/.test(address));
  if (broken >= 0) throw new InputFault(`envelope.to[${broken}] must be one address; it has a line break.`);
  const bytes = new TextEncoder().encode(addresses.join(', '));
  return [...bytes].map((byte) => String.fromCharCode(byte)).join('');
}
