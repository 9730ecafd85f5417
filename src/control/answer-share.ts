import type { Clock } from '../lib/clock.ts';

interface Turn<Answer> {
  state: 'waits' | 'works' | 'over';
  /** When its work began (monotonic ms); until then, when it was asked for. */
  at: number;
  readonly answer: Promise<Answer>;
}

/**
 * Does work for all who ask for the same at about the same time, so that many cost as much as one: for each key one at
 * a time, and at least `ms` milliseconds apart. Nobody gets an answer from before they asked: who asks too soon waits for
 * the next turn.
 */
export class AnswerShare<Answer> {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #turns = new Map<string, Turn<Answer>>();

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
  }

  /** The answer of the next turn of `key`. */
  ask(key: string, work: () => Promise<Answer>): Promise<Answer> {
    this.#forget();
    const last = this.#turns.get(key);
    if (last?.state === 'waits') return last.answer;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const turn: Turn<Answer> = { state: 'waits', at: this.#clock.mono(), answer: promise };
    this.#turns.set(key, turn);
    this.#take(turn, last, work).then(resolve, reject);
    return promise;
  }

  async #take(
    turn: Turn<Answer>,
    last: Turn<Answer> | undefined,
    work: () => Promise<Answer>,
  ): Promise<Answer> {
    if (last !== undefined) {
      await this.#clock.sleep(Math.max(0, last.at + this.#ms - turn.at));
      // Those who asked for it are told of its failure.
      await last.answer.catch(() => {});
    }
    turn.state = 'works';
    turn.at = this.#clock.mono();
    try {
      return await work();
    } finally {
      turn.state = 'over';
    }
  }

  #forget(): void {
    const now = this.#clock.mono();
    for (const [key, { state, at }] of this.#turns)
      if (state === 'over' && at + this.#ms <= now) this.#turns.delete(key);
  }
}
