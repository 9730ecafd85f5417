import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { adminForApi } from '../../../src/app/listeners.ts';
import { loadConfig, NOTHING_STORED } from '../../../src/config/load.ts';
import { createDoor } from '../../../src/control/door.ts';
import { inboxOperations } from '../../../src/control/inbox.ts';
import { messageActs } from '../../../src/control/messages.ts';
import { outlookOf } from '../../../src/control/outlook.ts';
import { queueOperations } from '../../../src/control/queue.ts';
import { suppressionOperations } from '../../../src/control/suppressions.ts';
import { templateOperations } from '../../../src/control/templates.ts';
import { webhookOperations } from '../../../src/control/webhooks.ts';
import { PROVIDER_NAMES } from '../../../src/domain/drop-in.ts';
import type { FeedbackToken } from '../../../src/domain/feedback.ts';
import type { Submission } from '../../../src/domain/message.ts';
import type { RelayHook } from '../../../src/domain/relay-hook.ts';
import type { LaneFigures } from '../../../src/engine/contract.ts';
import type { HttpLimits } from '../../../src/http/server.ts';
import { createHttpServer, type HttpServer } from '../../../src/http/server.ts';
import { Hooks } from '../../../src/ingest/hooks/hooks.ts';
import type { SnsGet } from '../../../src/ingest/hooks/sns-fetch.ts';
import { createIngestApi } from '../../../src/ingest/http/api.ts';
import { readContent } from '../../../src/ingest/http/find-message.ts';
import type { ReadWords } from '../../../src/ingest/http/inbox/captured-words.ts';
import type { IngestDeps, IngestLimits, IngestOptions } from '../../../src/ingest/http/options.ts';
import { RequestRecorder } from '../../../src/ingest/http/request-log.ts';
import type { VerdictDeps } from '../../../src/ingest/http/verdict.ts';
import type { SharedLimits } from '../../../src/ingest/shared.ts';
import type { UnsubscribeTerms } from '../../../src/ingest/unsubscribing.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { seededRandom } from '../../../src/lib/random.ts';
import type { Operations } from '../../../src/operations/table.ts';
import { checkMessage } from '../../../src/preflight/rules.ts';
import { parseMessage } from '../../../src/preview/parse.ts';
import { cidrs } from '../../support/cidrs.ts';
import { IngestWorld } from '../../support/ingest-world.ts';
import { holdAgainst } from '../../support/openapi.ts';
import { RecordingDesk } from '../../support/recording-desk.ts';
import { type Done, recordingOperations } from '../../support/recording-operations.ts';
import { NO_LINKS } from '../../support/unsubscribe-terms.ts';

/** What a test sends. */
export interface Ask {
  readonly method?: string;
  readonly path?: string;
  /** A secret, sent as Bearer. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is; an object is sent as JSON. */
  readonly body?: string | Buffer | object;
}

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; `{}` when it is none. */
  readonly json: Json;
}

/** A body, as far as tests look into it. */
export interface Json {
  readonly [name: string]: unknown;
  readonly errors?: readonly { readonly pointer: string; readonly code: string; readonly detail: string }[];
}

/** Settings that differ from the usual ones. */
type WorldOptions = Partial<Omit<IngestOptions, 'limits'> & SharedLimits> & {
  readonly limits?: Partial<IngestLimits>;
  /** Of the HTTP server below. */
  readonly server?: Partial<HttpLimits>;
  /** Wall ms at the start. */
  readonly epoch?: number;
};

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const API_LIMITS: IngestLimits = {
  rateLimitPerKey: 0,
  maxMessageBytes: 150_000,
  maxRecipients: 10,
  maxHeaders: 50,
  maxHeaderBytes: 65_536,
  maxAttachments: 20,
  maxTags: 10,
  maxMetadata: 20,
  maxJsonDepth: 16,
  maxJsonValues: 50_000,
  maxFormParts: 5000,
  maxPartHeaderBytes: 16_384,
  maxPartHeaders: 32,
  maxBatchMessages: 20,
  maxBatchBytes: 500_000,
  batchMessagesPerMinute: 0,
  corsOrigins: [],
};

const OPTIONS: Omit<IngestOptions, 'limits'> & SharedLimits = {
  hostname: 'mx.waybill.test',
  allowedCidrs: cidrs('127.0.0.0/8', '::1/128'),
  strangerCidrs: cidrs('127.0.0.0/8', '::1/128'),
  trustedProxies: cidrs(),
  maxFeedbackBytes: 100_000,
  dropIn: PROVIDER_NAMES,
  keyless: null,
  publicHosts: [],
  maxBytesInFlight: 1_000_000,
  maxWaitingRequests: 10,
  maxWaitingReaders: 2,
  maxEventReaders: 2,
  maxKeysInMemory: 100,
};

