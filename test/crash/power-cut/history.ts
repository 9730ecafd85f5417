/** What a process did to the files of one folder, and what it said to the world: the history that power cuts are made from. */
import { type Call, type Moment, unhex } from './trace.ts';

/** Something that was done. Files and folders are named relative to the traced folder, which is `''` itself. */
export type Deed =
  | { readonly kind: 'make'; readonly name: string; readonly folder: boolean }
  | { readonly kind: 'write'; readonly name: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly name: string; readonly size: number }
  | { readonly kind: 'sync'; readonly name: string }
  | { readonly kind: 'rename'; readonly name: string; readonly to: string }
  /** A second name for a file. */
  | { readonly kind: 'link'; readonly name: string; readonly to: string }
  | { readonly kind: 'remove'; readonly name: string }
  /** Bytes to a socket; `socket` is the same for one connection, and no other's. */
  | { readonly kind: 'say'; readonly socket: string; readonly bytes: Buffer };

/** A deed begins, or has been done. What never was has no second step. */
export interface Step {
  readonly phase: Moment['phase'];
  readonly deed: Deed;
}

/** The calls that must be traced. Those that the readers below do not know make them throw where they meet the folder. */
export const TRACED_CALLS: readonly string[] = [
  'open',
  'openat',
  'openat2',
  'creat',
  'mkdir',
  'mkdirat',
  'rmdir',
  'link',
  'linkat',
  'symlink',
  'symlinkat',
  'rename',
  'renameat',
  'renameat2',
  'unlink',
  'unlinkat',
  'truncate',
  'ftruncate',
  'fallocate',
  'write',
  'writev',
  'pwrite64',
  'pwritev',
  'pwritev2',
  'sendto',
  'sendmsg',
  'sendfile',
  'splice',
  'fsync',
  'fdatasync',
  'sync_file_range',
  'copy_file_range',
  'msync',
  'mmap',
];

const FILE = /^(\d+)<([^>]*)>(\(deleted\))?/;
const QUOTED = /"([^"]*)"/g;
/** Where a database's readers and writers meet in memory, and the socket for commands: made anew at every start. */
const NOT_DURABLE = /-shm$|\/control\.sock$/;
const SOCKET = /^socket:/;

/** What was done in a folder, in order. */
export function historyOf(moments: readonly Moment[], folder: string): Step[] {
  const reader = new Reader(folder);
  const deeds = new Map<Call, readonly Deed[]>();
  const steps: Step[] = [];
  for (const { phase, call } of moments) {
    const found = deeds.get(call) ?? reader.read(call);
    deeds.set(call, found);
    for (const deed of found) steps.push({ phase, deed });
  }
  return steps;
}

class Reader {
  readonly #prefix: string;
  /** Where a `write` goes on, by the descriptor. */
  readonly #places = new Map<string, number>();

  constructor(folder: string) {
    this.#prefix = `${folder}/`;
  }

  /** None of what failed, or happened elsewhere. */
  read(call: Call): readonly Deed[] {
    if (call.result !== null && call.result < 0) return [];
    const [, fd = '', hex = '', deleted] = FILE.exec(call.args) ?? [];
    const path = unhex(hex).toString();
    switch (call.name) {
      case 'open':
      case 'openat':
        return this.#open(call);
      case 'mkdir':
        return this.#named(call, ([name]) => ({ kind: 'make', name, folder: true }));
      case 'rename':
        return this.#named(call, ([name, to = '']) => ({ kind: 'rename', name, to }));
      case 'link':
        return this.#named(call, ([name, to = '']) => ({ kind: 'link', name, to }));
      case 'unlink':
      case 'rmdir':
        return this.#named(call, ([name]) => ({ kind: 'remove', name }));
      case 'fsync':
      case 'fdatasync':
        return this.#within(path, (name) => ({ kind: 'sync', name }));
      case 'ftruncate':
        return this.#within(path, (name) => ({ kind: 'truncate', name, size: lastNumber(call.args) }));
      case 'write':
      case 'writev':
      case 'pwrite64':
      case 'pwritev':
      case 'sendto':
      case 'sendmsg':
        if (deleted !== undefined) return [];
        return SOCKET.test(path) ? [said(path, call)] : this.#write(call, fd, path);
      case 'mmap':
        return this.#map(call);
      default:
        return this.#refuse(call);
    }
  }

  #open(call: Call): readonly Deed[] {
    const { args, returned } = call;
    const fd = String(call.result);
    this.#places.delete(fd);
    if (!/O_CREAT|O_TRUNC/.test(args)) return [];
    const [, , hex = ''] = FILE.exec(returned) ?? [];
    return this.#within(unhex(hex).toString(), (name) => ({ kind: 'make', name, folder: false })).flatMap(
      (made) => (args.includes('O_TRUNC') ? [made, { kind: 'truncate', name: made.name, size: 0 }] : [made]),
    );
  }

  #write(call: Call, fd: string, path: string): readonly Deed[] {
    return this.#within(path, (name) => {
      const bytes = bytesOf(call);
      const positioned = call.name.startsWith('p');
      const offset = positioned ? lastNumber(call.args) : (this.#places.get(fd) ?? 0);
      if (!positioned) this.#places.set(fd, offset + bytes.length);
      return { kind: 'write', name, offset, bytes };
    });
  }

  /** A file that is written through memory would escape the trace. */
  #map({ args }: Call): readonly Deed[] {
    if (!/PROT_WRITE/.test(args) || !/MAP_SHARED/.test(args)) return [];
    const [, , hex] = /(\d+)<([^>]*)>/.exec(args) ?? [];
    const path = unhex(hex ?? '').toString();
    if (path.startsWith(this.#prefix) && !NOT_DURABLE.test(path)) throw new Error(`${path} is mapped`);
    return [];
  }

  #refuse({ name, args }: Call): readonly Deed[] {
    const paths = [...args.matchAll(/["<]([^">]*)[">]/g)].map(([, hex = '']) => unhex(hex).toString());
    if (paths.some((path) => `${path}/`.startsWith(this.#prefix)))
      throw new Error(`${name}(${paths.join()}) is not understood`);
    return [];
  }

  #named<D extends Deed>(call: Call, deedOf: (names: readonly [string, ...string[]]) => D): readonly D[] {
    const paths = [...call.args.matchAll(QUOTED)].map(([, hex = '']) => unhex(hex).toString());
    if (!paths.every((path) => path.startsWith(this.#prefix)) || paths.some((path) => NOT_DURABLE.test(path)))
      return [];
    const [first, ...others] = paths.map((path) => path.slice(this.#prefix.length));
    return first === undefined ? [] : [deedOf([first, ...others])];
  }

  #within<D extends Deed>(path: string, deedOf: (name: string) => D): readonly D[] {
    if (!`${path}/`.startsWith(this.#prefix) || NOT_DURABLE.test(path)) return [];
    return [deedOf(path.slice(this.#prefix.length))];
  }
}

function said(socket: string, call: Call): Deed {
  return { kind: 'say', socket, bytes: bytesOf(call) };
}

/** What was written: as much of what was given as the system took. */
function bytesOf({ args, result }: Call): Buffer {
  const parts = [...args.matchAll(QUOTED)].map(([, hex = '']) => unhex(hex));
  const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
  return result === null ? bytes : bytes.subarray(0, result);
}

function lastNumber(args: string): number {
  const number = Number(/(\d+)$/.exec(args)?.[1] ?? Number.NaN);
  if (Number.isNaN(number)) throw new Error(`no number at the end of ${args.slice(-100)}`);
  return number;
}
