import { isRefused, type RequestLine } from '../domain/request-line.ts';

/** Requests of one kind. */
interface Group {
  lines: Weighed[];
  /** Every so many requests one is kept. */
  step: number;
  /** How many are left out before the next one is kept. */
  skip: number;
}

interface Weighed {
  readonly line: RequestLine;
  /** Requests. */
  weight: number;
  /** What these stand for besides themselves. */
  more: number;
}

export interface SampleLimits {
  /** Most lines. */
  readonly max: number;
  /** Most lines of requests without a known key that were refused, and as many of others. */
  readonly ofNobody: number;
}

/** What a request is thinned by: only with those like it. */
export interface SampledKind extends Pick<RequestLine, 'keyId' | 'status' | 'code' | 'method'> {
  /** The pattern of its path. */
  readonly pattern: string;
}

/** The part of the lines that refusals leave to others, if there are many of both. */
const SHARE_OF_OTHERS = 0.25;

/**
 * The requests of a second. All of them are kept while they are few; of many, every n-th of its kind, with a weight that
 * says how many it stands for: those of the same key, method, path, status and code. Requests without a known key are
 * one kind, and such sessions another, so that strangers cannot take the room of keys. It takes the same room for any
 * number of requests; of more kinds than lines, some are left out, and refused ones last.
 */
export class RequestSample {
  readonly #limits: SampleLimits;
  readonly #refused = new Map<string, Group>();
  readonly #others = new Map<string, Group>();
  #size = 0;
  #sizeOfOthers = 0;

  constructor(limits: SampleLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** Counts a request, which stands for `weight` already; `make` is called if its line is kept. */
  add(kind: SampledKind, make: () => RequestLine, weight = 1): void {
    const { keyId, status, code, method, pattern } = kind;
    const isOther = !isRefused(kind);
    const groups = isOther ? this.#others : this.#refused;
    const name = keyId === null ? ofNobody(method) : `${keyId} ${method} ${pattern} ${status} ${code}`;
    const group = groups.get(name) ?? { lines: [], step: 1, skip: 0 };
    if (isLeftOut(group, weight)) return;
    if (this.#size >= this.#limits.max && !this.#makesRoom(isOther)) return;
    // It may have been thinned to make room.
    if (isLeftOut(group, weight)) return;
    groups.set(name, group);
    group.lines.push({ line: make(), weight: 1, more: weight - 1 });
    group.skip = group.step - 1;
    this.#count(1, isOther);
    if (keyId === null && group.lines.length > this.#limits.ofNobody) this.#thin(group, isOther);
  }

  /** Its lines, each with its weight; it is empty then. */
  take(): RequestLine[] {
    const groups = [...this.#refused.values(), ...this.#others.values()];
    this.#refused.clear();
    this.#others.clear();
    this.#size = 0;
    this.#sizeOfOthers = 0;
    return groups
      .flatMap(({ lines }) => lines.map(({ line, weight, more }) => ({ ...line, weight: weight + more })))
      .sort((a, b) => a.at - b.at);
  }

  /** False: each line is the only one of its kind, and none makes room for the request that comes. */
  #makesRoom(forOther: boolean): boolean {
    const tooManyOthers = this.#sizeOfOthers > this.#limits.max * SHARE_OF_OTHERS;
    for (const isOther of [tooManyOthers, !tooManyOthers]) {
      const group = largest(isOther ? this.#others : this.#refused);
      if (group === null) continue;
      this.#thin(group, isOther);
      return true;
    }
    const [name] = this.#others.keys();
    if (forOther || name === undefined) return false;
    this.#others.delete(name);
    this.#count(-1, true);
    return true;
  }

  /** Leaves out every second line; the one before it stands for both. */
  #thin(group: Group, isOther: boolean): void {
    const kept: Weighed[] = [];
    for (const [place, one] of group.lines.entries()) {
      const before = kept.at(-1);
      if (place % 2 === 0 || before === undefined) kept.push(one);
      else {
        before.weight += one.weight;
        before.more += one.more;
      }
    }
    this.#count(kept.length - group.lines.length, isOther);
    group.lines = kept;
    group.step *= 2;
    group.skip = Math.max(0, group.step - (kept.at(-1)?.weight ?? 0));
  }

  #count(difference: number, isOther: boolean): void {
    this.#size += difference;
    if (isOther) this.#sizeOfOthers += difference;
  }
}

/** Whether the next request of a group is left out: the last line that was kept stands for it then. */
function isLeftOut(group: Group, weight: number): boolean {
  const last = group.lines.at(-1);
  if (group.skip === 0 || last === undefined) return false;
  group.skip--;
  last.weight++;
  last.more += weight - 1;
  return true;
}

/** The name of what names no known key. */
function ofNobody(method: string): string {
  return method === 'SMTP' ? method : '';
}

/** The group with the most lines, of those with several; null: there is none. */
function largest(groups: ReadonlyMap<string, Group>): Group | null {
  let found: Group | null = null;
  for (const group of groups.values()) if (group.lines.length > (found?.lines.length ?? 1)) found = group;
  return found;
}
