import type { Exchange } from '../http/exchange.ts';

/**
 * The cookie that carries a session's token. `__Host-` holds it to this very host over TLS, whole; the instance's own name
 * keeps two installations on one host apart, since cookies ignore ports.
 */
export class SessionCookie {
  readonly #name: string;

  constructor(instance: string) {
    this.#name = `__Host-waybill-${instance}`;
  }

  /** The token that a request carries; null without one. */
  read({ headers }: Pick<Exchange, 'headers'>): string | null {
    for (const pair of (headers.cookie ?? '').split(';')) {
      const [name, value] = pair.trim().split('=', 2);
      if (name === this.#name) return value ?? null;
    }
    return null;
  }

  /** Has the browser keep a token until it is closed. */
  give(exchange: Pick<Exchange, 'setHeader'>, token: string): void {
    exchange.setHeader('Set-Cookie', `${this.#name}=${token}; ${ATTRIBUTES}`);
  }

  /** Has the browser forget it. */
  take(exchange: Pick<Exchange, 'setHeader'>): void {
    exchange.setHeader('Set-Cookie', `${this.#name}=; ${ATTRIBUTES}; Max-Age=0`);
  }
}

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict';
