import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { openSegmentSpool } from '../../src/spool/segments/segment-spool.ts';
import { holdsTheLaws } from './spool-laws.ts';

holdsTheLaws('the spool on segment files', async () => {
  const parent = await mkdtemp(path.join(os.tmpdir(), 'waybill-spool-'));
  const onFailure = (error: Error) => expect.unreachable(error.message);
  return {
    open: () => openSegmentSpool({ directory: path.join(parent, 'spool'), segmentBytes: 4096, onFailure }),
    linger: async () => {},
    end: () => rm(parent, { recursive: true }),
  };
});
