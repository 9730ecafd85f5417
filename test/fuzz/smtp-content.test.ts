/** Where a content ends: after DATA at the final dot, after BDAT by its size, and as it is sent on. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DataFramer } from '../../src/smtp/command.ts';
import { corpus } from './corpus.ts';
import { fuzz } from './fuzz.ts';
import { cutAt, eachByte, inCrlf } from './inputs.ts';
import { ANSWERS, bodiesOf, ENVELOPE, POLICIES, play, playAlike, policy } from './smtp-stream.ts';

const pieces = fc
  .array(
    fc.constantFrom(
      ...['.', '\r', '\n', '\0', 'x', '\r\n', '\n.\n', '\r\n.', '\r.\r\n', '\xff'],
      ...['MAIL FROM:<a@x.test>\r\n', 'RCPT TO:<b@y.test>\r\n', 'DATA\r\n', 'BDAT 1 LAST\r\n'],
    ),
    { maxLength: 30 },
  )
  .map((found) => Buffer.from(found.join(''), 'latin1'));
const places = fc.array(fc.nat(), { maxLength: 12 });

const contents = {
  made: fc.record({ bytes: pieces, content: policy, places }),
  corpus: corpus('smtp-content', (bytes, dice) => ({
    bytes,
    content: dice.pick(POLICIES),
    places: dice.numbers(12),
  })),
};

test('one DATA yields one message at most, whatever is in it', () =>
  fuzz('SMTP content', contents, ({ bytes, content, places: cuts }) => {
    // No end but the last.
    let inner = bytes.toString('latin1').replace(/^(?:\.\r\n)+/, '');
    while (inner.includes('\r\n.\r\n')) inner = inner.replaceAll('\r\n.\r\n', '\r\n');
    inner = `\r\n${inner}`.replace(/\r\n\.\r?$/, '').slice(2);
    const stream = Buffer.from(`EHLO c\r\n${ENVELOPE}DATA\r\n${inner}\r\n.\r\n`, 'latin1');
    const peer = play(stream, content, { cut: (all) => cutAt(all, cuts), answers: 'late' });
    expect(bodiesOf(peer).length).toBeLessThanOrEqual(1);
    return peer.messages === 1;
  }));

const blocks = {
  made: fc.record({
    blocks: fc.array(pieces, { minLength: 1, maxLength: 4 }),
    content: policy,
    places,
    answers: fc.constantFrom(...ANSWERS),
  }),
  corpus: corpus('smtp-content', (bytes, dice) => ({
    blocks: cutAt(bytes, dice.numbers(3)),
    content: dice.pick(POLICIES),
    places: dice.numbers(12),
    answers: dice.pick(ANSWERS),
  })),
};
/** Sends its content unchanged, or not at all. */
const PLAIN = /^(?:[^\0\r\n]*\r\n)+$/;

test('what BDAT brings is content by its size alone, never a command and never an end', () =>
  fuzz('BDAT', blocks, ({ blocks: parts, content, ...manner }) => {
    const stream = Buffer.concat([
      Buffer.from(`EHLO c\r\n${ENVELOPE}`),
      ...parts.flatMap((part, place) => [
        Buffer.from(`BDAT ${part.length}${place === parts.length - 1 ? ' LAST' : ''}\r\n`),
        part,
      ]),
    ]);
    const peer = playAlike(stream, content, manner);
    const bodies = bodiesOf(peer);
    expect(bodies.length).toBeLessThanOrEqual(1);
    const sent = Buffer.concat(parts).toString('latin1');
    if (bodies[0] !== undefined && PLAIN.test(sent))
      expect(Buffer.from(bodies[0], 'latin1').toString('latin1')).toBe(sent);
    return bodies.length === 1;
  }));

const framings = {
  made: fc.tuple(pieces, places, fc.boolean()),
  corpus: corpus('smtp-content', (bytes, dice): [Buffer, number[], boolean] => [
    bytes,
    dice.numbers(12),
    dice.once(2),
  ]),
};

test('a content that is sent on ends where it ends, and is the same again behind the dots', () =>
  fuzz('data framing', framings, ([bytes, cuts, isStored]) => {
    const content = isStored ? Buffer.from(inCrlf(bytes.toString('latin1')), 'latin1') : bytes;
    const whole = framed([content]);
    expect(framed(cutAt(content, cuts)).equals(whole)).toBe(true);
    if (content.length < 500) expect(framed(eachByte(content)).equals(whole)).toBe(true);
    const text = whole.toString('latin1');
    // Whatever a server takes for the end of a line, it finds one end, and that at the end.
    expect(`\r\n${text}`.search(/(?:\r\n|\r|\n)\.(?:\r\n|\r|\n)/) + 1).toBeGreaterThanOrEqual(
      text.length - 3,
    );
    const sent = content.toString('latin1');
    const ended = sent === '' || sent.endsWith('\r\n') ? sent : `${sent}\r\n`;
    expect(`\n${text.slice(0, -3)}`.replace(/([\r\n])\.\./g, '$1.').slice(1)).toBe(ended);
    return text.includes('..');
  }));

function framed(chunks: readonly Buffer[]): Buffer {
  const framer = new DataFramer(true);
  const bytes = chunks.map((chunk) => Buffer.from(framer.push(chunk)));
  return Buffer.concat([...bytes, Buffer.from(framer.end())]);
}
