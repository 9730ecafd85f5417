import { NOTE_PREFIX } from '../store/registry.ts';

/** The note of an installation that was moved, or is being moved: where to. See `derived.ts`. */
export const MOVED_TO = `${NOTE_PREFIX}moved_to`;
/** The note of an installation that came from elsewhere, or is about to: where from, and the progress. */
export const MOVED_FROM = `${NOTE_PREFIX}moved_from`;
