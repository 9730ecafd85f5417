import type { DeliveryState } from '../../src/domain/delivery.ts';
import { type EventType, typesNamed } from '../../src/domain/event.ts';
import type { OutcomeName } from '../../src/domain/outcome.ts';
import { EVERY_EVENT, type EventQuery } from '../../src/store/events.ts';
import type { Views } from '../../src/store/views.ts';

/** Events that must be told, as the world knows them: `id type` or `id/index type` → how often. */
export class Story {
  readonly #told = new Map<string, number>();

  /** A message was stored. */
  stored(id: string): void {
    this.#tell(id, 'message.queued');
  }

  /** A recipient came into this state. `wasTried`: by the end of an attempt. */
  became(place: string, state: DeliveryState, outcome: OutcomeName | null, wasTried: boolean): void {
    if (state === 'delivered')
      this.#tell(place, outcome === 'captured' ? 'message.captured' : 'message.delivered');
    if (state === 'failed') this.#tell(place, 'message.failed');
    if (state === 'retrying' && wasTried) this.#tell(place, 'message.deferred');
  }

  /** Everything that was told, page by page, is exactly this, with sequences that rise. Throws what differs. */
  async check(views: Views): Promise<void> {
    const left = new Map(this.#told);
    let after = 0;
    for (let more = true; more; ) {
      const page = await views.events({ ...ALL, from: { after } });
      for (const { sequence, type, message, recipient } of page.events) {
        if (sequence <= after) throw new Error(`sequence ${sequence} follows ${after}`);
        after = sequence;
        if (message === null) throw new Error(`the event ${sequence} has no message`);
        const index = await placeOf(views, message.id, recipient?.address);
        const name = nameOf(index === null ? message.id : `${message.id}/${index}`, type);
        const count = left.get(name) ?? 0;
        if (count === 0) throw new Error(`the event ${name} has no cause`);
        left.set(name, count - 1);
      }
      after = page.next ?? after;
      more = page.more;
    }
    for (const [name, count] of left) if (count > 0) throw new Error(`the event ${name} is missing`);
  }

  #tell(place: string, type: EventType): void {
    const name = nameOf(place, type);
    this.#told.set(name, (this.#told.get(name) ?? 0) + 1);
  }
}

async function placeOf(views: Views, id: string, address: string | undefined): Promise<number | null> {
  if (address === undefined) return null;
  const detail = await views.message(id);
  return detail?.recipients.find((one) => one.address === address)?.index ?? null;
}

function nameOf(place: string, type: EventType): string {
  return `${place} ${type}`;
}

const ALL: Omit<EventQuery, 'from'> = { ...EVERY_EVENT, types: typesNamed('message.*') ?? [], limit: 200 };
