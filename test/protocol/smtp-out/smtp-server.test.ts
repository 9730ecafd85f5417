/** The same transport against somebody else's server: the `smtp-server` package. */
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../../src/lib/clock.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { createSmtpTransport } from '../../../src/transport/smtp/smtp.ts';
import { createCertificate } from '../../peers/certificate.ts';
import { deliver, kinds, relayTo } from './rig.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

test.each(['required', 'implicit'] as const)('%s TLS, AUTH, refusals, dots and reuse', async (tls) => {
  const received: string[] = [];
  const { transport } = await start(tls, {
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        received.push(Buffer.concat(chunks).toString());
        done(null, 'Ok: queued as peer-1');
      });
    },
  });
  const content = 'Subject: dots\r\n\r\n.\r\n..two\r\nend\r\n';
  const mail = { to: ['a@x.test', 'refused@x.test', 'b@x.test'], content, flags: { dotStuffing: true } };
  const first = await deliver(transport, mail);
  expect(kinds(first)).toEqual(['delivered', 'rejected', 'delivered']);
  expect(first.outcomes[0]).toMatchObject({ providerMessageId: 'peer-1' });
  const second = await deliver(transport, mail);
  expect(second.evidence.reused).toBe(true);
  expect(received).toEqual([content, content]);
});

test('a large message in many chunks arrives whole', async () => {
  let size = 0;
  const { transport } = await start('required', {
    onData: (stream, _session, done) => {
      stream.on('data', (chunk: Buffer) => {
        size += chunk.length;
      });
      stream.on('end', () => done());
    },
  });
  const line = Buffer.from(`${'x'.repeat(76)}\r\n`);
  const content = Array.from({ length: 40 }, () => Buffer.concat(Array(1000).fill(line)));
  expect(kinds(await deliver(transport, { content }))).toEqual(['delivered']);
  expect(size).toBe(40 * 1000 * 78);
});

async function start(tls: 'required' | 'implicit', options: SMTPServerOptions) {
  const server = new SMTPServer({
    ...createCertificate({ hosts: ['127.0.0.1'] }),
    secure: tls === 'implicit',
    onAuth: ({ username, password }, _session, done) =>
      username === 'u' && password === 'p' ? done(null, { user: 'u' }) : done(new Error('wrong')),
    onRcptTo: ({ address }, _session, done) =>
      done(address.startsWith('refused') ? Object.assign(new Error('no'), { responseCode: 550 }) : null),
    ...options,
  });
  const port = await new Promise<number>((resolve) => {
    const listener = server.listen(0, '127.0.0.1', () => {
      const address = listener.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  const transport = createSmtpTransport({
    relay: relayTo({ port, tls, verify: false, username: 'u', password: 'p' }),
    hostname: 'client.example',
    clock: systemClock,
    log: silentLog,
  });
  closers.push(
    () => transport.close(),
    () => new Promise<void>((resolve) => server.close(() => resolve())),
  );
  return { transport };
}
