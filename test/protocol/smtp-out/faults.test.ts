/**
 * Every fault of a next hop that we know of, and what becomes of the message. `deferred`: it waits and nobody has it;
 * `rejected`: it never will be taken; `unknown`: the hop may have it. `ill`: the hop is at fault, so that all mail for
 * it waits, and goes another way where there is one; otherwise only this message does.
 */
import { setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../../src/lib/log.ts';
import { createSmtpTransport } from '../../../src/transport/smtp/smtp.ts';
import { startBlackHole } from '../../peers/black-hole.ts';
import { freePort } from '../../peers/free-port.ts';
import { HANG, SINK_EXTENSIONS, type SinkAction, type SinkScript } from '../../peers/smtp-sink-script.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { authority, bad, good } from './certificates.ts';
import {
  advanceUntil,
  deliver,
  linesOf,
  type Mail,
  never,
  only,
  type RigOptions,
  relayTo,
  startRig,
} from './rig.ts';

const MINUTE = 60_000;
const CHUNKING = [...SINK_EXTENSIONS, 'CHUNKING'];
const LARGE = [Buffer.from('Subject: large\r\n\r\n'), linesOf(400_000)];

beforeAll(() => setDefaultCACertificates([authority.cert]));

/** A sink's fault, and its end: kind, cause or code, whose fault. */
type Row = readonly [
  fault: string,
  script: SinkScript,
  kind: 'deferred' | 'rejected' | 'unknown',
  answer: string | number | RegExp,
  whose: 'ill' | 'message',
];

const CLOSED: SinkAction = { close: 'end' };
const RESET: SinkAction = { close: 'reset' };

const FAULTS: readonly Row[] = [
  ['banner that is no SMTP', { CONNECT: 'SSH-2.0-OpenSSH_9.2' }, 'deferred', 'bad_reply', 'ill'],
  ['banner of binary garbage', { CONNECT: '\0\u0001\u0016\u0003' }, 'deferred', 'bad_reply', 'ill'],
  ['banner of 64 KB', { CONNECT: `220 ${'x'.repeat(65_536)}` }, 'deferred', 'bad_reply', 'ill'],
  [
    'banner of 64 KB in lines',
    { CONNECT: `${'220-x\r\n'.repeat(9_000)}220 x` },
    'deferred',
    'bad_reply',
    'ill',
  ],
  [
    'banner without end',
    { CONNECT: { reply: '220-welcome', endless: true } },
    'deferred',
    'bad_reply',
    'ill',
  ],
  ['closed before the banner', { CONNECT: CLOSED }, 'deferred', 'connection_lost', 'ill'],
  // Whether the connection counts as made by then depends on who is quicker.
  ['reset before the banner', { CONNECT: RESET }, 'deferred', /^connect/, 'ill'],
  ['4xx at connect', { CONNECT: '450 4.3.2 later' }, 'deferred', 450, 'ill'],
  ['5xx at connect', { CONNECT: '554 5.7.1 not you' }, 'deferred', 554, 'ill'],
  ['4xx at EHLO', { EHLO: '451 4.3.2 later' }, 'deferred', 451, 'ill'],
  ['5xx at EHLO and HELO', { EHLO: '550 5.7.1 no', HELO: '550 5.7.1 no' }, 'deferred', 550, 'ill'],
  ['reset at EHLO', { EHLO: RESET }, 'deferred', 'connection_lost', 'ill'],
  ['4xx at MAIL', { MAIL: '451 4.3.0 later' }, 'deferred', 451, 'message'],
  ['5xx at MAIL', { MAIL: '550 5.7.1 not this sender' }, 'rejected', 550, 'message'],
  ['421 at MAIL', { MAIL: { reply: '421 4.3.2 bye', close: 'end' } }, 'deferred', 421, 'ill'],
  ['530 at MAIL: AUTH is wanted', { MAIL: '530 5.7.0 AUTH first' }, 'deferred', 530, 'ill'],
  ['535 at MAIL: AUTH is not taken', { MAIL: '535 5.7.8 no' }, 'deferred', 535, 'ill'],
  ['4xx at RCPT (greylisting)', { RCPT: '450 4.2.0 greylisted' }, 'deferred', 450, 'message'],
  ['5xx at RCPT', { RCPT: '550 5.1.1 nobody' }, 'rejected', 550, 'message'],
  ['452 at RCPT: too many', { RCPT: '452 4.5.3 too many' }, 'deferred', 452, 'message'],
  ['552 at RCPT: too many, of old', { RCPT: '552 too many recipients' }, 'deferred', 552, 'message'],
  ['552 at RCPT: mailbox full', { RCPT: '552 5.2.2 full' }, 'rejected', 552, 'message'],
  ['reset at RCPT', { RCPT: RESET }, 'deferred', 'connection_lost', 'message'],
  ['4xx at DATA', { DATA: '451 4.3.0 later' }, 'deferred', 451, 'message'],
  ['5xx at DATA', { DATA: '554 5.7.1 no' }, 'rejected', 554, 'message'],
  ['4xx at the dot', { DOT: '452 4.3.1 full' }, 'deferred', 452, 'message'],
  ['5xx at the dot', { DOT: '554 5.6.0 bad' }, 'rejected', 554, 'message'],
  ['421 at the dot', { DOT: { reply: '421 4.3.2 bye', close: 'end' } }, 'deferred', 421, 'ill'],
  ['closed after the dot', { DOT: CLOSED }, 'unknown', 'connection_lost', 'message'],
  ['reset after the dot', { DOT: RESET }, 'unknown', 'connection_lost', 'message'],
  ['garbage after the dot', { DOT: 'thanks!' }, 'unknown', 'bad_reply', 'message'],
  ['354 after the dot', { DOT: '354 more' }, 'unknown', 'bad_reply', 'message'],
];

describe.each([
  ['DATA', SINK_EXTENSIONS],
  ['BDAT', CHUNKING],
])('by %s', (how, extensions) => {
  const rows = FAULTS.filter(([fault]) => how === 'DATA' || !/\bDATA\b/.test(fault));
  test.each(rows)('%s', async (_fault, script, kind, answer, whose) => {
    const rig = await startRig({ sink: { extensions, script } });
    const result = only(await rig.deliver({ content: LARGE }));
    expect(result).toMatchObject({ kind, hopFailed: whose === 'ill' });
    if (typeof answer === 'number') expect(result.code).toBe(answer);
    else expect(result.cause).toMatch(answer);
    // A reply that is none, or that is lost, may have been a yes.
    expect(rig.sink.taken > 0).toBe(kind === 'unknown' && answer === 'connection_lost');
  });

  test('reset in the middle of the content', async () => {
    const script = how === 'DATA' ? { CONTENT: RESET } : { CHUNK: RESET };
    const rig = await startRig({ sink: { extensions, script } });
    let asked = 0;
    // Open for the content, and for its end not before the connection is lost.
    const gate = () => (++asked === 1 ? Promise.resolve(true) : never<boolean>());
    const result = only(await rig.deliver({ content: LARGE, gate }));
    expect(result).toMatchObject({ kind: 'deferred', cause: 'connection_lost', hopFailed: false });
    expect(rig.sink.messages).toEqual([]);
  });
});

/** Silence and slowness, by a clock of our own. */
describe('time', () => {
  test.each<[string, SinkScript, number, string, string]>([
    ['silence instead of a banner', { CONNECT: HANG }, 5 * MINUTE, 'timeout_greeting', 'deferred'],
    ['silence at EHLO', { EHLO: HANG }, 5 * MINUTE, 'timeout_ehlo', 'deferred'],
    ['silence at MAIL', { MAIL: HANG }, 5 * MINUTE, 'timeout_mail', 'deferred'],
    ['silence after the dot', { DOT: HANG }, 10 * MINUTE, 'timeout_dot', 'unknown'],
  ])('%s is given up, at its time and not before', async (_fault, script, ms, cause, kind) => {
    const [verb] = Object.keys(script);
    const rig = await startRig();
    const reached = Promise.withResolvers<void>();
    const hang = () => {
      reached.resolve();
      return HANG;
    };
    rig.sink.script = { [verb ?? '']: hang };
    const delivery = rig.deliver();
    await reached.promise;
    await rig.clock.advance(ms - 1);
    expect(rig.sink.open).toBe(1);
    await rig.clock.advance(1);
    expect(only(await delivery)).toMatchObject({ kind, cause });
  });

  test('250 after 9 minutes and 50 seconds is a delivery', async () => {
    const late = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const DOT = () => {
      reached.resolve();
      return { after: late.promise, reply: '250 2.0.0 Ok: queued as late' };
    };
    const rig = await startRig({ sink: { script: { DOT } } });
    const delivery = rig.deliver();
    await reached.promise;
    await rig.clock.advance(9 * MINUTE + 50_000);
    late.resolve();
    const result = await delivery;
    expect(only(result)).toMatchObject({ kind: 'delivered', code: 250 });
    expect(result.evidence.timings.replyMs).toBe(590_000);
  });

  test.each<[string, (say: SinkAction) => SinkScript, string, string]>([
    ['the banner', (say) => ({ CONNECT: say }), 'timeout_greeting', 'deferred'],
    ['the answer to the dot', (say) => ({ DOT: say }), 'timeout_dot', 'unknown'],
  ])('%s at one byte a second does not hold us longer than silence', async (_what, script, cause, kind) => {
    const rig = await startRig();
    rig.sink.script = script({ reply: `250 ${'x'.repeat(1500)}`, drip: () => rig.clock.sleep(1000) });
    const delivery = rig.deliver();
    expect(only(await advanceUntil(rig.clock, 1000, delivery))).toMatchObject({ kind, cause });
  });

  test('a port that swallows our packets is given up after 30 seconds', async () => {
    const hole = await startBlackHole();
    onTestFinished(() => hole.close());
    const clock = new ManualClock();
    const delivery = deliver(transportTo(hole.port, clock));
    await clock.advance(29_999);
    await clock.advance(1);
    const result = await delivery;
    expect(only(result)).toMatchObject({ kind: 'deferred', cause: 'timeout_connect', hopFailed: true });
    expect(result.evidence.timings.totalMs).toBe(30_000);
  });
});

test('a port where nobody listens: it waits, and the hop is ill', async () => {
  const result = only(await deliver(transportTo(await freePort(), new ManualClock())));
  expect(result).toMatchObject({ kind: 'deferred', cause: 'connect_refused', hopFailed: true });
});

describe('the way is not as safe as it must be', () => {
  const required: RigOptions = { sink: { tls: 'starttls', certificate: good }, smtp: { tls: 'required' } };
  const STRIPPED: SinkScript = { EHLO: '250-sink.example\r\n250 PIPELINING' };
  const INJECTED: SinkScript = {
    STARTTLS: '220 2.0.0 go\r\n250-evil.example\r\n250 SIZE 1\r\n235 2.7.0 welcome\r\n250 2.1.0 taken',
  };

  test('STARTTLS stripped while it is required: nothing is said', async () => {
    const rig = await startRig({ ...required, sink: { ...required.sink, script: STRIPPED } });
    expect(only(await rig.deliver())).toMatchObject({
      kind: 'deferred',
      cause: 'tls_failed',
      hopFailed: true,
    });
    expect(rig.sink.commands.map(({ line }) => line)).toEqual(['EHLO client.example']);
  });

  test('replies injected before TLS are never read', async () => {
    const rig = await startRig({ ...required, sink: { ...required.sink, script: INJECTED } });
    const result = await rig.deliver();
    expect(only(result).kind).toBe('delivered');
    expect(JSON.stringify(result.evidence.steps)).not.toContain('evil');
    expect(rig.sink.messages).toMatchObject([{ tls: true }]);
  });

  test.each(Object.entries(bad))('a certificate that is %s: nothing is said', async (_what, certificate) => {
    const rig = await startRig({ ...required, sink: { ...required.sink, certificate } });
    expect(only(await rig.deliver())).toMatchObject({
      kind: 'deferred',
      cause: 'tls_failed',
      hopFailed: true,
    });
    expect(rig.sink.commands.some(({ line }) => line.startsWith('MAIL'))).toBe(false);
  });
});

test('one recipient taken, one told to wait, one refused: each ends as it was told', async () => {
  const answers: Record<string, string> = { later: '450 4.2.1 busy', never: '550 5.1.1 nobody' };
  const RCPT: SinkScript['RCPT'] = ({ argument }) => answers[/<(\w+)@/.exec(argument)?.[1] ?? ''];
  const rig = await startRig({ sink: { script: { RCPT } } });
  const mail: Mail = { to: ['now@x.test', 'later@x.test', 'never@x.test'] };
  const { outcomes, hopFailed } = await rig.deliver(mail);
  expect(outcomes.map(({ kind, reply }) => [kind, reply.code])).toEqual([
    ['delivered', 250],
    ['deferred', 450],
    ['rejected', 550],
  ]);
  expect(hopFailed).toBe(false);
  expect(rig.sink.messages).toMatchObject([{ to: ['now@x.test'] }]);
});

function transportTo(port: number, clock: ManualClock) {
  return createSmtpTransport({
    relay: relayTo({ port }),
    hostname: 'client.example',
    clock,
    log: silentLog,
  });
}
