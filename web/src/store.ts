import { useSyncExternalStore } from 'react';

/** A value outside of what is drawn, that is drawn again when it is put. */
export class Store<Value> {
  #value: Value;
  readonly #listeners = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  readonly get = (): Value => this.#value;

  put(value: Value): void {
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** What a store holds, for what draws it. */
export function useStored<Value>({ subscribe, get }: Store<Value>): Value {
  return useSyncExternalStore(subscribe, get);
}
