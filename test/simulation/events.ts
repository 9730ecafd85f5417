import type { DeliveryState } from '../../src/domain/delivery.ts';
import { type EventType, typesNamed } from '../../src/domain/event.ts';
import type { OutcomeName } from '../../src/domain/outcome.ts';
import { EVERY_EVENT, type EventQuery } from '../../src/store/events.ts';
import type { Views } from '../../src/store/views.ts';

/** Events that must be told, as the world knows them: `id type` or `id/index type` → how often. */
export class Story {
  readonly #told = new Map<string, number>();

  /** Events that may be told, so often at most. */
  readonly #possible = new Map<string, number>();

  /** A message was stored. */
  stored(id: string): void {
    this.#tell(id, 'message.queued');
  }

  /** A recipient came into this state. `wasTried`: by the end of an attempt. */
  became(place: string, state: DeliveryState, outcome: OutcomeName | null, wasTried: boolean): void {
    if (state === 'delivered')
      this.#tell(place, outcome === 'captured' ? 'message.captured' : 'message.delivered');
    if (state === 'failed') this.#tell(place, FAILURES.get(outcome) ?? 'message.failed');
    if (state === 'retrying' && wasTried) this.#tell(place, 'message.deferred');
  }

  /** Something happened that has an event. */
  must(place: string, type: EventType): void {
    this.#tell(place, type);
  }

  /** Something may have happened that has one. */
  may(place: string, type: EventType): void {
    add(this.#possible, nameOf(place, type));
  }

  /** Everything that was told, page by page, is exactly this, with sequences that rise. Throws what differs. */
  async check(views: Views): Promise<void> {
    const left = new Map(this.#told);
    const possible = new Map(this.#possible);
    let after = 0;
    for (let more = true; more; ) {
      const page = await views.events({ ...ALL, from: { after } });
      for (const { sequence, type, message, recipient } of page.events) {
        if (sequence <= after) throw new Error(`sequence ${sequence} follows ${after}`);
        after = sequence;
        if (message === null) throw new Error(`the event ${sequence} has no message`);
        const index = await placeOf(views, message.id, recipient?.address);
        const name = nameOf(index === null ? message.id : `${message.id}/${index}`, type);
        if (!take(left, name) && !take(possible, name)) throw new Error(`the event ${name} has no cause`);
      }
      after = page.next ?? after;
      more = page.more;
    }
    for (const [name, count] of left) if (count > 0) throw new Error(`the event ${name} is missing`);
  }

  #tell(place: string, type: EventType): void {
    add(this.#told, nameOf(place, type));
  }
}

const FAILURES: ReadonlyMap<OutcomeName | null, EventType> = new Map([
  ['bounced', 'message.bounced'],
  ['suppressed', 'message.suppressed'],
]);

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** False: there is none left. */
function take(counts: Map<string, number>, name: string): boolean {
  const count = counts.get(name) ?? 0;
  if (count > 0) counts.set(name, count - 1);
  return count > 0;
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
