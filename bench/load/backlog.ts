import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { ContentRef } from '../../src/domain/message.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createIdSource } from '../../src/lib/id.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { openSegmentSpool } from '../../src/spool/segments/segment-spool.ts';
import type { AcceptRecord } from '../../src/store/accepting.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';

/** A queue as it is found: so many messages, one recipient each, spread evenly over so many domains. */
export interface Backlog {
  readonly messages: number;
  /** Null where the relay is a smarthost, which is one lane. */
  readonly lanes: number | null;
  /** The relay they wait for. */
  readonly relay: string;
  /** An operator holds the relay. */
  readonly held?: boolean;
  /** Of each message's contents; a few lines, if not given. */
  readonly sizeBytes?: number;
}

const newId = createIdSource(systemClock, seededRandom(1));
const BATCH = 1000;
/** Words are entered by the time a queue has become deep. More at once than the service does, to be done sooner. */
const WORDS_AT_ONCE = 2000;
const DAY_MS = 24 * 3600 * 1000;
const FLAGS = { eightBit: false, utf8: false, dotStuffing: false };

/** The lane of the message with that number. */
export function laneOfBacklog({ lanes, relay }: Pick<Backlog, 'lanes' | 'relay'>, number: number): string {
  return lanes === null ? relay : `${relay}/${domainOf(lanes, relay, number)}`;
}

function domainOf(lanes: number | null, relay: string, number: number): string {
  return lanes === null ? `${relay}.example` : `d${number % lanes}.example`;
}

/** Makes a data directory with this queue in it. All messages have the same contents, which lie in the spool once. */
export async function makeBacklog(data: string, backlog: Backlog): Promise<void> {
  await mkdir(data, { recursive: true, mode: 0o700 });
  const spool = await openSegmentSpool({ directory: path.join(data, 'spool'), onFailure() {} });
  const { store, registry } = openSqlite(path.join(data, 'waybill.db'));
  if (backlog.held) await registry.putHold(backlog.relay, { kind: 'pause', since: systemClock.wall() });
  const text = contentOf(backlog.sizeBytes ?? 0);
  const content = { chunks: [text], sizeBytes: text.length, flags: FLAGS };
  const [ref] = await spool.append([{ messageId: newId(), content }]);
  if (ref === undefined) throw new Error('the spool gave no reference');
  await fillQueue(store, backlog, ref);
  while ((await store.index(WORDS_AT_ONCE)).more);
  spool.decided([ref]);
  await spool.close();
  await store.close();
}

function contentOf(sizeBytes: number): Buffer {
  const start = 'From: a@example.com\r\nSubject: bench\r\n\r\nHello\r\n';
  const line = `${'x'.repeat(74)}\r\n`;
  return Buffer.from(start + line.repeat(Math.max(0, Math.ceil((sizeBytes - start.length) / line.length))));
}

/** Accepts the messages of this queue, all with the same contents. */
export async function fillQueue(store: Store, backlog: Backlog, ref: ContentRef): Promise<void> {
  for (let first = 0; first < backlog.messages; first += BATCH) {
    const length = Math.min(BATCH, backlog.messages - first);
    const now = systemClock.wall();
    const records = Array.from({ length }, (_, place): AcceptRecord => {
      const lane = laneOfBacklog(backlog, first + place);
      const address = `r@${domainOf(backlog.lanes, backlog.relay, first + place)}`;
      const recipient = { address, kind: 'to', notify: null, orcpt: null } as const;
      const way = { relay: backlog.relay, lane, rule: null, group: [backlog.relay] };
      return {
        id: newId(),
        createdAt: now,
        keyId: null,
        test: false,
        source: 'api',
        sourceAddress: null,
        reversePath: 'a@example.com',
        ret: null,
        envid: null,
        reportable: false,
        stream: null,
        copies: null,
        ignoresSuppression: false,
        header: { from: 'a@example.com', subject: 'bench', messageId: '<bench@example.com>' },
        tags: [],
        metadata: {},
        sizeBytes: ref.length,
        flags: FLAGS,
        priority: 'normal',
        sendAt: null,
        expiresAt: now + DAY_MS,
        content: ref,
        idempotency: null,
        routeTable: 1,
        deliveries: [{ recipient, ...way, dueAt: now, fence: null }],
      };
    });
    await store.accept(records, { node: 'bench', now });
  }
}
