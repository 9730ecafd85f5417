import { expect, test } from 'vitest';
import { IncomingContent } from '../../../src/ingest/smtp/content.ts';
import { Budget } from '../../../src/lib/budget.ts';
import { passOn, readHandedIn } from '../../../src/mail/handed-in.ts';
import { DataFramer } from '../../../src/smtp/command.ts';
import { Receiver } from '../../../src/smtp/receiver/receiver.ts';
import { encodeSmall } from '../../../src/spool/record.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { entryOf } from '../../support/spool-entry.ts';
import { OPTIONS } from './peer.ts';

/** How often the bytes of a message are copied by us between the socket that they come from and the next hop's. */

const HEADER = 'From: a@example.com\r\nSubject: large\r\n\r\n';
const LINE = `${'The quick brown fox jumps over the lazy dog. '.repeat(2).slice(0, 76)}\r\n`;
const MESSAGE = Buffer.from(HEADER + LINE.repeat(1_310));
const ADDED = 'Received: from a by b\r\n';

/** As they come from a socket: each in memory of its own. */
function chunksOf(bytes: Buffer, size: number): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const chunk = Buffer.allocUnsafeSlow(Math.min(size, bytes.length - at));
    bytes.copy(chunk, 0, at);
    chunks.push(chunk);
  }
  return chunks;
}

/** What is kept of a message that comes in so. */
function taken(chunks: readonly Buffer[]): readonly Buffer[] {
  const content = new IncomingContent(new Budget({ capacity: 1e6, maxWaiters: 1 }), new ManualClock());
  const receiver = new Receiver({ ...OPTIONS, maxMessageBytes: 1e6 }, false);
  let kept: readonly Buffer[] = [];
  const pump = () => {
    for (let effect = receiver.next(); effect !== null; effect = receiver.next())
      switch (effect.kind) {
        case 'content':
          void content.add(effect.bytes);
          break;
        case 'begin':
          void content.begin('a', null, 1e6);
          receiver.accept();
          break;
        case 'message':
          kept = content.take().chunks;
          receiver.accept('queued');
          break;
        case 'mail':
        case 'rcpt':
          receiver.accept();
      }
  };
  receiver.greet();
  const commands = 'EHLO a\r\nMAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.net>\r\nDATA\r\n';
  for (const chunk of [Buffer.from(commands), ...chunks]) {
    receiver.receive(chunk);
    pump();
  }
  return kept;
}

test.each([4096, 16_384, 65_536])(
  'a body that comes in pieces of %i bytes is copied nowhere: what is written is where it came in',
  (size) => {
    const chunks = chunksOf(Buffer.concat([MESSAGE, Buffer.from('.\r\n')]), size);
    const message = readHandedIn(taken(chunks), 100_000) ?? expect.fail('no header');
    const record = encodeSmall(entryOf(...passOn(message, ADDED, () => false).chunks));
    const framer = new DataFramer(false);
    const ways = [record.chunks, record.chunks.map((chunk) => framer.push(chunk))];
    const arrived = new Set(chunks.map(({ buffer }) => buffer));
    for (const way of ways) {
      expect(Buffer.concat(way).toString()).toBe(ADDED + MESSAGE.toString());
      const ours = way.filter(({ buffer }) => !arrived.has(buffer as ArrayBuffer));
      expect(Buffer.concat(ours).toString()).toBe(ADDED);
    }
  },
);
