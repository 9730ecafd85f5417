/** What connections and large messages cost the real server; docs/operations.md tells how much. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { describeIf } from '../peers/need.ts';
import { AS_INSTALLED } from '../peers/server.ts';
import { SmtpClient, type SmtpClientOptions } from '../peers/smtp-client.ts';
import { times } from '../support/proof.ts';
import { type SmtpService, startSmtpService } from './smtp-service.ts';

const MIB = 1024 * 1024;
const IDLE = times('smtp_idle', 1_000);
/** Connections under TLS are measured on fewer: each costs the tests a handshake. */
const IDLE_TLS = 1000;
/** Files that this process and the server need each: a socket for each connection, and some besides. */
const FILES = IDLE + 1000;
/** How many connections are made at once. */
const AT_ONCE = 100;
/** Limits that let one machine be all clients. */
const WIDE = 'max_connections_per_source: 20000, first_contact_delay_ms: 0';
const ENVELOPE = ['MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.org>'];
const QUEUED = /^250 .*queued as msg_/;

/** What docs/operations.md tells of an idle connection, in KiB. */
const TOLD = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8').match(
  /^An idle SMTP connection costs the process about (?<clear>\d+) KiB, one under TLS about (?<tls>\d+) KiB/m,
)?.groups;
/** On another machine, with another version of Node.js, it may be so many times as much. */
const MEMORY_MARGIN = 2;
/** Garbage is collected now and then, and the server's time is counted in steps of 10 ms. */
const WORK_MARGIN = 3;
/** Messages whose cost is measured: enough to be many of those steps. */
const MEASURED = 500;

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

/** Sends small messages one after the other. */
async function sendSmall(client: SmtpClient, count: number): Promise<void> {
  for (let sent = 0; sent < count; sent++) {
    await client.askAll(...ENVELOPE, 'DATA');
    expect(await client.ask('Subject: Hello\r\n\r\nHi.\r\n.')).toMatch(QUEUED);
  }
}

/** The server's work for {@link MEASURED} messages, in ms of a processor. What it waits for the disk is not in it. */
async function workOfMessages(service: SmtpService, client: SmtpClient): Promise<number> {
  const before = workOf(service);
  await sendSmall(client, MEASURED);
  return workOf(service) - before;
}

/** Time that all threads of the server have had of a processor, in ms (proc(5): in steps of 10 ms). */
function workOf({ server }: SmtpService): number {
  const stat = readFileSync(`/proc/${server.runtime.pid}/stat`, 'latin1');
  const [user = 0, system = 0] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return (user + system) * 10;
}

/** Holds what each idle connection costs to what is told of it. */
function expectAsTold(what: string, kib: number, told: string | undefined): void {
  print(`memory per idle connection${what}: ${kib.toFixed(1)} KiB, told: ${told}`);
  expect(kib).toBeLessThan(MEMORY_MARGIN * Number(told));
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

describeIf(openFiles() >= FILES, `${FILES} open files`, 'idle connections', () => {
  // Work that others do on the machine meanwhile changes what it costs: what is so but once is given another chance.
  const terms = { timeout: 180_000, retry: 1 };
  test(
    `${IDLE} of them cost what is told, and a good client no more work`,
    terms,
    async ({ onTestFinished }) => {
      const service = await startSmtpService(WIDE, '', AS_INSTALLED);
      onTestFinished(() => service.stop());
      const good = await hello(service.port);
      // The first ones cost more, and leave the memory that work needs.
      await sendSmall(good, MEASURED);
      const alone = await workOfMessages(service, good);
      const empty = memoryOf(service, 'VmRSS');
      const idle = await connectMany(IDLE, service.port, {});
      expectAsTold('', (memoryOf(service, 'VmRSS') - empty) / IDLE / 1024, TOLD?.['clear']);
      const among = await workOfMessages(service, good);
      print(`work for ${MEASURED} messages: ${alone} ms alone, ${among} ms among ${IDLE} idle connections`);
      expect(among).toBeLessThan(WORK_MARGIN * alone);
      // Each of them is still there.
      const replies = await Promise.all(idle.map((client) => client.ask('NOOP')));
      expect(new Set(replies)).toEqual(new Set(['250 2.0.0 OK']));
    },
  );

  test(`${IDLE_TLS} of them cost what is told under TLS, too`, { timeout: 180_000 }, async ({
    onTestFinished,
  }) => {
    const service = await startSmtpService(WIDE, '', AS_INSTALLED);
    onTestFinished(() => service.stop());
    const good = await hello(service.tlsPort, { implicitTls: true });
    await sendSmall(good, MEASURED);
    const empty = memoryOf(service, 'VmRSS');
    await connectMany(IDLE_TLS, service.tlsPort, { implicitTls: true });
    expectAsTold(' under TLS', (memoryOf(service, 'VmRSS') - empty) / IDLE_TLS / 1024, TOLD?.['tls']);
    await sendSmall(good, 10);
  });
});

describe('large messages', () => {
  const SENDERS = times('smtp_uploads', 8);
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
    const service = await startSmtpService(
      WIDE,
      `limits: { max_bytes_in_flight: ${BUDGET} }\n`,
      AS_INSTALLED,
    );
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
