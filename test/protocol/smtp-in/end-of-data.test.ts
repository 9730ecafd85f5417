/** Nothing but CRLF.CRLF ends a message: no peer can hide a second one in what another server takes for the first. */
import { expect, test } from 'vitest';
import type { ContentRules } from '../../../src/smtp/receiver/content-scanner.ts';
import { cutAt } from '../../fuzz/inputs.ts';
import { SMUGGLED, WRONG_ENDS } from '../../support/wrong-ends.ts';
import { type Dialogue, dialogue, ENVELOPE } from './dialogue.ts';
import { type Manner, Peer } from './peer.ts';

const POLICIES: readonly ContentRules[] = (['reject', 'normalize'] as const).map((bareNewline) => ({
  bareNewline,
  maxLineBytes: 1000,
}));
const CLOSED: Dialogue = ['S: 521 5.5.2', 'E: discard', 'E: close malformed_end'];
const REFUSED: Dialogue = ['S: 550 5.6.11', 'E: discard', 'E: refused nul', 'C: NOOP', 'S: 250 2.0.0'];

for (const form of WRONG_ENDS) {
  const shown = JSON.stringify(form);
  const hasNul = form.includes('\0');
  // A NUL stands beside the dot, or a CR is by itself within a line: no lone dot, and the content goes on.
  const end = hasNul && form !== '\r\n.\r\0\n' ? REFUSED : CLOSED;
  dialogue(`${shown} is refused`, [...ENVELOPE, 'C: DATA', 'S: 354', `R: first${form}x\r\n.\r\n`, ...end]);
  dialogue(`${shown} and a smuggled message are refused as one`, [
    ...ENVELOPE,
    'C: DATA',
    'S: 354',
    `R: first${form}${SMUGGLED}`,
    ...end,
  ]);
  test(`${shown} never yields two messages, by any policy`, () => {
    for (const content of POLICIES)
      for (const tail of ['x\r\n.\r\n', SMUGGLED])
        for (let cut = 0; cut < 20; cut++) {
          const manner: Manner = { cut: (bytes) => cutAt(bytes, [cut, cut * 3, cut * 7]), answers: 'late' };
          const peer = new Peer({ content }, manner);
          peer.receiver.greet();
          peer.say(Buffer.from('EHLO c\r\nMAIL FROM:<>\r\nRCPT TO:<b@y.test>\r\nDATA\r\n'));
          peer.say(Buffer.from(`first${form}${tail}`, 'latin1'));
          expect(peer.messages).toBe(content.bareNewline === 'normalize' && !hasNul ? 1 : 0);
          // The one message holds the second as text, if it holds it at all.
          if (peer.messages === 1 && tail === SMUGGLED) expect(peer.events.join()).toContain('second');
        }
  });
}
