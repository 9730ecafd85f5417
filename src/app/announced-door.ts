import type { Door } from '../control/door.ts';
import type { Events } from '../observe/events.ts';
import { OPERATIONS, operationNamed } from '../operations/table.ts';

/** The same door; every operation through it that may have changed something is told as an event once it is done. */
export function announced(door: Door, events: Events): Door {
  return {
    call: async (actor, name, request, progress) => {
      const result = await door.call(actor, name, request, progress);
      const operation = operationNamed(name);
      if (operation !== null && OPERATIONS[operation].access.audit !== null)
        events.emit({ type: 'operated', operation });
      return result;
    },
  };
}
