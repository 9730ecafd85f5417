/** A place in the log of fresh mail: everything before it is meant. */
export interface LogPlace {
  readonly segment: number;
  /** Bytes from the segment's beginning. */
  readonly offset: number;
}

/** Whether `place` lies before `other`, or is it. */
export function isUpTo(place: LogPlace, other: LogPlace): boolean {
  return place.segment < other.segment || (place.segment === other.segment && place.offset <= other.offset);
}
