import type { Session, SessionStage, User } from '../domain/account.ts';
import type { Clock } from '../lib/clock.ts';
import { hashSecret } from '../lib/id.ts';
import type { Log } from '../lib/log.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Random } from '../lib/random.ts';
import type { Accounts } from '../store/accounts.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { isToken, newSessionId, newToken } from './secrets.ts';

/** Lifetimes and number of sessions. */
export interface SessionLimits {
  /** An unused session ends after this long. */
  readonly idleMs: number;
  /** Any session ends after this long, however much it is used. */
  readonly maxMs: number;
  readonly perUser: number;
}

/** Where a user comes from. */
export interface Visit {
  readonly sourceAddress: string;
  /** The browser's User-Agent. */
  readonly agent: string;
}

/** A valid session, and its user. */
export interface Found {
  readonly session: Session;
  readonly user: User;
}

/** A new session with its token, which only its owner knows. */
export interface Opened extends Found {
  readonly token: string;
}

export interface SessionDeps {
  readonly accounts: Accounts;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly limits: () => SessionLimits;
  readonly provider: () => Pick<IdentityProvider, 'issuer' | 'sessionMs'> | null;
}

/** How long a look-up is cached: a session ended on another node ends here within a second. */
const CACHE_MS = 500;
const MAX_CACHED = 1000;
/** How often the use of a session is stored at most. */
const WRITE_EVERY_MS = 60_000;
/** Time for a code of the second factor, after the password. */
const SECOND_FACTOR_MS = 10 * 60_000;
/** Sessions of one user between password and code. Full sessions are counted separately; their number is a setting. */
const MAX_HALF_WAY = 5;
const MAX_AGENT = 200;

interface CacheEntry {
  readonly lookup: Promise<Found | null>;
  /** Monotonic ms before it began. */
  readonly since: number;
}

/** The last known use of a session. Wall ms. */
interface Use {
  at: number;
  written: number;
}

/** The sessions of signed-in users. Reading costs no commit: uses are stored once a minute. Errors are `StoreError`. */
export class Sessions {
  readonly #deps: SessionDeps;
  readonly #cache = new NewestMap<string, CacheEntry>(MAX_CACHED);
  /** By id, for sessions found here that have not ended since. */
  readonly #uses = new Map<string, Use>();
  readonly #listeners = new Set<(sessionId: string) => void>();

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  /**
   * Signs a user in, under a new token. Null: the user is gone, disabled or has another password meanwhile. `replaces`:
   * the hash of the session to replace.
   */
  async open(user: User, stage: SessionStage, visit: Visit, replaces: string | null): Promise<Opened | null> {
    const { accounts, clock, random, limits, provider } = this.#deps;
    const { perUser } = limits();
    const ofProvider = user.provider === null ? null : provider();
    const maxMs = Math.min(limits().maxMs, ofProvider?.sessionMs ?? Number.POSITIVE_INFINITY);
    const token = newToken(random);
    const now = clock.wall();
    const session: Session = {
      hash: hashSecret(token),
      id: newSessionId(random),
      user: user.name,
      stage,
      createdAt: now,
      lastSeenAt: now,
      offered: null,
      sourceAddress: visit.sourceAddress,
      expiresAt: now + (stage === 'full' ? maxMs : Math.min(maxMs, SECOND_FACTOR_MS)),
      agent: plainAgent(visit.agent),
    };
    const { passwordHash } = user;
    const limit = stage === 'full' ? perUser : MAX_HALF_WAY;
    const answer = await accounts.addSession(session, { passwordHash, limit, replaces });
    if (answer.kind === 'stale') return null;
    this.forget(answer.ended);
    return { token, session, user };
  }

  /** The valid session of a token. `counts`: finding it counts as a use. */
  async find(token: string, counts: boolean): Promise<Found | null> {
    if (!isToken(token)) return null;
    const hash = hashSecret(token);
    const found = await (this.#cached(hash) ?? this.#lookUp(hash));
    if (found === null) return null;
    const { session, user } = found;
    const now = this.#deps.clock.wall();
    const use = this.#uses.get(session.id) ?? { at: session.lastSeenAt, written: session.lastSeenAt };
    const lastSeenAt = Math.max(use.at, session.lastSeenAt);
    const { idleMs } = this.#deps.limits();
    if (user.disabled || now >= session.expiresAt || now - lastSeenAt >= idleMs) return null;
    // Nobody vouches any more for users of a provider that is no longer ours.
    if (user.provider !== null && user.provider.issuer !== this.#deps.provider()?.issuer) return null;
    if (counts) use.at = now;
    this.#uses.set(session.id, use);
    return { session: { ...session, lastSeenAt: use.at }, user };
  }

  /** Sessions that have not ended, of one user or (null) all, the most recently used first. */
  async list(name: string | null): Promise<Session[]> {
    const { accounts, clock, limits } = this.#deps;
    const now = clock.wall();
    await this.#write();
    return await accounts.sessions(name, now, now - limits().idleMs);
  }

  /** Announces that sessions have ended, so that listeners close what those hold open. */
  forget(ids: readonly string[]): void {
    if (ids.length === 0) return;
    // The cache is keyed by the token's hash, and a second index is not worth it.
    this.#cache.clear();
    for (const id of ids) {
      this.#uses.delete(id);
      for (const listener of this.#listeners) listener(id);
    }
  }

  /** Reads users and sessions again with the next request. */
  refresh(): void {
    this.#cache.clear();
  }

  /** Calls the listener with the ids of sessions that end, until the returned function is called. */
  onEnded(listener: (sessionId: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stores uses and ends expired sessions, every minute until `signal` aborts, and then once more. */
  async keep(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#deps;
    while (!signal.aborted) {
      await clock.sleep(WRITE_EVERY_MS, signal);
      try {
        await this.#write();
      } catch (error) {
        // Their next request finds them expired all the same.
        log.warn('sessions.not_written', { code: error instanceof Error ? error.name : 'unknown' });
      }
    }
  }

  async #write(): Promise<void> {
    const { accounts, clock, limits } = this.#deps;
    const now = clock.wall();
    const used = [...this.#uses].filter(([, { at, written }]) => at > written);
    // Another node may know of a use that it has not stored yet.
    const seenAfter = now - limits().idleMs - 2 * WRITE_EVERY_MS;
    const known = [...this.#uses.keys()];
    const gone = await accounts.keepSessions(new Map(used.map(([id, { at }]) => [id, at])), known, {
      now,
      seenAfter,
    });
    for (const [, use] of used) use.written = use.at;
    const idle = [...this.#uses].filter(([, { at }]) => now - at >= limits().idleMs).map(([id]) => id);
    this.forget([...new Set([...gone, ...idle])]);
  }

  #cached(hash: string): Promise<Found | null> | null {
    const entry = this.#cache.get(hash);
    return entry !== undefined && this.#deps.clock.mono() - entry.since < CACHE_MS ? entry.lookup : null;
  }

  #lookUp(hash: string): Promise<Found | null> {
    const { accounts, clock } = this.#deps;
    const entry = { lookup: accounts.session(hash, clock.wall()), since: clock.mono() };
    this.#cache.set(hash, entry);
    entry.lookup.catch(() => this.#cache.get(hash) === entry && this.#cache.delete(hash));
    return entry.lookup;
  }
}

/** A header may contain anything; only one line of text is shown. */
function plainAgent(agent: string): string {
  return agent.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_AGENT);
}
