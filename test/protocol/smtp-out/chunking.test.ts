/** BDAT (RFC 3030): used where it is offered, and the last chunk is held back like the final dot. */
import { describe, expect, test } from 'vitest';
import { SINK_EXTENSIONS, type SinkEvent } from '../../peers/smtp-sink-script.ts';
import { kinds, linesOf, never, only, type Rig, startRig } from './rig.ts';

const OFFERED = [...SINK_EXTENSIONS, 'CHUNKING'];
const LOCKSTEP = OFFERED.filter((word) => word !== 'PIPELINING');
const SMALL = [Buffer.from('Subject: small\r\n\r\n.dot\r\n')];
const LARGE = [Buffer.from('Subject: large\r\n\r\n'), linesOf(600_000), Buffer.from('.\r\n.end\r\n')];

/** What the peer was told, in order. */
const verbs = (rig: Rig) => rig.sink.commands.map(({ line }) => line.replace(/ FROM:.*| TO:.*/, ''));

describe.each([
  ['pipelined', OFFERED],
  ['one command at a time', LOCKSTEP],
])('%s', (_name, extensions) => {
  test('a small message goes in one chunk, its bytes as they are, and DATA is never said', async () => {
    const rig = await startRig({ sink: { extensions } });
    const result = await rig.deliver({ content: SMALL, flags: { dotStuffing: true } });
    expect(only(result).kind).toBe('delivered');
    expect(rig.sink.messages[0]?.content).toEqual(Buffer.concat(SMALL));
    expect(verbs(rig)).toEqual(['EHLO client.example', 'MAIL', 'RCPT', 'BDAT 24 LAST']);
    expect(result.evidence.steps.at(-1)).toMatchObject({ verb: 'BDAT' });
    await rig.deliver({ content: SMALL });
    expect(rig.sink.taken).toBe(2);
  });

  test('a large one goes in several, of which the last says so', async () => {
    const rig = await startRig({ sink: { extensions } });
    expect(only(await rig.deliver({ content: LARGE })).kind).toBe('delivered');
    const whole = Buffer.concat(LARGE);
    expect(rig.sink.messages[0]?.content.equals(whole)).toBe(true);
    const rest = whole.length - 2 * 262_144;
    expect(verbs(rig).slice(3)).toEqual(['BDAT 262144', 'BDAT 262144', `BDAT ${rest} LAST`]);
  });

  test.each([
    ['a small message', SMALL],
    ['a large message', LARGE],
  ])('%s is completed only after the gate has opened', async (_what, content) => {
    const rig = await startRig({ sink: { extensions } });
    const gate = Promise.withResolvers<boolean>();
    const asked = Promise.withResolvers<void>();
    let times = 0;
    const delivery = rig.deliver({
      content,
      gate: () => {
        // A large one is asked for twice: before its first chunk and before its last.
        times++;
        if (times === (content === LARGE ? 2 : 1)) asked.resolve();
        return content === LARGE && times === 1 ? Promise.resolve(true) : gate.promise;
      },
    });
    await asked.promise;
    expect(verbs(rig).some((line) => line.endsWith('LAST'))).toBe(false);
    gate.resolve(true);
    expect(only(await delivery).kind).toBe('delivered');
    expect(rig.sink.taken).toBe(1);
  });

  test('a shut gate leaves the connection usable when nothing of the content was said', async () => {
    const rig = await startRig({ sink: { extensions }, pool: { maxConnections: 1 } });
    const result = await rig.deliver({ content: SMALL, gate: async () => false });
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'lease_lost', hopFailed: false });
    expect(only(await rig.deliver()).kind).toBe('delivered');
    expect(verbs(rig).slice(1, 4)).toEqual(['MAIL', 'RCPT', 'RSET']);
    expect(rig.sink).toMatchObject({ taken: 1, connections: 1 });
  });

  test('a chunk that is refused ends it: the message is never completed', async () => {
    const rig = await startRig({ sink: { extensions, script: { CHUNK: '552 5.3.4 too much' } } });
    const result = await rig.deliver({ content: LARGE });
    expect(only(result)).toMatchObject({ kind: 'rejected', code: 552, hopFailed: false });
    expect(rig.sink.messages).toEqual([]);
  });

  test.each([
    ['451 4.3.0 later', 'deferred', false],
    ['554 5.6.0 bad content', 'rejected', false],
    ['421 4.3.2 going down', 'deferred', true],
  ] as const)('the last chunk answered %j is %s', async (reply, kind, hopFailed) => {
    const rig = await startRig({ sink: { extensions, script: { DOT: reply } } });
    expect(only(await rig.deliver())).toMatchObject({ kind, hopFailed, code: Number(reply.slice(0, 3)) });
  });

  test.each(['end', 'reset'] as const)(
    'a connection lost (%s) after the last chunk is unknown',
    async (close) => {
      const rig = await startRig({ sink: { extensions, script: { DOT: { close } } } });
      expect(only(await rig.deliver())).toMatchObject({ kind: 'unknown', cause: 'connection_lost' });
    },
  );

  test('a connection lost in the middle of the chunks is deferred', async () => {
    const rig = await startRig({ sink: { extensions, script: { CHUNK: { close: 'reset' } } } });
    expect(only(await rig.deliver({ content: LARGE }))).toMatchObject({ kind: 'deferred' });
    expect(rig.sink.messages).toEqual([]);
  });

  test('recipients that were refused have no part in it', async () => {
    const RCPT = ({ argument }: SinkEvent) => (argument.includes('bad') ? '550 5.1.1 no' : undefined);
    const rig = await startRig({ sink: { extensions, script: { RCPT } } });
    expect(kinds(await rig.deliver({ to: ['bad@x.test', 'a@x.test'] }))).toEqual(['rejected', 'delivered']);
    const none = await rig.deliver({ to: ['bad@x.test'] });
    expect(kinds(none)).toEqual(['rejected']);
    expect(verbs(rig).filter((line) => line.startsWith('BDAT'))).toHaveLength(1);
  });
});

