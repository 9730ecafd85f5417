import { setFlagsFromString } from 'node:v8';
import { expect, test } from 'vitest';
import { startThread } from './thread.ts';

/** Tells how large its heap may grow, in MiB: the old generation and the nursery. */
const ASKED = `
  import { getHeapStatistics } from 'node:v8';
  import { parentPort } from 'node:worker_threads';
  parentPort.postMessage(getHeapStatistics().heap_size_limit / 1024 ** 2);
`;

test('a thread has the nursery that it was given, whatever the command line says', async () => {
  setFlagsFromString('--max-semi-space-size=16');
  const thread = startThread(new URL(`data:text/javascript,${encodeURIComponent(ASKED)}`), {
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 12 },
  });
  const limit = await new Promise((resolve) => thread.once('message', resolve));
  await thread.terminate();
  expect(limit).toBe(76);
});
