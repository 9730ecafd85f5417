import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { expect } from 'vitest';
import { createSmtpListener, type SmtpListener } from '../../../src/ingest/smtp/listener.ts';
import { SessionLog } from '../../../src/ingest/smtp/session-log.ts';
import type { UnsubscribeTerms } from '../../../src/ingest/unsubscribing.ts';
import { createCertificate } from '../../peers/certificate.ts';
import { SmtpClient, type SmtpClientOptions } from '../../peers/smtp-client.ts';
import { IngestWorld } from '../../support/ingest-world.ts';
import { RecordingDesk } from '../../support/recording-desk.ts';
import {
  HOSTNAME,
  type SmtpDifferences,
  type SmtpTestOptions,
  smtpTestOptions,
} from '../../support/smtp-options.ts';
import { NO_LINKS } from '../../support/unsubscribe-terms.ts';

/** What differs from the usual. */
export interface SmtpWorldOptions extends SmtpDifferences {
  readonly maxBytesInFlight?: number;
  /** Null for a listener without TLS. */
  readonly tls?: SecureContextOptions | null;
}

/** The certificate that is there from the beginning. */
export const CERTIFICATE = createCertificate({ hosts: [HOSTNAME, '127.0.0.1'] });
const MAX_BYTES_IN_FLIGHT = 10_000_000;
/** How far time is moved at once while something is awaited that needs some, in ms. */
const STEP_MS = 5;
/** How often it is looked at what other turns of the loop bring about, in real ms. */
const LOOK = { interval: 5, timeout: 60_000 };

/** Bytes of a write that are awaited. */
const MAX_AWAITED = 1000;

/** The lines of a small message, its end included. */
export const MESSAGE = ['From: <a@example.com>', 'To: <b@example.org>', 'Subject: Hello', '', 'Hi.', '.'];
/** An envelope for it. */
export const ENVELOPE = ['MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.org>'];
/** What a message that was taken is answered with. */
export const QUEUED = /^250 2\.0\.0 .*queued as msg_[0-9a-z]{26}$/;

/** The listener over real sockets, a real store and an intake that records, with a clock that the test moves. */
export class SmtpWorld extends IngestWorld {
  readonly options: SmtpTestOptions;
  readonly desk = new RecordingDesk();
  readonly listener: SmtpListener;
  /** What links to unsubscribe are made of; nothing at first. */
  unsubscribing: UnsubscribeTerms = NO_LINKS;
  readonly #capacity: number;
  /** The server's ends of what is connected, by the client's port. */
  readonly #sockets = new Map<number, Socket>();
  #port = 0;
  #tlsPort = 0;

