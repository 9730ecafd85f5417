/** Connections that only cost: they keep nobody from being served, stay within the memory that is told, and end. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeIf } from '../peers/need.ts';
import { tell, times } from '../support/proof.ts';
import { Crowd } from './crowd.ts';
import { Siege } from './siege.ts';
import { allowedFiles, SPARE_SOCKETS } from './vitals.ts';

const IDLE = times('overload_idle', 1000);
const SLOW_DATA = times('overload_slow_data', 100);
/** Connections that a port of HTTP takes. As many are there in vain. */
const HTTP = times('overload_http', 200);
const FLOOD = times('overload_flood', 500);
/** Messages of the good client by each way, while the others are there. */
const GOOD = 5;
/** Beside the sockets: relays, files, and connections that are turned away. */
const FILES = IDLE + SLOW_DATA + 2 * HTTP + 500;
const MINUTES = 60_000;
/** MiB that work, and garbage for a while, take; KiB a connection, twice what docs/operations.md tells. */
const WORK = 192;
const CONNECTION_KIB = 14;
const LISTENER = `max_connections: ${2 * (IDLE + SLOW_DATA) + 100}`;
const API = `max_connections: ${HTTP}, header_timeout_seconds: 20, body_timeout_seconds: 10, keep_alive_seconds: 5`;
const TIMED_OUT = /^421 4\.4\.2 .*\r\n$/m;
const GREETED = /^220 .*\r\n$/;

describeIf(allowedFiles() >= FILES, `${FILES} open files`, 'overload', () => {
  let siege: Siege;
  let idle: Crowd;
  let slow: Crowd;
  let greedyKey: string;
  let most = 0;
  beforeAll(async () => {
    siege = await Siege.begin({ api: API, listener: LISTENER });
    greedyKey = await siege.key('greedy', 0);
  }, 5 * MINUTES);
  afterAll(() => siege.remove());

  /** The good client is served, while the others go on. */
  const serveGood = async (goOn: () => void = () => {}) => {
    for (let sent = 0; sent < GOOD; sent++) {
      goOn();
      await siege.good.send(1);
    }
    most = Math.max(most, siege.vitals.peakMiB);
  };

  test(`${IDLE} idle connections of SMTP`, { timeout: 10 * MINUTES }, async () => {
    idle = await Crowd.gather(IDLE, { port: siege.smtp, net: 10 }, async (rogue) => {
      await rogue.say('', GREETED);
      await rogue.say('EHLO idle.test\r\n', /^250 .*\r\n$/m);
    });
    await serveGood();
    // The port can take more of them.
    expect(idle.open).toBe(IDLE);
    await Promise.all(idle.members.map((rogue) => rogue.say('NOOP\r\n', /^250 2\.0\.0 OK\r\n$/)));
  });

  test(`and ${SLOW_DATA} messages that come a byte now and then`, { timeout: 10 * MINUTES }, async () => {
    slow = await Crowd.gather(SLOW_DATA, { port: siege.smtp, net: 20 }, async (rogue) => {
      await rogue.say('', GREETED);
      const begin = 'EHLO slow.test\r\nMAIL FROM:<slow@example.com>\r\nRCPT TO:<a@example.net>\r\nDATA\r\n';
      await rogue.say(begin, /^354 .*\r\n$/m);
      rogue.socket.write('S');
    });
    await serveGood(() => slow.drip('.'));
    expect(slow.open).toBe(SLOW_DATA);
  });

  test(`and ${HTTP} headers that never end, which take every place`, { timeout: 10 * MINUTES }, async () => {
    const { api: port } = siege.server.runtime;
    siege.good.leave();
    const before = siege.vitals.sockets;
    const headers = await Crowd.gather(HTTP, { port: port ?? 0, net: 30, sources: 1 }, ({ socket }) => {
      socket.write('GET /api/v1/ready HTTP/1.1\r\nX: ');
    });
    await expect.poll(() => siege.vitals.sockets).toBeGreaterThan(before + HTTP - SPARE_SOCKETS);
    expect(headers.open, 'the headers that take every place').toBe(HTTP);
    await serveGood(() => headers.drip('x'));
    const ends = (await headers.ended()).map((heard) => heard.slice(0, 12));
    // Nothing: it made room for the good client.
    expect(ends.filter((heard) => !['HTTP/1.1 408', ''].includes(heard))).toEqual([]);
    expect(ends.filter((heard) => heard === '').length).toBeLessThanOrEqual(GOOD);
  });

  test(`and ${HTTP} bodies that come a byte now and then`, { timeout: 10 * MINUTES }, async () => {
    const { api: port } = siege.server.runtime;
    const head = `POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${greedyKey}\r\n`;
    const begin = `${head}Content-Type: application/json\r\nContent-Length: 9000000\r\n\r\n{`;
    const bodies = await Crowd.gather(HTTP, { port: port ?? 0, net: 40, sources: 1 }, ({ socket }) => {
      socket.write(begin);
    });
    siege.good.leave();
    await serveGood(() => bodies.drip(' '));
    // 503: it waited for memory, of which there is less than so many bodies may ask for.
    const ends = (await bodies.ended()).map((heard) => heard.slice(0, 12));
    expect(ends.filter((heard) => !['HTTP/1.1 408', 'HTTP/1.1 503', ''].includes(heard))).toEqual([]);
    expect(ends).toContain('HTTP/1.1 408');
  });

  test(`and ${FLOOD} requests of a key that may make 100 a minute`, { timeout: 10 * MINUTES }, async () => {
    const key = await siege.key('flood', 100);
    const begun = performance.now();
    const counts = new Map<number, number>();
    const flood = async () => {
      for (let sent = 0; sent < FLOOD / 20; sent++) {
        const response = await fetch(`${siege.server.api}/api/v1/messages`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ from: 'flood@example.com', to: 'a@example.net', text: 'x' }),
        });
        counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
        if (response.status === 429) expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
        await response.text();
      }
    };
    await siege.good.sendDuring(Promise.all(Array.from({ length: 20 }, flood)));
    const minutes = Math.ceil((performance.now() - begun) / MINUTES);
    expect([...counts.keys()].sort()).toEqual([202, 429]);
    expect(counts.get(202)).toBeLessThanOrEqual(100 * (minutes + 1));
    expect((counts.get(202) ?? 0) + (counts.get(429) ?? 0)).toBe(FLOOD);
  });

  test('the idle and the slow end by themselves, and all is as it was', {
    timeout: 10 * MINUTES,
  }, async () => {
    const impatient = 'command_timeout_seconds: 5, data_timeout_seconds: 5, busy_timeout_seconds: 5';
    await siege.reconfigure({ api: API, listener: `${LISTENER}, ${impatient}` });
    const ends = [...(await idle.ended()), ...(await slow.ended())];
    expect(ends.filter((heard) => !TIMED_OUT.test(heard))).toEqual([]);
    await siege.reconfigure({ api: API, listener: LISTENER });
    // It said nothing meanwhile, either.
    siege.good.leave();
    most = Math.max(most, siege.vitals.peakMiB);
    await siege.end();
    expect(most - siege.vitals.idleMiB).toBeLessThan(
      WORK + ((IDLE + SLOW_DATA + HTTP) * CONNECTION_KIB) / 1024,
    );
    tell(
      'connections that only cost',
      {
        'idle connections of SMTP': IDLE,
        'slow messages': SLOW_DATA,
        'slow headers': HTTP,
        'slow bodies': HTTP,
      },
      { 'MiB at most': most, 'open files after': siege.vitals.files },
    );
  });
});
