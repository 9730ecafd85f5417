import { ACCESS } from '../control/access.ts';
import type { Door } from '../control/door.ts';
import { OPERATION_NAMES } from '../control/operations.ts';
import type { Events } from '../observe/events.ts';

/** The same door; every operation through it that may have changed something is told as an event once it is done. */
export function announced(door: Door, events: Events): Door {
  return {
    call: async (actor, name, request, progress) => {
      const result = await door.call(actor, name, request, progress);
      const operation = OPERATION_NAMES.find((known) => known === name);
      if (operation !== undefined && ACCESS[operation].audit !== null)
        events.emit({ type: 'operated', operation });
      return result;
    },
  };
}
