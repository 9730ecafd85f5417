import { expect, test } from 'vitest';
import { smtpTestOptions } from '../../../test/support/smtp-options.ts';
import { Receiver } from '../../smtp/receiver/receiver.ts';
import { LiveReceiverOptions } from './listener.ts';

test('what is sent ahead of an answer may be 256 KiB; one byte more ends the session', () => {
  const receiver = new Receiver(new LiveReceiverOptions(smtpTestOptions(), false), false);
  receiver.greet();
  receiver.receive(Buffer.from('EHLO client.test\r\nMAIL FROM:<a@example.com>\r\n'));
  const before: string[] = [];
  for (let effect = receiver.next(); effect !== null; effect = receiver.next()) before.push(effect.kind);
  expect(before).toContain('mail');
  // As it comes from a socket.
  for (let chunk = 0; chunk < 4; chunk++) receiver.receive(Buffer.alloc(64 * 1024, 'x'));
  expect(receiver.next()).toBeNull();
  receiver.receive(Buffer.from('x'));
  const after = [receiver.next(), receiver.next()];
  expect(after).toMatchObject([{ kind: 'send' }, { kind: 'close', reason: 'too_much_input' }]);
});
