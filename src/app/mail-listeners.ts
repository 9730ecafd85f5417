import type { SecureContextOptions } from 'node:tls';
import {
  incomingDomainsOf,
  recogniseTokens,
  sendingOf,
  tokensOf,
  unsubscribeTermsOf,
} from '../config/bounces.ts';
import { relayHook } from '../config/hook-tokens.ts';
import { localPostmaster, serverName } from '../config/names.ts';
import type { Config } from '../config/schema.ts';
import type { ChallengeAnswer } from '../domain/certificate.ts';
import type { NamedSource } from '../domain/key.ts';
import { createHttpServer, type Handler, type HttpLimits, type HttpServer } from '../http/server.ts';
import { Hooks } from '../ingest/hooks/hooks.ts';
import { createSnsGet } from '../ingest/hooks/sns-fetch.ts';
import { createIngestApi, onDashboardOnly } from '../ingest/http/api.ts';
import { RequestRecorder } from '../ingest/http/request-log.ts';
import { REQUEST_LINES_A_SECOND, RequestWriter } from '../ingest/request-writer.ts';
import { createSmtpListener, type SmtpListener } from '../ingest/smtp/listener.ts';
import type { SmtpOptions } from '../ingest/smtp/options.ts';
import { SessionLog } from '../ingest/smtp/session-log.ts';
import { ChallengeDesk } from '../tls/challenge-desk.ts';
import { cidrs, type LiveConfig } from './live-config.ts';
import { type MailListeners, type MailParts, partOf } from './mail-parts.ts';
import type { SmtpPortPlan } from './ports.ts';

/** Makes the listeners of this thread, which are not bound yet. Without `tls` none of them offers it. */
export function createMailListeners(parts: MailParts, tls: SecureContextOptions | null): MailListeners {
  return new OwnListeners(parts, tls);
}

class OwnListeners implements MailListeners {
  readonly #parts: MailParts;
  readonly #plain: HttpServer[] = [];
  readonly #secure: HttpServer[] = [];
  readonly #smtp: SmtpListener;
  readonly #handler: Handler;
  readonly #writer: RequestWriter;
  readonly #challenges: ChallengeDesk;
  #tls: SecureContextOptions | null;

  constructor(parts: MailParts, tls: SecureContextOptions | null) {
    this.#parts = parts;
    this.#tls = tls;
    this.#challenges = new ChallengeDesk(parts.clock, parts.random);
    this.#writer = requestWriter(parts);
    this.#smtp = smtpListener(parts, this.#writer, tls);
    this.#handler = apiHandler(parts, this.#writer);
  }

  get connections(): number {
    return this.#smtp.connections;
  }

  get bytesInFlight(): number {
    return this.#parts.shared.budget.taken;
  }

