/**
 * Hours of mail with a fault a minute: nothing is lost, memory and open files stay what they were. Some of it comes from programs that
 * were written for providers, some comes back, and an application is told of all of it. The service is never restarted here: what a
 * restart does is the crash tests' concern.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, type TestContext, test, vi } from 'vitest';
import { Book, holdAcknowledged, holdCopies, messagesIn, readStore, untilAllIsFinal } from '../crash/book.ts';
import type { Customer } from '../crash/customer.ts';
import { DropInCustomer } from '../crash/drop-in-customer.ts';
import { HttpCustomer } from '../crash/http-customer.ts';
import { SmtpCustomer } from '../crash/smtp-customer.ts';
import { AS_INSTALLED, Installation, type RunningServer } from '../peers/server.ts';
import { startSmtpSink } from '../peers/smtp-sink.ts';
import { tell, times } from '../support/proof.ts';
import { type Application, startApplication } from './application.ts';
import { openFiles, residentMiB } from './footprint.ts';
import { HopefulCustomer, Postmaster } from './returns.ts';
import { FAULTS, type Place } from './trouble.ts';

/** A minute each; what every change must pass has shorter ones. */
const MINUTES = times('soak_minutes', 1);
/** Of a shorter one, the shares of time below would hold less than one rise and fall of memory. */
const IS_LONG = MINUTES >= 60;
/** From the beginning of a fault to that of the next, and how long one lasts. */
const EVERY_MS = IS_LONG ? 60_000 : 5_000;
/**
 * A long one begins with a service that has been used: so many letters were handed in, so many at once, and so many
 * addresses are on the suppression list. SQLite's caches and the list's filter are full then, as they would be later anyway.
 */
const EARLIER_LETTERS = IS_LONG ? 20_000 : 0;
const EARLIER_AT_ONCE = 20;
const EARLIER_ENTRIES = IS_LONG ? 5_000 : 0;
/** Before all of it each fault is there so long, or until every customer got through. */
const WARM_UP_MS = 200;
const LASTS_MS = IS_LONG ? 20_000 : 1_500;
/** A customer waits so long between its messages. */
const PAUSE_MS = 150;
const CUSTOMERS = 6;
/** Whose mail comes back pauses so long: each address of it stays on the suppression list. */
const HOPEFUL_PAUSE_MS = 1_000;
/** What is acknowledged at least: a sixth of what customers hand in who are answered at once. */
const LEAST = (CUSTOMERS * MINUTES * 60_000) / PAUSE_MS / 6;
const LOOK_EVERY_MS = 5_000;
/**
 * Of a long soak, the shares of the time whose memory is compared; before the first, caches fill. Between two collections of
 * garbage memory rises for a quarter of an hour: each share is some of these, and it is their mean that may not rise.
 */
const EARLY = [1 / 6, 1 / 2] as const;
const LATE = [2 / 3, 1] as const;
const MAX_DRIFT = 0.05;
const PATIENCE_MS = 120_000;
/** Those that are kept open for reading, and the one that is written. */
const MAX_SEGMENTS = 17;

interface Look {
  /** As a share of all the time. */
  readonly at: number;
  readonly residentMiB: number;
}

