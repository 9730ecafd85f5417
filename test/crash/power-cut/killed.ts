/** What a process left half done that was killed: it may have happened whole, in part or not at all. The files tell. */
import { seededRandom } from '../../../src/lib/random.ts';
import { Disk } from './disk.ts';
import type { Deed, Step } from './history.ts';

/** The steps that go on from these, so that the disk holds what these files hold. A flush under way is not sure to have been one. */
export function settleKilled(steps: readonly Step[], files: ReadonlyMap<string, Buffer>): Step[] {
  const open = new Set<Deed>();
  for (const { phase, deed } of steps) {
    if (phase === 'begun') open.add(deed);
    else open.delete(deed);
  }
  const ended = [...open]
    .filter(({ kind }) => kind !== 'sync')
    .map((deed) => ({ phase: 'returned', deed }) as const);
  const disk = new Disk();
  for (const step of [...steps, ...ended]) disk.apply(step);
  const found = disk.cut('kept', seededRandom(0));
  const mended = [...files].flatMap(([name, bytes]) => mend(name, bytes, found.get(name)));
  const gone = [...found].filter(([name, bytes]) => bytes !== null && !files.has(name));
  const removed = gone.map(([name]) => ({ kind: 'remove', name }) as const);
  return [...ended, ...[...mended, ...removed].flatMap(done)];
}

function mend(name: string, bytes: Buffer, found: Buffer | null | undefined): Deed[] {
  if (found?.equals(bytes)) return [];
  const made: Deed[] = found === undefined ? [{ kind: 'make', name, folder: false }] : [];
  const cut: Deed[] =
    (found?.length ?? 0) > bytes.length ? [{ kind: 'truncate', name, size: bytes.length }] : [];
  return [...made, ...cut, { kind: 'write', name, offset: 0, bytes }];
}

function done(deed: Deed): Step[] {
  return [
    { phase: 'begun', deed },
    { phase: 'returned', deed },
  ];
}
