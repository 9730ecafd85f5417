import type { Exchange } from '../../http/exchange.ts';
import type { Problem } from '../../http/problem.ts';
import type { Match } from '../../http/router.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { RequestLog } from '../../store/request-log.ts';
import type { Authenticator } from '../authenticator.ts';
import { type NamedKey, namedKey } from './call.ts';
import { RequestSample } from './request-sample.ts';
import { shownFaults, shownMatch, shownPath } from './shown-path.ts';

/** The log of requests, as this thread writes it: gathered in memory, and stored once a second. */

/** What writing it needs. */
export interface RequestRecorderDeps {
  readonly requests: Pick<RequestLog, 'writeRequests'>;
  readonly authenticator: Pick<Authenticator, 'ownerOf'>;
  /** Whether it is kept now. */
  readonly isKept: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the service stops. */
  readonly signal: AbortSignal;
}

/** How often lines are written, in ms: a crash loses those of this time. */
const WRITE_MS = 1000;
/** Most lines a second of a node, of all its threads. */
export const REQUEST_LINES_A_SECOND = 100;
/** Most of them of requests without a known key. */
const OF_NOBODY = 0.1;
/** Refused requests whose keys are looked up at once; further ones count as those of no known key. */
const MAX_LOOK_UPS = 32;

/** A request while it is answered. */
export interface RequestNote {
  /** Monotonic ms. */
  readonly startedAt: number;
  /** Whose it is; undefined while nobody has looked. */
  keyId: string | undefined;
  /** Why it was refused. */
  problem: Problem | null;
}

/** What became of a request. */
interface Answered {
  readonly keyId: string | null;
  readonly at: number;
  readonly durationMs: number;
  readonly status: number | null;
}

/** Writes the log of requests. A failure to write loses lines, and fails no request. */
export class RequestRecorder {
  readonly #deps: RequestRecorderDeps;
  readonly #sample: RequestSample;
  /** Writes what has gathered, in a moment; null: nothing has. */
  #writing: Promise<void> | null = null;
  #lookUps = 0;
  #isFailing = false;

  /** `maxLines`: of a second. */
  constructor(deps: RequestRecorderDeps, maxLines: number) {
    this.#deps = deps;
    this.#sample = new RequestSample({ max: maxLines, ofNobody: Math.ceil(maxLines * OF_NOBODY) });
  }

  /** Begins with a request; null: the log is not kept. */
  begin(): RequestNote | null {
    const { isKept, clock } = this.#deps;
    return isKept() ? { startedAt: clock.mono(), keyId: undefined, problem: null } : null;
  }

  /** Ends with a request, which was answered, or is about to be by its server. Costs no waiting. */
  end({ startedAt, keyId, problem }: RequestNote, exchange: Exchange, match: Match<unknown> | null): void {
    const { clock } = this.#deps;
    const answered = {
      at: clock.wall(),
      durationMs: Math.round(clock.mono() - startedAt),
      // What nobody has answered, and somebody waits for, is a bug of ours.
      status: exchange.status ?? (exchange.over ? null : 500),
    };
    const add = (known: string | null) => this.#add({ ...answered, keyId: known }, problem, exchange, match);
    if (keyId !== undefined) add(keyId);
    else {
      const named = namedKey(exchange.headers);
      // A path of ours is asked for by a program that left out its key; any other, by strangers.
      if (named !== null) void this.#ownerOf(named).then(add);
      else if (match !== null) add(null);
    }
  }

  /** The key that a refused request named, as far as it can be found now. */
  async #ownerOf(named: NamedKey): Promise<string | null> {
    const { authenticator, log } = this.#deps;
    if (this.#lookUps >= MAX_LOOK_UPS) return null;
    this.#lookUps++;
    try {
      return await authenticator.ownerOf(named);
    } catch (error) {
      log.debug('requests.key_not_found', { message: String(error) });
      return null;
    } finally {
      this.#lookUps--;
    }
  }

  /** Writes what has gathered, at once. */
  async flush(): Promise<void> {
    const { requests, log } = this.#deps;
    if (this.#sample.isEmpty) return;
    try {
      await requests.writeRequests(this.#sample.take());
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) log.warn('requests.not_written', { message: String(error) });
      this.#isFailing = true;
    }
  }

  #add(answered: Answered, problem: Problem | null, exchange: Exchange, match: Match<unknown> | null): void {
    const { method } = exchange;
    const code = codeOf(answered.status, problem ?? exchange.cutOffBy);
    this.#sample.add({ ...answered, code, method, pattern: match?.pattern ?? '' }, () => ({
      ...answered,
      method,
      path: match === null ? shownPath(exchange.path) : shownMatch(match.pattern, match.params),
      code,
      faults: shownFaults(problem?.errors ?? []),
      requestId: exchange.requestId,
      weight: 1,
    }));
    this.#writing ??= this.#writeSoon();
  }

  async #writeSoon(): Promise<void> {
    const { clock, signal } = this.#deps;
    while (!this.#sample.isEmpty) {
      await clock.sleep(WRITE_MS, signal);
      await this.flush();
    }
    this.#writing = null;
  }
}

function codeOf(status: number | null, problem: Problem | null): string | null {
  if (status === null) return 'client_left';
  return problem?.code ?? (status === 500 ? 'internal_error' : null);
}