  private constructor(options: SmtpWorldOptions) {
    const { maxBytesInFlight = MAX_BYTES_IN_FLIGHT, tls = CERTIFICATE } = options;
    super({ maxBytesInFlight, maxWaitingRequests: 1000, maxKeysInMemory: 100 });
    this.#capacity = maxBytesInFlight;
    this.options = smtpTestOptions(options);
    const { intake, desk, dmarcDesk, shared, events, clock, random, log, writer, signal } = this;
    const { views, suppressions } = this.stores;
    this.listener = createSmtpListener(
      {
        intake,
        desk,
        dmarcDesk,
        views,
        suppressions,
        shared,
        events,
        clock,
        random,
        log,
        crowd: null,
        sessions: new SessionLog({ writer, clock, signal }),
        unsubscribing: () => this.unsubscribing,
      },
      this.options,
      tls,
    );
    subscribe('net.server.socket', this.#note);
  }

  static async start(options: SmtpWorldOptions = {}): Promise<SmtpWorld> {
    const world = new SmtpWorld(options);
    world.#port = await world.listener.listen(['127.0.0.1'], 0, false);
    if (options.tls !== null) world.#tlsPort = await world.listener.listen(['127.0.0.1'], 0, true);
    return world;
  }

  /** Where STARTTLS is offered. */
  get port(): number {
    return this.#port;
  }

  /** Where TLS is spoken from the first byte. */
  get tlsPort(): number {
    return this.#tlsPort;
  }

  /** Connections whose server's end is not closed. */
  get sockets(): number {
    return this.#sockets.size;
  }

  /** Bytes of the budget that are out. */
  get bytesInFlight(): number {
    return this.#capacity - this.shared.budget.free;
  }

  /** The server's end of a client's connection. */
  serverEnd(client: SmtpClient): Socket {
    const socket = this.#sockets.get(client.localPort);
    if (socket === undefined) throw new Error('the connection has ended');
    return socket;
  }

  /** Connects; resolves once the listener has the connection, or has ended it, before its greeting. */
  async reach({
    port,
    ...options
  }: SmtpClientOptions & { readonly port?: number } = {}): Promise<SmtpClient> {
    const { implicitTls = false } = options;
    const client = await SmtpClient.connect(port ?? (implicitTls ? this.#tlsPort : this.#port), options);
    let isClosed = false;
    void client.closed.then(() => {
      isClosed = true;
    });
    // One that is turned away without a word may be gone already.
    await this.until(() => this.#sockets.has(client.localPort) || client.ended || isClosed);
    return client;
  }

  /** Connects and is greeted. */
  async greeted(options: SmtpClientOptions = {}): Promise<SmtpClient> {
    const client = await this.reach(options);
    expect(await this.passing(client.reply())).toBe(`220 ${HOSTNAME} ESMTP`);
    return client;
  }

  /** Connects, is greeted and says EHLO. */
  async hello(options: SmtpClientOptions = {}): Promise<SmtpClient> {
    const client = await this.greeted(options);
    expect(await client.ask('EHLO client.test')).toMatch(/^250-/);
    return client;
  }

  /** As {@link hello}, then STARTTLS and EHLO once more. */
  async secured(options: SmtpClientOptions = {}): Promise<SmtpClient> {
    const client = await this.hello(options);
    await client.startTls();
    expect(await client.ask('EHLO client.test')).toMatch(/^250-/);
    return client;
  }

  /** As {@link hello}, then a transaction up to the 354. */
  async inData(options: SmtpClientOptions = {}): Promise<SmtpClient> {
    const client = await this.hello(options);
    await beginData(client);
    return client;
  }

  /** Lets time pass until the promise is settled. */
  async passing<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const settle = () => {
      settled = true;
    };
    promise.then(settle, settle);
    while (!settled) await this.clock.advance(STEP_MS);
    return await promise;
  }

  /** Resolves once something has come about that takes real time, but none of the clock's. */
  async until(isSo: () => boolean): Promise<void> {
    await expect.poll(isSo, LOOK).toBe(true);
  }

  /** Writes, and waits until the server has read it; of what is long, the beginning: it may be left unread. */
  async write(client: SmtpClient, bytes: string | Buffer): Promise<void> {
    const end = this.serverEnd(client);
    const least = end.bytesRead + Math.min(bytes.length, MAX_AWAITED);
    client.write(bytes);
    await this.until(() => end.bytesRead >= least);
  }

  /** Takes all the memory there is, as requests to the API would, until the returned function is called. */
  fillBudget(): () => void {
    const { budget } = this.shared;
    const releases: (() => void)[] = [];
    for (let units = this.#capacity; units >= 100; ) {
      const release = budget.share(`key_${releases.length}`).tryAcquire(units);
      if (release === null) units = Math.floor(units / 2);
      else releases.push(release);
    }
    return () => {
      for (const release of releases) release();
    };
  }

  /** Nothing is connected any more, and nothing is kept of what was. */
  async expectNothingLeft(): Promise<void> {
    await expect
      .poll(() => this.#left(), LOOK)
      .toEqual({ connections: 0, sockets: 0, bytesInFlight: 0, waiting: 0 });
    expect(this.logged).toEqual([]);
  }

  async close(): Promise<void> {
    unsubscribe('net.server.socket', this.#note);
    this.stop();
    await this.listener.close(AbortSignal.abort());
    for (const socket of this.#sockets.values()) socket.destroy();
    await this.stores.store.close();
  }

  #left() {
    const { bytesInFlight, sockets } = this;
    return {
      connections: this.listener.connections,
      sockets,
      bytesInFlight,
      waiting: this.shared.budget.waiting,
    };
  }

  readonly #note = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    const { remotePort, localPort } = socket;
    if (remotePort === undefined || (localPort !== this.#port && localPort !== this.#tlsPort)) return;
    this.#sockets.set(remotePort, socket);
    socket.once('close', () => this.#sockets.delete(remotePort));
  };
}

/** A transaction up to the 354. */
export async function beginData(client: SmtpClient, parameters = ''): Promise<void> {
  const [mail = '', rcpt = ''] = ENVELOPE;
  const replies = await client.askAll(`${mail}${parameters}`, rcpt, 'DATA');
  expect(replies.map((reply) => reply.slice(0, 3))).toEqual(['250', '250', '354']);
}

/** Sends a message; the reply to its end. */
export async function sendMessage(client: SmtpClient, lines: readonly string[] = MESSAGE): Promise<string> {
  await beginData(client);
  client.say(...lines);
  return await client.reply();
}

/** A message of about so many bytes, with its end. */
export function messageOf(bytes: number): string {
  const line = `${'x'.repeat(98)}\r\n`;
  return `From: <a@example.com>\r\nSubject: large\r\n\r\n${line.repeat(Math.ceil(bytes / line.length))}.\r\n`;
}
