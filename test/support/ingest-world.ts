import type { ApiKey } from '../../src/domain/key.ts';
import type { Submission } from '../../src/domain/message.ts';
import type { SigningKeys } from '../../src/ingest/authenticator.ts';
import { REQUEST_LINES_A_SECOND, RequestWriter } from '../../src/ingest/request-writer.ts';
import { createShared, type IngestShared, type SharedLimits } from '../../src/ingest/shared.ts';
import { generateSecret, hashSecret, secretPrefix } from '../../src/lib/id.ts';
import type { Log, LogFields } from '../../src/lib/log.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { logEvents } from '../../src/observe/event-log.ts';
import { type Event, Events } from '../../src/observe/events.ts';
import { createDmarcDesk, type DmarcDesk } from '../../src/reports/dmarc-desk.ts';
import type { SigningSecret } from '../../src/store/accounts.ts';
import { openSqlite, type SqliteStores } from '../../src/store/sqlite/open.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingIntake } from './recording-intake.ts';

/** A line of the log. */
export interface LogLine {
  readonly level: keyof Log;
  readonly event: string;
  readonly fields: LogFields;
}

/** What every way in stands on: a real store, an intake that records, and a clock that the test moves. */
export abstract class IngestWorld {
  readonly clock: ManualClock;
  readonly events = new Events();
  readonly random = seededRandom(7);
  /** Everything that was logged, whole, at every level. */
  readonly lines: LogLine[] = [];
  readonly log: Log = {
    debug: this.#logAs('debug'),
    info: this.#logAs('info'),
    warn: this.#logAs('warn'),
    error: this.#logAs('error'),
  };
  readonly seen: Event[] = [];
  readonly stores: SqliteStores = openSqlite(':memory:');
  readonly intake: RecordingIntake;
  readonly shared: IngestShared;
  /** Whether the log of requests is kept. */
  keepsRequests = true;
  /** Writes the log of requests. */
  readonly writer: RequestWriter;
  readonly #stop = new AbortController();

  /** `epoch` is the wall time at the start, in ms. */
  constructor(limits: SharedLimits, epoch?: number) {
    this.clock = new ManualClock(epoch);
    this.intake = new RecordingIntake(this.stores.store, this.clock);
    this.events.on((event) => this.seen.push(event));
    logEvents(this.events, this.log);
    const { clock, log, signal } = this;
    const { requests } = this.stores;
    this.writer = new RequestWriter(
      { requests, isKept: () => this.keepsRequests, clock, log, signal },
      REQUEST_LINES_A_SECOND,
    );
    this.shared = createShared(
      { keyring: this.stores.keyring, signing: this.#signing(), clock, log, others: null, threads: null },
      limits,
      signal,
    );
  }

  /** Takes DMARC reports about example.com in. */
  get dmarcDesk(): DmarcDesk {
    const { clock, random, events } = this;
    const { dmarc } = this.stores;
    return createDmarcDesk({ dmarc, clock, random, events, domains: () => ['example.com'], days: () => 90 });
  }

  /** Aborts when the service ends. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** The errors that were logged, by name. */
  get logged(): string[] {
    return this.#linesOf('error').map(({ event }) => event);
  }

  /** What was noted in the log, without being a warning or an error: `event code`. */
  get noted(): string[] {
    return this.#linesOf('info').map(({ event, fields }) => `${event} ${fields['code'] ?? ''}`.trimEnd());
  }

  /** The newest accepted submission. */
  get last(): Submission {
    const submission = this.intake.submissions.at(-1);
    if (submission === undefined) throw new Error('nothing was accepted');
    return submission;
  }

  /** The newest accepted message's text. */
  get lastText(): string {
    return Buffer.concat(this.last.content.chunks).toString('latin1');
  }

  /** Codes of what was denied, in order. */
  get denied(): string[] {
    return this.seen.flatMap((event) => (event.type === 'denied' ? [event.reason] : []));
  }

  /** Stops what waits, as the service does when it ends. */
  stop(): void {
    this.#stop.abort();
  }

  /** What clients sign with is stored as it is. */
  #signing(): SigningKeys {
    return {
      find: async (accessKeyId, now) => {
        const found = await this.stores.keyring.findSigning(accessKeyId, now);
        return found === null ? null : { secret: found.sealed, key: found.key };
      },
    };
  }

  #linesOf(level: LogLine['level']): LogLine[] {
    return this.lines.filter((line) => line.level === level);
  }

  #logAs(level: LogLine['level']): Log['info'] {
    return (event, fields = {}) => void this.lines.push({ level, event, fields });
  }

  /** Makes a key, and what its client signs with; resolves to its secret. */
  async key(
    facts: Partial<ApiKey> = {},
    secret: string = generateSecret(this.random, facts.mode ?? 'live'),
    signing: SigningSecret | null = null,
  ): Promise<string> {
    const id = facts.id ?? `key_${secret.slice(8, 20)}`;
    const key: ApiKey = {
      name: id,
      mode: 'live',
      prefix: secretPrefix(secret),
      scopes: ['messages:send', 'messages:read'],
      createdAt: this.clock.wall(),
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
      rateLimit: null,
      cidrs: [],
      senderDomains: [],
      contentDays: null,
      recordDays: null,
      ...facts,
      id,
    };
    if (!(await this.stores.keyring.create(key, hashSecret(secret), signing))) throw new Error('name taken');
    return secret;
  }
}
