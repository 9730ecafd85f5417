import { isReadBack, type Submission } from '../../domain/message.ts';
import type { RouteFacts } from '../../domain/route-match.ts';
import type {
  Intake,
  IntakeAnswer,
  PlannedDelivery,
  RouteExplanation,
  Suspension,
} from '../../engine/contract.ts';
import { giveBack } from '../../lib/budget.ts';
import type { Clock } from '../../lib/clock.ts';
import { createIdSource } from '../../lib/id.ts';
import { NewestMap } from '../../lib/newest-map.ts';
import type { Random } from '../../lib/random.ts';
import type { Line } from './line.ts';
import type { FromIngest, IngestState, ToIngest } from './messages.ts';
import { packSubmission } from './messages.ts';

/** How long a key's queue is believed to be full after a message of it was refused for that, in ms. */
const BELIEVE_MS = 1_000;
/** Most keys remembered as full; beyond it, the oldest is asked about again. */
const MAX_FULL_KEYS = 1_000;

/** What it needs. */
export interface RemoteIntakeDeps {
  readonly line: Line<FromIngest, ToIngest>;
  readonly state: () => IngestState;
  readonly clock: Clock;
  readonly random: Random;
}

/** The engine's intake, as seen from an ingest thread. */
export class RemoteIntake implements Intake {
  readonly #deps: RemoteIntakeDeps;
  readonly #nextId: () => string;
  /** By key: why its mail is refused, and until when that is believed (monotonic ms). The oldest first. */
  readonly #full = new NewestMap<string, { readonly suspension: Suspension; readonly until: number }>(
    MAX_FULL_KEYS,
  );

  constructor(deps: RemoteIntakeDeps) {
    this.#deps = deps;
    this.#nextId = createIdSource(deps.clock, deps.random);
  }

  async accept(submissions: readonly Submission[], together = false): Promise<IntakeAnswer[]> {
    const transfer: ArrayBuffer[] = [];
    const packed = submissions.map((submission) => packSubmission(submission, transfer));
    // They are copied, and the answer takes a while. All are packed before, as they may have pieces in common.
    for (const submission of submissions)
      if (isReadBack(submission)) for (const chunk of submission.content.chunks) giveBack(chunk);
    const { line } = this.#deps;
    const answers = (await line.ask('intake', 'accept', [packed, together], transfer)) as IntakeAnswer[];
    for (const [place, answer] of answers.entries())
      if (answer.kind === 'suspended' && !together)
        this.#noteFull(submissions[place]?.keyId ?? null, answer.suspension);
    return answers;
  }

  suspended(keyId: string | null): Suspension | null {
    const { suspension } = this.#deps.state();
    if (suspension !== null || keyId === null) return suspension;
    const full = this.#full.get(keyId);
    if (full === undefined) return null;
    if (full.until > this.#deps.clock.mono()) return full.suspension;
    this.#full.delete(keyId);
    return null;
  }

  newId(): string {
    return this.#nextId();
  }

  plan(submission: Submission): Promise<readonly PlannedDelivery[]> {
    const packed = packSubmission(submission, []);
    return this.#deps.line.ask('intake', 'plan', [packed]) as Promise<readonly PlannedDelivery[]>;
  }

  explain(facts: RouteFacts): Promise<RouteExplanation> {
    return this.#deps.line.ask('intake', 'explain', [facts]) as Promise<RouteExplanation>;
  }

  #noteFull(keyId: string | null, suspension: Suspension): void {
    if (keyId === null || suspension.code !== 'queue_limit') return;
    this.#full.set(keyId, { suspension, until: this.#deps.clock.mono() + BELIEVE_MS });
  }
}