test(`${MINUTES} minutes with fault after fault: nothing is lost, memory and open files stay`, {
  timeout: MINUTES * 60_000 + 900_000,
}, async (context) => {
  const { place, book, key, customers, witnesses, hopeful, postmaster } = await begin(context);
  const { server, sink, installation, application } = place;
  const pid = server.runtime.pid;
  const earlier = await use(place, key);
  const everyone = [...customers, ...witnesses, earlier];
  // Every kind of work was done once, mail under every fault among it, before it is looked at what is open.
  for (const fault of Object.values(FAULTS))
    await Promise.all([
      fault(place, WARM_UP_MS),
      ...[...customers, ...witnesses, hopeful].map((each) => each.sendUntilAcknowledged(server)),
    ]);
  await untilAllIsFinal(server, key);
  const opened = openFiles(pid);

  const until = performance.now() + MINUTES * 60_000;
  const hopes = write(server, hopeful, until, HOPEFUL_PAUSE_MS);
  const mail = customers.map((customer) => write(server, customer, until));
  const looks = look(pid, until);
  const faults = await trouble(place, witnesses, until);
  const written = (await Promise.all(mail)).reduce((sum, count) => sum + count, 0);
  expect(written, 'acknowledged beside the faults').toBeGreaterThan(LEAST);
  await hopes;
  sink.script = {};
  await untilAllIsFinal(server, key);
  await postmaster.untilAllIsBrought();
  expect(postmaster.refused).toEqual([]);
  await untilTold(application, everyone, hopeful);
  const more = await untilQuiet(pid, opened);

  const all = await looks;
  expect(await server.end('SIGTERM')).toBe(0);
  const stored = await readStore(installation.dataDir, messagesIn);
  const acknowledged = everyone.flatMap((customer) => [...customer.acknowledged]);
  holdAcknowledged(book, stored, acknowledged);
  for (const [subject, id] of hopeful.acknowledged) {
    expect(postmaster.returned, `${id} came back`).toContain(subject);
    expect(stored.get(id)?.header.subject, `${id} was acknowledged`).toBe(subject);
  }
  const twice = holdCopies(book, stored);
  const [early, late] = [meanWithin(all, EARLY), meanWithin(all, LATE)];
  if (IS_LONG)
    expect(late, `MiB at the end; ${early} at the beginning`).toBeLessThan(early * (1 + MAX_DRIFT));
  const drift = Math.round((late / early - 1) * 1000) / 10;
  tell(
    'soak',
    {
      minutes: MINUTES,
      faults,
      acknowledged: acknowledged.length,
      lost: 0,
      'recipients reached twice': twice,
      'brought back': postmaster.returned.size,
    },
    IS_LONG
      ? {
          'MiB early': Math.round(early),
          'MiB late': Math.round(late),
          '% drift': drift,
          'open files more': more,
        }
      : {},
  );
});

async function begin(context: TestContext) {
  const [sink, application] = await Promise.all([startSmtpSink(), startApplication()]);
  const book = new Book();
  const configuration = `
api: { port: 0, rate_limit_per_key: 0, bind: ["127.0.0.1"] }
webui: { port: null }
listener: { ports: [0], bind: ["127.0.0.1"], allow_insecure_auth: true }
bounces: { domain: bounces.example.com }
webhooks: { private_urls: ["${application.url}"] }
delivery: { default_relay: out, retry_first_seconds: 1, retry_max_seconds: 5 }
relays:
  - { name: out, type: smtp, host: 127.0.0.1, port: ${sink.port}, tls: none, max_concurrency: 8, return_path: verp }
`;
  const installation = new Installation(configuration, {}, AS_INSTALLED);
  context.onTestFinished(async () => {
    installation.remove();
    application.close();
    await sink.close();
  });
  const scopes = ['send', 'read', 'read_all'].flatMap((name) => ['--scope', `messages:${name}`]);
  const { stdout } = await installation.run('keys', 'create', 'soak', '--ses', ...scopes);
  const [key = ''] = /\bwb_live_\w+/.exec(stdout) ?? [];
  const [, accessKeyId = ''] = /AWS_ACCESS_KEY_ID=(\S+)/.exec(stdout) ?? [];
  const [, secret = ''] = /AWS_SECRET_ACCESS_KEY=(\S+)/.exec(stdout) ?? [];
  const server = await installation.start();
  const added = await installation.run('webhooks', 'add', application.url);
  expect(added.code, added.stderr).toBe(0);
  const postmaster = new Postmaster(server, context);
  void book.followForHours('sink', sink, (message) => postmaster.sees(message));
  const customersByWays = (): Customer<unknown>[] => [
    new HttpCustomer(key),
    new SmtpCustomer(key, context),
    new DropInCustomer({ key, accessKeyId, secret }),
  ];
  return {
    place: { installation, server, sink, application, configuration } satisfies Place,
    book,
    key,
    customers: Array.from({ length: CUSTOMERS / 3 }, customersByWays).flat(),
    /** Those who look whether a fault is over, one by each way. */
    witnesses: customersByWays(),
    hopeful: new HopefulCustomer(key),
    postmaster,
  };
}

/** Uses a service as it would have been used for a while. Returns who wrote. */
async function use({ installation, server }: Place, key: string): Promise<Customer<unknown>> {
  const earlier = new HttpCustomer(key);
  if (EARLIER_ENTRIES > 0) {
    const file = join(installation.dataDir, 'earlier.csv');
    const addresses = Array.from({ length: EARLIER_ENTRIES }, (_, nth) => `left-${nth}@example.org`);
    writeFileSync(file, ['address', ...addresses].join('\n'));
    const { code, stderr } = await installation.run('suppressions', 'import', file);
    expect(code, stderr).toBe(0);
    rmSync(file);
  }
  const client = async () => {
    while (earlier.acknowledged.size < EARLIER_LETTERS) await earlier.send(server);
  };
  await Promise.all(Array.from({ length: EARLIER_AT_ONCE }, client));
  return earlier;
}

