import { describe } from 'vitest';
import { acceptContract } from './accept.ts';
import { cancelContract } from './cancel.ts';
import { claimContract } from './claim.ts';
import type { OpenSubject } from './fixtures.ts';
import { foreseeContract } from './foresee.ts';
import { laneContract } from './lanes.ts';
import { listContract } from './list.ts';
import { modelContract } from './model.ts';
import { readingContract } from './reading.ts';
import { requeueContract } from './requeue.ts';
import { settleContract } from './settle.ts';
import { sweepContract } from './sweep.ts';

/** Everything the store's seams promise, held against one implementation. */
export function storeContract(name: string, open: OpenSubject): void {
  describe(name, () => {
    acceptContract(open);
    foreseeContract(open);
    claimContract(open);
    settleContract(open);
    laneContract(open);
    sweepContract(open);
    cancelContract(open);
    requeueContract(open);
    readingContract(open);
    listContract(open);
    modelContract(open);
  });
}