const LIMITS: HttpLimits = {
  maxConnections: 50,
  headerTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  keepAliveMs: 1000,
  maxHeaderBytes: 16_384,
  maxHeaders: 100,
  maxPipelinedRequests: 16,
  minBodyBytesPerSecond: 0,
  maxUnsentBytes: 100 * 1024 * 1024,
};

const CONFIGURATION = `
server: { hostname: mx.waybill.test }
delivery: { default_relay: out }
relays:
  - { name: out, type: smtp, host: out.example.net, max_per_day: 1000, quota_reserve_percent: 10 }
`;

/** What can be done to the queue and the messages of a world, with its configuration and the relay that its mail goes to; what is held is read anew each time. */
function queueOf({ stores, intake, clock, figures }: World) {
  const { views, registry, journal } = stores;
  const dataDir = mkdtempSync(join(tmpdir(), 'waybill-world-'));
  writeFileSync(join(dataDir, 'waybill.yaml'), CONFIGURATION);
  let loaded = loadConfig({ dataDir, environment: {}, stored: NOTHING_STORED, random: seededRandom(9) });
  rmSync(dataDir, { recursive: true });
  expect(loaded.faults).toEqual([]);
  const parts = {
    views,
    registry,
    journal,
    clock,
    acts: intake,
    queue: { lanes: () => [...figures.values()], lane: (name: string) => figures.get(name) ?? null },
    resolution: () => loaded,
    reload: async () => {
      const held = await registry.holds();
      loaded = { ...loaded, holds: new Map(held.map(({ target, kind }) => [target, kind])) };
      return [];
    },
  };
  const list = suppressionOperations({ ...parts, ...stores, random: seededRandom(10) });
  const webhooks = webhookOperations({ ...parts, ...stores, random: seededRandom(11), server: () => null });
  const templates = templateOperations({ ...parts, ...stores, random: seededRandom(12) });
  const { releaseCaptured } = inboxOperations({
    ...parts,
    ...stores,
    spool: intake,
    intake,
    random: seededRandom(13),
    resolution: () => ({ ...loaded, routesVersion: 1 }),
  });
  const operations = {
    ...queueOperations(parts),
    ...messageActs(parts),
    ...list,
    ...webhooks,
    ...templates,
    releaseCaptured,
  };
  return { operations, outlook: outlookOf(parts) };
}

/** Everything that operators can ask for; but for `real` and the activity, it is only noted. */
function adminOf(world: World, real: Partial<Operations>): IngestDeps['admin'] {
  const operations = { ...recordingOperations(world.done), ...real };
  const { clock, log } = world;
  const door = createDoor({ operations, journal: world.stores.journal, clock, log });
  return adminForApi(door, () => world.options.limits.maxMessageBytes);
}

/** The ingestion API behind a real HTTP server, over a real store, with a clock that the test moves. */
export class World extends IngestWorld {
  /** The settings in force; a test may change them, and the limits. */
  options: Writable<Omit<IngestOptions, 'limits'> & SharedLimits> & { limits: Writable<IngestLimits> };
  /** The relays and sending domains that dry runs are judged by. */
  sending: ReturnType<VerdictDeps['sending']> = {
    relays: [{ name: 'out', type: 'smtp' }],
    domains: [],
    bounceDomains: { usual: null, own: new Map() },
  };
  /** What links to unsubscribe are made of; nothing at first. */
  unsubscribing: UnsubscribeTerms = NO_LINKS;
  /** What the service says of itself to a balancer. */
  ready = true;
  /** Reads what captured messages say. */
  readWords: ReadWords = async (message) => parseMessage(await readContent(message, this.intake, 404));
  /** What was told of mail. */
  readonly desk = new RecordingDesk();
  /** The hooks of relays, by relay. */
  readonly relayHooks = new Map<string, RelayHook>();
  /** What tokens in addresses say, by address. */
  readonly tokens = new Map<string, FeedbackToken>();
  /** Where certificates of SNS come from. */
  snsGet: SnsGet = async () => ({ kind: 'failed', text: 'nothing answers' });
  /** Operations that were done. */
  readonly done: Done[] = [];
  /** What is known of lanes, by name. */
  readonly figures = new Map<string, LaneFigures>();
  /** Who asked for checks, in order. */
  readonly checkedFor: string[] = [];
  readonly #server: HttpServer;
  #port = 0;

