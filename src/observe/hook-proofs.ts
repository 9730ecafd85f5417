import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { NewestMap } from '../lib/newest-map.ts';
import type { Registry } from '../store/registry.ts';
import type { Events } from './events.ts';

/** When requests last came to the hook of a relay, on this node since its start; in wall ms, null for never. */
export interface HookProof {
  readonly provenAt: number | null;
  readonly refusedAt: number | null;
}

interface HookProofOptions {
  readonly events: Events;
  readonly registry: Pick<Registry, 'putSetting'>;
  /** The key of the note that keeps when a relay's hook was last proven. */
  readonly noteOf: (relay: string) => string;
  readonly clock: Pick<Clock, 'wall'>;
  readonly log: Log;
}

/** Remembers when hooks were used. */
export interface HookProofs {
  of(relay: string): HookProof;
  /** A relay was removed, or is another one now: what was proven was not its hook. */
  forget(relay: string): void;
  /** Stops listening, and waits for what is being written. */
  stop(): Promise<void>;
}

/** How often a note is written at most: each makes all nodes read the configuration again. */
const NOTE_EVERY_MS = 6 * 3_600_000;
/** Relays remembered; the one that was used longest ago makes room. */
const MAX_RELAYS = 1000;
const NEVER: HookProof = { provenAt: null, refusedAt: null };

/**
 * Begins to remember. What was proven is also noted in the store, for other nodes and the next start; a note that cannot
 * be written is tried again with the next proof.
 */
export function rememberHookProofs({ events, registry, noteOf, clock, log }: HookProofOptions): HookProofs {
  const byRelay = new NewestMap<string, HookProof>(MAX_RELAYS);
  const notedAt = new NewestMap<string, number>(MAX_RELAYS);
  let writing: Promise<void> = Promise.resolve();

  const write = async (relay: string, at: number) => {
    try {
      await registry.putSetting(noteOf(relay), JSON.stringify(at));
    } catch (error) {
      notedAt.delete(relay);
      log.debug('hook.proof_not_noted', { relay, message: String(error) });
    }
  };
  const unsubscribe = events.on((event) => {
    if (event.type !== 'hook') return;
    const { relay, proven } = event;
    const at = clock.wall();
    byRelay.set(relay, { ...(byRelay.get(relay) ?? NEVER), [proven ? 'provenAt' : 'refusedAt']: at });
    if (!proven || at - (notedAt.get(relay) ?? Number.NEGATIVE_INFINITY) < NOTE_EVERY_MS) return;
    notedAt.set(relay, at);
    writing = writing.then(() => write(relay, at));
  });
  return {
    of: (relay) => byRelay.get(relay) ?? NEVER,
    forget: (relay) => {
      byRelay.delete(relay);
      notedAt.delete(relay);
    },
    stop: () => {
      unsubscribe();
      return writing;
    },
  };
}
