/** What a scanner of open relays finds, from an address that is not the server's own: nothing, but where everybody was let in. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, type TestContext, test } from 'vitest';
import { installed } from '../e2e/service.ts';
import { describeIf, locate } from '../peers/need.ts';
import { canMakeNeighbours, createNeighbours, type Neighbours } from './neighbours.ts';

const PORTS = [25, 587];
/** How nmap says that it tried every trick in vain; and that one was good. */
const CLOSED = 'Server doesn&apos;t seem to be an open relay, all tests failed';
const OPEN = /^Server is an open relay \((\d+)\/\d+ tests\)/;

/** What nmap's script says of each port, as its XML has it. */
async function scan({ stranger, address }: Neighbours): Promise<readonly string[]> {
  const [program = '', ...inside] = stranger;
  const wanted = ['-Pn', '-n', '-p', PORTS.join(','), '--script', 'smtp-open-relay', '-oX', '-', address];
  const { stdout } = await promisify(execFile)(program, [...inside, 'nmap', ...wanted]);
  return [...stdout.matchAll(/<script id="smtp-open-relay" output="([^"]*)"/g)].map(([, said = '']) => said);
}

/** Starts a server at the usual ports of a machine of its own. */
async function startAt({ server, address }: Neighbours, context: TestContext, listener: string, more = '') {
  const installation = installed(
    context,
    `
api: { port: null }
webui: { port: null }
listener: { ports: ${JSON.stringify(PORTS)}, bind: ["${address}"], ${listener} }
${more}
`,
  );
  return await installation.start(server);
}

const isPossible = locate('nmap') !== null && canMakeNeighbours();

const LONG = { timeout: 180_000 };

/** Two machines for one test. */
async function neighbours({ onTestFinished }: TestContext): Promise<Neighbours> {
  const both = await createNeighbours();
  onTestFinished(() => both.end());
  return both;
}

// Side by side: the server is in no hurry to answer whoever is refused again and again.
describeIf(isPossible, 'nmap and ip netns', 'a stranger who looks for an open relay', () => {
  test.concurrent('finds none, with the settings that are usual', LONG, async (context) => {
    const both = await neighbours(context);
    await startAt(both, context, '');
    expect(await scan(both)).toEqual(PORTS.map(() => CLOSED));
  });

  test.concurrent('finds none where anybody may bring bounces', LONG, async (context) => {
    const both = await neighbours(context);
    await startAt(both, context, '', 'bounces: { domain: bounces.example.com }');
    expect(await scan(both)).toEqual(PORTS.map(() => CLOSED));
  });

  test.concurrent(
    'finds none where a row of listener.sources has the address, and no key',
    LONG,
    async (context) => {
      const both = await neighbours(context);
      const row = 'sources: [{ name: printer, cidr: "198.51.100.0/24" }]';
      await startAt(both, context, `${row}, allowed_cidrs: ["198.51.100.1/32"]`);
      expect(await scan(both)).toEqual(PORTS.map(() => CLOSED));
    },
  );

  test.concurrent(
    'finds one where everybody was let in: so it would have been found',
    LONG,
    async (context) => {
      const both = await neighbours(context);
      await startAt(both, context, 'allowed_cidrs: ["0.0.0.0/0"]');
      const found = await scan(both);
      expect(found).toHaveLength(PORTS.length);
      for (const said of found) expect(Number(OPEN.exec(said)?.[1])).toBeGreaterThan(5);
    },
  );
});
