/** What a process promised the world, read from what it wrote to its sockets: the words, not what led to them. */
import { subjectOf } from '../customer.ts';
import type { Step } from './history.ts';

/** Something said that a power cut must not make untrue. */
export type Promised =
  /** A message was acknowledged: HTTP 202, or 250 to its end. */
  | { readonly kind: 'accepted'; readonly id: string }
  /** Its sender was told that it has ended so. */
  | { readonly kind: 'ended'; readonly id: string; readonly status: 'delivered' | 'failed' }
  /** A next hop was sent the final dot: from now on it may have the message. */
  | { readonly kind: 'sent'; readonly id: string };

const ACCEPTED_BY_HTTP = /^HTTP\/1\.1 202 [\s\S]*"id":"(msg_\w{26})"/;
const ACCEPTED_BY_SMTP = /^250 .* queued as (msg_\w{26})\r$/gm;
const STATUS = /^HTTP\/1\.1 200 [\s\S]*?\r\n\r\n\{"id":"(msg_\w{26})"[\s\S]*?"status":"(delivered|failed)"/;
/** Of reports, and of what came over SMTP without one, it is made from the id of the message. */
const MESSAGE_ID = /^Message-ID: <(msg_\w{26})@/im;

/** Reads what is said, step by step. */
export class Listener {
  readonly #hops = new Map<string, Hop>();
  readonly #ids: ReadonlyMap<string, string>;

  /** `ids` are those of letters, by their subjects. */
  constructor(ids: ReadonlyMap<string, string>) {
    this.#ids = ids;
  }

  /** What this step promises. A promise counts from the moment at which its words are on their way. */
  hear({ phase, deed }: Step): Promised[] {
    if (phase !== 'begun' || deed.kind !== 'say') return [];
    const text = deed.bytes.toString('latin1');
    const [, id] = ACCEPTED_BY_HTTP.exec(text) ?? [];
    if (id !== undefined) return [{ kind: 'accepted', id }];
    const [, ended, status] = STATUS.exec(text) ?? [];
    if (ended !== undefined)
      return [{ kind: 'ended', id: ended, status: status === 'failed' ? 'failed' : 'delivered' }];
    const accepted = [...text.matchAll(ACCEPTED_BY_SMTP)];
    if (accepted.length > 0) return accepted.map(([, id = '']) => ({ kind: 'accepted', id }));
    return this.#toHop(deed.socket, text);
  }

  #toHop(socket: string, text: string): Promised[] {
    const hop = this.#hops.get(socket) ?? (text.startsWith('EHLO ') ? new Hop(this.#ids) : null);
    if (hop === null) return [];
    this.#hops.set(socket, hop);
    return hop.hear(text).map((id) => ({ kind: 'sent', id }));
  }
}

/** One connection to a next hop, by what we say on it. */
class Hop {
  readonly #ids: ReadonlyMap<string, string>;
  #rest = '';
  /** The content since DATA; null among commands. */
  #content: string[] | null = null;

  constructor(ids: ReadonlyMap<string, string>) {
    this.#ids = ids;
  }

  /** Ids of messages that end in these words. */
  hear(text: string): string[] {
    const lines = (this.#rest + text).split('\r\n');
    this.#rest = lines.pop() ?? '';
    return lines.map((line) => this.#line(line)).filter((id) => id !== null);
  }

  #line(line: string): string | null {
    const content = this.#content;
    if (content === null) {
      if (line === 'DATA') this.#content = [];
      return null;
    }
    // DATA was refused, and what follows is the next command.
    if (content.length === 0 && /^(?:RSET|QUIT|MAIL FROM:.*)$/.test(line)) this.#content = null;
    if (line !== '.') {
      content.push(line);
      return null;
    }
    this.#content = null;
    const text = Buffer.from(content.join('\r\n'), 'latin1');
    return this.#ids.get(subjectOf(text)) ?? MESSAGE_ID.exec(text.toString('latin1'))?.[1] ?? null;
  }
}
