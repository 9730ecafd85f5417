import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { type Clock, yieldToLoop } from '../lib/clock.ts';
import { createRequestIds } from '../lib/id.ts';
import { bindAll, TLS_RULES } from '../lib/listen.ts';
import type { Log } from '../lib/log.ts';
import { createServer } from '../lib/node-http.ts';
import type { Random } from '../lib/random.ts';
import {
  answerRaw,
  type ClientError,
  checkHead,
  isBeyondLast,
  plainOnTlsPort,
  problemOfClientError,
  takePlainToo,
  tooManyConnections,
  unsupportedMethod,
} from './bad-request.ts';
import { RequestAborted } from './body.ts';
import { type Connection, Connections } from './connections.ts';
import { lingeringClose } from './ending.ts';
import { Exchange } from './exchange.ts';
import { internalError, Problem } from './problem.ts';
import { Pace, UnsentAnswers } from './slow-clients.ts';

/**
 * Answers a request by the exchange's functions, or by throwing a `Problem`. When it returns, or its result resolves,
 * the answer has been given, unless the exchange ended without one.
 */
export type Handler = (exchange: Exchange) => Promise<void> | void;

export interface HttpServerOptions {
  /** Addresses to bind; `::` accepts IPv4 too, unless an IPv4 address is listed, and is `0.0.0.0` without IPv6. */
  readonly hosts: readonly string[];
  /** 0 means any free port, the same on every address. */
  readonly port: number;
  /** Other threads bind the same port; see `lib/listen.ts`. Default: no. */
  readonly sharesPort?: boolean;
  /** Key and certificate; null serves plain HTTP. */
  readonly tls: SecureContextOptions | null;
  /**
   * With TLS: how to treat plain HTTP on the same port. `serve` accepts it, and `Exchange.secure` tells them apart;
   * otherwise it is answered 400 in plain HTTP, or with the function's refusal of the path.
   */
  readonly plainOnTls?: 'serve' | ((path: string) => Problem | null);
  /** Answers authorities that ask whether names are ours, before anything else. Default: nothing does. */
  readonly challenges?: Challenges;
  readonly limits: HttpLimits;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly handler: Handler;
}

/** What authorities are answered; see `tls/challenge-desk.ts`. */
export interface Challenges {
  /** What a GET of this path is answered; null: nothing. */
  textFor(path: string): string | null;
  /** Whether connections over TLS may be an authority's. */
  readonly looksAtTls: boolean;
  /** Takes an authority's connection; `other` gets any other one. */
  receive(socket: Socket, other: () => void): void;
}

/** A server of HTTP/1.1. */
export interface HttpServer {
  /**
   * Binds every address, with this port instead of that of the options if one is given. Rejects with `ListenError`, and
   * then has bound none. Resolves to the bound port.
   */
  listen(port?: number): Promise<number>;
  /** Uses another key and certificate for new connections. */
  setSecureContext(tls: SecureContextOptions): void;
  /**
   * Stops accepting, closes idle connections at once and busy ones after their answer; when `signal` aborts, all that
   * are left. Resolves when none is left.
   */
  close(signal?: AbortSignal): Promise<void>;
}

/** Makes a server; it does not listen yet. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  return new NodeHttpServer(options);
}

/** How often Node looks for requests that are too slow. */
const TIMEOUT_CHECK_MS = 1000;

