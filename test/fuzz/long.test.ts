import { expect, test } from 'vitest';
import { parseAddressList, parseMailbox } from '../../src/domain/mailbox.ts';
import { SLICE_BYTES, type Sliced } from '../../src/lib/clock.ts';
import { toWireLines } from '../../src/mail/finished.ts';
import { encodeText } from '../../src/mail/text-body.ts';

/** Bodies as large as they may be, of what costs the most: nobody waits for more than a slice of the work. */

const MAX_MESSAGE_BYTES = 25 * 1024 * 1024;
const SLICES = MAX_MESSAGE_BYTES / SLICE_BYTES;
const UNITS = ['\n', '\r\n', 'a\n', '=\n', '@', '"', '=', '.\n', ' '];

/** How often others had a turn while the work was done. */
function turnsOf<T>(work: Sliced<T>): number {
  let turns = 0;
  while (!work.next().done) turns += 1;
  return turns;
}

const full = (unit: string) => unit.repeat(MAX_MESSAGE_BYTES / unit.length);

test.each(UNITS)('a text of %j is encoded with a turn for others after every slice', (unit) => {
  expect(turnsOf(encodeText(full(unit)))).toBeGreaterThanOrEqual(SLICES - 1);
});

test.each(['\n', '\r\n', 'a\n', '=\n', '.\n'])('a finished message of %j is read in slices', (unit) => {
  expect(turnsOf(toWireLines(Buffer.from(full(unit)), 3 * MAX_MESSAGE_BYTES))).toBeGreaterThanOrEqual(
    SLICES - 1,
  );
});

test.each(UNITS)('addresses that are %j over and over are refused by their beginning', (unit) => {
  // What is not looked at is not refused for its control character.
  const text = `${full(unit.replaceAll(/[\r\n]/g, 'x'))}\0`;
  expect(parseAddressList(text, 1000)).toMatchObject({
    ok: false,
    code: expect.not.stringMatching('control'),
  });
  expect(parseMailbox(text)).toMatchObject({ ok: false, code: 'address_too_long' });
});
