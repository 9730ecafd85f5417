import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { submissionNamed } from '../../../test/simulation/scene.ts';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import type { IngestRooms } from '../../app/mail-parts.ts';
import { loadConfig, NOTHING_STORED } from '../../config/load.ts';
import type { Submission } from '../../domain/message.ts';
import type { Intake, IntakeAnswer } from '../../engine/contract.ts';
import { seededRandom } from '../../lib/random.ts';
import { type CallsUnderWay, engineRooms } from './engine-rooms.ts';
import { Line } from './line.ts';
import type { FromIngest, ToIngest } from './messages.ts';
import { RemoteIntake } from './remote-intake.ts';
import { remoteRooms, type StepsHeard } from './remote-rooms.ts';

const REF = { segment: 1, offset: 0, length: 2 };
const CALLER = { keyName: 'app', sourceAddress: '127.0.0.1' };
const FULL = { code: 'queue_limit', detail: 'Too much waits.', retryAfterSeconds: 5 } as const;

/** The rooms as an ingest thread has them, over a line to those of the test. */
function overLine(parts: { readonly [room in keyof IngestRooms]?: object }) {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const calls: CallsUnderWay = new Map();
  const steps: StepsHeard = new Map();
  const own = { intake: {}, admin: {}, spool: {}, ...parts } as IngestRooms;
  const served = engineRooms(own, calls, (call, step) => far.tell({ kind: 'step', call, step }));
  const far: Line<ToIngest, FromIngest> = new Line(port2, served, (note) => {
    if (note.kind === 'abort') calls.get(note.call)?.abort();
  });
  const line: Line<FromIngest, ToIngest> = new Line(port1, {}, (note) => {
    if (note.kind === 'step') steps.get(note.call)?.(note.step);
  });
  const clock = new ManualClock();
  const state = () => ({ suspension: null, ready: true, webuiPort: null });
  const intake: Intake = new RemoteIntake({ line, state, clock, random: seededRandom(1) });
  const { config } = loadConfig({
    dataDir: '/',
    environment: {},
    stored: NOTHING_STORED,
    random: seededRandom(1),
  });
  return { rooms: remoteRooms(line, intake, steps, () => config), calls, clock };
}

/** Contents of two pieces, and how many are being read. */
function contents() {
  const reading = { count: 0 };
  const chunks = function* () {
    reading.count++;
    try {
      yield Buffer.from('a');
      yield Buffer.from('b');
    } finally {
      reading.count--;
    }
  };
  return { spool: { read: async () => ({ sizeBytes: 2, chunks }) }, reading };
}

test('a content is read piece by piece, and no further than it is wanted', async () => {
  const { spool, reading } = contents();
  const { rooms } = overLine({ spool });
  const pieces: string[] = [];
  for await (const piece of (await rooms.spool.read(REF)).chunks()) pieces.push(String(Buffer.from(piece)));
  expect(pieces).toEqual(['a', 'b']);
  for await (const _ of (await rooms.spool.read(REF)).chunks()) {
    expect(reading.count).toBe(1);
    break;
  }
  expect(reading.count).toBe(0);
});

test('a message is checked by the thread that delivers', async () => {
  const way = { hops: [], isBulk: true, utf8Address: null, requiresTls: false };
  const asked: unknown[] = [];
  const preflight = {
    message: async (sizeBytes: number, load: () => Uint8Array, ...given: unknown[]) => {
      asked.push(sizeBytes, String(Buffer.from(load())), ...given);
      return [];
    },
  };
  const { rooms } = overLine({ preflight });
  expect(await rooms.preflight.message(2, () => Buffer.from('hi'), way, 'key_1')).toEqual([]);
  expect(asked).toEqual([2, 'hi', way, 'key_1']);
});

test('one content past the bound, the one that was read from longest ago is closed', async () => {
  const { rooms } = overLine({ spool: contents().spool });
  const [first, second] = [await rooms.spool.read(REF), await rooms.spool.read(REF)].map((content) =>
    (content.chunks() as AsyncIterable<Uint8Array>)[Symbol.asyncIterator](),
  );
  await second?.next();
  await Promise.all(Array.from({ length: 1_998 }, () => rooms.spool.read(REF)));
  await first?.next();
  await rooms.spool.read(REF);
  expect(await first?.next()).toMatchObject({ done: false });
  await expect(second?.next()).rejects.toThrow('open no longer');
});

