import { z } from 'zod';
import { decodeJson } from '../lib/decode.ts';
import { ArchiveError, shownName } from './tar.ts';

/** The files of a backup, by name, in this order: the manifest first, the checksums last (docs/backup.md). */
export const MANIFEST = 'waybill-backup.json';
export const DATABASE = 'waybill.db';
export const SECRETS = 'secrets.json';
export const SUMS = 'SHA256SUMS';
const SEGMENT = /^spool\/\d{8,15}\.seg$/;

/** Most bytes of each small file. */
const MAX_BYTES: Readonly<Record<string, number>> = {
  [MANIFEST]: 64 * 1024,
  [SECRETS]: 4 * 1024 * 1024,
  [SUMS]: 256 * 1024 * 1024,
};
/** Most files in an archive: with 64 MiB each, 64 TiB of mail. */
export const MAX_ENTRIES = 1_000_000;

/** The name of a segment's file in an archive. */
export function segmentEntry(file: string): string {
  return `spool/${file}`;
}

/** Whether a name is one of a segment's file. */
function isSegment(name: string): boolean {
  return SEGMENT.test(name);
}

/**
 * Refuses what no backup contains: other names (and so paths that lead elsewhere), and files too large for their kind.
 */
export function checkEntry(name: string, size: number): void {
  if (name !== MANIFEST && name !== DATABASE && name !== SECRETS && name !== SUMS && !isSegment(name))
    throw new ArchiveError(`${shownName(name)} is in the archive: no backup has that.`);
  if (size > (MAX_BYTES[name] ?? Number.MAX_SAFE_INTEGER))
    throw new ArchiveError(`${name} in the archive is too large.`);
}

/** The newest format this program writes and reads. */
const FORMAT = 1;

const manifestSchema = z.object({
  format: z.int(),
  // Shown to people, so it may contain nothing else.
  version: z.string().regex(/^[\w.+-]{1,64}$/),
  createdAt: z.string(),
  messages: z.int().min(0),
  segments: z.int().min(0),
  bytes: z.int().min(0),
  withSecretKey: z.boolean(),
});

/** The contents of a backup's manifest. */
export type Manifest = Omit<z.infer<typeof manifestSchema>, 'format'>;

/** The text of a manifest. */
export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify({ format: FORMAT, ...manifest }, null, 2)}\n`;
}

/** Parses a manifest. Throws `ArchiveError`. */
export function readManifest(text: string): Manifest {
  const parsed = manifestSchema.safeParse(decodeJson(text));
  if (!parsed.success) throw new ArchiveError(`The ${MANIFEST} in the archive is not valid.`);
  const { format, ...manifest } = parsed.data;
  if (format > FORMAT)
    throw new ArchiveError(`The backup was written by Waybill ${manifest.version}. Restore it with that.`);
  return manifest;
}

/** Checksums as `sha256sum` writes and checks them. */
export function sumsText(sums: ReadonlyMap<string, string>): string {
  return [...sums].map(([name, sum]) => `${sum}  ${name}\n`).join('');
}

/** Parses checksums. Throws `ArchiveError`. */
export function readSums(text: string): Map<string, string> {
  const sums = new Map<string, string>();
  for (const line of text.split('\n').slice(0, -1)) {
    const [, sum, name] = /^([0-9a-f]{64}) {2}([!-~]+)$/.exec(line) ?? [];
    if (sum === undefined || name === undefined || sums.has(name))
      throw new ArchiveError(`The ${SUMS} in the archive are not valid.`);
    sums.set(name, sum);
  }
  return sums;
}

/** Throws `ArchiveError` unless the checksums are of exactly these files. */
export function compareSums(stated: ReadonlyMap<string, string>, found: ReadonlyMap<string, string>): void {
  for (const [name, sum] of found) {
    if (stated.get(name) === undefined) throw new ArchiveError(`${name} in the archive has no sum.`);
    if (stated.get(name) !== sum) throw new ArchiveError(`${name} in the archive is damaged.`);
  }
  for (const name of stated.keys())
    if (!found.has(name)) throw new ArchiveError(`${name} is missing from the archive.`);
}
