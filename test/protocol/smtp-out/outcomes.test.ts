/** What each answer means for the message (RFC 5321 §4.2, §4.5.4). */
import { describe, expect, test } from 'vitest';
import { SINK_EXTENSIONS, type SinkEvent, type SinkScript } from '../../peers/smtp-sink-script.ts';
import { kinds, linesOf, never, only, startRig } from './rig.ts';

const LOCKSTEP = SINK_EXTENSIONS.filter((word) => word !== 'PIPELINING');

describe.each([
  ['pipelined', SINK_EXTENSIONS],
  ['one command at a time', LOCKSTEP],
])('%s', (_name, extensions) => {
  test('2xx to the final dot is delivered, with the id the peer gave', async () => {
    const rig = await startRig({ sink: { extensions } });
    const result = await rig.deliver();
    expect(result.outcomes).toEqual([
      {
        kind: 'delivered',
        captured: false,
        providerMessageId: 'sink-1-1',
        dsnPassed: false,
        reply: { code: 250, enhanced: '2.0.0', cause: 'smtp_reply', text: 'Ok: queued as sink-1-1' },
      },
    ]);
    expect(rig.sink.messages).toMatchObject([{ to: ['one@example.net'], taken: true }]);
  });

  test.each([
    ['MAIL', '451 4.3.0 later', 'deferred'],
    ['MAIL', '550 5.7.1 not you', 'rejected'],
    ['RCPT', '450 4.2.0 greylisted', 'deferred'],
    ['RCPT', '550 5.1.1 nobody', 'rejected'],
    ['RCPT', '552 5.2.2 mailbox full', 'rejected'],
    ['RCPT', '552 too many recipients', 'deferred'],
    ['DATA', '451 4.3.0 later', 'deferred'],
    ['DATA', '554 5.7.1 no', 'rejected'],
    ['DATA', '250 what?', 'deferred'],
    ['DOT', '452 4.3.1 full', 'deferred'],
    ['DOT', '554 5.6.0 bad content', 'rejected'],
    ['DOT', '354 go on', 'unknown'],
  ] as const)('%s answered %j is %s', async (verb, reply, kind) => {
    const rig = await startRig({ sink: { extensions, script: { [verb]: reply } } });
    const { hopFailed, hopBound, ...outcome } = only(await rig.deliver());
    expect(outcome.kind).toBe(kind);
    expect([hopFailed, hopBound]).toEqual([false, false]);
    if (kind !== 'unknown') expect(outcome.code).toBe(Number(reply.slice(0, 3)));
    expect(rig.sink.taken).toBe(0);
  });

  test('each recipient has the outcome of its own RCPT', async () => {
    const answers: Record<string, string> = { bad: '550 5.1.1 no', full: '452 4.5.3 too many' };
    const RCPT = ({ argument }: SinkEvent) => answers[/<(\w+)@/.exec(argument)?.[1] ?? ''];
    const rig = await startRig({ sink: { extensions, script: { RCPT } } });
    const result = await rig.deliver({ to: ['a@x.test', 'bad@x.test', 'b@x.test', 'full@x.test'] });
    expect(kinds(result)).toEqual(['delivered', 'rejected', 'delivered', 'deferred']);
    expect(result.outcomes.map(({ reply }) => reply.enhanced)).toEqual(['2.0.0', '5.1.1', '2.0.0', '4.5.3']);
    expect(rig.sink.messages).toMatchObject([{ to: ['a@x.test', 'b@x.test'] }]);
  });

  test.each([
    ['MAIL', undefined],
    ['RCPT', true],
    ['DATA', undefined],
    ['DOT', undefined],
  ] as const)('451 4.7.1 to %s is of one recipient only at RCPT', async (verb, ofRecipient) => {
    const rig = await startRig({ sink: { extensions, script: { [verb]: '451 4.7.1 later' } } });
    const { outcomes } = await rig.deliver();
    expect(outcomes.map((outcome) => outcome.kind === 'deferred' && outcome.ofRecipient)).toEqual([
      ofRecipient,
    ]);
  });

  test('452 after some recipients defers only those', async () => {
    const RCPT = ({ session }: SinkEvent) => (session.to.length === 2 ? '452 4.5.3 too many' : undefined);
    const rig = await startRig({ sink: { extensions, script: { RCPT } } });
    const result = await rig.deliver({ to: ['a@x.test', 'b@x.test', 'c@x.test'] });
    expect(kinds(result)).toEqual(['delivered', 'delivered', 'deferred']);
  });

  test('a refusal of the message after the dot leaves refused recipients their own reply', async () => {
    const RCPT = ({ argument }: SinkEvent) => (argument.includes('bad') ? '550 5.1.1 no' : undefined);
    const rig = await startRig({ sink: { extensions, script: { RCPT, DOT: '451 4.7.0 later' } } });
    const result = await rig.deliver({ to: ['bad@x.test', 'a@x.test'] });
    expect(kinds(result)).toEqual(['rejected', 'deferred']);
  });

  test.each(['MAIL', 'RCPT', 'DATA', 'DOT'] as const)(
    '421 to %s is the hop, not the message',
    async (verb) => {
      const script = { [verb]: { reply: '421 4.3.2 going down', close: 'end' } } as const;
      const rig = await startRig({ sink: { extensions, script } });
      expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', code: 421, hopFailed: true });
    },
  );

  test('530 to MAIL is the hop, not the message', async () => {
    const rig = await startRig({ sink: { extensions, script: { MAIL: '530 5.7.0 AUTH first' } } });
    expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', code: 530, hopFailed: true });
  });

  test.each([530, 534, 535, 538])('%i to one RCPT is of that recipient', async (code) => {
    const RCPT = ({ argument }: SinkEvent) =>
      argument.includes('bad') ? `${code} 5.7.1 Authentication required` : undefined;
    const rig = await startRig({ sink: { extensions, script: { RCPT } } });
    const result = await rig.deliver({ to: ['a@x.test', 'bad@x.test'] });
    expect(kinds(result)).toEqual(['delivered', 'rejected']);
    expect(result.hopFailed).toBe(false);
  });

  test.each(['DATA', 'DOT'] as const)('530 to %s is of the message', async (verb) => {
    const rig = await startRig({ sink: { extensions, script: { [verb]: '530 5.7.1 not this one' } } });
    expect(only(await rig.deliver())).toMatchObject({ kind: 'rejected', code: 530, hopFailed: false });
  });

  test('a recipient refused before 421 stays refused', async () => {
    const RCPT = ({ argument }: SinkEvent) =>
      argument.includes('bad') ? '550 5.1.1 no' : ({ reply: '421 4.3.2 bye', close: 'end' } as const);
    const rig = await startRig({ sink: { extensions, script: { RCPT } } });
    const result = await rig.deliver({ to: ['bad@x.test', 'a@x.test', 'b@x.test'] });
    expect(kinds(result)).toEqual(['rejected', 'deferred', 'deferred']);
  });

  test.each(['MAIL', 'RCPT', 'DATA'] as const)('a connection lost at %s is deferred', async (verb) => {
    const rig = await startRig({ sink: { extensions, script: { [verb]: { close: 'reset' } } } });
    expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'connection_lost' });
  });

  test.each(['end', 'reset'] as const)('a connection lost (%s) after the dot is unknown', async (close) => {
    const rig = await startRig({ sink: { extensions, script: { DOT: { close } } } });
    expect(only(await rig.deliver())).toMatchObject({ kind: 'unknown', cause: 'connection_lost' });
    expect(rig.sink.taken).toBe(1);
  });

  test.each([
    ['no reply at all', 'hello there'],
    ['codes that differ', '250-one\r\n251 two'],
    ['a line that never ends', 'x'.repeat(5000)],
  ])('%s to MAIL is deferred, to the dot unknown', async (_what, reply) => {
    const early = await startRig({ sink: { extensions, script: { MAIL: reply } } });
    expect(only(await early.deliver())).toMatchObject({ kind: 'deferred', cause: 'bad_reply' });
    const late = await startRig({ sink: { extensions, script: { DOT: reply } } });
    expect(only(await late.deliver())).toMatchObject({ kind: 'unknown', cause: 'bad_reply' });
  });

  test.each(['250-more', '250-'])('a reply that never ends (%s) is cut off', async (reply) => {
    const rig = await startRig({ sink: { extensions, script: { RCPT: { reply, endless: true } } } });
    expect(only(await rig.deliver())).toMatchObject({ kind: 'deferred', cause: 'bad_reply' });
  });
});

