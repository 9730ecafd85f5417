import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Latencies } from './latencies.ts';
import type { LoadReport } from './load-report.ts';
import { SmtpSession } from './smtp-session.ts';

/**
 * The load over SMTP where `smtp-source` will not do: over TLS, or as one client among many whose latencies are
 * measured. Goes on for a time, until a number is reached, or until SIGTERM; prints `started`, and a {@link LoadReport}. A latency
 * begins with MAIL, or where every message has a connection of its own, with that.
 */

const { values } = parseArgs({
  options: {
    port: { type: 'string' },
    sessions: { type: 'string', default: '1' },
    bytes: { type: 'string', default: '5120' },
    tls: { type: 'boolean', default: false },
    single: { type: 'boolean', default: false },
    pause: { type: 'string', default: '0' },
    messages: { type: 'string', default: 'Infinity' },
  },
});

const FROM = 'sender@example.com';
const TO = 'recipient@example.net';
const server = { port: Number(values.port), tls: values.tls };
const pauseMs = Number(values.pause);
const limit = Number(values.messages);
let ended = false;
process.once('SIGTERM', () => {
  ended = true;
});
process.stdout.write('started\n');

function content(bytes: number): Buffer {
  const header = `From: <${FROM}>\r\nTo: <${TO}>\r\nSubject: A message to measure with\r\n\r\n`;
  const line = `${'x'.repeat(74)}\r\n`;
  return Buffer.from(`${header}${line.repeat(Math.ceil((bytes - header.length) / line.length))}.\r\n`);
}

async function run(): Promise<LoadReport> {
  const latencies = new Latencies();
  const message = content(Number(values.bytes));
  const begin = performance.now();
  let sent = 0;
  const one = async (): Promise<void> => {
    let session = values.single ? null : await SmtpSession.open(server);
    while (!ended && sent < limit) {
      sent++;
      const before = performance.now();
      session ??= await SmtpSession.open(server);
      await session.send(FROM, TO, message);
      latencies.add(performance.now() - before);
      if (values.single) {
        await session.close();
        session = null;
      }
      if (pauseMs > 0) await sleep(pauseMs);
    }
    await session?.close();
  };
  await Promise.all(Array.from({ length: Number(values.sessions) }, one));
  const seconds = (performance.now() - begin) / 1000;
  return { accepted: sent, refused: {}, seconds, ...latencies.summary() };
}

process.stdout.write(`${JSON.stringify(await run())}\n`);
