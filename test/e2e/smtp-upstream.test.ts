/** Mail servers that others made relay to us (contract §10), over TLS that they verify. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import { expect, type TestContext, test, vi } from 'vitest';
import { createAuthority } from '../peers/certificate.ts';
import { EXIM_PROGRAMS, startExim } from '../peers/exim.ts';
import { startForwarder } from '../peers/forwarder.ts';
import { describeWith } from '../peers/need.ts';
import { POSTFIX_PROGRAMS } from '../peers/postfix-instance.ts';
import { startPostfixUpstream } from '../peers/postfix-upstream.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import type { Upstream, UpstreamOptions } from '../peers/upstream.ts';
import { type RelayedLetter, relayedLetters } from '../support/relayed-letters.ts';
import { type SmtpService, startSmtpService } from './smtp-service.ts';

/** Each kind of letter is among them several times. */
const LETTERS = 24;
const TIMEOUT = { timeout: 180_000 };
const DELIVERY = 'delivery: { default_relay: sink, retry_first_seconds: 1, retry_max_seconds: 1 }\n';
/** Nobody may relay for the sake of an address. */
const KEYS_ONLY = 'allowed_cidrs: ["192.0.2.1/32"]';

describeWith(POSTFIX_PROGRAMS, 'Postfix', () => {
  test.for([
    ['from an allowed address', ''],
    ['with a key', KEYS_ONLY],
  ] as const)(
    `relays ${LETTERS} letters %s, each once and byte for byte`,
    TIMEOUT,
    async ([, who], context) => {
      const log = await relaysAll(context, startPostfixUpstream, who);
      expect(log).toContain('Verified TLS connection established to localhost');
    },
  );

  test('sends nothing to a server that cannot prove its name', TIMEOUT, (context) =>
    sendsNothing(
      context,
      startPostfixUpstream,
      /status=deferred \(Server certificate not (?:trusted|verified)\)/,
    ),
  );

  test(
    'keeps what it was not told to be queued while we are killed, and nothing is lost',
    TIMEOUT,
    async (context) => {
      const { service, sink } = await world(context);
      const forwarder = await startForwarder(service.port, context);
      const nextHop = forwarder.port;
      const upstream = await startUpstream(context, startPostfixUpstream, service, { nextHop });
      const letters = relayedLetters(LETTERS);
      const handedIn = handIn(upstream, letters);
      await sink.until(() => sink.taken >= LETTERS / 10);
      await service.server.end('SIGKILL');
      await handedIn;
      expect(sink.taken).toBeLessThan(LETTERS);
      const again = await service.installation.start();
      forwarder.target = again.runtime.smtp[0] ?? 0;
      const all = async () => {
        await upstream.flush();
        expect([...new Set(arrivals(sink))].sort()).toEqual(expectedOf(letters));
      };
      await vi.waitFor(all, { timeout: 180_000, interval: 500 });
      holdContents(sink, letters, 'ESMTPS');
      expect(await again.end('SIGTERM')).toBe(0);
    },
  );

  test('a line longer than SMTP allows arrives as Postfix folds it', TIMEOUT, async (context) => {
    const { service, sink } = await world(context);
    const upstream = await startUpstream(context, startPostfixUpstream, service);
    const line = 'z'.repeat(10_000);
    const [letter] = relayedLetters(1);
    if (letter === undefined) throw new Error('there is no letter');
    const long = { ...letter, content: Buffer.concat([letter.content, Buffer.from(`${line}\r\n`)]) };
    await handIn(upstream, [long]);
    await sink.until(() => sink.taken > 0);
    const folded = line.replace(/^.{998}|.{997}/g, '$&\r\n ');
    const arrived = sink.messages[0]?.content.toString('latin1');
    expect(arrived?.endsWith(`${letter.content.toString('latin1')}${folded}\r\n`)).toBe(true);
  });
});

describeWith(EXIM_PROGRAMS, 'Exim', () => {
  test.for([
    ['from an allowed address', ''],
    ['with a key', KEYS_ONLY],
  ] as const)(
    `relays ${LETTERS} letters by BDAT %s, each once and byte for byte`,
    TIMEOUT,
    async ([, who], context) => {
      const log = await relaysAll(context, startExim, who);
      const deliveries = log.split('\n').filter((line) => / => .*queued as msg_/.test(line));
      expect(deliveries.length).toBeGreaterThanOrEqual(LETTERS);
      // Pipelined, though not before the banner (that would be `L*`), and by BDAT.
      for (const delivery of deliveries) expect(delivery).toMatch(/ L .*K /);
      // On a connection that goes on with the next letter Exim does not say again what it found at its beginning.
      const first = deliveries.filter((line) => !line.includes(']* '));
      expect(first.length).toBeGreaterThan(0);
      expect(first.length).toBeLessThan(LETTERS);
      for (const delivery of first) {
        expect(delivery).toContain(' CV=yes ');
        expect(delivery.includes(' A=plain ')).toBe(who === KEYS_ONLY);
      }
    },
  );

  test('sends nothing to a server that cannot prove its name', TIMEOUT, (context) =>
    sendsNothing(context, startExim, /certificate verification failed/),
  );
});

