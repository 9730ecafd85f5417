/** The DNS message parser against anything a server, or one who guesses, may send. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeQuery, MAX_RECORDS, parseResponse, readAnswer } from '../../src/dns/message.ts';
import { readQuery, writeResponse } from '../peers/dns-message.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { inTime } from './processor-time.ts';

const query = readQuery(encodeQuery({ id: 1, name: 'a.test', type: 'MX', edns: true, ad: true }));
const whole = writeResponse(query, {
  code: 0,
  answers: [
    { name: 'a.test', ttl: 60, type: 'CNAME', data: 'b.test' },
    { name: 'b.test', ttl: 60, type: 'MX', data: { preference: 10, exchange: 'mx.b.test' } },
    { name: 'b.test', ttl: 60, type: 'MX', data: { preference: 20, exchange: 'mx2.b.test' } },
    { name: 'b.test', ttl: 60, type: 'TXT', data: 'x'.repeat(300) },
    {
      name: '_25._tcp.b.test',
      ttl: 60,
      type: 'TLSA',
      data: { usage: 3, selector: 1, matchingType: 1, data: 'ab' },
    },
    { name: 'b.test', ttl: 60, type: 'AAAA', data: '::1' },
  ],
  authorities: [{ name: 'test', ttl: 60, type: 'SOA', data: { minimum: 60 } }],
});

/** A good response with some bytes changed, a piece cut out, or its end cut off. */
const damaged = fc
  .tuple(
    fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 4 }),
    fc.nat(whole.length),
    fc.integer({ min: -3, max: 12 }),
  )
  .map(([changes, at, cut]) => {
    const bytes = Buffer.from(whole);
    for (const [place, value] of changes) bytes[place] = value;
    return cut < 0 ? bytes.subarray(0, at) : Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + cut)]);
  });
/** A header that promises much, and labels, pointers and noise behind it. */
const made = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'c00c',
        'c000',
        'c0ff',
        'ffff',
        '00',
        '0161',
        '3f',
        '40',
        '000f0001',
        '00050001',
        '0000003c',
        '0004',
        '000a',
      ),
      fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes).toString('hex')),
    ),
    { maxLength: 60 },
  )
  .map((pieces) => Buffer.from(`000181800001000500050005${pieces.join('')}`, 'hex'));

const NAME = /^(?:(?:[a-z0-9_-]|\\\d{3})+(?:\.(?:[a-z0-9_-]|\\\d{3})+)*)?$/;

test('what is read ends, is bounded by its bytes, and is fit to be compared and shown', () =>
  fuzz(
    'DNS message',
    { made: fc.oneof(damaged, made), corpus: corpus('dns-message', (bytes) => bytes) },
    (bytes) => {
      const parsed = parseResponse(bytes);
      if (!parsed.ok) {
        expect(parsed.reason).toMatch(/^[ -~]+$/);
        return false;
      }
      const { answers, authorities } = parsed.response;
      // Eleven octets are the least that a record has.
      expect((answers.length + authorities.length) * 11).toBeLessThanOrEqual(bytes.length);
      for (const record of [...answers, ...authorities]) expect(record.name).toMatch(NAME);
      const answer = readAnswer(parsed.response, 'a.test', 'MX', true);
      if (answer.kind === 'found')
        for (const { exchange, preference } of answer.records) {
          expect(exchange).toMatch(NAME);
          expect(preference).toBeLessThan(65_536);
        }
      if (answer.kind !== 'failed') {
        expect(answer.ttlSeconds).toBeGreaterThanOrEqual(1);
        expect(answer.ttlSeconds).toBeLessThanOrEqual(86_400);
      }
      return answer.kind === 'found';
    },
  ));

test('a name made of pointers costs no more than its octets', () => {
  const header = Buffer.from('000181800001000000000000', 'hex');
  header.writeUInt16BE(MAX_RECORDS, 6);
  const question = Buffer.from('0161000001' + '0001', 'hex');
  // A ladder, as the data of a record of no known type: each label's pointer leads to the one before, as far as any reaches.
  const start = header.length + question.length + 12;
  const ladder = Buffer.alloc(0x3ffc - start);
  for (let at = 0; at + 4 <= ladder.length; at += 4) {
    const target = at === 0 ? header.length : start + at - 4;
    ladder.set([1, 0x62, 0xc0 | (target >> 8), target & 0xff], at);
  }
  const first = Buffer.from('c00c006300010000003c0000', 'hex');
  first.writeUInt16BE(ladder.length, 10);
  // And behind it, as many names as are read of one message; they begin on its last steps.
  const record = Buffer.from('c0000001000100000000' + '0000', 'hex');
  const names = Array.from({ length: MAX_RECORDS - 1 }, (_, i) => {
    const name = Buffer.from(record);
    name.writeUInt16BE(0xc000 | (start + 4 * (Math.floor(ladder.length / 4) - 1 - i)), 0);
    return name;
  });
  const message = Buffer.concat([header, question, first, ladder, ...names]);
  inTime('a ladder of pointers', () => expect(parseResponse(message).ok).toBe(false));
});
