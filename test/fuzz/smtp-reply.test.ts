/** The reply parser and the sender's machine against anything a peer may say. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { localReply } from '../../src/domain/outcome.ts';
import { Opening } from '../../src/smtp/opening.ts';
import { NO_CAPABILITIES, ReplyParser, type SmtpReply } from '../../src/smtp/reply.ts';
import { Sender } from '../../src/smtp/sender.ts';
import { before, tell } from '../support/proof.ts';
import { corpus } from './corpus.ts';
import { fuzz, INPUTS } from './fuzz.ts';
import { anyText, cutAt, eachByte } from './inputs.ts';

const LIMITS = { maxLineBytes: 40, maxLines: 5 };

/** Bytes that are replies, nearly replies, or nothing of the kind. */
const wire = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '250 ok\r\n',
        '250-a\r\n',
        '354 go\r\n',
        '421 4.3.2 bye\r\n',
        '550 5.1.1 no\n',
        '\r',
        '\n',
        '-',
      ),
      fc.stringMatching(/^[245]\d\d[ -][ -~]{0,45}\r?\n$/),
      anyText(8),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.from(parts.join('')));

function parse(chunks: readonly Buffer[]): { replies: SmtpReply[]; fault: string | null } {
  const parser = new ReplyParser(LIMITS);
  const replies: SmtpReply[] = [];
  for (const chunk of chunks) {
    parser.push(chunk);
    for (let reply = parser.next(); reply; reply = parser.next()) replies.push(reply);
  }
  return { replies, fault: parser.fault };
}

const cutReplies = {
  made: fc.tuple(wire, fc.array(fc.nat(), { maxLength: 20 })),
  corpus: corpus('smtp-reply', (bytes, dice): [Buffer, number[]] => [bytes, dice.numbers(20)], 4000),
};

test('any chunking of the same bytes gives the same replies and the same fault', () =>
  fuzz('SMTP reply', cutReplies, ([bytes, places]) => {
    const whole = parse([bytes]);
    expect(parse(cutAt(bytes, places))).toEqual(whole);
    expect(parse(eachByte(bytes))).toEqual(whole);
    return whole.fault === null && whole.replies.length > 0;
  }));

test('every reply is within its bounds and fit for a log line', () =>
  fuzz('SMTP reply for the log', { made: wire, corpus: corpus('smtp-reply', (bytes) => bytes) }, (bytes) => {
    const { replies } = parse([bytes]);
    for (const { code, text, lines } of replies) {
      expect(code).toBeGreaterThanOrEqual(200);
      expect(code).toBeLessThan(600);
      expect(lines.length).toBeLessThanOrEqual(LIMITS.maxLines);
      expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    }
    return replies.length > 0;
  }));

const reply = fc
  .constantFrom(200, 220, 250, 251, 334, 354, 400, 421, 450, 452, 500, 530, 550, 552, 599)
  .map((code): SmtpReply => ({ code, enhanced: null, lines: ['x'], text: 'x' }));

const addresses = fc.array(fc.constantFrom('a@x.test', 'b@x.test', 'bad <@x.test', ''), {
  minLength: 1,
  maxLength: 4,
});

/** What becomes of DATA when it waits. */
const course = fc.constantFrom('not held', 'permitted', 'withdrawn');

test('the sender ends after at most one reply a command, with one outcome a recipient', () => {
  let delivered = 0;
  fc.assert(
    fc.property(
      addresses,
      fc.record({ pipelining: fc.boolean(), chunking: fc.boolean() }),
      course,
      fc.infiniteStream(reply),
      (to, { pipelining, chunking }, held, replies) => {
        const recipients = to.map((address) => ({ address, kind: 'to', notify: null, orcpt: null }) as const);
        const flags = { eightBit: false, utf8: false, dotStuffing: false };
        const envelope = { reversePath: '', recipients, ret: null, envid: null };
        const plan = {
          envelope,
          sizeBytes: 1,
          flags,
          requireTls: false,
          chunking,
          holdsData: held !== 'not held',
        };
        const sender = new Sender(plan, { ...NO_CAPABILITIES, pipelining });
        let action = sender.begin();
        let taken = false;
        let steps = 0;
        for (; action.kind !== 'end'; steps++) {
          if (action.kind === 'held') {
            action =
              held === 'withdrawn' ? sender.withdraw(localReply('x', '4.0.0', 'x')) : sender.permitted();
            if (action.kind === 'end') break;
          }
          expect(action.kind === 'content' && held === 'withdrawn').toBe(false);
          if (action.kind === 'content') sender.dotSent();
          const next = replies.next().value;
          if (sender.awaiting === 'dot' && next.code < 300) taken = true;
          action = sender.receive(next);
        }
        expect(steps).toBeLessThanOrEqual(recipients.length + 3);
        const outcomes = sender.outcomes();
        expect(outcomes).toHaveLength(recipients.length);
        // Delivered exactly when a 2xx answered the final dot; never by accident.
        expect(outcomes.some(({ kind }) => kind === 'delivered')).toBe(taken);
        if (taken) delivered += 1;
      },
    ),
    { numRuns: INPUTS, seed: before() },
  );
  tell('fuzz: SMTP sender', { inputs: INPUTS, taken: delivered });
});

test('the opening ends, whatever is answered', () => {
  let open = 0;
  fc.assert(
    fc.property(
      fc.constantFrom('required', 'opportunistic', 'implicit', 'none'),
      fc.constantFrom(null, {}, { auth: 'login' as const }, { auth: 'xoauth2' as const }),
      fc.infiniteStream(reply),
      (tls, login, replies) => {
        const credentials = login && { username: 'u', secret: 'p', ...login };
        const peer = { host: 'sink.example', port: 587 };
        const opening = new Opening({ hostname: 'client.example', tls, credentials, peer });
        let steps = 0;
        for (let kind = ''; kind !== 'ready' && kind !== 'failed'; steps++) {
          const action = opening.receive(replies.next().value);
          kind = action.kind === 'start_tls' ? opening.secured().kind : action.kind;
          if (kind === 'ready') open += 1;
        }
        expect(steps).toBeLessThanOrEqual(8);
      },
    ),
    { numRuns: INPUTS, seed: before() },
  );
  tell('fuzz: SMTP opening', { inputs: INPUTS, taken: open });
});
