/** When which item comes due: a heap, so that ten thousand of them cost no more than the few whose time has come. */
export class DueTimes<T> {
  readonly #heap: { readonly at: number; readonly item: T }[] = [];

  /** The item comes due at `at`. It may be entered again: each of its times comes. */
  add(at: number, item: T): void {
    const heap = this.#heap;
    let place = heap.push({ at, item }) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (this.#atOf(parent) <= at) break;
      this.#swap(place, parent);
      place = parent;
    }
  }

  /** The next time; null when there is none. */
  next(): number | null {
    return this.#heap[0]?.at ?? null;
  }

  /** Takes what has come due by `now`, earliest first. */
  take(now: number): T[] {
    const due: T[] = [];
    for (let first = this.#heap[0]; first !== undefined && first.at <= now; first = this.#heap[0]) {
      due.push(first.item);
      this.#removeFirst();
    }
    return due;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    heap[0] = last;
    for (let place = 0; ; ) {
      const left = 2 * place + 1;
      const child = this.#atOf(left + 1) < this.#atOf(left) ? left + 1 : left;
      if (this.#atOf(child) >= this.#atOf(place)) return;
      this.#swap(place, child);
      place = child;
    }
  }

  #atOf(place: number): number {
    return this.#heap[place]?.at ?? Number.POSITIVE_INFINITY;
  }

  #swap(one: number, other: number): void {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    if (a === undefined || b === undefined) return;
    this.#heap[one] = b;
    this.#heap[other] = a;
  }
}
