import path from 'node:path';

const NAME = /^(\d{8,15})\.seg$/;

/** Path of a segment's file. */
export function segmentPath(directory: string, segment: number): string {
  return path.join(directory, `${String(segment).padStart(8, '0')}.seg`);
}

/** The segment a file name stands for; null when it is no segment's. */
export function segmentOfName(name: string): number | null {
  const digits = NAME.exec(name)?.[1];
  return digits === undefined ? null : Number(digits);
}
