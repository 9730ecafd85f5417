import type { ProviderName } from '../../../domain/drop-in.ts';
import type { Exchange } from '../../../http/exchange.ts';
import type { Problem } from '../../../http/problem.ts';
import type { Route } from '../../../http/router.ts';
import type { Views } from '../../../store/views.ts';
import type { Access, Call } from '../call.ts';
import type { Findable } from '../find-message.ts';
import type { SubmitDeps } from '../hand-over.ts';
import type { IngestDeps, IngestOptions } from '../options.ts';

/** A provider's API as we offer it. */
export interface Provider {
  readonly name: ProviderName;
  /** Answers a refusal in the provider's shape. */
  readonly refuse: (exchange: Exchange, problem: Problem) => void;
  /** Whether a path is the provider's, where that cannot be told by how its endpoints' paths begin. */
  readonly owns?: (path: string) => boolean;
  readonly endpoints: readonly ProviderEndpoint[];
}

/** One call of a provider's API. */
export interface ProviderEndpoint {
  readonly method: Route<unknown>['method'];
  /** As the provider has it; named segments are in braces. */
  readonly path: string;
  readonly access: Access;
  /** Answers, or throws a `Problem`. */
  readonly handle: (call: Call, deps: ProviderDeps) => Promise<void>;
}

/** What the calls of providers' APIs need. */
export interface ProviderDeps extends SubmitDeps {
  readonly options: Pick<IngestOptions, 'hostname' | 'limits' | 'trustedProxies'>;
  readonly views: SubmitDeps['views'] & Findable & Pick<Views, 'events' | 'countFound'>;
  readonly acts: IngestDeps['acts'];
  readonly readWords: IngestDeps['readWords'];
  /** Does what is asked of the suppression list. */
  readonly admin: IngestDeps['admin'];
  /** Counts the messages of each key's batches. */
  readonly limiter: IngestDeps['shared']['limiter'];
}
