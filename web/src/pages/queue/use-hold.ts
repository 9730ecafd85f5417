import type { ResultOf } from '../../../../src/operations/table.ts';
import { useAct } from '../../queries.ts';

const WORDS = { pause: 'is paused', drain: 'is drained: what waits is sent, nothing new is routed to it' };

/** Holds a lane or a relay back, or lets it go; says what it is then. */
export function useHold() {
  return useAct('hold', {
    changes: ['queue', 'relays', 'messages'],
    done: ({ target, kind, changed }: ResultOf<'hold'>) => {
      if (kind !== null) return `${target} ${WORDS[kind]}${changed ? '.' : ', as it was.'}`;
      if (changed) return `${target} goes on.`;
      return `${target} was not held. If it still rests, resume its ${target.includes('/') ? 'relay' : 'lanes'}.`;
    },
  });
}
