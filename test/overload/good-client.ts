/** Somebody who does nothing wrong, from an address and with a key of their own, while others do. */

import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect } from 'vitest';
import { untilAllIsFinal } from '../crash/book.ts';
import { Customer, LETTER } from '../crash/customer.ts';
import { SmtpCustomer } from '../crash/smtp-customer.ts';
import type { RunningServer } from '../peers/server.ts';

/** Where the good client is; the others are elsewhere in 127.0.0.0/8. */
const FROM = '127.0.0.2';
/** Its connection of HTTP ends before the server would end it: what is sent as that happens is reset. */
const IDLE_MS = 2000;

interface HttpAnswer {
  readonly status: number | undefined;
  readonly body: { readonly id?: string };
}

/** Sends JSON over a connection that it keeps. */
class OverHttp extends Customer<HttpAnswer> {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1, timeout: IDLE_MS });
  readonly #key: string;

  constructor(key: string) {
    super();
    this.#key = key;
  }

  idIn({ status, body }: HttpAnswer): string | null {
    return status === 202 ? String(body.id) : null;
  }

  /** Closes its connection. */
  leave(): void {
    this.#agent.destroy();
  }

  protected async hand({ api }: RunningServer, subject: string): Promise<HttpAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const headers = { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' };
    const options = { method: 'POST', headers, agent: this.#agent, localAddress: FROM };
    request(`${api}/api/v1/messages`, options, (response) => {
      json(response).then(
        (body) => resolve({ status: response.statusCode, body: body as HttpAnswer['body'] }),
        reject,
      );
    })
      .on('error', reject)
      .end(JSON.stringify({ ...LETTER, subject }));
    return promise;
  }
}

/** Sends by HTTP and SMTP in turn. Every message must be acknowledged at the first attempt. */
export class GoodClient {
  readonly #server: RunningServer;
  readonly #key: string;
  readonly #http: OverHttp;
  #smtp: SmtpCustomer;
  /** How long the slowest of its messages took to be acknowledged, in ms. */
  slowestMs = 0;
  /** Over connections of SMTP that it has left. */
  #sentBefore = 0;

  constructor(server: RunningServer, key: string) {
    this.#server = server;
    this.#key = key;
    this.#http = new OverHttp(key);
    this.#smtp = overSmtp(key);
  }

  /** Messages sent, and acknowledged. */
  get sent(): number {
    return this.#http.acknowledged.size + this.#sentBefore + this.#smtp.acknowledged.size;
  }

  /** Sends so many by each way, one after the other. */
  async send(count: number): Promise<void> {
    for (let sent = 0; sent < count; sent++) {
      const answer = await this.#timed(this.#http.send(this.#server));
      expect(this.#http.idIn(answer), JSON.stringify(answer)).not.toBeNull();
      const reply = await this.#timed(this.#smtp.send(this.#server));
      expect(this.#smtp.idIn(reply), reply).not.toBeNull();
    }
  }

  async #timed<T>(work: Promise<T>): Promise<T> {
    const began = performance.now();
    const answer = await work;
    this.slowestMs = Math.max(this.slowestMs, Math.ceil(performance.now() - began));
    return answer;
  }

  /** Sends without a pause until `others` have come to their end; what they came to. */
  async sendDuring<T>(others: Promise<T>): Promise<T> {
    let going = true;
    const over = others.finally(() => {
      going = false;
    });
    // Told at the end: the messages under way are waited for.
    over.catch(() => {});
    while (going) await this.send(1);
    return await over;
  }

  /** Asks until all of it is final. */
  untilDelivered(): Promise<void> {
    return untilAllIsFinal(this.#server, this.#key);
  }

  /** Uses its connections no more: the next messages need others. */
  leave(): void {
    this.#http.leave();
    this.#sentBefore += this.#smtp.acknowledged.size;
    this.#smtp = overSmtp(this.#key);
  }
}

function overSmtp(key: string): SmtpCustomer {
  // Its connections end with the server.
  return new SmtpCustomer(key, { onTestFinished: () => {} }, { from: FROM });
}
