/**
 * A disk as a program may count on it and no better: what was flushed stays, in what order the rest arrives is not known. A
 * flush of a file keeps what had been written to it when the flush began; the name of a file is kept by a flush of its
 * folder. A sector is written whole or not at all, and a write does not touch what lies beside it.
 */
import type { Random } from '../../../src/lib/random.ts';
import type { Deed, Step } from './history.ts';

/** What becomes of what was not flushed. `dice`: each file has a fate of its own. */
export type Fate = 'lost' | 'kept' | 'dice';

/** Files by their names, as they are found after a power cut; null: a folder. */
export type Found = ReadonlyMap<string, Buffer | null>;

type Change = Extract<Deed, { kind: 'write' | 'truncate' }>;
type NameChange = Extract<Deed, { kind: 'make' | 'rename' | 'link' | 'remove' }>;

/** Something not flushed yet. Only what had been done when a flush began is kept by it. */
interface Pending<T> {
  readonly change: T;
  done: boolean;
}

/** A file, whatever its name. */
interface Inode {
  readonly folder: boolean;
  flushed: Buffer;
  pending: Pending<Change>[];
}

/** A change of names, with the file it is about. */
interface NamePending extends Pending<NameChange> {
  readonly inode: Inode;
}

type Names = Map<string, Inode>;

const SECTORS = [512, 4096];
const FATES = ['lost', 'kept', 'some', 'torn', 'zeros', 'garbage'] as const;
type FileFate = (typeof FATES)[number];

/** See this file's comment. */
export class Disk {
  /** What the running system sees. */
  readonly #names: Names = new Map();
  readonly #flushedNames: Names = new Map();
  #namesPending: NamePending[] = [];
  readonly #pendings = new Map<Deed, Pending<unknown>>();
  readonly #flushes = new Map<Deed, () => void>();

  /** Begins with an empty folder. */
  apply({ phase, deed }: Step): void {
    if (phase === 'begun') this.#begin(deed);
    else this.#finish(deed);
  }

  /** What is found if the power is cut now. */
  cut(fate: Fate, dice: Random): Found {
    const found = new Map<string, Buffer | null>();
    for (const [name, inode] of this.#namesAfter(fate, dice)) {
      const parent = name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : null;
      if (parent !== null && !found.has(parent)) continue;
      const own = fate === 'dice' ? (FATES[Math.floor(dice.next() * FATES.length)] ?? 'lost') : fate;
      found.set(name, inode.folder ? null : contentAfter(inode, own, dice));
    }
    return found;
  }

  #begin(deed: Deed): void {
    switch (deed.kind) {
      case 'make':
        if (!this.#names.has(deed.name)) this.#rename(deed, newInode(deed.folder));
        return;
      case 'rename':
      case 'link':
      case 'remove':
        this.#rename(deed, this.#inodeOf(deed.name));
        return;
      case 'write':
      case 'truncate': {
        const pending = { change: deed, done: false };
        this.#inodeOf(deed.name).pending.push(pending);
        this.#pendings.set(deed, pending);
        return;
      }
      case 'sync':
        this.#flushes.set(deed, this.#flush(deed.name));
    }
  }

