/** Statements whose answers nobody waits for, in the order in which they were sent. */
export class Sent {
  readonly #answers: Promise<unknown>[] = [];

  constructor(...answers: readonly Promise<unknown>[]) {
    for (const answer of answers) this.add(answer);
  }

  add(answer: Promise<unknown>): void {
    // It is asked for at the end.
    answer.catch(() => {});
    this.#answers.push(answer);
  }

  /** Rejects as the first of them that failed. */
  async all(): Promise<void> {
    await Promise.all(this.#answers);
  }

  /** Waits for what may have failed because of one of them: rejects as that, then. */
  async orFirst<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      await this.all();
      throw error;
    }
  }
}
