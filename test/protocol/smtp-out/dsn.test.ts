/** RFC 3461 on the way out: what was asked for is passed on to who can report, and nobody else. */
import { expect, test } from 'vitest';
import type { Envelope } from '../../../src/domain/message.ts';
import { SINK_EXTENSIONS } from '../../peers/smtp-sink-script.ts';
import { type Rig, startRig } from './rig.ts';

const WITH_DSN = [...SINK_EXTENSIONS.filter((word) => !word.startsWith('SIZE')), 'DSN'];
const ASKED = {
  ret: 'HDRS',
  envid: 'QQ314159+2B',
  dsn: { notify: 'SUCCESS,FAILURE', orcpt: 'rfc822;Bob+2BSmith@Example.COM' },
} as const;

const envelope = (rig: Rig) =>
  rig.sink.commands.map(({ line }) => line).filter((line) => /^(MAIL|RCPT)/.test(line));

test('RET, ENVID, NOTIFY and ORCPT go along as they were given, and the hop has taken over reporting', async () => {
  const rig = await startRig({ sink: { extensions: WITH_DSN } });
  const { outcomes } = await rig.deliver(ASKED);
  expect(outcomes).toMatchObject([{ kind: 'delivered', dsnPassed: true }]);
  expect(envelope(rig)).toEqual([
    'MAIL FROM:<sender@example.org> RET=HDRS ENVID=QQ314159+2B',
    'RCPT TO:<one@example.net> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;Bob+2BSmith@Example.COM',
  ]);
});

test('without DSN none of it is said, and it stays with us', async () => {
  const rig = await startRig({ sink: { extensions: [] } });
  const { outcomes } = await rig.deliver(ASKED);
  expect(outcomes).toMatchObject([{ kind: 'delivered', dsnPassed: false }]);
  expect(envelope(rig)).toEqual(['MAIL FROM:<sender@example.org>', 'RCPT TO:<one@example.net>']);
});

test.each([
  ['reports are asked for', 'DELAY', ' NOTIFY=DELAY ORCPT=rfc822;a+2Bb+3Dc@example.net'],
  ['none are wanted', 'NEVER', ' NOTIFY=NEVER'],
  ['nobody asked', null, ''],
])(
  'where %s and no ORCPT was given, the address is added only if it will be needed',
  async (_what, notify, added) => {
    const rig = await startRig({ sink: { extensions: WITH_DSN } });
    const { outcomes } = await rig.deliver({ to: ['a+b=c@example.net'], dsn: { notify, orcpt: null } });
    expect(outcomes).toMatchObject([{ dsnPassed: true }]);
    expect(envelope(rig).at(-1)).toBe(`RCPT TO:<a+b=c@example.net>${added}`);
  },
);

test('an ORCPT that is not ASCII is escaped where SMTPUTF8 is not in use (RFC 6533)', async () => {
  const rig = await startRig({ sink: { extensions: WITH_DSN } });
  const dsn = { notify: null, orcpt: 'utf-8;jürgen@x.test' };
  await rig.deliver({ dsn });
  expect(envelope(rig).at(-1)).toBe('RCPT TO:<one@example.net> ORCPT=utf-8;j\\x{FC}rgen@x.test');
  await rig.deliver({ dsn, to: ['jürgen@example.net'] });
  expect(envelope(rig).at(-1)).toBe('RCPT TO:<jürgen@example.net> ORCPT=utf-8;jürgen@x.test');
});

const INJECTED = 'x\r\nRCPT TO:<evil@x.test>';
test.each<[string, Partial<Envelope> & { dsn?: { notify: string | null; orcpt: string | null } }]>([
  ['ENVID', { envid: INJECTED }],
  ['ENVID with a blank', { envid: 'a SMTPUTF8' }],
  ['NOTIFY', { dsn: { notify: INJECTED, orcpt: null } }],
  ['NOTIFY with a blank', { dsn: { notify: 'NEVER ORCPT=rfc822;x', orcpt: null } }],
  ['ORCPT', { dsn: { notify: null, orcpt: `rfc822;${INJECTED}` } }],
  ['ORCPT with C1 controls', { dsn: { notify: null, orcpt: 'rfc822;x\u0085y' } }],
  ['ORCPT that is too long', { dsn: { notify: null, orcpt: `rfc822;${'x'.repeat(500)}` } }],
])('a stored %s that cannot be written is left out, and injects nothing', async (_what, asked) => {
  const rig = await startRig({ sink: { extensions: WITH_DSN } });
  const { outcomes } = await rig.deliver(asked);
  expect(outcomes).toMatchObject([{ kind: 'delivered' }]);
  expect(envelope(rig)).toEqual(['MAIL FROM:<sender@example.org>', 'RCPT TO:<one@example.net>']);
});