  #finish(deed: Deed): void {
    const pending = this.#pendings.get(deed);
    if (pending !== undefined) pending.done = true;
    this.#pendings.delete(deed);
    this.#flushes.get(deed)?.();
    this.#flushes.delete(deed);
  }

  #inodeOf(name: string): Inode {
    const inode = this.#names.get(name);
    if (inode === undefined) throw new Error(`${name} is used, but was never made`);
    return inode;
  }

  #rename(change: NameChange, inode: Inode): void {
    const pending = { change, inode, done: false };
    changeNames(this.#names, pending);
    this.#namesPending.push(pending);
    this.#pendings.set(change, pending);
  }

  /** What a flush that begins now will have kept when it is over. */
  #flush(name: string): () => void {
    const inode = name === '' ? null : this.#inodeOf(name);
    if (inode === null || inode.folder) {
      const covered = new Set(
        this.#namesPending.filter(({ change, done }) => done && folderOf(change.name) === name),
      );
      return () => {
        for (const pending of covered) changeNames(this.#flushedNames, pending);
        this.#namesPending = this.#namesPending.filter((pending) => !covered.has(pending));
      };
    }
    const covered = new Set(inode.pending.filter(({ done }) => done));
    return () => {
      inode.flushed = changed(
        inode.flushed,
        [...covered].map(({ change }) => change),
      );
      inode.pending = inode.pending.filter((pending) => !covered.has(pending));
    };
  }

  /** All, none, the first few, or any of the changes to names that were not flushed. */
  #namesAfter(fate: Fate, dice: Random): Names {
    const names = new Map(this.#flushedNames);
    const orderly = dice.next() < 0.5;
    const first = Math.floor(dice.next() * (this.#namesPending.length + 1));
    for (const [place, pending] of this.#namesPending.entries()) {
      const stays = fate === 'dice' ? (orderly ? place < first : dice.next() < 0.5) : fate === 'kept';
      if (stays) changeNames(names, pending);
    }
    return new Map([...names].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

function newInode(folder: boolean): Inode {
  return { folder, flushed: Buffer.alloc(0), pending: [] };
}

function folderOf(name: string): string {
  return name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : '';
}

function changeNames(names: Names, { change, inode }: NamePending): void {
  if (change.kind === 'rename' || change.kind === 'remove') names.delete(change.name);
  if (change.kind === 'make') names.set(change.name, inode);
  if (change.kind === 'rename' || change.kind === 'link') names.set(change.to, inode);
}

function contentAfter({ flushed, pending }: Inode, fate: FileFate, dice: Random): Buffer {
  const changes = pending.map(({ change }) => change);
  switch (fate) {
    case 'lost':
      return flushed;
    case 'kept':
      return changed(flushed, changes);
    case 'some':
      return changed(
        flushed,
        changes.filter(() => dice.next() < 0.5),
      );
    case 'torn':
      return torn(flushed, changes, dice);
    case 'zeros':
    case 'garbage':
      return grown(flushed, changes, fate === 'garbage' ? dice : null);
  }
}

/** The first few, and of the one after them some sectors. */
function torn(flushed: Buffer, changes: readonly Change[], dice: Random): Buffer {
  const whole = Math.floor(dice.next() * (changes.length + 1));
  const before = changes.slice(0, whole);
  const last = changes[whole];
  if (last?.kind !== 'write') return changed(flushed, before);
  const sector = SECTORS[Math.floor(dice.next() * SECTORS.length)] ?? 512;
  const prefix = dice.next() < 0.5 ? dice.next() : null;
  const sectors = sectorsOf(last, sector).filter((_, place, all) =>
    prefix === null ? dice.next() < 0.5 : place < prefix * all.length,
  );
  return changed(flushed, [...before, ...sectors]);
}

function sectorsOf(write: Extract<Change, { kind: 'write' }>, sector: number): Change[] {
  const { offset, bytes } = write;
  const sectors: Change[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + sector - ((offset + at) % sector));
    sectors.push({ ...write, offset: offset + at, bytes: bytes.subarray(at, end) });
    at = end;
  }
  return sectors;
}

/** The file has become longer, but what it was made longer by has not arrived. Garbage is what lay there before. */
function grown(flushed: Buffer, changes: readonly Change[], garbage: Random | null): Buffer {
  const { length } = changed(flushed, changes);
  if (length <= flushed.length) return flushed;
  const tail = Buffer.alloc(length - flushed.length);
  return Buffer.concat([flushed, garbage === null ? tail : garbage.fill(tail)]);
}

/** The file with these changes, in their order. */
function changed(before: Buffer, changes: readonly Change[]): Buffer {
  if (changes.length === 0) return before;
  const longest = changes.reduce((length, change) => Math.max(length, endOf(change)), before.length);
  const after = Buffer.alloc(longest);
  let { length } = before;
  before.copy(after);
  for (const change of changes) {
    if (change.kind === 'truncate') {
      after.fill(0, change.size);
      length = change.size;
    } else {
      change.bytes.copy(after, change.offset);
      length = Math.max(length, endOf(change));
    }
  }
  return after.subarray(0, length);
}

function endOf(change: Change): number {
  return change.kind === 'truncate' ? change.size : change.offset + change.bytes.length;
}
