import { mkdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { freePort } from '../../test/peers/free-port.ts';
import { idInArchive, makeArchive } from '../load/archive.ts';
import { Latencies } from '../load/latencies.ts';
import { untilQuiet } from '../systems/wait.ts';
import { startWaybill, type Waybill } from '../systems/waybill.ts';
import { MIB, type RunOptions, type Sample, type Scenario } from './scenario.ts';

const FEW = 1000;
const ROUNDS = 200;
/** Pages of lists: the newest, of one status that few have, of one recipient's domain, and so far down. */
const LISTS = ['', '&status=failed', '&to=%40d77.example', '&tag=news'];

/** That what clients ask for takes as long however much is stored. */
export const deepReads: Scenario = {
  name: 'deep-reads',
  shows:
    'status and lists (50 each: all, by status, recipient and tag) over HTTP, one after the other, with 1,000,000 messages stored (unless said otherwise), beside 1,000',
  sides: [
    { name: 'many messages', missing: () => null, run: (options) => run(options, options.deep) },
    { name: '1,000 messages', missing: () => null, run: (options) => run(options, FEW) },
  ],
  targets: [
    { metric: 'statusP50Ms', of: 'ratio', atMost: 1.5 },
    { metric: 'listP50Ms', of: 'ratio', atMost: 1.5 },
  ],
  mostPairs: 1,
};

async function run(options: RunOptions, stored: number): Promise<Sample> {
  const data = path.join(options.directory, 'data');
  await mkdir(data, { recursive: true, mode: 0o700 });
  await makeArchive(path.join(data, 'waybill.db'), stored);
  const waybill = await startWaybill({ ...options, relayPort: await freePort() });
  await untilQuiet(waybill);
  // Spread over all of them, the old and the new.
  const ids = Array.from({ length: ROUNDS }, (_, round) =>
    idInArchive(1 + Math.floor((round * stored) / ROUNDS)),
  );
  const status = await time(
    waybill,
    ids.map((id) => `/${id}`),
  );
  const lists = Array.from({ length: ROUNDS }, (_, round) => LISTS[round % LISTS.length] ?? '');
  const list = await time(
    waybill,
    lists.map((filter) => `?all=true&limit=50${filter}`),
  );
  const { peakBytes } = waybill.usage();
  await waybill.stop();
  return {
    statusP50Ms: status.quantile(0.5),
    statusP99Ms: status.quantile(0.99),
    listP50Ms: list.quantile(0.5),
    listP99Ms: list.quantile(0.99),
    peakMemoryMiB: peakBytes / MIB,
  };
}

/** Asks for each, one after the other over one connection. Throws for an answer other than 200. */
async function time({ httpPort: port, key, paths }: Waybill, asked: readonly string[]): Promise<Latencies> {
  const latencies = new Latencies();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (const one of asked) {
    const before = performance.now();
    const headers = { Authorization: `Bearer ${key}` };
    const url = `${paths.json}${one}`;
    const [code, body] = await new Promise<[number, string]>((resolve, reject) => {
      const asking = request({ agent, host: '127.0.0.1', port, path: url, headers }, (answer) => {
        text(answer).then((all) => resolve([answer.statusCode ?? 0, all]), reject);
      });
      asking.on('error', reject).end();
    });
    if (code !== 200) throw new Error(`${url} was answered ${code}: ${body}`);
    latencies.add(performance.now() - before);
  }
  agent.destroy();
  return latencies;
}
