/** A server whose machine is about to fail, and what its customers are told then (contract §15). */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, type TestContext } from 'vitest';
import { Installation, type RunningServer } from '../peers/server.ts';
import { type SmtpSink, startSmtpSink } from '../peers/smtp-sink.ts';
import { type Customer, healthOf, untilHealthy } from './customer.ts';
import { type HttpAnswer, HttpCustomer } from './http-customer.ts';
import { SmtpCustomer } from './smtp-customer.ts';

/** Ways in. */
export const WAYS = ['HTTP', 'SMTP'] as const;
export type Way = (typeof WAYS)[number];
/** What a customer of either is told. */
export type Answer = HttpAnswer | string;

/** A sink, an installation that delivers to it, and a customer; gone when the test ends. */
export async function world(context: TestContext, way: Way, mount: (folder: string) => void = () => {}) {
  const sink = await startSmtpSink();
  const installation = new Installation('');
  context.onTestFinished(async () => {
    installation.remove();
    await sink.close();
  });
  mount(installation.dataDir);
  installation.configure(configuration(sink));
  const key = (await installation.run('keys', 'create', 'shop', '--quiet')).stdout.trim();
  const newCustomer = (): Customer<Answer> =>
    way === 'HTTP' ? new HttpCustomer(key) : new SmtpCustomer(key, context);
  return { sink, installation, customer: newCustomer(), newCustomer };
}

/** Its settings, on free ports; mail goes to the sink. */
export function configuration(sink: SmtpSink): string {
  return `
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [0], bind: ["127.0.0.1"], allow_insecure_auth: true }
health: { disk_critical_bytes: 0, disk_low_bytes: 0 }
delivery: { default_relay: sink, retry_first_seconds: 1, retry_max_seconds: 1 }
relays: [{ name: sink, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none }]
`;
}

/** Sends until there is no room, then lets go of some, and sees that all goes on by itself. */
export async function suspendsAndResumes(
  server: RunningServer,
  customer: Customer<Answer>,
  sink: SmtpSink,
  makeRoom: () => void | Promise<void>,
): Promise<void> {
  const refused = await customer.sendUntilRefused(server);
  expectRefusal(refused, FULL, server.output);
  const noRoom = expect.objectContaining({ name: 'room', status: 'critical' });
  expect(await healthOf(server)).toMatchObject({ httpStatus: 503, checks: expect.arrayContaining([noRoom]) });
  await makeRoom();
  await customer.sendUntilAcknowledged(server);
  await untilHealthy(server);
  await customer.untilDelivered(sink);
}

/** Replies of SMTP while nothing is taken any more, AUTH's among them. */
export const STOPPED = /^(?:421 4\.3\.[02]|454 4\.7\.0) /;
/** The same while there is no room. */
export const FULL = /^452 4\.3\.1 /;

/** An answer that refuses for now: a 503 that says when to come back, or such a reply. Where it is another, `told` is shown. */
export function expectRefusal(answer: Answer, reply: RegExp, told = ''): void {
  if (typeof answer === 'string') {
    expect(answer, told).toMatch(reply);
    return;
  }
  const { status, headers, body } = answer;
  expect(status).toBe(503);
  expect(headers.get('Content-Type')).toBe('application/problem+json');
  expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
  if (reply === FULL) expect(body['code'], told).toBe('disk_full');
}

/** Each case once for HTTP and once for SMTP. */
export function overEachWay<T>(cases: readonly (readonly [string, T])[]): (readonly [string, Way, T])[] {
  return cases.flatMap(([name, fault]) => WAYS.map((way) => [name, way, fault] as const));
}

/** Whether this process may mount: it is root's, and no container forbids it. */
export function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-mount-'));
  try {
    mountSmallDisk(folder);
    execFileSync('umount', [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(folder);
  }
}

/** Mounts a disk of 8 MiB, for its owner alone. */
export function mountSmallDisk(folder: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m,mode=0700', 'tmpfs', folder], { stdio: 'ignore' });
}