/** Several listening sockets of `node:http`, one per address, that share everything else. */
class NodeHttpServer implements HttpServer {
  readonly #options: HttpServerOptions;
  readonly #connections: Connections;
  readonly #nextId: (inbound: string | undefined) => string;
  /** Used by exchanges. */
  readonly pace: Pace;
  /** Exchanges report their answers to it. */
  readonly unsent: UnsentAnswers;
  #tls: SecureContextOptions | null;
  #servers: readonly Server[] = [];

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#tls = options.tls;
    const { clock, limits, log } = options;
    this.unsent = new UnsentAnswers(clock, log, limits);
    this.#connections = new Connections(limits, (connection) => this.unsent.forget(connection));
    this.pace = new Pace(clock, () => limits.minBodyBytesPerSecond);
    this.#nextId = createRequestIds(options.random);
  }

  async listen(port = this.#options.port): Promise<number> {
    const { hosts, sharesPort, log } = this.#options;
    const bound = await bindAll(
      hosts,
      port,
      () => this.#createServer(),
      (error) => log.error('http.listener_failed', { error: error.message }),
      sharesPort,
    );
    this.#servers = bound.servers;
    return bound.port;
  }

  setSecureContext(tls: SecureContextOptions): void {
    this.#tls = tls;
    for (const server of this.#servers)
      if (server instanceof TlsServer) server.setSecureContext({ ...tls, ...TLS_RULES });
  }

  async close(signal?: AbortSignal): Promise<void> {
    const force = () => this.#connections.destroyAll();
    signal?.addEventListener('abort', force, { once: true });
    const closed = this.#unbind();
    this.#connections.closeIdle();
    if (signal?.aborted) force();
    await closed;
    this.pace.stop();
    this.unsent.stop();
    signal?.removeEventListener('abort', force);
  }

  async #unbind(): Promise<void> {
    const servers = this.#servers;
    this.#servers = [];
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  #createServer(): Server {
    const { limits } = this.#options;
    const common = {
      maxHeaderSize: limits.maxHeaderBytes,
      headersTimeout: limits.headerTimeoutMs,
      requestTimeout: limits.headerTimeoutMs + limits.bodyTimeoutMs,
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, limits.headerTimeoutMs),
      keepAliveTimeout: limits.keepAliveMs,
      // Checked here instead, so that the refusal is a problem like any other.
      requireHostHeader: false,
    };
    const server =
      this.#tls === null
        ? createServer(common)
        : createTlsServer({
            ...common,
            ...this.#tls,
            ...TLS_RULES,
            handshakeTimeout: limits.headerTimeoutMs,
          });
    if (server instanceof TlsServer)
      takePlainToo(server, limits.headerTimeoutMs, this.#options.challenges ?? null);
    // Node would silently drop fields beyond its own limit; `checkHead` counts them all, and refuses.
    server.maxHeadersCount = 0;
    server.on('connection', (socket: Socket) => {
      const inClear = this.#tls === null;
      if (this.#connections.admit(socket, inClear) && inClear) this.#connections.of(socket);
    });
    server.on('secureConnection', (socket: Socket) => this.#connections.of(socket));
    const take = (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) => {
      const connection = this.#connections.of(request.socket);
      connection.pipeline.take(request, () => this.#serve(request, response, connection, expectsContinue));
    };
    server.on('request', take(false)).on('checkContinue', take(true)).on('checkExpectation', take(false));
    server.on('connect', (_, socket) => this.#refuse(unsupportedMethod(), socket as Socket));
    server.on('clientError', (error: ClientError, duplex) => {
      const socket = duplex as Socket;
      if (isBeyondLast(error)) this.#leave(socket);
      else if (socket.bytesRead === 0) void this.#readOnce(error, socket);
      else this.#refuse(problemOfClientError(error, socket), socket);
    });
    return server;
  }

  #serve(
    request: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    expectsContinue: boolean,
  ): void {
    const inbound = request.headers['x-request-id'];
    const requestId = this.#nextId(typeof inbound === 'string' ? inbound : undefined);
    const exchange = new Exchange(request, response, connection, this, { requestId, expectsContinue });
    connection.pipeline.add(exchange);
    exchange.onSent(() => connection.pipeline.ended(exchange));
    const { limits, plainOnTls } = this.#options;
    if (connection.turnedAway) {
      const problem = tooManyConnections(limits.maxConnections);
      this.#logRefusal(problem, requestId, connection);
      exchange.cutOff(problem);
      return;
    }
    // Submissions, which are POSTs, are not looked up.
    const proof =
      request.method === 'GET' ? (this.#options.challenges?.textFor(exchange.path) ?? null) : null;
    if (proof !== null) {
      exchange.send(200, 'application/octet-stream', proof);
      return;
    }
    const isPlain = this.#tls !== null && !exchange.secure;
    const problem =
      isPlain && plainOnTls !== 'serve'
        ? (plainOnTls?.(exchange.path) ?? plainOnTlsPort())
        : checkHead(request, limits);
    if (problem === null) void this.#answer(exchange);
    else {
      this.#logRefusal(problem, requestId, connection);
      exchange.problem(problem);
    }
  }

  async #answer(exchange: Exchange): Promise<void> {
    try {
      await this.#options.handler(exchange);
      if (!exchange.answered && !exchange.over) throw new Error('the handler gave no answer');
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  /** Asked by exchanges. */
  closing(): boolean {
    return this.#connections.closing;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  #fail(exchange: Exchange, error: unknown): void {
    const expected = error instanceof Problem || error instanceof RequestAborted;
    if (expected && exchange.over) return;
    if (error instanceof Problem && !exchange.answered) {
      exchange.problem(error);
      return;
    }
    this.#options.log.error('http.handler_failed', {
      code: 'internal_error',
      requestId: exchange.requestId,
      error: error instanceof Error ? error.stack : String(error),
    });
    if (!exchange.answered) exchange.problem(internalError());
  }

  /** Reads once before it refuses: where the event loop was held up, the request may have come in time. */
  async #readOnce(error: ClientError, socket: Socket): Promise<void> {
    await yieldToLoop();
    if (socket.destroyed || !this.#connections.of(socket).pipeline.unused) return;
    this.#refuse(problemOfClientError(error, socket), socket);
  }

  /** Refuses bytes that are not a readable request; null if there is nobody to tell. */
  #refuse(problem: Problem | null, socket: Socket): void {
    const connection = this.#connections.of(socket);
    const { pipeline } = connection;
    // Bytes after a refusal are unreadable too.
    if (pipeline.finishing) return;
    if (problem === null || !socket.writable) {
      socket.destroy();
      return;
    }
    const { reading } = pipeline;
    const requestId = reading?.requestId ?? this.#nextId(undefined);
    if (reading?.answered !== true) this.#logRefusal(problem, requestId, connection);
    pipeline.finish(() => {
      if (socket.destroyed) return;
      if (reading === null && socket.writable) answerRaw(problem, socket, requestId);
      if (!socket.writableEnded) void lingeringClose(socket, this.clock);
    });
    reading?.cutOff(problem);
  }

  /** Reads no more from a connection; its requests so far are answered. */
  #leave(socket: Socket): void {
    this.#connections.of(socket).pipeline.finish(() => socket.destroySoon());
  }

  #logRefusal(problem: Problem, requestId: string, connection: Connection): void {
    const { code, status } = problem;
    this.#options.log.info('http.request_refused', { code, status, requestId, source: connection.peer });
  }
}

/** Limits on what clients may hold or send. */
export interface HttpLimits {
  /** Open connections over all addresses. A further one replaces one of the source that has most, or is refused. */
  readonly maxConnections: number;
  /** From the first byte (or the connection) to the end of the header, and for a TLS handshake. */
  readonly headerTimeoutMs: number;
  /**
   * From the end of the header to the end of the body, roughly: checked once a second. Also how long a client may take
   * nothing of its answer.
   */
  readonly bodyTimeoutMs: number;
  /** How long an idle connection is kept. */
  readonly keepAliveMs: number;
  /** Size of a request's header, its first line included. */
  readonly maxHeaderBytes: number;
  /** Fields of a request's header, counting repeated ones each time. */
  readonly maxHeaders: number;
  /** Requests of one connection in progress at once; further ones are held back and the socket is not read. */
  readonly maxPipelinedRequests: number;
  /** Slowest pace of a body over ten seconds; 0 means any. Read at every check. */
  readonly minBodyBytesPerSecond: number;
  /** Bytes of answers that clients have not taken yet; beyond it, the longest stalled client is cut off. */
  readonly maxUnsentBytes: number;
}
