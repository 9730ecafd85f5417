/** What an attempt leaves behind: where it went, how safely, where its time went, and what was said. */
import { setDefaultCACertificates } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { createAuthority, createCertificate } from '../../peers/certificate.ts';
import { SINK_EXTENSIONS } from '../../peers/smtp-sink-script.ts';
import { kinds, linesOf, startRig } from './rig.ts';

const authority = createAuthority();
const certificate = createCertificate({ hosts: ['127.0.0.1'], issuer: authority });
const LARGE = [Buffer.from('Subject: large\r\n\r\n'), linesOf(300_000)];

beforeAll(() => setDefaultCACertificates([authority.cert]));

describe.each([
  ['DATA', SINK_EXTENSIONS],
  ['DATA, one command at a time', SINK_EXTENSIONS.filter((word) => word !== 'PIPELINING')],
  ['BDAT', [...SINK_EXTENSIONS, 'CHUNKING']],
])('by %s', (_how, extensions) => {
  test('each stretch of an attempt has its own time', async () => {
    const rig = await startRig({ sink: { extensions } });
    rig.sink.script = {
      RCPT: () => ({ after: rig.clock.advance(30), reply: '250 2.1.5 ok' }),
      DOT: () => ({ after: rig.clock.advance(4000), reply: '250 2.0.0 ok' }),
    };
    const gate = async () => {
      await rig.clock.advance(200);
      return true;
    };
    const { evidence } = await rig.deliver({ to: ['a@x.test', 'b@x.test'], gate });
    expect(evidence.timings).toMatchObject({ mailMs: 60, transferMs: 200, replyMs: 4000, queueMs: null });
    expect(evidence.timings.totalMs).toBe(4260);
  });

  test('what did not happen has no time', async () => {
    const rig = await startRig({ sink: { extensions, script: { RCPT: '550 5.1.1 no' } } });
    const { evidence } = await rig.deliver();
    expect(evidence.timings).toMatchObject({ mailMs: 0, transferMs: null, replyMs: null });
  });

  test('nothing of the content is in the steps, whatever its size', async () => {
    const rig = await startRig({ sink: { extensions } });
    for (const content of [[Buffer.from('Subject: secret-word\r\n\r\nsecret-word\r\n')], LARGE]) {
      const result = await rig.deliver({ content });
      expect(kinds(result)).toEqual(['delivered']);
      expect(JSON.stringify(result.evidence)).not.toMatch(/secret-word|xxxx/);
    }
  });
});

test('both ends of the connection and its security are told, on a reused one too', async () => {
  const rig = await startRig({ sink: { tls: 'starttls', certificate }, smtp: { tls: 'required' } });
  for (const reused of [false, true]) {
    const { evidence } = await rig.deliver();
    expect(evidence).toMatchObject({
      reused,
      host: '127.0.0.1',
      address: '127.0.0.1',
      localAddress: '127.0.0.1',
      tls: expect.stringMatching(/^TLSv1\.3 /),
      security: { verdict: 'verified' },
    });
  }
});

test('a thousand recipients leave the first steps, the last ones, and how many are missing', async () => {
  const rig = await startRig();
  const to = Array.from({ length: 1000 }, (_, index) => `r${index}@x.test`);
  const { evidence } = await rig.deliver({ to });
  expect(evidence.steps.length).toBeLessThanOrEqual(20);
  expect(evidence.steps.slice(0, 4).map(({ verb }) => verb)).toEqual(['CONNECT', 'GREETING', 'EHLO', 'MAIL']);
  expect(evidence.steps.slice(-3).map(({ verb }) => verb)).toEqual(['RCPT', 'DATA', 'DOT']);
  expect(evidence.steps.find(({ verb }) => verb === '…')?.reply).toMatch(/^9\d\d more$/);
});
