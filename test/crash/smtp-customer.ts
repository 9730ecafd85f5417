import type { TestContext } from 'vitest';
import type { RunningServer } from '../peers/server.ts';
import { SmtpClient } from '../peers/smtp-client.ts';
import { Customer, LETTER } from './customer.ts';

/** Over one connection: a client keeps all that it was ever told. */
const MAX_MESSAGES = 25;

/**
 * A customer of the SMTP listener, with a key. It keeps to one connection until something is refused, and sends by
 * DATA and BDAT in turn.
 */
export class SmtpCustomer extends Customer<string> {
  readonly #key: string;
  readonly #test: Pick<TestContext, 'onTestFinished'>;
  readonly #to: readonly string[];
  readonly #from: string;
  #connection: { readonly server: RunningServer; readonly client: SmtpClient } | null = null;
  #sent = 0;

  /** Its connections end with the test. `alsoTo` are recipients besides those of every letter, `from` is where it is. */
  constructor(
    key: string,
    test: Pick<TestContext, 'onTestFinished'>,
    { alsoTo = [], from = '127.0.0.1' }: { readonly alsoTo?: readonly string[]; readonly from?: string } = {},
  ) {
    super();
    this.#key = key;
    this.#test = test;
    this.#to = [...LETTER.to, ...alsoTo];
    this.#from = from;
  }

  idIn(reply: string): string | null {
    return /^250 .* queued as (msg_\w{26})/.exec(reply)?.[1] ?? null;
  }

  /** The last reply, or the first that refuses. */
  protected async hand(server: RunningServer, subject: string): Promise<string> {
    if (this.#connection?.server !== server || this.#sent % MAX_MESSAGES === 0) await this.#hangUp();
    const reply = await this.#dialogue(server, subject);
    if (isRefusal(reply)) await this.#hangUp();
    return reply;
  }

  async #dialogue(server: RunningServer, subject: string): Promise<string> {
    if (this.#connection === null) {
      const options = { test: this.#test, from: this.#from };
      const client = await SmtpClient.connect(server.runtime.smtp[0] ?? 0, options);
      this.#connection = { server, client };
      const refusal = await this.#begin(client);
      if (refusal !== null) return refusal;
    }
    const { client } = this.#connection;
    // A report names the subject by it.
    const mail = `MAIL FROM:<${LETTER.from}> ENVID=${subject}`;
    const envelope = [mail, ...this.#to.map((to) => `RCPT TO:<${to}>`)];
    const content = `From: ${LETTER.from}\r\nSubject: ${subject}\r\n\r\n${LETTER.text}`;
    if (this.#sent++ % 2 === 0) {
      const bdat = `BDAT ${content.length} LAST\r\n${content}`.replace(/\r\n$/, '');
      return untilRefused(client, [...envelope, bdat]);
    }
    const reply = await untilRefused(client, [...envelope, 'DATA']);
    return isRefusal(reply) ? reply : client.ask(`${content}.`);
  }

  /** Greeting, EHLO and AUTH; the reply of who refuses one of them. */
  async #begin(client: SmtpClient): Promise<string | null> {
    const greeting = await client.reply();
    if (isRefusal(greeting)) return greeting;
    const credentials = Buffer.from(`\0customer\0${this.#key}`).toString('base64');
    await client.ask('EHLO customer.example.com');
    const reply = await client.ask(`AUTH PLAIN ${credentials}`);
    return isRefusal(reply) ? reply : null;
  }

  async #hangUp(): Promise<void> {
    this.#connection?.client.destroy();
    await this.#connection?.client.closed;
    this.#connection = null;
  }
}

function isRefusal(reply: string): boolean {
  return /^[45]/.test(reply);
}

/** Says lines at once; the first reply that refuses one, or else the last. */
async function untilRefused(client: SmtpClient, lines: readonly string[]): Promise<string> {
  client.say(...lines);
  let reply = '';
  for (let line = 0; line < lines.length && !isRefusal(reply); line++) reply = await client.reply();
  return reply;
}