type Start = (options: UpstreamOptions) => Promise<Upstream>;

/** A service that delivers to a sink. */
async function world({ onTestFinished }: TestContext, listener = '') {
  const sink = await startSmtpSink();
  const relay = `{ name: sink, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }`;
  const service = await startSmtpService(listener, `${DELIVERY}relays: [${relay}]\n`);
  onTestFinished(async () => {
    await service.stop();
    await sink.close();
  });
  return { service, sink };
}

async function startUpstream(
  { onTestFinished }: TestContext,
  start: Start,
  service: SmtpService,
  options: Partial<UpstreamOptions> = {},
): Promise<Upstream> {
  const upstream = await start({ nextHop: service.port, ca: service.ca, password: null, ...options });
  onTestFinished(() => upstream.stop());
  return upstream;
}

/** Hands letters of all kinds to a mail server, and sees what comes out behind us. Returns that server's log. */
async function relaysAll(context: TestContext, start: Start, who: string): Promise<string> {
  const { service, sink } = await world(context, who);
  const isByKey = who === KEYS_ONLY;
  const password = isByKey ? (await service.createClient('upstream')).key : null;
  const upstream = await startUpstream(context, start, service, { password });
  const letters = relayedLetters(LETTERS);
  await handIn(upstream, letters);
  await upstream.flush();
  const expected = expectedOf(letters);
  await sink.until(() => sink.messages.flatMap(({ to }) => to).length >= expected.length);
  // After this nothing more can come.
  expect(await service.server.end('SIGTERM')).toBe(0);
  expect(arrivals(sink).sort()).toEqual(expected);
  holdContents(sink, letters, isByKey ? 'ESMTPSA' : 'ESMTPS');
  return upstream.log();
}

/** A mail server that trusts another root keeps its mail. */
async function sendsNothing(context: TestContext, start: Start, complaint: RegExp): Promise<void> {
  const { service, sink } = await world(context);
  const ca = join(service.installation.dataDir, 'other.pem');
  writeFileSync(ca, createAuthority('Other Root').cert);
  const upstream = await startUpstream(context, start, service, { ca });
  await handIn(upstream, relayedLetters(1));
  await upstream.flush();
  await vi.waitFor(() => expect(upstream.log()).toMatch(complaint), 30_000);
  expect(await service.server.end('SIGTERM')).toBe(0);
  expect(sink.taken).toBe(0);
}

/** Gives letters to a mail server, over several connections. */
async function handIn(upstream: Upstream, letters: readonly RelayedLetter[]): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: upstream.port, pool: true, ignoreTLS: true });
  const send = ({ from, to, content }: RelayedLetter) =>
    transport.sendMail({ envelope: { from, to: [...to], use8BitMime: true }, raw: content });
  await Promise.all(letters.map(send));
  transport.close();
}

/** What the sink must take, as `arrivals` tells it, in order. */
function expectedOf(letters: readonly RelayedLetter[]): string[] {
  return letters.flatMap(({ token, from, to }) => to.map((one) => `${token} <${from}> ${one}`)).sort();
}

/** What the sink took, an entry for each recipient: token, reverse-path, recipient. */
function arrivals(sink: SmtpSink): string[] {
  return sink.messages.flatMap(({ from, to, content }) =>
    to.map((one) => `${tokenOf(content)} ${from.split(' ')[0]} ${one}`),
  );
}

function tokenOf(content: Buffer): string {
  return /^Subject: (.*)\r$/m.exec(content.toString('latin1'))?.[1] ?? 'no token';
}

/** Nothing but two trace fields, ours and the upstream's, may have been added. */
function holdContents(sink: SmtpSink, letters: readonly RelayedLetter[], protocol: string): void {
  const digests = new Map(letters.map(({ token, content }) => [token, digest(content)]));
  const trace = /^(Received: .*\r\n(?:[ \t].*\r\n)*){2}(?=Date: )/;
  for (const { content } of sink.messages) {
    const token = tokenOf(content);
    const [added = ''] = trace.exec(content.toString('latin1')) ?? [];
    expect(added, token).toMatch(new RegExp(`^Received: [^;]* with ${protocol} id msg_\\w{26}\\b`));
    expect(digest(content.subarray(added.length)), token).toBe(digests.get(token));
  }
}

function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
