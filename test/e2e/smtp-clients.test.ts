/** Mail programs in use hand their letters in (contract §10): each the way its manual says, TLS verified. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StatusRecord } from '../../src/client/types.ts';
import { createAuthority } from '../peers/certificate.ts';
import { type Handed, MAIL_CLIENTS, type MailClient, type Way } from '../peers/mail-clients.ts';
import { describeWith } from '../peers/need.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { wrongKey } from '../support/wrong-key.ts';
import type { Client } from './service.ts';
import { queuedId, type SmtpService, startSmtpService, withoutReceived } from './smtp-service.ts';

/** Everybody is a stranger; what has a live key goes to a sink. */
let service: SmtpService;
let sink: SmtpSink;
let live: Client;
let captured: Client;
let otherRoot: string;

beforeAll(async () => {
  sink = await startSmtpSink();
  const relay = `relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]`;
  service = await startSmtpService(
    'allowed_cidrs: ["192.0.2.1/32"]',
    `delivery: { default_relay: out }\n${relay}\n`,
  );
  live = await service.createClient('live');
  captured = await service.createClient('test', '--test');
  otherRoot = join(service.installation.dataDir, 'other.pem');
  writeFileSync(otherRoot, createAuthority('Other Root').cert);
}, 60_000);
afterAll(async () => {
  await service.stop();
  await sink.close();
});

/** One of each program. */
const PROGRAMS = MAIL_CLIENTS.filter(
  ({ programs }, at) => MAIL_CLIENTS.findIndex((other) => other.programs[0] === programs[0]) === at,
);

let recipients = 0;

/** Lets a program hand in a letter to a recipient of its own. */
function hand(client: MailClient, way: Way, key: string, to = service, ca = to.ca): Promise<Handed> {
  const port = way.tls === 'implicit' ? to.tlsPort : to.port;
  return client.send({ ...way, port, ca, key, recipient: `to${++recipients}@example.net` });
}

/** What the sink has taken for a message's recipient. */
async function arrived({ to }: StatusRecord): Promise<Buffer> {
  const find = () => sink.messages.find((message) => message.to[0] === to[0]);
  await sink.until(() => find() !== undefined);
  return find()?.content ?? Buffer.alloc(0);
}

const protocolOf = ({ tls, auth }: Way) => `ESMTP${tls === 'none' ? '' : 'S'}${auth === null ? '' : 'A'}`;
const named = (way: Way) => [`${way.tls}, ${way.auth ?? 'without AUTH'}`, way] as const;

for (const client of MAIL_CLIENTS)
  describeWith(client.programs, client.name, () => {
    const authenticated = client.ways.filter(({ auth }) => auth !== null);
    const [first] = authenticated;

    test.each(authenticated.map(named))('%s: arrives as it was sent', async (_, way) => {
      const { ok, transcript, sent } = await hand(client, way, live.key);
      expect(ok, transcript).toBe(true);
      const record = await service.accepted(transcript, live);
      expect(record).toMatchObject({ source: 'smtp', from: expect.stringContaining('shop@example.com') });
      const content = await arrived(record);
      expect(withoutReceived(content).toString('latin1')).toBe(sent.toString('latin1'));
      expect(sent.length).toBeGreaterThan(300);
      expect(content.toString('latin1')).toContain(`with ${protocolOf(way)} id ${record.id}`);
      expect(await live.end(record.id)).toMatchObject({ status: 'delivered', relay: 'out' });
    });

    if (first === undefined) return;

    test('with a test key: is captured, and the same bytes are kept', async () => {
      const { transcript, sent } = await hand(client, first, captured.key);
      const id = queuedId(transcript);
      const record = await captured.end(id);
      expect(record).toMatchObject({ status: 'delivered', outcome: 'captured', to: [expect.any(String)] });
      expect(withoutReceived(await service.content(id)).toString('latin1')).toBe(sent.toString('latin1'));
      expect(sink.messages.filter(({ to }) => to[0] === record.to[0])).toEqual([]);
    });

    test('sends nothing to a server that cannot prove its name', async () => {
      const { ok, transcript } = await hand(client, first, live.key, service, otherRoot);
      expect(ok).toBe(false);
      expect(transcript).not.toContain('queued as');
    });
  });

// At once, for each failure of a source waits longer than the one before.
describe.concurrent('with a wrong key', { timeout: 180_000 }, () => {
  for (const client of PROGRAMS)
    describeWith(client.programs, client.name, () => {
      test('is told so, and sends nothing', async () => {
        const way = { tls: 'starttls', auth: 'PLAIN' } as const;
        const { ok, transcript } = await hand(client, way, wrongKey(live.key));
        expect(ok).toBe(false);
        expect(transcript).toMatch(/\b535\b/);
        expect(transcript).not.toContain('queued as');
      });
    });
});

describe('without a key', () => {
  let open: SmtpService;
  beforeAll(async () => {
    open = await startSmtpService();
  });
  afterAll(() => open.stop());

  const clients = MAIL_CLIENTS.flatMap((client) => {
    const way = client.ways.find(({ auth }) => auth === null);
    return way === undefined ? [] : [{ client, way }];
  });
  for (const { client, way } of clients)
    describeWith(client.programs, client.name, () => {
      test('may send from an allowed address', async () => {
        const { ok, transcript, sent } = await hand(client, way, '', open);
        expect(ok, transcript).toBe(true);
        const { id } = await open.accepted(transcript);
        const content = await open.content(id);
        expect(withoutReceived(content).toString('latin1')).toBe(sent.toString('latin1'));
        expect(content.toString('latin1')).toMatch(new RegExp(`with E?SMTP id ${id}`));
      });

      test('is refused from any other, and told what to do', async () => {
        const { ok, transcript } = await hand(client, way, '');
        expect(ok).toBe(false);
        expect(transcript).toMatch(/5\d\d[ -]5\.7\.1 .*listener\.allowed_cidrs/);
        expect(transcript).not.toContain('queued as');
      });
    });
});