/** Sends at a steady pace; how many were acknowledged. What is not answered, or refused, counts for nothing. */
async function write(
  server: RunningServer,
  customer: Customer<unknown>,
  until: number,
  pauseMs = PAUSE_MS,
): Promise<number> {
  const before = customer.acknowledged.size;
  while (performance.now() < until) {
    await customer.send(server).catch(() => null);
    await pause(pauseMs);
  }
  return customer.acknowledged.size - before;
}

/** One fault after the other; how many there were. After each, witnesses must get through. */
async function trouble(
  place: Place,
  witnesses: readonly Customer<unknown>[],
  until: number,
): Promise<number> {
  const faults = Object.entries(FAULTS);
  let count = 0;
  for (; performance.now() + LASTS_MS < until; count++) {
    const begun = performance.now();
    const [name, fault] = faults[count % faults.length] ?? [];
    process.stdout.write(`soak: ${name}\n`);
    await fault?.(place, LASTS_MS);
    for (const witness of witnesses) await witness.sendUntilAcknowledged(place.server);
    await pause(Math.max(0, Math.min(begun + EVERY_MS, until) - performance.now()));
  }
  return count;
}

/**
 * Waits until an application has heard of every letter that was delivered, and of those that came back. Who complains of a
 * letter whose delivery ended in the dark gets no second copy: it is told that this one is suppressed.
 */
async function untilTold(
  { delivered, suppressed, returned }: Application,
  everyone: readonly Customer<unknown>[],
  hopeful: Customer<unknown>,
): Promise<void> {
  const untold = (customers: readonly Customer<unknown>[], told: ReadonlySet<string>) =>
    customers.flatMap(({ acknowledged }) => [...acknowledged.values()].filter((id) => !told.has(id)));
  await vi.waitFor(
    () => {
      expect(untold(everyone, delivered), 'told that it was delivered').toEqual([]);
      const ended = new Set([...delivered, ...suppressed]);
      expect(untold([hopeful], ended), 'told how its delivery ended').toEqual([]);
      expect(untold([hopeful], returned), 'told that it came back').toEqual([]);
    },
    { timeout: PATIENCE_MS, interval: 500 },
  );
}

async function look(pid: number, until: number): Promise<Look[]> {
  const begun = performance.now();
  const looks: Look[] = [];
  while (performance.now() < until) {
    looks.push({ at: (performance.now() - begun) / (until - begun), residentMiB: residentMiB(pid) });
    await pause(LOOK_EVERY_MS);
  }
  return looks;
}

function meanWithin(looks: readonly Look[], [from, to]: readonly [number, number]): number {
  const within = looks.filter(({ at }) => at >= from && at <= to);
  return within.reduce((sum, each) => sum + each.residentMiB, 0) / within.length;
}

/**
 * Waits until there are no more files and connections open than before; how many more there are then. Of segments, those stay open
 * that were read last: they may become more, up to a limit, and are not counted.
 */
async function untilQuiet(pid: number, before: ReadonlyMap<string, number>): Promise<number> {
  const old = kindsOf(before);
  return await vi.waitFor(
    () => {
      const open = kindsOf(openFiles(pid));
      expect(sum(open.segments)).toBeLessThanOrEqual(MAX_SEGMENTS);
      expect(open.others).toEqual(old.others);
      expect(sum(open.sockets)).toBeLessThanOrEqual(sum(old.sockets));
      return sum(open.others) + sum(open.sockets) - sum(old.others) - sum(old.sockets);
    },
    { timeout: PATIENCE_MS, interval: 500 },
  );
}

/** What is open, by what it is, and how often. */
function kindsOf(open: ReadonlyMap<string, number>) {
  const { sockets, segments, others } = Object.groupBy(open, ([path]) =>
    path === 'socket' ? 'sockets' : path.endsWith('.seg') ? 'segments' : 'others',
  );
  return {
    sockets: Object.fromEntries(sockets ?? []),
    segments: Object.fromEntries(segments ?? []),
    others: Object.fromEntries(others ?? []),
  };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}