  async listenApi(port: number, isTls: boolean): Promise<number> {
    const server = apiServer(this.#parts, port, isTls ? this.#tls : null, this.#handler, this.#challenges);
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

  setChallenges(answers: readonly ChallengeAnswer[]): void {
    this.#challenges.set(answers);
  }

  /** Nothing to do: the configuration is read with every message. */
  async configured(): Promise<void> {}

  async close(deadline: AbortSignal): Promise<void> {
    const all = [this.#smtp, ...this.#plain, ...this.#secure];
    await Promise.all(all.map((listener) => listener.close(deadline)));
    await this.#writer.flush();
  }
}

/** The request handler of the ingestion API, for its plain port and its TLS port alike. */
function apiHandler(parts: MailParts, writer: RequestWriter): Handler {
  const { rooms, live, ...rest } = parts;
  const { clock, log, shared } = parts;
  const recorder = new RequestRecorder({ writer, authenticator: shared.authenticator, clock, log });
  const hooks = new Hooks({ clock, get: createSnsGet() });
  const recognise = (text: string) => recogniseTokens(live.config)(text);
  const findHook = (relay: string) => relayHook(live.config, relay);
  return createIngestApi(
    {
      ...rooms,
      ...rest,
      recorder,
      sending: () => sendingOf(live.config),
      unsubscribing: unsubscribing(live),
      hooks,
      findHook,
      recognise,
    },
    apiOptions(parts),
  );
}

/** Writes this thread's part of the log of requests. */
function requestWriter({ rooms, live, clock, log, signal }: MailParts): RequestWriter {
  const isKept = () => live.config.retention.requestsDays > 0;
  const maxLines = partOf(REQUEST_LINES_A_SECOND, live.config);
  return new RequestWriter({ requests: rooms.requests, isKept, clock, log, signal }, maxLines);
}

function unsubscribing(live: MailParts['live']) {
  return () => unsubscribeTermsOf(live.config);
}

/** The server of one port of the ingestion API; plain HTTP without a certificate. */
function apiServer(
  parts: MailParts,
  port: number,
  tls: SecureContextOptions | null,
  handler: Handler,
  challenges: ChallengeDesk,
): HttpServer {
  const { live, crowd, clock, random, log, webuiPort } = parts;
  const { bind: hosts, ...api } = live.config.api;
  const limits: HttpLimits = {
    maxConnections: partOf(api.maxConnections, live.config),
    headerTimeoutMs: api.headerTimeoutSeconds * 1000,
    bodyTimeoutMs: api.bodyTimeoutSeconds * 1000,
    keepAliveMs: api.keepAliveSeconds * 1000,
    maxHeaderBytes: api.maxRequestHeaderBytes,
    maxHeaders: api.maxRequestHeaders,
    maxPipelinedRequests: api.maxPipelinedRequests,
    maxUnsentBytes: partOf(live.config.limits.maxUnsentBytes, live.config),
    get minBodyBytesPerSecond() {
      return live.config.api.minBodyBytesPerSecond;
    },
  };
  return createHttpServer({
    hosts,
    port,
    tls,
    limits,
    clock,
    random,
    log,
    handler,
    challenges,
    sharesPort: crowd !== null,
    plainOnTls: (path) => onDashboardOnly(path, webuiPort()),
  });
}

/** The API's options, read from the configuration each time so that changes apply live. */
function apiOptions({ live, keyless }: Pick<MailParts, 'live' | 'keyless'>) {
  const { limits } = live.config;
  return {
    get hostname() {
      return serverName(live.config);
    },
    get allowedCidrs() {
      return cidrs(live.config.api.allowedCidrs);
    },
    get strangerCidrs() {
      return cidrs(live.config.hooks.allowedCidrs);
    },
    get trustedProxies() {
      return cidrs(live.config.api.trustedProxies);
    },
    get limits() {
      return live.config.api;
    },
    get publicHosts() {
      return live.config.api.publicHosts;
    },
    get maxFeedbackBytes() {
      return live.config.bounces.maxMessageBytes;
    },
    keyless: keyless ?? null,
    dropIn: live.config.dropin.enabled,
    maxWaitingReaders: partOf(limits.maxWaitingReaders, live.config),
    maxEventReaders: partOf(limits.maxEventReaders, live.config),
  };
}

/** The SMTP listener, which is not bound yet. */
function smtpListener(
  parts: MailParts,
  writer: RequestWriter,
  tls: SecureContextOptions | null,
): SmtpListener {
  const { intake, desk, dmarcDesk, views, suppressions } = parts.rooms;
  const { clock, signal } = parts;
  return createSmtpListener(
    {
      ...parts,
      intake,
      desk,
      dmarcDesk,
      views,
      suppressions,
      unsubscribing: unsubscribing(parts.live),
      sessions: new SessionLog({ writer, clock, signal }),
    },
    smtpOptions(parts),
    tls,
  );
}

/** The ports to bind. */
export function smtpPortPlan({ config, loaded }: LiveConfig): SmtpPortPlan {
  const { bind, ports, implicitTlsPorts } = config.listener;
  const setting = loaded.effective.find(({ key }) => key === 'listener.ports');
  return { bind, ports, implicitTlsPorts, set: setting?.origin !== 'default' };
}

/** The listener's options, read from the configuration each time so that changes apply live. */
function smtpOptions({
  live,
  webuiPort,
  keyless,
}: Pick<MailParts, 'live' | 'webuiPort' | 'keyless'>): SmtpOptions {
  return {
    keyless: keyless ?? null,
    get webuiPort() {
      return webuiPort();
    },
    get hostname() {
      return serverName(live.config);
    },
    get postmaster() {
      return live.config.server.postmaster ?? localPostmaster(live.config);
    },
    get settings() {
      return live.config.listener;
    },
    get limits() {
      return live.config.api;
    },
    get allowedCidrs() {
      return cidrs(live.config.listener.allowedCidrs);
    },
    get trustedProxies() {
      return cidrs(live.config.listener.trustedProxies);
    },
    get domains() {
      return namesOf(live.config.domains);
    },
    get sources() {
      return withCidrs(live.config.listener.sources);
    },
    bounces: {
      get domains() {
        return incomingDomainsOf(live.config);
      },
      get maxMessageBytes() {
        return live.config.bounces.maxMessageBytes;
      },
      get ratePerSource() {
        return live.config.bounces.ratePerSource;
      },
      tokens: (purpose) => tokensOf(live.config, purpose),
      recognise: (text) => recogniseTokens(live.config)(text),
    },
  };
}

const names = new WeakMap<Config['domains'], ReadonlySet<string>>();

/** The names of registered domains, collected once for each list. */
function namesOf(list: Config['domains']): ReadonlySet<string> {
  const known = names.get(list) ?? new Set(list.map(({ name }) => name));
  names.set(list, known);
  return known;
}

type SourceRows = SmtpOptions['sources'];

const parsed = new WeakMap<readonly NamedSource[], SourceRows>();

/** Validated rows of the configuration, with their ranges parsed once for each list. */
function withCidrs(list: readonly NamedSource[]): SourceRows {
  const known = parsed.get(list);
  if (known) return known;
  const rows = list.map((source) => ({ source, cidrs: cidrs([source.cidr]) }));
  parsed.set(list, rows);
  return rows;
}