test('an operation tells its steps, and gives its answer', async () => {
  const call = async (
    _caller: object,
    _operation: string,
    request: unknown,
    progress: { tell(step: unknown): void },
  ) => {
    progress.tell('half');
    return request;
  };
  const { rooms, calls } = overLine({ admin: { call } });
  const steps: unknown[] = [];
  const { signal } = new AbortController();
  const answer = rooms.admin.call(CALLER, 'anything', { a: 1 }, { tell: (step) => steps.push(step), signal });
  expect(await answer).toEqual({ a: 1 });
  expect([steps, calls.size]).toEqual([['half'], 0]);
});

test.each(['before it is asked for', 'as soon as it is', 'later'])(
  'an operation that nobody waits for any more hears of it: %s',
  async (when) => {
    const begun = Promise.withResolvers<void>();
    const call = (
      _caller: object,
      _operation: string,
      _request: unknown,
      { signal }: { signal: AbortSignal },
    ) => {
      begun.resolve();
      if (signal.aborted) return 'aborted';
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted')));
    };
    const { rooms } = overLine({ admin: { call } });
    const stop = new AbortController();
    if (when === 'before it is asked for') stop.abort();
    const answer = rooms.admin.call(CALLER, 'anything', {}, { tell: () => {}, signal: stop.signal });
    if (when === 'later') await begun.promise;
    stop.abort();
    expect(await answer).toBe('aborted');
  },
);

test('a key with too much queued is refused at once, for a second', async () => {
  let answer: IntakeAnswer = { kind: 'suspended', suspension: FULL };
  const { rooms, clock } = overLine({ intake: { accept: async () => [answer] } });
  const submission = { ...submissionNamed('a', 1), keyId: 'full' };
  expect(rooms.intake.suspended('full')).toBeNull();
  expect(await rooms.intake.accept([submission])).toEqual([answer]);
  expect([rooms.intake.suspended('full'), rooms.intake.suspended('other')]).toEqual([FULL, null]);
  await clock.advance(1_000);
  expect(rooms.intake.suspended('full')).toBeNull();
  answer = { kind: 'accepted', id: 'msg_1', captured: false };
  expect(await rooms.intake.accept([submission])).toEqual([answer]);
});

test('the memory of large contents is given back once they are packed, whatever becomes of them', async () => {
  const arrived: string[] = [];
  const accept = async (all: readonly Submission[]) => {
    for (const { content } of all) arrived.push(Buffer.concat(content.chunks).toString('latin1', 0, 3));
    return all.map(() => ({ kind: 'suspended', suspension: FULL }));
  };
  const { rooms } = overLine({ intake: { accept } });
  const shared = Buffer.alloc(2 * 1024 * 1024, 'two');
  const small = Buffer.alloc(64 * 1024, 'one');
  const two = [[shared], [shared], [small]].map((chunks) => {
    const one = submissionNamed('a', 1);
    return { ...one, content: { ...one.content, chunks, sizeBytes: chunks[0]?.length ?? 0 } };
  });
  const answered = rooms.intake.accept(two);
  expect([shared.length, small.length]).toEqual([0, 64 * 1024]);
  await answered;
  expect(arrived).toEqual(['two', 'two', 'one']);
});

test('what is to be accepted together is asked for together, and its refusal says nothing of a key', async () => {
  const asked: unknown[] = [];
  const accept = async (all: readonly object[], together: boolean) => {
    asked.push([all.length, together]);
    return all.map(() => ({ kind: 'suspended', suspension: FULL }));
  };
  const { rooms } = overLine({ intake: { accept } });
  const two = ['a', 'b'].map((token) => ({ ...submissionNamed(token, 1), keyId: 'key_one' }));
  expect(await rooms.intake.accept(two, true)).toHaveLength(2);
  expect(rooms.intake.suspended('key_one'), 'one may fit').toBeNull();
  await rooms.intake.accept(two);
  expect(rooms.intake.suspended('key_one')).toEqual(FULL);
  expect(asked).toEqual([
    [2, true],
    [2, false],
  ]);
});

test('of more keys than are remembered, the first is asked again', async () => {
  const accept = async (all: readonly object[]) => all.map(() => ({ kind: 'suspended', suspension: FULL }));
  const { rooms } = overLine({ intake: { accept } });
  const keys = Array.from({ length: 1_001 }, (_, place) => `key${place}`);
  await rooms.intake.accept(keys.map((keyId) => ({ ...submissionNamed('a', 1), keyId })));
  const known = keys.filter((keyId) => rooms.intake.suspended(keyId) !== null);
  expect(known).toEqual(keys.slice(1));
});
