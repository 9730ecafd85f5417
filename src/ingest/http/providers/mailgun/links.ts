import type { Exchange } from '../../../../http/exchange.ts';

/** Whole URLs of pages, as Mailgun's answers have them. A file of its own: events and lists have pages. */

/** Where the client finds this server: the host that it asked. */
export function originOf({ secure, headers }: Pick<Exchange, 'secure' | 'headers'>): string {
  return `${secure ? 'https' : 'http'}://${headers.host ?? 'localhost'}`;
}
