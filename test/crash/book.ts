/** What next hops took, to be held against what the server says of it. */
import { join } from 'node:path';
import { expect } from 'vitest';
import { contentKeysFor } from '../../src/control/content-keys.ts';
import type { MessageRecord } from '../../src/domain/message.ts';
import { systemRandom } from '../../src/lib/random.ts';
import { openSegmentSpool } from '../../src/spool/segments/segment-spool.ts';
import { replay } from '../../src/store/logged/replay.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { ListPage, Views } from '../../src/store/views.ts';
import type { RunningServer } from '../peers/server.ts';
import type { SmtpSink } from '../peers/smtp-sink.ts';
import type { SinkMessage } from '../peers/smtp-sink-script.ts';
import { LETTER, subjectOf } from './customer.ts';

/** Every copy of every letter, and every report, that sinks took while they were followed. */
export class Book {
  /** Subject and recipient, with a space between → the name of the hop, for each copy. */
  readonly letters = new Map<string, string[]>();
  /** The same of what failure reports tell → the id of the report, for each copy of it. */
  readonly reports = new Map<string, string[]>();
  readonly #onTaken: () => void;

  /** `onTaken` is told of every recipient of every message, as it is taken. */
  constructor(onTaken: () => void = () => {}) {
    this.#onTaken = onTaken;
  }

  /** Enters what a sink takes, from now on. */
  async follow(hop: string, sink: SmtpSink): Promise<never> {
    for (let seen = 0; ; ) {
      await sink.until(() => sink.messages.length > seen);
      for (const message of sink.messages.slice(seen)) {
        if (message.taken) this.#enter(hop, message);
        seen++;
      }
    }
  }

  /** The same for hours: the sink forgets what was entered, and `sees` looked at. */
  async followForHours(
    hop: string,
    sink: SmtpSink,
    sees: (message: SinkMessage) => void = () => {},
  ): Promise<never> {
    for (;;) {
      await sink.until(() => sink.messages.length > 0);
      sink.commands.length = 0;
      for (const message of sink.messages.splice(0)) {
        if (!message.taken) continue;
        this.#enter(hop, message);
        sees(message);
      }
    }
  }

  /** Whether a letter reached one of its recipients. */
  has(subject: string, recipient: string): boolean {
    return this.letters.has(`${subject} ${recipient}`);
  }

  #enter(hop: string, { from, to, content }: SinkMessage): void {
    for (const recipient of to) {
      if (from.startsWith('<>')) this.#enterReport(content.toString('latin1'));
      else note(this.letters, `${subjectOf(content)} ${recipient}`, hop);
      this.#onTaken();
    }
  }

  /** The sender gave the subject as the envelope's id, too. */
  #enterReport(text: string): void {
    const [, about = 'nothing'] = /^Original-Envelope-Id: (.*)\r$/m.exec(text) ?? [];
    const [, id = 'no id'] = /^Message-ID: <(msg_\w{26})@/im.exec(text) ?? [];
    for (const [, recipient] of text.matchAll(/^Final-Recipient: rfc822; ?(.*)\r$/gm))
      note(this.reports, `${about} ${recipient}`, id);
  }
}

function note(notes: Map<string, string[]>, name: string, entry: string): void {
  notes.set(name, [...(notes.get(name) ?? []), entry]);
}

/** Holds that all that was acknowledged, by subject and id, is there, has ended so, and arrived. */
export function holdAcknowledged(
  book: Book,
  stored: ReadonlyMap<string, MessageRecord>,
  acknowledged: Iterable<readonly [subject: string, id: string]>,
  status: 'delivered' | 'failed' = 'delivered',
): void {
  for (const [subject, id] of acknowledged) {
    expect(stored.get(id)?.header.subject, `${id} was acknowledged`).toBe(subject);
    expect(stored.get(id)?.status, id).toBe(status);
    for (const address of LETTER.to)
      expect(book.has(subject, address), `${id} to ${address} arrived`).toBe(true);
  }
}

/** How many are flagged as possibly sent twice. */
export function countFlagged(stored: ReadonlyMap<string, MessageRecord>): number {
  return [...stored.values()].filter(({ possibleDuplicate }) => possibleDuplicate).length;
}

/** Holds that what came twice is flagged, and was not taken by two relays. Returns how often that was. */
export function holdCopies(book: Book, stored: ReadonlyMap<string, MessageRecord>): number {
  const bySubject = new Map([...stored.values()].map((message) => [message.header.subject, message]));
  let twice = 0;
  for (const [name, hops] of book.letters) {
    const message = bySubject.get(name.slice(0, name.indexOf(' ')));
    expect(message, `${name} was sent`).toBeDefined();
    expect(new Set(hops).size, `${message?.id}, taken by ${hops.join()}`).toBe(1);
    if (hops.length === 1) continue;
    twice++;
    expect(message?.possibleDuplicate, `${message?.id}, taken ${hops.length} times`).toBe(true);
  }
  for (const [name, [id = '', ...copies]] of book.reports) {
    expect(bySubject.get(name.slice(0, name.indexOf(' '))), `${name} was reported`).toBeDefined();
    expect(new Set([id, ...copies]).size, `reports on ${name}`).toBe(1);
    if (copies.length === 0) continue;
    twice++;
    expect(stored.get(id)?.possibleDuplicate, `${id}, taken ${copies.length + 1} times`).toBe(true);
  }
  return twice;
}

/** Waits for one message after the other that is not final, until there is none. The key may see those it sent. */
export async function untilAllIsFinal(server: RunningServer, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  const messages = `${server.api}/api/v1/messages`;
  const open = `${messages}?limit=1&all=true&status=queued&status=processing&status=retrying`;
  // A page looks at so many messages and no more: one that is empty may have another behind it.
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await fetch(cursor === '' ? open : `${open}&cursor=${cursor}`, { headers });
    expect(page.status).toBe(200);
    const list = (await page.json()) as { messages: { id: string }[]; nextCursor?: string };
    const [message] = list.messages;
    cursor = message === undefined ? (list.nextCursor ?? null) : '';
    if (message === undefined) continue;
    await (await fetch(`${messages}/${message.id}?wait=60`, { headers })).text();
  }
}

/** Reads the store of a data directory that no server works on, with what the log still holds, as a start would. */
export async function readStore<T>(dataDir: string, read: (views: Views) => Promise<T>): Promise<T> {
  const { store, views, applying } = openSqlite(join(dataDir, 'waybill.db'));
  const keys = contentKeysFor({ dataDir, environment: {}, random: systemRandom });
  const spool = await openSegmentSpool({ directory: join(dataDir, 'spool'), keys, onFailure() {} });
  try {
    await replay(spool, applying);
    return await read(views);
  } finally {
    await spool.close();
    await store.close();
  }
}

/** Every message there is, by its id. */
export async function messagesIn(views: Views): Promise<Map<string, MessageRecord>> {
  const found = new Map<string, MessageRecord>();
  let before: string | null = null;
  do {
    const page: ListPage = await views.list({ owner: 'all', statuses: [], before, limit: 200 });
    for (const message of page.messages) found.set(message.id, message);
    before = page.next;
  } while (before !== null);
  return found;
}
