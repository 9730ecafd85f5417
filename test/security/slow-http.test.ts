/** Attacks by slowness (slowhttptest): the service goes on being available, by the attacker's own report, and serves who means well. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, type TestContext, test } from 'vitest';
import { type Client, type Service, startService } from '../e2e/service.ts';
import { describeWith } from '../peers/need.ts';
import { tell, times } from '../support/proof.ts';

const SECONDS = times('slow_http_seconds', 5);
/** Of each attack; all of them together are fewer than a port may have. */
const CONNECTIONS = times('slow_http_connections', 150);
/** Of each attack in a second: so few that handshakes of TLS leave the machine something to do besides. */
const RATE = 50;
/** Half of what an attack asks for, or comes to in its time: a busy machine is slower, most of all at handshakes. */
const LEAST = Math.min(CONNECTIONS, RATE * (SECONDS - 1)) / 2;
/** How long its probe waits for an answer: so long that a busy machine is not taken for one that is down. */
const PATIENCE_S = 30;

const CONFIGURATION = `
api: { port: 0, bind: ["127.0.0.1"], rate_limit_per_key: 0 }
webui: { port: 0, bind: ["127.0.0.1"] }
listener: { ports: [] }
`;

/** The attacks, by name: what the program is told besides what is the same for all. */
function attacks({ server, client }: Service): Readonly<Record<string, readonly string[]>> {
  // The only header of its own that it can be given is a cookie; a line end in it begins another.
  const key = ['-j', `a=b\r\nAuthorization: Bearer ${client.key}`];
  const messages = `${server.api}/api/v1/messages`;
  const page = `https://localhost:${server.runtime.webui}/`;
  return {
    headers: ['-H', '-i', '1', '-x', '24', '-u', messages],
    body: ['-B', '-i', '1', '-x', '10', '-s', '8192', '-f', 'application/json', ...key, '-u', messages],
    read: [
      '-X',
      '-n',
      '1',
      '-z',
      '5',
      '-w',
      '1',
      '-y',
      '64',
      '-k',
      '3',
      '-u',
      `${server.api}/api/v1/openapi.json`,
    ],
    range: ['-R', '-a', '1', '-b', '3000', '-u', page],
    'headers under TLS': ['-H', '-i', '1', '-x', '24', '-u', page],
  };
}

/** What one second of an attack was like. */
interface Second {
  /** Connections that there were until then, open or closed since. */
  readonly connected: number;
  readonly isAvailable: boolean;
}

async function attack(name: string, args: readonly string[], folder: string): Promise<readonly Second[]> {
  const prefix = join(folder, name.replaceAll(' ', '-'));
  const pace = ['-c', CONNECTIONS, '-r', RATE, '-l', SECONDS, '-p', PATIENCE_S].map(String);
  await promisify(execFile)('slowhttptest', [...args, ...pace, '-g', '-o', prefix, '-v', '0']);
  const [, ...lines] = readFileSync(`${prefix}.csv`, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [, closed = 0, , open = 0, available = 0] = line.split(',').map(Number);
    return { connected: open + closed, isAvailable: available > 0 };
  });
}

/** Sends one message after the other until told to stop; how many were acknowledged. Throws at the first that was not. */
async function sendUntil(client: Client, signal: AbortSignal): Promise<number> {
  const letter = { from: 'a@example.com', to: ['b@example.net'], subject: 'Hello', text: 'hi' };
  let sent = 0;
  for (; !signal.aborted; sent++) expect((await client.post(letter)).status).toBe(202);
  return sent;
}

async function started({ onTestFinished }: TestContext): Promise<{ service: Service; folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-slow-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const service = await startService(CONFIGURATION);
  onTestFinished(() => service.stop());
  return { service, folder };
}

describeWith(['slowhttptest'], 'clients that are slow on purpose', () => {
  test('slow headers, bodies, readers and ranges, all at once, shut nobody out', {
    timeout: (SECONDS + 180) * 1000,
  }, async (context) => {
    const { service, folder } = await started(context);
    const over = new AbortController();
    const sending = sendUntil(service.client, over.signal);
    const running = Object.entries(attacks(service)).map(async ([name, args]) => {
      const seconds = await attack(name, args, folder);
      return {
        name,
        away: seconds.filter(({ isAvailable }) => !isAvailable).length,
        most: Math.max(...seconds.map(({ connected }) => connected)),
      };
    });
    const ended = await Promise.all(running).finally(() => over.abort());
    const sent = await sending;
    for (const { name, away, most } of ended) {
      expect(away, `seconds in which the service was not there: ${name}`).toBe(0);
      expect(most, `there was an attack: ${name}`).toBeGreaterThanOrEqual(LEAST);
    }
    expect(sent).toBeGreaterThan(0);
    await service.client.end(
      await service.client.send({ from: 'a@example.com', to: ['b@example.net'], text: 'after' }),
    );
    tell(
      'attacks by slowness on HTTP',
      { seconds: SECONDS * ended.length, unavailable: 0, 'messages meanwhile': sent },
      {
        'connections of one attack': Math.max(...ended.map(({ most }) => most)),
      },
    );
  });
});
