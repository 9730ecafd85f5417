/**
 * Nothing that a content says can become a second message behind us, whatever the next hop takes for the end of data:
 * through the whole server, and by our SMTP client alone with contents that the server would never have let in. The
 * next hop is a stock Postfix, which takes a lone LF for the end of a line.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { silentLog } from '../../src/lib/log.ts';
import { createSmtpTransport } from '../../src/transport/smtp/smtp.ts';
import { describeWith } from '../peers/need.ts';
import { type StoringPostfix, startPostfix } from '../peers/postfix.ts';
import { POSTFIX_PROGRAMS } from '../peers/postfix-instance.ts';
import { SmtpClient } from '../peers/smtp-client.ts';
import { deliver, linesOf, only, relayTo } from '../protocol/smtp-out/rig.ts';
import { WRONG_ENDS } from '../support/wrong-ends.ts';
import { createKey } from './service.ts';
import { type SmtpService, startSmtpService } from './smtp-service.ts';

const FORMS = WRONG_ENDS.map((form, index) => [JSON.stringify(form), form, index] as const);
const INNER =
  'MAIL FROM:<evil@example.com>\r\nRCPT TO:<smuggled@example.net>\r\nDATA\r\nSubject: evil\r\n\r\nevil\r\n.\r\n';
const hostile = (form: string) => `Subject: first\r\n\r\nfirst${form}${INNER}last\r\n`;

describeWith(POSTFIX_PROGRAMS, 'with a stock Postfix behind us', () => {
  describe.each([
    ['by DATA', 'smtpd_discard_ehlo_keywords = chunking\n'],
    ['by BDAT', ''],
  ])('%s', (_how, settings) => {
    let postfix: StoringPostfix;
    beforeAll(async () => {
      postfix = await startPostfix(settings);
    });
    afterAll(() => postfix.stop());

    test('a large message arrives whole', async () => {
      const transport = createSmtpTransport({
        relay: relayTo({ port: postfix.port }),
        hostname: 'client.example',
        clock: systemClock,
        log: silentLog,
      });
      onTestFinished(() => transport.close());
      const content = [Buffer.from('Subject: large\r\n\r\n.first\r\n'), linesOf(3_000_000)];
      const mail = { to: ['large@example.net'], content, flags: { dotStuffing: true } };
      expect(only(await deliver(transport, mail)).kind).toBe('delivered');
      const arrived = (await postfix.mailFor('large@example.net')).toString('latin1');
      const body = Buffer.concat(content).toString('latin1').replaceAll('\r\n', '\n');
      expect(arrived.slice(arrived.indexOf('\n\n'))).toBe(body.slice(body.indexOf('\n\n')));
    });

    test.each(FORMS)('%s from our client is in one message', async (_shown, form, index) => {
      const transport = createSmtpTransport({
        relay: relayTo({ port: postfix.port }),
        hostname: 'client.example',
        clock: systemClock,
        log: silentLog,
      });
      onTestFinished(() => transport.close());
      const begun = postfix.begun();
      const to = `direct${index}@example.net`;
      const content = hostile(form);
      // Cut in the middle of the form too, where a guard that looks at one chunk would miss it.
      const cut = content.indexOf(form) + 1;
      const chunks = [content.slice(0, cut), content.slice(cut)].map((piece) => Buffer.from(piece, 'latin1'));
      const mail = { to: [to], content: chunks, flags: { dotStuffing: true } };
      expect(only(await deliver(transport, mail))).toMatchObject({ kind: 'delivered' });
      // A second message, over the same connection: what was smuggled would have come before it.
      expect(only(await deliver(transport, { to: [`after-${to}`] })).kind).toBe('delivered');
      const arrived = await postfix.mailFor(to);
      expect(arrived.toString('latin1')).toContain('evil');
      await postfix.mailFor(`after-${to}`);
      expect(postfix.begun()).toBe(begun + 2);
      expect(postfix.stored().filter((mail) => mail.includes('Delivered-To: smuggled@'))).toEqual([]);
    });
  });

  describe('through the server', () => {
    let postfix: StoringPostfix;
    let service: SmtpService;
    let key: string;
    beforeAll(async () => {
      postfix = await startPostfix();
      service = await startSmtpService(
        'bare_newline: normalize',
        `delivery: { default_relay: out }
relays: [{ name: out, type: smtp, host: 127.0.0.1, port: ${postfix.port}, tls: none }]
`,
      );
      key = await createKey(service.installation, 'app');
    });
    afterAll(async () => {
      await service?.stop();
      await postfix.stop();
    });

    test.each(FORMS)('%s as a finished message over HTTP is refused', async (_shown, form) => {
      const answer = await fetch(
        `${service.server.api}/api/v1/messages/raw?from=a%40example.com&to=raw%40example.net`,
        {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'message/rfc822' },
          body: Buffer.from(hostile(form), 'latin1'),
        },
      );
      expect(answer.status).toBe(400);
    });

    test.each(FORMS)(
      '%s by BDAT arrives as one message, or is refused at the door',
      async (_shown, form, index) => {
        const begun = postfix.begun();
        const to = `bdat${index}@example.net`;
        const client = await SmtpClient.connect(service.server.runtime.smtp[0] ?? 0);
        await client.reply();
        await client.ask('EHLO client.example');
        await client.askAll('MAIL FROM:<a@example.com>', `RCPT TO:<${to}>`);
        const content = hostile(form);
        client.write(`BDAT ${content.length} LAST\r\n${content}`);
        const reply = await client.reply();
        // Only NUL has no place in a message that is made anew of its lines.
        expect(reply).toMatch(form.includes('\0') ? /^5/ : /^250 /);
        if (form.includes('\0')) return;
        const arrived = await postfix.mailFor(to);
        expect(arrived.toString('latin1')).toContain('evil');
        await client.askAll('MAIL FROM:<a@example.com>', `RCPT TO:<after-${to}>`);
        const after = 'Subject: after\r\n\r\nafter\r\n';
        client.write(`BDAT ${after.length} LAST\r\n${after}`);
        expect(await client.reply()).toMatch(/^250 /);
        await postfix.mailFor(`after-${to}`);
        expect(postfix.begun()).toBe(begun + 2);
        expect(postfix.stored().filter((mail) => mail.includes('Delivered-To: smuggled@'))).toEqual([]);
      },
    );
  });
});
