/** The PROXY header against anything that may come in first: it ends, is bounded, and never changes its mind. */
import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readProxyHeader } from '../../src/ingest/smtp/proxy-header.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { textOf } from './inputs.ts';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
/** More than this is never awaited. */
const MAX_AWAITED = 16 + 2048;

const line = textOf(
  'PROXY ',
  'PROXY TCP4 192.0.2.1 192.0.2.9 56324 25\r\n',
  'PROXY TCP6 2001:db8::1 ::ffff:192.0.2.9 1 65535\r\n',
  'PROXY TCP4 192.0.2.1 192.0.2.9 ',
  'PROXY UNKNOWN',
  'TCP4 ',
  'TCP6 ',
  '192.0.2.1 ',
  '::1 ',
  '25',
  '0',
  '\r\n',
).map((text) => Buffer.from(text, 'latin1'));
const block = fc
  .tuple(
    fc.constantFrom(0x20, 0x21, 0x21, 0x21, 0x22, 0x11),
    fc.oneof(fc.constantFrom(0x00, 0x11, 0x21, 0x31, 0x12), fc.nat(255)),
    fc.oneof(fc.constantFrom(0, 12, 36, 216, 2048, 2049), fc.nat(65_535), fc.nat(300)),
    fc.uint8Array({ maxLength: 400 }),
    fc.nat(28),
  )
  .map(([command, protocol, length, body, cut]) => {
    const whole = Buffer.concat([SIGNATURE, Buffer.of(command, protocol, length >> 8, length & 0xff), body]);
    return cut < 16 ? whole.subarray(0, cut) : whole;
  });
// Short: every beginning of it is read as well.
const headers = { made: fc.oneof(line, block), corpus: corpus('proxy-header', (bytes) => bytes, 2100) };

test('the first answer but "more" is the answer, however much of the bytes is there', () =>
  fuzz('PROXY header', headers, (bytes) => {
    const answer = readProxyHeader(bytes);
    let isKnown = false;
    for (let length = 0; length < bytes.length; length++) {
      const early = readProxyHeader(bytes.subarray(0, length));
      if (isKnown || early.kind !== 'more') expect(early.kind).toBe(answer.kind);
      if (early.kind === 'header') expect(early).toEqual(answer);
      isKnown ||= early.kind !== 'more';
    }
    if (answer.kind === 'more') expect(bytes.length).toBeLessThan(MAX_AWAITED);
    if (answer.kind !== 'header') return false;
    expect(answer.length).toBeLessThanOrEqual(bytes.length);
    expect(readProxyHeader(bytes.subarray(0, answer.length))).toEqual(answer);
    expect(readProxyHeader(bytes.subarray(0, answer.length - 1))).toEqual({ kind: 'more' });
    if (answer.source !== null) expect(isIP(answer.source)).not.toBe(0);
    return answer.source !== null;
  }));
