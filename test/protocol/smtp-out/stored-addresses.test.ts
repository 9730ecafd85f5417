/** What RCPT and MAIL carry is what was accepted, byte for byte: nothing on the way out reads an address again. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAddress } from '../../../src/domain/mailbox.ts';
import { SINK_EXTENSIONS } from '../../peers/smtp-sink-script.ts';
import { kinds, startRig } from './rig.ts';

const unit = fc.constantFrom(
  ...Array.from("aZ09!#$%&'*+-/=?^_`{|}~.,;:()[]\\", String),
  'ü',
  '汉',
  '😀',
  '\\"',
  '\\\\',
);
const local = fc.string({ unit, minLength: 1, maxLength: 20 });
const quoted = local.map((text) => `"${text}"`);
const domain = fc.constantFrom('x.test', 'X.Test', 'bücher.example', '[192.0.2.1]', '[IPv6:2001:db8::1]');
/** Whatever the grammar takes, as it is stored. */
const address = fc
  .tuple(fc.oneof(local, quoted), domain)
  .map(([name, host]) => parseAddress(`${name}@${host}`))
  .filter((parsed) => parsed.ok)
  .map((parsed) => (parsed.ok ? parsed.value.address : ''));

test.each([
  ['pipelined', SINK_EXTENSIONS],
  ['one command at a time', SINK_EXTENSIONS.filter((word) => word !== 'PIPELINING')],
  ['with DSN', [...SINK_EXTENSIONS, 'DSN']],
])('the RCPT lines sent equal the stored addresses, %s', async (_how, extensions) => {
  const rig = await startRig({ sink: { extensions } });
  await fc.assert(
    fc.asyncProperty(address, fc.uniqueArray(address, { minLength: 1, maxLength: 8 }), async (from, to) => {
      rig.sink.commands.length = 0;
      const dsn = { notify: 'FAILURE', orcpt: null };
      const result = await rig.deliver({ from, to, dsn });
      expect(kinds(result)).toEqual(to.map(() => 'delivered'));
      const lines = rig.sink.commands.map(({ line }) => line);
      const paths = (verb: string) =>
        lines.filter((line) => line.startsWith(verb)).map((line) => line.slice(verb.length).split('>')[0]);
      expect(paths('RCPT TO:<')).toEqual(to);
      expect(paths('MAIL FROM:<')).toEqual([from]);
      expect(rig.sink.messages.at(-1)?.to).toEqual(to);
    }),
    { numRuns: 150 },
  );
});
