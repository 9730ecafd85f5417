import { type Answer, MAIL, World } from './world.ts';

/** Where batches go. */
export const BATCH_PATH = '/api/v1/messages/batch';

/** What became of one message, as far as tests look into it. */
interface Item {
  readonly index: number;
  readonly id?: string;
  readonly error?: {
    readonly status: number;
    readonly code: string;
    readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
  };
}

/** The results of a batch. */
export function itemsOf(answer: Answer): readonly Item[] {
  return answer.json['results'] as readonly Item[];
}

/** What became of each message: `taken`, or the status and code of its refusal. */
export function fates(answer: Answer): string[] {
  return itemsOf(answer).map(({ id, error }) =>
    id === undefined ? `${error?.status} ${error?.code}` : 'taken',
  );
}

/** Messages that differ in their subject. */
export function mails(count: number, fields: object = {}) {
  return Array.from({ length: count }, (_, place) => ({ ...MAIL, subject: `No. ${place}`, ...fields }));
}

/** A client that sends batches. */
export class BatchClient {
  readonly world: World;
  readonly key: string;

  constructor(world: World, key: string) {
    this.world = world;
    this.key = key;
  }

  static async start(options: Parameters<typeof World.start>[0] = {}): Promise<BatchClient> {
    const world = await World.start(options);
    return new BatchClient(world, await world.key());
  }

  /** Sends a batch of these messages, or a body as it is; with another key's secret, if one is given. */
  send(
    messages: readonly unknown[] | string,
    headers: Readonly<Record<string, string>> = {},
    as = this.key,
  ): Promise<Answer> {
    const body = typeof messages === 'string' ? messages : JSON.stringify({ messages });
    const type = { 'Content-Type': 'application/json', ...headers };
    return this.world.ask({ method: 'POST', path: BATCH_PATH, key: as, headers: type, body });
  }
}
