import type { Random } from '../lib/random.ts';

const GOOD_ID = /^[A-Za-z0-9._-]{1,64}$/;
const PREFIX_BYTES = 9;

/** Gives each request its id: the client's own if it is well formed (contract §5), else a prefix drawn once and a count. */
export function createRequestIds(random: Random): (inbound: string | undefined) => string {
  const prefix = Buffer.from(random.fill(new Uint8Array(PREFIX_BYTES))).toString('base64url');
  let count = 0;
  return (inbound) => {
    if (inbound !== undefined && GOOD_ID.test(inbound)) return inbound;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
