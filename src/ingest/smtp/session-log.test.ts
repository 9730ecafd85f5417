import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/support/manual-clock.ts';
import { requestLine } from '../../../test/support/request-line.ts';
import type { RequestLine } from '../../domain/request-line.ts';
import { silentLog } from '../../lib/log.ts';
import { REQUEST_LINES_A_SECOND, RequestWriter } from '../request-writer.ts';
import { MAX_SUMS, SessionLog } from './session-log.ts';

/** How sessions of strangers are summed up; the protocol suite has what they are told of. */

test('sources beyond those that are summed up make room, and nothing is lost in the count', async () => {
  const written: RequestLine[] = [];
  const clock = new ManualClock();
  const stopping = new AbortController();
  const common = { clock, log: silentLog, signal: stopping.signal };
  const requests = { writeRequests: async (lines: readonly RequestLine[]) => void written.push(...lines) };
  const writer = new RequestWriter({ ...common, requests, isKept: () => true }, REQUEST_LINES_A_SECOND);
  const log = new SessionLog({ ...common, writer });
  const session = { hello: null, tls: null, offered: 1, accepted: 0, messages: [], refused: 1, refusals: [] };
  const from = (place: number) => `10.${place >> 16}.${(place >> 8) & 255}.${place & 255}`;
  const beyond = 200;
  const all = MAX_SUMS + beyond;
  for (let place = 0; place < all; place++)
    for (let time = 0; time < 3; time++) {
      const line = requestLine({ keyId: null, status: 550, code: 'relay_not_allowed', method: 'SMTP' });
      log.add({ ...line, sourceAddress: from(place), session: { ...session, end: 'quit' } });
    }
  const weight = () => written.reduce((sum, line) => sum + line.weight, 0);
  await writer.flush();
  expect(weight(), 'the first of each source, and the rest of those that made room').toBe(all + 2 * beyond);
  // However many sources there are, strangers get a tenth of the lines of a second.
  expect(written.length).toBeLessThanOrEqual(REQUEST_LINES_A_SECOND / 10);
  log.flush();
  await writer.flush();
  expect(weight()).toBe(3 * all);
  stopping.abort();
});
