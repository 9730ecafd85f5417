import type { Random } from '../../src/lib/random.ts';
import { type Spool, SpoolError } from '../../src/spool/spool.ts';
import type { Kind } from './seen.ts';
import type { NodeLife, VirtualTime } from './virtual-clock.ts';

/** How ill the spool is: chances in [0, 1] for every call. */
export interface SpoolFaults {
  /** An append fails, and nothing was written. */
  failBefore: number;
  /** An append is written, and its caller is told that it failed: bytes that nobody refers to. */
  failAfter: number;
  failRead: number;
  /** No room: every append is refused, and the volume says so. */
  isFull: boolean;
}

/** What a node's spool is made of. */
export interface FaultySpoolParts {
  readonly inner: Spool;
  readonly life: NodeLife;
  readonly time: VirtualTime;
  readonly dice: Random;
  readonly faults: SpoolFaults;
  readonly note: (kind: Kind) => void;
}

const MAX_CALL_MS = 3;

/** The spool as one node sees it: appends and reads take virtual time, may fail, and never return to a node that has died. */
export function faultySpool({ inner, life, time, dice, faults, note }: FaultySpoolParts): Spool {
  const pass = async () => {
    await time.sleep(dice.next() * MAX_CALL_MS);
    await life.running();
  };
  const unavailable = (kind: Kind, what: string): never => {
    note(kind);
    throw new SpoolError('spool_unavailable', `simulated: ${what}`);
  };
  return {
    ...inner,
    append: async (entries) => {
      await pass();
      if (faults.isFull) {
        note('spool full');
        throw new SpoolError('spool_full', 'simulated: no room');
      }
      if (dice.next() < faults.failBefore) unavailable('spool append failed before', 'before');
      const refs = await inner.append(entries);
      await pass();
      if (dice.next() >= faults.failAfter) return refs;
      inner.decided(refs);
      return unavailable('spool append failed after', 'after');
    },
    read: async (ref, part) => {
      await pass();
      if (dice.next() < faults.failRead) unavailable('spool read failed', 'read');
      return await inner.read(ref, part);
    },
    space: async () => (faults.isFull ? { freeBytes: 0, totalBytes: 2e12 } : await inner.space()),
  };
}
