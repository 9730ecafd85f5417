/** Tells that something is to end before its time. An `AbortSignal` is one. */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * A stop signal and its trigger at a tenth of what an `AbortController` costs, for what is done thousands of times a second and
 * hardly ever ended early. Listeners are called in order, once; they must not throw.
 */
export class Stop implements StopSignal {
  #aborted = false;
  #listeners: Set<() => void> | null = null;

  get aborted(): boolean {
    return this.#aborted;
  }

  /** Tells everybody; a second time it does nothing. */
  abort(): void {
    if (this.#aborted) return;
    this.#aborted = true;
    // Who is removed by one before is not told any more.
    for (const listener of this.#listeners ?? []) listener();
    this.#listeners = null;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.#aborted) return;
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners?.delete(listener);
  }
}

/** An `AbortSignal` that follows a stop signal, for those who need one. It listens as long as both live. */
export function abortSignalOf(stop: StopSignal): AbortSignal {
  if (stop instanceof AbortSignal) return stop;
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (stop.aborted) abort();
  else stop.addEventListener('abort', abort);
  return controller.signal;
}
