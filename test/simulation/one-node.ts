import { type EngineSettings, NO_SIGNER } from '../../src/engine/contract.ts';
import { createEngine, type Engine, type EngineDeps } from '../../src/engine/engine.ts';
import { seededRandom } from '../../src/lib/random.ts';
import { Events } from '../../src/observe/events.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { createMemorySpool } from './memory-spool.ts';
import { NextHop } from './next-hop.ts';
import { relayNamed, SETTINGS, submissionNamed } from './scene.ts';
import { NodeLife, VirtualTime } from './virtual-clock.ts';

const EPOCH = Date.UTC(2026, 10, 20, 12);

/** One node over one store, whose wall clock and settings the test can set. */
export function startNode(
  settings: () => EngineSettings = () => SETTINGS,
  more: Pick<EngineDeps, 'returnPath'> = {},
) {
  const time = new VirtualTime();
  const life = new NodeLife(time, EPOCH, 0);
  const hop = new NextHop(time, seededRandom(1));
  const { store, views, suppressions } = openSqlite(':memory:');
  const spool = createMemorySpool();
  const parts = { store, views, spool, clock: life, random: seededRandom(2), node: 'a', signer: NO_SIGNER };
  const events = new Events();
  const engine = createEngine({ ...parts, ...more, suppressions, events, settings });
  engine.relays.put(relayNamed('out'), hop.transportOf(life));
  const started = engine.start({ seize: true });
  const run = async (ms: number) => {
    const end = time.now + ms;
    time.after(ms, () => {});
    while (await time.step(end));
  };
  return { life, hop, engine, events, store, views, suppressions, spool, started, run };
}

/** Hands a node a message to one recipient; its id. */
export async function accept(engine: Engine, token: string, sendAt: number | null = null): Promise<string> {
  const [answer] = await engine.intake.accept([{ ...submissionNamed(token, 1), sendAt }]);
  if (answer?.kind !== 'accepted') throw new Error(`not accepted: ${answer?.kind}`);
  return answer.id;
}
