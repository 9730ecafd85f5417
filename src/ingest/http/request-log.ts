import type { Exchange } from '../../http/exchange.ts';
import type { Problem } from '../../http/problem.ts';
import type { Match } from '../../http/router.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import type { Authenticator } from '../authenticator.ts';
import type { RequestWriter } from '../request-writer.ts';
import { type NamedKey, namedKey } from './call.ts';
import { shownFaults, shownMatch, shownPath } from './shown-path.ts';

/** What the log of requests has of requests to the ingestion API. */

/** What noting them needs. */
export interface RequestRecorderDeps {
  readonly writer: RequestWriter;
  readonly authenticator: Pick<Authenticator, 'ownerOf'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Refused requests whose keys are looked up at once; further ones count as those of no known key. */
const MAX_LOOK_UPS = 32;

/** A request while it is answered. */
export interface RequestNote {
  /** Monotonic ms. */
  readonly startedAt: number;
  /** Whose it is; undefined while nobody has looked. */
  keyId: string | undefined;
  readonly sourceAddress: string;
  /** Why it was refused. */
  problem: Problem | null;
}

/** What became of a request. */
interface Answered {
  readonly keyId: string | null;
  readonly sourceAddress: string;
  readonly at: number;
  readonly durationMs: number;
  readonly status: number | null;
}

/** Notes requests. A failure to write loses lines, and fails no request. */
export class RequestRecorder {
  readonly #deps: RequestRecorderDeps;
  #lookUps = 0;

  constructor(deps: RequestRecorderDeps) {
    this.#deps = deps;
  }

  /** Begins with a request; null: the log is not kept. */
  begin(sourceAddress: string): RequestNote | null {
    const { writer, clock } = this.#deps;
    if (!writer.isKept) return null;
    return { startedAt: clock.mono(), keyId: undefined, sourceAddress, problem: null };
  }

  /** Ends with a request, which was answered, or is about to be by its server. Costs no waiting. */
  end(
    { startedAt, keyId, sourceAddress, problem }: RequestNote,
    exchange: Exchange,
    match: Match<unknown> | null,
  ): void {
    const { clock } = this.#deps;
    const answered = {
      sourceAddress,
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

  #add(answered: Answered, problem: Problem | null, exchange: Exchange, match: Match<unknown> | null): void {
    const { method } = exchange;
    const code = codeOf(answered.status, problem ?? exchange.cutOffBy);
    this.#deps.writer.add({ ...answered, code, method, pattern: match?.pattern ?? '' }, () => ({
      ...answered,
      method,
      path: match === null ? shownPath(exchange.path) : shownMatch(match.pattern, match.params),
      code,
      faults: shownFaults(problem?.errors ?? []),
      requestId: exchange.requestId,
      weight: 1,
      session: null,
    }));
  }
}

function codeOf(status: number | null, problem: Problem | null): string | null {
  if (status === null) return 'client_left';
  return problem?.code ?? (status === 500 ? 'internal_error' : null);
}
