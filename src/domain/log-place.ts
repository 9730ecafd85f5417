/** A place in the log of fresh mail; it stands for everything before it. */
export interface LogPlace {
  readonly segment: number;
  /** Bytes from the start of the segment. */
  readonly offset: number;
}

/** Whether `place` is before `other`, or equal to it. */
export function isUpTo(place: LogPlace, other: LogPlace): boolean {
  return place.segment < other.segment || (place.segment === other.segment && place.offset <= other.offset);
}
