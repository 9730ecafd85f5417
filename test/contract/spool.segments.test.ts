import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { openSegmentSpool } from '../../src/spool/segments/segment-spool.ts';
import { testKeys } from '../support/content-keys.ts';
import { holdsTheLaws } from './spool-laws.ts';

for (const [name, keys] of [
  ['the spool on segment files', null],
  ['the spool on encrypted segment files', testKeys()],
] as const)
  holdsTheLaws(name, async () => {
    const parent = await mkdtemp(path.join(os.tmpdir(), 'waybill-spool-'));
    const onFailure = (error: Error) => expect.unreachable(error.message);
    const options = { directory: path.join(parent, 'spool'), segmentBytes: 4096, keys, onFailure };
    return {
      open: () => openSegmentSpool(options),
      linger: async () => {},
      end: () => rm(parent, { recursive: true }),
    };
  });
