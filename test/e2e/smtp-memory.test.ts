/** What connections and large messages cost the real server in memory; the figures are in docs/operations.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { describeIf } from '../peers/need.ts';
import { SmtpClient, type SmtpClientOptions } from '../peers/smtp-client.ts';
import { type SmtpService, startSmtpService } from './smtp-service.ts';

const MIB = 1024 * 1024;
const IDLE = 10_000;
/** Connections under TLS are measured on fewer: each costs the tests a handshake. */
const IDLE_TLS = 1000;
/** Files that this process and the server need each: a socket for each connection, and some besides. */
const FILES = IDLE + 1000;
/** How many connections are made at once. */
const AT_ONCE = 100;
/** Limits that let one machine be all clients. */
const WIDE = 'max_connections_per_source: 20000';
const ENVELOPE = ['MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.org>'];
const QUEUED = /^250 .*queued as msg_/;

/** Open files that a process may have. Node.js takes all that it may get, here as in the server. */
function openFiles(): number {
  return Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 0);
}

/** A figure of the server's memory, in bytes (proc(5)). */
function memoryOf({ server }: SmtpService, figure: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${server.runtime.pid}/status`, 'utf8');
  return Number(new RegExp(`^${figure}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
}

/** Lets the peak of the server's memory begin anew. */
function forgetPeak({ server }: SmtpService): void {
  writeFileSync(`/proc/${server.runtime.pid}/clear_refs`, '5');
}

async function hello(port: number, options: SmtpClientOptions = {}): Promise<SmtpClient> {
  const client = await SmtpClient.connect(port, options);
  expect(await client.reply()).toMatch(/^220 /);
  expect(await client.ask('EHLO client.test')).toMatch(/^250-/);
  return client;
}

async function connectMany(count: number, port: number, options: SmtpClientOptions): Promise<SmtpClient[]> {
  const clients: SmtpClient[] = [];
  while (clients.length < count)
    clients.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => hello(port, options)))));
  return clients;
}

/** Sends small messages one after the other; milliseconds each took. */
async function sendSmall(client: SmtpClient, count: number): Promise<number> {
  const begun = performance.now();
  for (let sent = 0; sent < count; sent++) {
    await client.askAll(...ENVELOPE, 'DATA');
    expect(await client.ask('Subject: Hello\r\n\r\nHi.\r\n.')).toMatch(QUEUED);
  }
  return (performance.now() - begun) / count;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

describeIf(openFiles() >= FILES, `${FILES} open files`, 'idle connections', () => {
  test(`${IDLE} of them keep a good client from nothing`, { timeout: 180_000 }, async ({
    onTestFinished,
  }) => {
    const service = await startSmtpService(WIDE);
    onTestFinished(() => service.stop());
    const before = await hello(service.port);
    const alone = await sendSmall(before, 200);
    const empty = memoryOf(service, 'VmRSS');
    const idle = await connectMany(IDLE, service.port, {});
    const full = memoryOf(service, 'VmRSS');
    const good = await hello(service.port);
    const among = await sendSmall(good, 200);
    print(`memory per idle connection: ${((full - empty) / IDLE / 1024).toFixed(1)} KiB`);
    print(`one message: ${alone.toFixed(2)} ms alone, ${among.toFixed(2)} ms among ${IDLE} idle connections`);
    // Each of them is still there.
    const replies = await Promise.all(idle.map((client) => client.ask('NOOP')));
    expect(new Set(replies)).toEqual(new Set(['250 2.0.0 OK']));
  });

  test(`${IDLE_TLS} of them under TLS, too`, { timeout: 180_000 }, async ({ onTestFinished }) => {
    const service = await startSmtpService(WIDE);
    onTestFinished(() => service.stop());
    await sendSmall(await hello(service.port), 200);
    const empty = memoryOf(service, 'VmRSS');
    await connectMany(IDLE_TLS, service.tlsPort, { implicitTls: true });
    const full = memoryOf(service, 'VmRSS');
    print(`memory per idle connection under TLS: ${((full - empty) / IDLE_TLS / 1024).toFixed(1)} KiB`);
    expect(await sendSmall(await hello(service.tlsPort, { implicitTls: true }), 100)).toBeGreaterThan(0);
  });
});

describe('large messages', () => {
  const SENDERS = 100;
  const BYTES = 25_000_000;
  const BUDGET = 128 * MIB;
  /** Beside the budget: what sockets have read and nobody has taken, what the spool writes, garbage for a while. */
  const ALLOWANCE = 128 * MIB;
  /** 452: there was no room within a minute, on a slow machine. */
  const AGAIN = /^452 4\.3\.1 /;

  /** A message of that size, its end included, in pieces that a client would write. */
  const CONTENT = Buffer.from(
    `Subject: large\r\n\r\n${`${'x'.repeat(998)}\r\n`.repeat(Math.ceil(BYTES / 1000))}.\r\n`,
  );

  test(`${SENDERS} connections that send 25 MB each stay within the budget, and none is lost`, {
    timeout: 300_000,
  }, async ({ onTestFinished }) => {
    const service = await startSmtpService(WIDE, `limits: { max_bytes_in_flight: ${BUDGET} }\n`);
    onTestFinished(() => service.stop());
    const clients = await Promise.all(Array.from({ length: SENDERS }, () => hello(service.port)));
    await sendSmall(clients[0] ?? (await hello(service.port)), 200);
    const before = memoryOf(service, 'VmRSS');
    forgetPeak(service);
    const begun = performance.now();
    let refused = 0;
    const send = async (client: SmtpClient, place: number): Promise<string> => {
      const [mail = '', rcpt = ''] = ENVELOPE;
      // Half of them say how much will come.
      const size = place % 2 === 0 ? ` SIZE=${CONTENT.length}` : '';
      let [, , reply = ''] = await client.askAll(`${mail}${size}`, rcpt, 'DATA');
      if (reply.startsWith('354 ')) {
        client.write(CONTENT);
        reply = await client.reply();
      }
      if (!AGAIN.test(reply)) return reply;
      refused += 1;
      await client.ask('RSET');
      return await send(client, place);
    };
    const replies = await Promise.all(clients.map(send));
    const seconds = (performance.now() - begun) / 1000;
    const grown = memoryOf(service, 'VmHWM') - before;
    print(
      `${SENDERS} messages of 25 MB: ${seconds.toFixed(0)} s, memory grew by ${Math.round(grown / MIB)} MiB at most, ${refused} came again`,
    );
    expect(replies.filter((reply) => !QUEUED.test(reply))).toEqual([]);
    let kept = 0;
    for await (const { sizeBytes } of service.reader.api.list({ all: true }))
      if (sizeBytes > BYTES) kept += 1;
    expect(kept).toBe(SENDERS);
    expect(grown).toBeLessThan(BUDGET + ALLOWANCE);
  });
});