test.each([
  ['500 5.5.2 what?', SMALL],
  ['502 5.5.1 not here', LARGE],
  ['503 5.5.1 DATA first', SMALL],
])(
  'a peer that offers CHUNKING and answers BDAT with %j waits, and is sent DATA from then on',
  async (reply, content) => {
    const rig = await startRig({ sink: { extensions: OFFERED, script: { BDAT: reply } } });
    const refused = await rig.deliver({ content });
    expect(only(refused)).toMatchObject({
      kind: 'deferred',
      code: Number(reply.slice(0, 3)),
      hopFailed: false,
    });
    const next = await rig.deliver({ content, flags: { dotStuffing: true } });
    expect(only(next).kind).toBe('delivered');
    expect(verbs(rig).at(-1)).not.toContain('LAST');
    expect(rig.sink.messages[0]?.content.equals(Buffer.concat(content))).toBe(true);
    expect(rig.sink.connections).toBe(2);
  },
);

test('5xx to a chunk behind one that was taken is of the message, not of BDAT', async () => {
  let chunks = 0;
  const CHUNK = () => (++chunks === 2 ? '500 5.5.0 no' : undefined);
  const rig = await startRig({ sink: { extensions: LOCKSTEP, script: { CHUNK } } });
  expect(only(await rig.deliver({ content: LARGE })).kind).toBe('rejected');
});

test.each([-1, 1])('a content that is %i bytes off what it said is never completed', async (off) => {
  const rig = await startRig({ sink: { extensions: OFFERED } });
  const sizeBytes = Buffer.concat(LARGE).length + off;
  await expect(rig.deliver({ content: LARGE, sizeBytes })).rejects.toThrow('than it said');
  await rig.sink.until(() => rig.sink.open === 0);
  expect(rig.sink.messages).toEqual([]);
});

test('an answer to a chunk that was not sent ends the transaction', async () => {
  const rig = await startRig({
    sink: { extensions: OFFERED, script: { RCPT: '250 2.1.5 ok\r\n250 2.0.0 more' } },
  });
  expect(only(await rig.deliver({ gate: () => never() })).kind).toBe('deferred');
  expect(rig.sink.messages).toEqual([]);
});