  private constructor({ limits, server, epoch, ...options }: WorldOptions) {
    super({ ...OPTIONS, ...options }, epoch);
    this.options = { ...OPTIONS, ...options, limits: { ...API_LIMITS, ...limits } };
    const { intake, stores, shared, events, clock, random, log, signal, writer } = this;
    const { views, suppressions, templates, requests } = stores;
    const { authenticator } = shared;
    const { operations, outlook } = queueOf(this);
    const handler = createIngestApi(
      {
        intake,
        views,
        suppressions,
        templates,
        shared,
        events,
        clock,
        random,
        log,
        signal,
        sending: () => this.sending,
        unsubscribing: () => this.unsubscribing,
        acts: intake,
        desk: this.desk,
        recognise: (text) => this.tokens.get(text) ?? null,
        hooks: new Hooks({ clock, get: (url, abort) => this.snsGet(url, abort) }),
        findHook: (relay) => this.relayHooks.get(relay) ?? null,
        outlook,
        spool: intake,
        preflight: {
          message: async (_, load, way, asker) => {
            this.checkedFor.push(asker);
            return await checkMessage(await load(), way);
          },
        },
        readWords: (message) => this.readWords(message),
        admin: adminOf(this, operations),
        webuiPort: () => 8443,
        ready: () => this.ready,
        recorder: new RequestRecorder({ writer, authenticator, clock, log }),
        requests,
      },
      this.options,
    );
    this.#server = createHttpServer({
      hosts: ['127.0.0.1'],
      port: 0,
      tls: null,
      limits: { ...LIMITS, ...server },
      clock: systemClock,
      random: seededRandom(8),
      log,
      handler,
    });
  }

  static async start(options: WorldOptions = {}): Promise<World> {
    const world = new World(options);
    world.#port = await world.#server.listen();
    return world;
  }

  get port(): number {
    return this.#port;
  }

  /** Sends a request and reads the whole answer, which must be as the OpenAPI document says. */
  ask(ask: Ask): Promise<Answer> {
    const { method = 'GET', path = '/api/v1/messages', key, body } = ask;
    const isRaw = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
    const headers = {
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      ...(!isRaw && { 'Content-Type': 'application/json' }),
      ...ask.headers,
    };
    const payload = isRaw ? body : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        host: '127.0.0.1',
        port: this.#port,
        method,
        path,
        headers,
        agent: false,
      });
      request.on('error', reject).on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = (response.headers['content-type'] ?? '').includes('json') && text !== '';
          const json = isJson ? JSON.parse(text) : {};
          const answer = { status: response.statusCode ?? 0, headers: response.headers, text, json };
          try {
            if (!UNDESCRIBED.test(path)) holdAgainst(method, path, answer);
            resolve(answer);
          } catch (error) {
            reject(error);
          }
        });
      });
      request.end(payload);
    });
  }

  /** Submits JSON. */
  post(key: string, body: object, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.ask({ method: 'POST', key, body, headers });
  }

  /** Submits {@link MAIL} with these fields changed, and expects it to be taken. */
  async accept(key: string, fields: object): Promise<Submission> {
    const answer = await this.post(key, { ...MAIL, ...fields });
    expect([answer.status, answer.json['detail']]).toEqual([202, undefined]);
    return this.last;
  }

  /** Submits {@link MAIL} with these fields changed, and gives what was found wrong: `pointer code` of each. */
  async refuse(key: string, fields: object): Promise<string[]> {
    const answer = await this.post(key, { ...MAIL, ...fields });
    expect([answer.status, answer.json['code']]).toEqual([400, 'invalid_submission']);
    return faultsOf(answer);
  }

  /** Submits a form. */
  async postForm(key: string, form: FormData): Promise<Answer> {
    const { headers, body } = await encodeForm(form);
    return this.ask({ method: 'POST', key, headers, body });
  }

  async close(): Promise<void> {
    this.stop();
    await this.#server.close(AbortSignal.abort());
    await this.stores.store.close();
  }
}

/** Paths for strangers, and those of providers' and Mailpit's APIs, are in no description. */
const UNDESCRIBED =
  /^\/(?:hooks|u|mailpit|resend|emails|suppressions|sendgrid|mailgun|v3|postmark|email|messages|bounces|deliverystats|message-streams|ses|v2)\b/i;

/** The smallest submission. */
export const MAIL = { from: 'jane@example.com', to: ['bob@example.org'], subject: 'Hello', text: 'Hi.' };

/** A form as a browser or Node sends it. */
export async function encodeForm(form: FormData): Promise<{ headers: Record<string, string>; body: Buffer }> {
  const encoded = new Response(form);
  const headers = { 'Content-Type': encoded.headers.get('content-type') ?? '' };
  return { headers, body: Buffer.from(await encoded.arrayBuffer()) };
}

/** A form of these fields, in order; an array value is a file part: name, content and type. */
export function formOf(fields: readonly (readonly [string, string | File])[]): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
}

/** `pointer code` of each fault. */
export function faultsOf(answer: Answer): string[] {
  return (answer.json.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`);
}
