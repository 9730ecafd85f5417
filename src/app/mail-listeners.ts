import type { SecureContextOptions } from 'node:tls';
import type { Handler, HttpServer } from '../http/server.ts';
import type { SmtpListener } from '../ingest/smtp/listener.ts';
import { apiHandler, apiServer } from './api-listener.ts';
import type { MailListeners, MailParts } from './mail-parts.ts';
import { smtpListener } from './smtp-listener.ts';

/** Makes the listeners of this thread, which take no port yet. Without `tls` none of them speaks it. */
export function createMailListeners(parts: MailParts, tls: SecureContextOptions | null): MailListeners {
  return new OwnListeners(parts, tls);
}

class OwnListeners implements MailListeners {
  readonly #parts: MailParts;
  readonly #plain: HttpServer[] = [];
  readonly #secure: HttpServer[] = [];
  readonly #smtp: SmtpListener;
  readonly #handler: Handler;
  #tls: SecureContextOptions | null;

  constructor(parts: MailParts, tls: SecureContextOptions | null) {
    this.#parts = parts;
    this.#tls = tls;
    this.#smtp = smtpListener(parts, tls);
    this.#handler = apiHandler(parts);
  }

  get connections(): number {
    return this.#smtp.connections;
  }

  get bytesInFlight(): number {
    return this.#parts.shared.budget.taken;
  }

  async listenApi(port: number, isTls: boolean): Promise<number> {
    const server = apiServer(this.#parts, port, isTls ? this.#tls : null, this.#handler);
    const bound = await server.listen();
    (isTls ? this.#secure : this.#plain).push(server);
    return bound;
  }

  listenSmtp(hosts: readonly string[], port: number, implicitTls: boolean): Promise<number> {
    return this.#smtp.listen(hosts, port, implicitTls);
  }

  setSecureContext(tls: SecureContextOptions): void {
    this.#tls = tls;
    this.#smtp.setSecureContext(tls);
    for (const server of this.#secure) server.setSecureContext(tls);
  }

  /** It is asked for with every message. */
  async configured(): Promise<void> {}

  async close(deadline: AbortSignal): Promise<void> {
    const all = [this.#smtp, ...this.#plain, ...this.#secure];
    await Promise.all(all.map((listener) => listener.close(deadline)));
  }
}