test('all recipients refused and 354 all the same: the connection is closed, nothing is sent', async () => {
  const rig = await startRig({ sink: { script: { RCPT: '550 5.1.1 no', DATA: '354 go on' } } });
  expect(kinds(await rig.deliver({ to: ['a@x.test', 'b@x.test'] }))).toEqual(['rejected', 'rejected']);
  await rig.sink.until(() => rig.sink.open === 0);
  expect(rig.sink.messages).toEqual([]);
});

test('an answer before the end of the content ends the transaction', async () => {
  const rig = await startRig({ sink: { script: { CONTENT: '552 5.3.4 too much' } } });
  const content = [linesOf(100_000)];
  let asked = 0;
  // Open for DATA; for the final dot it is never asked again.
  const gate = () => (++asked === 1 ? Promise.resolve(true) : never<boolean>());
  const result = await rig.deliver({ content, gate });
  expect(only(result)).toMatchObject({ kind: 'rejected', code: 552 });
  expect(rig.sink.messages).toEqual([]);
});

const EARLY = '250 2.0.0 Ok: queued as EARLY';
const LARGE = [linesOf(600_000)];

test.each<[string, readonly string[], SinkScript]>([
  ['DATA', SINK_EXTENSIONS, { CONTENT: EARLY }],
  ['BDAT', [...LOCKSTEP, 'CHUNKING'], { CHUNK: `250 2.0.0 ok\r\n${EARLY}` }],
])('%s: a yes before the end of the content may be one to the message', async (_how, extensions, script) => {
  const rig = await startRig({ sink: { extensions, script } });
  let asked = 0;
  const gate = () => (++asked === 1 ? Promise.resolve(true) : never<boolean>());
  const result = await rig.deliver({ content: LARGE, gate });
  expect(only(result)).toMatchObject({ kind: 'unknown', code: 250, hopFailed: false });
});

test('a yes before anything of the content was sent is none to the message', async () => {
  const rig = await startRig({ sink: { script: { DATA: `354 go on\r\n${EARLY}` } } });
  expect(only(await rig.deliver({ gate: () => never() }))).toMatchObject({ kind: 'deferred', code: 250 });
});

test('a reply is cleaned of control characters and cut to 1,000', async () => {
  const rig = await startRig({
    sink: { script: { DOT: `550 5.0.0 \u001b[31mred\u0007 ${'ü'.repeat(900)}` } },
  });
  const { text } = only(await rig.deliver());
  expect(text.startsWith(' [31mred  üü')).toBe(false);
  expect(text.startsWith('[31mred  üü')).toBe(true);
  expect(text.length).toBeLessThanOrEqual(1000);
});
